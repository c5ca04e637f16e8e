//! Reference numbers of 16–20 digits, computed independently in 30–50-digit arithmetic (`reference/*.json`).

use carom::lab::catalogue::find;
use carom::lab::mechanics::Node;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::run::{Impact, View, Watcher};
use carom::lab::simulation::Simulation;
use carom_tests::reference::{number, numbers};
use serde_json::Value;

#[derive(Default)]
struct Record {
    nodes: Vec<Node>,
    impacts: Vec<Impact>,
}

impl Watcher for Record {
    fn node(&mut self, view: &mut View) {
        self.nodes.push(view.node());
    }

    fn impact(&mut self, impact: Impact) {
        self.impacts.push(impact);
    }
}

fn run(example: &str, settings: &[&str], method: &str, step: f64, until: f64) -> Record {
    let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    let model = Model::from_text(example, find(example).expect("it ships").text, &settings).expect("it is right");
    let method = Method::named(method, None).expect("it is registered");
    let mut record = Record::default();
    let simulation = Simulation::new(&model, &method, step, until).expect("it compiles");
    simulation.watch(&mut record).expect("it runs");
    record
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{what}: {found:?}, reference {expected:?}");
    }
}

#[test]
fn double_pendulum_ctec_and_dtec() {
    let file: Value = serde_json::from_str(include_str!("reference/double-pendulum.json")).expect("JSON");
    for (key, method) in [("CTEC h=0.058", "cva"), ("DTEC h=0.058", "vci")] {
        let reference = &file["regression"][key];
        let steps = reference["N_steps"].as_u64().expect("a count") as f64;
        let record = run("double-pendulum", &[], method, 0.058, steps * 0.058);
        let impacts = reference["impacts"].as_array().expect("a list");
        assert_eq!(record.impacts.len(), impacts.len(), "{key}");
        for (impact, expected) in record.impacts.iter().zip(impacts) {
            assert_close(&[impact.minus.t], &[number(&expected["t"])], 1e-10, key);
            assert_close(&impact.minus.q, &numbers(&expected["q"]), 1e-10, key);
            assert_close(&impact.minus.p, &numbers(&expected["p_minus"]), 1e-10, key);
            assert_close(&impact.plus.p, &numbers(&expected["p_plus"]), 1e-10, key);
        }
        for (index, expected) in reference["nodes"].as_object().expect("nodes") {
            let node = &record.nodes[index.parse::<usize>().expect("a number")];
            let z: Vec<f64> = node.q.iter().chain(&node.p).copied().collect();
            assert_close(&z, &numbers(&expected["z"]), 1e-10, &format!("{key}, node {index}"));
        }
    }
}

#[test]
fn cart_pendulum_cva_and_vci() {
    let file: Value = serde_json::from_str(include_str!("reference/cart-pendulum.json")).expect("JSON");
    let cases = file["regression"].as_object().expect("cases");
    assert_eq!(cases.len(), 8);
    for (key, reference) in cases {
        let parts: Vec<&str> = key.split('|').collect();
        let step: f64 = parts[1].trim_start_matches("h=").parse().expect("a step");
        let beta = parts[2];
        let count = reference["N"].as_u64().expect("a count") as f64;
        let method = parts[0].to_lowercase();
        let record = run("cart-pendulum", &[beta], &method, step, count * step);
        let impacts = reference["impacts"].as_array().expect("a list");
        assert_eq!(record.impacts.len(), impacts.len(), "{key}");
        for (impact, expected) in record.impacts.iter().zip(impacts) {
            assert_close(&[impact.minus.t], &[number(&expected["t"])], 1e-9, key);
            assert_close(&impact.minus.p, &numbers(&expected["p_minus"]), 1e-9, key);
            assert_close(&impact.plus.p, &numbers(&expected["p_plus"]), 1e-9, key);
        }
        let last = record.nodes.last().expect("nodes");
        let z: Vec<f64> = last.q.iter().chain(&last.p).copied().collect();
        assert_close(&z, &numbers(&reference["final"]), 1e-9, key);
    }
}

