//! A derivation for a terminal: equations aligned, matrices in brackets, long sums broken at their terms.

use super::document::{Block, Derivation, Equation, paragraph};
use super::wrap::{Frame, chunks};
use crate::expr::print::Layout;
use crate::expr::print::text::{denominator, render, width};

/// Lines are broken near this column where they can be.
const COLUMNS: usize = 100;
const INDENT: &str = "    ";

impl Derivation {
    /// As text for a terminal.
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\n{}\n", self.title, "═".repeat(width(&self.title)));
        for section in &self.sections {
            out += &format!("\n{}\n{}\n\n", section.title, "─".repeat(width(&section.title)));
            let blocks: Vec<String> = section.blocks.iter().map(block).collect();
            out += &blocks.join("\n");
        }
        out
    }
}

fn block(block: &Block) -> String {
    match block {
        Block::Prose(spans) => paragraph(spans, str::to_string, render) + "\n",
        Block::Equations(equations) => {
            let left = equations.iter().map(|e| width(&render(&e.left))).max().unwrap_or(0);
            // A long left side is not worth aligning to.
            let left = if left > 40 { 0 } else { left };
            equations.iter().map(|e| equation(e, left)).collect()
        }
    }
}

fn equation(equation: &Equation, left: usize) -> String {
    let lines = if let Layout::Sum(_) = equation.left
        && width(&render(&equation.left)) > COLUMNS
    {
        let mut lines = wrapped(&equation.left);
        if let Some(last) = lines.last_mut() {
            *last += &format!(" = {}", render(&equation.right));
        }
        return lines.iter().map(|line| format!("{INDENT}{line}\n")).collect();
    } else {
        right_side(&equation.right)
    };
    let name = render(&equation.left);
    let pad = " ".repeat(left.saturating_sub(width(&name)));
    // The relation stands beside the middle of a matrix.
    let middle = if matches!(equation.right, Layout::Matrix(_)) { (lines.len() - 1) / 2 } else { 0 };
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        let head = if i == middle { format!("{pad}{name} = ") } else { " ".repeat(left.max(width(&name)) + 3) };
        out += &format!("{INDENT}{head}{line}\n");
    }
    out
}

fn right_side(layout: &Layout) -> Vec<String> {
    match layout {
        Layout::Matrix(rows) => matrix(rows),
        other => wrapped(other),
    }
}

/// A long formula on several lines, each but the first beginning with a sign.
fn wrapped(layout: &Layout) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for (i, chunk) in chunks(layout, COLUMNS).iter().enumerate() {
        let sign = match (i, chunk.negative) {
            (0, false) => "",
            (0, true) => "−",
            (_, false) => "+ ",
            (_, true) => "− ",
        };
        let open = match chunk.opens {
            None => String::new(),
            Some(Frame::Over(_)) => "(".into(),
            Some(Frame::Times(factors)) => factors.iter().map(|f| render(f) + " ").collect::<String>() + "(",
        };
        let inside = if chunk.negative_inside { "−" } else { "" };
        let close = match chunk.closes {
            None => String::new(),
            Some(Frame::Over(below)) => format!(")/{}", denominator(below)),
            Some(Frame::Times(_)) => ")".into(),
        };
        let piece = format!("{sign}{open}{inside}{}{close}", render(chunk.body));
        match lines.last_mut() {
            Some(line) if i == 0 || width(line) + width(&piece) < COLUMNS => {
                *line += if i == 0 { "" } else { " " };
                *line += &piece;
            }
            _ => lines.push(format!("  {piece}")),
        }
    }
    lines
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
