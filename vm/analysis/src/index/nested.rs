//! Births of arrays whose rows are arrays.
//!
//! A kernel whose body ends with what another kernel makes writes each place of its result once, as a kernel over all
//! axes would. The index table has these writes for the row; here they become writes of the result, whose layout is as
//! free as that of any other.

use super::table::{DimIndex, Role, Table};
use super::value::Value;
use crate::interval::Interval;
use galopvm_kir::walk::Part;
use galopvm_kir::{Body, Exp, Region, Rhs, VarId};

impl Table {
    /// The table in which rows of results are written as parts of the results.
    pub fn with_nested_births(mut self, region: &Region) -> Table {
        self.births_of(&region.body);
        self
    }

    fn births_of(&mut self, body: &Body) {
        for stm in &body.stms {
            // What is inside is part of what is around it.
            stm.rhs.each_part(&mut |part| {
                if let Part::Body(inner) = part {
                    self.births_of(inner);
                }
            });
            let Rhs::Kernel { axes, body } = &stm.rhs else { continue };
            let axes: Vec<VarId> = axes.iter().map(|axis| axis.var).collect();
            for (var, result) in stm.pat.iter().zip(&body.results) {
                if let Exp::Var(row) = result {
                    self.part_of(*row, *var, &axes);
                }
            }
        }
    }

    /// Lets the writes of a fresh array be writes of the result that it is a row of, at these variables.
    fn part_of(&mut self, row: VarId, result: VarId, axes: &[VarId]) {
        let rank = self.array(result).and_then(|info| info.shape.as_ref()).map(Vec::len);
        let index = |axis: &VarId| {
            let high = i128::from(self.trips(*axis)) - 1;
            let value = Value::axis(*axis, Interval { low: 0, high: high.max(0) });
            DimIndex { source: Exp::Var(*axis), value }
        };
        let outer: Vec<DimIndex> = axes.iter().map(index).collect();
        let is_write = |here: &&mut super::Row| here.array == row && here.role == Role::Fresh;
        for here in self.rows.iter_mut().filter(is_write) {
            if rank == Some(outer.len() + here.dims.len()) {
                here.array = result;
                here.dims.splice(0..0, outer.iter().cloned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::index::{Role, table};
    use galopvm_base::Scalar;
    use galopvm_kir::{Observed, ObservedParam, check, text::parse_region};

    #[test]
    fn rows_are_written_as_parts_of_the_result() {
        let text = "
region nested (n : i64, m : i64)
let r : [n][m]i64 =
  kernel i < n do
    let row : [m]i64 = kernel j < m do let x : i64 = i + j in x
    in row
in r";
        let region = check(parse_region(text).expect("it parses")).expect("it is right");
        let size = |size: i64| ObservedParam::Scalar(Scalar::i64(size));
        let observed = Observed { params: vec![size(5), size(7)] };
        let table = table(&region, &observed).with_nested_births(region.region());
        let texts: Vec<String> = table.rows.iter().map(|row| row.text(&table, &region)).collect();
        assert_eq!(texts, ["r - : i {i p0} ; j {j p1}"]);
        assert!(table.rows.iter().all(|row| row.role == Role::Fresh));
    }
}
