//! Operators inside a body: kernels, scans and scatters whose arrays the code makes itself.
//!
//! Where lanes are in use they are loops, and each lane has arrays of its own. Otherwise a kernel is one as at the top: the
//! lanes go across its innermost axis.

use super::Lower;
use super::access::View;
use super::control::Span;
use super::poll::is_few;
use super::primitive::Raw;
use super::value::Value;
use crate::lir::{Cond, Lane};
use galopvm_base::ElemType;
use galopvm_kir::{Axis, Body, Combine, Exp, Refusal, Stm, VarId};
use std::collections::BTreeSet;

/// What a body gives for an index of arrays.
enum Given {
    Scalar(Value),
    Row(View),
}

impl<'a> Lower<'a> {
    /// A kernel that makes arrays.
    pub fn lower_kernel(&mut self, stm: &Stm, axes: &[Axis], body: &Body) -> Result<(), Refusal> {
        let made = self.made_arrays(&stm.pat)?;
        let bounds = self.exps(&axes.iter().map(|axis| axis.bound.clone()).collect::<Vec<_>>())?;
        self.each_index(&bounds, &mut |l, index| {
            for (axis, at) in axes.iter().zip(index) {
                l.bind_scalar(axis.var, at.clone());
            }
            l.statements(body)?;
            l.store_results(&body.results.iter().collect::<Vec<_>>(), &made, index)
        })?;
        self.bind_made(&stm.pat, made);
        Ok(())
    }

    /// Stores what a body gives at an index of arrays: scalars, or arrays that are rows.
    pub fn store_results(
        &mut self,
        results: &[&Exp],
        arrays: &[View],
        index: &[Value],
    ) -> Result<(), Refusal> {
        let mut given = Vec::with_capacity(results.len());
        for exp in results {
            given.push(match self.region.rank(exp) {
                Some(0) => Given::Scalar(self.exp(exp)?),
                _ => {
                    let row = self.array_exp(exp)?;
                    // What a result lies over is read before any result is written.
                    let is_read = self.over && row.made.is_none();
                    Given::Row(if is_read { self.copied(&row)? } else { row })
                }
            });
        }
        for (given, array) in given.iter().zip(arrays) {
            let place = array.row(index);
            match given {
                Given::Scalar(value) => self.store(&place, value),
                Given::Row(row) => self.copy_array(&place, row)?,
            }
        }
        Ok(())
    }

    /// New arrays of the types of names.
    fn made_arrays(&mut self, pat: &[VarId]) -> Result<Vec<View>, Refusal> {
        let mut made = Vec::with_capacity(pat.len());
        for var in pat {
            let extents = self.extents(*var)?;
            made.push(self.fresh(self.region.type_of(*var).elem, &extents)?);
        }
        Ok(made)
    }

    fn bind_made(&mut self, pat: &[VarId], made: Vec<View>) {
        for (var, view) in pat.iter().zip(made) {
            let view = self.written(view);
            self.views.insert(*var, view);
        }
    }

    /// A scan: its prefixes one after the other.
    pub fn lower_scan(
        &mut self,
        stm: &Stm,
        axis: &Axis,
        body: &Body,
        combine: &Combine,
    ) -> Result<(), Refusal> {
        if combine.acc.iter().any(|var| !self.region.type_of(*var).is_scalar()) {
            return Err(Refusal::new("a scan of arrays"));
        }
        let mut used: BTreeSet<VarId> = BTreeSet::new();
        self.region.region().body.each_use(&mut |var| _ = used.insert(var));
        // Prefixes that nobody reads have no place.
        let (kept, names): (Vec<usize>, Vec<VarId>) =
            stm.pat.iter().copied().enumerate().filter(|(_, var)| used.contains(var)).unzip();
        let made = self.made_arrays(&names)?;
        let bound = self.exp(&axis.bound)?;
        if bound.varies() {
            return Err(Refusal::new("an array whose extents differ between lanes"));
        }
        let neutral = self.exps(&combine.neutral)?;
        let in_lanes = self.lanes.is_some();
        let shapes: Vec<(ElemType, bool)> = neutral.iter().map(|value| (value.ty, in_lanes)).collect();
        let (low, high) = (self.b.int(0), self.uniform(&bound));
        let span = Span { low, high, step: 1, few: is_few(bound.known()) };
        self.counted(span, &neutral, &shapes, &mut |l, counter, now| {
            let at = Value::uniform(ElemType::I64, counter);
            l.bind_scalar(axis.var, at.clone());
            let items = l.body(body)?;
            // Nothing is contracted: prefixes are what the operator gives.
            l.bind_all(&combine.acc, now);
            l.bind_all(&combine.item, &items);
            let next = l.body(&combine.body)?;
            for (array, number) in made.iter().zip(&kept) {
                l.store(&array.row(std::slice::from_ref(&at)), &next[*number]);
            }
            Ok(next)
        })?;
        self.bind_made(&names, made);
        Ok(())
    }

