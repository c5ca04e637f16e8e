//! Steps by one compiled function against steps whose parts are interpreted.
#![cfg(feature = "jit")]

use carom::lab::catalogue;
use carom::lab::discrete::{DiscreteLagrangian, Svc, registry};
use carom::lab::expr::Expr;
use carom::lab::flow::Variational;
use carom::lab::kernel::{Backend, Compiler, NewtonKernel, NewtonProblem, NewtonStatus};
use carom::lab::mechanics::Mechanics;
use carom::lab::mechanics::Newton;
use carom::lab::model::Model;
use carom::lab::phase::{Flow, Phase};
use carom::lab::solve::NoSolution;
use proptest::prelude::*;

/// The same map by native code and by the interpreter, and where the model starts.
fn both(example: &str, rule: &dyn DiscreteLagrangian) -> ([Variational; 2], Phase) {
    let text = catalogue::find(example).expect("it ships").text;
    let model = Model::from_text(example, text, &[]).expect("shipped models are right");
    let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
    let start = model.start().expect("shipped models start");
    let free = model.system.free();
    let pick = |all: &[f64]| free.iter().map(|&i| all[i]).collect::<Vec<f64>>();
    let maps = [Backend::Jit, Backend::Interpreter].map(|backend| {
        let mechanics = Mechanics { backend, ..Mechanics::new(&model.system) };
        Variational::new(&mechanics, rule, &parameters).expect("shipped models compile")
    });
    (maps, Phase::new(0.0, &pick(&start.q), &pick(&start.p)))
}

/// The largest difference, relative to the largest number where that is above 1.
fn distance(a: &Phase, b: &Phase) -> f64 {
    let scale = a.z.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    a.z.iter().zip(&b.z).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs())) / scale
}

/// Some steps one after the other from a state near the start: the first ones from a velocity, then from the past.
#[test]
fn compiled_steps_are_interpreted_steps() {
    let systems = ["pendulum", "cart-pendulum", "double-pendulum", "driven-double-pendulum", "wavy-floor", "chain-3"];
    for example in systems {
        for rule in registry(0.5) {
            let (maps, start) = both(example, &*rule);
            let states = prop::collection::vec(-0.5..0.5, start.z.len());
            proptest!(ProptestConfig::with_cases(12), |(shift in states, h in prop_oneof![0.002..0.05, -0.02..-0.002])| {
                let [mut compiled, mut interpreted] = maps.clone();
                let z = start.z.iter().zip(&shift).map(|(z, shift)| z + shift).collect();
                let mut a = [Phase { t: 0.3, z: Vec::clone(&z) }, Phase { t: 0.3, z }];
                let mut b = a.clone();
                for step in 0..12 {
                    let [(from_a, to_a), (from_b, to_b)] = [&mut a, &mut b].map(|z| {
                        z.swap(0, 1);
                        let [to, from] = z;
                        (&*from, to)
                    });
                    let ended = (compiled.step(from_a, h, to_a), interpreted.step(from_b, h, to_b));
                    prop_assert_eq!(ended.0, ended.1, "{} of {}, step {}, h = {}", rule.name(), example, step, h);
                    if ended.0.is_err() {
                        break;
                    }
                    let error = distance(to_a, to_b);
                    prop_assert!(error < 1e-12, "{} of {example}, step {step}: {error:e}", rule.name());
                }
            });
        }
    }
}

/// Roundoff is all that the two ways differ by, also after a million steps of a regular motion.
#[test]
fn a_million_compiled_steps_are_interpreted_steps() {
    let (maps, start) = both("pendulum", &Svc);
    let [a, b] = maps.map(|mut map| {
        let (mut z, mut next) = (start.clone(), start.clone());
        for _ in 0..1_000_000 {
            map.step(&z, 0.01, &mut next).expect("the step has a solution");
            std::mem::swap(&mut z, &mut next);
        }
        z
    });
    let error = distance(&a, &b);
    assert!(error < 1e-9, "{error:e}");
}

