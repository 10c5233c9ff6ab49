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
    let name = |reg: RegId| {
        let known = names.as_ref().and_then(|names| names.of(reg).name);
        known.unwrap_or_else(|| reg.to_string())
    };
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
        let word = |word: &str| {
            let (word, end) = word.strip_suffix(',').map_or((word, ""), |word| (word, ","));
            let number = word.strip_prefix('r').and_then(|number| number.parse().ok());
            number.map_or_else(|| word.to_string(), |number| name(RegId(number))) + end
        };
        let why: Vec<String> = line.why().split(' ').map(word).collect();
        FusedFact { made: name(line.made), spot: spot(line.made), fate, others, reason: why.join(" ") }
    };
    FusedPart {
        spot: place.and_then(|place| setting.lines.spot(setting.module, place)),
        launches,
        facts: lines.iter().map(fact).collect(),
    }
}
