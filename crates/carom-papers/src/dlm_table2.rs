use super::measure::Case;
use super::{Drawing, Entry, Finding, Mark, Number, Table, Tell, Verdict};
use carom::lab::compare::seconds;
use carom::lab::error::Result;

pub(crate) const ENTRY: Entry = Entry {
    id: "dlm-table2",
    document: "DLM",
    title: "the computing time of MCVAA and MCVAC (cart-pendulum, T = 5, 51 starts)",
    claim: "Text: MCVAA takes less time than MCVAC at both steps, and MCVAC takes less at the smaller step. Table: MCVAA \
            takes 1.7 times as long at h = 0.032 and 1.3 times at 0.01, and MCVAC takes more at the smaller step.",
    compute,
};

const STARTS: usize = 51;

fn compute(tell: Tell) -> Result<Finding> {
    let mut table = Table::new("seconds", &["method", "h", "mean", "half_width_95"])
        .drawn(Drawing::new("mean time of a run", "h", ["h [s]", "seconds"]).log_log().curve("mean", "", Mark::Both));
    let mut means = Vec::new();
    for method in ["mcvaa", "mcvac"] {
        for h in [0.032, 0.01] {
            tell(&format!("{method} at h = {h}"));
            let (mean, half_width) = timed(method, h)?;
            table.push_labelled(method, vec![h, mean, half_width]);
            means.push(mean);
        }
    }
    let ratios = [means[0] / means[2], means[1] / means[3], means[3] / means[2]];
    let numbers = vec![
        Number::new("time of MCVAA / MCVAC, h = 0.032", ratios[0]),
        Number::new("time of MCVAA / MCVAC, h = 0.01", ratios[1]),
        Number::new("time of MCVAC at h = 0.01 / at h = 0.032", ratios[2]),
    ];
    let finding = format!(
        "Text and table contradict each other. Here MCVAA takes {:.2} times as long as MCVAC at h = 0.032 and {:.2} times at \
         h = 0.01; MCVAC takes {:.2} times as long at h = 0.01 as at 0.032. Only ratios can be compared: such times say more \
         about an implementation than about a method.",
        ratios[0], ratios[1], ratios[2],
    );
    // The claim of the text, then the claim of the table; they contradict each other.
    let verdict = Verdict::of(&[ratios.iter().all(|ratio| *ratio < 1.0), ratios.iter().all(|ratio| *ratio > 1.0)]);
    Ok(Finding { finding, verdict, numbers, tables: vec![table] })
}

/// The mean time of a run over all starts, and the half width of its 95 % confidence interval.
fn timed(method: &str, h: f64) -> Result<(f64, f64)> {
    let mut times = Vec::new();
    for k in 0..STARTS {
        let setting = format!("beta={:?}", 3.2 + 2.0 * k as f64 / (STARTS - 1) as f64);
        let case = Case::new("cart-pendulum", &[&setting], method, h, 5.0)?;
        times.push(seconds(&case.simulation()?, 0.005)?);
    }
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let variance = times.iter().map(|t| (t - mean) * (t - mean)).sum::<f64>() / (count - 1.0);
    Ok((mean, 1.96 * (variance / count).sqrt()))
}
