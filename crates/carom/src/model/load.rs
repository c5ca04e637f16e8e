//! Loads the text of a model.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::source::Source;
use super::{Model, document, read, set};
use crate::catalogue;
use crate::error::{Diagnostic, Result};
use crate::expr::Lease;

/// The maximum size of a model text.
pub const MAX_BYTES: u64 = 4 << 20;

impl Model {
    /// Reads a model from its text, of at most [`MAX_BYTES`]. `settings` are `name=value` pairs that override the text.
    pub fn from_text(name: &str, text: &str, settings: &[String]) -> Result<Model> {
        let _lease = Lease::default();
        check_size(name, text.len())?;
        let mut source = Source::new(name, text);
        if text.trim().is_empty() {
            let help = "a model begins with `coordinates = […]` and `[lagrangian]`; `carom examples` lists some";
            return Err(Diagnostic::new(format!("`{name}` is empty")).with_help(help).into());
        }
        let mut document = document::read(&source)?;
        for setting in settings {
            set::apply(&mut source, &mut document, setting)?;
        }
        read::model(source, &document)
    }

    /// Reads a model from a file, or the shipped model with this name.
    pub fn load(name: &str) -> Result<Model> {
        match catalogue::find(name) {
            Some(example) if !Path::new(name).exists() => Model::from_text(name, example.text, &[]),
            _ => Model::from_file(Path::new(name), &[]),
        }
    }

    /// Reads a model from a file.
    pub fn from_file(path: &Path, settings: &[String]) -> Result<Model> {
        let name = path.display().to_string();
        let text = read_text(path, &name)?;
        Model::from_text(&name, &text, settings)
    }
}

fn check_size(name: &str, bytes: usize) -> Result<()> {
    if bytes as u64 <= MAX_BYTES {
        return Ok(());
    }
    let message = format!("`{name}` is too large for a model: more than {} MB", MAX_BYTES >> 20);
    Err(Diagnostic::new(message).into())
}

fn read_text(path: &Path, name: &str) -> Result<String> {
    let unreadable = |why: std::io::Error| Diagnostic::new(format!("cannot read `{name}`: {}", reason(&why)));
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    check_size(name, bytes.len())?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = 1 + e.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count();
        Diagnostic::new(format!("`{name}` is not text in UTF-8: line {line} has an invalid byte")).into()
    })
}

fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind::{IsADirectory, NotFound, PermissionDenied};
    match error.kind() {
        NotFound => "there is no such file".into(),
        PermissionDenied => "permission denied".into(),
        IsADirectory => "it is a folder".into(),
        _ => error.to_string(),
    }
}
