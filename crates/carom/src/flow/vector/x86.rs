//! Vectors in the registers of x86-64 processors with AVX2 or AVX-512.

use std::arch::x86_64::*;

use super::{EightLanes, Vector, Work};

array!(Fused, |a, b, c| a.mul_add(b, c), "With fused products; the compiler makes vectors of them.");

/// Eight numbers in two 256-bit registers. Of arrays the compiler makes code that takes a quarter more time.
#[derive(Clone, Copy)]
struct Pair(__m256d, __m256d);

// SAFETY (of all below): `Pair` is used only inside `with_256`. A pointer is used for as many numbers as its array has.
impl Vector<8> for Pair {
    #[inline(always)]
    fn load(x: &[f64; 8]) -> Self {
        unsafe { Pair(_mm256_loadu_pd(x.as_ptr()), _mm256_loadu_pd(x.as_ptr().add(4))) }
    }
    #[inline(always)]
    fn splat(x: f64) -> Self {
        let x = unsafe { _mm256_set1_pd(x) };
        Pair(x, x)
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        unsafe { Pair(_mm256_fmadd_pd(self.0, b.0, c.0), _mm256_fmadd_pd(self.1, b.1, c.1)) }
    }
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        unsafe { Pair(_mm256_mul_pd(self.0, b.0), _mm256_mul_pd(self.1, b.1)) }
    }
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        unsafe { Pair(_mm256_div_pd(self.0, b.0), _mm256_div_pd(self.1, b.1)) }
    }
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        unsafe { Pair(_mm256_add_pd(self.0, b.0), _mm256_add_pd(self.1, b.1)) }
    }
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        unsafe { Pair(_mm256_sub_pd(self.0, b.0), _mm256_sub_pd(self.1, b.1)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        unsafe {
            let sign = _mm256_set1_pd(-0.0);
            Pair(_mm256_andnot_pd(sign, self.0), _mm256_andnot_pd(sign, self.1))
        }
    }
    #[inline(always)]
    fn min(self, b: Self) -> Self {
        unsafe { Pair(_mm256_min_pd(self.0, b.0), _mm256_min_pd(self.1, b.1)) }
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        unsafe { Pair(_mm256_max_pd(self.0, b.0), _mm256_max_pd(self.1, b.1)) }
    }
    #[inline(always)]
    fn in_lanes(self, bits: u32, b: Self) -> Self {
        unsafe {
            // The bit of each lane, shifted to the sign.
            let all = _mm256_set1_epi64x(i64::from(bits));
            let low = _mm256_castsi256_pd(_mm256_sllv_epi64(all, _mm256_setr_epi64x(63, 62, 61, 60)));
            let high = _mm256_castsi256_pd(_mm256_sllv_epi64(all, _mm256_setr_epi64x(59, 58, 57, 56)));
            Pair(_mm256_blendv_pd(b.0, self.0, low), _mm256_blendv_pd(b.1, self.1, high))
        }
    }
    #[inline(always)]
    fn less(self, b: Self) -> u32 {
        unsafe {
            let low = _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self.0, b.0));
            let high = _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self.1, b.1));
            (low | high << 4) as u32
        }
    }
    #[inline(always)]
    fn store(self, out: &mut [f64; 8]) {
        unsafe {
            _mm256_storeu_pd(out.as_mut_ptr(), self.0);
            _mm256_storeu_pd(out.as_mut_ptr().add(4), self.1);
        }
    }
    #[inline(always)]
    fn reload() {
        // SAFETY: no instruction at all.
        unsafe { std::arch::asm!("", options(nostack, preserves_flags)) }
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        unsafe {
            let four = _mm256_add_pd(self.0, self.1);
            let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
            _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
        }
    }
}

/// A 512-bit register.
#[derive(Clone, Copy)]
struct Wide(__m512d);

// SAFETY (of all below): `Wide` is used only inside `with_512`.
impl Vector<8> for Wide {
    #[inline(always)]
    fn load(x: &[f64; 8]) -> Self {
        Wide(unsafe { _mm512_loadu_pd(x.as_ptr()) })
    }
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Wide(unsafe { _mm512_set1_pd(x) })
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Wide(unsafe { _mm512_fmadd_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Wide(unsafe { _mm512_mul_pd(self.0, b.0) })
    }
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        Wide(unsafe { _mm512_div_pd(self.0, b.0) })
    }
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Wide(unsafe { _mm512_add_pd(self.0, b.0) })
    }
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Wide(unsafe { _mm512_sub_pd(self.0, b.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Wide(unsafe { _mm512_abs_pd(self.0) })
    }
    #[inline(always)]
    fn min(self, b: Self) -> Self {
        Wide(unsafe { _mm512_min_pd(self.0, b.0) })
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Wide(unsafe { _mm512_max_pd(self.0, b.0) })
    }
    #[inline(always)]
    fn in_lanes(self, bits: u32, b: Self) -> Self {
        Wide(unsafe { settled(_mm512_mask_blend_pd(bits as u8, b.0, self.0)) })
    }
    #[inline(always)]
    fn less(self, b: Self) -> u32 {
        u32::from(unsafe { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, b.0) })
    }
    #[inline(always)]
    fn store(self, out: &mut [f64; 8]) {
        unsafe { _mm512_storeu_pd(out.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn reload() {
        // SAFETY: no instruction at all.
        unsafe { std::arch::asm!("", options(nostack, preserves_flags)) }
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        unsafe { _mm512_reduce_add_pd(self.0) }
    }
}

/// Returns its argument, and hides from the compiler that it is a choice between two numbers. Otherwise it is stored by a store with a
/// mask, and the processor does not forward such stores to the loads that follow.
#[target_feature(enable = "avx512f")]
#[inline]
fn settled(mut x: __m512d) -> __m512d {
    // SAFETY: no instruction at all.
    unsafe { std::arch::asm!("/* {0} */", inout(zmm_reg) x, options(pure, nomem, nostack, preserves_flags)) }
    x
}

#[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
pub(super) fn with_512<W: Work>(work: W) -> W::Outcome {
    work.run::<8, Wide>()
}

#[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
pub(super) fn eight_with_512<W: EightLanes>(work: W) -> W::Outcome {
    work.run::<Wide>()
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn eight_with_256<W: EightLanes>(work: W) -> W::Outcome {
    work.run::<Pair>()
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn with_256<W: Work>(width: usize, work: W) -> W::Outcome {
    match width {
        2 => work.run::<2, Fused<2>>(),
        4 => work.run::<4, Fused<4>>(),
        _ => work.run::<8, Pair>(),
    }
}
