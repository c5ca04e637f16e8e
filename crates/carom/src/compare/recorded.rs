//! The complete record of a run.

use crate::error::Result;
use crate::modified::Shadow;
use crate::phase::{Flow, Phase};
use crate::run::{Impact, Mesh, Outcome, View, Watcher};
use crate::simulation::Simulation;
use crate::solve::NoSolution;

/// The nodes and impacts of a run.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The states at the nodes, in the free coordinates.
    pub nodes: Vec<Phase>,
    /// The impacts.
    pub impacts: Vec<Impact>,
    /// For each impact, the index of the last node before it.
    pub last_nodes: Vec<usize>,
    /// How it ended.
    pub outcome: Outcome,
}

/// Records nodes and impacts.
#[derive(Default)]
struct Record {
    nodes: Vec<Phase>,
    impacts: Vec<Impact>,
    last_nodes: Vec<usize>,
}

impl Watcher for Record {
    fn node(&mut self, view: &mut View) {
        self.nodes.push(view.phase().clone());
    }

    fn impact(&mut self, impact: Impact) {
        self.impacts.push(impact);
        self.last_nodes.push(self.nodes.len() - 1);
    }
}

impl Recorded {
    /// Runs a simulation and records it.
    pub fn of(simulation: &Simulation) -> Result<Recorded> {
        let mut record = Record::default();
        let outcome = simulation.watch(&mut record)?;
        let Record { nodes, impacts, last_nodes } = record;
        Ok(Recorded { nodes, impacts, last_nodes, outcome })
    }

    /// H̃ at the nodes k·h of the mesh. A last node that is not on the mesh is left out.
    pub fn shadow(
        &self,
        shadow: &mut Shadow,
        flow: &mut dyn Flow,
        h: f64,
    ) -> std::result::Result<Vec<f64>, NoSolution> {
        let start = self.nodes.first().map_or(0.0, |z| z.t);
        let mesh = Mesh::new(start, h, f64::INFINITY);
        self.nodes.iter().filter(|z| mesh.contains(z.t)).map(|z| shadow.at(flow, z, h)).collect()
    }
}
