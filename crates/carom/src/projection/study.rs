//! Checks the hypotheses of the projected principle.

use super::bound::{Lambda, LambdaBound};
use super::circle::{CircleArc, NoArc};
use super::eliminate::eliminate;
use super::invert::solve_for;
use super::normal_form::NormalForm;
use super::region::Region;
use crate::error::{Error, Result};
use crate::expr::{Expr, eval, substitute};
use crate::interval::range;
use crate::mechanics::Mechanics;
use crate::model::{Model, Part};
use crate::system::time;

/// The result for a hypothesis.
#[derive(Clone, Debug, PartialEq)]
pub enum HypothesisVerdict {
    /// It is met.
    Met,
    /// It is met where it was checked, but not proved everywhere.
    Doubtful,
    /// It is not met, but the model has `force = true`.
    Forced,
    /// It is not met; the error points to the place in the model.
    Fails(Error),
}

/// A hypothesis of the paper, or one of carom's own.
#[derive(Clone, Debug)]
pub struct Hypothesis {
    /// The equation or lemma in the paper.
    pub origin: &'static str,
    /// The statement, and the result of the check.
    pub text: String,
    /// Whether it is met.
    pub verdict: HypothesisVerdict,
}

/// All results for a model, before it is run.
#[derive(Clone, Debug)]
pub struct Study {
    /// The hypotheses in order. After a failure, those that depend on it are left out.
    pub hypotheses: Vec<Hypothesis>,
    /// The model, with its constraints eliminated.
    pub model: Model,
    /// The equations of this model.
    pub mechanics: Mechanics,
    /// The normal form, if it exists.
    pub form: Option<NormalForm>,
    /// The bound on Λ, if it exists.
    pub bound: Option<LambdaBound>,
    /// The feasible arc, if the configurations are a circle.
    pub arc: Option<CircleArc>,
    /// The constant k of P.
    pub k: f64,
}

/// The number of points at which φ is evaluated.
const PLACES: f64 = 2_000.0;
/// A region of more coordinates has more than 100,000 points with three along each axis.
const MOST_COORDINATES: usize = 10;

impl Study {
    /// Studies a model with the start `start` in all coordinates. `visited` returns the range of each free coordinate along the
    /// motion of a model without constraints; it is called only if the range matters.
    pub fn new(model: &Model, start: &[f64], visited: impl Fn(&Model) -> Vec<(f64, f64)>) -> Result<Study> {
        let mut study = Study {
            hypotheses: Vec::new(),
            model: model.clone(),
            mechanics: Mechanics::new(&model.system),
            form: None,
            bound: None,
            arc: None,
            k: 0.0,
        };
        study.eliminate(model);
        study.look_at_the_system();
        if study.failure().is_none() {
            let on_circle = model.projection.as_ref().is_some_and(|projection| projection.circle);
            if on_circle { study.look_at_the_circle(start) } else { study.look_at_the_wall(&visited)? }
        }
        Ok(study)
    }

    /// The first hypothesis that fails.
    pub fn failure(&self) -> Option<&Error> {
        self.hypotheses.iter().find_map(|hypothesis| match &hypothesis.verdict {
            HypothesisVerdict::Fails(error) => Some(error),
            _ => None,
        })
    }

    /// Warnings about hypotheses that are doubtful or forced.
    pub fn warnings(&self) -> Vec<String> {
        let doubtful = |h: &&Hypothesis| matches!(h.verdict, HypothesisVerdict::Doubtful | HypothesisVerdict::Forced);
        self.hypotheses.iter().filter(doubtful).map(|h| format!("{} ({})", h.text, h.origin)).collect()
    }

    /// The values of the parameters.
    pub fn parameters(&self) -> Vec<f64> {
        self.model.system.parameters.iter().map(|p| p.value).collect()
    }

    pub(super) fn note(&mut self, origin: &'static str, text: impl Into<String>, verdict: HypothesisVerdict) {
        self.hypotheses.push(Hypothesis { origin, text: text.into(), verdict });
    }

    /// Records a hypothesis as met, or as failing with an error at a part of the model.
    fn require(&mut self, origin: &'static str, text: &str, trouble: Option<(Part, String, String)>) {
        let verdict = match trouble {
            None => HypothesisVerdict::Met,
            Some((part, message, label)) => HypothesisVerdict::Fails(self.model.error_in(part, message, label)),
        };
        self.note(origin, text, verdict);
    }

