use super::tpc::{ONE_POINT, Study, TWO_POINT, lambda};
use super::{Entry, Finding, Number, Tell, Verdict};
use carom::lab::error::Result;

pub(crate) const ENTRY: Entry = Entry {
    id: "tpc-fig7",
    document: "TPC",
    title: "λ of the point on a circle in polar coordinates",
    claim: "One-point: constant. Two-point: oscillates between 0 and −1; with λ₁ the average of the two it is constant; λ₁ \
            does not change the trajectory.",
    compute,
};

fn compute(_: Tell) -> Result<Finding> {
    let one = Study::of("circle-polar", ONE_POINT, &[])?;
    let two = Study::of("circle-polar", TWO_POINT, &[])?;
    let mean = Study::of("circle-polar", "enforce = \"two-point\"\nlambda1 = 0.5", &[])?;
    let off = two.lambdas().iter().enumerate().map(|(k, lambda)| (lambda - (k % 2) as f64).abs()).fold(0.0, f64::max);
    let apart = two.nodes.iter().zip(&mean.nodes).map(|(a, b)| (a.q[0] - b.q[0]).abs()).fold(0.0, f64::max);
    let numbers = vec![
        Number::new("one-point: λ", one.lambdas()[0]),
        Number::new("one-point: range of λ", one.lambda_range()),
        Number::new("two-point: distance of λ from 0, 1, 0, 1, …", off),
        Number::new("two-point, λ₁ = ½: range of λ", mean.lambda_range()),
        Number::new("distance of the trajectories for λ₁ = 0 and ½", apart),
    ];
    let finding = format!(
        "One-point: λ = {:.12}, constant to {:.0e}. Two-point: 0, 1, 0, 1, … to {off:.0e}, with the sign of the equations as \
         printed; with λ₁ = ½ constant to {:.0e}. The trajectories differ by {apart:.0e}.",
        one.lambdas()[0],
        one.lambda_range(),
        mean.lambda_range(),
    );
    let verdict = Verdict::of(&[one.lambda_range() < 1e-11, off < 1e-9, mean.lambda_range() < 1e-9, apart < 1e-12]);
    let tables = vec![
        one.table("one-point").drawn(lambda("(a) one-point", "")),
        two.table("two-point").drawn(lambda("(b) two-point", "λ₁ = 0")),
        mean.table("two-point-mean").drawn(lambda("(b) two-point", "λ₁ = ½")),
    ];
    Ok(Finding { finding, verdict, numbers, tables })
}
