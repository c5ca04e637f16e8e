//! Help that the tests share.

pub mod bodies;
pub mod chaos;
pub mod double_double;
pub mod exact;
pub mod fuzz;
pub mod grammar;
pub mod law;
pub mod motion;
pub mod order;
pub mod projected;
pub mod reference;
pub mod robots;
pub mod scenes;
pub mod tree;
pub mod tree_reference;
pub mod units;
pub mod words;

use carom::lab::expr::{Expr, Func};
use proptest::test_runner::{Config, FailurePersistence, FileFailurePersistence};

/// So many cases of each property; `CAROM_CASES` says otherwise.
pub fn random_cases(usual: u32) -> Config {
    let cases = std::env::var("CAROM_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let failure_persistence: Option<Box<dyn FailurePersistence>> = Some(Box::new(FileFailurePersistence::Off));
    Config { cases, failure_persistence, ..Config::default() }
}

/// A small random generator (xorshift64*, Vigna 2016), so that every run tests the same things.
pub struct Random(u64);

impl Random {
    /// A generator; the seed is not zero.
    pub fn new(seed: u64) -> Random {
        Random(seed.max(1))
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A whole number below n, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 11) as usize % n
    }

    /// A number from a to b.
    pub fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A random expression of `symbols`, nested up to `depth`, with all operations that a model can contain.
pub fn random_expression(random: &mut Random, symbols: &[Expr], depth: usize) -> Expr {
    if depth == 0 || random.below(8) == 0 {
        return match random.below(6) {
            0 => Expr::constant(random.between(-3.0, 3.0)),
            1 => Expr::from(random.below(9) as i32 - 4),
            2 => Expr::pi(),
            _ => symbols[random.below(symbols.len())],
        };
    }
    let a = random_expression(random, symbols, depth - 1);
    match random.below(11) {
        0 | 1 => a + random_expression(random, symbols, depth - 1),
        2 => a - random_expression(random, symbols, depth - 1),
        3 | 4 => a * random_expression(random, symbols, depth - 1),
        5 => a / random_expression(random, symbols, depth - 1),
        6 => a.pow(random.below(7) as i32 - 2),
        7 => a.abs().pow(random_expression(random, symbols, 1)),
        8 => a.atan2(random_expression(random, symbols, depth - 1)),
        9 => a.min(random_expression(random, symbols, depth - 1)),
        _ => a.apply(Func::NAMED[random.below(Func::NAMED.len())]),
    }
}
