//! Checked expressions to core, by evaluating them symbolically: data becomes statements, functions are expanded
//! where they are applied.
//!
//! Invariants:
//! - Only programs without errors come here; what the checker lets through and core cannot say yet ends in a
//!   message, never in a panic.
//! - An array of tuples is a tuple of arrays, so zipping and unzipping cost nothing.
//! - Polymorphism and higher-order functions are gone because each application is expanded with what it is given.

use super::common::share;
use super::emit::{FunState, Within};
use super::ir::*;
use super::simplify::{renumber, simplify};
use super::value::*;
use crate::names::{GlobalId, ViewId};
use crate::syntax::ast::*;
use crate::types::{Checker, Scheme, Size, Type};
use galopvm_base::diagnostic::Severity;
use galopvm_base::{Diagnostic, ScalarOp, Span};
use galopvm_bytecode::{Entry, EntryValue, Form, FuncId};
use std::collections::HashMap;
use std::rc::Rc;

/// A value, or the reason there is none.
pub(super) type Built<T> = Result<T, Box<Diagnostic>>;

/// A function that has been built for arguments of some structure.
#[derive(Clone)]
pub(super) struct Instance {
    pub id: FuncId,
    pub result: Structure,
}

/// The builder.
pub(super) struct Builder<'b, 'a, 'n, 's> {
    pub checker: &'b mut Checker<'a, 'n, 's>,
    pub program: Program,
    pub fun: FunState,
    pub instances: HashMap<String, Instance>,
    /// Values of constants, in the function being built.
    pub constants: HashMap<GlobalId, Value<'a>>,
    /// Constants whose values are being built.
    pub opening: Vec<GlobalId>,
    /// Nodes of definitions and of what they expand to.
    pub sizes: HashMap<GlobalId, usize>,
    /// How often definitions are mentioned, once somebody has asked.
    pub mentions: Option<HashMap<GlobalId, u32>>,
    /// Constants that definitions need.
    pub needed: HashMap<GlobalId, Rc<[GlobalId]>>,
    /// Definitions that call themselves.
    pub recursive: HashMap<GlobalId, bool>,
    /// The definitions by the nodes of their names, for sizes.
    pub named: HashMap<NodeId, GlobalId>,
    /// The terms of module types by their nodes.
    pub views: HashMap<NodeId, ViewId>,
    /// Recursive definitions with functions as arguments that are being built.
    pub building: Vec<GlobalId>,
    /// Functions that are part of an instance.
    pub kept: Vec<Value<'a>>,
    /// The operators of accumulators; none where writing replaces.
    pub accs: Vec<Option<Value<'a>>>,
    pub expansions: usize,
    /// Nodes expanded inside of parallel operators.
    pub in_operators: usize,
    pub depth: usize,
    /// Statements of functions are shared and dropped once they are built.
    simplifies: bool,
}

/// An entry point seen from outside.
struct Signature {
    scheme: Scheme,
    params: Vec<Type>,
    structures: Vec<Structure>,
    result: Type,
    result_structure: Structure,
}

/// Builds the core of all entry points of a program. One whose definition core cannot say becomes a function that ends
/// with the reason, and a warning: the others can be run. Functions may stay as they were built, which is for comparisons.
pub fn build(
    checker: &mut Checker<'_, '_, '_>,
    entries: &[GlobalId],
    simplifies: bool,
) -> (Program, Vec<Diagnostic>) {
    let mut refused: Vec<(GlobalId, Diagnostic)> = Vec::new();
    loop {
        let mut builder = Builder::new(checker);
        builder.simplifies = simplifies;
        let mut errors = Vec::new();
        let known = refused.len();
        for id in entries {
            let signature = match builder.signature(*id) {
                Ok(signature) => signature,
                Err(diagnostic) => {
                    errors.push(*diagnostic);
                    continue;
                }
            };
            match refused.iter().find(|(refused, _)| refused == id) {
                Some((_, reason)) => {
                    errors.extend(builder.refused_entry(*id, &signature, reason).err().map(|e| *e))
                }
                None => refused.extend(builder.entry(*id, &signature).err().map(|reason| (*id, *reason))),
            }
        }
        // What a refusal left half done is in the way of the others: they are built again.
        if !errors.is_empty() || refused.len() == known {
            let program = builder.program;
            let warnings = refused.into_iter().map(|(id, reason)| {
                let message = refusal(checker.names.globals[id].bind.name.text, &reason);
                Diagnostic { severity: Severity::Warning, message, ..reason }
            });
            errors.extend(warnings);
            return (program, errors);
        }
    }
}

