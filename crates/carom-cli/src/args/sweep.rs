//! Arguments of `carom sweep`, `bifurcation`, `basins` and `poincare`.

use std::path::PathBuf;

use clap::Args;

use super::Model;

/// A model whose parameters or starts vary.
#[derive(Args)]
pub struct Varied {
    #[command(flatten)]
    pub model: Model,
    /// Vary a parameter or an entry of the start: `A=from:to:count`, `A=a,b,c`, `A=uniform(a,b)`, `A=normal(mean,sd)`,
    /// `A=sobol(a,b)` or `A=file.csv:column`; grids multiply, the first is the slowest
    #[arg(long, value_name = "NAME=VALUES")]
    pub vary: Vec<String>,
    /// The number of samples of random axes for each point of the grid
    #[arg(long, value_name = "N")]
    pub samples: Option<u64>,
    /// The seed of random axes
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// The integrator and impact rule (see `carom methods`), or `auto` for the default
    #[arg(long)]
    pub method: Option<String>,
    /// The step h, or `auto` to control it by the tolerance
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub step: Option<String>,
    /// The tolerance from which the steps follow, relative to the size of the motion
    #[arg(long, value_name = "TOL", allow_negative_numbers = true)]
    pub tolerance: Option<String>,
    /// The end time
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub until: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom sweep cart-pendulum --vary beta=3.2:5.2:10000 --record final --out sweep
  carom sweep impact-oscillator --vary A=0.5:0.9:400 --vary 'initial.q[0]=uniform(-1,0.9)' --samples 100 --seed 7 --out sweep
  carom sweep galton-board --vary 'x0=normal(0,0.01)' --samples 1000 --reduce 'hist(bin,16)' --out bins")]
pub struct Sweep {
    #[command(flatten)]
    pub varied: Varied,
    /// What to record of each run: `final`, coordinates, velocities, outputs, `impacts.count`; separated by commas
    #[arg(long, value_name = "A,B,…")]
    pub record: Vec<String>,
    /// The folder for the results; repeating the command resumes the sweep
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The number of threads; by default one for each processor
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Make only every N-th part, beginning with the I-th, for job arrays that share a folder
    #[arg(long, value_name = "I/N")]
    pub part: Option<String>,
    /// Keep a statistic instead of rows: `count(x)`, `mean(x)`, `var(x)`, `min(x)`, `max(x)` or `hist(x,bins)`
    #[arg(long, value_name = "STATISTIC")]
    pub reduce: Vec<String>,
    /// The time limit of one run; 60 s by default
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// When motions are sampled, and where the results go.
#[derive(Args)]
pub struct Looks {
    #[command(flatten)]
    pub varied: Varied,
    /// When to sample the motion: once per period (`strobe`), after each impact (`impact`), or at a section or wall of this name
    #[arg(long, value_name = "strobe|impact|NAME")]
    pub at: String,
    /// The period of the drive, an expression of the parameters; `2*pi/omega` if the model has a parameter `omega`
    #[arg(long, value_name = "EXPR")]
    pub period: Option<String>,
    /// The number of events to skip first
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub transient: usize,
    /// The number of events to keep
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub keep: usize,
    /// What to draw: a coordinate `x`, a velocity `x'`, or `t`
    #[arg(long, value_name = "A,B")]
    pub show: Option<String>,
    /// Write the points to a CSV file
    #[arg(long, value_name = "F.csv")]
    pub out: Option<PathBuf>,
    /// Draw the points
    #[arg(long, value_name = "F.svg|F.png")]
    pub plot: Option<PathBuf>,
    /// Use a dark background for the plot
    #[arg(long)]
    pub dark: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom bifurcation impact-oscillator --vary A=0.5:1.2:700 --at strobe --plot bifurcation.svg
  carom bifurcation vibrating-table --vary Gamma=1.05:2:200 --at impact --back --plot bifurcation.png")]
pub struct Bifurcation {
    #[command(flatten)]
    pub looks: Looks,
    /// Also go back from the last value to the first, which shows motions that coexist
    #[arg(long)]
    pub back: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom basins impact-oscillator --vary 'initial.q[0]=-1:0.9:60' --vary 'initial.v[0]=-1:1:60' --at strobe --plot basins.png")]
pub struct Basins {
    #[command(flatten)]
    pub looks: Looks,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom poincare elliptic-billiard --vary 'initial.q[0]=-1.9:1.9:20' --at cushion --transient 0 --keep 200 --plot poincare.svg")]
pub struct Poincare {
    #[command(flatten)]
    pub looks: Looks,
    /// The number of starts, if an axis of `--vary` is random
    #[arg(long, value_name = "N")]
    pub starts: Option<u64>,
}
