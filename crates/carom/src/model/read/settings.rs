//! `[run]`, `[projection]`.

use super::super::Projection;
use super::super::document::{Fields, Item, Value};
use super::super::settings::{AUTO, McvaSettings, MhcSettings, Run, ShadowSettings, Simultaneous, Statistic, Zeno};
use super::Reader;
use crate::error::Result;

/// 2⁵³: beyond it t + h is t.
const MAX_STEPS: f64 = 9_007_199_254_740_992.0;

impl<'a> Reader<'a> {
    pub(super) fn run(&mut self, top: &Fields<'a>) -> Result<Run> {
        let mut run = Run::default();
        let Some(item) = top.get("run") else { return Ok(run) };
        let known = ["method", "step", "until", "tolerance", "zeno", "simultaneous", "mhc", "mcva", "shadow", "alpha"];
        let fields = self.fields(item, "run", &known)?;
        run.method = fields.text("method")?.filter(|name| *name != AUTO).map(str::to_string);
        self.places.method = fields.get("method").map_or(0..0, |item| item.span.clone());
        let step = fields.get("step").filter(|item| !self.is_auto(item));
        run.step = step.map(|item| self.positive(item, "step")).transpose()?;
        run.until = fields.get("until").map(|item| self.positive(item, "end time `until`")).transpose()?;
        self.check_count(&run, fields.get("step"))?;
        run.alpha = fields.get("alpha").map(|item| self.number(item)).transpose()?;
        if let Some(item) = fields.get("tolerance") {
            run.tolerance = self.positive(item, "tolerance")?;
        }
        if fields.choice("zeno", &["rest", "stop"])? == Some("stop") {
            run.zeno = Zeno::Stop;
        }
        if fields.choice("simultaneous", &["sequential", "moreau"])? == Some("moreau") {
            run.simultaneous = Simultaneous::Moreau;
        }
        if let Some(item) = fields.get("mhc") {
            run.mhc = self.mhc(item)?;
        }
        if let Some(item) = fields.get("mcva") {
            run.mcva = self.mcva(item)?;
        }
        if let Some(item) = fields.get("shadow") {
            let fields = self.fields(item, "shadow", &["m"])?;
            run.shadow = ShadowSettings { m: self.count(fields.required("m")?, "m")? };
        }
        Ok(run)
    }

    /// True for `"auto"`, unless the model has a parameter of that name.
    fn is_auto(&self, item: &Item) -> bool {
        matches!(&item.value, Value::Text(text) if text == AUTO) && !self.names.declared.contains(AUTO)
    }

    /// The time must change in every step, so there are fewer than 2⁵³ of them.
    fn check_count(&self, run: &Run, step: Option<&Item>) -> Result<()> {
        match (run.until, run.step, step) {
            (Some(until), Some(h), Some(item)) if until / h >= MAX_STEPS => {
                let label = format!("that would be {:.0e} steps", until / h);
                Err(self.error(&item.span, format!("the step is too small for the end time {until:?}"), label))
            }
            _ => Ok(()),
        }
    }

    fn mhc(&self, item: &Item) -> Result<MhcSettings> {
        let mut mhc = Run::default().mhc;
        let fields = self.fields(item, "mhc", &["window", "statistic", "hamiltonian"])?;
        if let Some(item) = fields.get("window") {
            mhc.window = self.positive(item, "window")?;
        }
        if fields.choice("statistic", &["median", "mean"])? == Some("mean") {
            mhc.statistic = Statistic::Mean;
        }
        mhc.printed = fields.choice("hamiltonian", &["svc", "printed"])? == Some("printed");
        Ok(mhc)
    }

    fn mcva(&self, item: &Item) -> Result<McvaSettings> {
        let mut mcva = Run::default().mcva;
        let fields = self.fields(item, "mcva", &["order", "partial"])?;
        if let Some(item) = fields.get("order") {
            mcva.order = self.count(item, "order")?;
        }
        if let Some(partial) = fields.text("partial")? {
            mcva.partial = partial.to_string();
        }
        Ok(mcva)
    }

    /// A whole number from 1 to 99.
    fn count(&self, item: &Item, what: &str) -> Result<usize> {
        let value = self.number(item)?;
        if value.fract() == 0.0 && (1.0..100.0).contains(&value) {
            return Ok(value as usize);
        }
        Err(self.error(&item.span, format!("`{what}` must be a whole number from 1 to 99"), format!("this is {value}")))
    }

    pub(super) fn projection(&mut self, top: &Fields<'a>) -> Result<Option<Projection>> {
        let Some(item) = top.get("projection") else { return Ok(None) };
        let fields = self.fields(item, "projection", &["coordinate", "k", "force", "manifold"])?;
        let coordinate = match (fields.text("coordinate")?, fields.get("coordinate")) {
            (Some(name), Some(item)) => Some(self.coordinate(name, &item.span)?),
            _ => None,
        };
        let place = |key: &str| fields.get(key).map_or(0..0, |item| item.span.clone());
        (self.places.projection_coordinate, self.places.projection_k) = (place("coordinate"), place("k"));
        Ok(Some(Projection {
            coordinate,
            k: fields.get("k").map(|item| self.positive(item, "constant k")).transpose()?,
            force: fields.flag("force")?.unwrap_or(false),
            circle: fields.choice("manifold", &["line", "circle"])? == Some("circle"),
        }))
    }
}
