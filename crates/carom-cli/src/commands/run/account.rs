//! Output of the energy account.

use carom::Account;

use super::report::significant;
use crate::json::Object;

/// The account as JSON.
pub fn json(account: &Account) -> String {
    Object::default()
        .number("work", account.work)
        .number("drives", account.drives)
        .number("impacts", account.impacts)
        .number("unexplained", account.unexplained)
        .finish()
}

/// The account as a line of the summary: what changed the energy, and the unexplained rest. Empty if nothing did.
pub fn summary(account: &Account) -> String {
    let all = [("forces", account.work), ("drives and moving walls", account.drives), ("impacts", account.impacts)];
    let scale = all.iter().fold(0.0, |most: f64, (_, x)| most.max(x.abs()));
    // `significant` has a sign for negative numbers only.
    let signed = |x: f64| {
        let text = significant(x, Some(scale));
        if text.starts_with('-') { text } else { format!("+{text}") }
    };
    let acted = all.iter().filter(|(_, x)| *x != 0.0).map(|(name, x)| format!("{name} {}", signed(*x)));
    let acted: Vec<String> = acted.collect();
    if acted.is_empty() {
        return String::new();
    }
    format!("  {}, unexplained {:+.1e}\n", acted.join(", "), account.unexplained)
}
