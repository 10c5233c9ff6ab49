//! Derivatives of functions that are written like everything else: forwards, backwards, in one direction or several, of the value as
//! well.

use super::writer::{SIZES, Ty, Writer};
use galopvm_base::ElemType;

/// What the function of one derivative may be made of.
const MOST: usize = 10;

impl Writer<'_> {
    /// A value of a type of floats that derivatives make, if the program has some and the place is for one.
    pub fn derivative(&mut self, ty: &Ty) -> Option<String> {
        let room = if self.random.one_in(12) { 2 } else { 1 };
        if !self.derives || !ty.elem.is_float() || self.deriving >= room {
            return None;
        }
        let other = self.moved(ty.elem);
        self.deriving += 1;
        // Derivatives of long functions are much longer.
        let budget = self.budget;
        self.budget = budget.min(MOST) + 2;
        let text = self.derived(ty, &other);
        self.budget = budget.saturating_sub(4);
        self.deriving -= 1;
        Some(text)
    }

    /// What a function takes or gives.
    fn moved(&mut self, elem: ElemType) -> Ty {
        let rank = *self.random.pick(&[0, 0, 0, 1, 1, 1, 2]);
        Ty { elem, dims: (0..rank).map(|_| self.dim()).collect() }
    }

    fn derived(&mut self, ty: &Ty, other: &Ty) -> String {
        match (self.random.below(10), ty.dims.first().copied()) {
            (0, Some(dim)) => {
                let (point, function) = (self.exp(other), self.function(other, &ty.row()));
                let directions = self.exp(&other.many(dim));
                self.some_of("jmp", &format!("{function} {point} {directions}"))
            }
            (1, Some(dim)) => {
                let (point, function) = (self.exp(&ty.row()), self.function(&ty.row(), other));
                let adjoints = self.exp(&other.many(dim));
                self.some_of("mjp", &format!("{function} {point} {adjoints}"))
            }
            (2..5, Some(dim)) => {
                let (point, function) = (self.exp(other), self.function(other, &ty.row()));
                let directions = self.directions(dim, other);
                let name = self.own_name();
                let each = self.some_of("jvp", &format!("{function} {point} {name}"));
                format!("(map (\\{name} -> {each}) {directions})")
            }
            (5, _) => {
                let second = self.moved(ty.elem);
                let points = [self.exp(ty), self.exp(&second)].join(", ");
                let mark = self.open();
                let pattern = self.pattern(&[ty.clone(), second]);
                let body = self.body(std::slice::from_ref(other));
                self.close(mark);
                let adjoint = self.exp(other);
                format!("((vjp (\\{pattern} -> {body}) ({points}) {adjoint}).0)")
            }
            (6 | 7, _) => {
                let (point, function) = (self.exp(other), self.function(other, ty));
                let direction = self.exp(other);
                self.some_of("jvp", &format!("{function} {point} {direction}"))
            }
            _ => {
                let (point, function) = (self.exp(ty), self.function(ty, other));
                let adjoint = self.exp(other);
                self.some_of("vjp", &format!("{function} {point} {adjoint}"))
            }
        }
    }

    /// A derivative by itself, or beside the value.
    fn some_of(&mut self, name: &str, operands: &str) -> String {
        match self.random.one_in(4) {
            true => format!("(({name}2 {operands}).1)"),
            false => format!("({name} {operands})"),
        }
    }

    fn function(&mut self, from: &Ty, to: &Ty) -> String {
        let mark = self.open();
        let name = self.bind(from);
        let body = self.body(std::slice::from_ref(to));
        self.close(mark);
        format!("(\\{name} -> {body})")
    }

    /// Directions, mostly along one number each.
    fn directions(&mut self, dim: usize, of: &Ty) -> String {
        let size = SIZES[dim];
        let (i, j) = (self.own_name(), self.own_name());
        match of.dims[..] {
            [] if self.random.one_in(2) => format!("(tabulate {size} (\\{i} -> {}.i64 {i}))", of.elem),
            [along] if !self.random.one_in(4) => {
                format!("(tabulate_2d {size} {} (\\{i} {j} -> {}.bool ({i} == {j})))", SIZES[along], of.elem)
            }
            _ => self.exp(&of.many(dim)),
        }
    }
}
