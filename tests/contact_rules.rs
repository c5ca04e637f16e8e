//! The law of impact, [p] = λφ_q and φ̇⁺ = −eφ̇⁻, for every rule, with e < 1, moving walls and forces: either it holds, or the
//! rule refuses the model by name.

use carom::lab::expr::Expr;
use carom::lab::impact;
use carom::lab::method::Method;
use carom::lab::model::{Builder, Model};
use carom::lab::simulation::Simulation;
use carom_tests::motion::{model, off_the_law, run};

/// A particle over a wavy floor that may move, with a mass that depends on the place.
const TEXT: &str = r#"
    coordinates = ["x", "y"]
    [parameters]
    e = 1.0
    a = 0.0
    c = 0.0
    [lagrangian]
    T = "(1 + 0.2*y^2)*x'^2/2 + y'^2/2 + 0.1*x'*y'"
    V = "9.81*y + x^2/2"
    [[wall]]
    name = "floor"
    phi = "y - 0.1*sin(2*x) - MOVES"
    restitution = "e"
    [forces]
    x = "FORCE"
    [initial]
    q = [0.3, 0.5]
    v = [0.8, 0]
"#;

struct Case {
    what: &'static str,
    settings: &'static [&'static str],
    moves: bool,
    forced: bool,
}

const CASES: [Case; 7] = [
    Case { what: "e = 1", settings: &[], moves: false, forced: false },
    Case { what: "e = 0.7", settings: &["e=0.7"], moves: false, forced: false },
    Case { what: "e = 0", settings: &["e=0"], moves: false, forced: false },
    Case { what: "moving", settings: &[], moves: true, forced: false },
    Case { what: "moving, e = 0.7", settings: &["e=0.7"], moves: true, forced: false },
    Case { what: "forces", settings: &[], moves: false, forced: true },
    Case { what: "forces, moving, e = 0.7", settings: &["e=0.7"], moves: true, forced: true },
];

fn case_model(case: &Case) -> Model {
    let text = TEXT.replace("MOVES", if case.moves { "0.05*sin(4*t)" } else { "0" });
    model(&text.replace("FORCE", if case.forced { "-0.4*x' + 0.3*cos(3*t)" } else { "0" }), case.settings)
}

/// The largest deviations from the law over the first impacts.
fn deviation(model: &Model, method: &str, step: f64, count: usize) -> [f64; 2] {
    let motion = run(model, method, step, 1.3);
    let first = &motion.impacts[..motion.impacts.len().min(count)];
    assert!(!first.is_empty(), "{method}: no impact");
    first.iter().map(|impact| off_the_law(model, impact)).fold([0.0; 2], |[a, b], [x, y]| [a + x, b + y])
}

#[test]
fn every_rule_keeps_the_law_or_refuses_by_name() {
    for rule in impact::registry() {
        for case in &CASES {
            let model = case_model(case);
            let name = format!("svc+{}", rule.name);
            let method = Method::named(&name, None).expect("it is registered");
            let built = Simulation::new(&model, &method, 0.01, 1.0);
            if case.forced && rule.name != "ctec" {
                let text = built.err().unwrap_or_else(|| panic!("{name} takes {}", case.what)).to_string();
                let start = format!("error: the rule `{}` cannot be used: forces act on the system", rule.name);
                assert!(text.starts_with(&start), "{text}");
                continue;
            }
            built.unwrap_or_else(|error| panic!("{name} with {}: {error}", case.what));
            // With e = 0 what follows is rest.
            let count = if case.what == "e = 0" { 1 } else { 2 };
            let [jump, coarse] = deviation(&model, &name, 0.02, count);
            let [_, fine] = deviation(&model, &name, 0.0025, count);
            println!(
                "{name:<12} {:<26} [p] {jump:.1e}, φ̇ {coarse:.1e}, {fine:.1e} with an eighth of the step",
                case.what
            );
            assert!(jump < 1e-13, "{name} with {}: {jump:e}", case.what);
            // Rules that match another energy are as far from the law as that energy is from H: O(h²).
            let (bound, fine_bound) = if rule.name == "ctec" { (1e-13, 1e-13) } else { (2e-2, 3e-4) };
            assert!(coarse < bound && fine < fine_bound, "{name} with {}: {coarse:e}, {fine:e}", case.what);
        }
    }
}

/// With a driven coordinate the Lagrangian contains the time.
#[test]
fn rules_that_need_a_hamiltonian_refuse_a_driven_one() {
    let text = r#"
        coordinates = ["s", "theta"]
        [lagrangian]
        T = "(s'^2 + theta'^2)/2 + s'*theta'*cos(theta)"
        V = "-9.8*cos(theta)"
        [prescribed]
        s = "0.1*sin(5*t)"
        [[wall]]
        phi = "theta"
        [initial]
        q = [0, 1]
        v = [0.5, 0]
    "#;
    let model = model(text, &[]);
    for rule in impact::registry() {
        let method = Method::named(&format!("svc+{}", rule.name), None).expect("it is registered");
        match (rule.name, Simulation::new(&model, &method, 0.01, 1.0)) {
            ("ctec", built) => assert!(built.is_ok()),
            (name, Ok(_)) => panic!("{name} takes a Lagrangian with the time"),
            (name, Err(error)) => {
                let text = error.to_string();
                let start = format!("error: the rule `{name}` cannot be used: the Lagrangian depends on the time");
                assert!(text.starts_with(&start), "{text}");
            }
        }
    }
}

#[test]
fn a_built_model_is_checked_as_a_written_one() {
    let built = |e: f64, relativistic: bool| {
        let mut b = Builder::new("particle");
        let y = b.coordinate("y").expect("new");
        let t = if relativistic { -(1.0 - y.v.squared()).sqrt() } else { 0.5 * y.v.squared() };
        b.lagrangian(t - y.q);
        b.wall_with_restitution("floor", y.q, Expr::constant(e));
        b.start_with_velocity(&[1.0], &[0.0]);
        b.build().expect("it is right").start().map_err(|error| error.to_string())
    };
    for e in [1.5, -0.1, f64::NAN, f64::INFINITY] {
        let text = built(e, false).expect_err("it is refused");
        assert!(text.contains("the restitution of the wall `floor` must be from 0 to 1"), "{text}");
    }
    assert!(built(0.5, false).is_ok() && built(1.0, true).is_ok());
    let text = built(0.5, true).expect_err("it is refused");
    assert!(text.contains("a restitution below 1 needs a Lagrangian that is quadratic in the velocities"), "{text}");
}
