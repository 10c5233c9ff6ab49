//! The front end as one call per question: compile, check, show a stage, evaluate an expression.

use crate::core::ir::Program;
use crate::core::{build, build_expression, fuse, lower, watch_nan};
use crate::modules::Elaborated;
use crate::names::{GlobalId, Imports, Names};
use crate::stack::{no_room, with_room};
use crate::syntax::ast::ValKeyword;
use crate::syntax::{Parsed, parse_expression, parse_module_at, parse_prog, print_prog};
use crate::types::Checker;
use crate::warnings::warnings;
use bumpalo::Bump;
use galopvm_base::diagnostic::has_errors;
use galopvm_base::{Diagnostic, FileId, IdMap, Sources, path};
use galopvm_bytecode::{Form, Module};

/// What may be chosen about a compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Entry points besides those declared `entry` and `main`.
    pub entries: Vec<String>,
    /// Makes maps part of the reductions that read their results.
    pub fusion: bool,
    /// Shares what is equal and drops what nobody uses, once a function is built.
    pub simplifies: bool,
    /// Where imported files may lie.
    pub imports: Imports,
}

impl Default for Options {
    fn default() -> Options {
        Options { entries: Vec::new(), fusion: true, simplifies: true, imports: Imports::default() }
    }
}

/// What compiling gave.
#[derive(Debug, Default)]
pub struct Compilation {
    /// The program, if there are no errors.
    pub module: Option<Module>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// What checking a file gave.
#[derive(Debug, Default)]
pub struct CheckReport {
    /// Names and types of the definitions, in order.
    pub definitions: Vec<(String, String)>,
    /// Errors, and what the syntax warns of.
    pub diagnostics: Vec<Diagnostic>,
    /// If there are no errors: what is probably not meant.
    pub warnings: Vec<Diagnostic>,
}

/// What core building gave.
#[derive(Debug, Default)]
pub struct CoreReport {
    /// The core program, if there are no errors.
    pub program: Option<Program>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// An expression's type and program.
#[derive(Debug, Default)]
pub struct ExpressionReport {
    /// The type as Futhark writes it, if there is one.
    pub ty: Option<String>,
    /// A program whose entry point [`EXPRESSION_ENTRY`] gives the value; absent if only the type was asked for, and
    /// for functions.
    pub module: Option<Module>,
    /// How the results of that entry point make the value.
    pub form: Option<Form>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// What a module expression defines.
#[derive(Debug, Default)]
pub struct ModuleReport {
    /// Its definitions with types, as a module type, if there are no errors.
    pub ty: Option<String>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// The name of the entry point that [`compile_expression`] makes.
pub const EXPRESSION_ENTRY: &str = "it";

/// Source text to bytecode.
pub fn compile(sources: &mut Sources, file: FileId) -> Compilation {
    compile_with(sources, file, &Options::default())
}

/// Source text to bytecode, with options.
pub fn compile_with(sources: &mut Sources, file: FileId, options: &Options) -> Compilation {
    with_room(|| {
        let report = core_inner(sources, file, options);
        let mut diagnostics = report.diagnostics;
        let module = report.program.and_then(|program| finish(&program, sources, &mut diagnostics));
        Compilation { module, diagnostics }
    })
    .unwrap_or_else(|| Compilation { module: None, diagnostics: no_room(file) })
}

fn finish(program: &Program, sources: &Sources, diagnostics: &mut Vec<Diagnostic>) -> Option<Module> {
    match lower(program, sources) {
        Ok(module) => Some(module),
        Err(diagnostic) => {
            diagnostics.push(*diagnostic);
            None
        }
    }
}

/// Source text to canonical source text; the text is there even if there are errors.
pub fn syntax_text(sources: &Sources, file: FileId) -> (String, Vec<Diagnostic>) {
    with_room(|| {
        let arena = Bump::new();
        let parsed = parse_prog(&arena, file, sources.text(file), 0);
        (print_prog(&parsed.tree), parsed.diagnostics)
    })
    .unwrap_or_else(|| (sources.text(file).to_string(), no_room(file)))
}

/// Source text to the types of its definitions.
pub fn check(sources: &mut Sources, file: FileId) -> CheckReport {
    check_with(sources, file, Imports::default())
}

/// Source text to the types of its definitions, with imports from some places only.
pub fn check_with(sources: &mut Sources, file: FileId, imports: Imports) -> CheckReport {
    with_room(|| {
        let arena = Bump::new();
        let mut report = CheckReport::default();
        let text = sources.text(file).to_string();
        let mut names = names_of(&arena, sources, file, imports);
        let mut checker = Checker::new(&mut names);
        let (elaborated, mut diagnostics) = add_file(&mut checker, file, &text);
        for id in &elaborated.definitions {
            let scheme = checker.global(*id);
            let name = checker.names.globals[*id].bind.name.text.to_string();
            report.definitions.push((name, checker.vars.show(&scheme.ty)));
        }
        diagnostics.append(&mut checker.names.diagnostics);
        if !has_errors(&diagnostics) {
            report.warnings = warnings(&checker);
            let entries = entry_points(&checker, &elaborated, &Options::default());
            report.warnings.extend(build(&mut checker, &entries, true).1);
        }
        report.diagnostics = diagnostics;
        report
    })
    .unwrap_or_else(|| CheckReport { diagnostics: no_room(file), ..CheckReport::default() })
}

/// Source text to core.
pub fn core_program(sources: &mut Sources, file: FileId, options: &Options) -> CoreReport {
    with_room(|| core_inner(sources, file, options))
        .unwrap_or_else(|| CoreReport { program: None, diagnostics: no_room(file) })
}

/// The names of a program whose first file this is.
fn names_of<'a, 's>(
    arena: &'a Bump,
    sources: &'s mut Sources,
    file: FileId,
    imports: Imports,
) -> Names<'a, 's> {
    let folder = path::folder(sources.name(file));
    let mut names = Names::new(arena, sources);
    names.confined = (imports == Imports::Confined).then_some(folder);
    names
}

/// Parses, elaborates and checks a file; also gives what its syntax had to say.
fn add_file<'a>(
    checker: &mut Checker<'a, '_, '_>,
    file: FileId,
    text: &str,
) -> (Elaborated<'a>, Vec<Diagnostic>) {
    let names = &mut *checker.names;
    let Parsed { tree, diagnostics, next_id, .. } = parse_prog(names.arena, file, text, names.next_id);
    names.next_id = next_id;
    names.misread_at(&diagnostics);
    let prog = names.arena.alloc(tree);
    (checker.file(prog), diagnostics)
}

/// The definitions of a file that can be called from outside.
fn entry_points(checker: &Checker<'_, '_, '_>, file: &Elaborated<'_>, options: &Options) -> Vec<GlobalId> {
    let wanted = |id: &GlobalId| {
        let bind = checker.names.globals[*id].bind;
        bind.keyword == ValKeyword::Entry
            || bind.name.text == "main"
            || options.entries.iter().any(|e| e == bind.name.text)
    };
    file.definitions.iter().copied().filter(wanted).collect()
}

fn core_inner(sources: &mut Sources, file: FileId, options: &Options) -> CoreReport {
    let arena = Bump::new();
    let text = sources.text(file).to_string();
    let mut names = names_of(&arena, sources, file, options.imports);
    let mut checker = Checker::new(&mut names);
    let (elaborated, mut diagnostics) = add_file(&mut checker, file, &text);
    let entries = entry_points(&checker, &elaborated, options);
    diagnostics.append(&mut checker.names.diagnostics);
    if has_errors(&diagnostics) {
        return CoreReport { program: None, diagnostics };
    }
    let (mut program, found) = build(&mut checker, &entries, options.simplifies);
    diagnostics.append(&mut checker.names.diagnostics);
    diagnostics.extend(found);
    if options.fusion && !has_errors(&diagnostics) {
        fuse(&mut program);
    }
    let program = (!has_errors(&diagnostics)).then_some(program);
    CoreReport { program, diagnostics }
}

/// What is asked about an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Its type.
    Type,
    /// Its value as well.
    Value,
    /// Its value, and a debugger may stop wherever an operation makes NaN.
    ValueAndNan,
}

/// The type of an expression that sees the definitions of a file, and a program that gives its value. Where a debugger may
/// stop, the program says what names mean.
pub fn compile_expression(
    sources: &mut Sources,
    scope: Option<FileId>,
    expression: FileId,
    question: Question,
) -> ExpressionReport {
    with_room(|| {
        let arena = Bump::new();
        let scope = scope.map(|file| (file, sources.text(file).to_string()));
        let text = sources.text(expression).to_string();
        let mut names = Names::new(&arena, sources);
        names.at_stops = (question != Question::Type).then(IdMap::default);
        let mut checker = Checker::new(&mut names);
        let mut diagnostics =
            scope.map_or_else(Vec::new, |(file, text)| add_file(&mut checker, file, &text).1);
        let parsed = parse_expression(&arena, expression, &text, checker.names.next_id);
        checker.names.next_id = parsed.next_id;
        checker.names.misread_at(&parsed.diagnostics);
        diagnostics.extend(parsed.diagnostics);
        let ty = checker.expression(parsed.tree);
        diagnostics.append(&mut checker.names.diagnostics);
        if has_errors(&diagnostics) {
            return ExpressionReport { diagnostics, ..ExpressionReport::default() };
        }
        let shown = checker.vars.show(&ty);
        let is_function = matches!(checker.vars.resolve(&ty), crate::types::Type::Arrow(..));
        let (mut module, mut form) = (None, None);
        if question != Question::Type && !is_function {
            let (mut program, shape, found) =
                build_expression(&mut checker, EXPRESSION_ENTRY, parsed.tree, &ty);
            form = shape;
            diagnostics.append(&mut checker.names.diagnostics);
            diagnostics.extend(found);
            if !has_errors(&diagnostics) {
                if question == Question::ValueAndNan {
                    watch_nan(&mut program);
                }
                fuse(&mut program);
                module = finish(&program, sources, &mut diagnostics);
            }
        }
        ExpressionReport { ty: Some(shown), module, form, diagnostics }
    })
    .unwrap_or_else(|| ExpressionReport { diagnostics: no_room(expression), ..ExpressionReport::default() })
}

/// What a module expression defines that sees the definitions of a file.
pub fn module_type(sources: &mut Sources, scope: Option<FileId>, module: FileId) -> ModuleReport {
    with_room(|| {
        let arena = Bump::new();
        let scope = scope.map(|file| (file, sources.text(file).to_string()));
        let text = sources.text(module).to_string();
        let mut names = Names::new(&arena, sources);
        let mut checker = Checker::new(&mut names);
        let mut diagnostics =
            scope.map_or_else(Vec::new, |(file, text)| add_file(&mut checker, file, &text).1);
        let parsed = parse_module_at(&arena, module, &text, 0, checker.names.next_id);
        checker.names.next_id = parsed.next_id;
        checker.names.misread_at(&parsed.diagnostics);
        diagnostics.extend(parsed.diagnostics);
        let ty = parsed.tree.map(|exp| checker.module_type_text(exp));
        diagnostics.append(&mut checker.names.diagnostics);
        ModuleReport { ty: ty.filter(|_| !has_errors(&diagnostics)), diagnostics }
    })
    .unwrap_or_else(|| ModuleReport { diagnostics: no_room(module), ..ModuleReport::default() })
}
