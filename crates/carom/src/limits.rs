//! Every numerical limit of a run: its value, its unit, and why it is there.
//!
//! "relative to x" is a ratio, which does not depend on the user's units. "of φ" or "of g" is a number in the unit in which the
//! model writes its gap or its constraint.

// ---- Starts ----------------------------------------------------------------------------------------------------------------

/// A start may be this far inside a wall, relative to the size of what adds up to φ: touching is allowed, and positions are
/// rounded.
pub const START_TOUCHES: f64 = 1e-10;
/// A driven coordinate must start where its prescription says, relative to the absolute terms of that: users write rounded numbers.
pub const ON_DRIVE: f64 = 1e-9;
/// A start may be this far off a constraint, relative to the size of what adds up to g and dg/dt: users write rounded numbers.
pub const ON_CONSTRAINT: f64 = 1e-8;
/// Roundoff of a number that is computed in a few operations, relative to what adds up to it.
pub const ROUNDOFF: f64 = 16.0 * f64::EPSILON;
/// A gradient is a combination of others if no more than this part of it is left, relative to its norm.
pub const DEPENDENT: f64 = 1e-10;

// ---- Newton's method and linear equations ------------------------------------------------------------------------------------

/// A matrix is singular if a pivot is at most this part of its largest entry.
pub const SINGULAR: f64 = 1e-14;
/// A pivot must be at least this, relative to the largest entry of its column, where both are relative to the sizes of their rows.
pub const GOOD_PIVOT: f64 = 0.1;
/// The order of pivots that served one matrix serves the next as long as each pivot is at least this, relative as above.
pub const KEPT_PIVOT: f64 = 1e-3;
/// A residual as small as this, relative to the sum of its absolute terms, is roundoff.
pub const RESIDUAL_ROUNDOFF: f64 = 2e-15;
/// Newton's method gives up after so many iterations, unless the last correction is still small: in equations that are nearly
/// singular, as in a sharp corner, roundoff moves the solution that far.
pub const MAX_ITERATIONS: usize = 30;
/// After a correction as small as this, relative to the largest unknown, the next one is below roundoff.
pub const LAST_CORRECTION: f64 = 1e-9;
/// Corrections as small as this, relative to the largest unknown or to 1, are roundoff if they no longer shrink. Where residuals
/// are divided by a number, so is the 1.
pub const STAGNATION: f64 = 1e-12;
/// Where the velocity of given momenta is hard to find, the momenta grow to them in so many parts.
pub const PARTS_OF_MOMENTA: usize = 64;

// ---- Stages of collocation -----------------------------------------------------------------------------------------------------

/// Newton's method on the stages begins when the rates move the state by no more than this, relative to it.
pub const NEWTON_BEGINS: f64 = 1e-2;
/// Slopes serve another iteration if the states have moved by no more than this since they were computed, relative to them.
pub const SLOPES_LAST: f64 = 1e-5;
/// A state no larger than this is zero: denormal numbers have fewer digits.
pub const NOTHING: f64 = 1e-280;
/// Changes of the stages as small as this, relative to the state, are roundoff if they no longer shrink. In stiff steps it is
/// relative to h‖∂f/∂z‖ too.
pub const STAGES_STAGNATE: f64 = 1e-13;

// ---- Events --------------------------------------------------------------------------------------------------------------------

/// A gap below this is roundoff, relative to the size of what adds up to φ; so is a difference of times of impact, relative to the
/// time. Walls that close nearer in time are hit at once.
pub const GAP_ROUNDOFF: f64 = 8.0 * f64::EPSILON;
/// A wall that is touched may be entered by this, relative to the lowest bounce, before it is met again.
pub const SINKS: f64 = 1e-3;
/// An approach slower than this, relative to the fastest impact so far or to the velocities whose difference it is, is roundoff.
/// Rates of different walls are compared as |φ̇|/√W.
pub const SLOW: f64 = 1e-13;
/// Newton's method on the length of a partial step gives up after so many trials, and the bracket is halved instead.
pub const NEWTON_TRIALS: usize = 8;
/// After an event, the search for the next one first covers this many times the interval between the last two events. If it finds
/// none, the interval grows by this factor.
pub const LOOK_AHEAD: f64 = 8.0;
/// Where a gap opens and closes again within a step, the search for a time at which it is open halves its interval at most this
/// often.
pub const HALVINGS: usize = 20;
/// A step with more events than this is given up.
pub const MAX_IN_ONE_STEP: usize = 100_000;

