//! The top level of a region: loops over its axes, with the lane axis innermost.
//!
//! The lane loop runs over whole vectors (as many groups of lanes as the plan says), then over the remainder one group at a
//! time under a mask. Where the plan has large results stored past the caches, the loop is there twice: the launch says which.
//!
//! A result may lie in a block that is read, if no iteration reads what another one writes (see `ResultView` in `vm/kir`).
//! Then it does not matter when reads of other places happen, which is all that moving them out of loops changes. Each
//! iteration's own places are read before they are written: the loads of a vector of iterations stand before its store, and
//! so do those of a tile of rows. Only a broadcast that loads again for itself could come too late (`Lower::over`).

use super::access::{View, ViewDim};
use super::control::Span;
use super::form::{Form, Shape, extent};
use super::owners::Owners;
use super::primitive::Raw;
use super::scan::{Onward, Prefixes};
use super::stretch::Stretches;
use super::tile::Tile;
use super::value::{Factor, Rep, Value, lane_of};
use super::{InLanes, Lanes, Lower};
use crate::lir::build::{Builder, Scope};
use crate::lir::{Code, Cond, Op, Reg, Width};
use crate::record::{self, Layout};
use crate::target::Target;
use galopvm_base::ElemType;
use galopvm_kir::{
    Axis, Body, Combine, Decision, DimIndex, Exp, Index, Observed, Plan, Read, Refusal, VarId, VerifiedRegion,
};
use std::collections::{HashMap, HashSet};

/// What to lower, and how.
pub struct Job<'a> {
    /// The region.
    pub region: &'a VerifiedRegion,
    /// Its plan.
    pub plan: &'a Plan,
    /// The numbers it is compiled for.
    pub observed: &'a Observed,
    /// What runs the code.
    pub target: &'a dyn Target,
    /// Where the launch record has things.
    pub layout: &'a Layout,
    /// All tiers must agree bit for bit on floats.
    pub strict: bool,
    /// All arrays are row-major over the axes: one loop over a flat range.
    pub flat: bool,
    /// The axis that pieces are cut from.
    pub pieces: usize,
    /// How results lie.
    pub places: Places,
    /// Some result lies in a block that is read.
    pub over: bool,
    /// What the code makes.
    pub role: Role,
    /// Iterations of a histogram that are written at a time: the results have a distance to the copies that these take in
    /// turn, if they have any.
    pub copies: usize,
}

/// What code makes for a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The results; of a reduction, its values for a piece, which are noted.
    Results,
    /// What all rows of a piece of a scan combine to, noted.
    Totals,
    /// What the pieces from `LOW` to `HIGH` noted, combined in order and noted again.
    Joined,
}

/// How the results of a launch lie.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Places {
    /// Row-major.
    RowMajor,
    /// Elements of the last dimension are neighbours.
    Rows,
    /// Anyhow.
    Any,
}

/// The axis that pieces are cut from, and this piece; none for a kernel inside another one.
type Piece = Option<(usize, (Reg, Reg))>;

/// A kernel's loops under construction.
struct Nest<'a> {
    form: &'a Form<'a>,
    results: Vec<View>,
    piece: Piece,
    /// Rows that are computed together.
    tile: Option<Tile<'a>>,
    /// The reduction is computed in stretches.
    stretches: Option<Stretches<'a>>,
}

/// A region in low IR.
pub struct Lowered {
    /// The code.
    pub code: Code,
    /// Rooms for arrays that it makes.
    pub rooms: u32,
}

