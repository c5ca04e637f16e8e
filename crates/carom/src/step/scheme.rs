//! Schemes: a system with a method.

use std::sync::Arc;

use super::Stepper;
use super::algorithm::EventDriven;
use super::explicit::Explicit;
use super::instant::Resolver;
use super::looker::Looker;
use super::maps::{Maps, Variant};
use super::projected::Projected;
use super::rest::Rest;
use crate::error::Result;
use crate::flow::{self, FlowKind};
use crate::kernel::Lanes;
use crate::limits::{BOUNCE_OF_HALVED, LOWEST_BOUNCE};
use crate::method::{Method, Switches};
use crate::model::Run;
use crate::model::settings::Zeno;
use crate::plant::SharedPlant;
use crate::projection::Projector;

/// A plant with a method and its settings. It is immutable and creates steppers and lookers, which share the compiled code.
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
    /// The plants of the sides φ ≥ 0 and φ < 0.
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
    /// Compiles the steps of a method. Returns an error with the reason if the method does not apply to the system.
    pub fn new(plant: SharedPlant, method: Method, settings: &Run) -> Result<Scheme> {
        let scheme = Scheme { plant, method: Arc::new(method), settings: Arc::new(settings.clone()), path: None };
        scheme.stepper(Variant::Whole)?;
        Ok(scheme)
    }

    /// Like [`Scheme::new`], for steps along the path of the projected principle.
    pub fn projected(plant: SharedPlant, method: Method, settings: &Run, path: Path) -> Result<Scheme> {
        let (method, settings) = (Arc::new(method), Arc::new(settings.clone()));
        let scheme = Scheme { plant, method, settings, path: Some(Arc::new(path)) };
        scheme.stepper(Variant::Whole)?;
        Ok(scheme)
    }

    /// Creates a stepper. See [`Scheme::can_halve`] and [`Scheme::can_disturb`] for the variants that are possible.
    pub fn stepper(&self, variant: Variant) -> Result<Box<dyn Stepper>> {
        if let Some(path) = &self.path {
            return Ok(Box::new(Projected::new(&self.plant, path, &self.method.flow)?));
        }
        let equal = self.event_driven(&self.method.flow, variant)?;
        if !self.is_pair() {
            return Ok(Box::new(equal));
        }
        let finish = self.event_driven(&self.finishing_flow()?, variant)?;
        let seed = match variant {
            Variant::Disturbed(seed) => Some(seed),
            Variant::Whole | Variant::Halved => None,
        };
        let code = self.plant.lane_code(Lanes::Two).ok();
        let evaluator = self.plant.evaluator();
        Ok(Box::new(Explicit::new(self.plant.facts(), code, [finish, equal], evaluator, seed)))
    }

    /// Algorithm 1 with this flow.
    fn event_driven(&self, flow: &Arc<FlowKind>, variant: Variant) -> Result<EventDriven> {
        let facts = self.plant.facts();
        let built = self.method.rule(&*self.plant, &self.settings)?;
        let can_rest = built.partial.is_none() && flow.can_hold() && facts.walls > 0;
        let rest = can_rest.then(|| Rest::new(self.settings.zeno == Zeno::Stop));
        let maps = Maps::new(&self.plant, flow, built.partial, variant)?;
        let lowest = match variant {
            Variant::Halved => BOUNCE_OF_HALVED * LOWEST_BOUNCE,
            Variant::Whole | Variant::Disturbed(_) => LOWEST_BOUNCE,
        };
        let resolver = Resolver::new(built.rule, self.settings.simultaneous, lowest, facts);
        Ok(EventDriven::new(facts, maps, self.plant.evaluator(), resolver, rest))
    }

    /// The flow of what leaves the lanes of an explicit pair.
    fn finishing_flow(&self) -> Result<Arc<FlowKind>> {
        flow::named("gauss6", None).map(Arc::new)
    }

    /// True if motions can be in lanes.
    pub fn has_lanes(&self) -> bool {
        self.is_pair() && self.plant.lane_code(Lanes::Two).is_ok()
    }

    /// True if the flow is an explicit pair, which controls the length of its steps in one pass.
    pub fn is_pair(&self) -> bool {
        self.method.flow.is_pair() && self.can_control()
    }

    /// True if steps can be disturbed: not on a projected path.
    pub fn can_disturb(&self) -> bool {
        self.path.is_none()
    }

    /// True if steps can be made in halves: not if the rule depends on the steps, and not on a projected path.
    pub fn can_halve(&self) -> Result<bool> {
        let built = self.method.rule(&*self.plant, &self.settings)?;
        Ok(self.path.is_none() && built.partial.is_none() && !built.rule.looks_at_steps())
    }

    /// True if the length of steps can be controlled: not with constraints, on a projected path, if the rule depends on steps, and
    /// not on recursive kernels or with a force that is a function, where steps leave no polynomial.
    pub fn can_control(&self) -> bool {
        let facts = self.plant.facts();
        let is_free = facts.is_one_point.is_empty();
        is_free && !facts.has_function && !self.plant.is_recursive() && self.can_halve().unwrap_or(false)
    }

    /// Creates a looker for the states inside steps.
    pub fn looker(&self, variant: Variant) -> Result<Looker> {
        let flow = &if self.is_pair() { self.finishing_flow()? } else { self.method.flow.clone() };
        if let Some(path) = &self.path {
            let [inside, outside] = &path.sides;
            let sides =
                [Maps::new(inside, flow, None, Variant::Whole)?, Maps::new(outside, flow, None, Variant::Whole)?];
            return Ok(Looker::on_path(sides, path.clone(), self.plant.facts().nowhere()));
        }
        let built = self.method.rule(&*self.plant, &self.settings)?;
        Ok(Looker::on_events(Maps::new(&self.plant, flow, built.partial, variant)?))
    }

    /// The order of the method; 1 if the switches of a projected path are not located.
    pub fn order(&self) -> usize {
        match &self.path {
            Some(path) if path.switches == Switches::Unlocated => 1,
            _ => self.method.flow.order,
        }
    }
}
