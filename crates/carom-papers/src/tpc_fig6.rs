use super::tpc::{ONE_POINT, Study, TWO_POINT, circle, from_circle, trajectories};
use super::{Entry, Finding, Number, Tell, Verdict};
use carom::lab::error::Result;

pub(crate) const ENTRY: Entry = Entry {
    id: "tpc-fig6",
    document: "TPC",
    title: "the point on a circle in polar coordinates, one-point and two-point constraint",
    claim: "Both trajectories are stable.",
    compute,
};

fn compute(_: Tell) -> Result<Finding> {
    let studies = [Study::of("circle-polar", ONE_POINT, &[])?, Study::of("circle-polar", TWO_POINT, &[])?];
    let [one, two] = studies.each_ref().map(|study| study.off(from_circle));
    let end = |study: &Study| study.nodes.last().map_or(f64::NAN, |node| node.q[0]);
    let numbers = vec![
        Number::new("one-point: distance from the circle", one),
        Number::new("two-point: distance from the circle", two),
        Number::new("one-point: angle at the end", end(&studies[0])),
        Number::new("two-point: angle at the end", end(&studies[1])),
    ];
    let finding = format!(
        "|r − 1| ≤ {one:.0e} and {two:.0e}; after 0.65 s both are at θ = {:.6} and {:.6}. The middle of two configurations on \
         the circle is on it in these coordinates.",
        end(&studies[0]),
        end(&studies[1]),
    );
    let verdict = Verdict::of(&[one < 1e-12, two < 1e-12]);
    let tables = trajectories(&studies[0], &studies[1], circle);
    Ok(Finding { finding, verdict, numbers, tables })
}