    /// A scatter, or a histogram: iterations come in order, and in each lane those of its own arrays.
    pub fn lower_scatter(
        &mut self,
        stm: &Stm,
        arrays: &[VarId],
        axes: &[Axis],
        body: &Body,
        combine: Option<&Combine>,
    ) -> Result<(), Refusal> {
        let mut changed = Vec::with_capacity(arrays.len());
        for (made, array) in stm.pat.iter().zip(arrays) {
            let old = self.view(*array)?;
            changed.push(if self.owners.is_kept(*made) { old } else { self.copied(&old)? });
        }
        self.scatter_rounds(axes, body, combine, &changed)?;
        self.bind_made(&stm.pat, changed);
        Ok(())
    }

    fn scatter_rounds(
        &mut self,
        axes: &[Axis],
        body: &Body,
        combine: Option<&Combine>,
        arrays: &[View],
    ) -> Result<(), Refusal> {
        let Some((axis, inner)) = axes.split_first() else {
            let values = self.body(body)?;
            return self.put_lanes(values, combine, arrays);
        };
        let bound = self.exp(&axis.bound)?;
        if bound.varies() {
            return Err(Refusal::new("a scatter of other lengths in other lanes"));
        }
        let (low, high) = (self.b.int(0), self.uniform(&bound));
        let span = Span { low, high, step: 1, few: is_few(bound.known()) };
        self.counted(span, &[], &[], &mut |l, counter, _| {
            l.bind_scalar(axis.var, Value::uniform(ElemType::I64, counter));
            l.scatter_rounds(inner, body, combine, arrays)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// Writes values at an index, in the lanes in which that lies inside.
    fn put_lanes(
        &mut self,
        mut index: Vec<Value>,
        combine: Option<&Combine>,
        arrays: &[View],
    ) -> Result<(), Refusal> {
        let Some(first) = arrays.first() else { return Ok(()) };
        let items = index.split_off(first.dims.len());
        if self.lanes.is_none() {
            return self.put(arrays, combine, &index, items);
        }
        let outer = self.mask.clone();
        for (at, dim) in index.iter().zip(&first.dims) {
            let (at, extent) = (self.raw(at, true), self.raw(&dim.extent, true));
            let Raw::Many(inside) = self.cmp(Cond::Below, Lane::I64, &at, &extent) else { continue };
            self.mask = Some(self.under_mask(&inside));
        }
        let places: Vec<View> = arrays.iter().map(|array| array.row(&index)).collect();
        let values = self.combined_with_old(&places, combine, items)?;
        for (place, value) in places.iter().zip(&values) {
            self.store(place, value);
        }
        self.mask = outer;
        Ok(())
    }

    /// An element as it is now, whatever was loaded before.
    pub fn load_again(&mut self, place: &View) -> Value {
        let now = self.written(place.clone());
        self.load(&now, true)
    }
}

impl View {
    /// The row at indices of the first dimensions.
    pub fn row(&self, index: &[Value]) -> View {
        let front = index.iter().cloned().zip(self.dims.iter().map(|dim| dim.stride));
        let fixed = self.fixed.iter().cloned().chain(front).collect();
        View { fixed, dims: self.dims[index.len()..].to_vec(), ..self.clone() }
    }
}
