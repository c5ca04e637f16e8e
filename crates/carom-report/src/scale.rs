//! Axis scales, with ticks at round numbers.

/// Values with a smaller relative difference are drawn as constant, because their tick labels would not fit.
const CONSTANT: f64 = 1e-8;

/// A range of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The lower end; on a logarithmic axis its logarithm to base 10.
    low: f64,
    high: f64,
    log: bool,
}

/// Ticks and their labels, which are multiplied by 10^exponent.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    /// The value and label of each tick.
    pub at: Vec<(f64, String)>,
    /// The common exponent, which the labels omit.
    pub exponent: i32,
}

impl Scale {
    /// A scale that contains all finite values, with a margin.
    pub fn fit(values: impl IntoIterator<Item = f64>, log: bool, margin: f64) -> Scale {
        let usable = values.into_iter().filter(|x| x.is_finite() && (!log || *x > 0.0));
        let place = |x: f64| if log { x.log10() } else { x };
        let (low, high) = usable.map(place).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        if low > high {
            return Scale { low: 0.0, high: 1.0, log };
        }
        let size = low.abs().max(high.abs());
        if high - low <= CONSTANT * size {
            let room = if log { 0.5 } else { (0.05 * size).max(if size == 0.0 { 1.0 } else { 0.0 }) };
            return Scale { low: low - room, high: high + room, log };
        }
        let room = margin * (high - low);
        Scale { low: low - room, high: high + room, log }
    }

    /// The length of the range; on a logarithmic axis in decades.
    pub fn length(&self) -> f64 {
        self.high - self.low
    }

    /// A longer scale with the same centre.
    pub fn widened(self, length: f64) -> Scale {
        let more = 0.5 * (length - self.length()).max(0.0);
        Scale { low: self.low - more, high: self.high + more, ..self }
    }

    /// The position of a value, from 0 to 1 inside the range; NaN if it cannot be shown.
    pub fn place(&self, x: f64) -> f64 {
        let x = if self.log { if x > 0.0 { x.log10() } else { f64::NAN } } else { x };
        (x - self.low) / (self.high - self.low)
    }

    /// About `count` ticks.
    pub fn ticks(&self, count: usize) -> Ticks {
        if self.log { self.decades(count) } else { self.round_numbers(count) }
    }

    fn round_numbers(&self, count: usize) -> Ticks {
        let step = round_step((self.high - self.low) / count.max(1) as f64);
        // Tolerance, so that roundoff does not lose a tick at an end.
        let (first, last) = ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        let size = self.low.abs().max(self.high.abs());
        let magnitude = size.log10().floor() as i32;
        let exponent = if (-2..5).contains(&magnitude) { 0 } else { magnitude };
        let decimals = (exponent - step.log10().floor() as i32).max(0) as usize;
        let label = |x: f64| minus(&format!("{:.decimals$}", x / 10_f64.powi(exponent)));
        let at = (first..=last).map(|k| k as f64 * step).map(|x| (x, label(x))).collect();
        Ticks { at, exponent }
    }

    fn decades(&self, count: usize) -> Ticks {
        let (first, last) = (self.low.ceil() as i32, self.high.floor() as i32);
        if last <= first {
            return self.within_a_decade();
        }
        let stride = ((last - first) as usize).div_ceil(count.max(1)).max(1);
        let at = (first..=last).step_by(stride).map(|k| (10_f64.powi(k), power(k))).collect();
        Ticks { at, exponent: 0 }
    }

    /// Ticks at 1, 2 and 5 times powers of ten, with plain labels if these are short.
    fn within_a_decade(&self) -> Ticks {
        let decades = self.low.floor() as i32..=self.high.ceil() as i32;
        let all = decades.flat_map(|k| [1.0, 2.0, 3.0, 5.0].map(|digit| (digit, k)));
        let within = |(digit, k): &(f64, i32)| (self.low..=self.high).contains(&(digit.log10() + f64::from(*k)));
        let label = |digit: f64, k: i32| match k {
            -4..=4 => format!("{}", (digit * 10_f64.powi(k) * 1e6).round() / 1e6),
            _ => format!("{digit}·{}", power(k)),
        };
        let at = all.filter(within).map(|(digit, k)| (digit * 10_f64.powi(k), label(digit, k))).collect();
        Ticks { at, exponent: 0 }
    }
}

/// 1, 2 or 5 times a power of ten, close to `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0].into_iter().find(|digit| digit * power >= 0.7 * rough);
    digit.unwrap_or(10.0) * power
}

fn minus(text: &str) -> String {
    let is_zero = text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.'));
    if is_zero { text.trim_start_matches('-').into() } else { text.replace('-', "−") }
}

/// 10ᵏ.
pub fn power(k: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32(c as u32 - '0' as u32 + '⁰' as u32).unwrap_or(c),
    };
    format!("10{}", k.to_string().chars().map(digit).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.at.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        let ticks = Scale::fit([-1.0, 8.0], false, 0.0).ticks(5);
        assert_eq!(labels(&ticks), ["0", "2", "4", "6", "8"]);
        let ticks = Scale::fit([-0.3, 0.25], false, 0.0).ticks(5);
        assert_eq!(labels(&ticks), ["−0.3", "−0.2", "−0.1", "0.0", "0.1", "0.2"]);
    }

    #[test]
    fn small_numbers_leave_out_their_power() {
        let ticks = Scale::fit([0.0, 4e-9], false, 0.0).ticks(4);
        assert_eq!((labels(&ticks), ticks.exponent), (vec!["0", "1", "2", "3", "4"], -9));
    }

    #[test]
    fn logarithmic_ticks_are_powers_or_round_within_one() {
        assert_eq!(labels(&Scale::fit([1e-6, 1e-2], true, 0.0).ticks(5)), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²"]);
        assert_eq!(labels(&Scale::fit([0.01, 0.06], true, 0.0).ticks(5)), ["0.01", "0.02", "0.03", "0.05"]);
    }

    #[test]
    fn what_cannot_be_shown_does_no_harm() {
        for values in [vec![], vec![f64::NAN], vec![3.0], vec![0.0, 0.0], vec![f64::INFINITY, 1.0]] {
            for log in [false, true] {
                let scale = Scale::fit(values.iter().copied(), log, 0.05);
                assert!(scale.high > scale.low, "{values:?}");
                assert!(scale.ticks(5).at.len() < 20, "{values:?}: {:?}", scale.ticks(5));
            }
        }
        assert!(Scale::fit([1.0, 2.0], true, 0.0).place(-1.0).is_nan());
    }
}
