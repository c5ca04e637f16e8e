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

/// The account as a line of the summary.
pub fn summary(account: &Account) -> String {
    let all = [account.work, account.drives, account.impacts];
    let scale = all.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    // `significant` has a sign for negative numbers only.
    let signed = |x: f64| {
        let text = significant(x, Some(scale));
        if text.starts_with('-') { text } else { format!("+{text}") }
    };
    let ([work, drives, impacts], unexplained) = (all.map(signed), account.unexplained);
    format!("  forces {work}, drives and moving walls {drives}, impacts {impacts}, unexplained {unexplained:+.1e}\n")
}
