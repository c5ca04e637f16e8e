//! A derivation in LaTeX, as a document or as a fragment.

use super::document::{Block, Derivation, Equation, paragraph};
use super::wrap::{self, Script};
use crate::expr::print::latex::{escape, function, render};
use crate::expr::print::layout::{Call, Layout};

/// The approximate number of letters that fit on a line.
const LINE: usize = 76;
/// The indentation of continuation lines.
const HANG: usize = 2;

impl Derivation {
    /// The derivation as a complete LaTeX document.
    pub fn to_latex(&self) -> String {
        format!(
            "\\documentclass{{article}}\n\\usepackage[a4paper,margin=25mm]{{geometry}}\n\\usepackage{{amsmath}}\n\
             \\allowdisplaybreaks\n\\title{{{}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n{}\\end{{document}}\n",
            escape(&self.title),
            self.to_latex_body()
        )
    }

    /// The sections, to include in a document that uses `amsmath`.
    pub fn to_latex_body(&self) -> String {
        let section = |title: &str, blocks: &[Block]| {
            let blocks: String = blocks.iter().map(block).collect();
            format!("\n\\section*{{{}}}\n{blocks}", escape(title))
        };
        self.sections.iter().map(|s| section(&s.title, &s.blocks)).collect()
    }

    /// Only the equations, to include in a document that uses `amsmath`; comments name the sections.
    pub fn to_latex_equations(&self) -> String {
        let mut out = String::new();
        for section in &self.sections {
            out += &format!("% {}\n", section.title.replace(['\n', '\r'], " "));
            let displays = section.blocks.iter().filter(|block| matches!(block, Block::Equations(_)));
            out += &displays.map(block).collect::<String>();
        }
        out
    }
}

fn block(block: &Block) -> String {
    match block {
        Block::Prose(spans) => paragraph(spans, escape, |layout| format!("${}$", render(layout))) + "\n",
        Block::Equations(equations) => {
            let fits = |e: &Equation| e.left.breadth() + e.right.breadth() + 3.0 <= LINE as f64;
            let equations = Equation::entry_by_entry(equations, fits);
            let short = |e: &&&Equation| !is_long(&e.left);
            let left = equations.iter().filter(short).map(|e| e.left.breadth() as usize).max().unwrap_or(0);
            let lines: Vec<String> = equations.iter().map(|e| equation(e, left)).collect();
            format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n"))
        }
    }
}

/// True if a left-hand side is too long to align, because it would leave too little space for the right-hand side.
fn is_long(left: &Layout) -> bool {
    left.breadth() > LINE as f64 / 3.0
}

/// One equation, with its relation sign after a left-hand side of `left` letters.
fn equation(equation: &Equation, left: usize) -> String {
    if is_long(&equation.left) {
        let mut all = lines(&equation.left, LINE - left);
        let right = format!("= {}", lines(&equation.right, LINE - left - HANG).join(NEXT));
        match all.last_mut() {
            Some(last) if equation.right.breadth() < 3.0 => *last += &format!(" {right}"),
            _ => all.push(right),
        }
        return format!("& {}", all.join(NEXT));
    }
    format!("{} &= {}", render(&equation.left), lines(&equation.right, LINE - left - 3).join(NEXT))
}

/// The start of a continuation line.
const NEXT: &str = " \\\\\n& \\quad ";

fn lines(layout: &Layout, room: usize) -> Vec<String> {
    let room = if Tex.columns(layout) <= room { room } else { room - HANG };
    wrap::lines(layout, &Tex, room)
}

/// The LaTeX math notation.
struct Tex;

impl Script for Tex {
    fn columns(&self, layout: &Layout) -> usize {
        layout.breadth().ceil() as usize
    }

    fn formula(&self, layout: &Layout) -> String {
        render(layout)
    }

    fn sign(&self, first: bool, negative: bool) -> &'static str {
        match (first, negative) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => "+ ",
            (false, true) => "- ",
        }
    }

    // `\left(` and `\right)` must be on one line, so brackets of fixed size are used.
    fn open(&self, inside: &Layout) -> &'static str {
        if inside.is_tall() { "\\Bigl( " } else { "\\bigl( " }
    }

    fn close(&self, inside: &Layout, exponent: Option<&Layout>) -> String {
        let close = if inside.is_tall() { " \\Bigr)" } else { " \\bigr)" };
        let power = exponent.map(|n| format!("^{{{}}}", render(n))).unwrap_or_default();
        format!("{close}{power}")
    }

    fn function(&self, call: &Call) -> String {
        function(call)
    }

    fn space(&self) -> &'static str {
        " "
    }

    fn division(&self) -> &'static str {
        " \\big/ "
    }

    fn divided_by(&self, below: &Layout) -> String {
        format!("{}{}{}{}", self.division(), self.open(below), render(below), self.close(below, None))
    }

    fn inverse(&self, below: &Layout) -> Option<String> {
        Some(format!("\\frac{{1}}{{{}}} ", render(below)))
    }
}
