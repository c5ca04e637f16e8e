//! Suggestions for misspelt names.

/// Longer words get no suggestion.
const LONGEST: usize = 64;

/// The candidate nearest to `word`, if it is near enough; the last of several equally near ones.
pub fn suggestion<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > LONGEST {
        return None;
    }
    let limit = (length + 1) / 3;
    let ranked = candidates.map(|c| (distance(&word.to_lowercase(), &c.to_lowercase()), c));
    let near = ranked.filter(|(d, _)| *d <= limit);
    near.reduce(|best, next| if next.0 <= best.0 { next } else { best }).map(|(_, c)| c)
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two words (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().take(2 * LONGEST).collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swapped = if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    rows[i - 2][j - 2] + 1
                } else {
                    usize::MAX
                };
                replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(swapped)
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_word_is_found_and_a_far_one_is_not() {
        let names = ["theta1", "theta2", "m1"];
        assert_eq!(suggestion("theta3", names.into_iter()), Some("theta2"));
        assert_eq!(suggestion("thteta2", names.into_iter()), Some("theta2"));
        assert_eq!(suggestion("omega", names.into_iter()), None);
        assert_eq!(suggestion(&"x".repeat(300), names.into_iter()), None);
    }
}
