//! The house rules, checked: crate edges, unsafe code, file sizes and headers, generated pages, links.

use galopvm_testkit::golden::Golden;
use galopvm_testkit::root;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate's folder, package, and the crates of this workspace it may use.
const HOUSE: &[(&str, &str, &[&str])] = &[
    ("vm/base", "galopvm-base", &[]),
    ("vm/lmad", "galopvm-lmad", &[]),
    ("vm/bytecode", "galopvm-bytecode", &["base"]),
    ("vm/kir", "galopvm-kir", &["base", "lmad"]),
    ("vm/analysis", "galopvm-analysis", &["base", "lmad", "kir"]),
    ("vm/check", "galopvm-check", &["base", "lmad", "kir"]),
    ("vm/lift", "galopvm-lift", &["base", "lmad", "bytecode", "kir", "analysis"]),
    ("vm/vector", "galopvm-vector", &["base", "lmad", "kir"]),
    ("vm/store", "galopvm-store", &["base", "lmad", "bytecode"]),
    ("vm/data", "galopvm-data", &["base", "lmad", "bytecode", "store"]),
    ("vm/interp", "galopvm-interp", &["base", "lmad", "bytecode", "store", "data", "vector"]),
    (
        "vm/tier",
        "galopvm-tier",
        &[
            "base", "lmad", "bytecode", "kir", "analysis", "check", "lift", "vector", "store", "data",
            "interp",
        ],
    ),
    (
        "vm/runtime",
        "galopvm-runtime",
        &[
            "base", "lmad", "bytecode", "kir", "analysis", "check", "lift", "vector", "store", "data",
            "interp", "tier",
        ],
    ),
    ("vm/explain", "galopvm-explain", &["base", "lmad", "bytecode", "kir", "analysis", "lift", "tier"]),
    ("frontend", "galopvm-frontend", &["base", "bytecode", "stdlib"]),
    ("stdlib", "galopvm-stdlib", &["base", "bytecode"]),
    ("jit", "galopvm-jit", &["base", "lmad", "kir"]),
    ("gpu", "galopvm-gpu", &["base", "lmad", "kir"]),
    (
        ".",
        "galopvm",
        &[
            "base", "lmad", "bytecode", "kir", "analysis", "vector", "runtime", "frontend", "stdlib", "jit",
            "gpu", "derive",
        ],
    ),
    (
        "repl",
        "galopvm-cli",
        &[
            "galopvm", "base", "lmad", "bytecode", "kir", "analysis", "lift", "tier", "runtime", "explain",
            "profile", "frontend", "stdlib", "jit", "gpu",
        ],
    ),
    ("profile", "galopvm-profile", &["galopvm", "bytecode", "tier"]),
    ("hosts/c", "galopvm-c", &["galopvm"]),
    ("hosts/derive", "galopvm-derive", &[]),
    ("hosts/python", "galopvm-python", &["galopvm", "explain", "profile"]),
    // Others use it for their tests alone.
    ("tests/kit", "galopvm-testkit", &["lmad"]),
    ("benches", "galopvm-bench", &["galopvm", "base"]),
    (
        "fuzz",
        "galopvm-fuzz",
        &[
            "base", "bytecode", "frontend", "gpu", "guard", "jit", "kir", "lmad", "runtime", "testkit",
            "vector",
        ],
    ),
    ("fuzz/guard", "galopvm-guard", &[]),
];

/// The only files that may hold unsafe code, and what for.
const UNSAFE_FILES: &[(&str, &str)] = &[
    ("vm/lmad/src/lines.rs", "squares of cache lines, turned in wide registers"),
    ("vm/store/src/memory/block.rs", "raw blocks of elements"),
    ("vm/store/src/array/element.rs", "bytes as elements"),
    ("vm/store/src/array/granted.rs", "blocks that are written and read by one execution"),
    ("vm/store/src/memory/slab.rs", "small pieces of larger storage"),
    ("vm/store/src/memory/reserve.rs", "storage that blocks take in turn"),
    ("vm/store/src/memory/mapped.rs", "mapped input files"),
    ("vm/interp/src/stack.rs", "where the stack of a thread ends"),
    ("vm/vector/src/loops/wide.rs", "loops compiled for wide vectors"),
    ("jit/src/executable.rs", "executable memory and the calls into it"),
    ("jit/src/library.rs", "functions that generated code calls"),
    ("gpu/src/device.rs", "Vulkan commands"),
    ("fuzz/guard/src/allocator.rs", "pages with nothing behind them"),
    ("fuzz/guard/src/ended.rs", "signals that end the process"),
    ("fuzz/guard/tests/guarded.rs", "accesses that end a process"),
    ("hosts/c/src/boundary.rs", "exported names, and pointers from C"),
    ("hosts/c/src/lent.rs", "memory of hosts in C"),
    ("hosts/python/src/arrays.rs", "memory of Python's arrays"),
];

