//! Impacts and rest of trees of bodies: the recursive plant against the dense law of the plant of expressions, through Algorithm 1.

use std::sync::Arc;

use carom::Model;
use carom::lab::method::Method;
use carom::lab::plant::{Bodies, Expressions, SharedPlant};
use carom::lab::step::{EventKind, Scheme, State, StepLog, Variant};

/// Chains that hit things, with limits, planes, spheres, loops, drives and rest. A small one runs on both plants.
const MODELS: [(&str, &str, f64, f64); 5] = [
    (
        "planar arm with limits and a floor",
        r#"
        [mechanism]
        dimension = 2
        gravity = [0, -9.81]
        [[body]]
        name = "upper"
        mass = 1.5
        com = [0.3, 0]
        inertia = 0.05
        [[body]]
        name = "lower"
        parent = "upper"
        at = [0.6, 0]
        mass = 1.0
        com = [0.22, 0]
        inertia = 0.025
        limits = [-0.9, 0.9]
        restitution = 0.6
        [[body]]
        name = "hand"
        parent = "lower"
        at = [0.5, 0]
        mass = 0.5
        com = [0.18, 0]
        inertia = 0.008
        damping = 0.02
        [points]
        tip = {on = "hand", at = [0.4, 0]}
        wrist = {on = "hand", at = [0, 0]}
        [[contact]]
        points = ["tip", "wrist"]
        line = [[-1, -1.1], [1, -1.1]]
        restitution = 0.5
        [initial]
        q = {lower = 0.3}
        v = {hand = 2}
        [run]
        until = 1.5
        "#,
        0.005,
        1.5,
    ),
    (
        "box in space on a plane, beside a ball",
        r#"
        [mechanism]
        gravity = [0, 0, -9.81]
        [[body]]
        name = "box"
        joint = "free"
        mass = 2
        inertia = [0.1, 0.13, 0.17]
        [points]
        a = {on = "box", at = [0.3, 0.2, -0.1]}
        b = {on = "box", at = [-0.3, 0.2, -0.1]}
        c = {on = "box", at = [0.3, -0.2, -0.1]}
        d = {on = "box", at = [-0.3, -0.2, -0.1]}
        [[contact]]
        points = ["a", "b", "c", "d"]
        plane = {through = [0, 0, 0], normal = [0, 0.1, 1]}
        restitution = 0.4
        [[contact]]
        points = ["a"]
        sphere = {center = [1, 0.2, 0.4], radius = 0.5}
        side = "outside"
        restitution = 0.8
        [initial.q]
        box = {position = [0, 0, 0.7], rotation = [0.2, -0.3, 0.1]}
        [initial.v]
        box = {velocity = [0.6, 0, 0], rate = [0.5, 1, -0.4]}
        [run]
        until = 1
        "#,
        0.005,
        0.6,
    ),
    (
        "loop that hits a stop",
        r#"
        [mechanism]
        dimension = 2
        gravity = [0, -9.81]
        [[body]]
        name = "crank"
        mass = 1
        com = [0.15, 0]
        inertia = 0.01
        [[body]]
        name = "coupler"
        parent = "crank"
        at = [0.3, 0]
        mass = 1
        com = [0.4, 0]
        inertia = 0.05
        [[body]]
        name = "rocker"
        at = [0.9, 0]
        mass = 1
        com = [0.3, 0]
        inertia = 0.04
        limits = [1.2, 1.9]
        restitution = 0.7
        [points]
        a = {on = "coupler", at = [0.8, 0]}
        b = {on = "rocker", at = [0.6, 0]}
        [[constraint]]
        name = "loop"
        join = ["a", "b"]
        [initial]
        q = {crank = 1.2, coupler = -0.6, rocker = 1.6}
        v = {crank = 6}
        project = true
        [run]
        until = 1
        "#,
        0.005,
        1.0,
    ),
    (
        "string between a driven and a falling body, onto a floor",
        r#"
        [mechanism]
        gravity = [0, 0, -9.81]
        [[body]]
        name = "hoist"
        joint = "tx"
        coordinate = "x"
        mass = 1
        inertia = [0.1, 0.1, 0.1]
        at = [0, 0, 2]
        [[body]]
        name = "load"
        joint = ["tx", "ty", "tz", "rz", "rx"]
        coordinates = ["lx", "ly", "lz", "yaw", "roll"]
        mass = 1
        com = [0, 0.02, -0.05]
        inertia = [0.02, 0.03, 0.04]
        [points]
        top = {on = "load", at = [0, 0, 0.1]}
        foot = {on = "load", at = [0.1, 0.05, -0.2]}
        hook = {on = "hoist", at = [0, 0, 0]}
        [prescribed]
        x = "0.3*sin(3*t)"
        [[constraint]]
        name = "string"
        distance = ["top", "hook"]
        length = 1
        [[contact]]
        points = ["foot"]
        plane = {through = [0, 0, 0.72], normal = [0, 0, 1]}
        restitution = 0.6
        [initial]
        q = {lx = 0.7, lz = 1.5}
        v = {x = 0.9}
        project = true
        [run]
        until = 2
        "#,
        0.005,
        2.0,
    ),
    (
        "three links that come to rest on a floor",
        r#"
        [mechanism]
        dimension = 2
        gravity = [0, -9.81]
        [[body]]
        name = "one"
        mass = 1
        com = [0.25, 0]
        inertia = 0.02
        damping = 0.3
        [[body]]
        name = "two"
        parent = "one"
        at = [0.5, 0]
        mass = 1
        com = [0.25, 0]
        inertia = 0.02
        damping = 0.3
        [[body]]
        name = "three"
        parent = "two"
        at = [0.5, 0]
        mass = 1
        com = [0.25, 0]
        inertia = 0.02
        damping = 0.3
        [points]
        p1 = {on = "one", at = [0.5, 0]}
        p2 = {on = "two", at = [0.5, 0]}
        p3 = {on = "three", at = [0.5, 0]}
        [[contact]]
        points = ["p1", "p2", "p3"]
        line = [[-1, -0.2], [1, -0.2]]
        restitution = 0.2
        [initial]
        q = {one = 0.4, two = -0.1, three = 0.3}
        [run]
        until = 2
        "#,
        0.005,
        2.0,
    ),
];

