//! The shipped models with impacts keep what they promise. `CAROM_BOUNCES` and `CAROM_SECONDS` make the long ones longer.

use carom::lab::run::Status;
use carom_tests::motion::{lowest_gap, off_the_law, run, run_to_impacts, shipped};

/// A number from the environment.
fn setting(name: &str, otherwise: f64) -> f64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn the_ball_bounces_as_in_closed_form() {
    let model = shipped("bouncing-ball", &[]);
    for method in ["svc", "midpoint", "galerkin4", "suzuki4", "gauss6", "rk4"] {
        let motion = run(&model, method, 0.1, 8.5).completed();
        let first = motion.impacts[0].minus.t;
        assert!((first - 0.451_523_640_985_730_9).abs() < 4e-15, "{method}: first at {first}");
        assert_eq!(motion.impacts.len(), 44, "{method}");
        let height = motion.outcome.last.q[0];
        assert!((height - 5.565_551_0e-6).abs() < 5e-14, "{method}: {height:e}");
        // t₁(1 + 2e + 2e² + …)
        for (n, impact) in motion.impacts.iter().enumerate() {
            let e: f64 = 0.9;
            let due = first * (1.0 + 2.0 * e * (1.0 - e.powi(n as i32)) / (1.0 - e));
            assert!((impact.minus.t - due).abs() < 1e-12, "{method}: number {n} at {}", impact.minus.t);
        }
    }
}

#[test]
fn galperin_counts_the_digits_of_pi() {
    for (k, count) in [3, 31, 314, 3141].into_iter().enumerate() {
        let motion = run(&shipped("galperin", &[&format!("k={k}")]), "gauss2+ctec", 0.5, 8.0).completed();
        assert_eq!(motion.impacts.len(), count, "k = {k}");
        let v = &motion.outcome.last.v;
        assert!(0.0 <= v[0] && v[0] <= v[1], "k = {k}: more to come, {v:?}");
    }
}

#[test]
fn a_row_of_equal_balls_is_ten_balls_on_their_own() {
    let model = shipped("ball-row", &[]);
    let motion = run_to_impacts(&model, "gauss2+ctec", 0.1, 1e9, 1000);
    assert_eq!(motion.outcome.status, Status::Interrupted);
    assert!(motion.impacts.len() >= 1000);
    let (start, mut worst) = (motion.nodes[0].q.clone(), 0.0f64);
    for node in &motion.nodes {
        // From the top of its flight, which lasts 2√(2H/g).
        let alone = |height: f64| {
            let half = (2.0 * height / 9.81).sqrt();
            let since = (node.t + half).rem_euclid(2.0 * half) - half;
            height - 0.5 * 9.81 * since * since
        };
        let mut due: Vec<f64> = start.iter().map(|&height| alone(height)).collect();
        due.sort_by(f64::total_cmp);
        let off: f64 = node.q.iter().zip(&due).map(|(a, b)| (a - b).abs()).sum();
        worst = worst.max(off);
        assert!(off < 1e-9, "{off:e} at t = {}", node.t);
    }
    println!("{} impacts to t = {:.1}: {worst:.1e} off", motion.impacts.len(), motion.outcome.last.t);
}

#[test]
fn an_elliptic_billiard_keeps_its_product() {
    let bounces = setting("CAROM_BOUNCES", 10_000.0) as usize;
    let motion = run_to_impacts(&shipped("elliptic-billiard", &[]), "gauss2+ctec", 0.5, 1e9, bounces);
    assert!(motion.impacts.len() >= bounces);
    let first = motion.nodes[0].outputs[0];
    let off = |product: f64| ((product - first) / first).abs();
    let worst =
        motion.impacts.iter().map(|impact| off(impact.plus.outputs[0])).fold(0.0, |m, x| if x <= m { m } else { x });
    println!("{} bounces: {worst:.1e}", motion.impacts.len());
    assert!(worst < 1e-10, "{worst:e}");
}

#[test]
fn the_mean_free_path_of_a_sinai_billiard_is_known() {
    let bounces = setting("CAROM_BOUNCES", 40_000.0) as usize;
    let motion = run_to_impacts(&shipped("sinai-billiard", &[]), "gauss2+ctec", 0.25, 1e9, bounces);
    let count = motion.impacts.len();
    assert!(count >= bounces);
    // The speed is 1.
    let mean = motion.impacts[count - 1].minus.t / count as f64;
    let pi = std::f64::consts::PI;
    let due = pi * (4.0 - pi * 0.25) / (8.0 + pi);
    println!("{count} bounces: {mean:.6}, due {due:.6}");
    assert!((mean / due - 1.0).abs() < 0.01, "{mean} after {count} bounces, due {due}");
}

