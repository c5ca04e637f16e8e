//! What people write who know another language.

use super::{Complaint, is_function};

/// `np.cos`, `math.pi`, `theta.diff(t)`: only points and bodies have a `.`.
pub(super) fn member(name: &str, member: &str) -> Complaint {
    let label = match member {
        "diff" | "dot" | "derivative" => velocity(name),
        "pi" => "write `pi` alone".to_string(),
        known if is_function(known) => format!("write `{known}` alone"),
        other => translated(other).unwrap_or_else(|| "only points and bodies have a `.`, as in `tip.x`".into()),
    };
    Complaint::new(format!("`{name}.{member}` is not a name"), label)
}

/// What to write for a function that carom does not know, called with `argument` if that is a name.
pub(super) fn function(name: &str, argument: Option<&str>) -> Option<String> {
    match (name, argument) {
        ("diff" | "Derivative" | "derivative" | "ddt" | "dot" | "D", Some(x)) => Some(velocity(x)),
        _ => translated(name),
    }
}

/// What to say of a comparison outside of `if`, where `rest` follows it.
pub(super) fn comparison(sign: &str, rest: &str) -> String {
    match (sign, rest.trim()) {
        (">=" | ">", "0") => format!("leave out `{sign} 0`: a wall keeps its `phi` ≥ 0"),
        ("<=" | "<", "0") => format!("leave out `{sign} 0` and reverse the sign: a wall keeps its `phi` ≥ 0"),
        _ => "comparisons belong in `if(…)`, in `[outputs]`".into(),
    }
}

fn velocity(name: &str) -> String {
    format!("write `{name}'` for the time derivative")
}

fn translated(function: &str) -> Option<String> {
    let here = match function {
        "ln" => return Some("write `log`, which is the natural logarithm".into()),
        "pow" | "power" => return Some("write `x^y` for a power".into()),
        "arcsin" => "asin",
        "arccos" => "acos",
        "arctan" => "atan",
        "arctan2" => "atan2",
        "fabs" | "Abs" => "abs",
        "sgn" => "sign",
        "norm" => "hypot",
        "Sin" | "Cos" | "Tan" | "Exp" | "Log" | "Sqrt" => return Some(format!("write `{}`", function.to_lowercase())),
        _ => return None,
    };
    Some(format!("write `{here}`"))
}