/// Lowers a region to low IR.
pub fn lower(job: &Job<'_>, form: &Form<'_>) -> Result<Lowered, Refusal> {
    let is_for_vectors = |decision: &Decision| {
        use Decision::{Groups, Pack, Stretch, Tile};
        matches!(decision, Groups(..) | Tile(..) | Stretch(..) | Pack(_))
    };
    if job.target.lanes() == 1 && job.plan.lines.iter().any(|line| is_for_vectors(&line.decision)) {
        return Err(Refusal::new("the plan is for vectors, and there are none"));
    }
    let mut lower = Lower {
        b: Builder::new(job.target.masks()),
        target: job.target,
        region: job.region,
        plan: job.plan,
        observed: job.observed,
        layout: job.layout,
        scalars: HashMap::new(),
        views: HashMap::new(),
        lanes: None,
        mask: None,
        rest: None,
        stream: false,
        over: job.over,
        strict: job.strict,
        flat: None,
        used: used_names(job.region),
        loads: HashMap::new(),
        expected: Vec::new(),
        fed: HashMap::new(),
        packed: HashMap::new(),
        cold: Vec::new(),
        fetches: false,
        readies: false,
        loops: 0,
        rooms: 0,
        owners: Owners::of(job.region.region()),
    };
    lower.region_code(job, form)?;
    Ok(Lowered { rooms: lower.rooms, code: lower.b.finish() })
}

impl<'a> Lower<'a> {
    fn region_code(&mut self, job: &Job<'_>, form: &Form<'_>) -> Result<(), Refusal> {
        for stm in form.lets {
            self.stm(stm)?;
        }
        let low = self.b.op(Op::Word(record::LOW), &[]);
        let high = self.b.op(Op::Word(record::HIGH), &[]);
        match form.shape {
            Shape::Map(_) if job.flat => {
                self.flat = Some((form.axes.iter().map(|a| a.var).collect(), None));
                let nest = Nest {
                    form,
                    results: self.flat_results(form),
                    piece: Some((job.pieces, (low, high))),
                    tile: None,
                    stretches: None,
                };
                self.lane_loop(None, (low, high), &nest)?;
            }
            Shape::Map(_) => {
                let results = self.turned_results(form, job.places)?;
                self.map(form, results, Some((job.pieces, (low, high))))?;
            }
            Shape::Scatter(body, combine) => {
                let views = self.whole_results(job.places)?;
                self.scatter(form, (body, combine), (views, job.copies), (low, high))?;
            }
            Shape::Loop(stm, _) => {
                let views = self.whole_results(job.places)?;
                self.whole_loop(form, stm, views)?;
            }
            Shape::Fold(body, combine) => {
                let values = match job.role {
                    Role::Results | Role::Totals => {
                        self.lower_reduce(form.axes, Some((low, high)), body, combine)?
                    }
                    Role::Joined => self.joined(combine, (low, high))?,
                };
                self.note(&values);
            }
            Shape::Scan(body, combine) => {
                let [axis] = form.axes else { return Err(Refusal::new("a scan over several axes")) };
                let onward =
                    |places: Vec<View>| Onward::Stored(form.results.iter().copied().zip(places).collect());
                self.whole_scan(job, (axis, body, combine), &onward, (low, high))?;
            }
            Shape::Fed(_) => {
                let Some(feed) = form.feed else { return Err(Refusal::new("internal: no scan feeds it")) };
                let onward = |places| Onward::Mapped(feed.names, form, places);
                self.whole_scan(job, (feed.axis, feed.body, feed.combine), &onward, (low, high))?;
            }
        }
        self.b.end(Op::Return, &[]);
        for label in std::mem::take(&mut self.cold) {
            self.b.start(label);
            self.b.end(Op::Trap, &[]);
        }
        Ok(())
    }

    /// What a launch wants of a piece of a scan.
    fn whole_scan<'f>(
        &mut self,
        job: &Job<'_>,
        (axis, body, combine): (&'f Axis, &'f Body, &'f Combine),
        onward: &dyn Fn(Vec<View>) -> Onward<'f>,
        range: (Reg, Reg),
    ) -> Result<(), Refusal> {
        let values = match job.role {
            Role::Results => {
                let onward = onward(self.whole_results(job.places)?);
                let start = self.before_piece(combine, range.0)?;
                self.scan(&Prefixes { axis, body, combine, onward, is_one_run: true }, range, &start)?;
                return Ok(());
            }
            Role::Totals => self.lower_reduce(std::slice::from_ref(axis), Some(range), body, combine)?,
            Role::Joined => self.joined(combine, range)?,
        };
        self.note(&values);
        Ok(())
    }