#[test]
fn a_jack_stays_in_its_box_with_its_energy() {
    let seconds = setting("CAROM_SECONDS", 30.0);
    let model = shipped("jack-in-a-box", &["A=0", "e=1"]);
    let motion = run(&model, "gauss6+ctec", 0.01, seconds).completed();
    let lowest = |low: f64, gap: f64| if gap >= low { low } else { gap };
    let gap = motion.nodes.iter().map(|node| lowest_gap(&model, node)).fold(f64::INFINITY, lowest);
    let at_impacts = motion.impacts.iter().map(|impact| lowest_gap(&model, &impact.plus)).fold(f64::INFINITY, lowest);
    let carom::Energy { initial, max_drift: drift, .. } = motion.outcome.energy;
    // The energy is zero at a height, not at rest: its scale is that of the potential in the box.
    let scale = initial.abs() + 9.81;
    println!(
        "{} impacts in {seconds} s: lowest gap {gap:.1e}, at impacts {at_impacts:.1e}, energy error {:.1e}",
        motion.impacts.len(),
        drift / scale
    );
    assert!(motion.impacts.len() as f64 > seconds, "only {} impacts", motion.impacts.len());
    assert!(gap > -1e-10 && at_impacts > -1e-10, "{gap:e}, {at_impacts:e}");
    assert!(drift < 1e-7 * scale, "{drift:e}");
    for impact in &motion.impacts {
        let [jump, rate] = off_the_law(&model, impact);
        assert!(jump < 1e-12 && rate < 1e-8, "at t = {}: {jump:e}, {rate:e}", impact.minus.t);
    }
}

#[test]
fn the_account_of_a_shaken_jack_closes() {
    let seconds = setting("CAROM_SECONDS", 20.0).min(100.0);
    let model = shipped("jack-in-a-box", &[]);
    let motion = run(&model, "gauss6+ctec", 0.005, seconds);
    let account = motion.outcome.account.expect("it is shaken");
    let turnover = account.work.abs() + account.impacts.abs();
    println!("{} impacts to t = {}: {account:?}", motion.impacts.len(), motion.outcome.last.t);
    assert_eq!(motion.outcome.status, Status::Completed);
    assert!(account.work > 1.0 && account.impacts < -1.0, "{account:?}");
    assert!(account.unexplained.abs() < 1e-8 * turnover, "{account:?}");
}

/// Jacks that rest now on one tip, now on two, and are thrown off again: none gets stuck, none gets out. The first start is
/// one where a wall lets go with a rate of a few ulps towards it.
#[test]
fn shaken_jacks_run_through() {
    let count = setting("CAROM_JACKS", 3.0) as usize;
    for k in 0..count {
        let speed = format!("initial.v[0]={}", 0.3055 + 0.0007 * k as f64);
        for (e, seconds) in [("e=0.8", 60.0), ("e=0.4", 10.0), ("e=0", 10.0)] {
            let model = shipped("jack-in-a-box", &[&speed, e]);
            let motion = run(&model, "gauss6+ctec", 0.02, seconds);
            assert_eq!(motion.outcome.status, Status::Completed, "{speed}, {e}");
            for node in &motion.nodes {
                let gap = lowest_gap(&model, node);
                assert!(gap > -1e-10, "{speed}, {e}: {gap:e} at t = {}", node.t);
            }
            let account = motion.outcome.account.expect("it is shaken");
            let turnover = account.work.abs() + account.impacts.abs();
            assert!(account.unexplained.abs() < 1e-8 * turnover, "{speed}, {e}: {account:?}");
        }
    }
}

/// Each model runs to its own end time with the default method.
#[test]
fn the_other_models_run_to_their_horizon() {
    let cases = [("floor-and-ceiling", 31), ("impact-oscillator", 11), ("newtons-cradle", 8)];
    for (name, impacts) in cases {
        let model = shipped(name, &[]);
        let until = model.run.until.expect("it has a horizon");
        let motion = run(&model, "gauss6+ctec", until / 200.0, until).completed();
        assert_eq!(motion.impacts.len(), impacts, "{name}");
        let gap = motion.nodes.iter().map(|node| lowest_gap(&model, node)).sum::<f64>();
        assert!(gap.is_finite() && motion.nodes.iter().all(|node| lowest_gap(&model, node) > -1e-10), "{name}");
    }
}
