//! Arrays of the shadow: elements in row-major order, and views of them while an instruction is executed.

use super::agree;
use galopvm_base::{Bits, ElemType};
use galopvm_bytecode::RegId;
use galopvm_lmad::Lmad;
use galopvm_store::array::Array;
use galopvm_store::array::view::shape_text;
use smallvec::SmallVec;
use std::sync::Arc;

/// An array: a view of elements.
#[derive(Clone)]
pub(super) struct Plain {
    pub elem: ElemType,
    pub view: Lmad,
    /// All elements; in those of a register's value they are in row-major order.
    elements: Arc<Vec<Bits>>,
    /// The register of the program whose array has these elements, in this order.
    pub home: Option<RegId>,
}

/// An element that is not what it has to be.
pub(super) struct Difference {
    /// Its index, nothing if the shapes differ.
    index: Option<SmallVec<[i64; 4]>>,
    /// The shapes: the one it has to have, and the one it has.
    shapes: (SmallVec<[i64; 4]>, SmallVec<[i64; 4]>),
    /// What it has to be, and what it is.
    pub bits: (Bits, Bits),
}

impl Difference {
    /// What is wrong with the array of a register.
    pub fn text(&self, elem: ElemType, reg: RegId) -> String {
        let (wanted, found) = (agree::text(elem, self.bits.0), agree::text(elem, self.bits.1));
        match &self.index {
            Some(index) => {
                format!("Element {} of {reg} is {found} and has to be {wanted}.", shape_text(index))
            }
            None => {
                let (wanted, found) = (shape_text(&self.shapes.0), shape_text(&self.shapes.1));
                format!("The shape of {reg} is {found} and has to be {wanted}.")
            }
        }
    }
}

/// The index of an element by its number in row-major order.
fn index_of(shape: &[i64], number: i64) -> SmallVec<[i64; 4]> {
    let mut rest = number;
    let mut index: SmallVec<[i64; 4]> = shape.iter().map(|_| 0).collect();
    for (place, extent) in index.iter_mut().zip(shape).rev() {
        *place = rest % extent.max(&1);
        rest /= extent.max(&1);
    }
    index
}

impl Plain {
    /// A new array of these elements.
    pub fn new(elem: ElemType, shape: &[i64], elements: Vec<Bits>) -> Plain {
        debug_assert_eq!(Lmad::row_major(shape).elements(), elements.len() as i64);
        Plain { elem, view: Lmad::row_major(shape), elements: Arc::new(elements), home: None }
    }

    /// The value of the program's array in a register.
    pub fn of(array: &Array, reg: RegId) -> Plain {
        let plain = Plain::new(array.elem(), &array.shape(), array.iter_bits().collect());
        Plain { home: Some(reg), ..plain }
    }

    pub fn shape(&self) -> SmallVec<[i64; 4]> {
        self.view.shape()
    }

    /// Another view of the same elements.
    pub fn seen(&self, view: Lmad) -> Plain {
        Plain { view, ..self.clone() }
    }

    /// The element at a place of the view, without looking at the program's.
    pub fn at(&self, place: i64) -> Bits {
        self.elements[place as usize]
    }

    /// The elements in row-major order, without looking at the program's.
    pub fn moved(&self) -> impl Iterator<Item = Bits> + '_ {
        self.view.places().map(|place| self.at(place))
    }

    fn is_whole(&self) -> bool {
        self.view.offset == 0
            && self.view == Lmad::row_major(&self.shape())
            && self.view.elements() == self.elements.len() as i64
    }

    /// With all elements in row-major order, and no others.
    fn whole(self) -> Plain {
        if self.is_whole() {
            return self;
        }
        Plain::new(self.elem, &self.shape(), self.moved().collect())
    }

    /// As the value of a register.
    pub fn living_in(self, reg: RegId) -> Plain {
        Plain { home: Some(reg), ..self.whole() }
    }

    /// As an array that is about to be changed: the view is row-major, and no array of the program is meant any more.
    pub fn into_changing(self) -> Plain {
        Plain { home: None, ..self.whole() }
    }

    /// The elements, nobody else's from now on.
    pub fn elements_mut(&mut self) -> &mut [Bits] {
        let elements: &mut Vec<Bits> = Arc::make_mut(&mut self.elements);
        elements
    }

    /// What the program's array has in place of the element at a place of this view; nothing if it is that.
    pub fn contradicted_by(&self, array: &Array, place: i64) -> Option<Difference> {
        let view = array.lmad();
        let index = index_of(&view.shape(), place);
        let (wanted, found) = (self.at(place), array.load(view.place(&index)));
        let differs = !agree::is_same(self.elem, wanted, found);
        let shapes = (view.shape(), view.shape());
        differs.then_some(Difference { index: Some(index), shapes, bits: (wanted, found) })
    }

    /// Goes on with the elements of the program's array that may be other ones than these; how far from each, apart from what is always
    /// close, says `slacks`. An array of another shape is taken over as it is: so many rows are chosen by floats.
    pub fn take_close(&mut self, array: &Array, slacks: &[f64]) {
        if self.shape() != array.shape() {
            *self = Plain {
                home: self.home,
                ..Plain::new(self.elem, &array.shape(), array.iter_bits().collect())
            };
            return;
        }
        let elem = self.elem;
        let slacks = slacks.iter().copied().chain(std::iter::repeat(0.0));
        for ((own, found), slack) in self.elements_mut().iter_mut().zip(array.iter_bits()).zip(slacks) {
            if agree::is_close(elem, *own, found, slack) {
                *own = found;
            }
        }
    }

    /// The first difference to an array of the program.
    pub fn differs_from(&self, array: &Array) -> Option<Difference> {
        let shapes = (self.shape(), array.shape());
        if shapes.0 != shapes.1 {
            return Some(Difference { index: None, shapes, bits: (0, 0) });
        }
        let pairs = self.moved().zip(array.iter_bits());
        let (number, bits) = pairs.enumerate().find(|(_, (a, b))| !agree::is_same(self.elem, *a, *b))?;
        Some(Difference { index: Some(index_of(&shapes.0, number as i64)), shapes, bits })
    }
}