/// Newton's method by each way of running it, for equations without a system.
fn newtons(given: &[Expr], unknowns: &[Expr], residuals: &[Expr]) -> [Newton; 2] {
    [Backend::Jit, Backend::Interpreter].map(|backend| {
        let empty = Vec::new;
        let mechanics = Mechanics {
            parameters: empty(),
            q: empty(),
            v: empty(),
            l: Expr::constant(0.0),
            forces: None,
            function: None,
            walls: empty(),
            constraints: Vec::new(),
            stated: 0,
            backend,
            lease: Default::default(),
            derived: Default::default(),
        };
        Newton::new(&mechanics, given, unknowns, residuals, &[]).expect("all symbols are inputs")
    })
}

/// Copies share L_vv; one with another L has its own.
#[test]
fn a_copy_with_another_lagrangian_has_another_mass() {
    let text = "coordinates = [\"x\"]\n[lagrangian]\nT = \"3*x'^2/2\"";
    let model = Model::from_text("ball", text, &[]).expect("it is right");
    let ball = Mechanics::new(&model.system);
    assert_eq!(ball.mass()[0][0], Expr::constant(3.0));
    let heavy = Mechanics { l: 2.0 * ball.l, ..ball.clone() };
    assert_eq!(heavy.mass()[0][0], Expr::constant(6.0));
    assert_eq!(ball.clone().mass()[0][0], Expr::constant(3.0));
}

#[test]
fn what_is_no_number_is_no_solution() {
    let (a, x) = (Expr::symbol("a"), ["x", "y", "z"].map(Expr::symbol));
    for place in 0..x.len() {
        let residuals: Vec<Expr> =
            (0..x.len()).map(|i| x[i] - if i == place { a } else { Expr::constant(1.0) }).collect();
        for mut newton in newtons(&[a], &x, &residuals) {
            for (a, expected) in
                [(f64::NAN, Err(NoSolution::Diverged)), (f64::INFINITY, Err(NoSolution::Diverged)), (2.0, Ok(()))]
            {
                assert_eq!(newton.solve(&mut [a, 0.5, 0.5, 0.5], &mut []), expected, "unknown {place} = {a}");
            }
        }
    }
}

/// From 9.2e-5 beside √2 the second correction is 3e-9: too large beside √2, whatever other unknowns there are.
#[test]
fn all_ways_stop_at_the_same_correction() {
    let x: Vec<Expr> = (0..8).map(|i| Expr::symbol(&format!("x{i}"))).collect();
    let residuals: Vec<Expr> =
        x.iter().enumerate().map(|(i, &x)| if i == 0 { x.squared() - 2.0 } else { x - 1.0 }).collect();
    // In parts, the residual after the second correction is found to be roundoff.
    for (mut newton, iterations) in newtons(&[], &x, &residuals).into_iter().zip([3, 2]) {
        let mut inputs = [1.0; 8];
        inputs[0] = 2f64.sqrt() + 9.2e-5;
        assert_eq!(newton.solve(&mut inputs, &mut []), Ok(()));
        assert_eq!(newton.iterations(), iterations);
        assert!((inputs[0] - 2f64.sqrt()).abs() <= f64::EPSILON, "{}", inputs[0]);
    }
}

/// A problem by each compiler that makes code for this machine.
fn compiled(problem: &NewtonProblem) -> Vec<(Compiler, NewtonKernel)> {
    let make = |compiler: Compiler| (compiler, compiler.within(|| NewtonKernel::new(problem)).expect("it compiles"));
    Compiler::all().into_iter().map(make).collect()
}

#[test]
fn nothing_is_solved_that_has_no_solution() {
    let [x, y] = ["x", "y"].map(Expr::symbol);
    let cases: [(&[Expr], &[Expr], NewtonStatus); 6] = [
        (&[x], &[x.squared() + 1.0], NewtonStatus::Unfinished),
        (&[x], &[x.squared() - 2.0], NewtonStatus::Solved),
        (&[x], &[x - x + 1.0], NewtonStatus::Singular),
        (&[x], &[(x - 1e9).sqrt()], NewtonStatus::Singular),
        (&[x, y], &[x + y, 2.0 * x + 2.0 * y - 1.0], NewtonStatus::Singular),
        (&[x, y], &[1e-170 * (x + y), 1e-170 * (x - y)], NewtonStatus::Solved),
    ];
    for (unknowns, residuals, expected) in cases {
        for (compiler, kernel) in compiled(&NewtonProblem { unknowns, residuals, ..NewtonProblem::default() }) {
            let mut inputs = vec![0.7; unknowns.len()];
            assert_eq!(kernel.solve(&mut inputs, &mut []).0, expected, "{residuals:?} by {compiler:?}");
            if matches!(expected, NewtonStatus::Singular | NewtonStatus::Diverged) {
                assert!(inputs.iter().all(|&x| x == 0.7), "the guess is kept");
            }
        }
    }
}

