//! Views as composed indices: where an index into a view goes in the array that it is a view of.
//!
//! A name for an array is followed through other names, slices, exchanges of dimensions and reversals down to an array that
//! is no view, its *base*. All of that together is one [`Path`]: for each dimension of the base, `start + sum of index_k *
//! factors`, over expressions as they are written. Whatever else binds a name, changes of shape included, makes it a base.
//! Numbers play no part, so that a region has one set of [`Paths`] for all launches.
//!
//! Text of a path: `A [i + 1, _0 * 2 : n]`, per dimension of the base the place, where `_k` is the index in dimension `k`
//! of the view, with the number of its indices if that is not all of them.

use super::Binders;
use galopvm_base::{ElemType, ScalarOp, TypedId};
use galopvm_kir::text::print_index_exp;
use galopvm_kir::{ArrayOp, DimIndex, Exp, Index, Read, Region, Rhs, VarId, ViewChange};
use std::cell::OnceCell;
use std::fmt::Write;

/// The way from a view, or from a read, to an array.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// The array.
    pub base: VarId,
    /// The names on the way, the array's neighbour first, the view itself last.
    pub names: Vec<VarId>,
    /// By dimension of the array.
    pub places: Vec<Place>,
}

/// Where an index goes in one dimension.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// The place of the first element; 0 if there is nothing.
    pub start: Option<Exp>,
    /// The dimensions of the view that the place moves with.
    pub open: Vec<Open>,
}

/// A dimension that is left open.
#[derive(Clone, PartialEq, Debug)]
pub struct Open {
    /// Its number in the view.
    pub dim: usize,
    /// What its index is multiplied by, in this order.
    pub factors: Vec<Exp>,
    /// How many indices it has; as many as the dimension of the array if there is nothing.
    pub count: Option<Exp>,
}

impl Place {
    fn at(start: Exp) -> Place {
        Place { start: Some(start), open: Vec::new() }
    }

    /// A dimension left as it is.
    fn whole(dim: usize) -> Place {
        Place { start: None, open: vec![Open { dim, factors: Vec::new(), count: None }] }
    }

    /// The place when every dimension of the view has an index of its own.
    fn through(&self, index: &[Place]) -> Place {
        let mut place = Place { start: self.start.clone(), open: Vec::new() };
        for Open { dim, factors, count } in &self.open {
            let Some(inner) = index.get(*dim) else { continue };
            if let Some(start) = &inner.start {
                let far = times(start.clone(), factors);
                place.start = Some(match place.start {
                    Some(sum) => operation(ScalarOp::Add, sum, far),
                    None => far,
                });
            }
            place.open.extend(inner.open.iter().map(|open| Open {
                dim: open.dim,
                factors: open.factors.iter().chain(factors).cloned().collect(),
                count: open.count.as_ref().or(count.as_ref()).cloned(),
            }));
        }
        place
    }

    /// True if no dimension is left open: the index of one element.
    pub fn is_complete(&self) -> bool {
        self.start.is_some() && self.open.is_empty()
    }

    /// The index of the first element.
    pub fn first(self) -> Exp {
        self.start.unwrap_or_else(|| Exp::int(0))
    }

    fn text(&self, region: &Region) -> String {
        let exp = |exp: &Exp| print_index_exp(region, exp);
        let mut parts: Vec<String> = self.start.iter().map(exp).collect();
        for open in &self.open {
            let factors: String = open.factors.iter().map(|factor| format!(" * {}", exp(factor))).collect();
            let count = open.count.as_ref().map(|count| format!(" : {}", exp(count)));
            parts.push(format!("_{}{factors}{}", open.dim, count.unwrap_or_default()));
        }
        parts.join(" + ")
    }
}

impl Path {
    /// The path in text.
    pub fn text(&self, region: &Region) -> String {
        let places: Vec<String> = self.places.iter().map(|place| place.text(region)).collect();
        format!("{} [{}]", region.name_of(self.base), places.join(", "))
    }

    /// The path of what is seen of the view at these places of its own.
    fn then(mut self, own: &[Place]) -> Path {
        self.places = self.places.iter().map(|place| place.through(own)).collect();
        self
    }
}

/// The paths of the views of a region, each followed when somebody asks.
pub struct Paths<'a> {
    region: &'a Region,
    binders: Binders<'a>,
    /// By variable; nothing for what is no view.
    views: Vec<OnceCell<Option<Box<Path>>>>,
}

impl<'a> Paths<'a> {
    /// The paths of a region.
    pub fn new(region: &'a Region) -> Paths<'a> {
        let views = region.vars.iter().map(|_| OnceCell::new()).collect();
        Paths { region, binders: Binders::new(region), views }
    }

    /// Which statements bind the names.
    pub fn binders(&self) -> &Binders<'a> {
        &self.binders
    }

    /// Whether a name is a view of another array.
    pub fn is_view(&self, name: VarId) -> bool {
        self.view(name).is_some()
    }

