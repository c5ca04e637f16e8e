//! The module graph of the library is the one in ARCHITECTURE.md, and it has no cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The lines `module: those that it uses` of ARCHITECTURE.md.
fn documented() -> Graph {
    let text = include_str!("../ARCHITECTURE.md");
    let start = text.find("```modules\n").expect("ARCHITECTURE.md lists the modules") + "```modules\n".len();
    let list = &text[start..start + text[start..].find("```").expect("the list ends")];
    let line = |line: &str| {
        let (module, uses) = line.split_once(':').unwrap_or_else(|| panic!("`{line}` is not `module: uses`"));
        (module.trim().to_string(), uses.split_whitespace().map(String::from).collect())
    };
    list.lines().filter(|line| !line.trim().is_empty()).map(line).collect()
}

/// The modules that a source text uses, tests and comments left out.
fn uses(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    code.split("crate::")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

fn sources(path: &Path, found: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("it can be read") {
            sources(&entry.expect("an entry").path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        found.extend(uses(&std::fs::read_to_string(path).expect("a source")));
    }
}

fn actual() -> Graph {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/carom/src");
    let mut graph = Graph::new();
    for entry in std::fs::read_dir(root).expect("the sources") {
        let path = entry.expect("an entry").path();
        let module = path.file_stem().and_then(|name| name.to_str()).expect("UTF-8").to_string();
        // `lib.rs` and `lab.rs` name everything.
        if module == "lib" || module == "lab" {
            continue;
        }
        let mut found = BTreeSet::new();
        sources(&path, &mut found);
        found.remove(&module);
        graph.insert(module, found);
    }
    graph
}

#[test]
fn the_module_graph_is_the_documented_one() {
    let (documented, actual) = (documented(), actual());
    for (module, uses) in &actual {
        let due = documented.get(module).unwrap_or_else(|| panic!("ARCHITECTURE.md does not list `{module}`"));
        let new: Vec<_> = uses.difference(due).collect();
        assert!(new.is_empty(), "`{module}` uses {new:?}, which ARCHITECTURE.md does not allow");
        let gone: Vec<_> = due.difference(uses).collect();
        assert!(gone.is_empty(), "ARCHITECTURE.md says that `{module}` uses {gone:?}, and it does not");
    }
    assert!(documented.keys().all(|module| actual.contains_key(module)), "ARCHITECTURE.md lists a module that is gone");
}

/// Every module can be put after all that it uses.
#[test]
fn there_are_no_cycles() {
    let mut graph = documented();
    while !graph.is_empty() {
        let free: Vec<String> =
            graph.iter().filter(|(_, uses)| uses.is_empty()).map(|(name, _)| name.clone()).collect();
        assert!(!free.is_empty(), "a cycle among {:?}", graph.keys());
        for name in free {
            graph.remove(&name);
            graph.values_mut().for_each(|uses| {
                uses.remove(&name);
            });
        }
    }
}

/// The modules that use a module, directly or through others.
fn above<'g>(graph: &'g Graph, module: &str) -> BTreeSet<&'g str> {
    let mut above: BTreeSet<&str> = BTreeSet::new();
    loop {
        let uses_one =
            |uses: &BTreeSet<String>| uses.iter().any(|used| used == module || above.contains(used.as_str()));
        let more: Vec<&str> = graph.iter().filter(|(_, uses)| uses_one(uses)).map(|(name, _)| name.as_str()).collect();
        let count = above.len();
        above.extend(more);
        if above.len() == count {
            return above;
        }
    }
}

/// A plant turns a system into numbers: what is built on it gets its numbers from there.
#[test]
fn nothing_above_the_plant_reads_an_expression() {
    let graph = actual();
    let above = above(&graph, "plant");
    assert!(["step", "run", "simulation", "analysis"].iter().all(|name| above.contains(name)), "{above:?}");
    for module in above {
        let reads = graph[module].contains("expr");
        assert!(!reads, "`{module}` uses `expr`: move what it reads there into the plant, its mechanics or the model");
    }
}

/// The names that the root of the crate re-exports.
fn names_at_the_root() -> Vec<&'static str> {
    let text = include_str!("../crates/carom/src/lib.rs");
    let list = |rest: &'static str| {
        let list = rest.split(';').next().unwrap_or_default();
        let names = list.split_once('{').map_or(list, |(_, names)| names.trim_end_matches('}'));
        names.split(',').map(str::trim).filter(|name| !name.is_empty())
    };
    text.split("pub use ").skip(1).flat_map(list).collect()
}

/// A newcomer sees at most forty names at the root of the crate; the others are in `carom::analysis`, `carom::sweep` and `carom::lab`.
#[test]
fn the_root_of_the_crate_has_at_most_forty_names() {
    let names = names_at_the_root();
    assert!(names.contains(&"Simulation"), "the list was not read: {names:?}");
    assert!(names.len() <= 40, "{} names: {names:?}", names.len());
}

/// The names of the public types that a source text defines.
fn public_types(text: &str) -> impl Iterator<Item = String> {
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let defined = |line: &str| {
        let words = ["struct", "enum", "trait", "type"].map(|word| format!("pub {word} "));
        words.iter().find_map(|words| line.trim_start().strip_prefix(words.as_str())).map(name)
    };
    text.lines().filter_map(defined).collect::<Vec<String>>().into_iter()
}

fn defined_in(path: &Path, found: &mut BTreeMap<String, Vec<String>>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("it can be read") {
            defined_in(&entry.expect("an entry").path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let text = std::fs::read_to_string(path).expect("a source");
        public_types(&text).for_each(|name| found.entry(name).or_default().push(path.display().to_string()));
    }
}

/// A name of a public type means one thing in all of the library.
#[test]
fn no_two_public_types_share_a_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/carom/src");
    let mut found = BTreeMap::new();
    defined_in(&root, &mut found);
    let names = names_at_the_root();
    assert!(names.iter().filter(|name| found.contains_key(**name)).count() > 20, "the sources were not read");
    let twice: Vec<_> = found.iter().filter(|(_, at)| at.len() > 1).collect();
    assert!(twice.is_empty(), "defined more than once: {twice:?}");
}
