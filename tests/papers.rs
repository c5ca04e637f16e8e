//! The claims of the papers about their figures and tables against our findings. `carom paper` prints the same numbers.

use carom::lab::catalogue::find;
use carom::lab::compare::{ComparisonPlan, Recorded, compare};
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::simulation::Simulation;
use carom_papers::{Finding, REGISTRY, Verdict, named};
use serde_json::Value;

fn compute(id: &str) -> Finding {
    named(id).expect("it is registered").compute(&mut |_| {}).expect("it runs")
}

/// The number of that name is `expected`, to within a factor of 1 + `tolerance`.
fn assert_number(finding: &Finding, name: &str, expected: f64, tolerance: f64) {
    let found = finding.number(name).unwrap_or_else(|| panic!("there is no `{name}`"));
    let ratio = found / expected;
    let most = 1.0 + tolerance;
    assert!((1.0 / most..=most).contains(&ratio), "{name}: {found:e}, expected {expected:e}");
}

fn assert_at_most(finding: &Finding, name: &str, bound: f64) {
    let found = finding.number(name).unwrap_or_else(|| panic!("there is no `{name}`"));
    assert!(found <= bound, "{name}: {found:e}, expected at most {bound:e}");
}

/// The printed H̃ belongs to another integrator, which the slope reveals.
#[test]
fn bea_fig1_spikes_are_there_but_not_for_the_reason_given() {
    let finding = compute("bea-fig1");
    assert_eq!(finding.verdict, Verdict::Partly, "{}", finding.finding);
    for side in ["left", "right"] {
        assert_number(&finding, &format!("{side}: slope in h of H̃ as printed"), 2.0, 0.05);
        assert_number(&finding, &format!("{side}: slope in h of H̃ of svc"), 4.0, 0.05);
    }
    assert_at_most(&finding, "right: range of H̃ windowed", 0.01);
}

#[test]
fn bea_fig2_mhc_is_best_and_better_still_with_the_right_hamiltonian() {
    let finding = compute("bea-fig2");
    // With DTEC impacts 1, 2 and 4 do not jump further than 3 and 5, so that spikes are not the cause of its drift.
    assert_eq!(finding.verdict, Verdict::Partly, "{}", finding.finding);
    assert_at_most(&finding, "impacts 1, 2, 4 against 3, 5 of DTEC", 1.0);
    assert_number(&finding, "largest jump of CTEC", 0.57, 0.01);
    assert_number(&finding, "largest jump of DTEC", 0.38, 0.01);
    assert_number(&finding, "largest jump of MHC as printed", 0.12, 0.05);
    assert_at_most(&finding, "largest jump of MHC", 0.006);
    for (rule, slope) in [("CTEC", 2.0), ("DTEC", 2.0), ("MHC as printed", 2.0), ("MHC", 4.0)] {
        assert_number(&finding, &format!("slope of the jump of {rule}"), slope, 0.12);
    }
    assert_number(&finding, "median of CTEC / MHC as printed, T = 5", 3.9, 0.02);
    assert_number(&finding, "median of CTEC / MHC as printed, T = 8", 5.1, 0.02);
}

#[test]
fn dlm_fig1_an_impact_can_change_the_energy_by_five_per_cent() {
    let finding = compute("dlm-fig1");
    // From other starts, not from BEA's; the paper's own is not printed.
    assert_eq!(finding.verdict, Verdict::Partly, "{}", finding.finding);
    assert!(finding.number("turned starts whose first jump exceeds 5 %").is_some_and(|count| count > 0.0));
    assert_number(&finding, "largest jump from BEA's start, relative", 0.57 / 17.3426, 0.01);
}

#[test]
fn dlm_fig3_both_methods_keep_their_truncated_hamiltonian() {
    let finding = compute("dlm-fig3");
    assert_eq!(finding.verdict, Verdict::Holds, "{}", finding.finding);
    assert_at_most(&finding, "mcvaa: range of H̃", 3e-6);
}