/// Impact times and states of the exact motion, with `gauss4+ctec` at h = 0.01.
#[test]
fn exact_cart_pendulum() {
    let file: Value = serde_json::from_str(include_str!("reference/cart-pendulum.json")).expect("JSON");
    for (beta, reference) in file["exact"].as_object().expect("cases") {
        let record = run("cart-pendulum", &[&format!("beta={beta}")], "gauss4+ctec", 0.01, 5.0);
        let impacts = reference["impacts"].as_array().expect("a list");
        assert_eq!(record.impacts.len(), impacts.len(), "beta = {beta}");
        for (impact, expected) in record.impacts.iter().zip(impacts) {
            assert_close(&[impact.minus.t], &[number(&expected["t"])], 1e-10, beta);
            assert_close(&phase(&impact.minus), &numbers(&expected["z_minus"]), 1e-10, beta);
            assert_close(&phase(&impact.plus), &numbers(&expected["z_plus"]), 1e-10, beta);
        }
        let last = record.nodes.last().expect("nodes");
        assert_close(&phase(last), &numbers(&reference["z_T5"]), 1e-10, beta);
    }
}

#[test]
fn exact_double_pendulum() {
    let file: Value = serde_json::from_str(include_str!("reference/double-pendulum.json")).expect("JSON");
    let record = run("double-pendulum", &[], "gauss4+ctec", 0.01, 4.0);
    let impacts = file["exact"]["impacts"].as_array().expect("a list");
    assert_eq!(record.impacts.len(), impacts.len());
    for (impact, expected) in record.impacts.iter().zip(impacts) {
        assert_close(&[impact.minus.t], &[number(&expected["t"])], 1e-10, "double pendulum");
        assert_close(&impact.minus.q, &numbers(&expected["q"]), 1e-10, "double pendulum");
        assert_close(&impact.minus.p, &numbers(&expected["p_minus"]), 1e-10, "double pendulum");
        assert_close(&impact.plus.p, &numbers(&expected["p_plus"]), 1e-10, "double pendulum");
    }
    for (t, expected) in file["exact"]["states"].as_object().expect("states") {
        let t: f64 = t.parse().expect("a time");
        let node = record.nodes.iter().find(|node| (node.t - t).abs() < 1e-9).expect("a node at that time");
        assert_close(&phase(node), &numbers(expected), 1e-10, &format!("double pendulum at t = {t}"));
    }
}

/// The other systems, by the default method: the impacts that the file lists, and the state at the end.
#[test]
fn exact_impacts_of_the_other_systems() {
    let file: Value = serde_json::from_str(include_str!("reference/projections-constraints-notes.json")).expect("JSON");
    let cases = [
        ("bar", "bar", 3.0),
        ("particle", "wavy-floor", 4.0),
        ("notes_pendulum", "pendulum", 5.0),
        ("driven_double_pendulum", "driven-double-pendulum", 6.0),
    ];
    for (key, example, until) in cases {
        let reference = &file[key];
        let record = run(example, &[], "gauss6+ctec", 0.05, until);
        for (impact, expected) in record.impacts.iter().zip(reference["impacts"].as_array().expect("a list")) {
            assert_close(&[impact.minus.t], &[number(&expected["t"])], 1e-9, key);
            if let Some(v_plus) = expected.get("v_plus") {
                assert_close(&impact.plus.v, &numbers(v_plus), 1e-9, key);
            }
            if let Some(w_plus) = expected.get("w_plus") {
                let v = impact.plus.v.last().expect("a velocity");
                assert_close(&[*v], &[number(w_plus)], 1e-9, key);
            }
        }
        let last = record.nodes.last().expect("nodes");
        if let Some(expected) = reference.get("final") {
            let state = [*last.q.last().expect("q"), *last.v.last().expect("v")];
            assert_close(&state, &numbers(expected), 1e-9, key);
        } else {
            assert_close(&last.q, &numbers(&reference["final_q"]), 1e-9, key);
            assert_close(&last.v, &numbers(&reference["final_v"]), 1e-9, key);
        }
    }
}

fn phase(node: &Node) -> Vec<f64> {
    node.q.iter().chain(&node.p).copied().collect()
}
