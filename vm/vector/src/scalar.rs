//! Scalar operations on the rows of a group: on numbers where all rows have the same, on lines where they grow, else on columns.

use crate::body::{Rows, Run, Value, failed};
use crate::code::Reg;
use crate::column::{Column, Scalars, fill};
use crate::loops::{self, Kernel1, Kernel2, Kernel3};
use galopvm_base::scalar::{convert, eval, eval2};
use galopvm_base::{Bits, ElemType, ScalarOp, TypedId, element};
use galopvm_kir::RunError;

impl<'a> Rows<'_, 'a> {
    /// The scalars of a register.
    #[inline]
    pub fn scalars(&self, reg: Reg) -> Run<&Scalars<'a>> {
        match &self.values[reg.index()] {
            Some(Value::Scalars(scalars)) => Ok(scalars),
            Some(Value::Array(_) | Value::Delivered) => {
                Err(failed("an array stands where a scalar should be"))
            }
            None => Err(failed("a register is read that has no value")),
        }
    }

    /// A number that has to be the same for all rows.
    pub fn int(&self, reg: Reg) -> Run<i64> {
        match self.scalars(reg)? {
            Scalars::One(bits) => Ok(*bits as i64),
            Scalars::Line { start, .. } if self.rows() == 1 => Ok(*start),
            Scalars::Many(column) if self.rows() == 1 => Ok(column.int(0)),
            Scalars::Line { .. } | Scalars::Many(_) => Err(failed("a size that differs from row to row")),
        }
    }

    /// The extents of an array to be made: a negative one is a trap.
    pub fn extents(&self, extents: &[Reg]) -> Run<Vec<i64>> {
        extents.iter().map(|extent| not_negative(self.int(*extent)?)).collect()
    }

    /// The scalars as a column.
    pub fn column(&mut self, scalars: &Scalars<'a>, width: usize) -> Column<'a> {
        let rows = self.rows();
        match scalars {
            Scalars::One(bits) => fill(rows * width, |out| loops::splat(out, width, *bits)),
            Scalars::Line { start, step } => fill(rows * 8, |out| loops::count(out, *start, *step)),
            Scalars::Many(column) => column.clone(),
        }
    }

    /// The scalars of a register as a column. Those of a number are there for the next group as well.
    #[inline]
    pub fn column_in(&mut self, reg: Reg, width: usize) -> Run<Column<'a>> {
        let rows = self.rows();
        match self.scalars(reg)? {
            Scalars::Many(column) => Ok(column.clone()),
            Scalars::One(bits) => {
                let bits = *bits;
                Ok(self.splats[reg.index()].column(bits, width, rows * width))
            }
            Scalars::Line { start, step } => {
                let (start, step) = (*start, *step);
                Ok(fill(rows * 8, |out| loops::count(out, start, step)))
            }
        }
    }

    pub fn unary(&mut self, a: Reg, op: ScalarOp, ty: ElemType, run: Kernel1) -> Run<Scalars<'a>> {
        if let Scalars::One(a) = self.scalars(a)? {
            return one(eval(op, ty, &[*a]));
        }
        let (a, bytes) = (self.column_in(a, ty.bytes())?, self.rows() * op.result_type(ty).bytes());
        let out = fill(bytes, |out| run(out, a.bytes()));
        Ok(Scalars::Many(out))
    }

    pub fn binary(&mut self, a: Reg, b: Reg, op: ScalarOp, ty: ElemType, run: Kernel2) -> Run<Scalars<'a>> {
        match (self.scalars(a)?, self.scalars(b)?) {
            (Scalars::Many(_), _) | (_, Scalars::Many(_)) => {}
            (Scalars::One(a), Scalars::One(b)) => return one(eval2(op, ty, *a, *b)),
            (a, b) => {
                if ty == ElemType::I64
                    && let Some(line) = line(op, a, b, self.rows())
                {
                    return Ok(line);
                }
            }
        }
        let (a, b) = (self.column_in(a, ty.bytes())?, self.column_in(b, ty.bytes())?);
        self.applied2(a, b, op, ty, run)
    }

    /// An operation on two columns.
    fn applied2(
        &mut self,
        a: Column<'a>,
        b: Column<'a>,
        op: ScalarOp,
        ty: ElemType,
        run: Kernel2,
    ) -> Run<Scalars<'a>> {
        let mut trapped = false;
        let bytes = self.rows() * op.result_type(ty).bytes();
        let out = fill(bytes, |out| trapped = run(out, a.bytes(), b.bytes()));
        if trapped && self.counts_a_trap(op, ty, &a, &b) {
            return Err(RunError::Trap);
        }
        Ok(Scalars::Many(out))
    }

    /// An operation on two values.
    pub fn apply2(
        &mut self,
        a: &Scalars<'a>,
        b: &Scalars<'a>,
        op: ScalarOp,
        ty: ElemType,
        run: Kernel2,
    ) -> Run<Scalars<'a>> {
        if let (Scalars::One(a), Scalars::One(b)) = (a, b) {
            return one(eval2(op, ty, *a, *b));
        }
        let (a, b) = (self.column(a, ty.bytes()), self.column(b, ty.bytes()));
        self.applied2(a, b, op, ty, run)
    }

    /// Whether a row that counts has no value.
    fn counts_a_trap(&self, op: ScalarOp, ty: ElemType, a: &Column<'_>, b: &Column<'_>) -> bool {
        let Some(mask) = &self.mask else { return true };
        let element = |column: &Column<'_>, row| element::load(column.bytes(), ty.bytes(), row as i64);
        let mut rows = (0..self.rows()).filter(|row| mask.holds(*row));
        rows.any(|row| eval2(op, ty, element(a, row), element(b, row)).is_err())
    }

    pub fn ternary(
        &mut self,
        operands: [Reg; 3],
        op: ScalarOp,
        ty: ElemType,
        run: Kernel3,
    ) -> Run<Scalars<'a>> {
        let [a, b, c] = operands;
        if let (Scalars::One(a), Scalars::One(b), Scalars::One(c)) =
            (self.scalars(a)?, self.scalars(b)?, self.scalars(c)?)
        {
            return one(eval(op, ty, &[*a, *b, *c]));
        }
        let width = |k| op.operand_type(k, ty).bytes();
        let a = self.column_in(a, width(0))?;
        let (b, c) = (self.column_in(b, width(1))?, self.column_in(c, width(2))?);
        let bytes = self.rows() * op.result_type(ty).bytes();
        let out = fill(bytes, |out| run(out, a.bytes(), b.bytes(), c.bytes()));
        Ok(Scalars::Many(out))
    }

    pub fn conversion(&mut self, a: Reg, from: ElemType, to: ElemType, run: Kernel1) -> Run<Scalars<'a>> {
        match self.scalars(a)? {
            Scalars::One(bits) => return Ok(Scalars::One(convert(from, to, *bits))),
            scalars if from == to => return Ok(scalars.clone()),
            _ => {}
        }
        let column = self.column_in(a, from.bytes())?;
        let out = fill(self.rows() * to.bytes(), |out| run(out, column.bytes()));
        Ok(Scalars::Many(out))
    }
}

