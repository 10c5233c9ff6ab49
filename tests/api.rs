//! What hosts in Rust can use: the public items of the crate `galopvm` and of the inner crates that it exports, as a list that a change
//! of the public surface changes (`tests/golden/api/galopvm.txt`).
//!
//! What is listed of an item is what a host can write: public fields and variants, public methods, methods of traits, and the traits that are
//! implemented. An item that is hidden from documentation is not promised, and not listed.

use galopvm_testkit::golden::Golden;
use galopvm_testkit::{read, root};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, TraitItem, Type, UseTree, Visibility};

/// Where the sources of a crate are, by the name that code uses.
fn sources_of(name: &str) -> PathBuf {
    let short = name.strip_prefix("galopvm_").unwrap_or(name);
    let inner = root().join("vm").join(short).join("src");
    if inner.is_dir() { inner } else { root().join(short).join("src") }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    let hides = |attribute: &&Attribute| {
        let text = attribute.to_token_stream().to_string().replace(' ', "");
        text == "#[doc(hidden)]" || text == "#[cfg(test)]" || text == "#[cfg(doctest)]"
    };
    attributes.iter().find(hides).is_some()
}

/// Code on one line, with blanks as people set them.
fn shown(code: impl ToTokens) -> String {
    let mut text = code.to_token_stream().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    for (found, wanted) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" > ", "> "),
        (" >", ">"),
        ("& ", "&"),
        (" , ", ", "),
        (" :", ":"),
        (" ,", ","),
        ("( ", "("),
        (" )", ")"),
        (" (", "("),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        ("- >", "->"),
        ("-> ", " -> "),
        ("= >", "=>"),
        ("' ", "'"),
        ("* ", "*"),
        (" ?", "?"),
        (", )", ")"),
        (", }", " }"),
        (">{", "> {"),
        (",)", ")"),
        ("  ", " "),
    ] {
        text = text.replace(found, wanted);
    }
    text
}

/// All items of a crate, with those of modules.
fn items_of(folder: &Path) -> Vec<Item> {
    let mut files = vec![folder.to_path_buf()];
    let mut items = Vec::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            let mut inside: Vec<PathBuf> =
                path.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
            inside.sort();
            files.extend(inside.into_iter().rev());
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let file = syn::parse_file(&read(&path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            items.extend(file.items.into_iter().filter(|item| !matches!(item, Item::Mod(_))));
        }
    }
    items
}

/// The items that a `use` exports: the crate or module they come from, and their names.
fn exported(tree: &UseTree, from: Option<&str>, out: &mut Vec<(String, String)>) {
    match tree {
        UseTree::Path(path) => {
            let head = path.ident.to_string();
            exported(&path.tree, Some(from.unwrap_or(&head)), out);
        }
        UseTree::Name(name) => out.push((from.unwrap_or_default().into(), name.ident.to_string())),
        UseTree::Rename(name) => out.push((from.unwrap_or_default().into(), name.ident.to_string())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| exported(tree, from, out)),
        UseTree::Glob(_) => out.push((from.unwrap_or_default().into(), "*".into())),
    }
}

/// The lines of fields that hosts can name.
fn fields(fields: &Fields, out: &mut BTreeSet<String>) {
    for field in fields.iter().filter(|field| is_public(&field.vis)) {
        let name = field.ident.as_ref().map_or(String::new(), |name| format!("{name}: "));
        out.insert(format!("    {name}{}", shown(&field.ty)));
    }
}

