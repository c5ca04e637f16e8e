use super::measure::{Case, impulses, largest, model};
use super::{Drawing, Entry, Finding, Mark, Number, Table, Tell, Verdict};
use carom::lab::compare::Recorded;
use carom::lab::error::Result;
use carom::lab::projection::report;
use carom::lab::simulation::study;

pub(crate) const ENTRY: Entry = Entry {
    id: "gp-constrained-bar",
    document: "GP",
    title: "the bar with its centre held on x = f(y), by the projected principle",
    claim: "By Lemma 3 a projection P_u followed by P_h generates the nonsmooth mechanics of the constrained bar, if f is \
            constant where the bar touches the floor.",
    compute,
};

const UNTIL: f64 = 2.0;
const STEP: f64 = 0.002;
/// The amplitudes A of f = A sin 2y.
const AMPLITUDES: [f64; 2] = [0.0, 0.3];

fn compute(tell: Tell) -> Result<Finding> {
    let change = Drawing::new("change of the energy by P_h after P_u", "t", ["t [s]", "change [J]"]);
    let change = change.curve("energy_of_P_h_after_P_u", "", Mark::Stems);
    let columns = ["f", "t", "lambda", "energy_of_P_h_after_P_u"];
    let mut table = Table::new("impacts", &columns).drawn(impulses()).drawn(change);
    let (mut numbers, mut parts, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for amplitude in AMPLITUDES {
        tell(&format!("A = {amplitude}"));
        let setting = format!("A={amplitude:?}");
        let bar = model("constrained-bar", &[&setting])?;
        let separable =
            report(&bar, &study(&bar)?).iter().any(|line| line.starts_with("Lemma 3") && line.ends_with("met"));
        let case = Case::new("constrained-bar", &[&setting], "php", STEP, UNTIL)?;
        let k_crit = study(&case.model)?.bound.map_or(f64::NAN, |bound| bound.k_crit);
        let run = case.run()?;
        let lost = naive(&run, amplitude, &mut table);
        let drift = run.outcome.energy.max_drift;
        let name = |what: &str| format!("A = {amplitude}: {what}");
        numbers.push(Number::new(name("k_c"), k_crit));
        numbers.push(Number::new(name("impacts"), run.impacts.len() as f64));
        numbers.push(Number::new(name("energy drift"), drift));
        numbers.push(Number::new(name("largest change of energy by P_h after P_u"), lost));
        texts.push(format!(
            "With {} the condition of Lemma 3 {}; P_u and then P_h would change the energy of an impact by \
             up to {}. By elimination of x (k_c = {k_crit:.6}) there are {} impacts up to t = {UNTIL}, and the energy \
             drifts by {drift:.1e}.",
            label(amplitude),
            if separable { "holds" } else { "fails" },
            if lost < 0.01 { format!("{lost:.1e}") } else { format!("{lost:.1} J") },
            run.impacts.len()
        ));
        parts.push(separable == (amplitude == 0.0) && (lost < 1e-9) == separable && drift < 1e-9);
    }
    let finding =
        format!("{} P_c' has no full rank, so z is not unique; elimination needs no condition on f.", texts.join(" "));
    Ok(Finding { finding, verdict: Verdict::of(&parts), numbers, tables: vec![table] })
}

/// The result of P_u followed by P_h at each impact: the impact of the free bar, then x' = f'(y)y'. Returns the largest change
/// of the energy.
fn naive(run: &Recorded, amplitude: f64, table: &mut Table) -> f64 {
    let (mass, inertia) = (1.0, 1.0 / 12.0);
    let mut changes = Vec::new();
    for impact in &run.impacts {
        let (q, v) = (&impact.minus.q, &impact.minus.v);
        let normal = [1.0, 0.0, 0.5 * q[2].sin()];
        let inverse = [1.0 / mass, 1.0 / mass, 1.0 / inertia];
        let rate: f64 = (0..3).map(|i| normal[i] * v[i]).sum();
        let size: f64 = (0..3).map(|i| normal[i] * normal[i] * inverse[i]).sum();
        let mut after: Vec<f64> = (0..3).map(|i| v[i] - 2.0 * rate / size * inverse[i] * normal[i]).collect();
        after[1] = 2.0 * amplitude * (2.0 * q[0]).cos() * after[0];
        let energy = |v: &[f64]| 0.5 * (mass * (v[0] * v[0] + v[1] * v[1]) + inertia * v[2] * v[2]);
        changes.push(energy(&after) - energy(v));
        table.push_labelled(&label(amplitude), vec![impact.minus.t, impact.lambda, energy(&after) - energy(v)]);
    }
    largest(changes.iter().map(|change| change.abs()))
}

fn label(amplitude: f64) -> String {
    if amplitude == 0.0 { "f = 0".into() } else { format!("f = {amplitude} sin 2y") }
}
