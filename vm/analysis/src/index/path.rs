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
use galopvm_base::TypedId;
use galopvm_kir::text::print_index_exp;
use galopvm_kir::view::{Place, changed, places};
use galopvm_kir::{ArrayOp, Exp, Index, Read, Region, Rhs, VarId, ViewChange};
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

/// A place in text.
fn place_text(place: &Place, region: &Region) -> String {
    let exp = |exp: &Exp| print_index_exp(region, exp);
    let mut parts: Vec<String> = place.start.iter().map(exp).collect();
    for open in &place.open {
        let factors: String = open.factors.iter().map(|factor| format!(" * {}", exp(factor))).collect();
        let count = open.count.as_ref().map(|count| format!(" : {}", exp(count)));
        parts.push(format!("_{}{factors}{}", open.dim, count.unwrap_or_default()));
    }
    parts.join(" + ")
}

impl Path {
    /// The path in text.
    pub fn text(&self, region: &Region) -> String {
        let places: Vec<String> = self.places.iter().map(|place| place_text(place, region)).collect();
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
        let mut own = Vec::with_capacity(rank);
        own.extend(places(index).iter().map(Place::owned));
        let open = own.iter().map(|place: &Place| place.open.len()).sum::<usize>();
        let rest = rank.saturating_sub(own.len());
        own.extend((open..open + rest).map(Place::whole));
        own
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
        let own = changed(change, &shape)?;
        Some(self.seen(array)?.then(&own))
    }
}
