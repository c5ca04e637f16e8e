//! TOML as a tree with the source position of every key and value.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::source::Source;
use super::suggest::suggestion;
use crate::error::{Diagnostic, Error, Result};
use crate::expr::parse::Complaint;

/// The parsed text, and the settings that only the reader of a model can place.
#[derive(Clone, Debug)]
pub struct Document {
    /// The tree.
    pub root: Item,
    /// Settings of single entries of the start and of indexed parameters, in order.
    pub overrides: Vec<Override>,
}

/// A setting for one entry of a list or a section.
#[derive(Clone, Debug)]
pub struct Override {
    /// `parameters`, or the `q`, `v`, `p` or `q1` of `[initial]`.
    pub section: String,
    /// The entry.
    pub entry: Which,
    /// The position of the setting in the source.
    pub span: Range<usize>,
    /// The value.
    pub item: Item,
}

/// An entry of a list or a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Which {
    /// By index, from 0.
    Place(usize),
    /// By its name.
    Name(String),
}

/// At most this many mistakes are reported.
pub const MOST_MISTAKES: usize = 20;

/// A value and its position.
#[derive(Clone, Debug)]
pub struct Item {
    /// The value.
    pub value: Value,
    /// Its byte range in the source.
    pub span: Range<usize>,
}

/// The kinds of values in a model.
#[derive(Clone, Debug)]
pub enum Value {
    /// An integer or a float.
    Number(f64),
    /// A string, which usually is an expression.
    Text(String),
    /// true or false.
    Bool(bool),
    /// A list of values.
    Array(Vec<Item>),
    /// A section of keys and values.
    Table(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The byte range of the key in the source.
    pub span: Range<usize>,
    /// The value.
    pub item: Item,
}

/// Reads TOML.
pub fn read(source: &Source) -> Result<Document> {
    let (table, mut errors) = DeTable::parse_recoverable(source.text());
    // Keep the first error of each line; further ones usually follow from it.
    let start = |e: &toml::de::Error| e.span().map_or(0, |span| span.start);
    errors.sort_by_key(start);
    errors.truncate(MOST_MISTAKES);
    errors.dedup_by_key(|e| source.text().bytes().take(start(e)).filter(|&byte| byte == b'\n').count());
    let mistake = |e: &toml::de::Error| {
        let span = e.span().unwrap_or(0..0);
        let label = unquoted(source.text(), &span);
        source.diagnostic(span, Complaint::new(format!("not valid TOML: {}", e.message()), label))
    };
    if let Some(mistakes) = Diagnostic::first_of(errors.iter().map(mistake).collect()) {
        return Err(mistakes.into());
    }
    let span = table.span();
    let value = Value::Table(entries(source, table.get_ref())?);
    Ok(Document { root: Item { value, span }, overrides: Vec::new() })
}

/// A hint for a line with an unquoted expression, or for one in a list, which is the marked range; empty otherwise.
fn unquoted(text: &str, marked: &Range<usize>) -> String {
    let (before, after) = text.split_at(text.floor_char_boundary(marked.start));
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = &text[start..before.len() + after.find('\n').unwrap_or(after.len())];
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    let value = value.split('#').next().unwrap_or_default().trim();
    let entry = text.get(marked.clone()).unwrap_or_default();
    if value.starts_with('[') && entry.starts_with(char::is_alphabetic) {
        return format!("an expression in a list must be in quotes: `\"{entry}\"`");
    }
    if value.is_empty() || value.starts_with(['"', '\'', '[', '{', '=']) || read_value(value).is_some() {
        return String::new();
    }
    format!("an expression must be in quotes: `{} = \"{value}\"`", key.trim())
}

/// Reads one TOML value.
pub fn read_value(text: &str) -> Option<Value> {
    let source = Source::new("", text);
    let value = DeValue::parse(text).ok()?;
    convert(&source, value.get_ref(), 0..text.len()).ok()
}

fn entries(source: &Source, table: &DeTable) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for (key, value) in table.iter() {
        let value_span = value.span();
        let item = Item { value: convert(source, value.get_ref(), value_span.clone())?, span: value_span };
        entries.push(Entry { key: key.get_ref().to_string(), span: key.span(), item });
    }
    entries.sort_by_key(|entry| entry.span.start);
    Ok(entries)
}

fn convert(source: &Source, value: &DeValue, span: Range<usize>) -> Result<Value> {
    Ok(match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => {
            let number = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
            let number = number.map(|n| n as f64).or_else(|| integer.as_str().parse().ok());
            Value::Number(number.ok_or_else(|| source.error(span, Complaint::new("not a number", "")))?)
        }
        DeValue::Float(float) => {
            let number = float.as_str().parse().map_err(|_| source.error(span, Complaint::new("not a number", "")))?;
            Value::Number(number)
        }
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(_) => {
            return Err(source.error(span, Complaint::new("a model cannot contain a date", "")));
        }
        DeValue::Array(items) => {
            let items = items
                .iter()
                .map(|item| Ok(Item { value: convert(source, item.get_ref(), item.span())?, span: item.span() }));
            Value::Array(items.collect::<Result<_>>()?)
        }
        DeValue::Table(table) => Value::Table(entries(source, table)?),
    })
}

