//! Laws of mechanics, for every registered flow on every system.

use carom::catalogue::find;
use carom::flow::{Flow, FlowKind, Phase, registry};
use carom::mechanics::Mechanics;
use carom::model::{Builder, Model};
use carom_tests::order::{distance, measured_order, travel};

/// A smooth system with a state to start from.
struct System {
    name: &'static str,
    mechanics: Mechanics,
    parameters: Vec<f64>,
    start: Phase,
    /// A time over which its motion is neither trivial nor wild.
    time: f64,
}

impl System {
    fn new(name: &'static str, model: &Model) -> System {
        let start = model.start().expect("the start is right");
        System {
            name,
            mechanics: Mechanics::new(&model.system),
            parameters: model.system.parameters.iter().map(|p| p.value).collect(),
            start: Phase::new(0.0, &start.q, &start.p),
            time: 1.0,
        }
    }

    fn shipped(name: &'static str, settings: &[&str]) -> System {
        let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
        let text = find(name).expect("it ships").text;
        System::new(name, &Model::from_text(name, text, &settings).expect("it is right"))
    }

    fn flow(&self, kind: &FlowKind) -> Box<dyn Flow> {
        kind.build(&self.mechanics, &self.parameters).expect("it compiles")
    }
}

/// Nonlinear and conservative; the last is not quadratic in v.
fn conservative() -> Vec<System> {
    let settings = ["initial.q=[0.9, 0.5, -0.3]", "initial.v=[0.2, -0.6, 0.4]"];
    vec![
        System::shipped("pendulum", &["initial.v=[0.7]"]),
        System::shipped("double-pendulum", &[]),
        System::shipped("cart-pendulum", &["initial.q=[4, 0.6]"]),
        System::shipped("chain-3", &settings),
        System { time: 6.0, ..System::new("kepler", &kepler()) },
        System { time: 6.0, ..System::new("relativistic", &relativistic()) },
    ]
}

/// A planet: rotations of the plane keep its Lagrangian.
fn kepler() -> Model {
    let mut b = Builder::new("kepler");
    let (x, y) = (b.coordinate("x").expect("new"), b.coordinate("y").expect("new"));
    b.energies(0.5 * (x.v.squared() + y.v.squared()), -1.0 / (x.q.squared() + y.q.squared()).sqrt());
    b.start_with_velocity(&[1.0, 0.2], &[-0.1, 0.9]);
    b.build().expect("it is right")
}

/// A relativistic particle in a well: L = −√(1 − v²) − q⁴/4.
fn relativistic() -> Model {
    let mut b = Builder::new("relativistic");
    let q = b.coordinate("q").expect("new");
    b.lagrangian(-(1.0 - q.v.squared()).sqrt() - 0.25 * q.q.pow(4));
    b.start_with_velocity(&[0.8], &[0.3]);
    b.build().expect("it is right")
}

fn damped() -> Model {
    let mut b = Builder::new("damped pendulum");
    let theta = b.coordinate("theta").expect("new");
    b.energies(0.5 * theta.v.squared(), -theta.q.cos());
    b.force(&theta, -0.3 * theta.v);
    b.start_with_velocity(&[1.2], &[0.3]);
    b.build().expect("it is right")
}

#[test]
fn every_flow_has_its_declared_order() {
    for system in conservative() {
        let finest = registry(None).into_iter().find(|kind| kind.name == "gauss8").expect("it is registered");
        let time = system.time;
        let exact = travel(&mut *system.flow(&finest), &system.start, time / 200.0, 200);
        for kind in registry(None).into_iter().filter(|kind| kind.order <= 8) {
            let order = measured_order(&mut *system.flow(&kind), &system.start, time, &exact, 1e-11);
            let order = order.unwrap_or_else(|| panic!("{} on {}: exact at once", kind.name, system.name));
            let declared = kind.order as f64;
            println!("{:<10} on {:<16} {order:.3}", kind.name, system.name);
            assert!((order - declared).abs() < 0.15, "{} on {}: order {order:.3}", kind.name, system.name);
        }
    }
}

