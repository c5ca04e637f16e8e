//! Where impacts flash: at the contact.

use std::collections::HashMap;

use carom::Impact;
use carom::lab::error::Result;
use carom::lab::expr::Expr;
use carom::lab::model::Model;

use crate::geometry::{Compiled, Places};
use crate::stage::{Form, Stage};
use crate::touch::{Forces, Touch, nearest, numbers};

/// Finds the place of each impact.
pub struct Flashes<'a> {
    model: &'a Model,
    stage: &'a Stage,
    places: Places,
    /// The numbers of the outlines of all contacts.
    outlines: Compiled,
    /// Where the impulse may act, for walls that are no line and no circle.
    forces: HashMap<usize, Option<Forces>>,
    /// The radius of the disk at each place.
    radii: Vec<f64>,
}

impl<'a> Flashes<'a> {
    /// Compiles what is needed.
    pub fn new(model: &'a Model, stage: &'a Stage) -> Result<Flashes<'a>> {
        let outlines: Vec<Expr> = model.contacts.iter().flat_map(|contact| numbers(&contact.outline)).collect();
        let mut radii = vec![0.0; stage.places.len()];
        for sketch in &stage.sketches {
            if let Form::Disk(at, radius) | Form::Circle(at, radius) | Form::Ball(at, radius) = sketch.form {
                radii[at] = radius;
            }
        }
        let (places, outlines) = (Places::new(model, &stage.places)?, Compiled::new(model, &outlines)?);
        Ok(Flashes { model, stage, places, outlines, forces: HashMap::new(), radii })
    }

    /// The place of an impact.
    pub fn place(&mut self, impact: &Impact) -> Result<[f64; 2]> {
        let (t, q) = (impact.minus.t, &impact.minus.q);
        let at = self.places.at(t, q);
        Ok(match self.stage.touches[impact.wall] {
            // In space the nearest place of a sphere is not that of its outline.
            Touch::Contact(_, place) if self.model.view.is_some() => at[place],
            Touch::Contact(number, place) => {
                let numbers = &self.outlines.at(t, q, &[])[4 * number..4 * number + 4];
                nearest(&self.model.contacts[number].outline, numbers, at[place])
            }
            Touch::At(place) => at[place],
            Touch::Between(a, b) => {
                let (ra, rb) = (self.radii[a], self.radii[b]);
                let part = if ra + rb > 0.0 { ra / (ra + rb) } else { 0.5 };
                [0, 1].map(|k| at[a][k] + part * (at[b][k] - at[a][k]))
            }
            Touch::Unknown => {
                let place = self.most_moved(impact)?;
                self.places.at(t, q)[place]
            }
        })
    }

    /// Of the places at which the impulse may act, the one whose velocity it changes most.
    fn most_moved(&mut self, impact: &Impact) -> Result<usize> {
        let (minus, plus) = (&impact.minus, &impact.plus);
        let forces = match self.forces.entry(impact.wall) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                let phi = self.model.system.walls[impact.wall].phi;
                new.insert(Forces::new(self.model, phi, &self.stage.places)?)
            }
        };
        let all = || (0..self.stage.places.len()).collect();
        let candidates = forces.as_mut().map_or_else(all, |forces| forces.candidates(minus.t, &minus.q));
        let before = self.places.rates(minus.t, &minus.q, &minus.v).to_vec();
        let after = self.places.rates(plus.t, &plus.q, &plus.v);
        let jump = |k: usize| (after[k][0] - before[k][0]).hypot(after[k][1] - before[k][1]);
        Ok(candidates.into_iter().max_by(|a, b| jump(*a).total_cmp(&jump(*b))).unwrap_or(0))
    }
}
