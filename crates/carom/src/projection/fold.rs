//! Configurations at which P is not one-to-one.

use super::bound::Lambda;
use super::map::{Map, Projector};
use super::normal_form::NormalForm;
use super::region::{CoordinateRange, Region};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;

/// Several configurations outside C with the same image.
#[derive(Clone, Debug)]
pub struct Fold {
    /// φ of all of them: −1/√k, where P shifts the other coordinates most.
    pub phi: f64,
    /// The configurations, ordered by the coordinate that differs most.
    pub z: Vec<Vec<f64>>,
    /// Their image.
    pub image: Vec<f64>,
}

/// The distances from a point with the wrong sign of det P' at which configurations with the same image are searched.
const REACH: [f64; 8] = [0.05, 0.1, 0.2, 0.4, 0.8, 1.2, 1.8, 2.5];

/// Searches for configurations with the same image. They exist near points at which det P' has the wrong sign.
///
/// At φ = −1/√k, 2φ/(1 + kφ²) is −1/√k, and det P' has the wrong sign where det(𝕀 + Λ/√k) < 0. `None` if there is no such
/// point, or if Ψ has no inverse in closed form.
pub fn fold(
    form: &NormalForm,
    mechanics: &Mechanics,
    parameters: &[f64],
    region: &Region,
    k: f64,
) -> Result<Option<Fold>> {
    let (phi, c) = (-1.0 / k.sqrt(), form.coordinate);
    let others: Vec<_> = form.others.iter().map(|&i| form.q[i]).collect();
    // Here the coordinate c stands for the value of φ.
    let (Some(map), Some(lifted)) = (Map::global(form, k), form.inverse(form.q[c], &others)) else { return Ok(None) };
    let mechanics = &mechanics.interpreted();
    let mut projector = Projector::new(&map, mechanics, parameters)?;
    let mut lambda = Lambda::new(form, mechanics, parameters)?;
    let lift = mechanics.kernel(&form.q, &lifted)?;
    let mut level = region.clone();
    level.axes[c] = CoordinateRange { low: phi, high: phi, periodic: true };
    let mut turned = |at: &[f64]| -lambda.determinant(&lifted_at(&lift, parameters, at), -phi);
    let (at, turning) = level.maximize(&mut turned);
    if turning.is_nan() || turning <= 0.0 {
        return Ok(None);
    }
    let middle = lifted_at(&lift, parameters, &at);
    let image = projector.project(&middle);
    let mut z = vec![middle.clone()];
    for &i in &form.others {
        for reach in REACH.into_iter().flat_map(|reach| [-reach, reach]) {
            let mut start = middle.clone();
            start[i] += reach;
            let Some(found) = projector.solve(&image, start) else { continue };
            let apart = |other: &Vec<f64>| other.iter().zip(&found).map(|(a, b)| (a - b).abs()).sum::<f64>();
            if projector.phi(&found) < 0.0 && z.iter().all(|other| apart(other) > 1e-6) {
                z.push(found);
            }
        }
    }
    sort_by_spread(&mut z);
    Ok((z.len() > 1).then_some(Fold { phi, z, image }))
}

fn lifted_at(lift: &Kernel, parameters: &[f64], at: &[f64]) -> Vec<f64> {
    let mut q = vec![0.0; at.len()];
    lift.eval(&[parameters, at].concat(), &mut q);
    q
}

fn sort_by_spread(z: &mut [Vec<f64>]) {
    let spread = |i: usize| {
        let values = || z.iter().map(|z| z[i]);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let widest = (0..z[0].len()).max_by(|&i, &j| spread(i).total_cmp(&spread(j))).unwrap_or(0);
    z.sort_by(|a, b| a[widest].total_cmp(&b[widest]));
}
