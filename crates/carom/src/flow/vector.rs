//! Vectors of K lanes, in the widest registers of the machine.

/// K numbers, one for each lane.
pub(crate) trait Vector<const K: usize>: Copy {
    /// Loads all lanes.
    fn load(x: &[f64; K]) -> Self;
    /// Copies one number to all lanes.
    fn splat(x: f64) -> Self;
    /// self·b + c, fused if the machine supports it.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// self·b
    fn mul(self, b: Self) -> Self;
    /// self/b
    fn div(self, b: Self) -> Self;
    /// self + b
    fn add(self, b: Self) -> Self;
    /// self − b
    fn sub(self, b: Self) -> Self;
    /// |self|
    fn abs(self) -> Self;
    /// The smaller of self and b; b if one is NaN.
    fn min(self, b: Self) -> Self;
    /// The larger of self and b; b if one is NaN.
    fn max(self, b: Self) -> Self;
    /// self in the lanes whose bits are set, else b.
    fn in_lanes(self, bits: u32, b: Self) -> Self;
    /// The lanes in which self < b, as bits.
    fn less(self, b: Self) -> u32;
    /// Stores all lanes.
    fn store(self, out: &mut [f64; K]);

    /// Makes the compiler load single lanes of stored vectors from memory. Otherwise it extracts them from registers, with
    /// instructions that compete with multiplications for the same execution unit.
    #[inline(always)]
    fn reload() {}

    /// The sum of all lanes, by pairs.
    #[inline(always)]
    fn sum(self) -> f64 {
        let mut lanes = [0.0; K];
        self.store(&mut lanes);
        let mut count = K;
        while count > 1 {
            count /= 2;
            for k in 0..count {
                lanes[k] += lanes[k + count];
            }
        }
        lanes[0]
    }
}

/// Work that is generic over the vector type.
pub(crate) trait Work {
    type Outcome;
    fn run<const K: usize, V: Vector<K>>(self) -> Self::Outcome;
}

/// Work on vectors of eight lanes alone.
pub(crate) trait EightLanes {
    type Outcome;
    fn run<V: Vector<8>>(self) -> Self::Outcome;
}

/// The vector registers of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Registers {
    /// AVX-512: 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2: 256 bits, with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The baseline of the target.
    Any,
}

