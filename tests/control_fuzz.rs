//! Control problems with random mistakes. `CAROM_FUZZ=10000` asks for more of them.

use carom::Model;
use serde_json::Value;

/// Problems with random mistakes: an answer or an error, never a panic.
#[test]
fn random_problems_end() {
    let count: usize = std::env::var("CAROM_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let all: Value = serde_json::from_str(include_str!("reference/control.json")).expect("it is JSON");
    let problems = all["problems"].as_array().expect("it is a list");
    let models: Vec<&str> = problems.iter().map(|problem| problem["model"].as_str().expect("it is text")).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut dice = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % n
    };
    let numbers = [
        "0",
        "-1",
        "2",
        "1e-9",
        "1e9",
        "0.5",
        "{}",
        "{min = -1, max = 1}",
        "\"u\"",
        "\"t\"",
        "[0]",
        "true",
        "\"sqrt(x)\"",
    ];
    let mut answers = 0;
    for _ in 0..count {
        let mut lines: Vec<String> = models[dice(models.len())].lines().map(str::to_string).collect();
        for _ in 0..1 + dice(3) {
            let (i, j) = (dice(lines.len()), dice(lines.len()));
            match dice(4) {
                0 => drop(lines.remove(i)),
                1 => lines.swap(i, j),
                2 => lines.insert(i, lines[j].clone()),
                _ => {
                    if let Some((key, _)) = lines[i].clone().split_once('=').filter(|(key, _)| !key.contains("steps")) {
                        lines[i] = format!("{key}= {}", numbers[dice(numbers.len())]);
                    }
                }
            }
        }
        let settings: Vec<String> = (0..3).map(|k| format!("phase[{k}].steps={}", 1 + dice(8))).collect();
        let text = lines.join("\n");
        for settings in [&settings[..1], &settings[..2]] {
            if let Ok(model) = Model::from_text("random.toml", &text, settings)
                && model.optimize().iterations(20).run().is_ok()
            {
                answers += 1;
            }
        }
    }
    assert!(answers > count / 10, "only {answers} of {count} have an answer");
}