    /// What a piece of a scan begins with: the first one with the neutral elements, others with what those before them came to.
    fn before_piece(&mut self, combine: &Combine, low: Reg) -> Result<Vec<Value>, Refusal> {
        let neutral = self.exps(&combine.neutral)?;
        let types: Vec<ElemType> = neutral.iter().map(|value| value.ty).collect();
        let before = self.partial(&types, &Value::int(0));
        let zero = self.b.int(0);
        let is_first = Raw::One(self.b.op(Op::Set(Cond::Eq, Width::W64), &[low, zero]));
        let mut start = Vec::with_capacity(neutral.len());
        for (a, b) in neutral.iter().zip(&before) {
            let (one, other) = (self.raw(a, false), self.raw(b, false));
            start.push(self.select(&is_first, lane_of(a.ty), &one, &other).typed(a.ty));
        }
        Ok(start)
    }

    fn result_view(&mut self, k: usize, elem: ElemType, dims: Vec<ViewDim>) -> View {
        let word = self.layout.result(k);
        View { elem, base: self.b.op(Op::Word(word), &[]), fixed: Vec::new(), dims, made: None }
    }

    fn result_elem(&self, k: usize) -> ElemType {
        self.region.results()[k].elem
    }

    fn flat_results(&mut self, form: &Form<'_>) -> Vec<View> {
        let unit = || ViewDim { extent: Value::int(i64::MAX), stride: Factor::Const(1) };
        (0..form.results.len()).map(|k| self.result_view(k, self.result_elem(k), vec![unit()])).collect()
    }

    /// The results as views.
    fn whole_results(&mut self, places: Places) -> Result<Vec<View>, Refusal> {
        let region = self.region;
        let mut views = Vec::new();
        for (k, ty) in region.results().iter().enumerate() {
            let mut dims: Vec<ViewDim> = Vec::new();
            let mut stride = Factor::Const(1);
            for (dim, extent) in ty.shape.iter().enumerate().rev() {
                let extent = self.exp(extent)?;
                let last = dim + 1 == ty.shape.len();
                if places == Places::Any || places == Places::Rows && !last {
                    stride = Factor::Reg(self.b.op(Op::Word(self.layout.result_stride(k, dim)), &[]));
                }
                let size = match extent.rep {
                    Rep::Const(bits) => Factor::Const(bits as i64),
                    _ => Factor::Reg(self.uniform(&extent)),
                };
                dims.insert(0, ViewDim { extent, stride });
                if places == Places::RowMajor {
                    stride = self.factor_product(stride, size);
                }
            }
            views.push(self.result_view(k, ty.elem, dims));
        }
        Ok(views)
    }

    /// The results of a kernel as views with its own order of dimensions.
    fn turned_results(&mut self, form: &Form<'_>, places: Places) -> Result<Vec<View>, Refusal> {
        let mut views = self.whole_results(places)?;
        for (view, order) in views.iter_mut().zip(&form.turned) {
            let Some(order) = order else { continue };
            let mut dims: Vec<(usize, ViewDim)> = order.iter().copied().zip(view.dims.drain(..)).collect();
            dims.sort_by_key(|(at, _)| *at);
            view.dims.extend(dims.into_iter().map(|(_, dim)| dim));
        }
        Ok(views)
    }

    /// The loops of a kernel whose results go to `results`.
    fn map(&mut self, form: &Form<'_>, results: Vec<View>, piece: Piece) -> Result<(), Refusal> {
        let has_lanes =
            |lane: &usize| self.target.lanes() > 1 && !self.makes_uneven(form.body(), form.axes[*lane].var);
        let lane = form.lane(self.plan).filter(has_lanes);
        if let Some(inner) = form.inner()
            && !(lane.is_some() && self.plan.lane().is_some())
        {
            return self.map_outer(form, &inner, 0, results, piece);
        }
        let tile = lane.map(|lane| Tile::of(form, lane, self.plan)).transpose()?.flatten();
        let row = tile.as_ref().map(|t| t.row);
        let outer = (0..form.axes.len()).filter(|k| Some(*k) != lane && Some(*k) != row);
        let order: Vec<usize> = outer.chain(lane).collect();
        let stretches = lane
            .map(|lane| Stretches::of(self.region.region(), form, lane, self.plan))
            .transpose()?
            .flatten();
        let nest = Nest { form, results, piece, tile, stretches };
        self.loops(&order, lane, &nest)
    }

