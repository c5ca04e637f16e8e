//! A derivation as text for a terminal: aligned equations, matrices in brackets, long formulas on several lines.

use super::document::{Block, Derivation, Equation, paragraph};
use super::wrap::{self, Script};
use crate::expr::print::layout::{Call, Layout};
use crate::expr::print::text::{denominator, exponent, function, render, width};

/// The default number of columns.
const COLUMNS: usize = 100;
/// Narrower pages are treated as this wide.
const NARROWEST: usize = 40;
const INDENT: &str = "    ";
/// The indentation of continuation lines.
const HANG: &str = "  ";

impl Derivation {
    /// The derivation as text, 100 columns wide.
    pub fn to_text(&self) -> String {
        self.to_text_within(COLUMNS)
    }

    /// The derivation as text for a terminal of this many columns.
    pub fn to_text_within(&self, columns: usize) -> String {
        let columns = columns.max(NARROWEST);
        let mut out = format!("{}\n{}\n", self.title, "═".repeat(width(&self.title)));
        for section in &self.sections {
            out += &format!("\n{}\n{}\n\n", section.title, "─".repeat(width(&section.title)));
            let blocks: Vec<String> = section.blocks.iter().map(|b| block(b, columns)).collect();
            out += &blocks.join("\n");
        }
        out
    }
}

fn block(block: &Block, columns: usize) -> String {
    match block {
        Block::Prose(spans) => filled(&paragraph(spans, str::to_string, render), columns),
        Block::Equations(equations) => {
            let room = columns - INDENT.len();
            let fits = |e: &Equation| matrix_width(e) <= room;
            let equations = Equation::entry_by_entry(equations, fits);
            let left = equations.iter().map(|e| width(&render(&e.left))).max().unwrap_or(0);
            // Do not align to a long left-hand side.
            let left = if left > 40.min(room / 2) { 0 } else { left };
            let lines = equations.iter().flat_map(|e| equation(e, left, room));
            lines.map(|line| format!("{INDENT}{line}\n")).collect()
        }
    }
}

/// Breaks text into lines that fit.
fn filled(text: &str, columns: usize) -> String {
    let (mut out, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        if used > 0 {
            let fits = used + 1 + width(word) <= columns;
            out.push(if fits { ' ' } else { '\n' });
            used = if fits { used + 1 } else { 0 };
        }
        out += word;
        used += width(word);
    }
    out + "\n"
}

/// The lines of an equation; the left-hand side is padded to `left` columns.
fn equation(equation: &Equation, left: usize, room: usize) -> Vec<String> {
    let name = render(&equation.left);
    let margin = left.max(width(&name)) + " = ".len();
    let is_matrix = matches!(equation.right, Layout::Matrix(_));
    let fits = || is_matrix || margin + width(&render(&equation.right)) <= room;
    if margin > room / 2 && (wrap::can_break(&equation.left) || !fits()) {
        let mut lines = hanging(&equation.left, room);
        let right = format!("= {}", render(&equation.right));
        match lines.last_mut() {
            Some(last) if width(last) + 1 + width(&right) <= room => *last += &format!(" {right}"),
            _ => {
                let right = hanging(&equation.right, room - HANG.len() - "= ".len());
                let head = |i: usize| if i == 0 { "= " } else { "  " };
                lines.extend(right.iter().enumerate().map(|(i, line)| format!("{HANG}{}{line}", head(i))));
            }
        }
        return lines;
    }
    let lines = match &equation.right {
        Layout::Matrix(rows) => matrix(rows),
        other => hanging(other, room.saturating_sub(margin)),
    };
    // The relation sign is beside the middle row of a matrix.
    let middle = if is_matrix { (lines.len() - 1) / 2 } else { 0 };
    let head = |i: usize| {
        let name = if i == middle { format!("{name} = ") } else { String::new() };
        " ".repeat(margin - width(&name)) + &name
    };
    lines.iter().enumerate().map(|(i, line)| head(i) + line).collect()
}

/// Breaks a formula into lines of at most `room` columns; continuation lines are indented.
fn hanging(layout: &Layout, room: usize) -> Vec<String> {
    let fits = width(&render(layout)) <= room;
    let room = if fits { room } else { room.saturating_sub(HANG.len()).max(NARROWEST / 2) };
    let mut lines = wrap::lines(layout, &Plain, room);
    lines.iter_mut().skip(1).for_each(|line| line.insert_str(0, HANG));
    lines
}

/// The width of an equation whose right-hand side is a matrix.
fn matrix_width(equation: &Equation) -> usize {
    let right = match &equation.right {
        Layout::Matrix(rows) => matrix(rows).first().map_or(0, |line| width(line)),
        _ => 0,
    };
    width(&render(&equation.left)) + " = ".len() + right
}

/// The Unicode text notation.
struct Plain;

impl Script for Plain {
    fn columns(&self, layout: &Layout) -> usize {
        width(&render(layout))
    }

    fn formula(&self, layout: &Layout) -> String {
        render(layout)
    }

    fn sign(&self, first: bool, negative: bool) -> &'static str {
        match (first, negative) {
            (true, false) => "",
            (true, true) => "−",
            (false, false) => "+ ",
            (false, true) => "− ",
        }
    }

    fn open(&self, _: &Layout) -> &'static str {
        "("
    }

    fn close(&self, _: &Layout, power: Option<&Layout>) -> String {
        format!("){}", power.map(exponent).unwrap_or_default())
    }

    fn function(&self, call: &Call) -> String {
        function(call)
    }

    fn space(&self) -> &'static str {
        " "
    }

    fn division(&self) -> &'static str {
        "/"
    }

    fn divided_by(&self, below: &Layout) -> String {
        format!("/{}", denominator(below))
    }

    fn inverse(&self, _: &Layout) -> Option<String> {
        None
    }
}

fn matrix(rows: &[Vec<Layout>]) -> Vec<String> {
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(render).collect()).collect();
    let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |j: usize| cells.iter().filter_map(|row| row.get(j)).map(|cell| width(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let line = |(i, row): (usize, &Vec<String>)| {
        let (open, close) = match (i, cells.len()) {
            (_, 1) => ("[", "]"),
            (0, _) => ("⎡", "⎤"),
            (i, n) if i + 1 == n => ("⎣", "⎦"),
            _ => ("⎢", "⎥"),
        };
        let padded: Vec<String> =
            row.iter().zip(&widths).map(|(cell, w)| cell.clone() + &" ".repeat(w - width(cell))).collect();
        format!("{open} {} {close}", padded.join("   "))
    };
    cells.iter().enumerate().map(line).collect()
}
