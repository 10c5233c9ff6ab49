//! Golden tests of fusion. A file of `tests/golden/fusion` is a title and sections: `---- env` (what was observed),
//! `---- region`, then what follows: `---- fusions`, the decision, and `---- changed`, the region after it (without
//! types). The changed region gives the same results. `GALOPVM_ACCEPT=1` writes the sections that follow anew.

use galopvm_analysis::fusion::{Fusions, apply, decide, fuse};
use galopvm_analysis::layout::plain_text;
use galopvm_base::Scalar;
use galopvm_kir::evaluate::{Value, evaluate};
use galopvm_kir::text::{parse_env, parse_region_in, print_region};
use galopvm_kir::{Observed, ObservedParam, VerifiedRegion, types, verify};
use galopvm_testkit::golden::whole;
use galopvm_testkit::{before, section};
use std::path::Path;

/// Arguments of the observed sizes, with small numbers in the arrays.
fn arguments(region: &VerifiedRegion, observed: &Observed) -> Vec<Value> {
    let value = |(var, param): (&galopvm_kir::VarId, &ObservedParam)| match param {
        ObservedParam::Scalar(value) => Value::Scalar(*value),
        ObservedParam::Array { lmad, .. } => {
            let elem = region.type_of(*var).elem;
            let shape = lmad.shape().to_vec();
            let count = shape.iter().product::<i64>();
            let data = (0..count).map(|k| Scalar::from_int(elem, (k * 7 + 3) % 5).bits).collect();
            Value::new(elem, shape, data)
        }
    };
    region.region().params.iter().zip(&observed.params).map(value).collect()
}

fn analysis(file: &Path, given: &str) -> String {
    let (known, observed) = parse_env(section(given, "env")).unwrap_or_else(|e| panic!("env {e}"));
    let mut region = parse_region_in(known, section(given, "region"))
        .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    types::infer(&mut region);
    let region = verify(region).unwrap_or_else(|e| panic!("{}: {e:?}", file.display()));
    let fusions = decide(&region, &observed);
    let text = fusions.text(region.region());
    assert_eq!(Fusions::parse(region.region(), &text).as_ref(), Ok(&fusions), "{}", file.display());
    let changed = apply(&region, &fusions);
    let after = verify(changed.region().clone())
        .unwrap_or_else(|e| panic!("{}: {e:?}\n{}", file.display(), print_region(changed.region())));
    let at_once = fuse(&region, &observed);
    let (same, fused) = (at_once.fusions, plain_text(at_once.region.region()));
    assert_eq!((same, fused), (fusions.clone(), plain_text(changed.region())));
    let arguments = arguments(&region, &observed);
    assert_eq!(evaluate(&after, &arguments), evaluate(&region, &arguments), "{}", file.display());
    assert_eq!(after == region, fusions.is_empty(), "{}\n{}", file.display(), print_region(after.region()));
    format!("---- fusions\n{text}---- changed\n{}", plain_text(after.region()))
}

#[test]
fn golden() {
    whole("fusion", "txt", 40, |path, text| {
        let given = before(text, "fusions");
        format!("{given}{}", analysis(path, given))
    });
}
