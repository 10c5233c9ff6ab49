//! The manifest: what the functions in C are, as JSON for tools, in the form of Futhark's.

use super::Backend;
use super::functions::{entry_function, function, function_of};
use super::names::{Kind, Named, Number, Table};
use crate::values::{Attributes, Shape};
use galopvm_base::json::Json;

/// The manifest of a program.
pub fn manifest(
    table: &Table,
    program: &galopvm::Program,
    attributes: &Attributes,
    backend: Backend,
) -> String {
    let params: Vec<Json> = program.params().into_iter().map(Json::from).collect();
    let entries = table.entries.iter().map(|entry| {
        let source = |number: Number| Json::from(&table.named(number).ty.name);
        let input = |(name, unique, ty): &(String, bool, Number)| {
            Json::Object(vec![("name", name.into()), ("type", source(*ty)), ("unique", (*unique).into())])
        };
        let (unique, output) = entry.output;
        let attributes = attributes.get(&entry.name).into_iter().flatten().map(Json::from);
        let entries = vec![
            ("cfun", entry_function(&entry.name).into()),
            ("inputs", Json::List(entry.params.iter().map(input).collect())),
            ("output", Json::Object(vec![("type", source(output)), ("unique", unique.into())])),
            ("tuning_params", Json::List(params.clone())),
            ("attributes", Json::List(attributes.collect())),
        ];
        (entry.name.clone(), Json::Object(entries))
    });
    let types = table.types.iter().filter(|named| !matches!(named.kind, Kind::Scalar(_)));
    let types = types.map(|named| (named.ty.name.clone(), of_type(table, named)));
    let whole = Json::Object(vec![
        ("backend", backend.name.into()),
        ("version", concat!("galopvm ", env!("CARGO_PKG_VERSION")).into()),
        ("entry_points", Json::Map(entries.collect())),
        ("types", Json::Map(types.collect())),
    ]);
    whole.to_string()
}

/// Names of functions by what they do.
fn operations(named: &Named, all: &[&'static str]) -> Vec<(&'static str, Json)> {
    all.iter().map(|what| (*what, function(what, named).into())).collect()
}

fn of_type(table: &Table, named: &Named) -> Json {
    let ctype = format!("struct futhark_{} *", named.c);
    if let Kind::Array(elem, rank) = named.kind {
        let all = ["free", "shape", "values", "values_raw", "new", "new_raw", "index"];
        return Json::Object(vec![
            ("kind", "array".into()),
            ("ctype", ctype.into()),
            ("rank", u32::from(rank).into()),
            ("elemtype", elem.name().into()),
            ("ops", Json::Object(operations(named, &all))),
        ]);
    }
    let mut fields = vec![
        ("kind", "opaque".into()),
        ("ctype", ctype.into()),
        ("ops", Json::Object(operations(named, &["free", "store", "restore"]))),
    ];
    let projections = |all: &[(String, Number)]| {
        let field = |(name, ty): &(String, Number)| {
            Json::Object(vec![
                ("name", name.into()),
                ("type", (&table.named(*ty).ty.name).into()),
                ("project", function_of("project", named, name).into()),
            ])
        };
        Json::List(all.iter().map(field).collect())
    };
    match &named.kind {
        Kind::Record(all) => {
            let mut record = operations(named, &["new"]);
            record.push(("fields", projections(all)));
            fields.push(("record", Json::Object(record)));
        }
        Kind::Sum(payloads) => {
            let mut sum = operations(named, &["variant"]);
            let mut variants = Vec::new();
            if let Shape::Sum(constructors, _) = &named.ty.shape {
                for (constructor, payload) in constructors.iter().zip(payloads) {
                    let payload = payload.iter().map(|ty| (&table.named(*ty).ty.name).into());
                    variants.push(Json::Object(vec![
                        ("name", (&constructor.name).into()),
                        ("construct", function_of("new", named, &constructor.name).into()),
                        ("destruct", function_of("destruct", named, &constructor.name).into()),
                        ("payload", Json::List(payload.collect())),
                    ]));
                }
            }
            sum.push(("variants", Json::List(variants)));
            fields.push(("sum", Json::Object(sum)));
        }
        Kind::Rows(rank, element, all) => {
            let mut rows = vec![
                ("rank", u32::from(*rank).into()),
                ("elemtype", (&table.named(*element).ty.name).into()),
            ];
            rows.extend(operations(named, &["index", "shape", "new", "set"]));
            let name = if all.is_empty() { "opaque_array" } else { "record_array" };
            if !all.is_empty() {
                rows.extend(operations(named, &["zip"]));
                rows.push(("fields", projections(all)));
            }
            fields.push((name, Json::Object(rows)));
        }
        Kind::Scalar(_) | Kind::Array(..) | Kind::Opaque => {}
    }
    Json::Object(fields)
}