impl Value {
    /// Moves the places of what it contains by a number of bytes.
    pub fn shift(&mut self, by: usize) {
        let moved = |span: &Range<usize>| span.start + by..span.end + by;
        match self {
            Value::Array(items) => items.iter_mut().for_each(|item| {
                item.span = moved(&item.span);
                item.value.shift(by);
            }),
            Value::Table(entries) => entries.iter_mut().for_each(|entry| {
                entry.span = moved(&entry.span);
                entry.item.span = moved(&entry.item.span);
                entry.item.value.shift(by);
            }),
            Value::Number(_) | Value::Text(_) | Value::Bool(_) => {}
        }
    }

    /// The kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::Bool(_) => "true or false",
            Value::Array(_) => "a list",
            Value::Table(_) => "a section",
        }
    }
}

/// A section that is being read. Every key must be among the allowed ones.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    source: &'a Source,
    entries: &'a [Entry],
    what: &'a str,
    item: &'a Item,
    /// True if a key is misspelt, so that another key may seem to be missing.
    pub misspelt: bool,
}

impl<'a> Fields<'a> {
    /// Reads `item` as a section called `what`.
    pub fn new(source: &'a Source, item: &'a Item, what: &'a str) -> Result<Fields<'a>> {
        let Value::Table(entries) = &item.value else {
            let message = format!("`{what}` is a section, not {}", item.value.kind());
            return Err(source.error(item.span.clone(), Complaint::new(message, format!("write `[{what}]`"))));
        };
        Ok(Fields { source, entries, what, item, misspelt: false })
    }

    /// An error for each key that is not in `known`.
    pub fn unknown(&self, known: &[&str]) -> impl Iterator<Item = Error> {
        let unknown = self.entries.iter().filter(|entry| !known.contains(&entry.key.as_str()));
        unknown.map(|entry| {
            let place = if self.what.is_empty() { String::new() } else { format!(" in `{}`", self.what) };
            let message = format!("unknown key `{}`{place}", entry.key);
            let label = match suggestion(&entry.key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            self.source.error(entry.span.clone(), Complaint::new(message, label))
        })
    }

    /// All entries, in the order of the file.
    pub fn entries(&self) -> &'a [Entry] {
        self.entries
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'a Item> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.item)
    }

    /// The value of a required key.
    pub fn required(&self, key: &str) -> Result<&'a Item> {
        self.get(key).ok_or_else(|| {
            if self.misspelt {
                return self.error(Complaint::consequence());
            }
            let message = if self.what.is_empty() {
                format!("the model has no `{key}`")
            } else {
                format!("`{}` has no `{key}`", self.what)
            };
            self.error(Complaint::new(message, ""))
        })
    }

    /// The position of the section.
    pub fn span(&self) -> Range<usize> {
        self.item.span.clone()
    }

    /// An error about the whole section.
    pub fn error(&self, complaint: Complaint) -> Error {
        let start = self.item.span.start;
        self.source.error(start..self.item.span.end.min(first_line_end(self.source.text(), start)), complaint)
    }

    /// The string value of a key, if present.
    pub fn text(&self, key: &str) -> Result<Option<&'a str>> {
        self.get(key).map(|item| text(self.source, item)).transpose()
    }

    /// The boolean value of a key, if present.
    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        let Some(item) = self.get(key) else { return Ok(None) };
        match item.value {
            Value::Bool(flag) => Ok(Some(flag)),
            _ => Err(wrong_kind(self.source, item, "true or false")),
        }
    }

    /// The value of a key, if present, which must be one of `choices`.
    pub fn choice(&self, key: &str, choices: &[&str]) -> Result<Option<&'a str>> {
        let Some(item) = self.get(key) else { return Ok(None) };
        let word = text(self.source, item)?;
        if choices.contains(&word) {
            return Ok(Some(word));
        }
        let message = format!("`{key}` cannot be `{word}`");
        let label = format!("one of {}", choices.join(", "));
        Err(self.source.error(item.span.clone(), Complaint::new(message, label)))
    }

    /// The sections of a list such as `[[wall]]`; empty if the key is not present.
    pub fn list(&self, key: &str) -> Result<&'a [Item]> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Item { value: Value::Array(items), .. }) => Ok(items),
            Some(item) => {
                let message = format!("`{key}` is a list of sections, not {}", item.value.kind());
                Err(self.source.error(item.span.clone(), Complaint::new(message, format!("write `[[{key}]]`"))))
            }
        }
    }
}

fn first_line_end(text: &str, start: usize) -> usize {
    text.get(start..).and_then(|rest| rest.find('\n')).map_or(text.len(), |i| start + i)
}

/// Reads `item` as a string.
pub fn text<'a>(source: &Source, item: &'a Item) -> Result<&'a str> {
    match &item.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong_kind(source, item, "a string")),
    }
}

/// Reads `item` as a list.
pub fn array<'a>(source: &Source, item: &'a Item) -> Result<&'a [Item]> {
    match &item.value {
        Value::Array(items) => Ok(items),
        _ => Err(wrong_kind(source, item, "a list")),
    }
}

/// The error that `item` has the wrong kind.
pub fn wrong_kind(source: &Source, item: &Item, wanted: &str) -> Error {
    let message = format!("expected {wanted}, found {}", item.value.kind());
    source.error(item.span.clone(), Complaint::new(message, ""))
}