    /// The loops around a kernel that stands at the end of another one's body, from axis `at` on. The statements in
    /// front of it run once for each index of the outer one; their reductions have the lanes for themselves.
    fn map_outer(
        &mut self,
        form: &Form<'_>,
        inner: &Form<'_>,
        at: usize,
        results: Vec<View>,
        piece: Piece,
    ) -> Result<(), Refusal> {
        let Some(axis) = form.axes.get(at) else {
            for stm in inner.lets {
                self.stm(stm)?;
            }
            self.unwanted(form)?;
            return self.map(inner, results, None);
        };
        let (low, high) = self.range(form, at, piece)?;
        self.counted(Span { low, high, step: 1, few: false }, &[], &[], &mut |l, counter, _| {
            let index = Value::uniform(ElemType::I64, counter);
            l.bind_scalar(axis.var, index.clone());
            let mut results = results.clone();
            for view in &mut results {
                let dim = view.dims.remove(0);
                view.fixed.push((index.clone(), dim.stride));
            }
            l.map_outer(form, inner, at + 1, results, piece)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// The range of an axis: a piece of it, or all.
    fn range(&mut self, form: &Form<'_>, axis: usize, piece: Piece) -> Result<(Reg, Reg), Refusal> {
        if let Some((cut, range)) = piece
            && cut == axis
        {
            return Ok(range);
        }
        let bound = self.exp(&form.axes[axis].bound)?;
        Ok((self.b.int(0), self.uniform(&bound)))
    }

    fn loops(&mut self, order: &[usize], lane: Option<usize>, nest: &Nest<'_>) -> Result<(), Refusal> {
        let Some((&first, rest)) = order.split_first() else { return self.element(nest) };
        let axis: &Axis = &nest.form.axes[first];
        let (low, high) = self.range(nest.form, first, nest.piece)?;
        if Some(first) == lane {
            if let (Some(stretches), None) = (&nest.stretches, &nest.tile) {
                return self.lanes_in_stretches(stretches, axis.var, (low, high), nest.form, &nest.results);
            }
            return self.lane_loop(Some(axis.var), (low, high), nest);
        }
        self.counted(Span { low, high, step: 1, few: false }, &[], &[], &mut |l, counter, _| {
            l.bind_scalar(axis.var, Value::uniform(ElemType::I64, counter));
            l.loops(rest, lane, nest)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// One element of each result, or one for each lane; of all rows, if rows are tiled.
    fn element(&mut self, nest: &Nest<'_>) -> Result<(), Refusal> {
        let Some(tile) = &nest.tile else { return self.store_body(nest) };
        let range = self.range(nest.form, tile.row, nest.piece)?;
        if let Some(stretches) = &nest.stretches {
            return self.rows_in_stretches(stretches, tile, nest.form, range, &nest.results);
        }
        self.in_tiles(range, tile.count, &mut |l, rows| l.tile_rows(tile, nest.form, rows, &nest.results))
    }

    /// The body at the current index; its results are stored.
    fn store_body(&mut self, nest: &Nest<'_>) -> Result<(), Refusal> {
        let index = self.index_of(nest.form)?;
        self.store_rows(nest.form, &nest.results, &index)
    }

    /// What a body gives at an index: a kernel at its end makes its rows where they go.
    fn store_rows(&mut self, form: &Form<'_>, results: &[View], index: &[Value]) -> Result<(), Refusal> {
        if let Some(inner) = form.inner() {
            inner.lets.iter().try_for_each(|stm| self.stm(stm))?;
            self.unwanted(form)?;
            let rows: Vec<View> = results.iter().map(|result| result.row(index)).collect();
            let bounds =
                inner.axes.iter().map(|axis| self.exp(&axis.bound)).collect::<Result<Vec<_>, _>>()?;
            return self.each_index(&bounds, &mut |l, at| {
                for (axis, at) in inner.axes.iter().zip(at) {
                    l.bind_scalar(axis.var, at.clone());
                }
                l.readies = l.plan.is_ready(inner.axes);
                let stored = l.store_rows(&inner, &rows, at);
                l.readies = false;
                stored
            });
        }
        let body = form.body();
        self.statements(body)?;
        self.unwanted(form)?;
        let given: Vec<&Exp> = form.results.iter().map(|number| &body.results[*number]).collect();
        self.store_results(&given, results, index)
    }

    /// Results of a body that nobody wants are computed as well: they may trap.
    fn unwanted(&mut self, form: &Form<'_>) -> Result<(), Refusal> {
        for (number, exp) in form.body().results.iter().enumerate() {
            if form.results.contains(&number) || matches!(exp, Exp::Var(_)) {
                continue;
            }
            match self.region.rank(exp) {
                Some(0) => _ = self.exp(exp)?,
                _ => _ = self.array_exp(exp)?,
            }
        }
        Ok(())
    }

    /// The current index.
    fn index_of(&mut self, form: &Form<'_>) -> Result<Vec<Value>, Refusal> {
        match &self.flat {
            Some((_, index)) => Ok(index.iter().cloned().collect()),
            None => form.axes.iter().map(|axis| self.scalar_var(axis.var)).collect(),
        }
    }

    /// Stores scalar results of the body at the current index.
    pub fn store_element(
        &mut self,
        form: &Form<'_>,
        results: &[View],
        values: &[Value],
    ) -> Result<(), Refusal> {
        let index = self.index_of(form)?;
        for (number, view) in form.results.iter().zip(results) {
            self.store(&view.row(&index), &values[*number]);
        }
        Ok(())
    }

    fn bind_lane(&mut self, var: Option<VarId>, counter: Reg) {
        match var {
            Some(var) => self.bind_lane_axis(var, counter),
            None => {
                let rep = if self.lanes.is_some() {
                    Rep::Linear { start: counter, step: Factor::Const(1) }
                } else {
                    Rep::Uniform(counter)
                };
                if let Some((_, index)) = &mut self.flat {
                    *index = Some(Value { ty: ElemType::I64, rep });
                }
            }
        }
    }

    fn lane_loop(
        &mut self,
        var: Option<VarId>,
        (low, high): (Reg, Reg),
        nest: &Nest<'_>,
    ) -> Result<(), Refusal> {
        let form = nest.form;
        if self.target.lanes() == 1 {
            self.counted(Span { low, high, step: 1, few: false }, &[], &[], &mut |l, counter, _| {
                l.bind_lane(var, counter);
                l.element(nest)?;
                Ok(Vec::new())
            })?;
            return Ok(());
        }
        // What is written from one end to the other; rows of a larger result need not begin at a cache line.
        let is_one_run = (form.axes.len() == 1 || var.is_none()) && nest.piece.is_some();
        let axis = var.or_else(|| Some(form.axes[form.lane(self.plan)?].var));
        let groups = axis.map_or(1, |axis| self.planned_groups(axis));
        let rest = self.past_the_caches(is_one_run, &mut |l| {
            let work: InLanes<'_, '_> = &mut |l| match var.filter(|_| nest.tile.is_none()) {
                Some(axis) => l.away_from_borders(form.body(), axis, &mut |l| l.element(nest)),
                None => l.element(nest),
            };
            Ok(vec![l.whole_lanes(var, groups, (low, high), work)?])
        })?[0];
        self.rest_lanes(var, (rest, high), &mut |l| l.element(nest))
    }

    /// Executes `work` for whole vectors of lanes, so many at a time; gives where the rest begins.
    pub fn whole_lanes(
        &mut self,
        var: Option<VarId>,
        groups: usize,
        (low, high): (Reg, Reg),
        work: InLanes<'_, 'a>,
    ) -> Result<Reg, Refusal> {
        self.lanes = Some(Lanes { groups });
        let step = self.lane_count() as i64;
        let (rest, _) =
            self.counted(Span { low, high, step, few: false }, &[], &[], &mut |l, counter, _| {
                l.bind_lane(var, counter);
                work(l)?;
                Ok(Vec::new())
            })?;
        self.lanes = None;
        Ok(rest)
    }

    /// Executes `work` for the rest of the lanes, a vector at a time under a mask.
    pub fn rest_lanes(
        &mut self,
        var: Option<VarId>,
        (low, high): (Reg, Reg),
        work: InLanes<'_, 'a>,
    ) -> Result<(), Refusal> {
        self.lanes = Some(Lanes { groups: 1 });
        let (step, end) = (self.lane_count() as i64, self.end_of_rest(high));
        self.counted(Span { low, high: end, step, few: true }, &[], &[], &mut |l, counter, _| {
            l.enter_rest(counter, high);
            l.bind_lane(var, counter);
            work(l)?;
            l.mask = None;
            Ok(Vec::new())
        })?;
        self.lanes = None;
        Ok(())
    }

    /// Code that stores from one end to the other is there twice, if the plan has that: the launch says whether past the caches.
    pub fn past_the_caches(
        &mut self,
        is_one_run: bool,
        main: &mut dyn FnMut(&mut Self) -> Result<Vec<Reg>, Refusal>,
    ) -> Result<Vec<Reg>, Refusal> {
        if !is_one_run || self.plan.stream().is_none() {
            return main(self);
        }
        let flag = self.b.op(Op::Word(record::STREAM), &[]);
        let (yes, no, join) = (self.b.block(), self.b.block(), self.b.block());
        let outside = self.b.current();
        let mut classes = Vec::new();
        for (label, stream) in [(yes, true), (no, false)] {
            self.b.open_from(Scope::Branch, outside);
            self.b.start(label);
            self.stream = stream;
            let regs = main(self)?;
            self.b.close();
            classes = regs.iter().map(|reg| self.b.class(*reg)).collect();
            self.b.end(Op::Jump(join), &regs);
        }
        self.stream = false;
        self.b.end_of(outside, Op::BranchBool(yes, no), &[flag]);
        let regs = classes.into_iter().map(|class| self.b.param(join, class)).collect();
        self.b.start(join);
        Ok(regs)
    }

    /// How many groups of lanes go across an axis at a time.
    pub fn planned_groups(&self, axis: VarId) -> usize {
        self.plan.groups(axis).unwrap_or(1)
    }

    /// True for a read at the kernel's own index in the flat form.
    pub fn is_flat_read(&self, read: &Read) -> bool {
        let Some((axes, _)) = &self.flat else { return false };
        matches!(&read.index, Index::Dims(dims) if dims.len() == axes.len()
            && dims.iter().zip(axes).all(|(d, a)| matches!(d, DimIndex::At(Exp::Var(v)) if v == a)))
    }

    /// The element of a row-major array at the flat index.
    pub fn flat_view(&mut self, array: VarId) -> Result<View, Refusal> {
        let Some(word) = self.layout.param(array) else {
            return Err(Refusal::new("internal: a flat read of no parameter"));
        };
        let base = self.b.op(Op::Word(word), &[]);
        let index = self.flat.as_ref().and_then(|(_, index)| index.clone()).unwrap_or(Value::int(0));
        let elem = self.region.type_of(array).elem;
        Ok(View { elem, base, fixed: vec![(index, Factor::Const(1))], dims: Vec::new(), made: None })
    }
}

fn used_names(region: &VerifiedRegion) -> HashSet<VarId> {
    let mut used = HashSet::new();
    region.region().body.each_use(&mut |var| {
        used.insert(var);
    });
    used
}

/// The axis that pieces are cut from: the plan's, else the outermost with enough iterations, else the longest.
pub fn piece_axis(
    region: &VerifiedRegion,
    plan: &Plan,
    observed: &Observed,
    form: &Form<'_>,
    threads: usize,
) -> usize {
    if matches!(
        form.shape,
        Shape::Fold(..) | Shape::Scan(..) | Shape::Fed(_) | Shape::Scatter(..) | Shape::Loop(..)
    ) {
        return 0;
    }
    if let Some(at) = plan.threads().and_then(|v| form.axes.iter().position(|a| a.var == v)) {
        return at;
    }
    let sizes: Vec<i64> =
        form.axes.iter().map(|a| extent(region, observed, &a.bound).unwrap_or(i64::MAX)).collect();
    let enough = sizes.iter().position(|n| *n >= 4 * threads as i64);
    let longest = (0..sizes.len()).max_by_key(|k| (sizes[*k], std::cmp::Reverse(*k)));
    enough.or(longest).unwrap_or(0)
}
