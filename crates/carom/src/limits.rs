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
/// The first step of a start from two configurations may miss the second by this, relative to each coordinate, if it comes no nearer.
pub const AIMED: f64 = 1e-14;
/// A gradient is a combination of others if no more than this part of it is left, relative to its norm.
pub const DEPENDENT: f64 = 1e-10;

// ---- Newton's method and linear equations ------------------------------------------------------------------------------------

/// A matrix is singular if a pivot is at most this, relative to the sizes of its row and column.
pub const SINGULAR: f64 = 1e-14;
/// A pivot must be at least this, relative to the largest entry of its column, where both are relative to the sizes of their rows.
pub const GOOD_PIVOT: f64 = 0.1;
/// The order of pivots that served one matrix serves the next as long as each pivot is at least this, relative as above.
pub const KEPT_PIVOT: f64 = 1e-3;
/// A residual as small as this, relative to the sum of its absolute terms, is roundoff.
pub const RESIDUAL_ROUNDOFF: f64 = 2e-15;
/// Residuals as small as this, relative to the sum of their absolute terms, are roundoff if they no longer decrease.
pub const STAGNATION: f64 = 1e-12;
/// Newton's method gives up after this number of iterations.
pub const MAX_ITERATIONS: usize = 30;
/// Newton's method as one native function ends after this number of iterations. Most steps take one or two; what takes more goes on in
/// parts, where residuals are compared with their terms.
#[cfg_attr(not(feature = "jit"), allow(dead_code))]
pub const QUICK_ITERATIONS: usize = 6;
/// The solution of linear equations is corrected this often; what is corrected then is roundoff.
pub const REFINEMENTS: usize = 2;
/// After this number of iterations, which are enough for accuracy, residuals are also compared with the roundoff of the coordinates.
pub const LATE: usize = 4;
/// After this number of iterations, a residual is also compared with how far the roundoff of other equations moves it.
pub const VERY_LATE: usize = 8;
/// From this number of iterations on, residuals are compared with their terms.
pub const RESIDUALS_COUNT: usize = 2;
/// After a correction as small as this, relative to each unknown, the next one is below roundoff.
pub const LAST_CORRECTION: f64 = 1e-9;
/// Factors of the slopes serve more corrections as long as the unknowns have moved by no more than this since then, relative to each: a
/// correction is then about this part of the one before it.
pub const FACTORS_LAST: f64 = 1e-4;
/// They do not if a correction is not smaller by this factor than the one before it.
pub const FACTORS_SHRINK: f64 = 1e-2;
/// Newton's method on strongly nonlinear equations gives up after this number of iterations, in each of which it halves the correction at
/// most so often.
pub const MAX_CAREFUL: usize = 200;
/// See above.
pub const HALVINGS_OF_CORRECTION: usize = 60;
/// Where the velocity of given momenta is hard to find while walls hold the motion, the momenta grow to them in this number of parts.
pub const PARTS_OF_MOMENTA: usize = 64;

// ---- Stages of collocation -----------------------------------------------------------------------------------------------------