/// An item that is public under this name: its head, and what it has.
fn described(item: &Item, name: &str) -> Option<(String, BTreeSet<String>)> {
    let mut inside = BTreeSet::new();
    let head = match item {
        Item::Struct(item) if item.ident == *name && is_public(&item.vis) => {
            fields(&item.fields, &mut inside);
            format!("struct {name}{}", shown(&item.generics))
        }
        Item::Enum(item) if item.ident == *name && is_public(&item.vis) => {
            for variant in &item.variants {
                inside.insert(format!("    {}{}", variant.ident, shown(without_docs(&variant.fields))));
            }
            format!("enum {name}{}", shown(&item.generics))
        }
        Item::Trait(item) if item.ident == *name && is_public(&item.vis) => {
            for inner in &item.items {
                match inner {
                    TraitItem::Fn(method) if !is_hidden(&method.attrs) => {
                        let kind = if method.default.is_some() { "provided" } else { "required" };
                        inside.insert(format!("    {kind} {}", shown(&method.sig)));
                    }
                    TraitItem::Const(constant) => {
                        inside.insert(format!("    const {}: {}", constant.ident, shown(&constant.ty)));
                    }
                    TraitItem::Type(ty) => _ = inside.insert(format!("    type {}", ty.ident)),
                    _ => {}
                }
            }
            format!(
                "trait {name}{}{}",
                shown(&item.generics),
                match item.supertraits.is_empty() {
                    true => String::new(),
                    false => format!(": {}", shown(&item.supertraits)),
                }
            )
        }
        Item::Fn(item) if item.sig.ident == *name && is_public(&item.vis) => shown(&item.sig),
        Item::Type(item) if item.ident == *name && is_public(&item.vis) => {
            format!("type {name}{} = {}", shown(&item.generics), shown(&item.ty))
        }
        Item::Const(item) if item.ident == *name && is_public(&item.vis) => {
            format!("const {name}: {}", shown(&item.ty))
        }
        _ => return None,
    };
    Some((head, inside))
}

fn without_docs(fields: &Fields) -> Fields {
    let mut fields = fields.clone();
    fields.iter_mut().for_each(|field| field.attrs.clear());
    fields
}

/// What an `impl` adds to a type.
fn implemented(item: &ItemImpl, name: &str, out: &mut BTreeSet<String>) {
    let Type::Path(path) = &*item.self_ty else { return };
    if path.path.segments.last().is_none_or(|last| last.ident != *name) || is_hidden(&item.attrs) {
        return;
    }
    if let Some((of, _)) = &item.trait_ {
        out.insert(format!("    impl {}", shown(of)));
        return;
    }
    for inner in &item.items {
        match inner {
            ImplItem::Fn(method) if is_public(&method.vis) && !is_hidden(&method.attrs) => {
                out.insert(format!("    {}", shown(&method.sig)));
            }
            ImplItem::Const(constant) if is_public(&constant.vis) => {
                out.insert(format!("    const {}: {}", constant.ident, shown(&constant.ty)));
            }
            _ => {}
        }
    }
}

#[test]
fn the_public_surface_is_the_one_that_is_known() {
    let own = items_of(&root().join("src"));
    let lib = syn::parse_file(&read(&root().join("src/lib.rs"))).expect("the front page parses");
    let mut wanted: Vec<(String, String)> = Vec::new();
    for item in &lib.items {
        match item {
            Item::Use(item) if is_public(&item.vis) => exported(&item.tree, None, &mut wanted),
            Item::Mod(module) if is_public(&module.vis) && !is_hidden(&module.attrs) => {
                let file = root().join("src").join(format!("{}.rs", module.ident));
                for item in syn::parse_file(&read(&file)).expect("a module parses").items {
                    let name = match &item {
                        Item::Fn(item) if is_public(&item.vis) => item.sig.ident.to_string(),
                        Item::Struct(item) if is_public(&item.vis) => item.ident.to_string(),
                        Item::Enum(item) if is_public(&item.vis) => item.ident.to_string(),
                        _ => continue,
                    };
                    wanted.push((module.ident.to_string(), name));
                }
            }
            _ => {}
        }
    }
    // The crates that an exported crate exports from, as far as there are any.
    let inner = [
        "base", "bytecode", "store", "data", "interp", "tier", "runtime", "analysis", "kir", "jit", "gpu",
        "frontend",
    ];
    let crates: BTreeMap<&str, Vec<Item>> =
        inner.iter().map(|name| (*name, items_of(&sources_of(name)))).collect();
    let mut list = BTreeMap::new();
    for (from, name) in wanted {
        let short = from.strip_prefix("galopvm_");
        if short == Some("derive") {
            list.insert(format!("derive {name}"), BTreeSet::new());
            continue;
        }
        let places: Vec<&Vec<Item>> = match short {
            None => vec![&own],
            Some(short) => crates.get(short).into_iter().chain(crates.values()).collect(),
        };
        let found = places.into_iter().find_map(|items| {
            let (head, mut inside) = items.iter().find_map(|item| described(item, &name))?;
            for item in items {
                if let Item::Impl(item) = item {
                    implemented(item, &name, &mut inside);
                }
            }
            Some((head, inside))
        });
        match found {
            Some((head, inside)) => _ = list.insert(head, inside),
            None => _ = list.insert(format!("from {from}: {name}"), BTreeSet::new()),
        }
    }
    let mut text = String::new();
    for (head, inside) in list {
        text += &format!("{head}\n");
        inside.iter().for_each(|line| text += &format!("{line}\n"));
    }
    let mut golden = Golden::new();
    golden.compare(&root().join("tests/golden/api/galopvm.txt"), &text);
    golden.finish();
}

