//! Commands that another program calls: what they print is returned.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use carom::{Diagnostic, ForceFunction, Model, Result};
use clap::Parser;

use crate::args::Arguments;
use crate::{commands, number};

/// A command, called by another program.
#[derive(Clone, Debug)]
pub struct Call {
    /// The words of the command line, without the name of the program.
    pub words: Vec<String>,
    /// The text of a model, by the name that the words call it.
    pub model: Option<(String, String)>,
    /// A force of that model that is a function.
    pub force: Option<ForceFunction>,
    /// Ends the command when it becomes true.
    pub stop: Arc<AtomicBool>,
}

/// What a command said.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// What it printed on standard output.
    pub text: String,
    /// What it printed on standard error.
    pub said: Vec<Said>,
    /// The exit code.
    pub code: u8,
}

/// A line on standard error.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// `note: …`
    Note(String),
    /// `warning: …`
    Warning(String),
    /// Anything else.
    Other(String),
}

struct Session {
    call: Call,
    answer: Answer,
}

thread_local! {
    /// The call that this thread executes; none if the command was typed.
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

impl Call {
    /// Executes the command.
    pub fn answer(self) -> Result<Answer> {
        let words = ["carom".to_string()].into_iter().chain(self.words.iter().cloned());
        let arguments = Arguments::try_parse_from(words).map_err(|error| Diagnostic::new(plain(&error.to_string())))?;
        SESSION.set(Some(Session { call: self, answer: Answer::default() }));
        let result = commands::execute(arguments.command);
        let answer = SESSION.take().map(|session| session.answer).unwrap_or_default();
        result.map(|code| Answer { code: number(code), ..answer })
    }
}

/// Keeps what is said on standard error.
pub fn listen<T>(work: impl FnOnce() -> T) -> (T, Vec<Said>) {
    let call = Call { words: Vec::new(), model: None, force: None, stop: Arc::default() };
    SESSION.set(Some(Session { call, answer: Answer::default() }));
    let result = work();
    (result, SESSION.take().map(|session| session.answer.said).unwrap_or_default())
}

fn with<T>(look: impl FnOnce(&mut Session) -> T) -> Option<T> {
    SESSION.with_borrow_mut(|session| session.as_mut().map(look))
}

/// True if another program called the command.
pub fn is_called() -> bool {
    with(|_| ()).is_some()
}

/// The words of the call that say what is computed, without the name of the program: where it goes is the caller's affair.
pub fn words() -> Option<Vec<String>> {
    let words = with(|session| session.call.words.clone())?;
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" | "--small" => {}
            "--report" | "--plot" | "--animate" | "--restart" => drop(words.next()),
            _ => kept.push(word),
        }
    }
    Some(kept)
}

/// The flag that ends the call.
pub fn stop() -> Option<Arc<AtomicBool>> {
    with(|session| session.call.stop.clone())
}

/// The model of the call, if it has this name.
pub fn model(name: &str, settings: &[String]) -> Option<Result<Model>> {
    let call = with(|session| (session.call.model.clone(), session.call.force.clone()))?;
    let (name, text) = call.0.filter(|(known, _)| known == name)?;
    let model = Model::from_text(&name, &text, settings);
    Some(match call.1 {
        Some(force) => model.and_then(|model| model.with_force(force)),
        None => model,
    })
}

/// Keeps what is printed; false if nobody calls.
pub fn hear(text: &str) -> bool {
    with(|session| session.answer.text += &plain(text)).is_some()
}

/// Keeps a line for standard error; false if nobody calls.
pub fn hear_aside(text: &str) -> bool {
    with(|session| {
        let text = plain(text);
        let said = match (text.strip_prefix("warning: "), text.strip_prefix("note: ")) {
            (Some(warning), _) => Said::Warning(warning.into()),
            (_, Some(note)) => Said::Note(note.into()),
            _ => Said::Other(text),
        };
        session.answer.said.push(said);
    })
    .is_some()
}

/// Without colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &[&str], model: Option<(&str, &str)>) -> Result<Answer> {
        let model = model.map(|(name, text)| (name.to_string(), text.to_string()));
        Call { words: words.iter().map(ToString::to_string).collect(), model, force: None, stop: Arc::default() }
            .answer()
    }

    #[test]
    fn a_call_returns_what_the_command_prints() {
        let answer = call(&["examples", "pendulum"], None).expect("it is shipped");
        assert!(answer.text.contains("[lagrangian]"), "{}", answer.text);
        let ball = "coordinates = [\"y\"]\n[lagrangian]\nT = \"y'^2/2\"\nV = \"9.8*y\"\n[initial]\nq = [1]\nv = [0]\n";
        let answer = call(&["check", "ball"], Some(("ball", ball))).expect("it is a model");
        assert!(answer.text.contains("no mistakes found") && !answer.text.contains('\u{1b}'), "{}", answer.text);
        let wrong = call(&["check", "ball"], Some(("ball", &ball.replace("9.8*y", "9.8*z"))));
        assert!(wrong.is_err_and(|error| error.to_string().contains("unknown name `z`")));
    }

    #[test]
    fn a_call_that_is_told_to_stop_does() {
        let words = ["run", "double-pendulum", "--method", "cva", "--step", "1e-6", "--until", "100", "--json"];
        let stop = Arc::new(AtomicBool::new(true));
        let call = Call { words: words.map(String::from).to_vec(), model: None, force: None, stop };
        let answer = call.answer().expect("it begins");
        assert!(answer.text.contains("\"interrupted\""), "{}", answer.text);
    }
}
