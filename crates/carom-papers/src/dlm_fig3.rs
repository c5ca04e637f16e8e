use super::measure::{Case, parameters, range, unsolved};
use super::{Drawing, Entry, Finding, Mark, Number, Table, Tell, Verdict};
use carom::lab::compare::{Recorded, build_flow};
use carom::lab::error::Result;
use carom::lab::mechanics::Field;
use carom::lab::mechanics::Mechanics;
use carom::lab::modified::{Closed, Formula, ModifiedHamiltonian, Series};

pub(crate) const ENTRY: Entry = Entry {
    id: "dlm-fig3",
    document: "DLM",
    title: "H, −D₃L_d and the truncated H̃ of MCVAA and MCVAC (cart-pendulum, β = 3.2, h = 0.01)",
    claim: "Both runs have three impacts. H and −D₃L_d vary; both methods keep their truncated H̃ best.",
    compute,
};

fn compute(tell: Tell) -> Result<Finding> {
    let (mut numbers, mut tables, mut words, mut parts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for method in ["mcvaa", "mcvac"] {
        tell(method);
        let case = Case::new("cart-pendulum", &["beta=3.2"], method, 0.01, 5.0)?;
        let run = case.run()?;
        let table = energies(&case, &run)?;
        let ranges = [1, 2, 3].map(|k| range(&table.rows.iter().map(|(_, row)| row[k]).collect::<Vec<_>>()));
        for (name, value) in ["H", "−D₃L_d", "H̃"].iter().zip(ranges) {
            numbers.push(Number::new(format!("{method}: range of {name}"), value));
        }
        numbers.push(Number::new(format!("{method}: impacts"), run.impacts.len() as f64));
        parts.push(run.impacts.len() == 3);
        parts.push(ranges[2] < ranges[0].min(ranges[1]));
        words.push(format!(
            "{}: {} impacts; H varies by {:.2e}, −D₃L_d by {:.2e}, H̃ by {:.2e}.",
            method.to_uppercase(),
            run.impacts.len(),
            ranges[0],
            ranges[1],
            ranges[2],
        ));
        tables.push(table);
    }
    Ok(Finding { finding: words.join(" "), verdict: Verdict::of(&parts), numbers, tables })
}

/// The H̃ that the method conserves.
fn truncated(case: &Case, mechanics: &Mechanics) -> Result<Box<dyn ModifiedHamiltonian>> {
    let parameters = parameters(&case.model);
    Ok(match case.method.flow.discrete_lagrangian() {
        Some(rule) if rule.name() == "svc" => Box::new(Series::new(mechanics, rule, &parameters, 3)?),
        _ => Box::new(Closed::new(mechanics, Formula::Sva, &parameters)?),
    })
}

fn energies(case: &Case, run: &Recorded) -> Result<Table> {
    let mechanics = Mechanics::new(&case.model.system);
    let mut field = Field::new(&mechanics, &parameters(&case.model))?;
    let mut flow = build_flow(&case.model, &case.method, &mechanics)?;
    let mut ham_mod = truncated(case, &mechanics)?;
    let mut table = Table::new(&case.method.name, &["t", "H", "discrete_energy", "H_mod"]).drawn(
        Drawing::new(case.method.name.to_uppercase(), "t", ["t [s]", "energy [J]"])
            .curve("H", "H", Mark::Line)
            .curve("discrete_energy", "−D₃L_d", Mark::Line)
            .curve("H_mod", "H̃", Mark::Line),
    );
    for z in &run.nodes {
        let wrong = |e| unsolved(e, z);
        let mut next = z.clone();
        flow.step(z, case.step, &mut next).map_err(wrong)?;
        let discrete = flow.discrete().map_or(f64::NAN, |discrete| discrete.energy);
        let energy = field.energy(z.t, &z.z).map_err(wrong)?;
        table.push(vec![z.t, energy, discrete, ham_mod.value(z, case.step).map_err(wrong)?]);
    }
    Ok(table)
}
