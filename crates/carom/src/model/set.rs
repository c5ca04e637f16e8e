//! Settings of the command line, which override values of the file.

use std::ops::Range;

use super::document::{Document, Entry, Item, Override, Value, Which, read_value};
use super::source::Source;
use super::suggest::suggestion;
use crate::error::Result;
use crate::expr::parse::Complaint;

/// Options of the command line that are settings of `[run]`: `--step 0.1` is `run.step=0.1`. Errors show them as options.
const OPTIONS: [(&str, &str); 4] = [
    ("--method ", "run.method"),
    ("--step ", "run.step"),
    ("--tolerance ", "run.tolerance"),
    ("--until ", "run.until"),
];

/// Applies `name=value`, or an option such as `--step 0.1`, to the document. A name without dots is a parameter;
/// `initial.q[0]`, `initial.q.theta` and `run.step` are entries of sections.
pub fn apply(source: &mut Source, document: &mut Document, setting: &str) -> Result<()> {
    let start = source.append("command line", setting);
    let whole = start..start + setting.len();
    let option = OPTIONS.iter().find_map(|(option, path)| Some((*path, setting.strip_prefix(option)?)));
    let Some((path, text)) = option.or_else(|| setting.split_once('=')) else {
        let complaint = Complaint::new("a setting is `name=value`", "there is no `=` here");
        return Err(source.error(whole, complaint));
    };
    let value_span = whole.end - text.len()..whole.end;
    let span = start..value_span.start - 1;
    let first = value_span.start + text.len() - text.trim_start().len();
    let (path, text) = (path.trim(), text.trim());
    let mut value = read_value(text).unwrap_or_else(|| Value::Text(text.to_string()));
    value.shift(first);
    let item = Item { value, span: value_span };
    let placed = match entry_of_start(path) {
        Some((section, entry)) => {
            document.overrides.push(Override { section: section.into(), entry, span: span.clone(), item });
            require_start(document, section, span.clone())
        }
        None => match indexed_parameter(&document.root, path) {
            Some(name) => {
                let (section, entry) = ("parameters".into(), Which::Name(name));
                document.overrides.push(Override { section, entry, span: span.clone(), item });
                Ok(())
            }
            None => place(document, path, span.clone(), item),
        },
    };
    placed.map_err(|complaint| source.error(span, complaint))
}

/// Writes `item` to the position of `path`.
fn place(document: &mut Document, path: &str, span: Range<usize>, item: Item) -> Outcome<()> {
    let steps = steps(path).ok_or_else(|| {
        let label = "write a parameter, `initial.q[0]`, `initial.q.x` or `run.step`";
        Complaint::new(format!("`{path}` is not a name that can be set"), label)
    })?;
    if let Some(section) = path.strip_prefix("initial.") {
        document.overrides.retain(|earlier| earlier.section != section);
    }
    match locate(&mut document.root, &steps)? {
        Slot::Old(old) => *old = item,
        Slot::New(entries, key) => entries.push(Entry { key, span, item }),
    }
    Ok(())
}

/// Parses `initial.q[0]` and `initial.q.theta`: an entry of the start, by index or by name.
pub(super) fn entry_of_start(path: &str) -> Option<(&'static str, Which)> {
    let rest = path.strip_prefix("initial.")?;
    let (key, entry) = ["q1", "q", "v", "p"].into_iter().find_map(|key| Some((key, rest.strip_prefix(key)?)))?;
    if let Some(name) = entry.strip_prefix('.') {
        return Some((key, Which::Name(name.to_string())));
    }
    let place = entry.strip_prefix('[')?.strip_suffix(']')?;
    Some((key, Which::Place(place.parse().ok()?)))
}

/// Creates an empty `section` in `[initial]` if there is none.
fn require_start(document: &mut Document, section: &str, span: Range<usize>) -> Outcome<()> {
    let steps = [Step::Key("initial".into()), Step::Key(section.into())];
    if let Slot::New(entries, key) = locate(&mut document.root, &steps)? {
        let item = Item { value: Value::Table(Vec::new()), span: span.clone() };
        entries.push(Entry { key, span, item });
    }
    Ok(())
}

/// Parses `m[2]` if it is not a key of `[parameters]` but may belong to a range.
fn indexed_parameter(root: &Item, path: &str) -> Option<String> {
    let name = path.strip_prefix("parameters.").unwrap_or(path);
    let Value::Table(sections) = &root.value else { return None };
    let is_section = sections.iter().any(|entry| Some(entry.key.as_str()) == path.split(['.', '[']).next());
    let is_bare = !is_section || name.len() < path.len();
    (is_bare && !name.contains('.') && name.ends_with(']')).then(|| name.to_string())
}

type Outcome<T> = std::result::Result<T, Complaint>;

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

enum Slot<'a> {
    Old(&'a mut Item),
    New(&'a mut Vec<Entry>, String),
}

/// `run.mhc.window` → run, mhc, window; `wall[0].phi` → wall, 0, phi; a name without dots is a parameter.
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

/// Finds the position of a path. It may create a section or a key of `[run]`, but not a parameter.
fn locate<'a>(document: &'a mut Item, steps: &[Step]) -> Outcome<Slot<'a>> {
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
                } else if number == 0 && !parameter && ["run", "initial", "feedback"].contains(&key.as_str()) {
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

/// The error for a parameter that is not in `entries`.
pub fn unknown_parameter(name: &str, entries: &[Entry]) -> Complaint {
    let known: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    let label = match suggestion(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the parameters are {}", known.join(", ")),
    };
    Complaint::new(format!("unknown parameter `{name}`"), label)
}
