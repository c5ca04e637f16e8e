//! Code that runs at every node allocates memory only on its first call.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use carom::lab::catalogue::find;
use carom::lab::discrete;
use carom::lab::flow::{Variational, registry};
use carom::lab::mechanics::Field;
use carom::lab::mechanics::Mechanics;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::modified::{Cheap, Closed, Formula, ModifiedHamiltonian, Series, Shadow};
use carom::lab::phase::Phase;
use carom::lab::plant::{Expressions, Plant};
use carom::lab::simulation::Simulation;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work; the counter is a plain thread-local number.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often the second call of `f` allocates.
fn allocations(mut f: impl FnMut()) -> usize {
    f();
    let before = COUNT.get();
    f();
    COUNT.get() - before
}

#[test]
fn modified_hamiltonians_do_not_allocate() {
    let text = find("double-pendulum").expect("it ships").text;
    let model = Model::from_text("double-pendulum", text, &[]).expect("it is right");
    let parameters: Vec<f64> = model.parameter_values().into_iter().map(|(_, value)| value).collect();
    let mechanics = Mechanics::new(&model.system);
    let (z, h, mut gradient) = (Phase::new(0.0, &[0.3, 0.2], &[1.0, 0.5]), 0.02, [0.0; 4]);
    assert_eq!(allocations(|| drop(vec![1])), 1, "the counter counts");
    for rule in discrete::registry(0.5) {
        let mut flow = Variational::new(&mechanics, &*rule, &parameters).expect("it compiles");
        let mut series = Series::new(&mechanics, &*rule, &parameters, 4).expect("it compiles");
        let mut shadow = Shadow::windowed(3, 4);
        let mut cheap = Cheap::new(Field::new(&mechanics, &parameters).expect("it compiles"));
        let name = rule.name();
        assert_eq!(allocations(|| assert!(series.gradient(&z, h, &mut gradient).is_ok())), 0, "series of {name}");
        assert_eq!(allocations(|| assert!(shadow.at(&mut flow, &z, h).is_ok())), 0, "shadow of {name}");
        assert_eq!(allocations(|| assert!(cheap.at(&mut flow, &z, h).is_ok())), 0, "cheap, {name}");
    }
    let mut closed = Closed::new(&mechanics, Formula::Svc, &parameters).expect("it compiles");
    assert_eq!(allocations(|| assert!(closed.gradient(&z, h, &mut gradient).is_ok())), 0);
}

/// Full and partial steps of every flow allocate nothing.
#[test]
fn flows_do_not_allocate() {
    for name in ["cart-pendulum", "chain-3"] {
        let model = Model::from_text(name, find(name).expect("it ships").text, &[]).expect("it is right");
        let parameters: Vec<f64> = model.parameter_values().into_iter().map(|(_, value)| value).collect();
        let mechanics = Mechanics::new(&model.system);
        let start = model.start().expect("it starts");
        let (start, h) = (Phase::new(0.0, &start.q, &start.p), 0.02);
        for kind in registry(None) {
            let mut flow = kind.build(&mechanics, &parameters).expect("it compiles");
            let (mut z1, mut z2) = (start.clone(), start.clone());
            let count = allocations(|| {
                assert!(flow.step(&start, h, &mut z1).is_ok());
                assert!(flow.step(&z1, h, &mut z2).is_ok());
                assert!(flow.step(&z1, 0.3 * h, &mut z2).is_ok());
                assert!(!kind.is_symplectic || flow.discrete().is_some());
            });
            assert_eq!(count, 0, "{} on {name}", kind.name);
        }
    }
}

const BEAD: &str = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "9.81*y"
[[wall]]
phi = "y - x^2"
restitution = 0.5
[initial]
q = [0.5, 0.25]
v = [0, 0]
"#;

