//! Arguments of commands that differentiate a run.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Model;

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom sensitivity double-pendulum --of final --by m1,initial.q[0]
  carom sensitivity bouncing-ball --of impacts --by parameters --method cva --step 0.01
  carom sensitivity double-pendulum --of final.q[0] --by initial --fixed p --json

--of: final.q[i], final.v[i], final.p[i], impacts[k].t, impacts[k].lambda, impacts[k].q[i], rest[k].t, outputs.name;
      `final` and `impacts` stand for all of theirs.
--by: parameters by name, initial.q[i], initial.v[i], initial.p[i]; `parameters` and `initial` stand for all.")]
pub struct Sensitivity {
    #[command(flatten)]
    pub model: Model,
    /// The quantities to differentiate, separated by commas
    #[arg(long, value_name = "A,B,…", default_value = "final")]
    pub of: String,
    /// The variables, separated by commas
    #[arg(long, value_name = "A,B,…")]
    pub by: String,
    /// Keep the start (q, v) or (q, p) fixed while a parameter varies, instead of evaluating `[initial]` anew
    #[arg(long, value_enum, value_name = "v|p")]
    pub fixed: Option<Fixed>,
    /// Propagate derivatives forward with the state, or backward along the run (one gradient for each quantity)
    #[arg(long, value_enum, default_value_t = Mode::Forward)]
    pub mode: Mode,
    #[command(flatten)]
    pub run: EqualSteps,
    /// Plot the derivatives of the coordinates along the motion
    #[arg(long, value_name = "F.svg|F.png")]
    pub plot: Option<PathBuf>,
    /// Use a dark background for the plot
    #[arg(long)]
    pub dark: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom lyapunov sinai-billiard --until 1000
  carom lyapunov impact-oscillator --set A=0.8 --until 500 --plot exponents.svg")]
pub struct Lyapunov {
    #[command(flatten)]
    pub model: Model,
    /// The number of exponents, the largest first; by default all
    #[arg(long, value_name = "K")]
    pub count: Option<usize>,
    /// The time between factorisations; by default a thousandth of the run
    #[arg(long, value_name = "DT", allow_negative_numbers = true)]
    pub every: Option<f64>,
    /// The transient that is left out; by default a tenth of the run
    #[arg(long, value_name = "T0", allow_negative_numbers = true)]
    pub discard: Option<f64>,
    #[command(flatten)]
    pub run: EqualSteps,
    /// Plot the exponents against the length of the run
    #[arg(long, value_name = "F.svg|F.png")]
    pub plot: Option<PathBuf>,
    /// Use a dark background for the plot
    #[arg(long)]
    pub dark: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom orbit impact-oscillator --set A=0.8 --period 2*pi/omega --discard 200
  carom orbit impact-oscillator --set A=0.5 --impacts 1 --discard 400 --continue omega=0.92:0.86 --plot branch.svg")]
pub struct Orbit {
    #[command(flatten)]
    pub model: Model,
    /// The period: a number or a formula of the parameters; by default that of the drive, or one that a run finds
    #[arg(long, value_name = "T")]
    pub period: Option<String>,
    /// The number of impacts in a period; by default as many as in the first period
    #[arg(long, value_name = "N")]
    pub impacts: Option<usize>,
    /// Start from the state after this time
    #[arg(long, value_name = "T0", allow_negative_numbers = true)]
    pub discard: Option<f64>,
    /// Follow the orbit along a parameter
    #[arg(long = "continue", value_name = "NAME=FROM:TO")]
    pub along: Option<String>,
    #[command(flatten)]
    pub run: EqualSteps,
    /// Plot the branch, or the multipliers
    #[arg(long, value_name = "F.svg|F.png")]
    pub plot: Option<PathBuf>,
    /// Use a dark background for the plot
    #[arg(long)]
    pub dark: bool,
}

/// The settings of a run with steps of equal length.
#[derive(Args)]
pub struct EqualSteps {
    /// The integrator and impact rule (see `carom methods`), or `auto` for the default
    #[arg(long)]
    pub method: Option<String>,
    /// The step h, or `auto` to find one from the tolerance
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub step: Option<String>,
    /// The end time
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub until: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What stays fixed while a parameter varies.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Fixed {
    /// The start (q, v)
    V,
    /// The start (q, p)
    P,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Mode {
    /// Forward, with the state
    Forward,
    /// Backward, along the run
    Adjoint,
}