/// The code of the examples in a text whose lines begin so: what is between fences.
fn examples_in(text: &str, marks: &[&str]) -> String {
    let lines = text.lines().map(str::trim_start);
    let marked: Vec<&str> =
        lines.filter_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark))).collect();
    let marked = marked.join("\n");
    // What is between fences has an odd number; its first line says the language.
    let fenced = marked.split("```").skip(1).step_by(2);
    fenced.filter(|code| !code.starts_with("text")).collect()
}

/// A function that no example shows is one that nobody finds. The examples are those of the documentation, which are tests, and of
/// the page for users.
#[test]
fn examples_show_every_function() {
    let types: BTreeSet<String> = items_of(&root().join("src"))
        .iter()
        .filter_map(|item| match item {
            Item::Struct(item) if is_public(&item.vis) => Some(item.ident.to_string()),
            Item::Enum(item) if is_public(&item.vis) => Some(item.ident.to_string()),
            _ => None,
        })
        .collect();
    let is_of_a_public_type = |item: &ItemImpl| match &*item.self_ty {
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| types.contains(&last.ident.to_string()))
        }
        _ => false,
    };
    let mut code = examples_in(&read(&root().join("docs/embedding.md")), &[""]);
    let mut functions = BTreeSet::new();
    for file in root().join("src").read_dir().expect("a folder") {
        let path = file.expect("an entry").path();
        let text = read(&path);
        code += &examples_in(&text, &["///", "//!"]);
        let file = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_string();
        for item in syn::parse_file(&text).expect("a module parses").items {
            let mut add = |visibility: &Visibility, attributes: &[Attribute], name: &syn::Ident| {
                if is_public(visibility) && !is_hidden(attributes) {
                    functions.insert((file.clone(), name.to_string()));
                }
            };
            match item {
                Item::Fn(item) => add(&item.vis, &item.attrs, &item.sig.ident),
                Item::Impl(item) if item.trait_.is_none() && is_of_a_public_type(&item) => {
                    for inner in &item.items {
                        if let ImplItem::Fn(method) = inner {
                            add(&method.vis, &method.attrs, &method.sig.ident);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let is_called = |name: &str| {
        code.match_indices(name).any(|(at, _)| {
            let is_whole = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let rest = &code[at + name.len()..];
            is_whole && (rest.starts_with('(') || rest.starts_with("::<"))
        })
    };
    let missing: Vec<_> = functions.iter().filter(|(_, name)| !is_called(name)).collect();
    assert!(
        functions.len() > 80 && missing.is_empty(),
        "{} functions, without: {missing:?}",
        functions.len()
    );
}