/// Steps on walls that hold the motion allocate nothing, and neither do their forces.
#[test]
fn held_motions_do_not_allocate() {
    let model = Model::from_text("bead", BEAD, &[]).expect("it is right");
    let plant = Expressions::new(&model.system, &[], &[]).expect("it compiles");
    let (start, h) = (Phase::new(0.0, &[0.5, 0.25], &[0.0, 0.0]), 0.02);
    for kind in registry(None).into_iter().filter(|kind| kind.is_symplectic) {
        let mut contact = plant.contact(&kind, &[0]).expect("it knows constraints");
        let (mut z1, mut z2) = (start.clone(), start.clone());
        let count = allocations(|| {
            let flow = contact.flow();
            assert!(flow.step(&start, h, &mut z1).is_ok());
            assert!(flow.step(&z1, h, &mut z2).is_ok());
            assert!(flow.step(&z1, 0.3 * h, &mut z2).is_ok());
            assert!(flow.discrete().is_some());
            assert!(contact.forces(&z2).is_ok());
        });
        assert_eq!(count, 0, "{}", kind.name);
    }
}

/// A bead that swings in a bowl: many steps allocate as often as few.
#[test]
fn steps_on_walls_that_hold_do_not_allocate() {
    let model = Model::from_text("bead", BEAD, &[]).expect("it is right");
    for method in ["svc+ctec", "gauss4+ctec", "galerkin4+ctec"] {
        let method = Method::named(method, None).expect("it is registered");
        let count = |until: f64| {
            let simulation = Simulation::new(&model, &method, 0.01, until).expect("it compiles");
            allocations(|| assert!(simulation.watch(&mut ()).expect("it runs").first_rest.is_some()))
        };
        assert_eq!(count(0.5), count(2.0), "{}", method.name);
    }
}

/// A longer run with a recorded trajectory allocates as often as a short one: room for its columns is made before it begins.
#[test]
fn recorded_steps_do_not_allocate() {
    for (name, method, short, long) in [("cart-pendulum", "gauss6+ctec", 0.3, 0.6), ("four-bar", "svc", 0.05, 0.2)] {
        let simulation = carom::Model::load(name).expect("it ships").simulation().method(method).step(0.005);
        let count = |until: f64| {
            let simulation = simulation.clone().until(until);
            // A first run compiles, and makes the working memory that later runs use again.
            simulation.run().expect("it runs");
            allocations(|| assert!(simulation.run().expect("it runs").t().len() > 5))
        };
        let (few, many) = (count(short), count(long));
        assert_eq!(few, many, "{name} with {method}");
    }
}

/// A longer run of the projected principle, with more impacts, allocates as often as a short one.
#[test]
fn projected_steps_do_not_allocate() {
    let model = Model::from_text("bar", find("bar").expect("it ships").text, &[]).expect("it is right");
    let method = Method::named("php", None).expect("it is registered");
    let count = |until: f64| {
        let simulation = Simulation::new(&model, &method, 0.004, until).expect("it compiles");
        allocations(|| assert!(simulation.watch(&mut ()).expect("it runs").impacts > 0))
    };
    assert_eq!(count(0.5), count(2.0));
}

/// Looking for the crossings of a section that is never crossed allocates nothing, whether steps leave a polynomial or not.
#[test]
fn sections_do_not_allocate() {
    let text =
        format!("{}\n[[section]]\nname = \"far\"\ng = \"theta - 100\"\n", find("pendulum").expect("it ships").text);
    let model = Model::from_text("pendulum", &text, &[]).expect("it is right");
    for method in ["svc+ctec", "gauss4+ctec"] {
        let method = Method::named(method, None).expect("it is registered");
        let count = |until: f64| {
            let simulation = Simulation::new(&model, &method, 0.01, until).expect("it compiles");
            allocations(|| assert!(simulation.watch(&mut ()).expect("it runs").steps > 10))
        };
        let (few, many) = (count(0.3), count(0.6));
        assert!(many <= few, "{}: {few} in 30 steps, {many} in 60", method.name);
    }
}
