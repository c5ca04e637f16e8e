use super::tpc::{ONE_POINT, Study, TWO_POINT, from_line, lambda_of_both, line, trajectories};
use super::{Entry, Finding, Number, Tell, Verdict};
use carom::lab::error::Result;

pub(crate) const ENTRY: Entry = Entry {
    id: "tpc-fig8",
    document: "TPC",
    title: "a point on the line y = x + 1 under gravity in (x, y) (h = 0.01, T = 2)",
    claim: "One-point and two-point are stable; λ of the two-point constraint oscillates.",
    compute,
};

fn compute(_: Tell) -> Result<Finding> {
    let (one, two) = (Study::of("line-xy", ONE_POINT, &[])?, Study::of("line-xy", TWO_POINT, &[])?);
    let lambda = two.lambdas();
    let alternates = lambda.windows(3).all(|w| (w[1] - w[0]) * (w[2] - w[1]) < 0.0);
    let numbers = vec![
        Number::new("one-point: distance from the line", one.off(from_line)),
        Number::new("two-point: distance from the line", two.off(from_line)),
        Number::new("one-point: range of λ", one.lambda_range()),
        Number::new("two-point: range of λ", two.lambda_range()),
    ];
    // Show zero without a sign if only roundoff is left.
    let shown = |x: f64| if x.abs() < 5e-7 { 0.0 } else { x };
    let finding = format!(
        "Distance from the line {:.0e} and {:.0e}. One-point: λ = {:.6}, constant to {:.0e}. Two-point: {:.6}, {:.6}, {:.6}, … \
         (gravity and the start are ours: the paper prints neither).",
        one.off(from_line),
        two.off(from_line),
        one.lambdas()[0],
        one.lambda_range(),
        shown(lambda[0]),
        shown(lambda[1]),
        shown(lambda[2]),
    );
    let verdict = Verdict::of(&[one.off(from_line) < 1e-12, two.off(from_line) < 1e-10, alternates]);
    let tables = lambda_of_both(trajectories(&one, &two, line));
    Ok(Finding { finding, verdict, numbers, tables })
}
