//! Functions in executable memory.

use std::fmt;

use memmap2::{Mmap, MmapMut};

use super::allocate::{Allocator, Machine};
use super::ir::Code;
use super::registers::copies_of_constants;
use crate::kernel::newton::Equations;
use crate::kernel::scratch::with_scratch;
use crate::kernel::steps::{Motion, Tableau};
use crate::kernel::tape::Tape;
use crate::kernel::{Compiler, KernelError};

/// inputs per lane, shared inputs, outputs, constants, upper end of a frame outside the stack; returns a status if it solves
/// equations
type Entry = unsafe extern "sysv64" fn(*const f64, *const f64, *mut f64, *const f64, *mut f64) -> u32;

/// The longest tape that is compiled for several lanes. Interpreted lanes are not much slower than code that no cache holds.
const LONGEST_FOR_LANES: usize = 100_000;
/// The longest tape that is compiled; all offsets then fit into 31 bits.
const LONGEST: usize = 10_000_000;

/// Native code with its memory and constants.
pub(in crate::kernel) struct Native {
    memory: Mmap,
    /// The size of a frame outside the stack, in cache lines.
    room: usize,
    /// The constants, each as often as instructions need it.
    constants: Box<[Line]>,
    /// The number of lanes that one call evaluates.
    lanes: usize,
    width: usize,
}

impl Native {
    /// Compiles a tape for one state.
    pub(in crate::kernel) fn kernel(tape: &Tape, compiler: Compiler) -> Result<Native, KernelError> {
        check_length(tape, LONGEST)?;
        Native::new(&Code::kernel(tape, tape.inputs(), false, compiler), 1, 1)
    }

    /// Compiles a tape whose first `inputs` inputs have `width` lanes; fuses products with sums if it `contracts`.
    pub(in crate::kernel) fn lanes(
        tape: &Tape,
        inputs: usize,
        width: usize,
        contracts: bool,
        compiler: Compiler,
    ) -> Result<Native, KernelError> {
        check_lanes(tape, compiler)?;
        Native::with_vectors(tape, inputs, width, contracts, lanes_of_vector(width, compiler))
    }

    /// Compiles the steps of an explicit method, in so many blocks of `width` lanes.
    pub(in crate::kernel) fn steps(
        motion: &Motion,
        tableau: &Tableau,
        (blocks, width): (usize, usize),
        compiler: Compiler,
    ) -> Result<Native, KernelError> {
        Native::new(&Code::steps(motion, tableau, blocks, compiler), lanes_of_vector(width, compiler), width)
    }

    /// Like `lanes`, with vectors of `lanes` lanes.
    fn with_vectors(
        tape: &Tape,
        inputs: usize,
        width: usize,
        contracts: bool,
        lanes: usize,
    ) -> Result<Native, KernelError> {
        let compiler = if lanes == 8 { Compiler::Avx512 } else { Compiler::Avx2 };
        Native::new(&Code::kernel(tape, inputs, contracts, compiler), lanes, width)
    }

    /// Compiles Newton's method. The inputs of `call` are those of the equations, the state, and the results.
    pub(in crate::kernel) fn newton(equations: &Equations, compiler: Compiler) -> Result<Native, KernelError> {
        Native::new(&Code::newton(equations, compiler), 1, 1)
    }

    fn new(code: &Code, lanes: usize, width: usize) -> Result<Native, KernelError> {
        let Machine { bytes, room } = Allocator::run(code, lanes, width);
        let copies = copies_of_constants(lanes);
        let repeated = code.constants.iter().flat_map(|&bits| std::iter::repeat_n(bits, copies));
        let constants = Line::of(&repeated.collect::<Vec<u64>>());
        let memory = executable(&bytes).map_err(|e| KernelError::Unsupported(e.to_string()))?;
        Ok(Native { memory, room: room.div_ceil(LINE), constants, lanes, width })
    }

    /// Runs the code.
    ///
    /// # Safety
    ///
    /// The pointers must point to as many numbers as there are inputs of all lanes, shared inputs, and outputs of all lanes.
    #[inline]
    pub(in crate::kernel) unsafe fn call(&self, x: *const f64, shared: *const f64, out: *mut f64) -> u32 {
        // SAFETY: the code begins at this address and was assembled for this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(self.memory.as_ptr()) };
        let constants = self.constants.as_ptr().cast();
        if self.room == 0 && self.lanes == self.width {
            // SAFETY: the caller guarantees the pointers.
            return unsafe { entry(x, shared, out, constants, std::ptr::null_mut()) };
        }
        let run = |frame: *mut f64| {
            // SAFETY: the caller guarantees the pointers. The code reads and writes `lanes` of each `width` numbers, and
            // `frame` has the space below it that the code needs.
            let call = |first: usize| unsafe { entry(x.add(first), shared, out.add(first), constants, frame) };
            let (mut status, mut first) = (call(0), self.lanes);
            while first < self.width {
                status = status.max(call(first));
                first += self.lanes;
            }
            status
        };
        if self.room == 0 {
            return run(std::ptr::null_mut());
        }
        // One line above the frame, and one because the work space may not be aligned to a line.
        with_scratch((self.room + 2) * LINE / 8, |work| {
            let unused = work.as_ptr().align_offset(LINE);
            run(work[unused + self.room * LINE / 8..].as_mut_ptr())
        })
    }
}