    fn eliminate(&mut self, model: &Model) {
        if model.system.constraints.is_empty() {
            return;
        }
        let text = "the constraints can be solved for one coordinate each, which is eliminated";
        match eliminate(model) {
            Ok(reduced) => {
                self.mechanics = Mechanics::new(&reduced.system);
                self.model = reduced;
                self.note("§IV, by elimination", text, HypothesisVerdict::Met);
            }
            Err(error) => self.note("§IV, by elimination", text, HypothesisVerdict::Fails(error)),
        }
    }

    /// Checks the hypotheses of Hamilton's principle and the form (10) of L.
    fn look_at_the_system(&mut self) {
        let php = |what: &str| format!("`php` cannot be used: {what}");
        let (mechanics, system) = (self.mechanics.clone(), self.model.system.clone());
        let walls = system.walls.len();
        let number = (walls != 1).then(|| {
            let message = if walls == 0 { php("there is no wall") } else { php("there are several walls") };
            (Part::Wall(1), message, "the projected principle is for one wall".to_string())
        });
        self.require("§II-A", "there is one wall", number);
        let restitution: Vec<Expr> = system.walls.iter().map(|wall| wall.restitution).collect();
        let values = eval(&restitution, &self.model.parameter_values());
        let lossy = values.iter().position(|e| *e != 1.0).map(|i| {
            let message = php("the wall dissipates energy");
            (Part::Restitution(i), message, format!("e = {}; the principle conserves energy: e = 1", values[i]))
        });
        self.require("(3)", "impacts keep the energy: e = 1", lossy);
        let forced = mechanics.forces.as_ref().map(|_| {
            (Part::Forces, php("there are forces"), "Hamilton's principle needs a system without them".to_string())
        });
        self.require("(1)", "there are no forces beside L", forced);
        let moving = mechanics.walls.iter().position(|phi| phi.depends_on(&[time()]));
        let part = moving.map_or(Part::Lagrangian, Part::Wall);
        let timed = (moving.is_some() || mechanics.l.depends_on(&[time()])).then(|| {
            (part, php("the model depends on the time"), "L and φ may not contain t or a driven coordinate".to_string())
        });
        self.require("(10)", "neither L nor φ contains the time", timed);
        let plain = (!is_natural(&mechanics)).then(|| {
            (Part::Lagrangian, php("L does not have the form (10)"), "L must be ½ q̇ᵀM(q)q̇ − V(q)".to_string())
        });
        self.require("(10)", "L = ½ q̇ᵀM(q)q̇ − V(q)", plain);
    }

    /// Checks the hypotheses for a circle. [GP §V]
    fn look_at_the_circle(&mut self, start: &[f64]) {
        let free = self.model.system.free();
        let several = (free.len() != 1).then(|| {
            let message = "`php` cannot be used: a circle has one coordinate".to_string();
            (Part::ProjectionCoordinate, message, format!("this model has {}", free.len()))
        });
        self.require("§V-A", "the configurations are a circle: one angle", several);
        if self.failure().is_some() {
            return;
        }
        let (phi, theta) = (self.mechanics.walls[0], self.mechanics.q[0]);
        let found = CircleArc::new(phi, theta, &self.model.parameter_values(), start[free[0]]);
        let message = || "`php` cannot be used: φ does not leave one arc of the circle".to_string();
        let trouble = match found {
            Ok(_) => None,
            Err(NoArc::NotPeriodic(x)) => Some((Part::Wall(0), message(), format!("φ(θ + 2π) is not φ(θ) at θ = {x}"))),
            Err(NoArc::Zeros(count)) => Some((Part::Wall(0), message(), format!("φ has {count} zeros on it, not 2"))),
        };
        self.require("§V-A", "φ ≥ 0 on one arc", trouble);
        let Ok(arc) = found else { return };
        self.arc = Some(arc);
        let a = arc.half;
        let text = if arc.is_cubic() {
            format!("P is the cubic of the paper, with b₃ corrected: monotone, since a = {a:.6} > π/4")
        } else {
            format!(
                "a = {a:.6} ≤ π/4: the cubic of the paper would not be monotone, so P = sgn θ (a/2)(s + s^p) is used"
            )
        };
        self.note("§V-A", text, HypothesisVerdict::Met);
    }
}

