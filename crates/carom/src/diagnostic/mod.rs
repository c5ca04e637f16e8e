//! Diagnostics, one file each: numbers that say how well a flow keeps the structure of mechanics, evaluated at phase
//! points.
//!
//! ```
//! use carom::diagnostic::{self, Subject};
//! use carom::discrete::Svc;
//! use carom::flow::{Flow, Phase, Variational};
//! use carom::mechanics::Mechanics;
//! use carom::model::Model;
//!
//! let text = carom::catalogue::find("pendulum").unwrap().text;
//! let model = Model::from_text("pendulum", text, &[])?;
//! let (mechanics, start) = (Mechanics::new(&model.system), model.start()?);
//! let parameters: Vec<f64> = model.parameter_values().iter().map(|p| p.1).collect();
//! let subject = Subject { mechanics: &mechanics, rule: Some(&Svc), parameters: &parameters };
//!
//! let mut flow = Variational::new(&mechanics, &Svc, &parameters)?;
//! let z = Phase::new(0.0, &start.q, &start.p);
//! for diagnostic in &mut diagnostic::named("energy", &subject)? {
//!     println!("{} = {:?}", diagnostic.name(), diagnostic.at(&z, 0.01, &mut flow));
//! }
//! # Ok::<(), carom::error::Error>(())
//! ```

mod discrete_energy;
mod energy;
mod modified;
mod momentum;
mod symplectic;

pub use discrete_energy::DiscreteEnergy;
pub use energy::Energy;
pub use modified::{ByFlow, Modified};
pub use momentum::Momentum;
pub use symplectic::Symplectic;

use crate::discrete::DiscreteLagrangian;
use crate::error::{Diagnostic as Mistake, Result};
use crate::flow::{Flow, Phase};
use crate::mechanics::Mechanics;
use crate::model::suggestion;
use crate::solve::NoSolution;

/// A number at each phase point of a trajectory.
pub trait Diagnostic: Send {
    /// What tables and plots call it.
    fn name(&self) -> String;

    /// Its value at z on a trajectory of `flow` with the step h. The flow may be stepped; it is not where it was.
    fn at(&mut self, z: &Phase, h: f64, flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution>;
}

/// What is diagnosed.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The equations.
    pub mechanics: &'a Mechanics,
    /// The discrete Lagrangian of the flow, if it has one.
    pub rule: Option<&'a dyn DiscreteLagrangian>,
    /// The values of the parameters.
    pub parameters: &'a [f64],
}

/// What is made for a name: one diagnostic, several or none.
pub type Made = Result<Vec<Box<dyn Diagnostic>>>;

/// A registered diagnostic.
pub struct Entry {
    /// What it is asked for by.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    make: fn(&Subject) -> Made,
}

/// The registered diagnostics.
pub const REGISTRY: [Entry; 9] = [
    Entry { name: "energy", about: "the Hamiltonian H", make: energy::make },
    Entry { name: "discrete-energy", about: "−D₃L_d of the step from the point", make: discrete_energy::make },
    Entry { name: "modified", about: "H̃ up to O(h⁴), from second derivatives", make: modified::closed },
    Entry { name: "series", about: "H̃ up to O(h⁴), from the discrete Lagrangian", make: modified::series },
    Entry { name: "cheap", about: "H̃ from H and −D₃L_d of the steps at the point", make: modified::cheap },
    Entry { name: "shadow", about: "H̃ from 5 iterates on each side", make: modified::shadow },
    Entry {
        name: "shadow-window",
        about: "H̃ from iterates, averaged over 10 nodes on each side",
        make: modified::window,
    },
    Entry { name: "momentum", about: "p of each coordinate that does not occur in L", make: momentum::make },
    Entry { name: "symplectic", about: "how far a step is from symplectic", make: symplectic::make },
];

/// The diagnostics of that name for a subject; some are several, some (such as `momentum`) may be none.
pub fn named(name: &str, subject: &Subject) -> Made {
    match REGISTRY.iter().find(|entry| entry.name == name) {
        Some(entry) => (entry.make)(subject),
        None => {
            let error = Mistake::new(format!("unknown diagnostic `{name}`"));
            let near = suggestion(name, REGISTRY.iter().map(|entry| entry.name));
            let all: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
            let help = near.map_or(format!("there are {}", all.join(", ")), |near| format!("did you mean `{near}`?"));
            Err(error.with_help(help).into())
        }
    }
}

/// The values of a diagnostic along a list of points.
pub fn along(
    diagnostic: &mut dyn Diagnostic,
    points: &[Phase],
    h: f64,
    flow: &mut dyn Flow,
) -> std::result::Result<Vec<f64>, NoSolution> {
    points.iter().map(|z| diagnostic.at(z, h, flow)).collect()
}
