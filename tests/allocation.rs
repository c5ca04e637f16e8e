//! What is evaluated at every node allocates nothing after its first use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use carom::catalogue::find;
use carom::constraint::{Active, LocalCode};
use carom::discrete;
use carom::flow::{Field, Phase, Variational, registry};
use carom::mechanics::Mechanics;
use carom::method::Method;
use carom::model::Model;
use carom::modified::{Cheap, Closed, Formula, ModifiedHamiltonian, Series, Shadow};
use carom::run::Simulation;

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

/// Neither full steps nor partial ones, of any flow.
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
                assert!(kind.name == "rk4" || flow.discrete().is_some());
            });
            assert_eq!(count, 0, "{} on {name}", kind.name);
        }
    }
}

/// Neither steps on walls that hold, nor their forces, nor velocities.
#[test]
fn held_motions_do_not_allocate() {
    let text = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"9.81*y\"\n[[wall]]\nphi = \"y - x^2\"\n\
                [initial]\nq = [0.5, 0.25]\nv = [0, 0]\n";
    let model = Model::from_text("bead", text, &[]).expect("it is right");
    let local = Arc::new(LocalCode::new(&Mechanics::new(&model.system)).expect("it compiles"));
    let (start, h) = (Phase::new(0.0, &[0.5, 0.25], &[0.0, 0.0]), 0.02);
    let (mut active, mut field) = (Active::new(&local, &[0], &[]), Field::held(&local, &[0], &[]));
    for kind in registry(None).into_iter().filter(|kind| kind.is_symplectic) {
        let code = Arc::new(kind.held_code(&local).expect("it knows constraints"));
        let mut flow = kind.held(&code, &[0], &[]);
        let (mut z1, mut z2) = (start.clone(), start.clone());
        let count = allocations(|| {
            assert!(flow.step(&start, h, &mut z1).is_ok());
            assert!(flow.step(&z1, h, &mut z2).is_ok());
            assert!(flow.step(&z1, 0.3 * h, &mut z2).is_ok());
            assert!(flow.discrete().is_some());
            assert!(active.project(&mut z2, &mut field).is_ok());
            let v = field.velocity(z2.t, &z2.z).expect("there is one");
            assert!(active.react(z2.t, z2.q(), v).is_ok());
        });
        assert_eq!(count, 0, "{}", kind.name);
    }
}

/// A bead that oscillates on a bowl: more steps allocate as often as few.
#[test]
fn steps_at_rest_do_not_allocate() {
    let text = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"9.81*y\"\n[[wall]]\nphi = \"y - x^2\"\n\
                restitution = 0.5\n[initial]\nq = [0.5, 0.25]\nv = [0, 0]\n";
    let model = Model::from_text("bead", text, &[]).expect("it is right");
    for method in ["svc+ctec", "gauss4+ctec", "galerkin4+ctec"] {
        let method = Method::named(method, None).expect("it is registered");
        let count = |until: f64| {
            let mut simulation = Simulation::new(&model, &method, 0.01, until).expect("it compiles");
            allocations(|| assert!(simulation.run(&mut ()).expect("it runs").first_rest.is_some()))
        };
        assert_eq!(count(0.5), count(2.0), "{}", method.name);
    }
}

/// A longer run of the projected principle, with more impacts, allocates as often as a short one.
#[test]
fn projected_steps_do_not_allocate() {
    let model = Model::from_text("bar", find("bar").expect("it ships").text, &[]).expect("it is right");
    let method = Method::named("php", None).expect("it is registered");
    let count = |until: f64| {
        let mut simulation = Simulation::new(&model, &method, 0.004, until).expect("it compiles");
        allocations(|| assert!(simulation.run(&mut ()).expect("it runs").impacts > 0))
    };
    assert_eq!(count(0.5), count(2.0));
}
