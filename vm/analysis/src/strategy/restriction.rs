//! What an access demands: a lane, variables that must not be the lane, innermost dimensions.
//!
//! Text: `{in j; out q; bias->0 xs->1}`, dimensions counted from the inside, `-` for nothing.

use galopvm_kir::{Region, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// A demand.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Restriction {
    /// The lane, if one is demanded.
    pub lane: Option<VarId>,
    /// Variables that must not be the lane.
    pub out: BTreeSet<VarId>,
    /// By array: the dimension that has to be innermost, counted from the inside.
    pub inner: BTreeMap<VarId, usize>,
}

/// Why two demands cannot both be met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Conflict {
    /// Two lanes.
    Lane,
    /// The lane must not be it.
    LaneOut,
    /// No variable is left.
    NothingLeft,
    /// Two innermost dimensions of one array.
    Transpose(VarId),
}

impl Conflict {
    /// The words in text: `fail in-out`.
    pub fn text(self, region: &Region) -> String {
        match self {
            Conflict::Lane => "fail in".into(),
            Conflict::LaneOut => "fail in-out".into(),
            Conflict::NothingLeft => "fail out-all".into(),
            Conflict::Transpose(array) => format!("fail transpose({})", region.name_of(array)),
        }
    }
}

impl Restriction {
    /// Both demands, in a kernel with these variables.
    pub fn combine(&self, other: &Restriction, axes: &[VarId]) -> Result<Restriction, Conflict> {
        let lane = match (self.lane, other.lane) {
            (Some(a), Some(b)) if a != b => return Err(Conflict::Lane),
            (a, b) => a.or(b),
        };
        let out: BTreeSet<VarId> = self.out.union(&other.out).copied().collect();
        if lane.is_some_and(|lane| out.contains(&lane)) {
            return Err(Conflict::LaneOut);
        }
        if axes.iter().all(|axis| out.contains(axis)) {
            return Err(Conflict::NothingLeft);
        }
        let mut inner = self.inner.clone();
        for (array, dim) in &other.inner {
            if *inner.entry(*array).or_insert(*dim) != *dim {
                return Err(Conflict::Transpose(*array));
            }
        }
        Ok(Restriction { lane, out, inner })
    }

    /// True if this variable may be the lane.
    pub fn allows(&self, lane: VarId) -> bool {
        self.lane.is_none_or(|demanded| demanded == lane) && !self.out.contains(&lane)
    }

    /// Arrays whose innermost dimension is not the last one.
    pub fn transposed(&self) -> impl Iterator<Item = VarId> {
        self.inner.iter().filter(|(_, dim)| **dim != 0).map(|(array, _)| *array)
    }

    /// The demand in text.
    pub fn text(&self, region: &Region) -> String {
        let list = |mut parts: Vec<String>, separator: &str| {
            parts.sort();
            if parts.is_empty() { "-".to_string() } else { parts.join(separator) }
        };
        let lane = self.lane.map_or("-", |lane| region.name_of(lane));
        let out = self.out.iter().map(|var| region.name_of(*var).to_string()).collect();
        let inner =
            self.inner.iter().map(|(array, dim)| format!("{}->{dim}", region.name_of(*array))).collect();
        format!("{{in {lane}; out {}; {}}}", list(out, ","), list(inner, " "))
    }
}

/// One demand of each access, in all ways that fit together.
pub fn fold(accesses: &[Vec<Restriction>], axes: &[VarId]) -> Vec<Restriction> {
    let mut all = vec![Restriction::default()];
    for demands in accesses {
        let mut next: Vec<Restriction> = Vec::new();
        for one in &all {
            for other in demands {
                if let Ok(both) = one.combine(other, axes)
                    && !next.contains(&both)
                {
                    next.push(both);
                }
            }
        }
        all = next;
    }
    all
}
