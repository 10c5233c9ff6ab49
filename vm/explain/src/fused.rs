//! Facts of operators that run together.

use super::document::{FusedFact, FusedPart};
use super::kept::Setting;
use galopvm_bytecode::RegId;
use galopvm_tier::Site;
use galopvm_tier::fused::Line;

/// A group of operators; `launches` says how often it ran.
pub(super) fn fused_part(setting: &Setting<'_>, first: Site, lines: &[Line], launches: u64) -> FusedPart {
    let code = setting.module.functions.get(first.function);
    let place = code.and_then(|code| code.blocks.get(first.block)?.place(first.index));
    let names = setting.names(first.function);
    let name = |reg: RegId| names.as_ref().map_or_else(|| reg.to_string(), |names| names.called(reg));
    let spot = |reg: RegId| names.as_ref().and_then(|names| names.of(reg).spot);
    let fact = |line: &Line| {
        let (made, spot, fate) = (name(line.made), spot(line.made), line.fate.named(name));
        FusedFact { made, spot, fate, reason: line.why().named(name) }
    };
    FusedPart {
        spot: place.and_then(|place| setting.lines.spot(setting.module, place)),
        launches,
        facts: lines.iter().map(fact).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Part};
    use galopvm_tier::fused::Fate;

    #[test]
    fn every_fate_is_told() {
        let fact = |made: &str, fate, reason: &str| FusedFact {
            made: made.into(),
            spot: None,
            fate,
            reason: reason.into(),
        };
        let facts = vec![
            fact("a", Fate::Computed(vec!["b".into(), "c".into()]), "reads 2"),
            fact("b", Fate::Joined("c".into()), "shares x"),
            fact("c", Fate::Kept, "nobody reads it"),
        ];
        let document = Document {
            program: "p".into(),
            entry: "main".into(),
            input: "without an input".into(),
            target: "cpu",
            off: Vec::new(),
            decisions: Vec::new(),
            parts: vec![Part::Fused(FusedPart { spot: None, launches: 2, facts })],
        };
        let text = document.text(false);
        for line in [
            "operators that run together, 2 times",
            "a is computed where b and c read it: reads 2",
            "b and c are computed together: shares x",
            "c is made: nobody reads it",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let json = document.json(false).to_string();
        for part in [r#""fate":"computed where it is read""#, r#""fate":"joined""#, r#""fate":"kept""#] {
            assert!(json.replace(": ", ":").contains(part), "{part}\n{json}");
        }
    }
}
