//! How the name of a symbol is written: `theta1'-` is θ̇₁⁻.
//!
//! A name is a letter or word, a subscript (trailing digits, what follows `_`, or an index in brackets), a dot for each `'`,
//! and after these a `-` or `+` for the value just before or just after an impact.

/// A name, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The letter or word that carries the rest.
    pub base: String,
    /// The subscripts, in order.
    pub subscripts: Vec<String>,
    /// 1 for a velocity, 2 for an acceleration.
    pub dots: usize,
    /// `+` or `-` for one side of an impact.
    pub side: Option<char>,
}

/// Letters beyond the alphabet: the name, the letter, and what LaTeX calls it. Script letters have names that no model can
/// use: they are for derived quantities whose usual letter a model has taken.
const LETTERS: [(&str, char, &str); 40] = [
    ("alpha", 'α', "\\alpha"),
    ("beta", 'β', "\\beta"),
    ("gamma", 'γ', "\\gamma"),
    ("delta", 'δ', "\\delta"),
    ("epsilon", 'ε', "\\varepsilon"),
    ("zeta", 'ζ', "\\zeta"),
    ("eta", 'η', "\\eta"),
    ("theta", 'θ', "\\theta"),
    ("iota", 'ι', "\\iota"),
    ("kappa", 'κ', "\\kappa"),
    ("lambda", 'λ', "\\lambda"),
    ("mu", 'μ', "\\mu"),
    ("nu", 'ν', "\\nu"),
    ("xi", 'ξ', "\\xi"),
    ("pi", 'π', "\\pi"),
    ("rho", 'ρ', "\\rho"),
    ("sigma", 'σ', "\\sigma"),
    ("tau", 'τ', "\\tau"),
    ("upsilon", 'υ', "\\upsilon"),
    ("phi", 'φ', "\\varphi"),
    ("chi", 'χ', "\\chi"),
    ("psi", 'ψ', "\\psi"),
    ("omega", 'ω', "\\omega"),
    ("Gamma", 'Γ', "\\Gamma"),
    ("Delta", 'Δ', "\\Delta"),
    ("Theta", 'Θ', "\\Theta"),
    ("Lambda", 'Λ', "\\Lambda"),
    ("Xi", 'Ξ', "\\Xi"),
    ("Pi", 'Π', "\\Pi"),
    ("Sigma", 'Σ', "\\Sigma"),
    ("Upsilon", 'Υ', "\\Upsilon"),
    ("Phi", 'Φ', "\\Phi"),
    ("Psi", 'Ψ', "\\Psi"),
    ("Omega", 'Ω', "\\Omega"),
    ("ell", 'ℓ', "\\ell"),
    ("script-L", 'ℒ', "\\mathcal{L}"),
    ("script-H", 'ℋ', "\\mathcal{H}"),
    ("script-M", 'ℳ', "\\mathcal{M}"),
    ("script-T", '𝒯', "\\mathcal{T}"),
    ("script-V", '𝒱', "\\mathcal{V}"),
];

/// The letter for a Greek name, or the word unchanged.
pub fn letters(word: &str) -> String {
    LETTERS.iter().find(|(name, ..)| *name == word).map_or_else(|| word.to_owned(), |(_, letter, _)| letter.to_string())
}

/// What LaTeX calls a letter.
pub fn latex_letter(letter: char) -> Option<&'static str> {
    LETTERS.iter().find(|(_, c, _)| *c == letter).map(|(.., command)| *command)
}

impl Name {
    /// Takes a symbol's name apart. Every text is a name of some kind.
    pub fn parse(text: &str) -> Name {
        let side = text.chars().last().filter(|c| matches!(c, '+' | '-'));
        let text = text.trim_end_matches(['+', '-']);
        let word = text.trim_end_matches('\'');
        let dots = text.len() - word.len();
        let (word, index) = match word.strip_suffix(']').and_then(|word| word.split_once('[')) {
            Some((word, index)) => (word, Some(index)),
            None => (word, None),
        };
        let mut parts = word.split('_').filter(|part| !part.is_empty());
        let first = parts.next().unwrap_or(word);
        let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = if stem.is_empty() { first } else { stem };
        let digits = &first[stem.len()..];
        let mut subscripts = Vec::new();
        subscripts.extend((!digits.is_empty()).then(|| digits.to_owned()));
        for part in parts {
            let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
            let greek = letters(stem);
            // θ₁ as a subscript keeps its own number: p_theta1.
            let part = if greek == stem { part.to_owned() } else { greek + &part[stem.len()..] };
            subscripts.push(part);
        }
        subscripts.extend(index.map(str::to_owned));
        Name { base: letters(stem), subscripts, dots, side }
    }

    /// True if its base is one letter.
    pub fn is_letter(&self) -> bool {
        self.base.chars().nth(1).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart() {
        let name = Name::parse("theta1'-");
        assert_eq!((name.base.as_str(), name.dots, name.side), ("θ", 1, Some('-')));
        assert_eq!(name.subscripts, ["1"]);
        assert_eq!(Name::parse("x_max").subscripts, ["max"]);
        assert_eq!(Name::parse("theta[12]'").subscripts, ["12"]);
        assert_eq!(Name::parse("x1[2]").subscripts, ["1", "2"]);
        assert_eq!(Name::parse("p_theta1").subscripts, ["θ1"]);
        assert_eq!(Name::parse("θ2''").dots, 2);
        assert_eq!(Name::parse("mass").base, "mass");
        assert_eq!(Name::parse("").base, "");
        assert_eq!(Name::parse("_").base, "_");
    }
}
