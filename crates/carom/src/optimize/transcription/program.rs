//! A program that is a sum of elements.

use crate::elements::Element;
use crate::optimize::nlp::{Nlp, NlpDerivatives, Structure};

/// A number of the problem: a constant plus multiples of variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form {
    pub(super) constant: f64,
    pub(super) terms: Vec<(usize, f64)>,
}

impl Form {
    /// A number.
    pub(super) fn constant(value: f64) -> Form {
        Form { constant: value, terms: Vec::new() }
    }

    /// A variable.
    pub(super) fn variable(index: usize) -> Form {
        Form { constant: 0.0, terms: vec![(index, 1.0)] }
    }

    /// a·self + b·other.
    pub(super) fn combine(&self, a: f64, other: &Form, b: f64) -> Form {
        let mut sum = Form { constant: a * self.constant + b * other.constant, terms: Vec::new() };
        for (terms, factor) in [(&self.terms, a), (&other.terms, b)] {
            for &(variable, coefficient) in terms.iter().filter(|_| factor != 0.0) {
                match sum.terms.iter_mut().find(|(known, _)| *known == variable) {
                    Some((_, sum)) => *sum += factor * coefficient,
                    None => sum.terms.push((variable, factor * coefficient)),
                }
            }
        }
        sum
    }

    /// Its value.
    pub(super) fn at(&self, x: &[f64]) -> f64 {
        self.constant + self.terms.iter().map(|&(i, a)| a * x[i]).sum::<f64>()
    }
}

/// One use of an element.
struct Use {
    element: usize,
    inputs: Vec<Form>,
    /// The row to which each row of the element is added, and its factor.
    outputs: Vec<Option<(usize, f64)>>,
}

/// min Σ l, subject to rows that are sums of element rows, multiples of variables and constants.
pub(super) struct Program {
    /// The values of the parameters.
    numbers: Vec<f64>,
    elements: Vec<Element>,
    uses: Vec<Use>,
    /// (row, variable, factor).
    linear: Vec<(usize, usize, f64)>,
    constants: Vec<f64>,
    pub(super) structure: Structure,
    /// The first guess.
    pub(super) start: Vec<f64>,
    /// For each entry of the structure beyond the linear ones, its factor.
    jacobian_factors: Vec<f64>,
    hessian_factors: Vec<f64>,
    memory: Vec<f64>,
    out: Vec<f64>,
    /// The slacks of inequalities: row and variable.
    pub(super) slacks: Vec<(usize, usize)>,
}

impl Program {
    pub(super) fn new(numbers: Vec<f64>) -> Program {
        Program {
            numbers,
            elements: Vec::new(),
            uses: Vec::new(),
            linear: Vec::new(),
            constants: Vec::new(),
            structure: Structure::default(),
            start: Vec::new(),
            jacobian_factors: Vec::new(),
            hessian_factors: Vec::new(),
            memory: Vec::new(),
            out: Vec::new(),
            slacks: Vec::new(),
        }
    }

    /// Adds a variable within bounds; a constant if they leave one number.
    pub(super) fn unknown(&mut self, [lower, upper]: [f64; 2], guess: f64, order: usize) -> Form {
        if lower == upper {
            return Form::constant(lower);
        }
        self.structure.lower.push(lower);
        self.structure.upper.push(upper);
        self.structure.order_of_variables.push(order);
        self.start.push(guess);
        Form::variable(self.start.len() - 1)
    }

    /// Adds a row, which is zero so far.
    pub(super) fn row(&mut self, order: usize) -> usize {
        self.constants.push(0.0);
        self.structure.order_of_rows.push(order);
        self.structure.rows += 1;
        self.constants.len() - 1
    }

    /// Adds factor·form to a row.
    pub(super) fn add(&mut self, row: usize, form: &Form, factor: f64) {
        self.constants[row] += factor * form.constant;
        self.linear.extend(form.terms.iter().map(|&(variable, a)| (row, variable, factor * a)));
    }

    /// Adds a row minus a slack within bounds. The slack begins at `guess`.
    pub(super) fn within(&mut self, row: usize, bounds: [f64; 2], guess: f64) {
        let order = self.structure.order_of_rows[row];
        let slack = self.unknown(bounds, guess, order);
        self.slacks.extend(slack.terms.iter().map(|&(variable, _)| (row, variable)));
        self.add(row, &slack, -1.0);
    }

    /// Takes an element, and returns its number.
    pub(super) fn element(&mut self, element: Element) -> usize {
        self.elements.push(element);
        self.elements.len() - 1
    }

