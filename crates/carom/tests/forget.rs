//! The table of expressions is emptied only when nobody needs it. One test, alone in its process: leases are counted for all threads.

use carom::Model;
use carom::lab::expr::{Expr, forget_all, table_size};

fn end(model: &Model) -> Vec<f64> {
    model.simulation().method("cva").step(0.01).until(1.0).run().expect("it runs").state().z.z.clone()
}

#[test]
fn what_is_in_use_is_not_forgotten() {
    let model = Model::load("double-pendulum").expect("it is shipped");
    let first = end(&model);
    assert!(!forget_all(), "a model is alive");
    let simulation = model.simulation();
    drop(model);
    assert!(!forget_all(), "a simulation is alive");
    let scheme = simulation.method("cva").compiled_scheme().expect("it compiles");
    assert!(!forget_all(), "compiled equations are alive");
    drop(scheme);
    let stale = Expr::symbol("x").sin();
    assert!(table_size() > 0 && forget_all() && table_size() == 0);
    // A stale handle is an error, and never another expression.
    let other = Expr::symbol("y").cos();
    assert_ne!(stale, other);
    assert!(std::panic::catch_unwind(|| stale.node()).is_err());
    // All goes on as before.
    let model = Model::load("double-pendulum").expect("it is shipped");
    assert_eq!(end(&model), first);
    assert!(!forget_all());
    drop(model);
    assert!(forget_all());
}
