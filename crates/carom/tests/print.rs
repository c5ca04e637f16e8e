//! Expressions as a person would write them.

mod systems;

use carom::expr::print::Notation;
use carom::expr::tidy::tidy;
use systems::*;

#[test]
fn look() {
    for (name, system) in [
        ("pendulum", pendulum()),
        ("point", point_mass()),
        ("double", double_pendulum()),
        ("cart", cart_pendulum()),
        ("bar", bar()),
        ("chain3", chain(3)),
        ("chain5", chain(5)),
        ("chain10", chain(10)),
    ] {
        let n = Notation::new(
            system.parameters.iter().map(|p| p.name.as_str()),
            system.coordinates.iter().map(|p| p.name.as_str()),
        );
        let (t, v) = system.lagrangian.parts.unwrap();
        println!("== {name}");
        let clock = std::time::Instant::now();
        let t = tidy(t, &n);
        println!("T = {}", t.to_text(&n));
        println!("V = {}", tidy(v, &n).to_text(&n));
        println!("L = {}", tidy(system.lagrangian.l, &n).to_text(&n));
        println!("{:?}", clock.elapsed());
        println!("{}", tidy(system.lagrangian.l, &n).to_latex(&n));
    }
}