fn one<'a, E>(bits: Result<Bits, E>) -> Run<Scalars<'a>> {
    bits.map(Scalars::One).map_err(|_| RunError::Trap)
}

/// What an operation on lines of so many rows gives, if that is a line.
fn line<'a>(op: ScalarOp, a: &Scalars<'_>, b: &Scalars<'_>, rows: usize) -> Option<Scalars<'a>> {
    let as_line = |scalars: &Scalars<'_>| match scalars {
        Scalars::One(bits) => Some((*bits as i64, 0)),
        Scalars::Line { start, step } => Some((*start, *step)),
        Scalars::Many(_) => None,
    };
    let ((a, a_step), (b, b_step)) = (as_line(a)?, as_line(b)?);
    let (start, step) = match op {
        ScalarOp::Add => (a.wrapping_add(b), a_step.wrapping_add(b_step)),
        ScalarOp::Sub => (a.wrapping_sub(b), a_step.wrapping_sub(b_step)),
        ScalarOp::Mul if a_step == 0 || b_step == 0 => {
            let step = if a_step == 0 { a.wrapping_mul(b_step) } else { a_step.wrapping_mul(b) };
            (a.wrapping_mul(b), step)
        }
        // Where the quotient is the same for all rows, the remainder is a line.
        ScalarOp::Div | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem if b > 0 && b_step == 0 && a >= 0 => {
            let last = i128::from(a) + i128::from(a_step) * (rows as i128 - 1);
            let last = i64::try_from(last).ok().filter(|last| *last >= 0)?;
            match op {
                _ if a / b != last / b => return None,
                ScalarOp::Div | ScalarOp::Quot => return Some(Scalars::One((a / b) as Bits)),
                _ => (a % b, a_step),
            }
        }
        _ => return None,
    };
    Some(Scalars::Line { start, step })
}

/// An extent that arrays can have.
pub(crate) fn not_negative(extent: i64) -> Run<i64> {
    if extent < 0 { Err(RunError::Trap) } else { Ok(extent) }
}
