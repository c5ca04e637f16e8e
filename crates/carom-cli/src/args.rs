//! Arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Simulates mechanical systems that hit things.
#[derive(Parser)]
#[command(name = "carom", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  carom run double-pendulum                 run a shipped model
  carom run my-model.toml --set m1=2        run your own model with a different mass
  carom derive pendulum                     show its equations of motion and impact law
  carom examples                            list the models that ship with carom
  carom examples pendulum > my-model.toml   copy one as a starting point";

#[derive(Subcommand)]
pub enum Command {
    /// Simulate a model
    Run(Run),
    /// Validate a model and evaluate its initial state, without running it
    Check(Model),
    /// Show the equations of motion and the impact laws of a model
    Derive(Derive),
    /// Find the controls that solve the control problem of a model
    Optimize(Optimize),
    /// Compare methods and steps: errors, energies, times
    Compare(Compare),
    /// Run a model many times with other parameters and starts; resumes where it was
    Sweep(Sweep),
    /// Draw the long-run motion along a parameter
    Bifurcation(Bifurcation),
    /// Draw which starts lead to which long-run motion
    Basins(Basins),
    /// Draw where motions cross a section or leave a wall
    Poincare(Poincare),
    /// Differentiate the results of a run by parameters and by the start, through impacts
    Sensitivity(Sensitivity),
    /// Compute the Lyapunov exponents of a motion, through impacts
    Lyapunov(Lyapunov),
    /// Find a periodic orbit, its multipliers and its branch along a parameter
    Orbit(Orbit),
    /// Recompute the figures and tables of the papers and check their claims
    Paper(Paper),
    /// Print the model of a robot that a URDF file describes
    Import(Import),
    /// List the models that ship with carom, or print one
    Examples {
        /// The model to print
        name: Option<String>,
    },
    /// List the integrators and impact rules
    Methods,
    /// Print a completion script for your shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom import robot.urdf > robot.toml
  carom import robot.urdf --floating > robot.toml")]
pub struct Import {
    /// A URDF file
    pub file: PathBuf,
    /// Let the root link move freely; without this it is fixed to the ground
    #[arg(long)]
    pub floating: bool,
}

/// A model with its settings.
#[derive(Args)]
pub struct Model {
    /// A TOML file, or the name of a shipped model
    pub model: String,
    /// Override a model value: a parameter, `initial.q[0]`, `run.step`, …
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom run double-pendulum
  carom run cart-pendulum --method svc --step 0.01 --until 10
  carom run pendulum --set g=1.62 --json --nodes
  carom run double-pendulum --diagnostics=energy,shadow-window
  carom run double-pendulum --report double-pendulum.html
  carom run double-pendulum --plot energy.svg --show energy,gaps")]
pub struct Run {
    #[command(flatten)]
    pub model: Model,
    /// The integrator and impact rule (see `carom methods`), or `auto` for the default
    #[arg(long)]
    pub method: Option<String>,
    /// The step h, or `auto` to find one from the tolerance
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub step: Option<String>,
    /// The tolerance from which the steps follow, relative to the size of the motion
    #[arg(long, value_name = "TOL", allow_negative_numbers = true)]
    pub tolerance: Option<String>,
    /// The end time
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub until: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Include the nodes of the trajectory, as a table or in the JSON object
    #[arg(long)]
    pub nodes: bool,
    /// Include samples at intervals DT instead of the nodes
    #[arg(long, value_name = "DT", allow_negative_numbers = true)]
    pub every: Option<f64>,
    /// Resume from the final state in the `--json` output of an earlier run
    #[arg(long, value_name = "F.json")]
    pub restart: Option<PathBuf>,
    /// Write the trajectory to a CSV file
    #[arg(long, value_name = "F.csv")]
    pub out: Option<PathBuf>,
    /// Write the impacts to a CSV file
    #[arg(long, value_name = "F.csv")]
    pub impacts: Option<PathBuf>,
    /// Compute energies, momenta, gaps and more at each node or sample: all that apply, or only the named ones
    #[arg(long, value_name = "A,B,…", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub diagnostics: Option<String>,
    #[command(flatten)]
    pub pictures: Pictures,
}

/// Pictures of a run.
#[derive(Args)]
pub struct Pictures {
    /// Write one self-contained HTML page with equations, animation, plots and impacts
    #[arg(long, value_name = "F.html")]
    pub report: Option<PathBuf>,
    /// Plot coordinates, phase portrait, paths, energy, gaps and impulses; may be repeated
    #[arg(long, value_name = "F.svg|F.png")]
    pub plot: Vec<PathBuf>,
    /// Plot these panels and variables, as in `energy,gaps,theta1`; once for all plots, or once for each `--plot`
    #[arg(long, value_name = "A,B,…")]
    pub show: Vec<String>,
    /// Animate the model's drawing
    #[arg(long, value_name = "F.gif")]
    pub animate: Option<PathBuf>,
    /// Use a dark background for plots and animations
    #[arg(long)]
    pub dark: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom optimize cart-pole
  carom optimize strike --set 'phase[0].steps=60' --json
  carom optimize pendulum-swingup --refine 1e-3 --out swing.csv
  carom optimize cart-pole --tries 8 --report cart-pole.html")]
pub struct Optimize {
    #[command(flatten)]
    pub model: Model,
    /// A variational flow with `ctec` or `dtec` (see `carom methods`)
    #[arg(long)]
    pub method: Option<String>,
    /// The largest scaled error of the optimality conditions
    #[arg(long, value_name = "TOL", default_value_t = 1e-8)]
    pub tolerance: f64,
    /// The most iterations
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub iterations: usize,
    /// Try K guesses, all but the first disturbed smoothly; the best answer wins
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub tries: usize,
    /// Double the steps until the error of the cost is below this part of it
    #[arg(long, value_name = "TOL")]
    pub refine: Option<f64>,
    /// Start from the answer in the `--json` output of an earlier run
    #[arg(long, value_name = "F.json")]
    pub restart: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write nodes and controls to a CSV file
    #[arg(long, value_name = "F.csv")]
    pub out: Option<PathBuf>,
    /// Write one self-contained HTML page of the run with the controls found
    #[arg(long, value_name = "F.html")]
    pub report: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom compare double-pendulum --methods cva,vci,mhc --steps 0.058,0.029
  carom compare cart-pendulum --methods cva,mcvaa,gauss4 --steps 0.032,0.01 --out work-precision.csv")]
pub struct Compare {
    #[command(flatten)]
    pub model: Model,
    /// The methods, separated by commas (see `carom methods`)
    #[arg(long, value_name = "A,B,…")]
    pub methods: String,
    /// The steps h, separated by commas
    #[arg(long, value_name = "H1,H2,…", allow_hyphen_values = true)]
    pub steps: String,
    /// The end time
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub until: Option<String>,
    /// Write the table to a CSV file
    #[arg(long, value_name = "F.csv")]
    pub out: Option<PathBuf>,
    /// Plot convergence, work against precision, and drifts
    #[arg(long, value_name = "F.svg|F.png")]
    pub plot: Option<PathBuf>,
    /// Use a dark background for the plot
    #[arg(long)]
    pub dark: bool,
}

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
    /// The folder of the parts; the same command again goes on where it was
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The number of threads; that of the processors by default
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Make only every n-th part, beginning with the i-th, for job arrays that share a folder
    #[arg(long, value_name = "I/N")]
    pub part: Option<String>,
    /// Keep a statistic in place of rows: `count(x)`, `mean(x)`, `var(x)`, `min(x)`, `max(x)` or `hist(x,bins)`
    #[arg(long, value_name = "STATISTIC")]
    pub reduce: Vec<String>,
    /// Give up a run after so many seconds; 60 by default
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Where a motion is looked at, and where the results go.
#[derive(Args)]
pub struct Looks {
    #[command(flatten)]
    pub varied: Varied,
    /// Look once in each period (`strobe`), after each impact (`impact`), or at a section or a wall, by its name
    #[arg(long, value_name = "strobe|impact|NAME")]
    pub at: String,
    /// The period of the drive, an expression of the parameters; `2*pi/omega` if the model has a parameter `omega`
    #[arg(long, value_name = "EXPR")]
    pub period: Option<String>,
    /// Pass over so many events first
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub transient: usize,
    /// Keep so many events
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
    /// Go back from the last value to the first too: motions that coexist show
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
    /// Carry the derivatives beside the state, or go back along the run (one gradient for each quantity)
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
    /// The period: a number or a formula of the parameters; by default that of the drive, or what a run tells
    #[arg(long, value_name = "T")]
    pub period: Option<String>,
    /// The number of impacts in a period; by default that of the first motion
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

/// How derivatives are computed.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Mode {
    /// Beside the state
    Forward,
    /// Backwards along the run
    Adjoint,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom paper list
  carom paper bea-fig2
  carom paper bea-fig2 --report bea-fig2.html
  carom paper all --out data --report gallery")]
pub struct Paper {
    /// `list`, the name of a figure or table, or `all`
    #[arg(value_name = "list|ID|all", default_value = "list")]
    pub what: String,
    /// Write the data as CSV into a folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write it as a web page; with `all`, a folder of pages with an index
    #[arg(long, value_name = "F.html|DIR")]
    pub report: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom derive pendulum
  carom derive double-pendulum --format latex > double-pendulum.tex
  carom derive double-pendulum --format latex --fragment > equations.tex
  carom derive cart-pendulum --format html > cart-pendulum.html")]
pub struct Derive {
    #[command(flatten)]
    pub model: Model,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// With `--format latex`: only the equations, to include in a document that uses `amsmath`
    #[arg(long)]
    pub fragment: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Format {
    /// Unicode, for the terminal
    Text,
    /// A LaTeX document
    Latex,
    /// A self-contained web page (works offline)
    Html,
}
