//! What a run leaves in arrays.

use carom::lab::diagnostic::Panel;
use carom::{Crossing, Holding, Impact, Node, View, Watcher};

use crate::signals::Signals;

/// What was recorded: rows in flat arrays.
#[derive(Default)]
pub struct Record {
    pub t: Vec<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub p: Vec<f64>,
    pub energy: Vec<f64>,
    pub outputs: Vec<f64>,
    pub lambda: Vec<f64>,
    pub panel: Option<Panel>,
    pub diagnostics: Vec<f64>,
    pub impacts: Vec<Impact>,
    pub crossings: Vec<Crossing>,
    pub holdings: Vec<Holding>,
}

/// Records nodes or samples.
pub struct Recorder<'a> {
    /// True if samples are recorded in place of nodes.
    samples: bool,
    /// The numbers of outputs and of constraints.
    counts: [usize; 2],
    record: Record,
    node: Node,
    signals: &'a Signals,
}

impl<'a> Recorder<'a> {
    /// Reserves memory for rows with these numbers of coordinates, outputs and constraints.
    pub fn new(
        samples: bool,
        rows: usize,
        [coordinates, outputs, constraints]: [usize; 3],
        panel: Option<Panel>,
        signals: &'a Signals,
    ) -> Recorder<'a> {
        let column = |count: usize| Vec::with_capacity(rows.saturating_mul(count));
        let record = Record {
            t: column(1),
            q: column(coordinates),
            v: column(coordinates),
            p: column(coordinates),
            energy: column(1),
            outputs: column(outputs),
            lambda: column(constraints),
            panel,
            ..Record::default()
        };
        Recorder { samples, counts: [outputs, constraints], record, node: Node::default(), signals }
    }

    /// What was recorded.
    pub fn finish(mut self) -> Record {
        // A step reports the accumulation point of impacts when it finds it, which may be after a later change.
        self.record.holdings.sort_by(|a, b| a.t.total_cmp(&b.t));
        self.record
    }

    fn push(&mut self, view: &mut View) {
        view.write(&mut self.node);
        let (node, record, [outputs, constraints]) = (&self.node, &mut self.record, self.counts);
        record.t.push(node.t);
        record.q.extend_from_slice(&node.q);
        record.v.extend_from_slice(&node.v);
        record.p.extend_from_slice(&node.p);
        record.energy.push(view.energy());
        extend(&mut record.outputs, &node.outputs, outputs);
        extend(&mut record.lambda, &node.lambda, constraints);
    }
}

/// Appends `count` values; those that are unknown are not numbers.
fn extend(column: &mut Vec<f64>, values: &[f64], count: usize) {
    let known = values.len().min(count);
    column.extend_from_slice(&values[..known]);
    column.resize(column.len() + count - known, f64::NAN);
}

impl Watcher for Recorder<'_> {
    fn node(&mut self, view: &mut View) {
        self.signals.reach(view.t());
        let values = self.record.panel.as_mut().map(|panel| panel.at(view.phase()));
        if !self.samples {
            self.record.diagnostics.extend_from_slice(values.unwrap_or_default());
            self.push(view);
        }
    }

    fn sample(&mut self, view: &mut View) {
        if self.samples {
            let is_node = view.is_node();
            let values = self.record.panel.as_mut().map(|panel| panel.sample(view.phase(), is_node));
            self.record.diagnostics.extend_from_slice(values.unwrap_or_default());
            self.push(view);
        }
    }

    fn impact(&mut self, impact: Impact) {
        self.record.impacts.push(impact);
    }

    fn crossing(&mut self, crossing: Crossing) {
        self.record.crossings.push(crossing);
    }

    fn holding(&mut self, holding: Holding) {
        self.record.holdings.push(holding);
    }

    fn wants_account(&self) -> bool {
        true
    }

    fn wants_to_stop(&self) -> bool {
        self.signals.stop()
    }
}
