//! Facts of operators that run together.

use super::collect::Setting;
use super::document::{FusedFact, FusedPart};
use crate::fused::{Fate, Line};
use crate::interpret::Site;
use galopvm_bytecode::RegId;

/// A group of operators; `launches` says how often it ran.
pub(super) fn fused_part(setting: &Setting<'_>, first: Site, lines: &[Line], launches: u64) -> FusedPart {
    let code = setting.module.functions.get(first.function);
    let place = code.and_then(|code| code.blocks.get(first.block)?.place(first.index));
    let names = setting.names(first.function);
    let name = |reg: RegId| names.as_ref().map_or_else(|| reg.to_string(), |names| names.called(reg));
    let spot = |reg: RegId| names.as_ref().and_then(|names| names.of(reg).spot);
    let fact = |line: &Line| {
        let others = match &line.fate {
            Fate::Computed(readers) => readers.iter().map(|reg| name(*reg)).collect(),
            Fate::Joined(other) => vec![name(*other)],
            Fate::Kept => Vec::new(),
        };
        let fate = match &line.fate {
            Fate::Computed(_) => "computed where it is read",
            Fate::Joined(_) => "joined",
            Fate::Kept => "kept",
        };
        FusedFact {
            made: name(line.made),
            spot: spot(line.made),
            fate,
            others,
            reason: line.why().named(name),
        }
    };
    FusedPart {
        spot: place.and_then(|place| setting.lines.spot(setting.module, place)),
        launches,
        facts: lines.iter().map(fact).collect(),
    }
}
