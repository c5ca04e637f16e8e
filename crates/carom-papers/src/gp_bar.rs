use super::measure::{Case, impulses, largest, model, slope};
use super::{Drawing, Entry, Finding, Mark, Number, Table, Tell, Verdict};
use carom::lab::error::Result;
use carom::lab::projection::fold;
use carom::lab::simulation::study;

pub(crate) const ENTRY: Entry = Entry {
    id: "gp-bar",
    document: "GP",
    title: "the rigid bar that lands on its tip, by the projected principle",
    claim: "For any k > 36/L_b² the projection correctly generates the bar's nonsmooth mechanics.",
    compute,
};

const UNTIL: f64 = 3.0;
const STEP: f64 = 0.002;
/// A value of k below k_c.
const SMALL_K: f64 = 20.0;

fn compute(tell: Tell) -> Result<Finding> {
    tell("k_c");
    let (k_crit, folds) = critical()?;
    tell("impacts by both ways");
    let jumping = Case::new("bar", &[], "gauss6+ctec", STEP, UNTIL)?.run()?;
    let smooth = Case::new("bar", &[], "php", STEP, UNTIL)?.run()?;
    let columns = ["t", "lambda", "php_t_difference", "php_lambda_difference"];
    let mut table = Table::new("impacts", &columns).drawn(impulses()).drawn(differences());
    for (a, b) in jumping.impacts.iter().zip(&smooth.impacts) {
        table.push(vec![a.minus.t, a.lambda, b.minus.t - a.minus.t, b.lambda - a.lambda]);
    }
    let apart = |i: usize| largest(table.rows.iter().map(|(_, row)| row[i].abs()));
    let (times, lambdas, drift) = (apart(2), apart(3), smooth.outcome.energy.max_drift);
    tell("without location");
    let (unlocated, order) = without_location(jumping.impacts.first().map_or(0.0, |impact| impact.minus.t))?;
    let (count, one_image) = (smooth.impacts.len(), folds.rows.len());
    let finding = format!(
        "k_c = {k_crit:.9}, and it is sharp: at k = {SMALL_K} the map takes {one_image} configurations to one. With located \
         switches all {count} impacts up to t = {UNTIL} agree with the event-driven run, times to {times:.1e}, λ to \
         {lambdas:.1e}; the energy drifts by {drift:.1e}. Without location the energy after the first impact is wrong by \
         O(h^{order:.1}).",
    );
    let numbers = vec![
        Number::new("k_c", k_crit),
        Number::new("configurations with one image at k = 20", one_image as f64),
        Number::new("impacts", count as f64),
        Number::new("largest difference of impact times", times),
        Number::new("largest difference of λ", lambdas),
        Number::new("energy drift", drift),
        Number::new("order in h of the energy without location", order),
    ];
    let same = jumping.impacts.len() == count;
    let verdict = Verdict::of(&[(k_crit - 36.0).abs() < 1e-6, one_image > 1, same && times < 1e-9]);
    Ok(Finding { finding, verdict, numbers, tables: vec![table, folds, unlocated] })
}

fn differences() -> Drawing {
    Drawing::new("php less event-driven", "t", ["t [s]", "difference"])
        .curve("php_t_difference", "time of the impact [s]", Mark::Both)
        .curve("php_lambda_difference", "λ [N s]", Mark::Both)
}

/// k_c, and configurations with the same image for k below it.
fn critical() -> Result<(f64, Table)> {
    let study = study(&model("bar", &[])?)?;
    let mut folds = Table::new("one-image", &["", "y", "x", "theta"]);
    let (Some(form), Some(bound)) = (&study.form, &study.bound) else { return Ok((f64::NAN, folds)) };
    let found = fold(form, &study.mechanics, &study.parameters(), &bound.region, SMALL_K)?;
    for (k, z) in found.iter().flat_map(|fold| &fold.z).enumerate() {
        folds.push_labelled(&(k + 1).to_string(), z.clone());
    }
    Ok((bound.k_crit, folds))
}

/// For several h, the mean energy error after the first impact over steps near h; and its order.
fn without_location(impact: f64) -> Result<(Table, f64)> {
    let drawing = Drawing::new(
        "energy without location of the switches",
        "h",
        ["h [s]", "mean error after the first impact [J]"],
    );
    let drawing = drawing.log_log().curve("mean_energy_error", "", Mark::Both);
    let mut table = Table::new("without-location", &["h", "mean_energy_error"]).drawn(drawing);
    for h in [1e-4, 5e-5, 2.5e-5] {
        let mut sum = 0.0;
        const RUNS: usize = 20;
        for k in 0..RUNS {
            let step = h * (1.0 + 0.002 * k as f64);
            sum += Case::new("bar", &[], "php1", step, impact + 0.1)?.run()?.outcome.energy.max_drift;
        }
        table.push(vec![h, sum / RUNS as f64]);
    }
    let points: Vec<(f64, f64)> = table.rows.iter().map(|(_, row)| (row[0], row[1])).collect();
    Ok((table, slope(&points)))
}
