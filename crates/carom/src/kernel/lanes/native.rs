//! Native code for lanes: x86-64 with AVX2 and FMA, and AVX-512 if available.

use std::fmt;

use memmap2::{Mmap, MmapMut};

use super::allocate::{Allocator, Machine};
use super::ir::Code;
use crate::kernel::KernelError;
use crate::kernel::scratch::with_scratch;
use crate::kernel::tape::Tape;

/// inputs per lane, shared inputs, outputs, constants, upper end of a frame outside the stack
type Entry = unsafe extern "sysv64" fn(*const f64, *const f64, *mut f64, *const f64, *mut f64);

/// The longest tape that is compiled; all offsets then fit into 31 bits.
const MAX_LENGTH: usize = 100_000;

/// Native code with its memory and constants.
pub(super) struct Native {
    memory: Mmap,
    entry: usize,
    /// The size of a frame outside the stack, in cache lines.
    room: usize,
    /// The constants, each repeated for all lanes of a vector.
    constants: Box<[Line]>,
    /// The number of lanes that one call evaluates.
    lanes: usize,
    width: usize,
}

impl Native {
    /// Compiles a tape whose first `inputs` inputs have `width` lanes.
    pub(super) fn new(tape: &Tape, inputs: usize, width: usize) -> Result<Native, KernelError> {
        let has_512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        Native::with_vectors(tape, inputs, width, if has_512 { width } else { width.min(4) })
    }

    /// Like `new`, with vectors of `lanes` lanes.
    fn with_vectors(tape: &Tape, inputs: usize, width: usize, lanes: usize) -> Result<Native, KernelError> {
        let unsupported = |why: &str| KernelError::Unsupported(why.into());
        if !(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")) {
            return Err(unsupported("this processor has no AVX2 or no FMA"));
        }
        if tape.len() + tape.inputs() + tape.outputs().len() > MAX_LENGTH {
            return Err(unsupported("too many instructions"));
        }
        let code = Code::new(tape, inputs);
        let Machine { bytes, entry, room } = Allocator::run(&code, lanes, width);
        let constants: Vec<u64> = code.constants.iter().flat_map(|&bits| std::iter::repeat_n(bits, lanes)).collect();
        let memory = executable(&bytes).map_err(|e| unsupported(&e.to_string()))?;
        Ok(Native { memory, entry, room: room.div_ceil(LINE), constants: Line::of(&constants), lanes, width })
    }

    /// Runs the code.
    ///
    /// # Safety
    ///
    /// The pointers must point to as many numbers as there are inputs of all lanes, shared inputs, and outputs of all lanes.
    pub(super) unsafe fn call(&self, x: *const f64, shared: *const f64, out: *mut f64) {
        // SAFETY: the code begins at this address and was assembled for this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(self.memory.as_ptr().add(self.entry)) };
        let run = |frame: *mut f64| {
            for first in (0..self.width).step_by(self.lanes) {
                // SAFETY: the caller guarantees the pointers. The code reads and writes `lanes` of each `width` numbers, and
                // `frame` has the space below it that the code needs.
                unsafe { entry(x.add(first), shared, out.add(first), self.constants.as_ptr().cast(), frame) }
            }
        };
        if self.room == 0 {
            return run(std::ptr::null_mut());
        }
        // One line above the frame, and one because the work space may not be aligned to a line.
        with_scratch((self.room + 2) * LINE / 8, |work| {
            let unused = work.as_ptr().align_offset(LINE);
            run(work[unused + self.room * LINE / 8..].as_mut_ptr());
        });
    }
}

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// A cache line: vectors that cross lines cost twice.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u64; 8]);

impl Line {
    fn of(numbers: &[u64]) -> Box<[Line]> {
        let mut lines = vec![Line([0; 8]); numbers.len().div_ceil(8)];
        for (line, numbers) in lines.iter_mut().zip(numbers.chunks(8)) {
            line.0[..numbers.len()].copy_from_slice(numbers);
        }
        lines.into()
    }
}

/// Copies the bytes to memory that is executable and no longer writable.
fn executable(bytes: &[u8]) -> std::io::Result<Mmap> {
    let mut memory = MmapMut::map_anon(bytes.len())?;
    memory.copy_from_slice(bytes);
    memory.make_exec()
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Native").field("lanes", &self.lanes).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;

    /// Eight lanes in vectors of 2, 4 and, if available, 8 give identical bits.
    #[test]
    fn vectors_of_any_length_compute_the_same() {
        let [x, y] = ["x", "y"].map(Expr::symbol);
        let terms = (1..30).map(|k| (f64::from(k) * x).sin() / (y + f64::from(k)).exp() - (x * y).cos().abs().sqrt());
        let outputs: Vec<Expr> = terms.chain([(1e6 * x).cos(), -x]).collect();
        let tape = Tape::new(&[x, y], &outputs).expect("both are inputs");
        let states: Vec<f64> = (0..8).map(|k| 0.3 * f64::from(k) - 1.0).collect();
        let eval = |lanes: usize| {
            let native = Native::with_vectors(&tape, 1, 8, lanes).ok()?;
            let mut out = vec![0.0; 8 * outputs.len()];
            // SAFETY: one input of eight lanes, one shared input, and room for the outputs of eight lanes.
            unsafe { native.call(states.as_ptr(), &0.7, out.as_mut_ptr()) };
            Some(out.into_iter().map(f64::to_bits).collect::<Vec<_>>())
        };
        let has_512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        assert_eq!(eval(2), eval(4));
        assert!(!has_512 || eval(4) == eval(8));
    }
}
