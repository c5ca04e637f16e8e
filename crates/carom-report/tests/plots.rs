//! Plots tell what the motion does between nodes and at impacts.

#![allow(clippy::unwrap_used)]

use carom::Audience;
use carom::lab::model::Model;
use carom_report::chart::Chart;
use carom_report::choice::Choice;
use carom_report::plots::of_run;
use carom_report::recording::{Recorder, Recording};

fn recorded(name: &str, settings: &[&str]) -> (Model, Recording) {
    let settings: Vec<String> = settings.iter().map(|setting| setting.to_string()).collect();
    let model = Model::from_text(name, carom::lab::catalogue::find(name).unwrap().text, &settings).unwrap();
    let ready = model.simulation().prepare().unwrap();
    let mut recorder = Recorder::new(&model, &ready).unwrap();
    let every = recorder.every();
    let end = ready.show(&mut [Audience { watcher: &mut recorder, every }]).unwrap().last.t;
    let recording = recorder.finish(end).unwrap();
    (model, recording)
}

fn charts(name: &str, settings: &[&str], list: &str) -> Vec<Chart> {
    let (model, recording) = recorded(name, settings);
    let choice = Choice::new(&model, list).unwrap();
    of_run(&model, &recording, Some(&choice))
}

/// e = 0.9: the energy is constant between impacts and falls by e² at each, where its line is vertical.
#[test]
fn the_energy_falls_in_steps_at_impacts() {
    let chart = &charts("bouncing-ball", &["run.until=4"], "energy")[0];
    let points = &chart.series[0].points;
    let size = points[0][1];
    let (mut falls, mut longest) = (0, 0.0_f64);
    for pair in points.windows(2) {
        let ([t0, h0], [t1, h1]) = (pair[0], pair[1]);
        longest = longest.max(t1 - t0);
        if (h1 - h0).abs() > 1e-9 * size {
            assert_eq!(t0, t1, "the energy goes from {h0} to {h1} in a slope from t = {t0} to {t1}");
            assert!((h1 / h0 - 0.81).abs() < 1e-6, "at t = {t0} the energy falls by {}", h1 / h0);
            falls += 1;
        }
    }
    assert!(falls >= 5 && longest < 0.01, "{falls} impacts, points up to {longest} apart");
}

/// The damped, driven oscillator between its nodes: more than the nodes are drawn, and they are on the motion.
#[test]
fn the_energy_is_drawn_between_nodes() {
    let settings = ["run.until=20", "run.step=0.5", "run.method=\"gauss4+ctec\""];
    let chart = &charts("impact-oscillator", &settings, "energy")[0];
    let fine =
        &charts("impact-oscillator", &["run.until=20", "run.step=0.005", "run.method=\"gauss4+ctec\""], "energy")[0];
    let points = &chart.series[0].points;
    assert!(points.len() > 1000, "{} points", points.len());
    let reference = &fine.series[0].points;
    for [t, h] in points.iter().step_by(37) {
        let after = reference.partition_point(|[u, _]| u < t).clamp(1, reference.len() - 1);
        let ([t0, h0], [t1, h1]) = (reference[after - 1], reference[after]);
        let off = (h0 + (h1 - h0) * (t - t0) / (t1 - t0) - h).abs();
        assert!(off < 1e-3, "at t = {t} the energy is {h}, {off} off");
    }
}

#[test]
fn at_most_six_gaps_are_drawn_those_that_are_hit_first() {
    let (model, recording) = recorded("ball-row", &["run.until=1.5"]);
    let charts = of_run(&model, &recording, None);
    let gaps = charts.iter().find(|chart| chart.title.starts_with("gap")).unwrap();
    assert_eq!(gaps.title, "gap of each wall (6 of 10, hit first)");
    assert!(recording.hit.len() > 6, "{:?} are hit", recording.hit);
    for wall in &recording.hit[..6] {
        let name = &model.system.walls[*wall].name;
        assert!(gaps.series.iter().any(|series| series.label == *name), "`{name}` is hit and not drawn");
    }
}

#[test]
fn panels_and_variables_can_be_chosen() {
    let charts = charts("double-pendulum", &[], "gap, theta2 ,energy,theta1',theta1,bob1");
    let told: Vec<(&str, Vec<&str>)> =
        charts.iter().map(|c| (c.title.as_str(), c.series.iter().map(|s| s.label.as_str()).collect())).collect();
    assert_eq!(told[0], ("gap of each wall", vec!["left wall"]));
    assert_eq!(told[1], ("coordinates", vec!["θ₂", "θ₁"]));
    assert_eq!((told[2].0, told[2].1[0]), ("energy", "H"));
    assert_eq!(told[3], ("velocities", vec!["θ̇₁"]));
    assert_eq!(told[4], ("paths of points", vec!["bob₁"]));
    assert!(charts[4].equal, "a circle is round");
    for [x, y] in &charts[4].series[0].points {
        assert!((x.hypot(*y) - 1.0).abs() < 1e-9, "the bob is at ({x}, {y})");
    }
}

#[test]
fn what_cannot_be_shown_is_told() {
    let model = Model::load("pendulum").unwrap();
    for (list, words) in [
        ("enrgy", ["`enrgy`", "`energy`"]),
        ("zzz", ["`zzz`", "panels (coordinates,"]),
        ("constraints", ["no constraints", "leave it out"]),
    ] {
        let error = Choice::new(&model, list).unwrap_err().to_string();
        words.iter().for_each(|word| assert!(error.contains(word), "`{word}` is not in\n{error}"));
    }
}
