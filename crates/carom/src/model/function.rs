//! Forces that are functions of the caller.

use super::Model;
use crate::error::{Diagnostic, Result};
use crate::limits::LARGEST_ON_EXPRESSIONS;
use crate::linkage;
use crate::system::{Enforce, ForceFunction};

impl Model {
    /// Adds a force that is a function, where no expression will do: it writes the force on each coordinate at (t, q, v), and
    /// acts beside `[forces]`. The steps of implicit flows find its slopes by differences. It must not remember earlier calls: a
    /// step asks for states that the motion never reaches.
    ///
    /// ```
    /// use carom::{ForceFunction, Model};
    /// let drag = ForceFunction::new(|_t, _q, v, force| force[0] = -0.1 * v[0].abs().powf(1.8) * v[0].signum());
    /// let model = Model::load("pendulum")?.with_force(drag)?;
    /// let run = model.simulation().method("gauss4").step(0.01).until(1.0).run()?;
    /// assert!(run.energy().last() < run.energy().first());
    /// # Ok::<(), carom::RunError>(())
    /// ```
    pub fn with_force(mut self, function: ForceFunction) -> Result<Model> {
        let system = &self.system;
        let refuse = |why: String, help: &str| {
            let message = format!("a force cannot be a function here: {why}");
            Err(Diagnostic::new(message).with_help(help).into())
        };
        let help = "write the force as an expression in [forces]";
        if let Some(driven) = system.coordinates.iter().find(|c| c.prescribed.is_some()) {
            return refuse(format!("the coordinate `{}` is prescribed", driven.name), help);
        }
        if system.constraints.iter().any(|c| c.enforce != Enforce::OnePoint) {
            return refuse("a constraint is enforced between two points".into(), "enforce it at one point");
        }
        if linkage::is_large(system) && system.coordinates.len() > LARGEST_ON_EXPRESSIONS {
            let why = format!("the mechanism has more than {LARGEST_ON_EXPRESSIONS} coordinates");
            return refuse(why, help);
        }
        self.system.function = Some(function);
        Ok(self)
    }

    /// Refuses a model with a force that is a function, in the name of what needs expressions.
    pub(crate) fn refuse_function(&self, who: &str) -> Result<()> {
        if self.system.function.is_none() {
            return Ok(());
        }
        let error = Diagnostic::new(format!("{who} does not apply to a model with a force that is a function"));
        Err(error.with_help("write the force as an expression in [forces]").into())
    }
}
