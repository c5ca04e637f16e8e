//! Compiled code, shared by all clones of a simulation.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Simulation;
use super::runner::{Pool, work_of_step};
use super::start::Checked;
use super::study::study_of;
use crate::error::{Diagnostic, Error, Result};
use crate::flow::ON_TREES;
use crate::limits::LARGEST_ON_EXPRESSIONS;
use crate::linkage;
use crate::mechanics::Mechanics;
use crate::method::{Method, default_for};
use crate::model::Model;
use crate::plant::{Bodies, Expressions, SharedPlant};
use crate::projection::{Principle, Projector, Study};
use crate::step::{Path, Scheme};
use crate::system::Observed;
use crate::tangent::TangentCode;

/// The plant and the schemes used so far. Each is compiled on first use.
#[derive(Default)]
pub(super) struct Compiled {
    plant: OnceLock<Result<SharedPlant>>,
    bodies: OnceLock<Result<SharedPlant>>,
    schemes: Mutex<Vec<Known>>,
    /// The scheme of quick steps; none if the system has none.
    quick: OnceLock<Option<Chosen>>,
    constructions: Mutex<Vec<Arc<Construction>>>,
    tangents: Mutex<Vec<KnownTangent>>,
    /// The last start that was checked, reused while the settings do not change.
    pub(super) start: Mutex<Option<Checked>>,
}

/// A compiled scheme and its key.
struct Known {
    method: String,
    /// For the projected principle, the numbers that its code depends on; they follow from the parameters and the start.
    numbers: Option<Vec<f64>>,
    scheme: Scheme,
    pool: Arc<Pool>,
    warnings: Vec<String>,
}

/// The compiled derivatives for a method, by some parameters.
struct KnownTangent {
    method: String,
    theta: Vec<usize>,
    code: Arc<TangentCode>,
}

/// The compiled code of the projected principle.
struct Construction {
    principle: Principle,
    sides: [SharedPlant; 2],
    projector: Projector,
    /// The plant of the physical motion, with the constraints eliminated.
    plant: SharedPlant,
}

/// The scheme of a run, with notes for the user.
#[derive(Clone)]
pub(super) struct Chosen {
    pub(super) scheme: Scheme,
    pub(super) pool: Arc<Pool>,
    pub(super) warnings: Vec<String>,
}

impl Simulation {
    /// Shares the compiled code of `other` if its model differs from this one in numbers only: in values of parameters, the start,
    /// the step, the end time, the tolerance or the method. Otherwise this simulation compiles its own.
    pub fn sharing(mut self, other: &Simulation) -> Simulation {
        if self.model.has_code_of(&other.model) {
            self.compiled = other.compiled.clone();
        }
        self
    }

    /// The method set by the user, else that of the model, else the default.
    pub(crate) fn chosen_method(&self) -> Result<Arc<Method>> {
        if let Some(method) = &self.method {
            return Ok(method.clone());
        }
        let Some(name) = self.model.run.method.as_ref().filter(|_| !self.is_auto) else {
            return Method::named(self.default_method(), None).map(Arc::new);
        };
        Method::named(name, self.model.run.alpha).map(Arc::new).map_err(|error| match error {
            Error::Model(diagnostic) => {
                self.model.method_error(diagnostic.message, diagnostic.help.unwrap_or_default())
            }
            other => other,
        })
    }

