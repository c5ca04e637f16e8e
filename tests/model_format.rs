//! The examples of `docs/model-format.md` are models.
//!
//! A block with `coordinates` or `[mechanism]` is a whole model. Any other is a part, laid over the last whole one: a section takes the
//! place of the one of that name, a `[[section]]` is added.

use std::fs;
use std::path::Path;

use carom::lab::model::Model;

/// The blocks of TOML on the page, each with its line.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        match (inside, line) {
            (false, "```toml") => blocks.push((number + 1, String::new())),
            (true, "```") => {}
            (true, line) => {
                let last = blocks.len() - 1;
                blocks[last].1 += &format!("{line}\n");
            }
            _ => continue,
        }
        inside = line != "```";
    }
    blocks
}

/// The text before the first header, then each header with what follows it.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut sections = vec![(String::new(), String::new())];
    for line in text.lines() {
        if line.starts_with('[') {
            let header = line.split('#').next().unwrap_or_default().trim().to_string();
            sections.push((header, String::new()));
        } else {
            let last = sections.len() - 1;
            sections[last].1 += &format!("{line}\n");
        }
    }
    sections
}

fn laid_over(part: &str, whole: &str) -> String {
    let mut result = sections(whole);
    for (header, body) in sections(part).into_iter().skip(1) {
        let old = result.iter_mut().find(|(other, _)| *other == header && !header.starts_with("[["));
        match old {
            Some(old) => old.1 = body,
            None => result.push((header, body)),
        }
    }
    result.iter().map(|(header, body)| format!("{header}\n{body}")).collect()
}

#[test]
fn every_example_on_the_page_is_a_model() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/model-format.md");
    let page = fs::read_to_string(path).expect("the page is there");
    let blocks = blocks(&page);
    assert!(blocks.len() > 10, "only {} examples were found", blocks.len());
    let mut whole = String::new();
    for (line, block) in blocks {
        let is_whole = block.contains("coordinates =") || block.contains("[mechanism]");
        let text = if is_whole { block.clone() } else { laid_over(&block, &whole) };
        let model = Model::from_text("example", &text, &[]);
        if let Err(error) = model.and_then(|model| model.start()) {
            panic!("docs/model-format.md:{line}: {error}\nin\n{text}");
        }
        if is_whole {
            whole = block;
        }
    }
}
