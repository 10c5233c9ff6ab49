//! The functions in C of a program: what can be done with each type, and the entry points.
//!
//! A function is its declaration and its body; the header has the first of all of them, the source both. Bodies are calls of what
//! `runtime.c` has, so that a body only says which parts of which types a value has.

use super::Backend;
use super::names::{Kind, Named, NamedEntry, Number, Table, word};
use crate::values::{Constructor, Shape, parts};
use galopvm::{ElemType, ValueType};
use std::fmt::Write;

/// What all programs have: definitions, and functions on contexts, of which the header has the declarations.
const RUNTIME: &str = include_str!("runtime.c");
const CONTEXT: &str = include_str!("context.c");

/// A function in C.
pub struct Function {
    /// Its declaration without the semicolon.
    declaration: String,
    /// Its lines.
    body: Vec<String>,
}

/// The functions of a program, in the order of its types and entry points.
pub fn all(table: &Table) -> Vec<Function> {
    let mut functions = Functions { table, all: Vec::new() };
    for named in &table.types {
        match &named.kind {
            Kind::Scalar(_) => {}
            Kind::Array(elem, rank) => functions.array(named, *elem, *rank),
            _ => functions.opaque(named),
        }
    }
    table.entries.iter().for_each(|entry| functions.entry(entry));
    functions.all
}

/// The header.
pub fn header(functions: &[Function], table: &Table, backend: Backend) -> String {
    let mut text = String::from(
        "/* Made by galopvm header. The functions are those that Futhark's compilers make with --library. */\n\
         #pragma once\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
    );
    let _ = write!(
        text,
        "#define FUTHARK_BACKEND_{}\n#define FUTHARK_SUCCESS 0\n#define FUTHARK_PROGRAM_ERROR 2\n\
         #define FUTHARK_OUT_OF_MEMORY 3\n\nstruct futhark_context_config;\nstruct futhark_context;\n\n",
        backend.name
    );
    for line in CONTEXT.lines() {
        if let Some(declaration) =
            line.strip_suffix(" {").filter(|line| line.contains("futhark_") && !line.starts_with(' '))
        {
            let _ = writeln!(text, "{declaration};");
        }
    }
    text += "\n";
    for named in table.types.iter().filter(|named| !matches!(named.kind, Kind::Scalar(_))) {
        let _ = writeln!(text, "/* {} */\nstruct futhark_{};", named.ty.name, named.c);
    }
    text += "\n";
    functions.iter().for_each(|function| _ = writeln!(text, "{};", function.declaration));
    text + "\n#ifdef __cplusplus\n}\n#endif\n"
}

/// The source. `stem` is the name of the header.
pub fn source(functions: &[Function], stem: &str, program: &galopvm::Program, backend: Backend) -> String {
    let mut text = String::from(
        "/* Made by galopvm header. To be linked with galopvm's library and threads. */\n\
         #define _POSIX_C_SOURCE 200809L\n\n",
    );
    let _ = write!(
        text,
        "#include \"{stem}.h\"\n\n#include <galopvm.h>\n#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\n\
         #include <time.h>\n\n/* Worker threads if the host does not say; 0 is one for each hardware thread. */\n\
         #define GV_THREADS {}\n\n/* What messages call the program, and its tuning parameters, with NULL behind them. */\n\
         static const char gv_name[] = {};\nstatic const char *const gv_params[] = {{",
        backend.threads,
        quoted(stem)
    );
    program.params().iter().for_each(|param| _ = write!(text, "{}, ", quoted(param)));
    text += "NULL};\n\nstatic const uint8_t gv_bytecode[] = {";
    for (k, byte) in program.to_bytecode().iter().enumerate() {
        text += if k % 24 == 0 { "\n  " } else { "" };
        let _ = write!(text, "{byte},");
    }
    text += "\n};\n\n";
    text += RUNTIME;
    text += "\n";
    text += CONTEXT;
    for Function { declaration, body } in functions {
        let _ = write!(text, "\n{declaration} {{\n");
        body.iter().for_each(|line| _ = writeln!(text, "  {line}"));
        text += "}\n";
    }
    text
}

