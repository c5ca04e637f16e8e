use super::tpc::{ONE_POINT, Study, TWO_POINT, from_line, lambda_of_both, line, trajectories};
use super::{Entry, Finding, Number, Tell, Verdict};
use carom::lab::error::Result;

pub(crate) const ENTRY: Entry = Entry {
    id: "tpc-fig9",
    document: "TPC",
    title: "a point on the line y = x + 1 under gravity in polar coordinates (h = 0.01, T = 2)",
    claim: "One-point is stable, two-point is unstable.",
    compute,
};

fn compute(_: Tell) -> Result<Finding> {
    let (one, two) = (Study::of("line-polar", ONE_POINT, &[])?, Study::of("line-polar", TWO_POINT, &[])?);
    let lambda = two.lambdas();
    let size = |k: usize| lambda.get(k).map_or(f64::NAN, |lambda| lambda.abs());
    let numbers = vec![
        Number::new("one-point: distance from the line", one.off(from_line)),
        Number::new("two-point: distance from the line", two.off(from_line)),
        Number::new("one-point: range of λ", one.lambda_range()),
        Number::new("two-point: range of λ", two.lambda_range()),
        Number::new("two-point: steps before it fails", two.steps as f64),
    ];
    let finding = format!(
        "One-point stays on the line to {:.0e}. Two-point leaves it by {:.1} within {} of 200 steps, and λ grows from {:.3} in \
         the 10th to {:.1} in the 40th step. After step {} the point is out of the picture; the table and the drawing end there.",
        one.off(from_line),
        two.off(from_line),
        two.steps,
        size(9),
        size(39),
        two.steps_in_picture(),
    );
    let verdict = Verdict::of(&[one.off(from_line) < 1e-12, two.off(from_line) > 1e-3 && size(39) > 2.0 * size(9)]);
    let tables = lambda_of_both(trajectories(&one, &two, line));
    Ok(Finding { finding, verdict, numbers, tables })
}