    /// Uses an element at these inputs. Rows of the element without an output are not asked for.
    pub(super) fn apply(&mut self, element: usize, inputs: Vec<Form>, outputs: Vec<Option<(usize, f64)>>) {
        debug_assert_eq!(inputs.len(), self.elements[element].inputs);
        debug_assert_eq!(outputs.len(), self.elements[element].rows);
        self.uses.push(Use { element, inputs, outputs });
    }

    /// The element itself.
    pub(super) fn compiled(&self, element: usize) -> &Element {
        &self.elements[element]
    }

    /// The values of the parameters.
    pub(super) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The rows of an element at these inputs, its cost first.
    pub(super) fn evaluate(&mut self, element: usize, inputs: &[f64]) -> Vec<f64> {
        let element = &self.elements[element];
        let memory = [&self.numbers[..], inputs].concat();
        let mut out = vec![0.0; element.rows + 1];
        element.eval(&memory, &mut out);
        out
    }

    /// Parts bounds that meet. The error is a variable with a pair that crosses.
    pub(super) fn part_bounds(&mut self) -> std::result::Result<(), (usize, [f64; 2])> {
        const APART: f64 = 1e-8;
        for (variable, (lower, upper)) in self.structure.lower.iter().zip(&mut self.structure.upper).enumerate() {
            if *upper < *lower - APART * (1.0 + lower.abs()) {
                return Err((variable, [*lower, *upper]));
            }
            *upper = upper.max(lower + APART * (1.0 + lower.abs()));
        }
        Ok(())
    }

    /// Sets every slack to what its row leaves for it.
    pub(super) fn reset_slacks(&mut self, x: &mut [f64]) {
        let mut c = vec![0.0; self.structure.rows];
        self.slacks.iter().for_each(|&(_, variable)| x[variable] = 0.0);
        self.values(x, &mut c);
        self.slacks.iter().for_each(|&(row, variable)| x[variable] = c[row]);
    }

    /// Fixes the structure. Returns the rows without unknowns, which are dropped, with their values: (row, value). `kept` says
    /// the new number of each row.
    pub(super) fn finish(&mut self) -> (Vec<(usize, f64)>, Vec<Option<usize>>) {
        let size = |of: fn(&Element) -> usize| self.elements.iter().map(of).max().unwrap_or(0);
        self.memory = vec![0.0; size(Element::inputs_of_kernel)];
        self.out = vec![0.0; size(Element::derivatives_count).max(size(|element| element.rows + 1))];
        self.memory[..self.numbers.len()].copy_from_slice(&self.numbers);
        let rows = self.structure.rows;
        let mut has_unknowns = vec![false; rows];
        self.linear.iter().for_each(|&(row, ..)| has_unknowns[row] = true);
        for each in &self.uses {
            for &(row, input) in &self.elements[each.element].jacobian {
                if let Some((row, _)) = each.outputs[row]
                    && !each.inputs[input].terms.is_empty()
                {
                    has_unknowns[row] = true;
                }
            }
        }
        let mut values = vec![0.0; rows];
        let start = self.start.clone();
        self.values(&start, &mut values);
        let mut kept = vec![None; rows];
        let mut count = 0;
        for row in (0..rows).filter(|&row| has_unknowns[row]) {
            kept[row] = Some(count);
            count += 1;
        }
        let dropped = (0..rows).filter(|&row| kept[row].is_none()).map(|row| (row, values[row])).collect();
        self.renumber(&kept, count);
        self.fix_structure();
        (dropped, kept)
    }

    fn renumber(&mut self, kept: &[Option<usize>], count: usize) {
        let is_kept = |row: &usize| kept[*row].is_some();
        self.constants = (0..self.constants.len()).filter(is_kept).map(|row| self.constants[row]).collect();
        let orders = std::mem::take(&mut self.structure.order_of_rows);
        self.structure.order_of_rows = (0..orders.len()).filter(is_kept).map(|row| orders[row]).collect();
        self.structure.rows = count;
        for (row, _) in &mut self.slacks {
            *row = kept[*row].unwrap_or(0);
        }
        for (row, ..) in &mut self.linear {
            // A row with a variable is kept.
            *row = kept[*row].unwrap_or(0);
        }
        for each in &mut self.uses {
            for output in &mut each.outputs {
                *output = output.and_then(|(row, factor)| Some((kept[row]?, factor)));
            }
        }
    }

