//! `carom paper`.

use std::path::Path;
use std::process::ExitCode;

use carom::lab::error::{Diagnostic, Result};
use carom_papers::{Entry, Finding, REGISTRY, named};

use carom_report::figure;
use carom_report::file::Target;

use super::picture::command_line;
use super::spinner;
use crate::args;
use crate::output::print;
use crate::style::{QUIET, STRONG, paint, room};

/// The width of lines.
const WIDTH: usize = 100;

/// Lists the figures and tables, or computes one or all.
pub fn paper(arguments: &args::Paper) -> Result<ExitCode> {
    match arguments.what.as_str() {
        "list" => {
            if arguments.report.is_some() {
                let help = "give the name of a figure, or `all`";
                return Err(Diagnostic::new("`--report` needs something to report").with_help(help).into());
            }
            for entry in &REGISTRY {
                print(&heading(entry, &format!("{:<12}", entry.id)))?;
            }
        }
        "all" => {
            let pages = arguments.report.as_deref().map(Gallery::new).transpose()?;
            let mut findings = Vec::new();
            for entry in &REGISTRY {
                findings.push((entry, show(entry, arguments.out.as_deref())?));
                print("\n")?;
            }
            if let Some(pages) = pages {
                print(&format!("gallery    {}\n", pages.write(findings)?.display()))?;
            }
        }
        id => {
            let entry = named(id)?;
            let page = arguments.report.as_deref().map(|path| Target::new(path, "--report", &["html"])).transpose()?;
            let finding = show(entry, arguments.out.as_deref())?;
            if let Some(page) = page {
                page.write(figure::html(entry, &finding, &command_line()).as_bytes())?;
                print(&format!("  {:<9} {}\n", "report", paint(QUIET, &page.path().display().to_string())))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn heading(entry: &Entry, id: &str) -> String {
    let cite = format!("[{}]", entry.document);
    format!("{} {} {}\n", paint(STRONG, id), entry.title, paint(QUIET, &cite))
}

/// Computes one figure or table, prints the finding, and writes its data.
fn show(entry: &Entry, folder: Option<&Path>) -> Result<Finding> {
    let bar = spinner();
    let finding = entry.compute(&mut |what| bar.set_message(format!("{}: {what}", entry.id)));
    bar.finish_and_clear();
    let finding = finding?;
    let files = folder.map(|folder| save(entry, &finding, folder)).transpose()?.unwrap_or_default();
    let mut text =
        heading(entry, entry.id) + &paragraph("claim", entry.claim) + &paragraph("finding", &finding.finding);
    text += &format!("  {:<9} {}\n", "verdict", paint(STRONG, finding.verdict.words()));
    let width = finding.numbers.iter().map(|number| room(&number.name)).max().unwrap_or(0);
    for (k, number) in finding.numbers.iter().enumerate() {
        let (head, pad) = (if k == 0 { "numbers" } else { "" }, " ".repeat(width - room(&number.name)));
        text += &format!("  {head:<9} {}{pad}  {}\n", number.name, short(number.value));
    }
    for (k, file) in files.iter().enumerate() {
        text += &format!("  {:<9} {}\n", if k == 0 { "data" } else { "" }, paint(QUIET, file));
    }
    print(&text)?;
    Ok(finding)
}

/// A folder of pages, one for each figure, with an index.
struct Gallery {
    index: Target,
    pages: Vec<Target>,
}

impl Gallery {
    /// Creates the folder, and checks that the pages can be written there.
    fn new(folder: &Path) -> Result<Gallery> {
        let unwritable = |e| Diagnostic::new(format!("cannot make the folder `{}`: {e}", folder.display()));
        std::fs::create_dir_all(folder).map_err(unwritable)?;
        let target = |name: &str| Target::new(&folder.join(format!("{name}.html")), "--report", &["html"]);
        let pages = REGISTRY.iter().map(|entry| target(entry.id)).collect::<Result<_>>()?;
        Ok(Gallery { index: target("index")?, pages })
    }

    fn write(&self, findings: Vec<(&'static Entry, Finding)>) -> Result<&Path> {
        let command = command_line();
        let mut cards = Vec::new();
        for (page, (entry, finding)) in self.pages.iter().zip(findings) {
            page.write(figure::html(entry, &finding, &command).as_bytes())?;
            cards.push((entry, finding, format!("{}.html", entry.id)));
        }
        self.index.write(figure::gallery(&cards, &command).as_bytes())?;
        Ok(self.index.path())
    }
}

/// Integers in full, other numbers with four digits.
fn short(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e6 {
        return format!("{value}");
    }
    if (0.1..1000.0).contains(&value.abs()) { format!("{value:.3}") } else { format!("{value:.3e}") }
}

fn paragraph(head: &str, text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| room(line));
        if line > 0 && line + 1 + room(word) > WIDTH - 12 {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    let line = |(k, line): (usize, &String)| format!("  {:<9} {line}\n", if k == 0 { head } else { "" });
    lines.iter().enumerate().map(line).collect()
}

/// Writes each table of a finding. Returns the file names.
fn save(entry: &Entry, finding: &Finding, folder: &Path) -> Result<Vec<String>> {
    let unwritable = |e| Diagnostic::new(format!("cannot make the folder `{}`: {e}", folder.display()));
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let mut files = Vec::new();
    for table in &finding.tables {
        let path = folder.join(format!("{}-{}.csv", entry.id, table.name));
        Target::any(&path)?.write(table.csv().as_bytes())?;
        files.push(path.display().to_string());
    }
    Ok(files)
}
