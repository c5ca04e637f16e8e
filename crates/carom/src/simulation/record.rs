//! What a trajectory records.

use super::dense::Arcs;
use crate::mechanics::Node;
use crate::run::{Crossing, Holding, Impact, View, Watcher};
use crate::step::StepLog;

/// What a trajectory records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record {
    /// Every node, with dense output between nodes.
    Nodes,
    /// Samples at this interval.
    Every(f64),
    /// Impacts only.
    Impacts,
    /// Only the final state.
    Nothing,
}

/// The watcher that records a trajectory.
#[derive(Debug)]
pub(super) struct Recorder {
    record: Record,
    /// t; q, v and p of each coordinate; the outputs; the impulses of the constraints; the energy.
    pub(super) columns: Vec<Vec<f64>>,
    pub(super) impacts: Vec<Impact>,
    pub(super) crossings: Vec<Crossing>,
    pub(super) contacts: Vec<Holding>,
    pub(super) arcs: Arcs,
    node: Node,
}

impl Recorder {
    /// Reserves memory for a run of `rows` rows and `columns` columns, and for as many arcs with states of `size` numbers.
    pub(super) fn new(record: Record, rows: usize, columns: usize, size: usize) -> Recorder {
        let keeps_rows = matches!(record, Record::Nodes | Record::Every(_));
        let column = || Vec::with_capacity(if keeps_rows { rows } else { 0 });
        let arcs = if record == Record::Nodes { rows } else { 0 };
        Recorder {
            record,
            columns: (0..columns).map(|_| column()).collect(),
            impacts: Vec::new(),
            crossings: Vec::new(),
            contacts: Vec::new(),
            arcs: Arcs::with_capacity(size, arcs),
            node: Node::default(),
        }
    }

    fn push(&mut self, view: &mut View) {
        view.write(&mut self.node);
        let Node { t, q, v, p, outputs, lambda, .. } = &self.node;
        let energy = view.energy();
        let values = [*t].into_iter().chain(q.iter().chain(v).chain(p).chain(outputs).chain(lambda).copied());
        self.columns.iter_mut().zip(values.chain([energy])).for_each(|(column, x)| column.push(x));
    }
}

impl Watcher for Recorder {
    fn node(&mut self, view: &mut View) {
        if self.record == Record::Nodes {
            self.push(view);
        }
    }

    fn sample(&mut self, view: &mut View) {
        if matches!(self.record, Record::Every(_)) {
            self.push(view);
        }
    }

    fn step(&mut self, log: &StepLog) {
        if self.record == Record::Nodes {
            self.arcs.push(log);
        }
    }

    fn impact(&mut self, impact: Impact) {
        self.impacts.push(impact);
    }

    fn crossing(&mut self, crossing: Crossing) {
        self.crossings.push(crossing);
    }

    fn holding(&mut self, holding: Holding) {
        self.contacts.push(holding);
    }

    fn wants_nodes(&self) -> bool {
        self.record == Record::Nodes
    }

    fn wants_impacts(&self) -> bool {
        self.record != Record::Nothing
    }

    fn wants_account(&self) -> bool {
        true
    }
}
