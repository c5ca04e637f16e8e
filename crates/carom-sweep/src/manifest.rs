//! The plan of a sweep as it stands in its folder.

use std::path::Path;

use carom::sweep::{Axis, Sweep, Values};
use carom::{Diagnostic, Model, Result};
use serde_json::{Map, Value, json};

use crate::folder::unwritable;

/// The file in the folder. Readers of Parquet skip names that begin with an underscore.
pub(crate) const NAME: &str = "_sweep.json";

/// The parts of a plan, in the order in which they are compared: what the user is most likely to have changed first.
const KEYS: [&str; 9] = ["vary", "columns of files", "samples", "seed", "record", "reduce", "method", "model", "rows"];

/// The plan of a sweep, and the number of rows in a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    plan: Map<String, Value>,
    /// The number of rows in a part.
    pub chunk: u64,
}

impl Manifest {
    /// The manifest of a sweep of this model; `records` and `reductions` as the user wrote them.
    pub fn new(model: &Model, sweep: &Sweep, records: &[String], reductions: &[String], chunk: u64) -> Manifest {
        let plan = sweep.plan();
        let axes: Vec<&str> = plan.axes().iter().map(|axis| axis.text.as_str()).collect();
        let columns: Vec<String> = plan.axes().iter().filter_map(column).collect();
        let entries = [
            ("model", json!(model.source.text())),
            ("vary", json!(axes)),
            ("columns of files", json!(columns)),
            ("samples", json!(plan.samples())),
            ("seed", json!(plan.seed())),
            ("record", json!(records)),
            ("reduce", json!(reductions)),
            ("method", json!(sweep.method())),
            ("rows", json!(plan.rows())),
        ];
        Manifest { plan: entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect(), chunk }
    }

    /// The plan as JSON, for the footer of each file.
    pub fn plan_text(&self) -> String {
        Value::Object(self.plan.clone()).to_string()
    }

    fn text(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let whole = json!({"version": version, "chunk": self.chunk, "plan": self.plan});
        serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
    }

    /// The manifest in a folder, if there is one.
    pub(crate) fn read(folder: &Path) -> Result<Option<Manifest>> {
        let path = folder.join(NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Diagnostic::new(format!("cannot read `{}`: {e}", path.display())).into()),
        };
        let value: Option<Value> = serde_json::from_str(&text).ok();
        let parts = value.as_ref().and_then(|value| Some((value["chunk"].as_u64()?, value["plan"].as_object()?)));
        match parts.filter(|(chunk, _)| *chunk > 0) {
            Some((chunk, plan)) => Ok(Some(Manifest { plan: plan.clone(), chunk })),
            None => {
                let error = Diagnostic::new(format!("`{}` is not the plan of a sweep", path.display()));
                Err(error.with_help("give another folder with `--out`").into())
            }
        }
    }

    /// Writes the manifest unless there is one, and returns the one that is there: the first process decides.
    pub(crate) fn claim(self, folder: &Path) -> Result<Manifest> {
        let temporary = folder.join(format!(".{NAME}.{}", std::process::id()));
        let written = std::fs::write(&temporary, self.text());
        // A link fails if the name exists, and is never half written.
        let linked = written.and_then(|()| std::fs::hard_link(&temporary, folder.join(NAME)));
        let _ = std::fs::remove_file(&temporary);
        match (linked, Manifest::read(folder)?) {
            (_, Some(known)) => Ok(known),
            (Err(e), None) => Err(unwritable(folder, &e)),
            (Ok(()), None) => Err(Diagnostic::new(format!("`{NAME}` has disappeared from the folder")).into()),
        }
    }

    /// An error that says which part of the plan differs from that in the folder.
    pub(crate) fn check(&self, known: &Manifest, folder: &Path) -> Result<()> {
        let of = |manifest: &Manifest, key: &str| manifest.plan.get(key).cloned().unwrap_or(Value::Null);
        for key in KEYS {
            let (ours, theirs) = (of(self, key), of(known, key));
            if ours != theirs {
                let what = match key {
                    "model" => "the text of the model differs, or a `--set` or an option of `[run]`".to_string(),
                    key => format!("`{key}` is {ours} here and {theirs} there"),
                };
                let message = format!("`{}` has the rows of another sweep: {what}", folder.display());
                return Err(Diagnostic::new(message).with_help("give another folder with `--out`").into());
            }
        }
        Ok(())
    }
}

/// A fingerprint of the values that come from a file.
fn column(axis: &Axis) -> Option<String> {
    let Values::Column { values, .. } = &axis.values else { return None };
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let bytes = values.iter().flat_map(|x| x.to_bits().to_le_bytes());
    Some(format!("{:016x}", bytes.fold(0xcbf2_9ce4_8422_2325, step)))
}
