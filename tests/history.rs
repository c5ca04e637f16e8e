//! A motion does not depend on what the process did before. One test, alone in its process: it empties the table of expressions.
//!
//! Expressions live in one table for the process. If their order depended on the numbers of nodes, roundoff would depend on which
//! models were read, derived and compiled before.

use std::collections::HashMap;

use carom::lab::expr::{Expr, ExprNode, Func, Op, forget_all, table_size, with_arena};
use carom::{EXAMPLES, Model};

/// What an expression is made of, without handles: operands are places in the list.
enum Part {
    Number(f64),
    Pi,
    Name(String),
    Unary(Func, usize),
    Binary(Op, usize, usize),
}

fn parts(fs: &[Expr]) -> Vec<Part> {
    with_arena(|a| {
        let order = a.reachable(fs);
        let place: HashMap<Expr, usize> = order.iter().enumerate().map(|(at, &e)| (e, at)).collect();
        let part = |&e: &Expr| match a.node(e) {
            ExprNode::Const(c) => Part::Number(c),
            ExprNode::Pi => Part::Pi,
            ExprNode::Symbol(s) => Part::Name(a.name(s).to_string()),
            ExprNode::Unary(f, x) => Part::Unary(f, place[&x]),
            ExprNode::Binary(op, x, y) => Part::Binary(op, place[&x], place[&y]),
        };
        order.iter().map(part).collect()
    })
}

/// Makes all parts again, symbols from last to first, sums and products with their operands swapped: numbers of nodes are then in
/// another order than those that reading the model gives.
fn make_backwards(parts: &[Part]) {
    for part in parts.iter().rev() {
        if let Part::Name(name) = part {
            Expr::symbol(name);
        }
    }
    let mut made: Vec<Expr> = Vec::new();
    for part in parts {
        made.push(match *part {
            Part::Number(c) => Expr::constant(c),
            Part::Pi => Expr::pi(),
            Part::Name(ref name) => Expr::symbol(name),
            Part::Unary(f, x) => made[x].apply(f),
            Part::Binary(op @ (Op::Add | Op::Mul), x, y) => made[y].combine(op, made[x]),
            Part::Binary(op, x, y) => made[x].combine(op, made[y]),
        });
    }
}

fn mechanics(model: &Model) -> Vec<Expr> {
    let system = &model.system;
    let walls = system.walls.iter().map(|wall| wall.phi);
    let constraints = system.constraints.iter().map(|constraint| constraint.g);
    [system.lagrangian.l].into_iter().chain(walls).chain(constraints).chain(system.forces.iter().copied()).collect()
}

/// What a model tells: its fingerprint, its formulas if they are short, and a run. Numbers are written with all of their bits.
fn told(name: &str) -> ([(&'static str, String); 3], Model) {
    let model = Model::load(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let until = model.run.until.unwrap_or(1.0).min(0.5);
    let simulation = model.simulation().until(until);
    let simulation = if model.run.step.is_none() { simulation.step(until / 50.0) } else { simulation };
    let run = simulation.run().unwrap_or_else(|error| panic!("{name}: {error}"));
    let motion = format!("{:?}\n{:?}\n{:?}\n{:?}", run.state(), run.impacts(), run.energy(), run.account());
    let is_small = model.system.coordinates.len() <= 3;
    let formulas = if is_small { carom::derive(&model.system, "").to_text() } else { String::new() };
    ([("fingerprint", model.mechanics_hash()), ("motion", motion), ("formulas", formulas)], model)
}

#[test]
fn a_motion_does_not_depend_on_what_was_made_before() {
    // Each model in an empty table, as in a process of its own.
    let mut alone = Vec::new();
    for example in EXAMPLES {
        let (expected, model) = told(example.name);
        alone.push((example.name, expected, parts(&mechanics(&model))));
        drop(model);
        assert!(forget_all() && table_size() == 0);
    }
    let mut changed: Vec<String> = Vec::new();
    let mut compare = |name: &str, expected: &[(&str, String)], when: String| {
        let (found, model) = told(name);
        let differ = expected.iter().zip(&found).filter(|(a, b)| a.1 != b.1);
        changed.extend(differ.map(|(a, _)| format!("the {} of {name}, {when}", a.0)));
        model
    };
    // Each model after its own parts in another order.
    for (name, expected, parts) in &alone {
        make_backwards(parts);
        drop(compare(name, expected, "after its parts were made backwards".into()));
        assert!(forget_all());
    }
    // All models in one table, from last to first and from first to last; none is forgotten.
    let mut kept: Vec<Model> = Vec::new();
    for (name, expected, _) in alone.iter().rev().chain(&alone) {
        kept.push(compare(name, expected, format!("after {} other models", kept.len())));
    }
    assert!(changed.is_empty(), "{} changes:\n{}", changed.len(), changed.join("\n"));
}
