//! Data recorded during a run.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::Instant;

use carom::lab::diagnostic::Panel;
use carom::{Crossing, Dense, Error, Holding, Impact, Node, Result, View, Watcher};
use indicatif::{ProgressBar, ProgressStyle};

use super::energy::EnergyPlot;
use super::file::RowFile;
use super::rows::row;
use crate::args;
use crate::commands::count;
use crate::commands::interrupt::Interrupt;

/// The number of impacts shown on a terminal.
pub const SHOWN: usize = 20;
/// If there are more, this many are shown from the end.
pub const LAST: usize = 4;
/// Progress is shown if a run takes longer than this, in seconds.
const PATIENCE: f64 = 1.0;

/// Records what the command line requests, and shows progress on a terminal.
pub struct Record {
    wants_nodes: bool,
    wants_samples: bool,
    /// True if nodes or samples are kept in memory; else they only go to the file.
    keeps: bool,
    /// The file of `--out`, which grows during the run.
    file: Option<RowFile>,
    trouble: Option<Error>,
    pub nodes: Vec<Node>,
    /// True if the nodes are printed as a table.
    pub shows_nodes: bool,
    /// The diagnostics, if requested.
    pub panel: Option<Panel>,
    /// The values of the diagnostics at each recorded node or sample.
    pub diagnostics: Vec<Vec<f64>>,
    /// All impacts for JSON and `--impacts`; otherwise the first few, so that a long run needs no more memory than a short one.
    pub impacts: Vec<Impact>,
    keep_impacts: usize,
    pub impact_count: usize,
    /// The last few impacts, if not all are kept.
    pub last_impacts: VecDeque<Impact>,
    /// The energy plot of the summary.
    pub energy: Option<EnergyPlot>,
    pub crossings: Vec<Crossing>,
    pub holdings: Vec<Holding>,
    interrupt: Interrupt,
    /// The time at which the run starts.
    pub start: f64,
    until: f64,
    begin: Instant,
    steps: u64,
    bar: Option<ProgressBar>,
}

impl Record {
    pub fn new(
        arguments: &args::Run,
        [start, until]: [f64; 2],
        panel: Option<Panel>,
        file: Option<RowFile>,
        interrupt: Interrupt,
    ) -> Record {
        let sampled = arguments.every.is_some();
        let wanted = arguments.nodes || arguments.out.is_some();
        Record {
            wants_nodes: wanted && !sampled,
            wants_samples: sampled,
            keeps: file.is_none() || arguments.nodes || (sampled && arguments.json),
            file,
            trouble: None,
            nodes: Vec::new(),
            shows_nodes: (arguments.nodes || sampled) && !arguments.json && arguments.out.is_none(),
            panel,
            diagnostics: Vec::new(),
            impacts: Vec::new(),
            keep_impacts: if arguments.json || arguments.impacts.is_some() { usize::MAX } else { SHOWN },
            impact_count: 0,
            last_impacts: VecDeque::new(),
            energy: (!arguments.json).then(EnergyPlot::default),
            interrupt,
            start,
            crossings: Vec::new(),
            holdings: Vec::new(),
            until,
            begin: Instant::now(),
            steps: 0,
            bar: None,
        }
    }

    /// Records a node or sample.
    fn keep(&mut self, node: Node, diagnostics: Option<Vec<f64>>) {
        if let Some(file) = &mut self.file
            && self.trouble.is_none()
        {
            self.trouble = file.append(&row(&node, diagnostics.as_deref().unwrap_or(&[]))).err();
        }
        if self.keeps {
            self.diagnostics.extend(diagnostics);
            self.nodes.push(node);
        }
    }

    /// True if the rows are in the file already.
    pub fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Completes the file of `--out`.
    pub fn finish_file(&mut self) -> Result<()> {
        match (self.trouble.take(), self.file.take()) {
            (Some(trouble), _) => Err(trouble),
            (None, Some(file)) => file.finish(),
            (None, None) => Ok(()),
        }
    }

    /// Puts the changes of contact in the order of time: a step reports the accumulation point of impacts when it finds it.
    pub fn finish(&mut self) {
        self.holdings.sort_by(|a, b| a.t.total_cmp(&b.t));
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Adds the energy between nodes that are far apart to the plot.
    pub fn look_between_nodes(&mut self, dense: &mut Dense) {
        if let Some(energy) = &mut self.energy {
            energy.look_between_nodes(dense);
        }
    }

    fn show_progress(&mut self, t: f64) {
        if self.bar.is_none() && self.begin.elapsed().as_secs_f64() > PATIENCE && std::io::stderr().is_terminal() {
            let style = ProgressStyle::with_template("{bar:40} {percent}%  {msg}  {eta} left");
            let bar = ProgressBar::new(1000);
            self.bar = Some(style.map_or(bar.clone(), |style| bar.with_style(style)));
        }
        if let Some(bar) = &self.bar {
            bar.set_position((1000.0 * (t - self.start) / (self.until - self.start)) as u64);
            bar.set_message(format!("t = {t:.3}, {}", count(self.impact_count, "impact")));
        }
    }
}

impl Watcher for Record {
    fn node(&mut self, view: &mut View) {
        let values = self.panel.as_mut().map(|panel| panel.at(view.phase()));
        if self.wants_nodes {
            let values = values.map(<[f64]>::to_vec);
            self.keep(view.node(), values);
        }
        if let Some(energy) = &mut self.energy {
            energy.push(view.t(), view.energy());
        }
        self.steps += 1;
        if self.steps.is_multiple_of(4096) {
            self.show_progress(view.t());
        }
    }

    fn sample(&mut self, view: &mut View) {
        if self.wants_samples {
            let is_node = view.is_node();
            let values = self.panel.as_mut().map(|panel| panel.sample(view.phase(), is_node).to_vec());
            self.keep(view.node(), values);
        }
    }

    fn impact(&mut self, impact: Impact) {
        self.impact_count += 1;
        if let Some(energy) = &mut self.energy {
            let sides = [impact.energy_minus, impact.energy_plus].into_iter();
            sides.filter(|e| e.is_finite()).for_each(|e| energy.push(impact.minus.t, e));
        }
        if self.impacts.len() < self.keep_impacts {
            self.impacts.push(impact);
        } else {
            self.last_impacts.push_back(impact);
            if self.last_impacts.len() > LAST {
                self.last_impacts.pop_front();
            }
        }
    }

    fn crossing(&mut self, crossing: Crossing) {
        self.crossings.push(crossing);
    }

    fn wants_account(&self) -> bool {
        true
    }

    fn holding(&mut self, holding: Holding) {
        self.holdings.push(holding);
    }

    fn wants_to_stop(&self) -> bool {
        self.trouble.is_some() || self.interrupt.wants_to_stop()
    }
}
