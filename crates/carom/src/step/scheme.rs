//! How steps are made.

use std::sync::Arc;

use super::Stepper;
use super::algorithm::EventDriven;
use super::instant::Resolver;
use super::looker::Looker;
use super::maps::{Maps, Variant};
use super::projected::Projected;
use super::rest::Rest;
use crate::error::Result;
use crate::method::{Method, Switches};
use crate::model::Run;
use crate::model::settings::Zeno;
use crate::plant::SharedPlant;
use crate::projection::Projector;

/// A plant with a method and its settings: what makes steppers and lookers. It is immutable, and what it makes shares the
/// compiled code.
#[derive(Clone)]
pub struct Scheme {
    /// The system.
    pub plant: SharedPlant,
    /// The method.
    pub method: Arc<Method>,
    settings: Arc<Run>,
    path: Option<Arc<Path>>,
}

/// The two plants of the projected principle, and the projection between them.
pub struct Path {
    /// Those of the sides φ ≥ 0 and φ < 0.
    pub sides: [SharedPlant; 2],
    /// P.
    pub projector: Projector,
    /// The parameters of the sides and of P, after those of the model.
    pub numbers: Vec<f64>,
    /// How the path crosses the wall.
    pub switches: Switches,
}

impl Path {
    /// The parameters of the sides and of P, given those of the model.
    pub(super) fn parameters(&self, of_model: &[f64]) -> Vec<f64> {
        [of_model, &self.numbers].concat()
    }
}

impl Scheme {
    /// Compiles what the steps of a method need; says why where the method does not go with the system.
    pub fn new(plant: SharedPlant, method: Method, settings: &Run) -> Result<Scheme> {
        let scheme = Scheme { plant, method: Arc::new(method), settings: Arc::new(settings.clone()), path: None };
        scheme.stepper(Variant::Whole)?;
        Ok(scheme)
    }

    /// As [`Scheme::new`], for steps along the path of the projected principle.
    pub fn projected(plant: SharedPlant, method: Method, settings: &Run, path: Path) -> Result<Scheme> {
        let (method, settings) = (Arc::new(method), Arc::new(settings.clone()));
        let scheme = Scheme { plant, method, settings, path: Some(Arc::new(path)) };
        scheme.stepper(Variant::Whole)?;
        Ok(scheme)
    }

    /// A stepper whose steps are made in a way that [`Scheme::can_halve`] and [`Scheme::can_disturb`] allow.
    pub fn stepper(&self, variant: Variant) -> Result<Box<dyn Stepper>> {
        if let Some(path) = &self.path {
            return Ok(Box::new(Projected::new(&self.plant, path, &self.method.flow)?));
        }
        let facts = self.plant.facts();
        let built = self.method.rule(&*self.plant, &self.settings)?;
        let can_rest = built.partial.is_none() && self.method.flow.is_symplectic && facts.walls > 0;
        let rest = can_rest.then(|| Rest::new(self.settings.zeno == Zeno::Stop, self.plant.facts()));
        let maps = Maps::new(&self.plant, &self.method.flow, built.partial, variant)?;
        let resolver = Resolver::new(built.rule, self.settings.simultaneous, facts);
        Ok(Box::new(EventDriven::new(facts, maps, self.plant.evaluator(), resolver, rest)))
    }

    /// Whether steps can be disturbed: not where the path is projected.
    pub fn can_disturb(&self) -> bool {
        self.path.is_none()
    }

    /// Whether steps can be made in halves: not where the rule looks at steps, or the path is projected.
    pub fn can_halve(&self) -> Result<bool> {
        let built = self.method.rule(&*self.plant, &self.settings)?;
        Ok(self.path.is_none() && built.partial.is_none() && !built.rule.looks_at_steps())
    }

    /// What finds states inside steps, which are made in halves or not.
    pub fn looker(&self, variant: Variant) -> Result<Looker> {
        let flow = &self.method.flow;
        if let Some(path) = &self.path {
            let [inside, outside] = &path.sides;
            let sides =
                [Maps::new(inside, flow, None, Variant::Whole)?, Maps::new(outside, flow, None, Variant::Whole)?];
            return Ok(Looker::on_path(sides, path.clone(), self.plant.facts().nowhere()));
        }
        let built = self.method.rule(&*self.plant, &self.settings)?;
        Ok(Looker::on_events(Maps::new(&self.plant, flow, built.partial, variant)?))
    }

    /// The order of the method; 1 where the switches of a projected path are not located.
    pub fn order(&self) -> usize {
        match &self.path {
            Some(path) if path.switches == Switches::Unlocated => 1,
            _ => self.method.flow.order,
        }
    }
}