/// Newton's method on the stages begins when the rates move the state by no more than this, relative to the sizes of its components.
pub const NEWTON_BEGINS: f64 = 1e-2;
/// Slopes serve another iteration if the states have moved by no more than this since they were computed, relative as above.
pub const SLOPES_LAST: f64 = 1e-5;
/// A number no larger than this is zero: denormal numbers have fewer digits.
pub const NOTHING: f64 = 1e-280;
/// Changes of the stages as small as this, relative as above, are roundoff if they no longer shrink.
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
/// An approach faster than this, relative to the velocities whose difference it is, is an impact without further questions, if the
/// gap is below this, relative to what the rate covers in a step.
pub const FAST: f64 = 1e-6;
/// Newton's method on the length of a partial step gives up after this number of trials, and the bracket is halved instead.
pub const NEWTON_TRIALS: usize = 8;
/// After an event, the search for the next one first covers this many times the interval between the last two events. If it finds
/// none, the interval grows by this factor.
pub const LOOK_AHEAD: f64 = 8.0;
/// Where a gap opens and closes again within a step, the search for a time at which it is open halves its interval at most this
/// often.
pub const HALVINGS: usize = 20;
/// The argument of a kink is also evaluated between three neighbouring moments of a step if the parabola through them falls below this
/// fraction of the least of the three values: it may be negative there.
pub const LOW_ARGUMENT: f64 = 0.5;
/// On which side of a kink in the velocities a motion goes on, this part of a step tells.
pub const TRIAL: f64 = 1e-6;
/// The rate of the argument of such a kink at the end of an arc is a difference over this part of the arc.
pub const DIFFERENCE: f64 = 1e-4;
/// A step with more events than this is given up.
pub const MAX_IN_ONE_STEP: usize = 100_000;
/// Consecutive events at one wall are compared in blocks of this many.
pub const STEADY_EVENTS: usize = 64;
/// Events are steady if four blocks of them in a row differ in duration by at most this fraction. Bounces that come to rest within
/// [`MAX_IN_ONE_STEP`] events become faster by more.
pub const STEADY: f64 = 0.03;

// ---- Impacts -------------------------------------------------------------------------------------------------------------------

/// Beyond this number of bounces at one instant the remaining contacts become inelastic.
pub const MAX_AT_ONE_INSTANT: usize = 1000;
/// A wall that changes φ̇ by less than this with an impulse, relative to φ̇⁻ and to what the impulse would change without the
/// constraints, cannot push: they block its normal direction.
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
/// Where steps are made in halves, the last bounce is lower by this factor: its error is not that of a step.
pub const BOUNCE_OF_HALVED: f64 = 0.1;
/// Where the length of steps is controlled, the last bounce is at most this many times the local tolerance, relative as above.
pub const BOUNCE_OF_TOLERANCE: f64 = 10.0;
/// Walls hold only if none of the later bounces can be higher than this many times the last one. Where a body rocks from one wall to the
/// other, holding both is an error of that height; the rocks until they are as low as single bounces would take three times as long.
pub const LAST_ROCK: f64 = 100.0;
/// Two walls do not answer to each other's impulses if W_ij² is at most this, relative to W_ii W_jj.
pub const UNCOUPLED: f64 = 1e-20;
/// Only bounces slower than this, relative to the fastest impact so far, may be the last.
pub const SLOW_BOUNCE: f64 = 1e-2;
/// A motion that would go further than this in a step at its rate, relative to the roundoff of the gap, bounces higher than that roundoff:
/// otherwise its acceleration would carry it 10¹⁰ times as far.
pub const LEAVES: f64 = 1e10;
/// A force below this, relative to the sum of all, is none.
pub const NO_FORCE: f64 = 1e-12;
/// A force below this, relative to the sum of all, is roundoff in the search for the time when it vanishes.
pub const FORCE_ROUNDOFF: f64 = 1e-14;
/// The force of a wall that holds is also evaluated between three neighbouring moments of a step if the parabola through them falls
/// below this fraction of the smallest of the three values: the force may be negative there.
pub const LOW_FORCE: f64 = 0.5;
/// A wall pulls if its force is negative by this, relative to the sum of all.
pub const PULLS: f64 = 1e-6;

// ---- Controlled steps ------------------------------------------------------------------------------------------------------------

