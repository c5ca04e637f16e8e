use super::measure::range;
use super::tpc::{ONE_POINT, Study, TWO_POINT, circle, from_circle, trajectories};
use super::{Entry, Finding, Number, Tell, Verdict};
use carom::lab::error::Result;
use carom::lab::mechanics::growth_factor;

pub(crate) const ENTRY: Entry = Entry {
    id: "tpc-fig4",
    document: "TPC",
    title: "a point on a circle in (x, y), one-point and two-point constraint (h = 0.01, T = 0.65)",
    claim: "One-point: constant velocity, on the circle. Two-point: unstable; the point bounces in and out of the circle \
            and gains energy, the points being further apart after each step.",
    compute,
};

fn compute(_: Tell) -> Result<Finding> {
    let one = Study::of("circle-xy", ONE_POINT, &[])?;
    let two = Study::of("circle-xy", TWO_POINT, &[])?;
    let strides = two.strides();
    let lambda = two.lambdas();
    let jumps: Vec<f64> = lambda.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // Of the two modes ρ and 1/ρ, one has decayed; from step 45 on the equations have two solutions.
    let jumps = &jumps[..44];
    let growth = (jumps[30] / jumps[14]).abs().powf(1.0 / 16.0);
    let off = two.off_within(44, from_circle);
    let numbers = vec![
        Number::new("one-point: distance from the circle", one.off(from_circle)),
        Number::new("one-point: range of the stride", range(&one.strides())),
        Number::new("one-point: range of λ", one.lambda_range()),
        Number::new("two-point: distance from the circle within 44 steps", off),
        Number::new("two-point: growth of the jumps of λ in a step", growth),
        Number::new("growth that theory predicts", growth_factor(0.1)),
    ];
    let on_circle = one.off(from_circle) < 1e-12 && range(&one.strides()) < 1e-12;
    let alternates = jumps.windows(2).all(|pair| pair[0] * pair[1] < 0.0 || pair[0].abs() < 0.05);
    let growing = strides[1..44].windows(2).filter(|pair| pair[1] > pair[0]).count();
    let further = growing == 42;
    let gains = strides[34] + strides[35] > 1.1 * (strides[0] + strides[1]);
    let finding = format!(
        "One-point: |r − 1| ≤ {:.0e}, the same stride to {:.0e}, λ = {:.6}. Two-point: λ alternates and its jumps grow by \
         {growth:.3} in a step (theory: {:.3}); the points are off the circle by up to {:.2} within 44 steps. They are not \
         further apart after each step: only every other stride grows ({growing} of 42 are longer than the one before), but two \
         strides together do, by {:.0} % after 35 steps, and so does the energy. With (6a) and (9) as printed λ is positive; the \
         figures show the other sign. After step {} the point is out of the picture; the table and the drawing end there.",
        one.off(from_circle),
        range(&one.strides()),
        one.lambdas()[0],
        growth_factor(0.1),
        off,
        100.0 * ((strides[34] + strides[35]) / (strides[0] + strides[1]) - 1.0),
        two.steps_in_picture(),
    );
    let verdict = Verdict::of(&[on_circle, alternates && off > 0.01, further, gains]);
    Ok(Finding { finding, verdict, numbers, tables: trajectories(&one, &two, circle) })
}