/// True if L is quadratic in v without a linear term.
fn is_natural(mechanics: &Mechanics) -> bool {
    let zeros = vec![Expr::constant(0.0); mechanics.n()];
    let at_rest = substitute(&mechanics.momenta(), &mechanics.v, &zeros);
    mechanics.is_quadratic() && at_rest.iter().all(|p| p.is_zero())
}

/// The hypotheses for a line. [GP Lemma 1]
impl Study {
    fn look_at_the_wall(&mut self, visited: &dyn Fn(&Model) -> Vec<(f64, f64)>) -> Result<()> {
        let (phi, n) = (self.mechanics.walls[0], self.mechanics.n());
        if n > MOST_COORDINATES {
            let message = format!("`php` cannot be checked in {n} coordinates: that takes more than 100,000 points");
            let label = format!("at most {MOST_COORDINATES} coordinates can be checked");
            return Err(self.model.error_in(Part::Wall(0), message, label));
        }
        let Some(coordinate) = self.monotone_coordinate(phi, visited) else { return Ok(()) };
        let form = NormalForm::new(&self.mechanics, coordinate);
        let name = self.name(coordinate);
        let closed = form.inverse(form.phi, &form.others.iter().map(|&i| form.q[i]).collect::<Vec<_>>()).is_some();
        let trouble = (!closed).then(|| {
            let message = format!("`php` cannot solve φ for `{name}` in closed form");
            (Part::Wall(0), message, "name another coordinate in [projection], or rewrite φ".to_string())
        });
        self.require("Ψ⁻¹ (ours)", &format!("φ can be solved for `{name}`"), trouble);
        let region = self.region(&form.jac_delta.concat(), visited);
        self.look_at_the_masses(&region);
        let mut lambda = Lambda::new(&form, &self.mechanics, &self.parameters())?;
        let bound = LambdaBound::new(&mut lambda, &region);
        self.look_at_k(&bound);
        (self.form, self.bound) = (Some(form), Some(bound));
        Ok(())
    }

    fn name(&self, free: usize) -> String {
        self.model.system.coordinates[self.model.system.free()[free]].name.clone()
    }

    fn region(&self, fs: &[Expr], visited: &dyn Fn(&Model) -> Vec<(f64, f64)>) -> Region {
        Region::of(fs, &self.mechanics.q, &self.model.parameter_values(), || visited(&self.model))
    }

    /// The free coordinate in which φ is monotone: the one in `[projection]`, or the first found.
    fn monotone_coordinate(&mut self, phi: Expr, visited: &dyn Fn(&Model) -> Vec<(f64, f64)>) -> Option<usize> {
        let free = self.model.system.free();
        let wanted = self.model.projection.as_ref().and_then(|projection| projection.coordinate);
        let mut candidates: Vec<usize> = match wanted {
            Some(index) => free.iter().position(|&i| i == index).into_iter().collect(),
            None => (0..free.len()).collect(),
        };
        // Prefer coordinates for which φ can be solved.
        candidates.sort_by_key(|&i| solve_for(phi, self.mechanics.q[i], Expr::constant(0.0)).is_none());
        let known = self.model.parameter_values();
        let sure = candidates.iter().find(|&&i| range(phi.diff(self.mechanics.q[i]), &known).sign().is_some());
        if let Some(&i) = sure {
            self.note("(12)", format!("φ is monotone in `{}`, everywhere", self.name(i)), HypothesisVerdict::Met);
            return Some(i);
        }
        let mut turning = None;
        for &i in &candidates {
            match self.change_of_sign(phi.diff(self.mechanics.q[i]), visited) {
                None => {
                    let text =
                        format!("φ is monotone in `{}` where the motion goes; not shown elsewhere", self.name(i));
                    self.note("(12)", text, HypothesisVerdict::Doubtful);
                    return Some(i);
                }
                Some(at) => turning = turning.or(Some((i, at))),
            }
        }
        self.refuse_wall(wanted, turning);
        None
    }