    /// Lists the entries of the derivatives: the linear ones, then those of each element in turn.
    fn fix_structure(&mut self) {
        let Program { structure, elements, uses, linear, jacobian_factors, hessian_factors, .. } = self;
        structure.jacobian = linear.iter().map(|&(row, variable, _)| (row, variable)).collect();
        structure.hessian.clear();
        for each in uses {
            let element = &elements[each.element];
            for &(row, input) in &element.jacobian {
                let Some((row, factor)) = each.outputs[row] else { continue };
                for &(variable, a) in &each.inputs[input].terms {
                    structure.jacobian.push((row, variable));
                    jacobian_factors.push(factor * a);
                }
            }
            for &(i, j) in &element.hessian {
                for_each_pair(&each.inputs[i], &each.inputs[j], i == j, |v, w, factor| {
                    structure.hessian.push((v, w));
                    hessian_factors.push(factor);
                });
            }
        }
    }
}

/// The entries that an entry H_ij of an element makes in a program whose inputs i and j are these forms.
fn for_each_pair(a: &Form, b: &Form, is_diagonal: bool, mut make: impl FnMut(usize, usize, f64)) {
    for (k, &(v, av)) in a.terms.iter().enumerate() {
        let others = if is_diagonal { &b.terms[..=k] } else { &b.terms[..] };
        for &(w, bw) in others {
            let twice = if !is_diagonal && v == w { 2.0 } else { 1.0 };
            make(v, w, twice * av * bw);
        }
    }
}

impl Nlp for Program {
    fn structure(&self) -> &Structure {
        &self.structure
    }

    fn values(&mut self, x: &[f64], c: &mut [f64]) -> f64 {
        c.copy_from_slice(&self.constants);
        self.linear.iter().for_each(|&(row, variable, a)| c[row] += a * x[variable]);
        let mut f = 0.0;
        for each in &self.uses {
            let element = &self.elements[each.element];
            let inputs = self.memory[element.first_input()..].iter_mut();
            inputs.zip(&each.inputs).for_each(|(to, form)| *to = form.at(x));
            element.eval(&self.memory, &mut self.out);
            if element.has_cost {
                f += self.out[0];
            }
            for (output, value) in each.outputs.iter().zip(&self.out[1..]) {
                if let Some((row, factor)) = output {
                    c[*row] += factor * value;
                }
            }
        }
        f
    }

    fn derivatives(&mut self, x: &[f64], sigma: f64, y: &[f64], into: &mut NlpDerivatives) {
        into.gradient.fill(0.0);
        let (mut at_jacobian, mut at_hessian) = (self.linear.len(), 0);
        into.jacobian.iter_mut().zip(&self.linear).for_each(|(entry, &(_, _, a))| *entry = a);
        let (mut jacobian_factors, mut hessian_factors) = (self.jacobian_factors.iter(), self.hessian_factors.iter());
        for each in &self.uses {
            let element = &self.elements[each.element];
            let first = element.first_input();
            let (inputs, weights) = self.memory[first..].split_at_mut(element.inputs);
            inputs.iter_mut().zip(&each.inputs).for_each(|(to, form)| *to = form.at(x));
            weights[0] = if element.has_cost { sigma } else { 0.0 };
            for (weight, output) in weights[1..].iter_mut().zip(&each.outputs) {
                *weight = output.map_or(0.0, |(row, factor)| factor * y[row]);
            }
            element.differentiate(&self.memory, &mut self.out);
            let (gradient, rest) = self.out.split_at(element.gradient.len());
            for (&input, slope) in element.gradient.iter().zip(gradient) {
                each.inputs[input].terms.iter().for_each(|&(variable, a)| into.gradient[variable] += a * slope);
            }
            let (slopes, curvatures) = rest.split_at(element.jacobian.len());
            for (&(row, input), slope) in element.jacobian.iter().zip(slopes) {
                if each.outputs[row].is_some() {
                    for _ in &each.inputs[input].terms {
                        // The factors were listed in this order.
                        into.jacobian[at_jacobian] = jacobian_factors.next().map_or(0.0, |factor| factor * slope);
                        at_jacobian += 1;
                    }
                }
            }
            for (&(i, j), curvature) in element.hessian.iter().zip(curvatures) {
                for_each_pair(&each.inputs[i], &each.inputs[j], i == j, |_, _, _| {
                    into.hessian[at_hessian] = hessian_factors.next().map_or(0.0, |factor| factor * curvature);
                    at_hessian += 1;
                });
            }
        }
    }
}
