//! Models built in Rust, without a text.

use super::names::{Names, Use};
use super::source::Source;
use super::{Initial, InitialMotion, Model, Places, Run};
use crate::error::{Diagnostic, Result};
use crate::expr::parse::Scope;
use crate::expr::{Expr, Lease};
use crate::system::{Constraint, Coordinate, Enforce, Form, Lagrangian, System, Wall};

/// Builds a [`Model`] from Rust expressions.
///
/// ```
/// use carom::lab::model::Builder;
/// let mut b = Builder::new("Pendulum on a wall");
/// let theta = b.coordinate("theta")?;
/// let (m, r, g) = (b.parameter("m", 1.0)?, b.parameter("R", 1.0)?, b.parameter("g", 9.8)?);
/// b.energies(0.5 * m * r.squared() * theta.v.squared(), m * g * r * (1.0 - theta.q.cos()));
/// b.wall("wall", theta.q);
/// b.start_with_velocity(&[1.0], &[0.0]);
/// let model = b.build()?;
/// assert_eq!(model.start()?.p, [0.0]);
/// # Ok::<(), carom::lab::error::Error>(())
/// ```
pub struct Builder {
    title: String,
    names: Names,
    lagrangian: Option<Lagrangian>,
    walls: Vec<Wall>,
    constraints: Vec<Constraint>,
    forces: Vec<(Expr, Expr)>,
    initial: Option<Initial>,
    /// The settings of a run.
    pub run: Run,
    lease: Lease,
}

impl Builder {
    /// An empty model with this title.
    pub fn new(title: &str) -> Builder {
        Builder {
            title: title.into(),
            names: Names::default(),
            lagrangian: None,
            walls: Vec::new(),
            constraints: Vec::new(),
            forces: Vec::new(),
            initial: None,
            run: Run::default(),
            lease: Lease::default(),
        }
    }

    fn check_new_name(&self, name: &str) -> Result<()> {
        match self.names.complaint_about(name) {
            Some(complaint) => Err(Diagnostic::new(complaint.message).with_help(complaint.label).into()),
            None => Ok(()),
        }
    }

    /// Adds a degree of freedom and returns its q and v.
    pub fn coordinate(&mut self, name: &str) -> Result<Coordinate> {
        self.check_new_name(name)?;
        Ok(self.names.add_coordinate(name))
    }

    /// Adds a parameter and returns its symbol.
    pub fn parameter(&mut self, name: &str, value: f64) -> Result<Expr> {
        self.check_new_name(name)?;
        Ok(self.names.add_parameter(name, value))
    }

    /// df/dt along the motion, for f(q, t).
    pub fn rate(&self, f: Expr) -> Expr {
        crate::system::time_derivative(&self.names.coordinates, f)
    }

    /// Sets L = T − V.
    pub fn energies(&mut self, t: Expr, v: Expr) {
        self.lagrangian = Some(Lagrangian { l: t - v, parts: Some((t, v)) });
    }

    /// Sets L.
    pub fn lagrangian(&mut self, l: Expr) {
        self.lagrangian = Some(Lagrangian { l, parts: None });
    }

    /// Adds an elastic wall φ ≥ 0.
    pub fn wall(&mut self, name: &str, phi: Expr) {
        self.wall_with_restitution(name, phi, Expr::constant(1.0));
    }

    /// Adds a wall φ ≥ 0 with restitution e.
    pub fn wall_with_restitution(&mut self, name: &str, phi: Expr, restitution: Expr) {
        self.walls.push(Wall { name: name.into(), phi, restitution });
    }

    /// Adds a holonomic constraint g = 0.
    pub fn constraint(&mut self, name: &str, g: Expr) {
        self.constraints.push(Constraint { name: name.into(), g, enforce: Enforce::OnePoint, form: Form::Function });
    }

    /// Adds a generalized force on a coordinate.
    pub fn force(&mut self, coordinate: &Coordinate, force: Expr) {
        self.forces.push((coordinate.q, force));
    }