/// A text in C.
fn quoted(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", byte as char),
        b' '..=b'~' => (byte as char).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", text.bytes().map(letter).collect::<String>())
}

/// The type in C of a scalar.
fn scalar(elem: ElemType) -> &'static str {
    match elem {
        ElemType::I8 => "int8_t",
        ElemType::I16 => "int16_t",
        ElemType::I32 => "int32_t",
        ElemType::I64 => "int64_t",
        ElemType::U8 => "uint8_t",
        ElemType::U16 | ElemType::F16 => "uint16_t",
        ElemType::U32 => "uint32_t",
        ElemType::U64 => "uint64_t",
        ElemType::F32 => "float",
        ElemType::F64 => "double",
        ElemType::Bool => "bool",
    }
}

/// What galopvm.h calls an element type.
fn constant(elem: ElemType) -> String {
    format!("GALOPVM_{}", elem.name().to_uppercase())
}

/// Values between braces; something that is not looked at if there are none.
fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if items.is_empty() { "{0}".into() } else { format!("{{{}}}", items.join(", ")) }
}

/// Parameters for so many dimensions, and what names them.
fn dims(word: &str, rank: u8) -> (String, String) {
    let names: Vec<String> = (0..rank).map(|k| format!("{word}{k}")).collect();
    let params = names.iter().map(|name| format!(", int64_t {name}")).collect();
    (params, list(names))
}

/// The name of the C function that does something with values of a type.
pub fn function(what: &str, named: &Named) -> String {
    format!("futhark_{what}_{}", named.c)
}

/// That of what is about a field or constructor.
pub fn function_of(what: &str, named: &Named, name: &str) -> String {
    format!("futhark_{what}_{}_{}", named.c, word(name))
}

/// That of an entry point.
pub fn entry_function(name: &str) -> String {
    format!("futhark_entry_{}", word(name))
}

/// The parameter for a value of a type.
fn given(named: &Named, name: &str) -> String {
    match named.kind {
        Kind::Scalar(elem) => format!("const {} {name}", scalar(elem)),
        _ => format!("const struct futhark_{} *{name}", named.c),
    }
}

/// The parameter for the place of a value.
fn taken(named: &Named, name: &str) -> String {
    match named.kind {
        Kind::Scalar(elem) => format!("{} *{name}", scalar(elem)),
        _ => format!("struct futhark_{} **{name}", named.c),
    }
}

struct Functions<'t> {
    table: &'t Table,
    all: Vec<Function>,
}

