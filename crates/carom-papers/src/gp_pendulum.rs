use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::measure::{Case, impulses, largest};
use super::{Drawing, Entry, Finding, Mark, Number, Table, Tell, Verdict};
use carom::lab::error::Result;
use carom::lab::expr::{Expr, eval};
use carom::lab::projection::CircleArc;

pub(crate) const ENTRY: Entry = Entry {
    id: "gp-pendulum",
    document: "GP",
    title: "the pendulum beside a wall, on the circle",
    claim: "The printed P maps the rest of the circle to the arc C, with P(a) = a and P'(a) = −1, a = arccos x_c; it is \
            monotone for every x_c in (−1, 1), and the principle gives the pendulum's impacts.",
    compute,
};

const UNTIL: f64 = 5.0;
const STEP: f64 = 0.005;
const PLACES: usize = 400;

/// Value and slope of the cubic b₁u + b₃u³, with b₃ as printed or with the opposite sign.
fn cubic(a: f64, printed: bool, theta: f64) -> [f64; 2] {
    let (u, rest) = (theta - PI, PI - a);
    let b1 = (PI - 4.0 * a) / (2.0 * rest);
    let b3 = if printed { PI - 2.0 * a } else { 2.0 * a - PI } / (2.0 * rest.powi(3));
    [b1 * u + b3 * u.powi(3), b1 + 3.0 * b3 * u * u]
}

fn compute(tell: Tell) -> Result<Finding> {
    tell("the maps");
    let maps = maps();
    let column = |i: usize| maps.rows.iter().map(move |(_, row)| (row[0], row[i]));
    let (misfit, fit) = (largest(column(1).map(|(_, x)| x.abs())), largest(column(3).map(|(_, x)| x.abs())));
    let monotone_where_said = column(5).all(|(xc, slope)| (slope < 0.0) == (xc < FRAC_1_SQRT_2));
    let ours_monotone = column(6).all(|(_, slope)| slope < 0.0);
    let impacts = impacts(tell)?;
    let times = largest(impacts.rows.iter().map(|(_, row)| row[2].abs()));
    let finding = format!(
        "With b₃ as printed P(a) misses a by up to {misfit:.2}; with 2a − π for π − 2a it does not ({fit:.0e}). The cubic is \
         monotone {}. Our map for larger x_c is monotone {}. With these maps php gives all {} impacts at x_c = −0.5, 0.3 \
         and 0.8 up to t = {UNTIL}, times to {times:.1e}.",
        if monotone_where_said { "for x_c < 1/√2 only" } else { "elsewhere than for x_c < 1/√2" },
        if ours_monotone { "everywhere" } else { "not everywhere" },
        impacts.rows.len(),
    );
    let numbers = vec![
        Number::new("largest |P(a) − a| as printed", misfit),
        Number::new("largest |P(a) − a| corrected", fit),
        Number::new("the cubic is monotone for x_c < 1/√2 only", f64::from(monotone_where_said)),
        Number::new("our map is monotone for all x_c", f64::from(ours_monotone)),
        Number::new("impacts", impacts.rows.len() as f64),
        Number::new("largest difference of impact times", times),
    ];
    // The printed map does not fit the arc and is not always monotone; the principle itself is correct.
    let verdict = Verdict::of(&[misfit < 1e-9, !monotone_where_said, times < 1e-9]);
    Ok(Finding { finding, verdict, numbers, tables: vec![maps, impacts] })
}

/// P(a) and P'(a) of the cubics, and the largest slope outside C, for walls from x_c = −0.95 to 0.95.
fn maps() -> Table {
    let theta = Expr::symbol("theta");
    let columns = ["x_c", "printed_P_of_a_less_a", "printed_slope", "corrected_P_of_a_less_a", "corrected_slope"];
    let columns = [&columns[..], &["largest_slope_of_the_cubic", "largest_slope_of_ours"]].concat();
    let fit = Drawing::new("does P keep the end of the arc?", "x_c", ["x_c", "P(a) − a"])
        .curve("printed_P_of_a_less_a", "as printed", Mark::Both)
        .curve("corrected_P_of_a_less_a", "2a − π for π − 2a", Mark::Both);
    let slope = Drawing::new("is P monotone outside the arc?", "x_c", ["x_c", "largest P' (monotone if < 0)"])
        .curve("largest_slope_of_the_cubic", "the cubic", Mark::Both)
        .curve("largest_slope_of_ours", "ours", Mark::Both);
    let mut maps = Table::new("maps", &columns).drawn(fit).drawn(slope);
    for k in 0..39 {
        let xc = -0.95 + 0.05 * f64::from(k);
        let a = xc.acos();
        let slope_of_ours = CircleArc { center: 0.0, half: a }.project(theta).diff(theta);
        let places = (0..=PLACES).map(|i| a + (PI - a) * i as f64 / PLACES as f64);
        let steepest = |f: &dyn Fn(f64) -> f64| places.clone().map(f).fold(f64::NEG_INFINITY, f64::max);
        let (printed, corrected) = (cubic(a, true, a), cubic(a, false, a));
        let cubic_slope = steepest(&|x| cubic(a, false, x)[1]);
        let ours = steepest(&|x| eval(&[slope_of_ours], &[(theta, x)])[0]);
        maps.push(vec![xc, printed[0] - a, printed[1], corrected[0] - a, corrected[1], cubic_slope, ours]);
    }
    maps
}

/// The impacts of the event-driven run, and the errors of those of php; a missing impact counts as an error of 1.
fn impacts(tell: Tell) -> Result<Table> {
    let apart = Drawing::new("php less event-driven", "t", ["t [s]", "time of the impact [s]"]);
    let apart = apart.curve("php_t_difference", "", Mark::Both);
    let columns = ["wall", "t", "lambda", "php_t_difference", "php_lambda_difference"];
    let mut table = Table::new("impacts", &columns).drawn(impulses()).drawn(apart);
    for xc in [-0.5, 0.3, 0.8] {
        tell(&format!("impacts at x_c = {xc}"));
        let setting = format!("x_c={xc:?}");
        let run = |method: &str| Case::new("circle-pendulum", &[&setting], method, STEP, UNTIL)?.run();
        let (jumping, smooth) = (run("gauss6+ctec")?, run("php")?);
        let label = format!("x_c = {xc}").replace('-', "−");
        for (a, b) in jumping.impacts.iter().zip(&smooth.impacts) {
            table.push_labelled(&label, vec![a.minus.t, a.lambda, b.minus.t - a.minus.t, b.lambda - a.lambda]);
        }
        for _ in 0..jumping.impacts.len().abs_diff(smooth.impacts.len()) {
            table.push_labelled(&label, vec![f64::NAN, f64::NAN, 1.0, 1.0]);
        }
    }
    Ok(table)
}
