//! Help that the tests share.

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
