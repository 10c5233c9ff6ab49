//! Simplified expressions against what they are made of: the same values and the same traps, for random expressions over
//! few names and numbers, so that their parts often meet.

use galopvm_base::{ElemType, Scalar, ScalarOp, TypedId};
use galopvm_kir::algebra::simplified;
use galopvm_kir::types::scalar_value;
use galopvm_kir::{Exp, VarId};

/// A linear congruential generator: the same sequence everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn number(&mut self) -> i64 {
        self.of(&[0, 1, -1, 2, 3, i64::MIN, i64::MAX])
    }

    fn expression(&mut self, depth: usize) -> Exp {
        use ScalarOp::{Add, Div, Max, Mod, Mul, Sub};
        match self.below(if depth == 0 { 2 } else { 6 }) {
            0 => Exp::int(self.number()),
            1 => Exp::Var(VarId::from_index(self.below(3))),
            // Something that is added and taken away again.
            2 => {
                let (a, b) = (self.expression(depth - 1), self.expression(depth - 1));
                let (first, second) = self.of(&[(Add, Sub), (Sub, Add)]);
                let both = Exp::Op(first, ElemType::I64, vec![a, b.clone()]);
                Exp::Op(second, ElemType::I64, vec![both, b])
            }
            _ => {
                let op = self.of(&[Add, Sub, Mul, Div, Mod, Max]);
                Exp::Op(op, ElemType::I64, vec![self.expression(depth - 1), self.expression(depth - 1)])
            }
        }
    }
}

#[test]
fn simplified_expressions_have_the_same_values_and_traps() {
    let mut random = Random(7);
    let (mut shorter, mut traps) = (0, 0);
    for _ in 0..20_000 {
        let exp = random.expression(3);
        let simple = simplified(&exp);
        shorter += usize::from(simple != exp);
        for _ in 0..4 {
            let numbers = [random.number(), random.number(), random.number()];
            let lookup = |var: VarId| Some(Scalar::i64(numbers[var.index()]));
            let (value, found) = (scalar_value(&exp, &lookup), scalar_value(&simple, &lookup));
            traps += usize::from(value.is_none());
            assert_eq!(value, found, "{exp:?} as {simple:?} with {numbers:?}");
        }
    }
    assert!(shorter > 5_000 && traps > 1_000, "{shorter} were simplified, {traps} trapped");
}
