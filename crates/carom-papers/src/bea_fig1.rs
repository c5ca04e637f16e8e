use super::measure::{median, model, parameters, range, slope, unsolved};
use super::{Drawing, Entry, Finding, Mark, Number, Table, Tell, Verdict};
use carom::lab::error::Result;
use carom::lab::flow::registry;
use carom::lab::mechanics::Field;
use carom::lab::mechanics::Mechanics;
use carom::lab::modified::{Closed, Formula, ModifiedHamiltonian, Shadow};
use carom::lab::phase::{Flow, Phase};

pub(crate) const ENTRY: Entry = Entry {
    id: "bea-fig1",
    document: "BEA",
    title: "H and H̃ along smooth motions of the double pendulum (svc, h = 0.058)",
    claim: "Left start: little variation in H and almost none in H̃. Right start: large spikes in H and in H̃; that H̃ has \
            them shows that they stem from terms of O(h⁴) or higher.",
    compute,
};

const H: f64 = 0.058;
const STARTS: [(&str, [f64; 2], [f64; 2]); 2] = [("left", [0.0, 0.0], [8.0, 3.0]), ("right", [0.2, -1.5], [3.0, -1.8])];

/// The measured quantities: H and three forms of H̃ along the flow of `svc`.
struct Instruments {
    flow: Box<dyn Flow>,
    field: Field,
    printed: Closed,
    right: Closed,
    window: Shadow,
}

impl Instruments {
    fn new() -> Result<Instruments> {
        let model = model("double-pendulum", &[])?;
        let (mechanics, parameters) = (Mechanics::new(&model.system), parameters(&model));
        let kinds = registry(None);
        let svc = kinds.iter().find(|kind| kind.name == "svc").unwrap_or(&kinds[0]);
        Ok(Instruments {
            flow: svc.build(&mechanics, &parameters)?,
            field: Field::new(&mechanics, &parameters)?,
            printed: Closed::new(&mechanics, Formula::Sva, &parameters)?,
            right: Closed::new(&mechanics, Formula::Svc, &parameters)?,
            window: Shadow::windowed(8, 10),
        })
    }

    /// t, H, H̃ as printed, H̃ of svc, H̃ averaged over a window.
    fn at(&mut self, z: &Phase, h: f64) -> Result<Vec<f64>> {
        let wrong = |e| unsolved(e, z);
        let ham = self.field.energy(z.t, &z.z).map_err(wrong)?;
        let (printed, right) = (self.printed.value(z, h).map_err(wrong)?, self.right.value(z, h).map_err(wrong)?);
        let window = self.window.at(&mut *self.flow, z, h).map_err(wrong)?;
        Ok(vec![z.t, ham, printed, right, window])
    }

    /// The rows for ten seconds of smooth motion.
    fn motion(&mut self, q: &[f64], p: &[f64], h: f64) -> Result<Vec<Vec<f64>>> {
        let mut z = Phase::new(0.0, q, p);
        let mut next = z.clone();
        let mut rows = vec![self.at(&z, h)?];
        for _ in 0..(10.0 / h) as usize {
            self.flow.step(&z, h, &mut next).map_err(|e| unsolved(e, &z))?;
            std::mem::swap(&mut z, &mut next);
            rows.push(self.at(&z, h)?);
        }
        Ok(rows)
    }
}

fn drawing(side: &str, q: [f64; 2], p: [f64; 2]) -> Drawing {
    let panel = format!("{side}: q = ({}, {}), p = ({}, {})", q[0], q[1], p[0], p[1]);
    Drawing::new(panel.replace('-', "−"), "t", ["t [s]", "energy [J]"])
        .curve("H", "H", Mark::Line)
        .curve("H_mod_printed", "H̃ as printed", Mark::Line)
        .curve("H_mod_svc", "H̃ of svc", Mark::Line)
        .curve("H_mod_window", "H̃ averaged", Mark::Line)
}

fn column(rows: &[Vec<f64>], k: usize) -> Vec<f64> {
    rows.iter().map(|row| row[k]).collect()
}

fn compute(tell: Tell) -> Result<Finding> {
    let mut instruments = Instruments::new()?;
    let (mut tables, mut numbers) = (Vec::new(), Vec::new());
    for (side, q, p) in STARTS {
        tell(&format!("the {side} start"));
        let rows = instruments.motion(&q, &p, H)?;
        for (k, name) in [(1, "H"), (2, "H̃ as printed"), (3, "H̃ of svc"), (4, "H̃ windowed")] {
            numbers.push(Number::new(format!("{side}: range of {name}"), range(&column(&rows, k))));
        }
        // The rate at which the range of an H̃ decreases with h shows which terms it lacks.
        for (k, name) in [(2, "H̃ as printed"), (3, "H̃ of svc")] {
            let mut points = Vec::new();
            for halving in 1..=4 {
                let h = H * 0.5_f64.powi(halving);
                points.push((h, range(&column(&instruments.motion(&q, &p, h)?, k))));
            }
            numbers.push(Number::new(format!("{side}: slope in h of {name}"), slope(&points)));
        }
        let spike = column(&rows, 1).iter().map(|h| h - median(&column(&rows, 1))).fold(0.0, f64::max);
        numbers.push(Number::new(format!("{side}: highest spike of H"), spike));
        let columns = ["t", "H", "H_mod_printed", "H_mod_svc", "H_mod_window"];
        let mut table = Table::new(side, &columns).drawn(drawing(side, q, p));
        rows.into_iter().for_each(|row| table.push(row));
        tables.push(table);
    }
    Ok(judge(numbers, tables))
}

fn judge(numbers: Vec<Number>, tables: Vec<Table>) -> Finding {
    let finding = Finding { finding: String::new(), verdict: Verdict::Holds, numbers, tables };
    let get = |name: &str| finding.number(name).unwrap_or(f64::NAN);
    let left = [get("left: range of H"), get("left: range of H̃ as printed"), get("left: range of H̃ of svc")];
    let right = [get("right: range of H"), get("right: range of H̃ as printed"), get("right: range of H̃ of svc")];
    let slopes = [get("right: slope in h of H̃ as printed"), get("right: slope in h of H̃ of svc")];
    let parts = [
        left[0] < 0.2 * right[0],
        left[1] < 0.2 * left[0],
        right[1] > 0.5,
        slopes[0] > 3.5, // else the printed H̃ lacks a term of O(h²), and its spikes show nothing about O(h⁴)
    ];
    let words = format!(
        "Left, H varies by {:.3}, H̃ as printed by {:.3}, H̃ of svc by {:.4}; right by {:.2}, {:.2} and {:.2}: spikes there are. \
         But the printed H̃ is that of sva: its range falls as h^{:.1}, that of the right one as h^{:.1}. So the spikes of the \
         printed H̃ are those of a missing term of O(h²); the right one has smaller ones, of O(h⁴). Averaged over a window, \
         H̃ varies by {:.4}.",
        left[0],
        left[1],
        left[2],
        right[0],
        right[1],
        right[2],
        slopes[0],
        slopes[1],
        get("right: range of H̃ windowed"),
    );
    Finding { finding: words, verdict: Verdict::of(&parts), ..finding }
}
