//! The energy account: what forces, drives, moving walls and impacts did, and nothing left over.

use carom::lab::mechanics::Node;
use carom::lab::run::{Account, View, Watcher};
use carom_tests::motion::{model, run, shipped};

/// The sum of the absolute terms of an account: the scale of its error.
fn turnover(account: &Account) -> f64 {
    account.work.abs() + account.drives.abs() + account.impacts.abs()
}

#[test]
fn the_account_closes_to_the_order_of_the_flow() {
    let oscillator = shipped("impact-oscillator", &[]);
    let driven = shipped("driven-double-pendulum", &[]);
    for (name, model, until) in [("oscillator", &oscillator, 20.0), ("driven", &driven, 1.2)] {
        for (method, order) in [("svc", 2.0), ("galerkin4", 4.0), ("suzuki4", 4.0), ("gauss2", 4.0)] {
            let rest = |h: f64| {
                let outcome = run(model, method, h, until).completed().outcome;
                let account = outcome.account.expect("something changes the energy");
                let change = outcome.energy.last - outcome.energy.initial;
                let sum = account.work + account.drives + account.impacts + account.unexplained;
                assert!((sum - change).abs() < 1e-12, "{name} {method}: {sum} is not {change}");
                assert!(turnover(&account) > 0.1, "{account:?}");
                account.unexplained.abs()
            };
            let [coarse, fine] = [rest(until / 100.0), rest(until / 400.0)];
            println!("{name} with {method}: {coarse:.1e}, {fine:.1e}");
            // A quarter of the step: at least half of the 4^order that is due, or roundoff.
            assert!(fine < 1e-12 || fine < 2.0 * coarse / 4f64.powf(order), "{name} {method}: {coarse:e}, {fine:e}");
        }
    }
}

/// A constant force and a wall at constant speed, by hand.
#[test]
fn the_account_is_the_work_by_hand() {
    // From 1 with v = 0 under F = −2 to the wall at −t/2 (met at t = 1.2808), which gives back 0.8.
    let text = r#"
        coordinates = ["y"]
        [lagrangian]
        T = "y'^2/2"
        [forces]
        y = "-2"
        [[wall]]
        phi = "y + t/2"
        restitution = 0.8
        [initial]
        q = [1]
        v = [0]
    "#;
    let motion = run(&model(text, &[]), "gauss4+ctec", 0.2, 1.4).completed();
    let t = (0.5 + 4.25f64.sqrt()) / 2.0;
    let (v, u) = (-2.0 * t, -2.0 * t + 0.5);
    let lambda = -1.8 * u;
    let account = motion.outcome.account.expect("forces act");
    assert_eq!(motion.impacts.len(), 1);
    assert!((motion.impacts[0].minus.t - t).abs() < 1e-14 && (motion.impacts[0].lambda - lambda).abs() < 1e-13);
    let after = -0.8 * u - 0.5;
    let jump = 0.5 * (after * after - v * v);
    assert!((account.impacts - 0.1 * lambda * u).abs() < 1e-13, "{account:?}");
    assert!((account.drives + 0.5 * lambda).abs() < 1e-13, "{account:?}");
    assert!((account.impacts + account.drives - jump).abs() < 1e-13, "{account:?}");
    let y = motion.outcome.last.q[0];
    assert!((account.work + 2.0 * (y - 1.0)).abs() < 1e-13, "{account:?}");
    assert!(account.unexplained.abs() < 1e-13, "{account:?}");
}

/// Where nothing can change the energy there is no account.
#[test]
fn a_conservative_model_has_no_account() {
    assert_eq!(run(&shipped("pendulum", &[]), "svc", 0.01, 1.0).outcome.account, None);
}

/// With all walls at once the impacts of one instant add up to the loss of that instant.
#[test]
fn the_loss_of_a_cradle_is_the_same_in_the_account_and_in_the_energy() {
    for simultaneous in ["sequential", "moreau"] {
        let setting = format!("run.simultaneous=\"{simultaneous}\"");
        let model = shipped("newtons-cradle", &["e=0.7", &setting]);
        let outcome = run(&model, "gauss6+ctec", 0.05, 0.33).completed().outcome;
        let account = outcome.account.expect("impacts lose");
        assert!(account.impacts < -1e-3, "{simultaneous}: {account:?}");
        assert!(account.unexplained.abs() < 1e-13, "{simultaneous}: {account:?}");
    }
}

#[derive(Default)]
struct Along(Vec<(Node, Option<Account>)>);

impl Watcher for Along {
    fn node(&mut self, view: &mut View) {
        let account = view.account();
        self.0.push((view.node(), account));
    }

    fn wants_account(&self) -> bool {
        true
    }
}

#[test]
fn the_account_can_be_followed_along_a_run() {
    let model = shipped("bouncing-ball", &[]);
    let method = carom::lab::method::Method::named("gauss4+ctec", None).expect("it is registered");
    let simulation = carom::lab::simulation::Simulation::new(&model, &method, 0.1, 3.0).expect("it compiles");
    let mut along = Along::default();
    simulation.watch(&mut along).expect("it runs");
    let mut before = 0.0;
    for (node, account) in along.0 {
        let account = account.unwrap_or_else(|| panic!("no account at t = {}", node.t));
        let energy = 0.5 * node.v[0] * node.v[0] + 9.81 * node.q[0];
        assert!((energy - 9.81 - account.impacts).abs() < 1e-12, "at t = {}: {account:?}", node.t);
        assert!(account.impacts <= before, "impacts do not give");
        before = account.impacts;
    }
}

/// A force acts before rest and after it, in one step: all of its work is in the account.
#[test]
fn the_account_closes_over_rest() {
    let text = r#"
        coordinates = ["y"]
        [lagrangian]
        T = "y'^2/2"
        V = "9.81*y"
        [forces]
        y = "3*t"
        [[wall]]
        phi = "y"
        restitution = 0.5
        [initial]
        q = [0.1]
        v = [0]
    "#;
    let account = run(&model(text, &[]), "gauss6", 0.625, 5.0).completed().outcome.account.expect("a force works");
    assert!(account.unexplained.abs() < 1e-8, "{account:?}");
}
