//! Lifting writes at computed places: `scatter` and `hist`.
//!
//! Rows are written element by element: their dimensions are further axes of the statement, and further indices. A row
//! whose index lies outside is passed by as a whole, so that is the same.

use super::build::{Lift, Lifter};
use super::value::{Array, Source, Value};
use super::{LiftRefusal, refuse};
use galopvm_base::Scalar;
use galopvm_bytecode::{BlockId, Def, Operand};
use galopvm_kir::{Combine, Exp, Rhs, VarId};

/// What an operator writes: into which arrays, at which places, which rows.
#[derive(Clone, Copy)]
pub(super) struct Writes<'i> {
    pub dests: &'i [Operand],
    pub index: &'i [Operand],
    pub values: &'i [Operand],
}

impl Lifter<'_> {
    /// `scatter`, or, with neutral elements and a block that combines, `hist`.
    pub fn lift_scatter(
        &mut self,

        dsts: &[Def],
        width: Operand,
        writes: Writes<'_>,
        operator: Option<(&[Operand], BlockId)>,
    ) -> Lift<()> {
        let inputs = [writes.index, writes.values].concat();
        let (width, mut inputs) = self.operands(width, &inputs)?;
        let values = inputs.split_off(writes.index.len());
        let dests = self.arrays(writes.dests)?;
        let names = dests.iter().map(|dest| self.destination(dest)).collect::<Lift<Vec<VarId>>>()?;
        let Some(shape) = dests.first().map(|dest| dest.shape.clone()) else {
            return refuse("a scatter into nothing");
        };
        let row = shape.get(inputs.len()..).unwrap_or_default().to_vec();
        for (dest, value) in dests.iter().zip(&values) {
            if dest.rank() != shape.len() || value.rank() != row.len() + 1 {
                return refuse("destinations whose elements have different ranks");
            }
            let pairs = dest.shape.iter().zip(&shape).chain(value.shape[1..].iter().zip(&row));
            pairs.for_each(|(a, b)| self.equate(a, b));
        }
        let (neutral, inner) = match operator {
            None => (Vec::new(), None),
            Some((neutral, block)) => {
                let neutral: Vec<Value> = neutral.iter().map(|n| self.value(*n)).collect();
                let mut inner = block;
                let mut rows = neutral.clone();
                for extent in &row {
                    inner = self.row_operator(inner, &rows, extent)?;
                    // What an operator on rows looks at of its operands are extents.
                    rows = rows.iter().map(first_row).collect::<Lift<_>>()?;
                }
                (neutral, Some(inner))
            }
        };
        let depth = self.depth() + 1;
        self.open();
        let mut axes = vec![self.axis(width)];
        let mut index = self.rows(&inputs, &Exp::Var(axes[0].var))?;
        let mut items = self.rows(&values, &Exp::Var(axes[0].var))?;
        for extent in &row {
            let rows = items.into_iter().map(array_of).collect::<Lift<Vec<Array>>>()?;
            let extent = self.outside(extent, depth)?;
            let axis = self.axis(extent);
            items = self.rows(&rows, &Exp::Var(axis.var))?;
            index.push(Value::Scalar(Exp::Var(axis.var)));
            axes.push(axis);
        }
        index.extend(items);
        let body = self.close_scalars(index)?;
        let combine = match inner {
            None => None,
            Some(inner) if row.is_empty() => {
                let neutral = super::operator::scalars(neutral, "a histogram's neutral elements")?;
                Some(self.combine(neutral, inner)?)
            }
            Some(inner) => Some(self.combine_elements(inner, &names)?),
        };
        let mut pat = Vec::new();
        for (dst, name) in dsts.iter().zip(&names) {
            let ty = self.type_of(*name);
            let var = self.local(ty.clone());
            self.define(dst.0, Value::Array(Array::whole(ty.elem, ty.shape, Source::Name(var))));
            pat.push(var);
        }
        self.emit(pat, Rhs::Scatter { arrays: names, axes, body, combine });
        Ok(())
    }

    /// The name of an array that is written to; what has none is computed into memory.
    fn destination(&mut self, dest: &Array) -> Lift<VarId> {
        if let Some(name) = dest.as_name() {
            return Ok(name);
        }
        self.materialise(dest.clone())?
            .as_name()
            .ok_or_else(|| LiftRefusal::new("a destination without a name"))
    }

    /// The operator on elements of rows. Their neutral element is that of the scalar operation.
    fn combine_elements(&mut self, block: BlockId, dests: &[VarId]) -> Lift<Combine> {
        let zero = |dest: &VarId| Exp::Const(Scalar::new(self.type_of(*dest).elem, 0));
        let neutral = dests.iter().map(zero).collect();
        let mut combine = self.combine(neutral, block)?;
        super::tidy::forward(&mut combine.body, &self.region);
        let identities = combine.scalar_ops().and_then(|ops| {
            let identity = |(op, dest): (&galopvm_base::ScalarOp, &VarId)| {
                Some(Exp::Const(op.info().identity?.of(self.type_of(*dest).elem)))
            };
            ops.iter().zip(dests).map(identity).collect::<Option<Vec<Exp>>>()
        });
        let Some(identities) = identities else {
            return refuse("rows that are combined by more than a scalar operation");
        };
        combine.neutral = identities;
        Ok(combine)
    }
}

fn array_of(value: Value) -> Lift<Array> {
    match value {
        Value::Array(array) => Ok(array),
        Value::Scalar(_) => refuse("a scalar where a row belongs"),
    }
}

/// A row of an array, for its shape.
fn first_row(value: &Value) -> Lift<Value> {
    let row = array_of(value.clone())?.fix(0, &Exp::int(0));
    Ok(match row.rank() {
        0 => Value::Scalar(Exp::int(0)),
        _ => Value::Array(row),
    })
}