/// What happened in a run.
struct Story {
    events: Vec<(f64, EventKind)>,
    impacts: Vec<(usize, f64)>,
    end: State,
    energy: f64,
}

fn tell(plant: SharedPlant, model: &Model, h: f64, until: f64) -> Story {
    let method = Method::named("midpoint+ctec", None).expect("a method");
    let scheme = Scheme::new(plant.clone(), method, &model.run).expect("the method applies");
    let start = model.start().expect("a start");
    let parameters: Arc<[f64]> = model.system.parameters.iter().map(|p| p.value).collect();
    let mut evaluator = plant.evaluator();
    evaluator.set_parameters(&parameters);
    let mut state = State::new(parameters.clone(), evaluator.free_phase(0.0, &start.q, &start.p));
    let mut stepper = scheme.stepper(Variant::Whole).expect("a stepper");
    stepper.begin(&parameters);
    stepper.start(&mut state, h).expect("a start");
    let mut log = StepLog::new(&state, plant.facts().is_one_point.len());
    let mut story = Story { events: Vec::new(), impacts: Vec::new(), end: state.clone(), energy: 0.0 };
    for k in 1..=(until / h).round() as usize {
        stepper.step(&state, k as f64 * h, &mut log).expect("the step has a solution");
        for event in log.events() {
            story.events.push((event.t, event.kind));
        }
        story.impacts.extend(log.impacts().iter().map(|impact| (impact.wall, impact.impulse.normal())));
        state = log.end.clone();
    }
    story.energy = evaluator.energy(&state.z).expect("an energy");
    story.end = state;
    story
}

#[test]
fn impacts_and_rest_agree_with_the_dense_law() {
    for (name, text, h, until) in MODELS {
        let model = Model::from_text(name, &format!("title = \"{name}\"\n{text}"), &[]).expect(name);
        let graph: SharedPlant = Arc::new(Expressions::new(&model.system, &[], &[]).expect("expressions"));
        let bodies: SharedPlant = Arc::new(Bodies::new(&model.system, &[], &[]).expect("bodies"));
        let [a, b] = [graph, bodies].map(|plant| tell(plant, &model, h, until));
        assert!(a.impacts.len() > 1, "{name}: {} impacts", a.impacts.len());
        assert_eq!(a.events.len(), b.events.len(), "{name}: {:?} and {:?}", a.events, b.events);
        for ((t, kind), (t_b, kind_b)) in a.events.iter().zip(&b.events) {
            assert!(kind == kind_b && (t - t_b).abs() < 1e-8, "{name}: {kind:?} at {t}, {kind_b:?} at {t_b}");
        }
        for ((wall, lambda), (wall_b, lambda_b)) in a.impacts.iter().zip(&b.impacts) {
            let error = (lambda - lambda_b).abs() / (1.0 + lambda.abs());
            assert!(wall == wall_b && error < 1e-7, "{name}: λ = {lambda} of {wall}, {lambda_b} of {wall_b}");
        }
        assert_eq!(a.end.holding, b.end.holding, "{name}");
        let error = carom_tests::tree::distance(&a.end.z.z, &b.end.z.z);
        assert!(error < 1e-6, "{name}: states differ by {error:e}");
        assert!((a.energy - b.energy).abs() < 1e-7, "{name}: energies {} and {}", a.energy, b.energy);
        let held = a.events.iter().filter(|(_, kind)| matches!(kind, EventKind::Holds(_))).count();
        println!("{name}: {} impacts, {held} times rest, {error:e}", a.impacts.len());
    }
}
