//! Random expressions.

// Each test file uses its own part of this.
#![allow(dead_code)]

use carom::expr::{Expr, Func};
use proptest::prelude::*;

/// The symbols of random expressions.
pub fn symbols() -> [Expr; 3] {
    ["x", "y", "z"].map(Expr::symbol)
}

/// Expressions of [`symbols`] with all operations and functions that a model can contain.
pub fn expressions() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        5 => (0..3usize).prop_map(|i| symbols()[i]),
        1 => (-4..5i32).prop_map(Expr::from),
        1 => (-3.0..3.0).prop_map(Expr::constant),
        1 => Just(()).prop_map(|()| Expr::pi()),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            4 => (0..5u8, pair.clone()).prop_map(|(op, (a, b))| arithmetic(op, a, b)),
            3 => (0..Func::NAMED.len(), inner.clone()).prop_map(|(f, a)| a.apply(Func::NAMED[f])),
            2 => inner.clone().prop_map(|a| a.sin() + a.cos()),
            1 => (inner.clone(), -5..6i32).prop_map(|(a, n)| a.pow(n)),
            1 => (inner, 0..4u8).prop_map(|(a, n)| a.pow(f64::from(n) + 0.5)),
            1 => pair.prop_map(|(a, b)| a.pow(b)),
        ]
    })
}

fn arithmetic(op: u8, a: Expr, b: Expr) -> Expr {
    match op {
        0 => a + b,
        1 => a - b,
        2 => a * b,
        3 => a / b,
        _ => a.atan2(b),
    }
}

/// How many numbers are between a and b; 0 if both are NaN or equal, signs of zero included.
pub fn ulps(a: f64, b: f64) -> u64 {
    // The bits as a number line, from the most negative to the most positive, with −0 next to 0.
    let place = |x: f64| if x.is_sign_negative() { !x.to_bits() } else { x.to_bits() | 1 << 63 };
    if a.is_nan() && b.is_nan() {
        return 0;
    }
    if a.is_nan() || b.is_nan() { u64::MAX } else { place(a).abs_diff(place(b)) }
}
