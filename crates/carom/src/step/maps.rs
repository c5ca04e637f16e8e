//! The maps of a method in every contact mode.

use std::sync::Arc;

use crate::flow::{Disturbed, FlowKind, Halved, disturb};
use crate::phase::{Flow, Phase};
use crate::plant::{Contact, SharedPlant};
use crate::solve::{NoSolution, Solved};

/// How the steps of a flow are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Variant {
    /// By the flow itself.
    #[default]
    Whole,
    /// Each full and partial step in two halves.
    Halved,
    /// The end of each step and of each impact is disturbed by one unit of roundoff; the seed selects the signs.
    Disturbed(u64),
}

impl Variant {
    /// Wraps a map accordingly; `size` is the length of a state.
    fn of(self, map: Box<dyn Flow>, size: usize) -> Box<dyn Flow> {
        match self {
            Variant::Whole => map,
            Variant::Halved => Box::new(Halved::new(map, size)),
            Variant::Disturbed(seed) => Box::new(Disturbed::new(map, seed)),
        }
    }
}

/// Φ_full and Φ_partial of a method, for the free motion and for every contact mode so far.
#[derive(Clone)]
pub struct Maps {
    plant: SharedPlant,
    kind: Arc<FlowKind>,
    variant: Variant,
    /// The parameters of the system, then the sides of its kinks.
    parameters: Vec<f64>,
    free: Box<dyn Flow>,
    /// The map of partial steps, if it differs from the full one; then no wall can hold.
    partial: Option<Box<dyn Flow>>,
    contacts: Vec<Box<dyn Contact>>,
    /// The index of the active contact mode; none if the motion is free.
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
        let whole = plant.smooth_flow(kind)?;
        let size = 2 * plant.facts().n;
        Ok(Maps {
            parameters: vec![0.0; plant.facts().parameters + plant.facts().kinks],
            plant: plant.clone(),
            kind: kind.clone(),
            variant,
            free: variant.of(whole, size),
            partial: partial.map(|map| variant.of(map, size)),
            contacts: Vec::new(),
            mode: None,
        })
    }

    /// Sets the parameters of a run and clears the memory of earlier steps.
    pub fn begin(&mut self, parameters: &[f64]) {
        let n = parameters.len();
        if self.parameters[..n] != *parameters {
            self.parameters[..n].copy_from_slice(parameters);
            self.pass_parameters();
            self.partial.iter_mut().for_each(|partial| partial.set_parameters(parameters));
        }
        [Some(&mut self.free), self.partial.as_mut()].into_iter().flatten().for_each(|flow| flow.forget());
        // Their equations remember the order of pivots, which shows in the last bits. To create them again compiles nothing.
        self.contacts.clear();
        self.mode = None;
    }

    /// Selects these sides of the kinks.
    pub fn set_sides(&mut self, sides: &[f64]) {
        let n = self.parameters.len() - sides.len();
        if self.parameters[n..] != *sides {
            self.parameters[n..].copy_from_slice(sides);
            self.pass_parameters();
        }
    }

    fn pass_parameters(&mut self) {
        self.free.set_parameters(&self.parameters);
        self.contacts.iter_mut().for_each(|contact| contact.set_parameters(&self.parameters));
    }

    /// Selects the contact mode in which these walls hold.
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

    /// True if Φ_partial differs from Φ_full.
    pub fn has_partial(&self) -> bool {
        self.partial.is_some()
    }

    /// True if the free motion is by steps that are solved to a tolerance.
    pub(super) fn is_quick(&mut self) -> bool {
        self.free.quick().is_some()
    }

    /// Sets the length of the full step in the map of partial steps.
    pub fn set_full_step(&mut self, h: f64) {
        self.partial.iter_mut().for_each(|partial| partial.set_full_step(h));
    }

    /// Φ_full of the free motion, and Φ_partial if it differs.
    pub(super) fn free_and_partial(&mut self) -> (&mut dyn Flow, Option<&mut dyn Flow>) {
        let partial = self.partial.as_mut().map(|partial| &mut **partial as &mut dyn Flow);
        (&mut *self.free, partial)
    }

    /// Moves the momenta after an impact by one unit of roundoff, if the steps are disturbed: those before it may be larger.
    pub(super) fn disturb_impact(&self, before: &Phase, z: &mut Phase) {
        if let Variant::Disturbed(seed) = self.variant {
            disturb(seed, z.t, 0.0, before.p(), z.p_mut());
        }
    }

    /// The active contact mode.
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