const MAX_LINES: usize = 800;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Files of the repository with this extension, as paths from the root.
fn files(extension: &str) -> Vec<String> {
    let mut files = all_files();
    files.retain(|file| Path::new(file).extension().is_some_and(|e| e == extension));
    files
}

/// All files of the repository, as paths from the root.
fn all_files() -> Vec<String> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for entry in entries.filter_map(Result::ok) {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" {
                    collect(&path, found);
                }
            } else {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&root(), &mut found);
    let mut names: Vec<String> = found
        .iter()
        .filter_map(|p| p.strip_prefix(root()).ok())
        .map(|p| p.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The sections of a manifest, each with its lines.
fn sections(manifest: &str) -> BTreeMap<String, Vec<String>> {
    let mut sections: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in manifest.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        match line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            Some(name) => current = name.trim_matches(['[', ']']).to_string(),
            None => sections.entry(current.clone()).or_default().push(line.to_string()),
        }
    }
    sections
}

fn manifest_path(folder: &str) -> String {
    if folder == "." { "Cargo.toml".into() } else { format!("{folder}/Cargo.toml") }
}

#[test]
fn crates_use_only_what_the_house_allows() {
    let mut complaints = Vec::new();
    for (folder, package, allowed) in HOUSE {
        let manifest = sections(&read(&manifest_path(folder)));
        let lines = |section: &str| manifest.get(section).cloned().unwrap_or_default();
        if !lines("package").contains(&format!("name = \"{package}\"")) {
            complaints.push(format!("{folder} should be package {package}"));
        }
        for line in lines("dependencies") {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let short = name.strip_prefix("galopvm-").unwrap_or(name);
            if name.starts_with("galopvm") && !allowed.contains(&short) {
                complaints.push(format!("{package} may not use {name}"));
            }
        }
    }
    let members = read("Cargo.toml").matches("\", \"").count();
    assert!(members > 0, "the workspace lists its members");
    for manifest in files("toml").iter().filter(|f| f.ends_with("Cargo.toml")) {
        let is_known = HOUSE.iter().any(|(folder, ..)| manifest_path(folder) == *manifest);
        if !is_known {
            complaints.push(format!("{manifest} belongs to no room of the house"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_crate_says_what_it_is_and_shares_the_rules() {
    for (folder, package, _) in HOUSE {
        let manifest = sections(&read(&manifest_path(folder)));
        let package_lines = manifest.get("package").cloned().unwrap_or_default().join("\n");
        assert!(package_lines.contains("description = \""), "{package} needs a one-sentence purpose");
        for key in ["version", "edition", "rust-version", "license"] {
            assert!(
                package_lines.contains(&format!("{key}.workspace = true")),
                "{package}: {key} is the workspace's"
            );
        }
        assert!(manifest.contains_key("lints"), "{package} takes the workspace's lints");
    }
}

#[test]
fn unsafe_code_stays_in_its_files() {
    let mut complaints = Vec::new();
    for file in files("rs") {
        let text = read(&file);
        let allowed = UNSAFE_FILES.iter().any(|(name, _)| *name == file);
        let code = || text.lines().map(|l| l.split("//").next().unwrap_or_default());
        let has_unsafe = code().any(|l| {
            ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "allow(unsafe_code)"]
                .iter()
                .any(|w| l.contains(w))
        });
        if has_unsafe && !allowed && file != "tests/tidy.rs" {
            complaints.push(format!("{file} holds unsafe code but is not one of the named files"));
        }
        if file.ends_with("src/lib.rs") || file.ends_with("src/main.rs") {
            let folder = file.rsplit_once("src/").map_or("", |(f, _)| f);
            let exempt = UNSAFE_FILES.iter().any(|(name, _)| !folder.is_empty() && name.starts_with(folder));
            if !exempt && !text.contains("#![forbid(unsafe_code)]") {
                complaints.push(format!("{file} should forbid unsafe code"));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn unsafe_blocks_give_their_reason() {
    for (file, _) in UNSAFE_FILES {
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        for (k, line) in lines.iter().enumerate() {
            let has = |words: &str| line.contains(words) && !line.trim().starts_with("//");
            let reason = lines[k.saturating_sub(3)..=k].iter().any(|l| l.contains("SAFETY"));
            let is_block = has("unsafe {") || has("unsafe impl");
            assert!(!is_block || reason, "{file}:{}: an unsafe block without its reason", k + 1);
            // What the caller has to promise stands in the comment of the function, attributes between.
            let above = lines[..k].iter().rev().map(|l| l.trim());
            let comment = above.take_while(|l| l.starts_with("//") || l.starts_with("#["));
            let promise = comment.into_iter().any(|l| l.contains("# Safety") || l.contains("SAFETY"));
            let is_function = has("unsafe fn ");
            assert!(!is_function || promise, "{file}:{}: an unsafe function that asks for nothing", k + 1);
        }
    }
}

#[test]
fn files_have_a_header_and_a_readable_size() {
    let mut complaints = Vec::new();
    for file in files("rs") {
        let text = read(&file);
        if !text.trim_start().starts_with("//!") {
            complaints.push(format!("{file}: no header that says its one idea"));
        }
        if text.lines().count() > MAX_LINES {
            complaints.push(format!("{file}: {} lines; split it", text.lines().count()));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn reference_pages_are_fresh() {
    let pages = [
        ("docs/reference/scalar-operations.md", galopvm_base::reference::scalar_page()),
        ("docs/reference/instructions.md", galopvm_bytecode::reference::instruction_page()),
        ("docs/reference/intrinsics.md", galopvm_stdlib::intrinsics_page()),
    ];
    let mut golden = Golden::new();
    for (path, page) in pages {
        golden.compare(&root().join(path), &page);
    }
    golden.finish();
}

#[test]
fn no_document_has_two_versions() {
    let marks = ["<<<<<<< ", ">>>>>>> "];
    for file in ["md", "sh", "py", "toml", "txt"].into_iter().flat_map(files) {
        let text = read(&file);
        let mark = text.lines().position(|line| marks.iter().any(|mark| line.starts_with(mark)));
        assert!(mark.is_none(), "{file}:{}: a mark of a merge", mark.unwrap_or_default() + 1);
    }
}

/// A switch that nobody asks switches nothing off.
#[test]
fn every_switch_is_asked() {
    let table = read("vm/runtime/src/switches.rs");
    let rows =
        table.lines().skip_while(|line| *line != "switches! {").skip(1).take_while(|line| *line != "}");
    let names: Vec<&str> =
        rows.filter_map(|row| row.split(':').next()?.trim().split_once(' ')).map(|row| row.1).collect();
    let product: String =
        files("rs").iter().filter(|file| file.contains("src/")).map(|file| read(file)).collect();
    assert!(names.len() >= 9, "{names:?}");
    for name in names {
        let asked = [format!("switches.{name}"), format!("switches().{name}")];
        assert!(
            asked.iter().any(|asked| product.contains(asked.as_str())),
            "nobody asks for the switch `{name}`"
        );
    }
}

/// A path may be told from any folder on: `plan/homes.rs` is `vm/runtime/src/optimizer/plan/homes.rs`.
#[test]
fn paths_in_prose_are_there() {
    let kinds = ["rs", "md", "sh", "py", "toml"];
    let all: Vec<String> = all_files().into_iter().map(|path| format!("/{path}")).collect();
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let mut complaints = Vec::new();
    for file in files("rs").into_iter().chain(files("md")) {
        let text = read(&file);
        let prose = text.lines().filter(|line| file.ends_with(".md") || line.trim_start().starts_with("//"));
        for (number, line) in prose.enumerate() {
            for word in line.split('`').skip(1).step_by(2).filter(|word| word.chars().all(is_word)) {
                let is_file =
                    kinds.iter().any(|kind| word.strip_suffix(kind).is_some_and(|w| w.ends_with('.')));
                let wanted = format!("/{}", word.trim_start_matches("./"));
                let is_there = match (is_file, word.strip_suffix('/')) {
                    (true, _) => all.iter().any(|path| path.ends_with(&wanted)),
                    (false, Some(folder)) if folder.starts_with(char::is_alphanumeric) => {
                        // What builds make is not there yet.
                        let is_made = folder.split('/').next() == Some("target");
                        is_made || all.iter().any(|path| path.contains(&wanted))
                    }
                    _ => true,
                };
                if !is_there {
                    complaints.push(format!("{file}, line {} of its prose: {word} is not there", number + 1));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The mistakes that the fuzzer has to find are planted in sources that change: what each replaces is there, once.
#[test]
fn planted_mistakes_have_their_place() {
    let mut complaints = Vec::new();
    for record in read("fuzz/faults.txt").split("\n\n") {
        let lines: Vec<&str> = record.lines().filter(|line| !line.starts_with('#')).collect();
        let [name, file, ..] = lines[..] else { continue };
        let replaced: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix('-')).collect();
        let count = read(file).matches(&replaced.join("\n")).count();
        if count != 1 {
            complaints.push(format!("{name}: its text is {count} times in {file}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn links_in_documents_lead_somewhere() {
    let mut complaints = Vec::new();
    for file in files("md") {
        // Every second piece between backticks is code, not prose.
        let text: String = read(&file).split('`').step_by(2).collect();
        let folder = root().join(&file).parent().map(Path::to_path_buf).unwrap_or_default();
        for (start, _) in text.match_indices("](") {
            let target = text[start + 2..].split([')', '#']).next().unwrap_or_default();
            let is_local = !target.is_empty() && !target.contains("://");
            if is_local && !folder.join(target).exists() {
                complaints.push(format!("{file}: {target} is not there"));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