/// Linear equations A·x = b, solved exactly by one iteration, whatever the order and scale of their rows.
#[test]
fn rows_are_exchanged_where_they_must_be() {
    for n in 1..=8 {
        let symbols = |name: &str, count: usize| -> Vec<Expr> {
            (0..count).map(|i| Expr::symbol(&format!("{name}{i}"))).collect()
        };
        let (a, b, x) = (symbols("a", n * n), symbols("b", n), symbols("x", n));
        let row = |i: usize| (0..n).map(|j| a[i * n + j] * x[j]).sum::<Expr>() - b[i];
        let residuals: Vec<Expr> = (0..n).map(row).collect();
        let given = [a.clone(), b.clone()].concat();
        let problem = NewtonProblem { given: &given, unknowns: &x, residuals: &residuals, ..NewtonProblem::default() };
        let kernels = compiled(&problem);
        for (shift, (compiler, kernel)) in (0..n).flat_map(|shift| kernels.iter().map(move |kernel| (shift, kernel))) {
            // A cyclic permutation with a small full matrix added: without pivoting it begins with a tiny pivot.
            let entry = |i: usize, j: usize| {
                let small = 1e-9 * (1.0 + (3 * i + 5 * j) as f64 % 7.0);
                small + if (i + shift) % n == j { 1.0 + i as f64 } else { 0.0 }
            };
            let matrix: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
            let solution: Vec<f64> = (0..n).map(|j| 1.0 + j as f64).collect();
            let right = |i: usize| (0..n).map(|j| matrix[i * n + j] * solution[j]).sum::<f64>();
            let mut inputs: Vec<f64> = matrix.iter().copied().chain((0..n).map(right)).collect();
            inputs.resize(n * n + 2 * n, 0.0);
            assert_eq!(
                kernel.solve(&mut inputs, &mut []).0,
                NewtonStatus::Solved,
                "n = {n}, shift {shift}, {compiler:?}"
            );
            for (x, expected) in inputs[n * n + n..].iter().zip(&solution) {
                assert!((x - expected).abs() < 1e-13 * n as f64, "n = {n}, shift {shift}: {x}, not {expected}");
            }
        }
    }
}

#[test]
fn what_is_carried_is_replaced_by_its_next_value() {
    let [c, x] = ["c", "x"].map(Expr::symbol);
    let problem = NewtonProblem {
        carried: &[c],
        unknowns: &[x],
        residuals: &[x - 2.0 * c],
        results: &[x + c],
        next: &[x.squared()],
        ..NewtonProblem::default()
    };
    for (compiler, kernel) in compiled(&problem) {
        let (mut inputs, mut results) = ([3.0, 0.0], [0.0]);
        assert_eq!(kernel.solve(&mut inputs, &mut results).0, NewtonStatus::Solved, "{compiler:?}");
        assert_eq!((inputs, results), ([36.0, 6.0], [9.0]), "{compiler:?}");
    }
}

/// What is carried may be read after other carried inputs have been replaced, and may change places.
#[test]
fn carried_inputs_change_places() {
    let [c, d, x] = ["c", "d", "x"].map(Expr::symbol);
    let problem = NewtonProblem {
        carried: &[c, d],
        unknowns: &[x],
        residuals: &[x - c.exp() - d],
        results: &[c - d],
        next: &[d, c],
        ..NewtonProblem::default()
    };
    for (compiler, kernel) in compiled(&problem) {
        let (mut inputs, mut results) = ([0.0, 5.0, 1.0], [0.0]);
        assert_eq!(kernel.solve(&mut inputs, &mut results).0, NewtonStatus::Solved, "{compiler:?}");
        assert_eq!((inputs, results), ([5.0, 0.0, 6.0], [-5.0]), "{compiler:?}");
    }
}