/// A controlled step is this much shorter than its estimated error allows.
pub const STEP_SAFETY: f64 = 0.9;
/// A controlled step is at most this many times as long as the one before it.
pub const MOST_GROWTH: f64 = 4.0;
/// A controlled step is at least this part of the one before it.
pub const MOST_SHRINK: f64 = 0.1;
/// A step that is repeated is at most this part of the first attempt.
pub const LEAST_SHRINK: f64 = 0.8;
/// The finer run, with which a controlled run is compared, has local errors smaller by this factor. Its longest step is shorter by
/// [`FINER`].
pub const FINER_CONTROL: f64 = 1e-2;
/// The local error of controlled steps, relative to the tolerance of a run: the errors of many steps add up, and grow.
pub const LOCAL_TOLERANCE: f64 = 2e-2;
/// Local errors smaller than this, relative to the motion, are roundoff.
pub const LEAST_CONTROL: f64 = 1e-17;
/// A Legendre coefficient of a velocity smaller than this, relative to the largest velocity in a step, is roundoff.
pub const COEFFICIENT_ROUNDOFF: f64 = 64.0 * f64::EPSILON;
/// A motion starts at rest if its kinetic energy is below this, relative to the largest that it has.
pub const AT_REST: f64 = 1e-6;
/// A motion that starts at rest and takes more controlled steps than this is run again, relative to its largest kinetic energy.
pub const MANY_FROM_REST: usize = 200;
/// A run with more controlled steps than this is long: it has steps of equal length instead.
pub const MOST_CONTROLLED: usize = 100_000;
/// Stage equations of quick steps are solved to the local error that is allowed, and at least to this, relative to the motion: the
/// polynomial of a step is extrapolated, which amplifies its error by some 10⁵.
pub const MOST_SOLUTION: f64 = 3e-8;
/// They are solved at most to this, which is roundoff.
pub const LEAST_SOLUTION: f64 = 1e-17;
/// The prediction of a quick step may be off by this many times the square root of the accuracy with which it is solved: the end of
/// a step is by far more accurate than the prediction of the next, since their orders are 16 and 8.
pub const PREDICTION: f64 = 60.0;
/// A quick step is repeated if its prediction is worse by this factor: it is then a quarter too long, and the error of its end, which
/// goes with the power 17 of the step, is 50 times too large.
pub const REPEATED: f64 = 8.0;
/// The error of the next prediction is estimated from the coefficients of a step, to a factor of ten only. It limits the length of the
/// next step with this weight.
pub const NEXT_PREDICTION: f64 = 0.1;
/// A step longer by more than this than the one before is not predicted from it.
pub const PREDICTS: f64 = 1.5;
/// Between an end of a quick step and the stage next to it, a wall is open if its gap there is wider than what its rate covers on this
/// many times the way.
pub const BEYOND_STAGES: f64 = 4.0;
/// The first quick step, relative to the time in which the forces of the start would change the motion, for a solution to 1.
pub const FIRST_QUICK: f64 = 2.0;
/// The first controlled step, relative to the time of the run. It is only a start: steps grow quickly.
pub const FIRST_STEP: f64 = 1e-6;
/// A controlled step shorter than this, relative to the time, is no step: the motion runs into a singularity.
pub const SHORTEST_STEP: f64 = 16.0 * f64::EPSILON;
/// Local errors are relative to at least this part of a coordinate, divided by the local tolerance: roundoff is no error of a step.
pub const CONTROL_FLOOR: f64 = 1.0 / (1_u64 << 58) as f64;

// ---- The explicit pair -----------------------------------------------------------------------------------------------------------