/// MCVAA is best of the four everywhere; CVA on the same flow is as good, and a flow of order 8 far better.
#[test]
fn dlm_fig4_the_flow_decides_and_not_the_rule() {
    let finding = compute("dlm-fig4");
    assert_eq!(finding.verdict, Verdict::Holds, "{}", finding.finding);
    assert_number(&finding, "median of cva, h = 0.032", 0.90, 0.03);
    assert_number(&finding, "median of mcvaa, h = 0.032", 0.40, 0.03);
    assert_number(&finding, "median of sva+ctec, h = 0.032", 0.40, 0.03);
    assert_at_most(&finding, "median of gauss4+ctec, h = 0.032", 1e-11);
}

/// The motion is chaotic, and rounding decides within these bounds: starts 10⁻⁹ apart give CVA 7.6e-4 to 1.2e-3, VCI 1.4e-3
/// to 4.2e-3, MCVAC 1.5e-4 to 3.5e-4, MCVAA 9.2e-7 to 1.4e-6, m = 5 3.9e-9 to 1.8e-8, m = 8 1.0e-10 to 4.9e-10.
#[test]
fn dlm_table1_what_is_conserved() {
    let finding = compute("dlm-table1");
    // MCVAC's drift is not a tenth of the others', and each is right to a factor of two.
    assert_eq!(finding.verdict, Verdict::Partly, "{}", finding.finding);
    for (method, drift) in [("CVA", 7.6e-4), ("VCI", 2.3e-3), ("MCVAC", 2.0e-4), ("MCVAA", 9.4e-7)] {
        assert_number(&finding, &format!("relative drift of H̃ over 100 s, {method}"), drift, 2.0);
    }
    assert_at_most(&finding, "relative drift of H̃ over 100 s, shadow, m = 5", 4e-8);
    assert_at_most(&finding, "relative drift of H̃ over 100 s, shadow, m = 8", 1e-9);
    assert_at_most(&finding, "defect of the symplectic form, VCI", 1e-10);
    assert_at_most(&finding, "defect of the symplectic form, shadow, m = 8", 1e-10);
}

#[test]
fn gp_fig1_only_the_global_map_projects_everything() {
    let finding = compute("gp-fig1");
    assert_eq!(finding.verdict, Verdict::Holds, "{}", finding.finding);
    assert_eq!(finding.number("left infeasible by the global map"), Some(0.0));
    assert_number(&finding, "left infeasible by the local map", 1679.0, 0.01);
}

#[test]
fn gp_bar_the_principle_gives_the_impacts() {
    let finding = compute("gp-bar");
    assert_eq!(finding.verdict, Verdict::Holds, "{}", finding.finding);
    assert_number(&finding, "k_c", 36.0, 1e-8);
    assert_eq!(finding.number("impacts"), Some(11.0));
    assert_eq!(finding.number("configurations with one image at k = 20"), Some(3.0));
    assert_at_most(&finding, "largest difference of impact times", 2e-11);
    assert_number(&finding, "order in h of the energy without location", 1.0, 0.15);
}

/// Lemma 3 is right where its condition holds; elimination needs none.
#[test]
fn gp_constrained_bar_elimination_needs_no_condition() {
    let finding = compute("gp-constrained-bar");
    assert_eq!(finding.verdict, Verdict::Holds, "{}", finding.finding);
    assert_number(&finding, "A = 0.3: k_c", 8.16 * 8.16, 1e-8);
    assert_at_most(&finding, "A = 0.3: energy drift", 1e-10);
    assert!(finding.number("A = 0.3: largest change of energy by P_h after P_u").is_some_and(|change| change > 1.0));
}

#[test]
fn gp_pendulum_the_map_must_be_corrected() {
    let finding = compute("gp-pendulum");
    assert_eq!(finding.verdict, Verdict::Partly, "{}", finding.finding);
    assert_number(&finding, "largest |P(a) − a| as printed", 2.506, 0.001);
    assert_at_most(&finding, "largest |P(a) − a| corrected", 1e-14);
    assert_eq!(finding.number("our map is monotone for all x_c"), Some(1.0));
    assert_at_most(&finding, "largest difference of impact times", 1e-11);
}