    /// Records that φ is not monotone in the coordinate `wanted`, or in any. `turning` is a free coordinate and a point at
    /// which φ changes its slope.
    fn refuse_wall(&mut self, wanted: Option<usize>, turning: Option<(usize, Vec<f64>)>) {
        let (part, label) = match (wanted, &turning) {
            (Some(_), Some((i, at))) => {
                (Part::ProjectionCoordinate, format!("∂φ/∂{} changes its sign, at q = {at:?}", self.name(*i)))
            }
            (Some(_), None) => (Part::ProjectionCoordinate, "a constraint was solved for it; name another".to_string()),
            (None, _) => (Part::Wall(0), "each ∂φ/∂q changes its sign somewhere".to_string()),
        };
        let name = wanted.map(|i| format!("`{}`", self.model.system.coordinates[i].name));
        let what = name.unwrap_or_else(|| "any coordinate".into());
        let message = match turning {
            None => format!("`php` cannot be used: {what} is not a free coordinate"),
            Some(_) => format!("`php` cannot be used: φ is not monotone in {what}"),
        };
        self.require("(12)", &format!("φ is monotone in {what}"), Some((part, message, label)));
    }

    /// Evaluates fs at a configuration.
    fn at(&self, fs: &[Expr], q: &[f64]) -> Vec<f64> {
        let place = self.mechanics.q.iter().copied().zip(q.iter().copied());
        eval(fs, &self.model.parameter_values().into_iter().chain(place).collect::<Vec<_>>())
    }

    /// A point at which f is zero or differs in sign from other points.
    fn change_of_sign(&self, f: Expr, visited: &dyn Fn(&Model) -> Vec<(f64, f64)>) -> Option<Vec<f64>> {
        let region = self.region(&[f], visited);
        let value = |q: &[f64]| self.at(&[f], q)[0];
        let points = region.grid(PLACES);
        let sign = value(&points[0]).signum();
        points.into_iter().find(|q| value(q).signum() != sign || value(q) == 0.0)
    }

    /// Checks that M is positive definite.
    fn look_at_the_masses(&mut self, region: &Region) {
        let mass = self.mechanics.mass().concat();
        let region =
            if mass.iter().any(|m| m.depends_on(&self.mechanics.q)) { region.clone() } else { region.widened(0.0) };
        let n = self.mechanics.n();
        let bad = region.grid(PLACES).into_iter().find(|q| !is_positive_definite(self.at(&mass, q), n));
        let trouble = bad.map(|q| {
            let message = "`php` cannot be used: M is not positive definite".to_string();
            (Part::Lagrangian, message, format!("at q = {q:?}"))
        });
        self.require("Lemma 1", "M is positive definite at the points tested", trouble);
    }

    /// Checks sup ‖Λ‖ < ∞ and k > k_c.
    fn look_at_k(&mut self, bound: &LambdaBound) {
        let k_crit = bound.k_crit;
        match &bound.warning {
            Some(warning) => self.note("Lemma 1, corrected", warning.clone(), HypothesisVerdict::Doubtful),
            None => {
                let where_ = if bound.region.is_partial() { "where the motion goes" } else { "everywhere" };
                let text = format!("Λ is bounded {where_}: sup |Λ| = {:.9}, k_c = {k_crit:.9}", bound.largest);
                self.note("Lemma 1, corrected", text, HypothesisVerdict::Met);
            }
        }
        let projection = self.model.projection.clone();
        let (given, force) = projection.map_or((None, false), |projection| (projection.k, projection.force));
        // 2k_c leaves a margin. Along a flat wall Λ = 0, and P is linear with k = 0.
        self.k = given.unwrap_or(2.0 * k_crit);
        let is_flat = k_crit == 0.0 && self.k == 0.0;
        let text = match is_flat {
            true => "Λ = 0: with k = 0, P is linear".to_string(),
            false => format!("k = {} is larger than k_c", self.k),
        };
        let verdict = match is_flat || self.k > k_crit {
            true => HypothesisVerdict::Met,
            false if force && self.k.is_finite() => HypothesisVerdict::Forced,
            false => {
                let message = format!("`php` cannot be used: k must be larger than k_c = {k_crit}");
                let label = "below k_c, P is not one-to-one; `force = true` runs it anyway";
                HypothesisVerdict::Fails(self.model.error_in(Part::ProjectionK, message, label))
            }
        };
        let text = if verdict == HypothesisVerdict::Forced {
            format!("k = {} is at most k_c = {k_crit:.9}", self.k)
        } else {
            text
        };
        self.note("Lemma 1", text, verdict);
    }
}

/// By Cholesky decomposition.
fn is_positive_definite(mut m: Vec<f64>, n: usize) -> bool {
    for k in 0..n {
        let pivot = m[k * n + k];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        for i in k + 1..n {
            let factor = m[i * n + k] / pivot;
            (k..n).for_each(|j| m[i * n + j] -= factor * m[k * n + j]);
        }
    }
    true
}