    /// The path of an array to what it is a view of, which may be itself.
    pub fn array(&self, array: VarId) -> Path {
        let own = || Path {
            base: array,
            names: Vec::new(),
            places: (0..self.rank(array)).map(Place::whole).collect(),
        };
        self.view(array).cloned().unwrap_or_else(own)
    }

    /// What a read reaches.
    pub fn read(&self, read: &Read) -> Path {
        let own = self.own_places(read.array, &read.index);
        match self.view(read.array) {
            Some(view) => view.clone().then(&own),
            None => Path { base: read.array, names: Vec::new(), places: own },
        }
    }

    /// Where an index goes in each dimension of its own array, be that a view or not.
    pub fn own_places(&self, array: VarId, index: &Index) -> Vec<Place> {
        let rank = self.rank(array);
        let mut places = Vec::with_capacity(rank);
        let mut dims = 0;
        let mut open = |count: &Exp, step: &Exp| {
            dims += 1;
            Open { dim: dims - 1, factors: vec![step.clone()], count: Some(count.clone()) }
        };
        match index {
            Index::Dims(entries) => places.extend(entries.iter().map(|entry| match entry {
                DimIndex::At(at) => Place::at(at.clone()),
                DimIndex::Slice { start, count, step } => {
                    Place { start: Some(start.clone()), open: vec![open(count, step)] }
                }
            })),
            Index::Lmad { offset, dims } => places.push(Place {
                start: Some((**offset).clone()),
                open: dims.iter().map(|(extent, stride)| open(extent, stride)).collect(),
            }),
        }
        places.extend((0..rank.saturating_sub(places.len())).map(|k| Place::whole(dims + k)));
        places
    }

    /// Every view and every read in text, one line each.
    pub fn report(&self) -> String {
        let mut text = String::new();
        for (var, name) in self.region.vars.iter_ids() {
            if let Some(path) = self.view(var) {
                let _ = writeln!(text, "{} : {}", name.name, path.text(self.region));
            }
        }
        for read in self.region.all_reads() {
            let _ = writeln!(text, "{} : {}", read.id, self.read(read).text(self.region));
        }
        text
    }

    fn rank(&self, array: VarId) -> usize {
        self.region.vars[array].ty.as_ref().map_or(0, |ty| ty.rank())
    }

    /// The path of a name that is a view.
    fn view(&self, name: VarId) -> Option<&Path> {
        let follow = || {
            let mut path = match self.binders.of(name)? {
                (Rhs::Exps(exps), k) if self.rank(name) > 0 => self.seen(exps.get(k)?),
                (Rhs::Array(ArrayOp::View { change, array }), _) => self.changed(change, array),
                (
                    Rhs::Exps(_)
                    | Rhs::Array(_)
                    | Rhs::Kernel { .. }
                    | Rhs::Reduce { .. }
                    | Rhs::Scan { .. }
                    | Rhs::For { .. }
                    | Rhs::While { .. }
                    | Rhs::If { .. }
                    | Rhs::Update { .. }
                    | Rhs::Manifest { .. }
                    | Rhs::Scatter { .. },
                    _,
                ) => None,
            }?;
            path.names.push(name);
            Some(Box::new(path))
        };
        self.views.get(name.index())?.get_or_init(follow).as_deref()
    }

    /// The path of an expression, if it is an array that is seen.
    fn seen(&self, exp: &Exp) -> Option<Path> {
        match exp {
            Exp::Var(var) if self.rank(*var) > 0 => Some(self.array(*var)),
            Exp::Read(read) => Some(self.read(read)),
            Exp::Var(_) | Exp::Const(_) | Exp::Op(..) | Exp::Convert(..) | Exp::Opaque(..) => None,
        }
    }

    /// The path of an array that is seen otherwise, if places of the one are places of the other.
    fn changed(&self, change: &ViewChange, array: &Exp) -> Option<Path> {
        let shape = self.region.type_of_exp(array)?.shape;
        let own: Vec<Place> = match change {
            ViewChange::Transpose | ViewChange::Rearrange(_) => {
                let perm = change.permutation(shape.len())?;
                let at = |dim| perm.iter().position(|from| *from == dim);
                (0..shape.len()).map(|dim| at(dim).map(Place::whole)).collect::<Option<_>>()?
            }
            ViewChange::Reverse => {
                let last = operation(ScalarOp::Sub, shape.first()?.clone(), Exp::int(1));
                let open = vec![Open { dim: 0, factors: vec![Exp::int(-1)], count: None }];
                let first = Place { start: Some(last), open };
                std::iter::once(first).chain((1..shape.len()).map(Place::whole)).collect()
            }
            ViewChange::Reshape(_) | ViewChange::Flatten => return None,
        };
        Some(self.seen(array)?.then(&own))
    }
}

fn operation(op: ScalarOp, a: Exp, b: Exp) -> Exp {
    Exp::Op(op, ElemType::I64, vec![a, b])
}

fn times(exp: Exp, factors: &[Exp]) -> Exp {
    factors.iter().fold(exp, |product, factor| operation(ScalarOp::Mul, product, factor.clone()))
}