/// The local error of a step of `dop853`, relative to the tolerance of a run: the errors of many steps add up, and grow.
pub const EXPLICIT_TOLERANCE: f64 = 0.1;
/// A step whose error is at most this many times the local tolerance is accepted: the next one is shorter.
pub const EXPLICIT_ACCEPTS: f64 = 8.0;
/// A step is this much shorter than its estimated error allows: fewer are rejected.
pub const EXPLICIT_SAFETY: f64 = 0.8;
/// A step is at most this many times as long as the one before it.
pub const EXPLICIT_GROWTH: f64 = 2.0;
/// If a step may be longer by more than this, the first steps were far too short.
pub const EXPLICIT_FAR: f64 = 4.0;
/// It may then be this many times as long.
pub const EXPLICIT_JUMP: f64 = 6.0;
/// A step is at least this part of the one before it.
pub const EXPLICIT_SHRINK: f64 = 0.3;
/// The entries of M are simplified if computing them takes at most this many instructions: simplifying longer ones takes too long.
pub const LONGEST_TO_SHORTEN: usize = 400;
/// The most work for that, in units of some ten nanoseconds.
pub const WORK_TO_SHORTEN: usize = 100_000;
/// The first step, relative to the time of the run.
pub const EXPLICIT_FIRST: f64 = 1e-3;
/// A motion leaves its lane if this number of trials does not reach a wall.
pub const MOST_AIMS: usize = 12;
/// A motion leaves its lane if two impacts follow within this, relative to its step: impacts may accumulate.
pub const SOON: f64 = 1e-2;

// ---- Runs ----------------------------------------------------------------------------------------------------------------------