// ---- Impacts -------------------------------------------------------------------------------------------------------------------

/// Beyond so many bounces at one instant the remaining contacts become inelastic.
pub const MAX_AT_ONE_INSTANT: usize = 1000;
/// A wall that changes φ̇ by less than this, relative to φ̇⁻, with an impulse as large as the momenta cannot push: the constraints
/// block its normal direction.
pub const TANGENT: f64 = 1e-10;
/// Impulses below this, relative to the largest demand, are roundoff.
pub const IMPULSE_ROUNDOFF: f64 = 1e-13;
/// The gradient of a wall is a combination of others if no more than this is left of its squared norm, relative to it, when the
/// others are eliminated. Norms are those of the mass metric.
pub const REDUNDANT: f64 = 1e-13;
/// The gradient of a wall is nearly a combination of others if no more than this is left, relative as above. Round bodies that
/// touch within a gap of 10⁻¹⁰ radii may be off by that.
pub const NEARLY_REDUNDANT: f64 = 1e-8;
/// A wall that gives way to others is met where the motion is in it by this, relative to the lowest bounce: it is then no longer
/// touched.
pub const GIVEN_WAY: f64 = 2.0;

// ---- Contact that lasts --------------------------------------------------------------------------------------------------------

/// A bounce as low as this, relative to the way of the fastest motion in a step, is the last. So is one below the roundoff of φ.
pub const LOWEST_BOUNCE: f64 = 1e-10;
/// Only bounces slower than this, relative to the fastest impact so far, may be the last.
pub const SLOW_BOUNCE: f64 = 1e-2;
/// A force below this, relative to the sum of all, is none.
pub const NO_FORCE: f64 = 1e-12;
/// A force below this, relative to the sum of all, is roundoff in the search for the time when it vanishes.
pub const FORCE_ROUNDOFF: f64 = 1e-14;
/// A wall pulls if its force is negative by this, relative to the sum of all.
pub const PULLS: f64 = 1e-6;

// ---- Runs ----------------------------------------------------------------------------------------------------------------------

/// A ratio of the time to the step this near to a whole number is that number.
pub const WHOLE_RATIO: f64 = 1e-9;
/// A sample this near to a node, relative to the distance of samples, is the node.
pub const SAMPLE_AT_NODE: f64 = 1e-9;
/// Number of equally spaced times at which two runs are compared, and at which walls are checked that the steps may have missed.
pub const CHECKPOINTS: usize = 255;
/// A motion that is in a wall by more than this, relative to the way of the motion in a step or to the size of what adds up to φ, is
/// beyond it.
pub const BEYOND: f64 = 1e-8;
/// A run never has more steps than this because of a tolerance.
pub const MOST_STEPS: f64 = 1e7;
/// A run has at most so many uniform samples.
pub const MOST_SAMPLES: f64 = 1e7;
/// The window of `mhc` has at most so many nodes.
pub const MOST_WINDOW: f64 = 1e5;
/// The search for a step makes at most so many tries.
pub const TRIES: usize = 20;
/// The error of roundoff is this many times the larger difference to two disturbed runs: one may by chance be close.
pub const ROUNDOFF_SAFETY: f64 = 3.0;
/// A run whose extent is less than this, relative to how far single steps move, has not moved: its solver gave back the start.
pub const UNMOVED: f64 = 1e-3;
/// Where steps cannot be made in halves, those of the finer run are shorter by this factor: less than a tenth of the error for
/// orders from 10 on.
pub const FINER: f64 = 0.8;
/// A difference of the times when rest began, relative to the time, counts by this factor: the accumulation point is extrapolated.
pub const REST_TIME: f64 = 1e-2;
/// Above this error, relative to the size of the motion, the first digits of the final state are wrong.
pub const MEANINGLESS: f64 = 1e-2;
/// The energy of a conservative system may drift by this, relative to the largest kinetic energy, without a warning.
pub const LARGE_DRIFT: f64 = 0.1;
/// Drifts of the energy below this, relative to 1 + |H|, are rounding.
pub const DRIFT_ROUNDING: f64 = 1e-12;