impl Registers {
    /// Detects the registers of this machine.
    pub(crate) fn detect() -> Registers {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let has_256 = has!("avx2") && has!("fma");
            if has_256 && has!("avx512f") && has!("avx512dq") {
                return Registers::Avx512;
            }
            if has_256 {
                return Registers::Avx2;
            }
        }
        Registers::Any
    }

    /// Does the work on vectors of 2, 4 or 8 lanes.
    #[inline]
    pub(crate) fn run<W: Work>(self, width: usize, work: W) -> W::Outcome {
        match self {
            // SAFETY: `detect` found the instructions that these functions are compiled for.
            #[cfg(target_arch = "x86_64")]
            Registers::Avx512 if width == 8 => unsafe { x86::with_512(work) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Registers::Avx512 | Registers::Avx2 => unsafe { x86::with_256(width, work) },
            Registers::Any => match width {
                2 => work.run::<2, Plain<2>>(),
                4 => work.run::<4, Plain<4>>(),
                _ => work.run::<8, Plain<8>>(),
            },
        }
    }

    /// Does the work on vectors of eight lanes; none if they are not native. No other code is made for it then.
    #[inline]
    pub(crate) fn run_eight_native<W: EightLanes>(self, work: W) -> Option<W::Outcome> {
        match self {
            // SAFETY: `detect` found the instructions that these functions are compiled for.
            #[cfg(target_arch = "x86_64")]
            Registers::Avx512 => Some(unsafe { x86::eight_with_512(work) }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Registers::Avx2 => Some(unsafe { x86::eight_with_256(work) }),
            Registers::Any => {
                drop(work);
                None
            }
        }
    }

    /// Does the work on vectors of eight lanes.
    #[inline]
    pub(crate) fn run_eight<W: EightLanes>(self, work: W) -> W::Outcome {
        match self {
            // SAFETY: `detect` found the instructions that these functions are compiled for.
            #[cfg(target_arch = "x86_64")]
            Registers::Avx512 => unsafe { x86::eight_with_512(work) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Registers::Avx2 => unsafe { x86::eight_with_256(work) },
            Registers::Any => work.run::<Plain<8>>(),
        }
    }
}

macro_rules! array {
    ($name:ident, |$a:ident, $b:ident, $c:ident| $mul_add:expr, $about:literal) => {
        #[doc = $about]
        #[derive(Clone, Copy)]
        pub(crate) struct $name<const K: usize>([f64; K]);

        // Loops, not closures, because closures would not be compiled with the caller's registers.
        impl<const K: usize> Vector<K> for $name<K> {
            #[inline(always)]
            fn load(x: &[f64; K]) -> Self {
                $name(*x)
            }
            #[inline(always)]
            fn splat(x: f64) -> Self {
                $name([x; K])
            }
            #[inline(always)]
            fn mul_add(mut self, b: Self, c: Self) -> Self {
                for k in 0..K {
                    let ($a, $b, $c) = (self.0[k], b.0[k], c.0[k]);
                    self.0[k] = $mul_add;
                }
                self
            }
            #[inline(always)]
            fn mul(mut self, b: Self) -> Self {
                for k in 0..K {
                    self.0[k] *= b.0[k];
                }
                self
            }
            #[inline(always)]
            fn div(mut self, b: Self) -> Self {
                for k in 0..K {
                    self.0[k] /= b.0[k];
                }
                self
            }
            #[inline(always)]
            fn add(mut self, b: Self) -> Self {
                for k in 0..K {
                    self.0[k] += b.0[k];
                }
                self
            }
            #[inline(always)]
            fn sub(mut self, b: Self) -> Self {
                for k in 0..K {
                    self.0[k] -= b.0[k];
                }
                self
            }
            #[inline(always)]
            fn abs(mut self) -> Self {
                for k in 0..K {
                    self.0[k] = self.0[k].abs();
                }
                self
            }
            #[inline(always)]
            fn min(mut self, b: Self) -> Self {
                for k in 0..K {
                    self.0[k] = if self.0[k] < b.0[k] { self.0[k] } else { b.0[k] };
                }
                self
            }
            #[inline(always)]
            fn max(mut self, b: Self) -> Self {
                for k in 0..K {
                    self.0[k] = if self.0[k] > b.0[k] { self.0[k] } else { b.0[k] };
                }
                self
            }
            #[inline(always)]
            fn in_lanes(mut self, bits: u32, b: Self) -> Self {
                for k in 0..K {
                    self.0[k] = if bits & 1 << k != 0 { self.0[k] } else { b.0[k] };
                }
                self
            }
            #[inline(always)]
            fn less(self, b: Self) -> u32 {
                let mut bits = 0;
                for k in 0..K {
                    bits |= u32::from(self.0[k] < b.0[k]) << k;
                }
                bits
            }
            #[inline(always)]
            fn store(self, out: &mut [f64; K]) {
                *out = self.0;
            }
        }
    };
}

array!(Plain, |a, b, c| a * b + c, "Without fused products, which would be calls of a library.");

#[cfg(target_arch = "x86_64")]
mod x86;

/// Numbers aligned to cache lines: vectors that cross lines cost twice.
#[derive(Clone)]
pub(crate) struct Buffer {
    lines: Box<[Line]>,
    len: usize,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f64; 8]);

impl Buffer {
    pub(crate) fn zeros(len: usize) -> Buffer {
        Buffer { lines: vec![Line([0.0; 8]); len.div_ceil(8)].into(), len }
    }
}

impl std::ops::Deref for Buffer {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        // SAFETY: a line is eight numbers without padding, and there are at least `len` of them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl std::ops::DerefMut for Buffer {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1, 2, … in the lanes of some bits, else 0.
    struct Number(u32);

    impl Work for Number {
        type Outcome = Vec<f64>;

        fn run<const K: usize, V: Vector<K>>(self) -> Vec<f64> {
            let (mut numbers, mut lanes) = ([0.0; K], [0.0; K]);
            numbers.iter_mut().enumerate().for_each(|(k, x)| *x = (k + 1) as f64);
            V::load(&numbers).in_lanes(self.0, V::splat(0.0)).store(&mut lanes);
            lanes.to_vec()
        }
    }

    /// Bits choose the same lanes in all registers; those beyond the last lane do not matter.
    #[test]
    fn bits_choose_lanes() {
        let mut all = vec![Registers::detect(), Registers::Any];
        #[cfg(target_arch = "x86_64")]
        if all[0] == Registers::Avx512 {
            all.push(Registers::Avx2);
        }
        for registers in all {
            for (width, bits) in [2, 4, 8].into_iter().flat_map(|width| (0..512).map(move |bits| (width, bits))) {
                let expected: Vec<f64> =
                    (0..width).map(|k| if bits >> k & 1 == 1 { (k + 1) as f64 } else { 0.0 }).collect();
                assert_eq!(registers.run(width, Number(bits)), expected, "{registers:?}, bits {bits:b}");
            }
        }
    }
}