/// How far Jᵀ Ω J is from Ω, where J is the derivative of Φ_h by central differences of order 4.
fn symplectic_defect(flow: &mut dyn Flow, z: &Phase, h: f64) -> f64 {
    let (size, n) = (z.z.len(), z.z.len() / 2);
    let delta = 1e-3;
    let mut columns = Vec::new();
    for k in 0..size {
        let mut image = |shift: f64| {
            let mut moved = z.clone();
            moved.z[k] += shift * delta;
            travel(flow, &moved, h, 1).z
        };
        let (a, b, c, d) = (image(-2.0), image(-1.0), image(1.0), image(2.0));
        let slope = |i: usize| (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * delta);
        columns.push((0..size).map(slope).collect::<Vec<f64>>());
    }
    let omega = |u: &[f64], v: &[f64]| (0..n).map(|i| u[i] * v[n + i] - u[n + i] * v[i]).sum::<f64>();
    let mut defect = 0.0f64;
    for i in 0..size {
        for j in 0..size {
            let exact = f64::from(j == i + n) - f64::from(i == j + n);
            defect = defect.max((omega(&columns[i], &columns[j]) - exact).abs());
        }
    }
    defect
}

#[test]
fn every_symplectic_flow_keeps_the_symplectic_form() {
    for system in conservative() {
        for kind in registry(None) {
            let defect = symplectic_defect(&mut *system.flow(&kind), &system.start, 0.05);
            if kind.is_symplectic {
                assert!(defect < 1e-8, "{} on {}: {defect:e}", kind.name, system.name);
            } else {
                let defect = symplectic_defect(&mut *system.flow(&kind), &system.start, 0.3);
                assert!(defect > 1e-7, "{} on {} is symplectic after all: {defect:e}", kind.name, system.name);
            }
        }
    }
}

#[test]
fn damping_breaks_the_symplectic_form() {
    let system = System::new("damped pendulum", &damped());
    for kind in registry(None) {
        let defect = symplectic_defect(&mut *system.flow(&kind), &system.start, 0.1);
        assert!((defect - 0.03).abs() < 0.01, "{}: {defect:e}, where e^(−0.03) − 1 is due", kind.name);
    }
}

#[test]
fn every_symmetric_flow_can_be_reversed() {
    for system in conservative() {
        for kind in registry(None) {
            let mut flow = system.flow(&kind);
            let there = travel(&mut *flow, &system.start, 0.05, 10);
            let back = travel(&mut *flow, &there, -0.05, 10);
            let gap = distance(&back, &system.start);
            if kind.is_symmetric {
                assert!(gap < 1e-10, "{} on {}: {gap:e}", kind.name, system.name);
            } else {
                assert!(gap > 1e-9, "{} on {} is symmetric after all: {gap:e}", kind.name, system.name);
            }
        }
    }
}

/// Noether: if L is invariant along ξ, so is L_d, and p·ξ is kept to roundoff.
#[test]
fn momentum_along_each_symmetry_is_kept() {
    let angular = |z: &Phase| z.z[0] * z.z[3] - z.z[1] * z.z[2];
    let turning = |z: &Phase| z.z[2];
    let weightless = System::shipped("double-pendulum", &["g=0"]);
    type Momentum<'a> = &'a dyn Fn(&Phase) -> f64;
    let cases: [(System, Momentum); 2] = [(System::new("kepler", &kepler()), &angular), (weightless, &turning)];
    for (system, momentum) in cases {
        for kind in registry(None).into_iter().filter(|kind| kind.is_symplectic) {
            let mut flow = system.flow(&kind);
            let before = momentum(&system.start);
            let after = momentum(&travel(&mut *flow, &system.start, 0.05, 400));
            let drift = (after - before).abs();
            assert!(drift < 1e-11, "{} on {}: {drift:e}", kind.name, system.name);
        }
    }
}

/// Over a long time the energy of a symplectic flow oscillates; that of RK4 runs away.
#[test]
fn energy_stays_near_for_symplectic_flows_only() {
    let system = System::shipped("pendulum", &["initial.v=[0.7]"]);
    let energy = |z: &Phase| 0.5 * z.z[1] * z.z[1] - 9.8 * z.z[0].cos();
    for kind in registry(None) {
        let mut flow = system.flow(&kind);
        let mut drift_after = |steps: usize| {
            let (mut z, mut next) = (system.start.clone(), system.start.clone());
            let mut worst = 0.0f64;
            for _ in 0..steps {
                flow.step(&z, 0.05, &mut next).expect("a step is found");
                std::mem::swap(&mut z, &mut next);
                worst = worst.max((energy(&z) - energy(&system.start)).abs());
            }
            worst
        };
        let (short, long) = (drift_after(200), drift_after(4000));
        if kind.is_symplectic {
            assert!(long < 1.2 * short + 1e-11, "{}: {short:e} grows to {long:e}", kind.name);
        } else {
            assert!(long > 10.0 * short, "{}: {short:e} stays at {long:e}", kind.name);
        }
    }
}
