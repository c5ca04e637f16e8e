//! A derivation as a LaTeX document.

use super::document::{Block, Derivation, Equation, paragraph};
use super::wrap::{Frame, chunks};
use crate::expr::print::Layout;
use crate::expr::print::latex::{escape, render};
use crate::expr::print::text;

/// About how many signs fit on a line of the page.
const LINE: usize = 80;

impl Derivation {
    /// As a complete LaTeX document.
    pub fn to_latex(&self) -> String {
        format!(
            "\\documentclass{{article}}\n\\usepackage[a4paper,margin=25mm]{{geometry}}\n\\usepackage{{amsmath}}\n\
             \\allowdisplaybreaks\n\\title{{{}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n{}\\end{{document}}\n",
            escape(&self.title),
            self.to_latex_body()
        )
    }

    /// As sections to be put into another document, which needs `amsmath`.
    pub fn to_latex_body(&self) -> String {
        let mut out = String::new();
        for section in &self.sections {
            out += &format!("\n\\section*{{{}}}\n", escape(&section.title));
            out += &section.blocks.iter().map(block).collect::<String>();
        }
        out
    }
}

fn block(block: &Block) -> String {
    match block {
        Block::Prose(spans) => paragraph(spans, escape, |layout| format!("${}$", render(layout))) + "\n",
        Block::Equations(equations) => {
            let lines: Vec<String> = equations.iter().map(equation).collect();
            format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n"))
        }
    }
}

fn equation(equation: &Equation) -> String {
    let long_left = text::width(&text::render(&equation.left)) > LINE;
    if long_left {
        return format!("& {} = {}", broken(&equation.left), render(&equation.right));
    }
    format!("{} &= {}", render(&equation.left), broken(&equation.right))
}

/// A long formula on several lines of the display.
fn broken(layout: &Layout) -> String {
    let (mut out, mut used) = (String::new(), 0);
    for (i, chunk) in chunks(layout, LINE).iter().enumerate() {
        if i > 0 && used + chunk.width() > LINE {
            out += " \\\\\n& \\quad ";
            used = 0;
        }
        out += match (i, chunk.negative) {
            (0, false) => "",
            (0, true) => "-",
            (_, true) => " - ",
            (_, false) => " + ",
        };
        match chunk.opens {
            Some(Frame::Over(below)) => out += &format!("\\frac{{1}}{{{}}} \\bigl( ", render(below)),
            Some(Frame::Times(factors)) => {
                out += &format!("{} \\bigl( ", render(&Layout::Product(factors.to_vec())));
            }
            None => {}
        }
        out += if chunk.negative_inside { "-" } else { "" };
        out += &render(chunk.body);
        out += if chunk.closes.is_some() { " \\bigr)" } else { "" };
        used += chunk.width() + if chunk.opens.is_some() { 10 } else { 0 };
    }
    out
}