/// The lanes of a vector, if there are `width` of them in all.
fn lanes_of_vector(width: usize, compiler: Compiler) -> usize {
    if compiler == Compiler::Avx512 { width } else { width.min(4) }
}

/// Returns an error if the compiler makes no code for lanes.
pub(in crate::kernel) fn check_lanes(tape: &Tape, compiler: Compiler) -> Result<(), KernelError> {
    if compiler < Compiler::Avx2 {
        return Err(KernelError::Unsupported("this processor has no AVX2 or no FMA".into()));
    }
    check_length(tape, LONGEST_FOR_LANES)
}

fn check_length(tape: &Tape, most: usize) -> Result<(), KernelError> {
    let length = tape.len() + tape.inputs() + tape.outputs().len();
    let too_long = || KernelError::Unsupported(format!("{length} instructions, more than {most}"));
    if length > most { Err(too_long()) } else { Ok(()) }
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
    use crate::kernel::sincos::laws;

    /// Eight lanes in vectors of 2, 4 and, if available, 8, and one by one, give identical bits.
    #[test]
    fn vectors_of_any_length_compute_the_same() {
        let [x, y] = ["x", "y"].map(Expr::symbol);
        let terms = (1..30).map(|k| (f64::from(k) * x).sin() / (y + f64::from(k)).exp() - (x * y).cos().abs().sqrt());
        let outputs: Vec<Expr> = terms.chain([(1e6 * x).cos(), -x]).collect();
        let tape = Tape::new(&[x, y], &outputs).expect("both are inputs");
        let states: Vec<f64> = (0..8).map(|k| 0.3 * f64::from(k) - 1.0).collect();
        let eval = |lanes: usize, contracts: bool| {
            let native = Native::with_vectors(&tape, 1, 8, contracts, lanes).ok()?;
            let mut out = vec![0.0; 8 * outputs.len()];
            // SAFETY: one input of eight lanes, one shared input, and room for the outputs of eight lanes.
            unsafe { native.call(states.as_ptr(), &0.7, out.as_mut_ptr()) };
            Some(out.into_iter().map(f64::to_bits).collect::<Vec<_>>())
        };
        let highest = crate::kernel::x64::best();
        if highest < Some(Compiler::Avx2) {
            return;
        }
        for contracts in [false, true] {
            assert_eq!(eval(1, contracts), eval(2, contracts));
            assert_eq!(eval(2, contracts), eval(4, contracts));
            assert!(highest < Some(Compiler::Avx512) || eval(4, contracts) == eval(8, contracts));
        }
    }

    /// The shorter sin and cos of code that contracts, in one of eight lanes.
    #[test]
    fn brief_sin_and_cos_are_right() {
        let x = Expr::symbol("x");
        let tape = Tape::new(&[x], &[x.sin(), x.cos()]).expect("x is bound");
        for compiler in Compiler::all().into_iter().filter(|c| *c >= Compiler::Avx2) {
            let code = Native::lanes(&tape, 1, 8, true, compiler).expect("this machine is supported");
            let sin_cos = |x: f64| {
                let (mut states, mut out) = ([0.3, -2.0, 1.0, 4.0, 5.5, 0.0, 1e3, -0.1], [0.0; 16]);
                states[5] = x;
                // SAFETY: the tape has one input and two outputs, each with eight lanes.
                unsafe { code.call(states.as_ptr(), std::ptr::null(), out.as_mut_ptr()) };
                [out[5], out[13]]
            };
            laws::is_near_exact_values(&format!("{compiler:?}"), 2, 1e-26, sin_cos);
            laws::is_no_number_where_it_should(&format!("{compiler:?}"), sin_cos);
            assert!([0.0, -0.0].map(sin_cos) == [[0.0, 1.0]; 2], "{compiler:?}");
        }
    }

    #[test]
    fn sin_and_cos_are_right() {
        let x = Expr::symbol("x");
        let tape = Tape::new(&[x], &[x.sin(), x.cos()]).expect("x is bound");
        for compiler in Compiler::all().into_iter().filter(|c| *c >= Compiler::Sse2) {
            let code = Native::kernel(&tape, compiler).expect("this machine is supported");
            let sin_cos = |x: f64| {
                let mut out = [0.0; 2];
                // SAFETY: the tape has one input and two outputs.
                unsafe { code.call(&x, std::ptr::null(), out.as_mut_ptr()) };
                out
            };
            laws::is_within_1_ulp_of_exact_values(&format!("{compiler:?}"), sin_cos);
            laws::is_right_at_special_arguments(&format!("{compiler:?}"), sin_cos);
        }
    }
}
