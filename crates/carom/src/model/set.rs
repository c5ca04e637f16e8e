//! Settings of the command line: `name=value` laid over the values of a file.

use super::document::{Entry, Item, Value, read_value};
use super::source::Source;
use super::suggest::suggestion;
use crate::error::Result;
use crate::expr::parse::Complaint;

/// Lays `name=value` over the document. A bare name is a parameter; `initial.q[0]` and `run.step` reach into sections.
pub fn apply(source: &mut Source, document: &mut Item, setting: &str) -> Result<()> {
    let start = source.append("command line", setting);
    let whole = start..start + setting.len();
    let Some((path, text)) = setting.split_once('=') else {
        let complaint = Complaint::new("a setting is `name=value`", "there is no `=` here");
        return Err(source.error(whole, complaint));
    };
    let key_span = start..start + path.len();
    let value_span = start + path.len() + 1..whole.end;
    let text = text.trim();
    let value = read_value(text).unwrap_or_else(|| Value::Text(text.to_string()));
    let item = Item { value, span: value_span };
    let steps = steps(path.trim()).ok_or_else(|| {
        let message = format!("`{}` is not a name that can be set", path.trim());
        source.error(key_span.clone(), Complaint::new(message, "write a parameter, `initial.q[0]` or `run.step`"))
    })?;
    let place = locate(document, &steps).map_err(|complaint| source.error(key_span.clone(), complaint))?;
    match place {
        Slot::Old(old) => *old = item,
        Slot::New(entries, key) => entries.push(Entry { key, span: key_span, item }),
    }
    Ok(())
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

enum Slot<'a> {
    Old(&'a mut Item),
    New(&'a mut Vec<Entry>, String),
}

/// `initial.q[0]` → initial, q, 0; a bare name is a parameter.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (key, mut indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        if key.is_empty() {
            return None;
        }
        steps.push(Step::Key(key.to_string()));
        while !indices.is_empty() {
            let (index, rest) = indices.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Index(index.parse().ok()?));
            indices = rest;
        }
    }
    if steps.len() == 1 && path != "title" {
        steps.insert(0, Step::Key("parameters".to_string()));
    }
    Some(steps)
}

/// The place that the steps lead to. A section, or a key of `[run]`, may be new; a parameter may not.
fn locate<'a>(document: &'a mut Item, steps: &[Step]) -> std::result::Result<Slot<'a>, Complaint> {
    let parameter = steps[0] == Step::Key("parameters".to_string());
    let mut here = document;
    for (number, step) in steps.iter().enumerate() {
        let last = number + 1 == steps.len();
        match (step, &mut here.value) {
            (Step::Key(key), Value::Table(entries)) => {
                if let Some(at) = entries.iter().position(|entry| entry.key == *key) {
                    here = &mut entries[at].item;
                } else if parameter && last {
                    return Err(unknown_parameter(key, entries));
                } else if last {
                    return Ok(Slot::New(entries, key.clone()));
                } else if number == 0 && !parameter && ["run", "initial"].contains(&key.as_str()) {
                    let item = Item { value: Value::Table(Vec::new()), span: 0..0 };
                    entries.push(Entry { key: key.clone(), span: 0..0, item });
                    let at = entries.len() - 1;
                    here = &mut entries[at].item;
                } else if parameter {
                    return Err(Complaint::new("the model has no parameters", ""));
                } else {
                    return Err(Complaint::new(format!("the model has no `{key}`"), ""));
                }
            }
            (Step::Index(index), Value::Array(items)) => {
                let count = items.len();
                here = items.get_mut(*index).ok_or_else(|| {
                    Complaint::new(format!("there is no entry {index}"), format!("there are {count}, counted from 0"))
                })?;
            }
            (Step::Key(key), _) => return Err(Complaint::new(format!("there is no `{key}` in it"), "")),
            (Step::Index(_), _) => return Err(Complaint::new("it is not a list", "")),
        }
    }
    Ok(Slot::Old(here))
}

fn unknown_parameter(name: &str, entries: &[Entry]) -> Complaint {
    let known: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    let label = match suggestion(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the parameters are {}", known.join(", ")),
    };
    Complaint::new(format!("unknown parameter `{name}`"), label)
}
