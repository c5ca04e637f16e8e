//! What the copies of a simulation share.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Simulation;
use super::runner::Pool;
use super::start::Checked;
use super::study::study;
use crate::error::{Diagnostic, Error, Result};
use crate::expr::Expr;
use crate::method::{Method, default_for};
use crate::model::Model;
use crate::plant::{Expressions, SharedPlant};
use crate::projection::{Principle, Study};
use crate::step::{Path, Scheme};

/// The plant, and the schemes that were asked for; compiled when first needed.
#[derive(Default)]
pub(super) struct Compiled {
    plant: OnceLock<Result<SharedPlant>>,
    schemes: Mutex<Vec<Known>>,
    /// The last start that was checked.
    pub(super) start: Mutex<Option<Checked>>,
}

/// A scheme, with what tells it from others.
struct Known {
    method: String,
    /// The projected principle has numbers of its own, which follow from the parameters and the start.
    numbers: Option<Vec<f64>>,
    scheme: Scheme,
    pool: Arc<Pool>,
    warnings: Vec<String>,
}

/// A scheme, and what a user should know of it.
pub(super) struct Chosen {
    pub(super) scheme: Scheme,
    pub(super) pool: Arc<Pool>,
    pub(super) warnings: Vec<String>,
}

impl Simulation {
    /// The method: that of the user, of the model, or the default.
    pub(super) fn chosen_method(&self) -> Result<Arc<Method>> {
        if let Some(method) = &self.method {
            return Ok(method.clone());
        }
        let Some(name) = &self.model.run.method else {
            return Method::named(default_for(&self.model), None).map(Arc::new);
        };
        Method::named(name, self.model.run.alpha).map(Arc::new).map_err(|error| match error {
            Error::Model(diagnostic) => {
                self.model.method_error(diagnostic.message, diagnostic.help.unwrap_or_default())
            }
            other => other,
        })
    }

    /// The model with the parameters of this simulation.
    pub(super) fn current_model(&self) -> Model {
        let mut model = (*self.model).clone();
        model
            .system
            .parameters
            .iter_mut()
            .zip(&*self.parameters)
            .for_each(|(parameter, value)| parameter.value = *value);
        model
    }

    /// The compiled scheme of the method.
    pub(super) fn scheme(&self) -> Result<Chosen> {
        let method = self.chosen_method()?;
        let numbers = match method.switches {
            None => None,
            Some(_) => Some([&self.parameters[..], &self.model.start()?.q].concat()),
        };
        let mut schemes = self.compiled.schemes.lock().unwrap_or_else(PoisonError::into_inner);
        let known = schemes.iter().find(|known| known.method == method.name && known.numbers == numbers);
        if let Some(Known { scheme, pool, warnings, .. }) = known {
            return Ok(Chosen { scheme: scheme.clone(), pool: pool.clone(), warnings: warnings.clone() });
        }
        let (scheme, warnings) = match method.switches {
            None => (Scheme::new(self.plant()?, (*method).clone(), &self.model.run)?, Vec::new()),
            Some(_) => self.projected(&method)?,
        };
        let (method, pool) = (method.name.clone(), Arc::<Pool>::default());
        schemes.push(Known { method, numbers, scheme: scheme.clone(), pool: pool.clone(), warnings: warnings.clone() });
        Ok(Chosen { scheme, pool, warnings })
    }

    fn plant(&self) -> Result<SharedPlant> {
        self.compiled.plant.get_or_init(|| plant_of(&self.model)).clone()
    }

    /// The projected principle is a construction: two plants and a projection between them.
    fn projected(&self, method: &Method) -> Result<(Scheme, Vec<String>)> {
        let none = || Diagnostic::new("the method does not project");
        let switches = method.switches.ok_or_else(none)?;
        let study: Study = study(&self.current_model())?;
        let Principle { inside, outside, projector } = Principle::new(&study)?;
        let side = |mechanics| -> Result<SharedPlant> {
            Ok(Arc::new(Expressions::of(mechanics, &study.model.system, &[], &[])?))
        };
        let path = Path { sides: [side(inside)?, side(outside)?], projector, switches };
        let plant = plant_of(&study.model)?;
        let scheme = Scheme::projected(plant, method.clone(), &self.model.run, path)?;
        Ok((scheme, study.warnings()))
    }
}

/// Compiles a model.
fn plant_of(model: &Model) -> Result<SharedPlant> {
    let outputs: Vec<Expr> = model.outputs.iter().map(|output| output.value).collect();
    let sections: Vec<Expr> = model.sections.iter().map(|section| section.g).collect();
    Ok(Arc::new(Expressions::new(&model.system, &outputs, &sections)?))
}
