//! Arguments of the command line.

mod derivatives;
mod sweep;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use derivatives::{EqualSteps, Fixed, Lyapunov, Mode, Orbit, Sensitivity};
pub use sweep::{Basins, Bifurcation, Looks, Poincare, Sweep, Varied};

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
    /// Run a model many times with different parameters and starts; can be resumed
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
    /// Print the model of a robot that a URDF or MJCF file describes
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
  carom import scene.xml > scene.toml
  carom import robot.urdf --floating > robot.toml")]
pub struct Import {
    /// A URDF file, or an MJCF file of MuJoCo
    pub file: PathBuf,
    /// Let the root link of a URDF file move freely; without this it is fixed to the ground
    #[arg(long)]
    pub floating: bool,
}

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
  carom run strike --follow gains.json --set 'initial.q[0]=0.05'
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
    /// Follow a plan that `carom optimize` wrote with its gains: u = ū − K (z − z̄)
    #[arg(long, value_name = "F.json", conflicts_with_all = ["method", "step", "tolerance", "until", "restart"])]
    pub follow: Option<PathBuf>,
    /// Write the trajectory to a CSV or Parquet file
    #[arg(long, value_name = "F.csv|F.parquet")]
    pub out: Option<PathBuf>,
    /// Write the impacts to a CSV file
    #[arg(long, value_name = "F.csv")]
    pub impacts: Option<PathBuf>,
    /// Compute energies, momenta, gaps and more at each node or sample: all that apply (in long runs those that take many steps at
    /// some nodes only), or the named ones
    #[arg(long, value_name = "A,B,…", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub diagnostics: Option<String>,
    #[command(flatten)]
    pub pictures: Pictures,
}

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
    /// Animate the model's drawing; as SVG or PNG, draw several positions in one picture
    #[arg(long, value_name = "F.gif|F.svg|F.png")]
    pub animate: Option<PathBuf>,
    /// Use a dark background for plots and animations
    #[arg(long)]
    pub dark: bool,
    /// Make small files: curves with fewer points, fewer frames, no equations in the page
    #[arg(long)]
    pub small: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  carom optimize cart-pole
  carom optimize strike --set 'phase[0].steps=60' --json
  carom optimize pendulum-swingup --refine 1e-3 --out swing.csv
  carom optimize cart-pole --tries 8 --report cart-pole.html
  carom optimize strike --feedback gains.json")]
pub struct Optimize {
    #[command(flatten)]
    pub model: Model,
    /// A variational flow with `ctec` or `dtec` (see `carom methods`)
    #[arg(long)]
    pub method: Option<String>,
    /// The largest scaled error of the optimality conditions
    #[arg(long, value_name = "TOL", default_value_t = 1e-8)]
    pub tolerance: f64,
    /// The maximum number of iterations
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub iterations: usize,
    /// Try K guesses, all but the first with smooth disturbances, and keep the best answer
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub tries: usize,
    /// Double the number of steps until the relative error of the cost is below TOL
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
    /// Write the gains of a linear feedback along the motion, for runs that follow it
    #[arg(long, value_name = "F.json")]
    pub feedback: Option<PathBuf>,
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