/// Why an entry point cannot be run.
fn refusal(name: &str, reason: &Diagnostic) -> String {
    format!("Entry point \"{name}\" cannot be run: {}", reason.message)
}

/// Builds an entry point without parameters that gives an expression's value, and the form of that.
pub fn build_expression<'a>(
    checker: &mut Checker<'a, '_, '_>,
    name: &str,
    exp: &'a Exp<'a>,
    ty: &Type,
) -> (Program, Option<Form>, Vec<Diagnostic>) {
    let mut builder = Builder::new(checker);
    match builder.expression_entry(name, exp, ty) {
        Ok(form) => (builder.program, Some(form), Vec::new()),
        Err(diagnostic) => (builder.program, None, vec![*diagnostic]),
    }
}

impl<'b, 'a, 'n, 's> Builder<'b, 'a, 'n, 's> {
    fn new(checker: &'b mut Checker<'a, 'n, 's>) -> Self {
        Builder {
            checker,
            program: Program::default(),
            fun: FunState::default(),
            instances: HashMap::new(),
            constants: HashMap::new(),
            opening: Vec::new(),
            sizes: HashMap::new(),
            mentions: None,
            needed: HashMap::new(),
            recursive: HashMap::new(),
            named: HashMap::new(),
            views: HashMap::new(),
            building: Vec::new(),
            kept: Vec::new(),
            accs: Vec::new(),
            expansions: 0,
            in_operators: 0,
            depth: 0,
            simplifies: true,
        }
    }

    /// A message about something core cannot say yet.
    pub(super) fn refuse<T>(&self, span: Span, construct: &str) -> Built<T> {
        let span = self.fun.place(span);
        Err(Box::new(Diagnostic::error(span, format!("{construct} is not supported yet"))))
    }

    /// The definition whose name is this node.
    pub(super) fn global_named(&mut self, node: NodeId) -> Option<GlobalId> {
        if self.named.len() != self.checker.names.globals.len() {
            self.named =
                self.checker.names.globals.iter_ids().map(|(id, g)| (g.bind.name.at.id, id)).collect();
        }
        self.named.get(&node).copied()
    }

    /// The view whose name in sizes is this node.
    pub(super) fn view_named(&mut self, node: NodeId) -> Option<ViewId> {
        if self.views.len() != self.checker.names.views.len() {
            self.views = self.checker.names.views.iter_ids().map(|(id, view)| (view.id, id)).collect();
        }
        self.views.get(&node).copied()
    }

    fn signature(&mut self, id: GlobalId) -> Built<Signature> {
        let span = self.checker.names.globals[id].bind.name.at.span;
        let scheme = self.checker.global(id);
        let mut params = Vec::new();
        let mut rest = self.checker.vars.resolve(&scheme.ty);
        while let Type::Arrow(_, from, to) = rest {
            params.push((*from).clone());
            rest = self.checker.vars.resolve(&to);
            if let Type::Exists(_, inner) = &rest
                && matches!(self.checker.vars.resolve(inner), Type::Arrow(..))
            {
                rest = self.checker.vars.resolve(inner);
            }
        }
        if let Type::Exists(hidden, inner) = &rest {
            rest = self.checker.vars.replace_sizes(inner, &|id| hidden.contains(&id).then_some(Size::Any));
        }
        let named = &self.checker.constant_sizes;
        rest = self.checker.vars.replace_sizes(&rest, &|id| named.contains_key(&id).then_some(Size::Any));
        let mut structures = Vec::new();
        for ty in &params {
            structures.push(self.structure(ty, span)?);
        }
        let result_structure = self.structure(&rest, span)?;
        Ok(Signature { scheme, params, structures, result: rest, result_structure })
    }

