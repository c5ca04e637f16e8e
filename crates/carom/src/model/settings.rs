//! The settings of `[run]` and their defaults.

/// As a method or a step: the default, also where the model names another.
pub const AUTO: &str = "auto";

/// The settings of `[run]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The name of the method; if none, a default is chosen for the model.
    pub method: Option<String>,
    /// The step h; if none, it is found from the tolerance.
    pub step: Option<f64>,
    /// The end time.
    pub until: Option<f64>,
    /// The target error of the final state and along the trajectory.
    pub tolerance: f64,
    /// What to do at an accumulation point of impacts.
    pub zeno: Zeno,
    /// How impacts at one instant are resolved.
    pub simultaneous: Simultaneous,
    /// Settings of the rule `mhc`.
    pub mhc: MhcSettings,
    /// Settings of the rule `mcva`.
    pub mcva: McvaSettings,
    /// Settings of the rule `shadow`.
    pub shadow: ShadowSettings,
    /// α of the generalized midpoint rule.
    pub alpha: Option<f64>,
}

/// What to do at an accumulation point of impacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zeno {
    /// Come to rest on the wall and continue.
    Rest,
    /// End the run.
    Stop,
}

/// How impacts at one instant are resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Simultaneous {
    /// One after the other.
    Sequential,
    /// All at once.
    Moreau,
}

/// The modified-Hamiltonian comparison of [BEA].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MhcSettings {
    /// The length of the windows before and after an impact over which H̃ is compared.
    pub window: f64,
    /// The statistic of the values in a window.
    pub statistic: Statistic,
    /// Use H̃ as printed in the paper, which belongs to another integrator.
    pub printed: bool,
}

/// How the values in a window are summarized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The median.
    Median,
    /// The mean.
    Mean,
}

/// The modified collision algorithm of [DLM].
#[derive(Clone, Debug, PartialEq)]
pub struct McvaSettings {
    /// H̃ is truncated at O(h^order).
    pub order: usize,
    /// The integrator of the partial steps.
    pub partial: String,
}

/// The shadow Hamiltonian from iterates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadowSettings {
    /// The number of iterates on each side; the error is O(h^2m).
    pub m: usize,
}

impl Default for Run {
    fn default() -> Run {
        Run {
            method: None,
            step: None,
            until: None,
            tolerance: 1e-9,
            zeno: Zeno::Rest,
            simultaneous: Simultaneous::Sequential,
            mhc: MhcSettings { window: 0.7, statistic: Statistic::Median, printed: false },
            mcva: McvaSettings { order: 4, partial: "gauss2".into() },
            shadow: ShadowSettings { m: 5 },
            alpha: None,
        }
    }
}
