//! The maps of a method in every contact mode.

use std::sync::Arc;

use crate::flow::{Disturbed, FlowKind, Halved};
use crate::phase::{Flow, Phase};
use crate::plant::{Contact, SharedPlant};
use crate::solve::{NoSolution, Solved};

/// How the steps of a flow are made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Variant {
    /// As the flow is.
    #[default]
    Whole,
    /// Each step, also each partial step, in two halves.
    Halved,
    /// Each step ends one unit of roundoff off; the number decides on the signs.
    Disturbed(u64),
}

impl Variant {
    /// The map with its steps made in this way; `size` is that of a state.
    fn of(self, map: Box<dyn Flow>, size: usize) -> Box<dyn Flow> {
        match self {
            Variant::Whole => map,
            Variant::Halved => Box::new(Halved::new(map, size)),
            Variant::Disturbed(seed) => Box::new(Disturbed::new(map, seed)),
        }
    }
}

/// Φ_full and Φ_partial of a method, for the free motion and for each set of walls that has held it.
#[derive(Clone)]
pub struct Maps {
    plant: SharedPlant,
    kind: Arc<FlowKind>,
    variant: Variant,
    parameters: Vec<f64>,
    free: Box<dyn Flow>,
    /// Where the partial steps are those of another map; then no wall holds.
    partial: Option<Box<dyn Flow>>,
    contacts: Vec<Box<dyn Contact>>,
    /// The number of the contact in use; none where the motion is free.
    mode: Option<usize>,
}

impl Maps {
    /// The maps of a flow; `partial` makes the partial steps if it is another.
    pub fn new(
        plant: &SharedPlant,
        kind: &Arc<FlowKind>,
        partial: Option<Box<dyn Flow>>,
        variant: Variant,
    ) -> crate::error::Result<Maps> {
        let whole = plant.flow(kind)?;
        let size = 2 * plant.facts().n;
        Ok(Maps {
            parameters: vec![0.0; plant.facts().parameters],
            plant: plant.clone(),
            kind: kind.clone(),
            variant,
            free: variant.of(whole, size),
            partial: partial.map(|map| variant.of(map, size)),
            contacts: Vec::new(),
            mode: None,
        })
    }

    /// Forgets the last steps, and takes the parameters of a run.
    pub fn begin(&mut self, parameters: &[f64]) {
        let is_new = self.parameters != parameters;
        self.parameters.copy_from_slice(parameters);
        for flow in [Some(&mut self.free), self.partial.as_mut()].into_iter().flatten() {
            if is_new {
                flow.set_parameters(parameters);
            }
            flow.forget();
        }
        for contact in &mut self.contacts {
            if is_new {
                contact.set_parameters(parameters);
            }
            contact.forget();
        }
        self.mode = None;
    }

    /// Goes over to the contact mode in which these walls hold.
    pub fn select(&mut self, walls: &[usize]) -> Solved<()> {
        if walls.is_empty() {
            self.mode = None;
            return Ok(());
        }
        let known = self.contacts.iter().position(|contact| contact.walls() == walls);
        if known.is_none() {
            let mut contact = self.plant.contact(&self.kind, walls).map_err(|_| NoSolution::Accumulated)?;
            contact.set_parameters(&self.parameters);
            if self.variant != Variant::Whole {
                let whole = contact.flow().boxed_clone();
                *contact.flow() = self.variant.of(whole, 2 * self.plant.facts().n);
            }
            self.contacts.push(contact);
        }
        self.mode = Some(known.unwrap_or(self.contacts.len() - 1));
        Ok(())
    }

    /// The walls that hold.
    pub fn holding(&self) -> &[usize] {
        self.mode.map_or(&[], |mode| self.contacts[mode].walls())
    }

    /// Φ_full.
    pub fn full(&mut self) -> &mut dyn Flow {
        match self.mode {
            Some(mode) => &mut **self.contacts[mode].flow(),
            None => &mut *self.free,
        }
    }

    /// Φ_partial.
    pub fn partial(&mut self) -> &mut dyn Flow {
        match (&mut self.partial, self.mode) {
            (Some(partial), _) => &mut **partial,
            (None, Some(mode)) => &mut **self.contacts[mode].flow(),
            (None, None) => &mut *self.free,
        }
    }

    /// True if Φ_partial is another map than Φ_full.
    pub fn has_partial(&self) -> bool {
        self.partial.is_some()
    }

    /// Tells a map of partial steps how long the full ones are.
    pub fn set_full_step(&mut self, h: f64) {
        self.partial.iter_mut().for_each(|partial| partial.set_full_step(h));
    }

    /// Φ_full of the free motion, and Φ_partial where that is another map.
    pub(super) fn free_and_partial(&mut self) -> (&mut dyn Flow, Option<&mut dyn Flow>) {
        let partial = self.partial.as_mut().map(|partial| &mut **partial as &mut dyn Flow);
        (&mut *self.free, partial)
    }

    /// The contact in use.
    pub fn contact(&mut self) -> Option<&mut dyn Contact> {
        self.mode.map(|mode| &mut *self.contacts[mode] as &mut dyn Contact)
    }

    /// Writes the forces N of the walls that hold.
    pub fn forces(&mut self, z: &Phase, forces: &mut Vec<f64>) -> Solved<()> {
        forces.clear();
        if let Some(contact) = self.contact() {
            forces.extend_from_slice(contact.forces(z)?);
        }
        Ok(())
    }

    /// The order of the flow.
    pub fn order(&self) -> usize {
        self.free.order()
    }
}
