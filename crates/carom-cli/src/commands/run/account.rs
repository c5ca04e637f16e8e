//! Output of the energy account.

use carom::Account;

use super::report::rounded;
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
    let [work, drives, impacts] = [account.work, account.drives, account.impacts].map(rounded);
    let unexplained = account.unexplained;
    format!(
        "  forces {work:+.9}, drives and moving walls {drives:+.9}, impacts {impacts:+.9}, unexplained {unexplained:+.1e}\n"
    )
}
