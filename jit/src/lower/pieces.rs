//! What is left of a piece for those that come after it: the values of a reduction, a word for each, in the notes of the launch
//! record; and the values of several pieces combined in order.

use super::Lower;
use super::access::{View, ViewDim};
use super::control::Span;
use super::value::{Factor, Value};
use crate::lir::{Op, Reg};
use crate::record;
use galopvm_base::ElemType;
use galopvm_kir::{Combine, Refusal};

impl Lower<'_> {
    /// Notes uniform values.
    pub fn note(&mut self, values: &[Value]) {
        for (number, value) in values.iter().enumerate() {
            let place = self.word_of(record::NOTES, value.ty, Value::int(0), number, values.len());
            self.store(&place, value);
        }
    }

    /// The values that a piece noted.
    pub fn partial(&mut self, types: &[ElemType], piece: &Value) -> Vec<Value> {
        let each = types.iter().enumerate();
        each.map(|(number, ty)| {
            let place = self.word_of(record::PARTIALS, *ty, piece.clone(), number, types.len());
            self.load(&place, true)
        })
        .collect()
    }

    /// The values of the pieces from `low` on that are below `high`, combined.
    pub fn joined(&mut self, combine: &Combine, (low, high): (Reg, Reg)) -> Result<Vec<Value>, Refusal> {
        let neutral = self.exps(&combine.neutral)?;
        let types: Vec<ElemType> = neutral.iter().map(|value| value.ty).collect();
        let shapes: Vec<(ElemType, bool)> = types.iter().map(|ty| (*ty, false)).collect();
        let span = Span { low, high, step: 1, few: false };
        let (_, values) = self.counted(span, &neutral, &shapes, &mut |l, piece, now| {
            let partial = l.partial(&types, &Value::uniform(ElemType::I64, piece));
            l.operate(combine, now, &partial)
        })?;
        Ok(values)
    }

    /// The word of a value, in the room that a word of the record has the address of: rows of `count` values.
    fn word_of(&mut self, room: u32, elem: ElemType, row: Value, number: usize, count: usize) -> View {
        let base = self.b.op(Op::Word(room), &[]);
        let words = (8 / elem.bytes()) as i64;
        let dim = |stride| ViewDim { extent: Value::int(i64::MAX), stride: Factor::Const(stride) };
        let room = View {
            elem,
            base,
            fixed: Vec::new(),
            dims: vec![dim(words * count as i64), dim(words)],
            made: None,
        };
        room.row(&[row, Value::int(number as i64)])
    }
}