    /// Prescribes a coordinate as a function of time.
    pub fn prescribe(&mut self, coordinate: &Coordinate, motion: Expr) {
        for c in self.names.coordinates.iter_mut().filter(|c| c.q == coordinate.q) {
            c.prescribed = Some(motion);
        }
    }

    /// Starts at q with velocities v.
    pub fn start_with_velocity(&mut self, q: &[f64], v: &[f64]) {
        self.start(q, InitialMotion::Velocity(constants(v)));
    }

    /// Starts at q with momenta p.
    pub fn start_with_momentum(&mut self, q: &[f64], p: &[f64]) {
        self.start(q, InitialMotion::Momentum(constants(p)));
    }

    fn start(&mut self, q: &[f64], motion: InitialMotion) {
        self.initial = Some(Initial { q: constants(q), motion, project: false, missing: Default::default() });
    }

    /// Builds the model, and checks every symbol.
    pub fn build(self) -> Result<Model> {
        let lagrangian = self.lagrangian.ok_or_else(|| Diagnostic::new("the model has no Lagrangian"))?;
        let n = self.names.coordinates.len();
        let mut forces = vec![Expr::constant(0.0); n];
        for (q, force) in self.forces {
            if let Some(i) = self.names.coordinates.iter().position(|c| c.q == q) {
                forces[i] = forces[i] + force;
            }
        }
        let everything = [lagrangian.l].into_iter().chain(forces.iter().copied());
        let everything = everything.chain(self.walls.iter().map(|w| w.phi)).chain(self.constraints.iter().map(|c| c.g));
        for e in everything {
            check_symbols(&self.names, e)?;
        }
        let lengths = self.initial.as_ref().map_or(n, |initial| initial.q.len());
        let motion = self.initial.as_ref().map_or(n, |initial| match &initial.motion {
            InitialMotion::Velocity(x) | InitialMotion::Momentum(x) | InitialMotion::Next(x) => x.len(),
        });
        if lengths != n || motion != n {
            return Err(
                Diagnostic::new(format!("the start must give {n} coordinates and {n} velocities or momenta")).into()
            );
        }
        let places = Places {
            walls: vec![0..0; self.walls.len()],
            restitutions: vec![0..0; self.walls.len()],
            constraints: vec![0..0; self.constraints.len()],
            ..Places::default()
        };
        let Names { coordinates, parameters, definitions, .. } = self.names;
        let (walls, constraints) = (self.walls, self.constraints);
        Ok(Model {
            source: Source::new(&self.title, ""),
            title: self.title,
            system: System {
                coordinates,
                parameters,
                lagrangian,
                walls,
                constraints,
                forces,
                function: None,
                mechanism: None,
            },
            definitions,
            structural: Vec::new(),
            initial: self.initial,
            run: self.run,
            outputs: Vec::new(),
            sections: Vec::new(),
            projection: None,
            problem: Default::default(),
            points: Vec::new(),
            view: None,
            depths: Vec::new(),
            drawings: Vec::new(),
            contacts: Vec::new(),
            undrawn: Vec::new(),
            warnings: Vec::new(),
            places,
            _lease: self.lease,
        })
    }
}

fn constants(values: &[f64]) -> Vec<Expr> {
    values.iter().map(|&x| Expr::constant(x)).collect()
}

/// Checks that every symbol of `e` is a coordinate, a velocity, a parameter or the time.
fn check_symbols(names: &Names, e: Expr) -> Result<()> {
    let known = names.coordinates.iter().flat_map(|c| [c.q, c.v]).chain(names.parameters.iter().map(|p| p.symbol));
    let known: Vec<Expr> = known.chain([crate::system::time()]).collect();
    match e.symbols().into_iter().find(|symbol| !known.contains(symbol)) {
        None => Ok(()),
        Some(symbol) => {
            let name = symbol.symbol_name().unwrap_or_default();
            let complaint = names.scope(Use::Motion).resolve(&name, 0).err();
            let help = complaint.map_or_else(String::new, |c| c.label);
            Err(Diagnostic::new(format!("unknown name `{name}`")).with_help(help).into())
        }
    }
}
