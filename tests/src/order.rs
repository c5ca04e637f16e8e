//! Orders of flows, measured.

use carom::lab::flow::FlowKind;
use carom::lab::phase::{Flow, Phase};
use carom::lab::solve::NoSolution;

/// Makes steps, if all can be made.
pub fn try_travel(flow: &mut dyn Flow, start: &Phase, h: f64, steps: usize) -> Result<Phase, NoSolution> {
    let (mut z, mut next) = (start.clone(), start.clone());
    for _ in 0..steps {
        flow.step(&z, h, &mut next)?;
        std::mem::swap(&mut z, &mut next);
    }
    Ok(z)
}

/// Makes steps.
pub fn travel(flow: &mut dyn Flow, start: &Phase, h: f64, steps: usize) -> Phase {
    try_travel(flow, start, h, steps).expect("every step is found")
}

/// Σ|a − b|.
pub fn distance(a: &Phase, b: &Phase) -> f64 {
    a.z.iter().zip(&b.z).map(|(a, b)| (a - b).abs()).sum()
}

/// The slope of the error in h over the four smallest steps whose errors are above `floor`, clear of roundoff.
pub fn measured_order(flow: &mut dyn Flow, start: &Phase, time: f64, exact: &Phase, floor: f64) -> Option<f64> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut steps = 4;
    while steps < 2000 {
        let h = time / steps as f64;
        // The largest steps may have no solution.
        if let Ok(end) = try_travel(flow, start, h, steps) {
            let error = distance(&end, exact);
            if error < floor {
                break;
            }
            points.push((h.ln(), error.ln()));
        }
        steps += steps.div_ceil(6);
    }
    let [.., first, _, _, last] = points.as_slice() else { return None };
    Some((first.1 - last.1) / (first.0 - last.0))
}

/// True if a measured order is that of a flow. A composition of order 8 tends to its order from above: with `midpoint` it is 8.5 on
/// the double pendulum where its error comes near roundoff. A pair of order 8 has its order only near roundoff: it is between 7.1 and 9.1 on the
/// systems of the laws, and another program, in 80-bit numbers, has the same on the pendulum. Its coefficients are tested against the
/// order conditions.
pub fn is_declared(kind: &FlowKind, order: f64) -> bool {
    let declared = kind.order as f64;
    match kind.name.as_str() {
        _ if kind.is_pair() => order > declared - 1.0,
        "midpoint-kahan-li8" => order > declared - 0.15 && order < declared + 0.6,
        _ => (order - declared).abs() < 0.15,
    }
}
