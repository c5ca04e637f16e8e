//! Laws of mechanics, for every registered flow on every system.

use carom::lab::flow::{FlowKind, registry};
use carom::lab::model::{Builder, Model};
use carom::lab::phase::Phase;
use carom_tests::law::{System, symplectic_defect};
use carom_tests::order::{is_declared, measured_order, needs_single_steps, order_of_single_steps, travel};

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
            let mut flow = system.flow(&kind);
            let order = if needs_single_steps(&kind) {
                order_of_single_steps(&mut *flow, &mut *system.flow(&finest), &system.start, time, 1e-13)
            } else {
                measured_order(&mut *flow, &system.start, time, &exact, 1e-11)
            };
            let order = order.unwrap_or_else(|| panic!("{} on {}: exact at once", kind.name, system.name));
            println!("{:<10} on {:<16} {order:.3}", kind.name, system.name);
            assert!(is_declared(&kind, order), "{} on {}: order {order:.3}", kind.name, system.name);
        }
    }
}

/// How far Jᵀ Ω J is from Ω, where J is the derivative of Φ_h.
fn defect_of(system: &System, kind: &FlowKind, h: f64) -> f64 {
    symplectic_defect(&mut *system.flow(kind), &system.start, h, |_| {})
}

#[test]
fn every_symplectic_flow_keeps_the_symplectic_form() {
    for system in conservative() {
        for kind in registry(None) {
            let defect = defect_of(&system, &kind, 0.05);
            if kind.is_symplectic {
                assert!(defect < 1e-8, "{} on {}: {defect:e}", kind.name, system.name);
            } else {
                let h = if kind.is_pair() { system.coarse_step() } else { 0.3 };
                let defect = defect_of(&system, &kind, h);
                assert!(defect > 1e-7, "{} on {} is symplectic after all: {defect:e}", kind.name, system.name);
            }
        }
    }
}

#[test]
fn damping_breaks_the_symplectic_form() {
    let system = System::new("damped pendulum", &damped());
    for kind in registry(None) {
        let defect = defect_of(&system, &kind, 0.1);
        assert!((defect - 0.03).abs() < 0.01, "{}: {defect:e}, where e^(−0.03) − 1 is due", kind.name);
    }
}

#[test]
fn every_symmetric_flow_can_be_reversed() {
    for system in conservative() {
        for kind in registry(None) {
            system.check_reversal(&kind);
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

/// Over a long time the energy of a symplectic flow stays bounded; that of RK4 drifts.
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
