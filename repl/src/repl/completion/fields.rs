//! The fields of constants that are records, and those of their fields.

use bumpalo::Bump;
use galopvm_base::Sources;
use galopvm_frontend::syntax::ast::{DecKind, TypeExp, TypeExpKind};
use galopvm_frontend::syntax::parse_prog;
use std::collections::BTreeMap;

/// The fields of a type by name; none if it is no record.
#[derive(Default)]
pub struct Fields(BTreeMap<String, Fields>);

impl Fields {
    fn of(ty: &TypeExp<'_>) -> Fields {
        match ty.kind {
            TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) => Fields::of(inner),
            TypeExpKind::Record(fields) => {
                Fields(fields.iter().map(|(name, ty)| (name.text.to_string(), Fields::of(ty))).collect())
            }
            TypeExpKind::Tuple(items) => {
                Fields(items.iter().enumerate().map(|(k, ty)| (k.to_string(), Fields::of(ty))).collect())
            }
            _ => Fields::default(),
        }
    }

    /// The fields behind a path `a.b`; the empty one leads here.
    pub fn at(&self, path: &str) -> Option<&Fields> {
        path.split('.').filter(|part| !part.is_empty()).try_fold(self, |fields, part| fields.0.get(part))
    }

    /// Their names.
    pub fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// The constants of these names and types that are records or tuples.
pub fn of_records(definitions: &[(String, String)]) -> BTreeMap<String, Fields> {
    let fields = |(name, ty): &(String, String)| {
        let arena = Bump::new();
        let text = format!("type^ it = {ty}");
        let file = Sources::new().add("", &text);
        match parse_prog(&arena, file, &text, 0).tree.decs.first()?.kind {
            DecKind::Type(bind) => Some((name.clone(), Fields::of(bind.def))),
            _ => None,
        }
    };
    let may_be = |(_, ty): &&(String, String)| ty.starts_with(['{', '(']);
    let found = || definitions.iter().filter(may_be).filter_map(fields).collect();
    galopvm_frontend::stack::with_room(found).unwrap_or_default()
}