    /// Opens the function of an entry point; gives its arguments.
    fn begin_entry(&mut self, signature: &Signature, span: Span) -> Vec<Value<'a>> {
        let mut leaves = Vec::new();
        signature.structures.iter().for_each(|s| s.leaves(&mut leaves));
        self.fun = FunState::at(span);
        self.constants.clear();
        let mut atoms = self.fun.begin(&leaves).into_iter();
        signature.structures.iter().map(|s| s.fill(&mut atoms)).collect()
    }

    fn entry(&mut self, id: GlobalId, signature: &Signature) -> Built<()> {
        let bind = self.checker.names.globals[id].bind;
        let span = bind.name.at.span;
        let mut args = self.begin_entry(signature, span);
        self.check_arguments(bind, signature, &args);
        // A definition may have fewer parameters than its type: `def main = map f`.
        let more = args.split_off(bind.params.len().min(args.len()));
        let value = self.expand_in(id, &Use::none(), args, Within::default())?;
        let value = self.apply(value, more, span)?;
        self.finish_entry_point(id, signature, value.parts())
    }

    /// An entry point that says why it cannot be run.
    fn refused_entry(&mut self, id: GlobalId, signature: &Signature, reason: &Diagnostic) -> Built<()> {
        let name = self.checker.names.globals[id].bind.name.text;
        self.begin_entry(signature, reason.span);
        let message = refusal(name, reason).replace("{}", "{ }");
        let parts =
            self.fun.emit_all(Op::Fail { message, args: Vec::new() }, &signature.result_structure.types());
        self.finish_entry_point(id, signature, parts)
    }

    fn finish_entry_point(&mut self, id: GlobalId, signature: &Signature, values: Vec<Atom>) -> Built<()> {
        let bind = self.checker.names.globals[id].bind;
        let span = bind.name.at.span;
        let mut params = Vec::new();
        for (i, ty) in signature.params.iter().enumerate() {
            params.push(self.entry_value(parameter_name(bind, i), ty, span)?);
        }
        self.finish_entry(bind.name.text, params, &signature.result, values, span)
    }

    /// Checks that the extents of an entry point's arguments agree with each other and with their types.
    fn check_arguments(&mut self, bind: &ValBind<'a>, signature: &Signature, args: &[Value<'a>]) {
        let Signature { scheme, params, .. } = signature;
        let mut ctx = Context::empty();
        self.bind_arguments(&mut ctx, &scheme.ty, args, &|id| scheme.params.iter().any(|p| p.id() == id));
        for (i, (ty, arg)) in params.iter().zip(args).enumerate() {
            let shown = self.checker.vars.show(ty);
            let is_array = matches!(self.transparent(ty), Type::Array(..));
            let argument =
                format!("{}`{}`", if is_array { "" } else { "an array in " }, parameter_name(bind, i));
            let outer = std::mem::replace(&mut self.fun.span, bind.params.get(i).map(|pat| pat.at.span));
            self.walk_sizes(ty, arg, 0, &mut |b, size, parts, dim| {
                let Some(wanted) = b.size(size, &ctx) else { return };
                let size = match b.checker.vars.resolve_size(size) {
                    Size::Const(_) => String::new(),
                    size => format!("{} = ", b.checker.vars.show_size(&size)),
                };
                let place = match dim {
                    0 => String::new(),
                    1 => " in a row".into(),
                    _ => format!(" in dimension {}", dim + 1),
                };
                let message = format!(
                    "Entry point arguments have invalid sizes: {argument} has {{}} elements{place}, but its type {} has {size}{{}}.",
                    shown.replace("{}", "{ }")
                );
                for part in parts {
                    let found = b.fun.dim(*part, dim);
                    let equal = b.fun.size_op(ScalarOp::Eq, found, wanted);
                    b.fun.assert(equal, message.clone(), vec![found, wanted]);
                    b.fun.know(*part, dim, wanted);
                }
            });
            self.fun.span = outer;
        }
    }

    fn finish_entry(
        &mut self,
        name: &str,
        params: Vec<EntryValue>,
        result: &Type,
        values: Vec<Atom>,
        span: Span,
    ) -> Built<()> {
        let components: Vec<Type> = match self.bare(result) {
            Type::Record(fields) if Type::is_tuple(&fields) && !fields.is_empty() => {
                fields.iter().map(|(_, t)| t.clone()).collect()
            }
            _ => vec![result.clone()],
        };
        let mut results = Vec::new();
        for ty in &components {
            results.push(self.entry_value(String::new(), ty, span)?);
        }
        let function = self.finish_fun(name, values);
        self.program.entries.push(Entry { name: name.to_string(), function, params, results });
        Ok(())
    }

    /// A type without marks of uniqueness and existence.
    fn bare(&self, ty: &Type) -> Type {
        match self.checker.vars.resolve(ty) {
            Type::Unique(inner) | Type::Exists(_, inner) => self.bare(&inner),
            other => other,
        }
    }

    fn entry_value(&self, name: String, ty: &Type, span: Span) -> Built<EntryValue> {
        let values = self.structure(ty, span)?.types().len() as u32;
        Ok(EntryValue { name, ty: self.checker.vars.show(ty), values })
    }

    fn expression_entry(&mut self, name: &str, exp: &'a Exp<'a>, ty: &Type) -> Built<Form> {
        let span = exp.at.span;
        self.structure(ty, span)?;
        self.fun = FunState::at(span);
        self.fun.begin(&[]);
        let value = self.eval(exp, &Context::empty())?;
        let parts = value.parts();
        let form = self.form(ty, parts.len(), span);
        self.finish_entry(name, Vec::new(), ty, parts, span)?;
        Ok(form)
    }

    /// Closes the function being built and adds it to the program.
    pub(super) fn finish_fun(&mut self, name: &str, results: Vec<Atom>) -> FuncId {
        let fun = self.close_fun(name, results);
        self.program.funs.push(fun)
    }

    /// Closes the function being built.
    pub(super) fn close_fun(&mut self, name: &str, results: Vec<Atom>) -> Fun {
        let types = results.iter().map(|a| self.fun.type_of(*a)).collect();
        let mut body = self.fun.end(results);
        self.fun.tell_sure(&mut body);
        let FunState { vars, .. } = std::mem::take(&mut self.fun);
        let mut fun = Fun { name: name.to_string(), vars, results: types, body };
        if self.simplifies {
            share(&mut fun);
            simplify(&mut fun);
        } else {
            renumber(&mut fun);
        }
        fun
    }

    /// The type of an expression, with the current instance's types for parameters.
    pub(super) fn type_of(&self, exp: &Exp<'a>, ctx: &Context<'a>) -> Type {
        let ty = self.checker.types.get(exp.at.id).cloned().unwrap_or(Type::Error);
        self.checker.vars.substitute(&ty, &ctx.types)
    }

    /// A scalar atom.
    pub(super) fn atom(&self, value: &Value<'a>, span: Span) -> Built<Atom> {
        match value {
            Value::Atom(atom) => Ok(*atom),
            _ => self.refuse(span, "a tuple or function where one value is needed"),
        }
    }
}

/// What messages and hosts call a parameter of an entry point.
fn parameter_name(bind: &ValBind<'_>, index: usize) -> String {
    let name = bind.params.get(index).and_then(written_name);
    name.map_or_else(|| format!("arg{index}"), str::to_string)
}

/// The name in a parameter.
fn written_name<'p>(pat: &Pat<'p>) -> Option<&'p str> {
    match pat.kind {
        PatKind::Id(name) => Some(name),
        PatKind::Parens(inner) | PatKind::Ascript(inner, _) | PatKind::Attr(_, inner) => written_name(inner),
        _ => None,
    }
}
