//! How much work simplification may do.
//!
//! Work is counted, never timed: a formula reads the same on every machine. A unit is about one power of one term that
//! is looked at, moved or multiplied: some tens of nanoseconds.

use std::cell::Cell;

/// Work that may still be done.
pub struct Budget(Cell<usize>);

impl Budget {
    pub fn new(work: usize) -> Budget {
        Budget(Cell::new(work))
    }

    pub fn left(&self) -> usize {
        self.0.get()
    }

    /// Takes `work` from what is left; none if that was not enough, and from then on.
    pub fn spend(&self, work: usize) -> Option<()> {
        let enough = work <= self.left();
        self.0.set(self.left().saturating_sub(work));
        enough.then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overdrawn_budget_stays_empty() {
        let budget = Budget::new(10);
        assert_eq!((budget.spend(4), budget.spend(7), budget.spend(1)), (Some(()), None, None));
    }
}