impl Functions<'_> {
    /// Adds a function that gives whether it failed, or what `result` says.
    fn add(&mut self, result: &str, name: String, params: &[String], body: Vec<String>) {
        let params: String = params.iter().map(|param| format!(", {param}")).collect();
        let declaration = format!("{result}{name}(struct futhark_context *ctx{params})");
        self.all.push(Function { declaration, body });
    }

    fn free(&mut self, named: &Named) {
        let param = format!("struct futhark_{} *obj", named.c);
        self.add(
            "int ",
            function("free", named),
            &[param],
            vec!["(void)ctx;".into(), "return gv_free(obj);".into()],
        );
    }

    fn shape(&mut self, named: &Named, body: Vec<String>) {
        let param = format!("struct futhark_{} *arr", named.c);
        self.add("const int64_t *", function("shape", named), &[param], body);
    }

    fn array(&mut self, named: &Named, elem: ElemType, rank: u8) {
        let (c, constant) = (&named.c, constant(elem));
        let handle = format!("struct futhark_{c} *");
        let arr = format!("{handle}arr");
        let (extents, shape) = dims("dim", rank);
        let made = |how: &str| {
            vec![
                format!("const int64_t shape[] = {shape};"),
                format!("return ({handle}){how}(ctx, {constant}, data, {rank}, shape);"),
            ]
        };
        let data = format!("const {} *data{extents}", scalar(elem));
        self.add(&handle, function("new", named), &[data], made("gv_new_array"));
        let data = format!("unsigned char *data{extents}");
        self.add(&handle, function("new_raw", named), &[data], made("gv_lend_array"));
        self.free(named);
        let place = format!("{} *data", scalar(elem));
        let body = vec![format!("return gv_read_array(ctx, arr, data, sizeof *data);")];
        self.add("int ", function("values", named), &[arr.clone(), place], body);
        let (places, index) = dims("i", rank);
        let body = vec![
            format!("const int64_t index[] = {index};"),
            format!("return gv_read_element(ctx, arr, out, sizeof *out, {rank}, index);"),
        ];
        let params = [format!("{} *out", scalar(elem)), format!("{arr}{places}")];
        self.add("int ", function("index", named), &params, body);
        self.add(
            "unsigned char *",
            function("values_raw", named),
            &[arr],
            vec!["return gv_raw(ctx, arr);".into()],
        );
        self.shape(named, vec!["(void)ctx;".into(), "return galopvm_value_shape(gv_of(arr));".into()]);
    }

    fn opaque(&mut self, named: &Named) {
        let obj = format!("const struct futhark_{} *obj", named.c);
        let parts = named.ty.parts();
        let table = parts_table(&parts);
        self.free(named);
        let body = vec![table.clone(), format!("return gv_store(ctx, obj, {}, parts, p, n);", parts.len())];
        self.add("int ", function("store", named), &[obj, "void **p".into(), "size_t *n".into()], body);
        let handle = format!("struct futhark_{} *", named.c);
        let body = vec![table, format!("return ({handle})gv_restore(ctx, p, {}, parts);", parts.len())];
        self.add(&handle, function("restore", named), &["const void *p".into()], body);
        match &named.kind {
            Kind::Record(fields) => self.record(named, fields),
            Kind::Sum(payloads) => self.sum(named, payloads),
            Kind::Rows(rank, element, fields) => self.rows(named, *rank, *element, fields),
            Kind::Scalar(_) | Kind::Array(..) | Kind::Opaque => {}
        }
    }

    /// How many parts a type has.
    fn count(&self, number: Number) -> usize {
        self.table.named(number).ty.parts().len()
    }

    /// Puts a value that is given into a place, as a condition that it failed.
    fn put(&self, number: Number, name: &str, place: &str) -> String {
        match self.table.named(number).kind {
            Kind::Scalar(elem) => format!("gv_failed(ctx, galopvm_value_{}({name}, {place}))", elem.name()),
            _ => format!("gv_share(ctx, {name}, {place})"),
        }
    }

    /// The lines that make a value of other values, one after the other.
    fn joined(&self, named: &Named, fields: &[(String, Number)]) -> Vec<String> {
        let count = fields.len();
        let mut body = vec![format!("galopvm_value *parts[] = {};", list(vec!["NULL"; count.max(1)]))];
        body.extend(["void *made = NULL;".into(), "int failed = FUTHARK_SUCCESS;".into()]);
        for (k, (field, number)) in fields.iter().enumerate() {
            let put = self.put(*number, &format!("f_{}", word(field)), &format!("&parts[{k}]"));
            body.push(format!("failed = failed ? failed : {put};"));
        }
        if let Kind::Rows(rank, ..) = named.kind {
            body.push(format!("failed = failed ? failed : gv_zippable(ctx, parts, {count}, {rank});"));
        }
        body.push(format!("failed = gv_join(ctx, parts, {count}, failed, &made);"));
        body.extend(handed_out(named, "out"));
        body
    }

    fn maker(&mut self, what: &str, named: &Named, fields: &[(String, Number)]) {
        let mut params = vec![taken(named, "out")];
        params.extend(
            fields.iter().map(|(field, ty)| given(self.table.named(*ty), &format!("f_{}", word(field)))),
        );
        let body = self.joined(named, fields);
        self.add("int ", function(what, named), &params, body);
    }

    /// The functions that give the fields of a record, or the arrays of the fields of an array of them.
    fn projections(&mut self, named: &Named, fields: &[(String, Number)]) {
        let mut first = 0;
        for (field, number) in fields {
            let inner = self.table.named(*number);
            let count = self.count(*number);
            let params = [taken(inner, "out"), format!("const struct futhark_{} *obj", named.c)];
            let body = match inner.kind {
                Kind::Scalar(elem) => {
                    vec![format!("return gv_part_bits(ctx, obj, {first}, {}, out);", constant(elem))]
                }
                _ => {
                    let mut body = vec![
                        format!("static const size_t numbers[] = {};", list(first..first + count)),
                        "void *made = NULL;".into(),
                        format!("const int failed = gv_pick_handle(ctx, obj, {count}, numbers, &made);"),
                    ];
                    body.extend(handed_out(inner, "out"));
                    body
                }
            };
            self.add("int ", function_of("project", named, field), &params, body);
            first += count;
        }
    }

    fn record(&mut self, named: &Named, fields: &[(String, Number)]) {
        self.projections(named, fields);
        self.maker("new", named, fields);
    }

    fn rows(&mut self, named: &Named, rank: u8, element: Number, fields: &[(String, Number)]) {
        if !fields.is_empty() {
            self.projections(named, fields);
            self.maker("zip", named, fields);
        }
        let table = self.table;
        let inner = table.named(element);
        let kept: Vec<bool> = parts::leaves(&inner.ty).into_iter().map(|(_, kept)| kept).collect();
        let there = kept.iter().enumerate().filter(|(_, kept)| **kept).map(|(k, _)| k);
        let arr = format!("struct futhark_{} *arr", named.c);
        let (places, index) = dims("i", rank);
        let mut body = vec![
            format!("const int64_t index[] = {index};"),
            format!("static const size_t there[] = {};", list(there.clone())),
            "void *made = NULL;".into(),
            format!(
                "const int failed = gv_element(ctx, arr, {rank}, index, {}, there, &made);",
                there.count()
            ),
        ];
        body.extend(handed_out(inner, "out"));
        let params = [taken(inner, "out"), format!("{arr}{places}")];
        self.add("int ", function("index", named), &params, body);

        let is_there = format!("static const bool is_there[] = {};", list(&kept));
        let body = vec![
            format!("const int64_t index[] = {index};"),
            is_there.clone(),
            format!("return gv_put_element(ctx, arr, elem, {rank}, index, {}, is_there);", kept.len()),
        ];
        let params = [arr, format!("{}{places}", given(inner, "elem"))];
        self.add("int ", function("set", named), &params, body);

        let (extents, shape) = dims("dim", rank);
        let mut body = vec![
            format!("const int64_t shape[] = {shape};"),
            is_there,
            parts_table(&named.ty.parts()),
            "void *made = NULL;".into(),
            format!(
                "const int failed = gv_new_rows(ctx, (const void *const *)elems, {rank}, shape, {}, is_there, parts, &made);",
                kept.len()
            ),
        ];
        body.extend(handed_out(named, "out"));
        let elements = format!("struct futhark_{} **elems{extents}", inner.c);
        self.add("int ", function("new", named), &[taken(named, "out"), elements], body);
        // The outer extents come first in all parts.
        self.shape(named, vec!["(void)ctx;".into(), "return gv_outer_shape(arr);".into()]);
    }

    fn sum(&mut self, named: &Named, payloads: &[Vec<Number>]) {
        let Shape::Sum(constructors, slots) = &named.ty.shape else { return };
        for (k, (constructor, payload)) in constructors.iter().zip(payloads).enumerate() {
            let mut body = vec![
                format!("galopvm_value *parts[] = {};", list(vec!["NULL"; slots.len() + 1])),
                "void *made = NULL;".into(),
                format!("int failed = gv_failed(ctx, galopvm_value_i8({k}, &parts[0]));"),
            ];
            let filled = self.slots_of(constructor, payload);
            for (slot, empty) in slots.iter().enumerate() {
                let place = format!("&parts[{}]", slot + 1);
                let put = match filled.iter().find(|(filled, ..)| *filled == slot) {
                    Some((_, item, part)) => match self.table.named(payload[*item]).kind {
                        Kind::Scalar(_) => self.put(payload[*item], &format!("v{item}"), &place),
                        _ => format!("gv_failed(ctx, galopvm_value_part(gv_of(v{item}), {part}, {place}))"),
                    },
                    None if empty.ty.is_scalar() => {
                        format!("gv_failed(ctx, galopvm_value_{}(0, {place}))", empty.ty.elem.name())
                    }
                    None => {
                        body.push(format!(
                            "static const int64_t extents{slot}[] = {};",
                            list(&empty.extents)
                        ));
                        let (elem, rank) = (constant(empty.ty.elem), empty.ty.rank);
                        format!("gv_zeros(ctx, {elem}, {rank}, extents{slot}, {place})")
                    }
                };
                body.push(format!("failed = failed ? failed : {put};"));
            }
            // Of an empty tuple there is no part to look at.
            for item in (0..payload.len()).filter(|item| self.count(payload[*item]) == 0) {
                body.push(format!("failed = failed ? failed : gv_given(ctx, v{item});"));
            }
            body.push(format!("failed = gv_join(ctx, parts, {}, failed, &made);", slots.len() + 1));
            body.extend(handed_out(named, "out"));
            let mut params = vec![taken(named, "out")];
            let items = |how: fn(&Named, &str) -> String| -> Vec<String> {
                payload
                    .iter()
                    .enumerate()
                    .map(|(k, ty)| how(self.table.named(*ty), &format!("v{k}")))
                    .collect()
            };
            params.extend(items(given));
            let mut places = items(taken);
            self.add("int ", function_of("new", named, &constructor.name), &params, body);
            places.push(format!("const struct futhark_{} *obj", named.c));
            let body = self.destruct(k, constructor, payload);
            self.add("int ", function_of("destruct", named, &constructor.name), &places, body);
        }
        let body = vec![
            "int8_t number = -1;".into(),
            format!("gv_part_bits(ctx, v, 0, {}, &number);", constant(ElemType::I8)),
            "return number;".into(),
        ];
        let param = format!("const struct futhark_{} *v", named.c);
        self.add("int ", function("variant", named), &[param], body);
    }

    /// The slots that a constructor fills: each with the item of the payload and the part of it that lies there.
    fn slots_of(&self, constructor: &Constructor, payload: &[Number]) -> Vec<(usize, usize, usize)> {
        let parts =
            payload.iter().enumerate().flat_map(|(k, ty)| (0..self.count(*ty)).map(move |part| (k, part)));
        constructor.slots.iter().zip(parts).map(|(slot, (item, part))| (*slot, item, part)).collect()
    }

    /// The lines that take a value of this constructor apart.
    fn destruct(&self, number: usize, constructor: &Constructor, payload: &[Number]) -> Vec<String> {
        let filled = self.slots_of(constructor, payload);
        let mut body = vec![
            "int8_t number = -1;".into(),
            format!("int failed = gv_part_bits(ctx, obj, 0, {}, &number);", constant(ElemType::I8)),
            format!("if (!failed && number != {number}) {{"),
            "  failed = gv_misuse(ctx, \"The value is of another constructor.\");".into(),
            "}".into(),
        ];
        // What may fail comes before the first place is written.
        let handles = |item: &usize| !matches!(self.table.named(payload[*item]).kind, Kind::Scalar(_));
        let (handles, scalars): (Vec<usize>, Vec<usize>) = (0..payload.len()).partition(handles);
        if !handles.is_empty() {
            body.push(format!("void *made[] = {};", list(vec!["NULL"; payload.len()])));
        }
        for item in &handles {
            let own: Vec<usize> =
                filled.iter().filter(|(_, of, _)| of == item).map(|(slot, ..)| slot + 1).collect();
            body.push(format!("static const size_t numbers{item}[] = {};", list(&own)));
            body.push(format!(
                "failed = failed ? failed : gv_pick_handle(ctx, obj, {}, numbers{item}, &made[{item}]);",
                own.len()
            ));
        }
        for item in scalars {
            let slot = filled.iter().find(|(_, of, _)| *of == item).map_or(0, |(slot, ..)| slot + 1);
            if let Kind::Scalar(elem) = self.table.named(payload[item]).kind {
                let elem = constant(elem);
                body.push(format!(
                    "failed = failed ? failed : gv_part_bits(ctx, obj, {slot}, {elem}, v{item});"
                ));
            }
        }
        body.push("if (failed) {".into());
        body.extend(handles.iter().map(|item| format!("  gv_free(made[{item}]);")));
        body.extend(["  return failed;".into(), "}".into()]);
        for item in handles {
            let c = &self.table.named(payload[item]).c;
            body.push(format!("*v{item} = (struct futhark_{c} *)made[{item}];"));
        }
        body.push("return FUTHARK_SUCCESS;".into());
        body
    }

    fn entry(&mut self, entry: &NamedEntry) {
        let (taken_count, results) = (entry.params.len(), entry.results);
        let output = self.table.named(entry.output.1);
        let mut body = vec![
            format!("galopvm_value *in[] = {};", list(vec!["NULL"; taken_count.max(1)])),
            format!("galopvm_value *parts[] = {};", list(vec!["NULL"; results.max(1)])),
            "galopvm_value *result = NULL;".into(),
            "int failed = FUTHARK_SUCCESS;".into(),
        ];
        let mut params = vec![taken(output, "out0")];
        // What is consumed is taken last, so that it stays if another argument is wrong.
        let mut puts = [Vec::new(), Vec::new()];
        for (k, (_, consumed, number)) in entry.params.iter().enumerate() {
            let named = self.table.named(*number);
            let name = format!("in{k}");
            params.push(given(named, &name));
            let is_handle = !matches!(named.kind, Kind::Scalar(_));
            let put = match *consumed && is_handle {
                true => format!("gv_take(ctx, {name}, &in[{k}])"),
                false => self.put(*number, &name, &format!("&in[{k}]")),
            };
            puts[usize::from(*consumed && is_handle)].push(format!("failed = failed ? failed : {put};"));
        }
        body.extend(puts.concat());
        body.extend([
            "if (!failed) {".into(),
            format!(
                "  failed = gv_call(ctx, {}, in, {taken_count}, parts, {results}, &result);",
                quoted(&entry.name)
            ),
            "}".into(),
            format!("gv_free_all(in, {taken_count});"),
        ]);
        match output.kind {
            Kind::Scalar(elem) => body.extend([
                format!(
                    "failed = failed ? failed : gv_failed(ctx, gv_bits({}, result, out0));",
                    constant(elem)
                ),
                "galopvm_value_free(result);".into(),
                "return failed;".into(),
            ]),
            _ => {
                body.extend([
                    "void *made = failed ? NULL : gv_keep(ctx, result);".into(),
                    "failed = failed || made != NULL ? failed : FUTHARK_OUT_OF_MEMORY;".into(),
                ]);
                body.extend(handed_out(output, "out0"));
            }
        }
        self.add("int ", entry_function(&entry.name), &params, body);
    }
}

/// Element types and ranks of parts, as C has them.
fn parts_table(parts: &[ValueType]) -> String {
    let part = |ty: &ValueType| format!("{{{}, {}}}", constant(ty.elem), ty.rank);
    match parts.is_empty() {
        true => "static const struct gv_part parts[] = {{0, 0}};".into(),
        false => format!("static const struct gv_part parts[] = {};", list(parts.iter().map(part))),
    }
}

/// The lines that give what was made to the host, if that did not fail.
fn handed_out(named: &Named, place: &str) -> Vec<String> {
    vec![
        "if (!failed) {".into(),
        format!("  *{place} = (struct futhark_{} *)made;", named.c),
        "}".into(),
        "return failed;".into(),
    ]
}
