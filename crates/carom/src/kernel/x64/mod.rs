//! Native code for x86-64, for scalar kernels and for lanes.
//!
//! A tape becomes operations on vectors ([`lower`], [`newton`]); these get registers ([`allocate`]) and become instructions
//! ([`assemble`], [`encode`]). The time for this is proportional to the length of the tape.

mod allocate;
mod assemble;
mod encode;
mod ir;
mod lower;
mod masks;
mod native;
mod newton;
mod registers;
mod repair;
mod sincos;
mod steps;

pub(super) use native::{Native, check_lanes};

use super::Compiler;

/// The best compiler for this machine.
pub(super) fn best() -> Option<Compiler> {
    if !(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")) {
        return Some(Compiler::Sse2);
    }
    let has_512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
    Some(if has_512 { Compiler::Avx512 } else { Compiler::Avx2 })
}
