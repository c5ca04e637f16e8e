//! Mechanics on paper.

mod systems;

use carom::derive::derive;
use systems::*;

#[test]
fn look() {
    for (name, system) in [
        ("Pendulum", pendulum()),
        ("Point mass", point_mass()),
        ("Double pendulum", double_pendulum()),
        ("Cart-pendulum", cart_pendulum()),
        ("Bar", bar()),
        ("Driven", driven()),
        ("Shaking table", moving_wall()),
        ("Relativistic", relativistic()),
        ("Constrained", constrained()),
        ("Chain of 3", chain(3)),
        ("Chain of 5", chain(5)),
        ("Chain of 10", chain(10)),
    ] {
        let clock = std::time::Instant::now();
        let d = derive(&system, name);
        let elapsed = clock.elapsed();
        println!("{}\n{elapsed:?}\n", d.to_text());
        std::fs::write(format!("/tmp/d-{name}.html"), d.to_html()).unwrap();
        std::fs::write(format!("/tmp/d-{name}.tex"), d.to_latex()).unwrap();
    }
}