/// Each has a name of its own, and something to say. (The times of `dlm-table2` are not tested: they are not ours alone.)
#[test]
fn every_entry_has_a_name_and_a_claim() {
    for entry in &REGISTRY {
        assert_eq!(REGISTRY.iter().filter(|other| other.id == entry.id).count(), 1, "{}", entry.id);
        assert!(!entry.claim.is_empty() && !entry.title.is_empty(), "{}", entry.id);
    }
    let error = named("bea-fig3").err().expect("there is none").to_string();
    assert!(error.contains("did you mean"), "{error}");
}

/// Impact times of MHC at h = 0.058, from an independent implementation.
#[test]
fn impact_times_of_mhc() {
    let file: Value = serde_json::from_str(include_str!("reference/double-pendulum.json")).expect("JSON");
    for (key, hamiltonian) in [("MHC-paper", "printed"), ("MHC-correct", "svc")] {
        let setting = format!("run.mhc={{hamiltonian=\"{hamiltonian}\"}}");
        let text = find("double-pendulum").expect("it ships").text;
        let model = Model::from_text("double-pendulum", text, &[setting]).expect("it is right");
        let method = Method::named("mhc", None).expect("it is registered");
        let simulation = Simulation::new(&model, &method, 0.058, 10.0).expect("it compiles");
        let trajectory = Recorded::of(&simulation).expect("it runs");
        let expected = file["impact_times_h0.058_T10"][key].as_array().expect("a list");
        assert_eq!(trajectory.impacts.len(), expected.len(), "{key}");
        for (impact, expected) in trajectory.impacts.iter().zip(expected) {
            let (found, expected) = (impact.minus.t, expected.as_f64().expect("a number"));
            assert!((found - expected).abs() < 1e-9, "{key}: an impact at {found}, expected at {expected}");
        }
    }
}

/// Each method shows its order on smooth motion and with impacts, and refuses a model that it does not support.
#[test]
fn compared_methods_show_their_order() {
    let model = Model::from_text("cart-pendulum", find("cart-pendulum").expect("it ships").text, &[]).expect("right");
    let methods = ["cva", "sva+ctec", "gauss2", "suzuki4", "rk4+shadow"];
    let plan = ComparisonPlan::new(&methods, None, &[0.02, 0.01], 2.0).expect("it is right");
    let comparison = compare(&model, &plan, &mut |_| {}).expect("it runs");
    assert!(comparison.exact_error < 1e-11, "{:e}", comparison.exact_error);
    for (k, order) in [2.0, 2.0, 4.0, 4.0].into_iter().enumerate() {
        let row = &comparison.rows[2 * k + 1];
        let found = row.order.unwrap_or(f64::NAN);
        assert!((found - order).abs() < 0.15, "{}: {found}", row.method);
        assert_eq!(row.measures.as_ref().expect("it runs").impacts, comparison.exact_impacts, "{}", row.method);
    }
    let why = comparison.rows[8].measures.as_ref().expect_err("it is refused");
    assert!(why.contains("not symplectic"), "{why}");
}

/// The claims of [TPC] about its figures hold, except for the sign of λ, and except that the points of figure 4 move apart only at every
/// other step.
#[test]
fn tpc_two_point_constraints_are_what_the_paper_says() {
    for figure in 4..=9 {
        let finding = compute(&format!("tpc-fig{figure}"));
        let expected = if figure == 4 { Verdict::Partly } else { Verdict::Holds };
        assert_eq!(finding.verdict, expected, "tpc-fig{figure}: {}", finding.finding);
    }
    let finding = compute("tpc-fig7");
    assert_number(&finding, "one-point: λ", 0.5, 1e-12);
}
