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

/// The order of a flow from the errors of single steps, which go with one power of h more. They are averaged over starts along the
/// motion: the error of a whole run has several terms that cancel at some steps, so that its slope is far from the order until it is
/// roundoff. The slope is that over the four smallest steps whose errors are above `floor`.
pub fn order_of_single_steps(
    flow: &mut dyn Flow,
    exact: &mut dyn Flow,
    start: &Phase,
    time: f64,
    floor: f64,
) -> Option<f64> {
    const STARTS: usize = 24;
    let apart = time / STARTS as f64;
    let mut starts = vec![start.clone()];
    for _ in 1..STARTS {
        let last = starts.last()?.clone();
        starts.push(travel(exact, &last, apart / 4.0, 4));
    }
    let (mut points, mut h): (Vec<(f64, f64)>, f64) = (Vec::new(), time / 4.0);
    loop {
        let error_from = |z: &Phase, flow: &mut dyn Flow, exact: &mut dyn Flow| {
            Some(distance(&try_travel(flow, z, h, 1).ok()?, &travel(exact, z, h / 8.0, 8)))
        };
        let error: Option<f64> = starts.iter().map(|z| error_from(z, flow, exact)).sum();
        if let Some(error) = error.map(|sum| sum / STARTS as f64) {
            if error < floor {
                break;
            }
            points.push((h.ln(), error.ln()));
        }
        h /= 1.25;
    }
    let [.., first, _, _, last] = points.as_slice() else { return None };
    Some((first.1 - last.1) / (first.0 - last.0) - 1.0)
}

/// True if the order of a flow is measured by single steps: the errors of a whole run cancel at some steps.
pub fn needs_single_steps(kind: &FlowKind) -> bool {
    kind.is_pair() || kind.name == "midpoint-kahan-li8"
}

/// True if a measured order is that of a flow.
pub fn is_declared(kind: &FlowKind, order: f64) -> bool {
    (order - kind.order as f64).abs() < if kind.is_pair() { 0.25 } else { 0.15 }
}