/// A ratio of the time to the step this near to a whole number is that number.
pub const WHOLE_RATIO: f64 = 1e-9;
/// A function of time is resolved by steps on which it is a polynomial of the method's order, to the tolerance. In a given step it
/// may hide if it is not even a cubic there to this, relative to its size: about a step for each wave.
pub const VISIBLE: f64 = 0.1;
/// The order of polynomials for [`VISIBLE`].
pub const VISIBLE_ORDER: usize = 4;
/// Number of interval evaluations of a function of time, which take some microseconds each.
pub const RESOLUTION_BUDGET: usize = 20_000;
/// Where functions of time need more than this many nodes between the equal ones, and more than twice as many as those, the step is
/// shortened instead.
pub const MANY_NODES: f64 = 1000.0;
/// A step this short, relative to the length allowed there, is joined with the next.
pub const SLIVER: f64 = 0.1;
/// A sample this near to a node, relative to the distance of samples, is the node.
pub const SAMPLE_AT_NODE: f64 = 1e-9;
/// Work along an arc is integrated as for a power that varies by this part of itself in a step.
pub const SLOW_POWER: f64 = 0.01;
/// Number of equally spaced times at which walls are checked that the steps may have missed.
pub const CHECKPOINTS: usize = 255;
/// Number of equally spaced times at which two runs with controlled steps are compared.
pub const COMPARED: usize = 31;
/// A motion that is in a wall by more than this, relative to the way of the motion in a step or to the size of what adds up to φ, is
/// beyond it.
pub const BEYOND: f64 = 1e-8;
/// At most this many gaps are evaluated between the checkpoints of a run.
pub const DIPS: usize = 1_000;
/// The interval between two checkpoints is divided at most this many times.
pub const DIP_DEPTH: usize = 4;
/// A run never has more steps than this because of a tolerance.
pub const MOST_STEPS: f64 = 1e7;
/// Before a run with more steps than this is tried, the default method tells whether the motion is chaotic. Where it is, this many
/// steps are enough.
pub const MANY_STEPS: f64 = 2e5;
/// Before a run with more steps than this is tried, one with [`MANY_STEPS`] tells what it would come to.
pub const VERY_MANY_STEPS: f64 = 1e6;
/// The search for a step gives up where its runs would make more steps than this, counted as those of a system with few coordinates,
/// and the tolerance is not near. That takes some seconds.
pub const MOST_WORK: f64 = 4e6;
/// The search for a first step ends where its runs fail after more work than this, in the same unit.
pub const MOST_PILOT_WORK: f64 = 5e5;
/// The largest work of one run of a search, in the same unit; it takes about 20 s. A longer run is refused, because the search and the
/// estimate need several. With a named step there is no such limit.
pub const MOST_WORK_OF_RUN: f64 = 5e7;
/// The tolerance is near if the error is at most this many times as large.
pub const NEAR: f64 = 100.0;
/// The work of an impact, in steps.
pub const WORK_OF_IMPACT: f64 = 10.0;
/// The largest number of rows of a sweep.
pub const MOST_ROWS: u64 = 10_000_000_000;
/// The largest number of uniform samples of a run.
pub const MOST_SAMPLES: f64 = 1e7;
/// The largest number of nodes in the window of `mhc`.
pub const MOST_WINDOW: f64 = 1e5;
/// The largest number of tries in the search for a step.
pub const TRIES: usize = 20;
/// The order with which errors fall is observed over this number of tries.
pub const COMPARED_TRIES: usize = 4;
/// If halving the step this often has not moved the time at which a run fails, the step is not the cause: a wall jumps, say.
pub const SAME_FAILURES: usize = 10;
/// The error of roundoff is measured by this number of disturbed runs. One may by chance be close, hardly all.
pub const DISTURBED_RUNS: usize = 4;
/// So it is by this number where steps are controlled, because the finer run is one more: in a soak of 641 chaotic systems no error was
/// above 10 times its estimate with any two of four disturbed runs.
pub const DISTURBED_BESIDE_FINER: usize = 2;
/// The error of roundoff is this many times the largest difference to the disturbed runs.
pub const ROUNDOFF_SAFETY: f64 = 3.0;
/// It is this many times the larger difference to two disturbed runs, if no others are made.
pub const SAFETY_OF_TWO: f64 = 10.0;
/// No others are made if that is at most this part of the tolerance.
pub const FAR_BELOW: f64 = 0.1;
/// Roundoff below this, relative to the error of the method, is not measured more exactly than by one disturbed run.
pub const NEGLIGIBLE: f64 = 0.03;
/// Where roundoff is above this, relative to the tolerance, other steps will not reach the tolerance either.
pub const HOPELESS: f64 = 1e3;
/// A growth is resolved if it takes at least this number of checkpoints.
pub const RESOLVED: usize = 16;
/// Disturbances grow exponentially if they grow by this factor in each quarter of the time: more than under a power law t³.
pub const TENFOLD: f64 = 10.0;
/// The steps of a motion are scouted for local errors of this, relative to the tolerance: those of all steps add up.
pub const LOCAL_ERROR: f64 = 1e-2;
/// Steps are scouted at most this often.
pub const SCOUT_STEPS: f64 = 2e4;
/// A step that was scouted is tried if a run has no more of them than this: with the runs for the estimate that takes some 20 s.
pub const MOST_SCOUTED: f64 = 2.5e6;
/// A scouting step is this much shorter than its estimated error allows.
pub const SCOUT_SAFETY: f64 = 0.9;
/// A step shorter than this, relative to the time, cannot be made: the times of its ends are the same.
pub const SHORTEST: f64 = 4.0 * f64::EPSILON;
/// Above this error, relative to the size of the motion, the order of a method tells nothing about the step.
pub const ORDERLESS: f64 = 1e-3;
/// A motion is fast for a short time only if it needs steps there that are shorter by this factor than its mean step.
pub const ENCOUNTER: f64 = 0.03;
/// An order is lower than that of the method if it is less than this part of it.
pub const LOW_ORDER: f64 = 0.5;
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
/// So may it by this, relative to the mean kinetic energy: of a Kepler orbit that is its binding energy.
pub const LARGE_MEAN_DRIFT: f64 = 0.5;
/// Drifts of the energy below this, relative to the absolute terms of L, are rounding.
pub const DRIFT_ROUNDING: f64 = 1e-12;

// ---- Mechanisms ------------------------------------------------------------------------------------------------------------------

/// Mechanisms with at most this many coordinates run on compiled expressions, which are faster there; larger ones on recursive
/// kernels.
pub const SMALL_MECHANISM: usize = 8;
/// Methods without a recursive kernel are refused for mechanisms with more coordinates than this: their equations grow with the
/// square of the number of bodies, and their compilation takes minutes.
pub const LARGEST_ON_EXPRESSIONS: usize = 12;
