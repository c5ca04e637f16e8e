//! Diagnostics, one file each: quantities at phase points that show how well a flow preserves the structure of mechanics.
//!
//! A [`Panel`] creates the diagnostics that apply to a model and a method, and gives the reason for each that does not.
//! [`series`](crate::simulation::series) runs a model and records them at its nodes.
//!
//! ```
//! use carom::lab::simulation::series;
//! use carom::lab::method::Method;
//! use carom::lab::model::Model;
//!
//! let text = carom::lab::catalogue::find("pendulum").unwrap().text;
//! let model = Model::from_text("pendulum", text, &[])?;
//! let table = series(&model, &Method::named("svc", None)?, 0.01, 2.0, &[])?;
//! for (column, summary) in table.columns.iter().zip(&table.summaries) {
//!     println!("{}: {} values, largest drift {:e}", column.name, column.values.len(), summary.drift);
//! }
//! # Ok::<(), carom::lab::error::Error>(())
//! ```

mod discrete_energy;
mod energy;
mod gap;
mod modified;
mod momentum;
mod panel;
mod summary;
mod symplectic;

pub use discrete_energy::DiscreteEnergy;
pub use energy::EnergyMonitor;
pub use gap::Gap;
pub use modified::{ByFlow, ModifiedMonitor};
pub use momentum::Momentum;
pub use panel::{LeftOut, MonitorColumn, Panel, Table};
pub use summary::Summary;
pub use symplectic::Symplectic;

use crate::error::{Diagnostic as Mistake, Error, Result};
use crate::flow::FlowKind;
use crate::mechanics::Mechanics;
use crate::model::suggestion;
use crate::phase::{Flow, Phase};
use crate::plant::{Evaluator, Plant};
use crate::solve::NoSolution;
use crate::system::System;

/// A quantity at each phase point of a trajectory.
pub trait Monitor: Send {
    /// The name in tables and plots.
    fn name(&self) -> String;

    /// The coordinate or wall to which it belongs, if one registered name creates several monitors.
    fn part(&self) -> Option<&str> {
        None
    }

    /// About how many steps of the flow a value takes.
    fn steps(&self) -> usize {
        0
    }

    /// The value at z on a trajectory of `flow` with step h. May step the flow, which changes its internal state.
    fn at(&mut self, z: &Phase, h: f64, flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution>;
}

/// The system and the flow to diagnose.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The system, for names of coordinates and walls.
    pub system: &'a System,
    /// The compiled system.
    pub plant: &'a dyn Plant,
    /// The flow that makes the steps.
    pub flow: &'a FlowKind,
    /// The values of the parameters.
    pub parameters: &'a [f64],
}

impl Subject<'_> {
    /// An evaluator that remembers nothing, so that no diagnostic changes what another shows.
    fn evaluator(&self) -> Box<dyn Evaluator> {
        let mut evaluator = self.plant.evaluator();
        evaluator.set_parameters(self.parameters);
        evaluator.remember_nothing();
        evaluator
    }

    /// The map that makes the steps.
    pub fn steps(&self) -> Result<Box<dyn Flow>> {
        let mut flow = self.plant.flow(self.flow)?;
        flow.set_parameters(self.parameters);
        Ok(flow)
    }

    /// The equations as expressions. Returns an error if recursive kernels evaluate the system, or a force is a function.
    fn expressions(&self) -> Result<&Mechanics> {
        if self.plant.is_recursive() {
            return Err(Mistake::new("it needs expressions, but recursive kernels evaluate this mechanism").into());
        }
        if self.plant.facts().has_function {
            return Err(Mistake::new("it needs expressions, but a force is a function").into());
        }
        self.plant.lagrangian()
    }

    /// Returns an error if the flow is not variational.
    fn check_variational(&self) -> Result<()> {
        if self.flow.is_symplectic {
            return Ok(());
        }
        Err(Mistake::new(format!("`{}` has no discrete Lagrangian", self.flow.name)).into())
    }
}

/// The monitors that one registered name creates: one, several, or an error.
pub type Made = Result<Vec<Box<dyn Monitor>>>;

/// A registered diagnostic.
pub struct MonitorKind {
    /// Its name.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// True if it belongs to a step of the run and not to a state, so that it has a value at nodes only.
    pub of_step: bool,
    make: fn(&Subject) -> Made,
}

impl MonitorKind {
    /// The name of a column in files; `part` is that of the monitor.
    pub fn key(&self, part: Option<&str>) -> String {
        let name = self.name.replace('-', "_");
        part.map_or(name.clone(), |part| format!("{name}_{part}"))
    }
}

/// The registered diagnostics.
pub static REGISTRY: [MonitorKind; 10] = [
    of_state("energy", "the Hamiltonian H", energy::make),
    of_step("discrete-energy", "−D₃L_d of the step from the point", discrete_energy::make),
    of_step("modified", "H̃ up to O(h⁴), from second derivatives", modified::closed),
    of_step("series", "H̃ up to O(h⁴), from the discrete Lagrangian", modified::series),
    of_step("cheap", "H̃ from H and −D₃L_d of the steps at the point", modified::cheap),
    of_step("shadow", "H̃ from 5 iterates on each side", modified::shadow),
    of_step("shadow-window", "H̃ from iterates, averaged over 10 nodes on each side", modified::window),
    of_state("momentum", "p of each coordinate that L and the walls do not depend on", momentum::make),
    of_step("symplectic", "how far a step is from symplectic", symplectic::make),
    of_state("gap", "φ of each wall", gap::make),
];

const fn of_state(name: &'static str, about: &'static str, make: fn(&Subject) -> Made) -> MonitorKind {
    MonitorKind { name, about, of_step: false, make }
}

const fn of_step(name: &'static str, about: &'static str, make: fn(&Subject) -> Made) -> MonitorKind {
    MonitorKind { name, about, of_step: true, make }
}

/// The registry entry with this name.
pub fn entry(name: &str) -> Result<&'static MonitorKind> {
    REGISTRY.iter().find(|entry| entry.name == name).ok_or_else(|| unknown(name))
}

/// The monitors with this name for a subject, or an error with the reason why there are none.
pub fn named(name: &str, subject: &Subject) -> Made {
    (entry(name)?.make)(subject)
}

fn unknown(name: &str) -> Error {
    let all: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
    let near = suggestion(name, all.iter().copied());
    let help = near.map_or(format!("there are {}", all.join(", ")), |near| format!("did you mean `{near}`?"));
    Mistake::new(format!("unknown diagnostic `{name}`")).with_help(help).into()
}

/// The values of a monitor at a list of points.
pub fn along(
    diagnostic: &mut dyn Monitor,
    points: &[Phase],
    h: f64,
    flow: &mut dyn Flow,
) -> std::result::Result<Vec<f64>, NoSolution> {
    points.iter().map(|z| diagnostic.at(z, h, flow)).collect()
}