    /// The default method for the model and the tolerance.
    pub(super) fn default_method(&self) -> &'static str {
        default_for(&self.model, self.step.is_none().then_some(self.tolerance))
    }

    /// True if the user asks for the default method, or neither the user nor the model names one.
    pub(super) fn has_default_method(&self) -> bool {
        self.is_auto || (self.method.is_none() && self.model.run.method.is_none())
    }

    /// A copy of the model with this simulation's parameters.
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

    /// Returns the compiled scheme of the chosen method, and compiles it if needed.
    pub(super) fn scheme(&self) -> Result<Chosen> {
        self.scheme_of(self.chosen_method()?)
    }

    /// About how much longer a step takes than one of a system with few coordinates.
    pub(crate) fn work_of_step(&self) -> Result<f64> {
        Ok(work_of_step(&self.scheme()?.scheme))
    }

    /// The scheme of quick steps, whose length carom controls: if neither the method nor the step is named, and the system is
    /// small and has no constraints.
    pub(super) fn quick_scheme(&self) -> Option<Chosen> {
        if self.step.is_some() || !self.has_default_method() || !self.model.system.constraints.is_empty() {
            return None;
        }
        let compile = || self.scheme_of(Arc::new(self.chosen_method().ok()?.one_pass())).ok();
        self.compiled.quick.get_or_init(compile).clone()
    }

    fn scheme_of(&self, method: Arc<Method>) -> Result<Chosen> {
        let numbers = match method.switches {
            None => None,
            Some(_) => Some([&self.parameters[..], &self.current_model().start()?.q].concat()),
        };
        let lock = || self.compiled.schemes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |known: &&Known| known.method == method.key() && known.numbers == numbers;
        if let Some(Known { scheme, pool, warnings, .. }) = lock().iter().find(is_known) {
            return Ok(Chosen { scheme: scheme.clone(), pool: pool.clone(), warnings: warnings.clone() });
        }
        let (scheme, warnings) = match method.switches {
            None => (Scheme::new(self.plant(&method)?, (*method).clone(), &self.model.run)?, Vec::new()),
            Some(_) => self.projected(&method)?,
        };
        let (method, pool) = (method.key(), Arc::<Pool>::default());
        lock().push(Known { method, numbers, scheme: scheme.clone(), pool: pool.clone(), warnings: warnings.clone() });
        Ok(Chosen { scheme, pool, warnings })
    }

    /// Returns the compiled derivatives of a method by some parameters, and compiles them if needed.
    pub(crate) fn tangent_code(&self, method: &Method, theta: &[usize]) -> Result<Arc<TangentCode>> {
        self.model.refuse_function("a derivative through a run")?;
        if let Kernel::Bodies = kernel_for(&self.model, method) {
            let message = format!("there are no derivatives of `{}` on recursive kernels", method.name);
            let help = format!(
                "mechanisms with up to {LARGEST_ON_EXPRESSIONS} coordinates have them with a method on expressions, such as `gauss4`"
            );
            return Err(Diagnostic::new(message).with_help(help).into());
        }
        let mut known = self.compiled.tangents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.iter().find(|known| known.method == method.name && known.theta == theta) {
            return Ok(known.code.clone());
        }
        let code = Arc::new(TangentCode::new(&*self.plant(method)?, method, theta)?);
        known.push(KnownTangent { method: method.name.clone(), theta: theta.to_vec(), code: code.clone() });
        Ok(code)
    }

    /// The plant for a method: recursive kernels for large mechanisms, else expressions.
    fn plant(&self, method: &Method) -> Result<SharedPlant> {
        match kernel_for(&self.model, method) {
            Kernel::Bodies => self.compiled.bodies.get_or_init(|| bodies_of(&self.model)).clone(),
            Kernel::Expressions => self.compiled.plant.get_or_init(|| plant_of(&self.model)).clone(),
            Kernel::None(why) => Err(why.into()),
        }
    }

    /// Builds a scheme for the projected principle: two plants and the projection P between them.
    fn projected(&self, method: &Method) -> Result<(Scheme, Vec<String>)> {
        self.model.refuse_function(&format!("`{}`", method.name))?;
        let none = || Diagnostic::new("the method does not use the projected Hamilton's principle");
        let switches = method.switches.ok_or_else(none)?;
        let study: Study = study_of(self)?;
        let principle = Principle::new(&study)?;
        let construction = self.construction(&principle, &study)?;
        let path = Path {
            sides: construction.sides.clone(),
            projector: construction.projector.with_arc(study.arc),
            numbers: principle.numbers,
            switches,
        };
        let scheme = Scheme::projected(construction.plant.clone(), method.clone(), &self.model.run, path)?;
        Ok((scheme, study.warnings()))
    }

    /// Returns the compiled code of a principle. Reuses earlier code if only numbers differ.
    fn construction(&self, principle: &Principle, study: &Study) -> Result<Arc<Construction>> {
        let mut constructions = self.compiled.constructions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = constructions.iter().find(|known| principle.has_code_of(&known.principle)) {
            return Ok(known.clone());
        }
        let side = |mechanics: &Mechanics| -> Result<SharedPlant> {
            Ok(Arc::new(Expressions::of(mechanics.clone(), &study.model.system, &[], &[])?))
        };
        let construction = Arc::new(Construction {
            sides: [side(&principle.inside)?, side(&principle.outside)?],
            projector: principle.projector()?,
            plant: plant_of(&study.model)?,
            principle: principle.clone(),
        });
        constructions.push(construction.clone());
        Ok(construction)
    }
}

/// How the equations of a model are evaluated.
enum Kernel {
    Expressions,
    Bodies,
    /// Not with this method.
    None(Diagnostic),
}

/// Recursive kernels are faster for large mechanisms, compiled expressions for small ones.
fn kernel_for(model: &Model, method: &Method) -> Kernel {
    let coordinates = model.system.coordinates.len();
    if model.system.function.is_some() {
        return Kernel::Expressions;
    }
    // Where the kernel does not apply to the bodies, making it says why.
    if method.flow.needs_bodies() && method.has_recursive_kernel() && model.system.mechanism.is_some() {
        return Kernel::Bodies;
    }
    if !linkage::is_large(&model.system) {
        return Kernel::Expressions;
    }
    if method.has_recursive_kernel() {
        return Kernel::Bodies;
    }
    if coordinates > LARGEST_ON_EXPRESSIONS {
        let message = format!("`{}` does not apply to a mechanism with {coordinates} coordinates", method.name);
        let help = format!(
            "it works on expressions, for at most {LARGEST_ON_EXPRESSIONS} coordinates of bodies; use {ON_TREES}, with `ctec`"
        );
        return Kernel::None(Diagnostic::new(message).with_help(help));
    }
    Kernel::Expressions
}

fn bodies_of(model: &Model) -> Result<SharedPlant> {
    let Observed { outputs, sections, .. } = model.observed();
    Ok(Arc::new(Bodies::new(&model.system, &outputs, &sections)?))
}

fn plant_of(model: &Model) -> Result<SharedPlant> {
    let Observed { outputs, sections, stops } = model.observed();
    Ok(Arc::new(Expressions::new(&model.system, &outputs, &sections)?.ending_at(stops)))
}
