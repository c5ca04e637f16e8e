//! Splits a long tape into functions of bounded length, and therefore bounded frame size.
//!
//! A value that a later piece reads is passed through the caller's work space. Other values stay in registers or in the frame
//! of their piece.

use std::ops::Range;

use cranelift_codegen::ir::{InstBuilder, Value};
use rustc_hash::FxHashMap;

use super::emit::Emitter;
use crate::expr::Func;
use crate::kernel::tape::{Instr, Reg, Tape};

/// The largest amount of work in a piece, in values of its code. The frame has at most 16 bytes for each.
const MOST_WORK: usize = 1_000;
/// The work of a sine or cosine; every other instruction counts as 1.
const SINE: usize = 80;

/// A tape split into pieces.
pub(super) struct Pieces<'a> {
    tape: &'a Tape,
    /// All instructions, with their first results.
    all: Vec<(Reg, Instr)>,
    ranges: Vec<Range<usize>>,
    /// The values that later pieces read, and their positions in the work space.
    places: FxHashMap<Reg, usize>,
    /// The size of the work space, in numbers.
    pub(super) room: usize,
    /// The computed outputs in the order of the tape: the value and the index of the output.
    computed: Vec<(Reg, usize)>,
    /// The other outputs: the index of the output, and its source.
    pub(super) copies: Vec<(usize, Copied)>,
}

/// The source of an output that no instruction computes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Copied {
    /// The input with this index.
    Input(usize),
    Constant(f64),
}

impl<'a> Pieces<'a> {
    pub(super) fn of(tape: &'a Tape) -> Pieces<'a> {
        let all: Vec<(Reg, Instr)> = tape.instructions().collect();
        let ranges = cut(&all);
        let (places, room) = place(tape, &all, &ranges);
        let (mut computed, mut copies) = (Vec::new(), Vec::new());
        for (output, &r) in tape.outputs().iter().enumerate() {
            if r.index() < tape.inputs() {
                copies.push((output, Copied::Input(r.index())));
            } else if let Some(&c) = tape.constants().get(r.index() - tape.inputs()) {
                copies.push((output, Copied::Constant(c)));
            } else {
                computed.push((r, output));
            }
        }
        computed.sort_unstable();
        Pieces { tape, all, ranges, places, room, computed, copies }
    }

    pub(super) fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Emits a piece as a function of the inputs, the outputs and the work space.
    pub(super) fn emit(&self, piece: usize, emitter: &mut Emitter, &[x, out, work]: &[Value; 3]) {
        let mut known: FxHashMap<Reg, Value> = FxHashMap::default();
        for &(first, instr) in &self.all[self.ranges[piece].clone()] {
            let results = emitter.instruction(instr, |emitter, r| match known.get(&r) {
                Some(&value) => value,
                None if r.index() < self.tape.inputs() => emitter.load_fixed(x, r.index()),
                None => match self.places.get(&r) {
                    Some(&place) => emitter.load(work, place),
                    None => emitter.constant(self.tape.constants()[r.index() - self.tape.inputs()]),
                },
            });
            for (k, value) in results.into_iter().flatten().enumerate() {
                let r = Reg(first.0 + k as u32);
                known.insert(r, value);
                if let Some(&place) = self.places.get(&r) {
                    emitter.store(value, work, place);
                }
                let begin = self.computed.partition_point(|&(computed, _)| computed < r);
                for &(_, output) in self.computed[begin..].iter().take_while(|&&(computed, _)| computed == r) {
                    emitter.store(value, out, output);
                }
            }
        }
        emitter.builder.ins().return_(&[]);
    }
}

/// The range of instructions of each piece.
fn cut(all: &[(Reg, Instr)]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let (mut begin, mut sum) = (0, 0);
    for (at, &(_, instr)) in all.iter().enumerate() {
        let work = match instr {
            Instr::SinCos(_) | Instr::Unary(Func::Sin | Func::Cos, _) => SINE,
            _ => 1,
        };
        if sum + work > MOST_WORK {
            ranges.push(begin..at);
            (begin, sum) = (at, 0);
        }
        sum += work;
    }
    ranges.push(begin..all.len());
    ranges
}

/// A position for each value that a later piece reads, and the number of positions. A position is reused after the last piece
/// that reads its value.
fn place(tape: &Tape, all: &[(Reg, Instr)], ranges: &[Range<usize>]) -> (FxHashMap<Reg, usize>, usize) {
    let mut last_reader = vec![0; tape.values()];
    for (piece, range) in ranges.iter().enumerate() {
        let operands = all[range.clone()].iter().flat_map(|(_, instr)| instr.operands());
        operands.for_each(|r| last_reader[r.index()] = piece);
    }
    let mut places = FxHashMap::default();
    let (mut room, mut free) = (0, Vec::new());
    let mut ending: Vec<Vec<usize>> = vec![Vec::new(); ranges.len()];
    for (piece, range) in ranges.iter().enumerate() {
        let results = all[range.clone()].iter().flat_map(|&(r, instr)| (r.0..).take(instr.results()).map(Reg));
        for r in results.filter(|r| last_reader[r.index()] > piece) {
            let place = free.pop().unwrap_or_else(|| {
                room += 1;
                room - 1
            });
            places.insert(r, place);
            ending[last_reader[r.index()]].push(place);
        }
        free.append(&mut ending[piece]);
    }
    (places, room)
}
