//! Functions of outputs, at each node of a motion that passes through their jumps.

use carom::Model;

/// x = t − 1 at nodes that are exact in binary, so that x = 0 at one of them.
const MODEL: &str = r#"
coordinates = ["x"]
[lagrangian]
T = "x'^2/2"
[outputs]
signum = "sign(x)"
whole = "floor(2*x)"
below = "if(x < 0, 1, 2)"
not_above = "if(x <= 0, 1, 2)"
above = "if(x > 0, 1, 2)"
not_below = "if(x >= 0, 1, 2)"
equal = "if(x == 0, 1, 2)"
unequal = "if(x != 0, 1, 2)"
root = "if(x > 0, sqrt(x), 0)"
inverse = "if(x != 0, 1/x, 7)"
nested = "if(x > -0.5, if(x > 0.5, 3, 2), 1)"
least = "min(x, x', 0.25)"
most = "max(x, 0.25, -x)"
length = "hypot(3*x, 4*x)"
angle = "180*deg*x"
[initial]
q = [-1]
v = [1]
[run]
until = 2
step = 0.25
method = "svc"
"#;

/// A branch that is not taken may be NaN or infinite; at a tie `sign` is 0 and only `<=`, `>=` and `==` hold.
#[test]
fn outputs_have_jumps_and_branches() {
    let model = Model::from_text("jumps.toml", MODEL, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run = model.simulate().unwrap_or_else(|error| panic!("{error}"));
    let choose = |holds: bool| if holds { 1.0 } else { 2.0 };
    let x = run.q("x").expect("known");
    assert_eq!((x.len(), x[4]), (9, 0.0));
    for (k, &x) in x.iter().enumerate() {
        let due = [
            ("signum", if x == 0.0 { 0.0 } else { x.signum() }),
            ("whole", (2.0 * x).floor()),
            ("below", choose(x < 0.0)),
            ("not_above", choose(x <= 0.0)),
            ("above", choose(x > 0.0)),
            ("not_below", choose(x >= 0.0)),
            ("equal", choose(x == 0.0)),
            ("unequal", choose(x != 0.0)),
            ("root", x.max(0.0).sqrt()),
            ("inverse", if x == 0.0 { 7.0 } else { 1.0 / x }),
            ("nested", if x > 0.5 { 3.0 } else { choose(x <= -0.5) }),
            ("least", x.min(0.25)),
            ("most", x.abs().max(0.25)),
            ("length", 5.0 * x.abs()),
            ("angle", std::f64::consts::PI * x),
        ];
        for (name, due) in due {
            let found = run.output(name).unwrap_or_else(|error| panic!("{error}"))[k];
            assert!((found - due).abs() <= 1e-15 * due.abs(), "{name} at x = {x}: {found}, due {due}");
        }
    }
}
