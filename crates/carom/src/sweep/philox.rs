//! Random numbers by a counter: a pure function of a key and a counter, so that any row of a sweep can be made alone.

/// The generator Philox4x64-10. [Salmon, Moraes, Dror & Shaw 2011]
pub(super) fn philox([mut c0, mut c1, mut c2, mut c3]: [u64; 4], [mut k0, mut k1]: [u64; 2]) -> [u64; 4] {
    const MULTIPLIERS: [u64; 2] = [0xd2e7_470e_e14c_6c93, 0xca5a_8263_9512_1157];
    const WEYL: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];
    let product = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        ((product >> 64) as u64, product as u64)
    };
    for _ in 0..10 {
        let ((high0, low0), (high1, low1)) = (product(MULTIPLIERS[0], c0), product(MULTIPLIERS[1], c2));
        (c0, c1, c2, c3) = (high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0);
        (k0, k1) = (k0.wrapping_add(WEYL[0]), k1.wrapping_add(WEYL[1]));
    }
    [c0, c1, c2, c3]
}

/// 64 random bits for an axis of a row.
pub(super) fn bits(seed: u64, row: u64, axis: usize) -> u64 {
    philox([row, axis as u64, 0, 0], [seed, 0])[0]
}

/// A number in [0, 1) from the upper 53 bits.
pub(super) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number in (0, 1) from the upper 52 bits, at the middle of its interval.
pub(super) fn open_unit(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that the authors publish with their library Random123 (`kat_vectors`).
    #[test]
    fn known_answers() {
        let all = u64::MAX;
        let pi = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];
        let cases = [
            (
                ([0; 4], [0; 2]),
                [0x1655_4d9e_ca36_314c, 0xdb20_fe9d_672d_0fdc, 0xd7e7_72ce_e186_176b, 0x7e68_b68a_ec7b_a23b],
            ),
            (
                ([all; 4], [all; 2]),
                [0x87b0_92c3_013f_e90b, 0x438c_3c67_be8d_0224, 0x9cc7_d7c6_9cd7_77b6, 0xa09c_aebf_594f_0ba0],
            ),
            (
                (pi, [0x4528_21e6_38d0_1377, 0xbe54_66cf_34e9_0c6c]),
                [0xa528_f454_03e6_1d95, 0x38c7_2dbd_566e_9788, 0xa5a1_610e_72fd_18b5, 0x57bd_43b5_e52b_7fe6],
            ),
        ];
        for ((counter, key), expected) in cases {
            assert_eq!(philox(counter, key), expected, "{counter:x?}");
        }
    }
}
