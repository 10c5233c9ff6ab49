//! Checked expressions to core, by evaluating them symbolically: data becomes statements, functions are expanded
//! where they are applied.
//!
//! Invariants:
//! - Only programs without errors come here; what the checker lets through and core cannot say yet ends in a
//!   message, never in a panic.
//! - An array of tuples is a tuple of arrays, so zipping and unzipping cost nothing.
//! - Polymorphism and higher-order functions are gone because each application is expanded with what it is given.

use super::emit::FunState;
use super::ir::*;
use super::value::*;
use crate::names::{GlobalId, Res, ViewId};
use crate::syntax::ast::*;
use crate::types::{Checker, Size, SizeHead, Type};
use galopvm_base::{Diagnostic, ElemType, Scalar, ScalarOp, Span, scalar::parse_scalar};
use galopvm_bytecode::{Entry, EntryValue, FuncId, ValueType};
use std::collections::HashMap;
use std::rc::Rc;

/// A place for messages about code that has none.
const NOWHERE: Span = Span { file: galopvm_base::FileId(0), start: 0, end: 0 };

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
    pub sizes: HashMap<GlobalId, usize>,
    pub expansions: usize,
    pub depth: usize,
}

/// Builds the core of all entry points of a program.
pub fn build(checker: &mut Checker<'_, '_, '_>, entries: &[GlobalId]) -> (Program, Vec<Diagnostic>) {
    let mut builder = Builder::new(checker);
    let mut diagnostics = Vec::new();
    for id in entries {
        if let Err(diagnostic) = builder.entry(*id) {
            diagnostics.push(*diagnostic);
        }
    }
    (builder.program, diagnostics)
}

/// Builds an entry point without parameters that gives an expression's value.
pub fn build_expression<'a>(
    checker: &mut Checker<'a, '_, '_>,
    name: &str,
    exp: &'a Exp<'a>,
    ty: &Type,
) -> (Program, Vec<Diagnostic>) {
    let mut builder = Builder::new(checker);
    let mut diagnostics = Vec::new();
    if let Err(diagnostic) = builder.expression_entry(name, exp, ty) {
        diagnostics.push(*diagnostic);
    }
    (builder.program, diagnostics)
}

impl<'b, 'a, 'n, 's> Builder<'b, 'a, 'n, 's> {
    fn new(checker: &'b mut Checker<'a, 'n, 's>) -> Self {
        Builder {
            checker,
            program: Program::default(),
            fun: FunState::default(),
            instances: HashMap::new(),
            constants: HashMap::new(),
            sizes: HashMap::new(),
            expansions: 0,
            depth: 0,
        }
    }

    /// A message about something core cannot say yet.
    pub(super) fn refuse<T>(&self, span: Span, construct: &str) -> Built<T> {
        Err(Box::new(Diagnostic::error(span, format!("{construct} is not supported yet"))))
    }

    fn entry(&mut self, id: GlobalId) -> Built<()> {
        let bind = self.checker.names.globals[id].bind;
        let scheme = self.checker.global(id);
        let mut types = Vec::new();
        let mut rest = scheme.ty.clone();
        while let Type::Arrow(_, from, to) = rest {
            types.push(self.checker.without_marks(&from));
            rest = (*to).clone();
        }
        if let Type::Exists(hidden, inner) = &rest {
            rest = self.checker.vars.replace_sizes(inner, &|id| hidden.contains(&id).then_some(Size::Any));
        }
        let rest = self.checker.without_marks(&rest);
        let span = bind.name.at.span;
        let mut structures = Vec::new();
        for ty in &types {
            structures.push(self.structure(ty, span)?);
        }
        self.structure(&rest, span)?;
        let mut leaves = Vec::new();
        structures.iter().for_each(|s| s.leaves(&mut leaves));
        self.fun = FunState::at(span);
        self.constants.clear();
        let atoms = self.fun.begin(&leaves);
        let mut atoms = atoms.into_iter();
        let mut args: Vec<Value<'a>> = structures.iter().map(|s| s.fill(&mut atoms)).collect();
        // A definition may have fewer parameters than its type: `def main = map f`.
        let more = args.split_off(bind.params.len().min(args.len()));
        let value = self.expand_global(id, &Use::none(), args, span)?;
        let value = self.apply(value, more, span)?;
        let result = value.parts();
        self.finish_entry(bind.name.text, bind, (&types, &structures), &rest, result, span)
    }

    fn finish_entry(
        &mut self,
        name: &str,
        bind: &ValBind<'a>,
        (types, structures): (&[Type], &[Structure]),
        result_type: &Type,
        result: Vec<Atom>,
        span: Span,
    ) -> Built<()> {
        let mut params = Vec::new();
        for (i, (ty, structure)) in types.iter().zip(structures).enumerate() {
            let pat = bind.params.get(i);
            let name = pat.and_then(written_name).map_or_else(|| format!("arg{i}"), str::to_string);
            let unique = pat.is_some_and(|p| written_type(p).is_some_and(is_unique));
            params.push(self.entry_value(name, ty, structure, unique));
        }
        let mut results = Vec::new();
        let components: Vec<(Type, bool)> = match (result_type, bind.result.map(|t| strip(t).kind)) {
            (Type::Record(fields), written) if Type::is_tuple(fields) && !fields.is_empty() => {
                let written = match written {
                    Some(TypeExpKind::Tuple(items)) => items.iter().map(is_unique).collect(),
                    _ => vec![false; fields.len()],
                };
                fields.iter().map(|(_, t)| t.clone()).zip(written).collect()
            }
            (ty, _) => vec![(ty.clone(), bind.result.is_some_and(is_unique))],
        };
        for (ty, unique) in components {
            let structure = self.structure(&ty, span)?;
            results.push(self.entry_value(String::new(), &ty, &structure, unique));
        }
        let function = self.finish_fun(name, result);
        self.program.entries.push(Entry { name: name.to_string(), function, params, results });
        Ok(())
    }

    fn entry_value(&self, name: String, ty: &Type, structure: &Structure, unique: bool) -> EntryValue {
        let mut leaves = Vec::new();
        structure.leaves(&mut leaves);
        let star = if unique { "*" } else { "" };
        EntryValue { name, ty: format!("{star}{}", self.checker.vars.show(ty)), values: leaves.len() as u32 }
    }

    fn expression_entry(&mut self, name: &str, exp: &'a Exp<'a>, ty: &Type) -> Built<()> {
        let span = exp.at.span;
        self.structure(ty, span)?;
        self.fun = FunState::at(span);
        self.fun.begin(&[]);
        let value = self.eval(exp, &Context::empty(Rc::from([])))?;
        let components = match ty {
            Type::Record(fields) if Type::is_tuple(fields) && !fields.is_empty() => {
                fields.iter().map(|(_, t)| t.clone()).collect()
            }
            _ => vec![ty.clone()],
        };
        let mut results = Vec::new();
        for ty in &components {
            let structure = self.structure(ty, span)?;
            results.push(self.entry_value(String::new(), ty, &structure, false));
        }
        let function = self.finish_fun(name, value.parts());
        self.program.entries.push(Entry { name: name.to_string(), function, params: Vec::new(), results });
        Ok(())
    }

    /// Closes the function being built and adds it to the program.
    pub(super) fn finish_fun(&mut self, name: &str, results: Vec<Atom>) -> FuncId {
        let types = results.iter().map(|a| self.fun.type_of(*a)).collect();
        let body = self.fun.end(results);
        let vars = std::mem::take(&mut self.fun).vars;
        let mut fun = Fun { name: name.to_string(), vars, results: types, body };
        super::simplify::simplify(&mut fun);
        self.program.funs.push(fun)
    }

    /// The structure of values of a type.
    pub(super) fn structure(&self, ty: &Type, span: Span) -> Built<Structure> {
        match self.checker.vars.reveal(ty) {
            Type::Prim(elem) => Ok(Structure::Atom(ValueType::scalar(elem))),
            Type::Array(_, elem) => {
                let structure = self.structure(&elem, span)?.array_of();
                let mut leaves = Vec::new();
                structure.leaves(&mut leaves);
                if leaves.is_empty() {
                    return self.refuse(span, "an array of ()");
                }
                if leaves.iter().any(|t| t.rank > galopvm_bytecode::verify::MAX_RANK) {
                    return self.refuse(span, "an array of that many dimensions");
                }
                Ok(structure)
            }
            Type::Exists(_, inner) => self.structure(&inner, span),
            Type::Record(fields) => {
                let fields: Built<Vec<_>> =
                    fields.iter().map(|(n, t)| Ok((n.clone(), self.structure(t, span)?))).collect();
                Ok(Structure::Record(fields?))
            }
            other => {
                let shown = self.checker.vars.show(&other);
                let text = match other {
                    Type::Arrow(..) => format!("an entry point cannot take or give functions: `{shown}`"),
                    _ => format!("an entry point cannot be polymorphic: `{shown}`"),
                };
                Err(Box::new(Diagnostic::error(span, text).with_hint("write the types of its parameters")))
            }
        }
    }

    /// The structure of a value that holds no function.
    pub(super) fn structure_of(&self, value: &Value<'a>, span: Span) -> Built<Structure> {
        match value {
            Value::Atom(atom) => Ok(Structure::Atom(self.fun.type_of(*atom))),
            Value::Record(fields) => {
                let fields: Built<Vec<_>> =
                    fields.iter().map(|(n, v)| Ok((n.clone(), self.structure_of(v, span)?))).collect();
                Ok(Structure::Record(fields?))
            }
            Value::Fun(_) => Err(Box::new(
                Diagnostic::error(span, "a function cannot be used as data here")
                    .with_label("this is a function"),
            )),
        }
    }

    /// The type of an expression, with the current instance's types for parameters.
    fn type_of(&self, exp: &Exp<'a>, ctx: &Context<'a>) -> Type {
        let ty = self.checker.types.get(&exp.at.id).cloned().unwrap_or(Type::Error);
        self.checker.vars.substitute(&ty, &ctx.types)
    }

    /// A scalar atom.
    pub(super) fn atom(&self, value: &Value<'a>, span: Span) -> Built<Atom> {
        match value {
            Value::Atom(atom) => Ok(*atom),
            _ => self.refuse(span, "a tuple or function where one value is needed"),
        }
    }

    /// The value of an expression.
    pub(super) fn eval(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let outer = self.fun.span.replace(exp.at.span);
        let value = self.eval_kind(exp, ctx);
        self.fun.span = outer;
        value
    }

    fn eval_atom(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Atom> {
        let value = self.eval(exp, ctx)?;
        self.atom(&value, exp.at.span)
    }

    /// An integer expression as i64.
    pub(super) fn eval_size(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Atom> {
        let atom = self.eval_atom(exp, ctx)?;
        let from = self.fun.type_of(atom).elem;
        Ok(self.fun.convert(from, ElemType::I64, atom))
    }

    fn eval_kind(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let span = exp.at.span;
        match exp.kind {
            ExpKind::Literal(scalar) => Ok(Value::Atom(Atom::Const(scalar))),
            ExpKind::Number(number) => {
                let Type::Prim(ty) = self.type_of(exp, ctx) else { return self.refuse(span, "this literal") };
                Ok(Value::Atom(Atom::Const(number_value(number, ty))))
            }
            ExpKind::String(bytes, _) => {
                let rows = bytes.iter().map(|b| Atom::Const(Scalar::new(ElemType::U8, *b as u64))).collect();
                let ty = ValueType::array(ElemType::U8, 1);
                let atom = self.fun.emit(Op::Array(ElemType::U8, 1, rows), ty);
                self.fun.know(atom, 0, Atom::i64(bytes.len() as i64));
                Ok(Value::Atom(atom))
            }
            ExpKind::Var(name) => self.occurrence(exp.at.id, &name, span, ctx),
            ExpKind::Hole => self.refuse(span, "a typed hole"),
            ExpKind::Match(..) => self.refuse(span, "`match`"),
            ExpKind::Constr(..) => self.refuse(span, "a sum type constructor"),
            ExpKind::QualParens(..) | ExpKind::Error => self.refuse(span, "this expression"),
            ExpKind::Parens(inner) => self.eval(inner, ctx),
            ExpKind::Attr(attr, inner) => {
                // `#[unsafe]` drops assertions; other attributes are hints.
                let unchecked = u32::from(attr.name == "unsafe");
                self.fun.unchecked += unchecked;
                let value = self.eval(inner, ctx);
                self.fun.unchecked -= unchecked;
                value
            }
            ExpKind::Tuple(items) => {
                let items: Built<Vec<_>> = items.iter().map(|e| self.eval(e, ctx)).collect();
                Ok(Value::tuple(items?))
            }
            ExpKind::Record(fields) => {
                let mut values: Vec<(Rc<str>, Value<'a>)> = Vec::new();
                for (name, value) in fields {
                    let value = match value {
                        Some(value) => self.eval(value, ctx)?,
                        None => {
                            let parts = self.checker.names.arena.alloc_slice_copy(&[*name]);
                            self.occurrence(name.at.id, &QualName { parts }, span, ctx)?
                        }
                    };
                    values.push((name.text.into(), value));
                }
                values.sort_by(|a, b| crate::types::field_order(&a.0, &b.0));
                Ok(Value::Record(values.into()))
            }
            ExpKind::Array(items) => self.array_literal(exp, items, ctx),
            ExpKind::Project(inner, field) => {
                let value = self.eval(inner, ctx)?;
                self.project(&value, field.text, span)
            }
            ExpKind::Index(inner, dims) => {
                let value = self.eval(inner, ctx)?;
                let dims = self.dims(dims, ctx)?;
                self.index(&value, &dims, span)
            }
            ExpKind::Apply(head, args) => {
                let function = self.eval(head, ctx)?;
                let args: Built<Vec<_>> = args.iter().map(|e| self.eval(e, ctx)).collect();
                self.apply(function, args?, span)
            }
            ExpKind::BinOp(op, left, right) => self.binary(&op, left, right, span, ctx),
            ExpKind::Negate(inner) => {
                if let ExpKind::Number(number) = inner.kind
                    && let Type::Prim(ty) = self.type_of(inner, ctx)
                {
                    let value = Atom::Const(number_value(number, ty));
                    return Ok(Value::Atom(self.fun.scalar(ScalarOp::Neg, ty, &[value])));
                }
                self.unary(ScalarOp::Neg, inner, ctx)
            }
            ExpKind::Not(inner) => self.unary(ScalarOp::Not, inner, ctx),
            ExpKind::Lambda(params, result, body) => {
                let fun = LocalFun { type_params: &[], params, result, body };
                let callee = Callee::Local { fun, ctx: ctx.clone(), instance: Use::none() };
                Ok(Value::Fun(Rc::new(Closure { callee, args: Vec::new() })))
            }
            ExpKind::Section(op) => self.occurrence(op.at.id, &op.name, span, ctx),
            ExpKind::SectionLeft(op, left) => {
                let function = self.occurrence(op.at.id, &op.name, span, ctx)?;
                let left = self.eval(left, ctx)?;
                self.apply(function, vec![left], span)
            }
            ExpKind::SectionRight(op, right) => {
                let function = self.occurrence(op.at.id, &op.name, span, ctx)?;
                let right = self.eval(right, ctx)?;
                let callee = Callee::Right(function, right);
                Ok(Value::Fun(Rc::new(Closure { callee, args: Vec::new() })))
            }
            ExpKind::SectionPath(steps) => {
                let callee = Callee::Path(steps, ctx.clone());
                Ok(Value::Fun(Rc::new(Closure { callee, args: Vec::new() })))
            }
            ExpKind::If(condition, yes, no) => {
                let condition = self.eval_atom(condition, ctx)?;
                self.if_exp(condition, span, &mut |b| b.eval(yes, ctx), &mut |b| b.eval(no, ctx))
            }
            ExpKind::Let { sizes, pat, value, body } => {
                let value = self.eval(value, ctx)?;
                let mut ctx = ctx.clone();
                let sizes: Vec<NodeId> = sizes.iter().map(|n| n.at.id).collect();
                self.bind_sizes(&mut ctx, &sizes, pat, &value);
                self.bind(&mut ctx, pat, &value)?;
                self.eval(body, &ctx)
            }
            ExpKind::LetFun { fun, body } => {
                let local = LocalFun {
                    type_params: fun.type_params,
                    params: fun.params,
                    result: fun.result,
                    body: fun.body,
                };
                let callee = Callee::Local { fun: local, ctx: ctx.clone(), instance: Use::none() };
                let mut ctx = ctx.clone();
                ctx.bind(fun.name.at.id, Value::Fun(Rc::new(Closure { callee, args: Vec::new() })));
                self.eval(body, &ctx)
            }
            ExpKind::LetWith { name, old, steps, value, body } => {
                let old = self.eval(old, ctx)?;
                let value = self.eval(value, ctx)?;
                let new = self.update(&old, steps, value, span, ctx)?;
                let mut ctx = ctx.clone();
                ctx.bind(name.at.id, new);
                self.eval(body, &ctx)
            }
            ExpKind::Loop { pat, init, form, body } => self.loop_exp(span, pat, init, &form, body, ctx),
            ExpKind::Range { first, second, kind, last } => self.range(span, first, second, kind, last, ctx),
            ExpKind::Update(inner, steps, value) => {
                let old = self.eval(inner, ctx)?;
                let value = self.eval(value, ctx)?;
                self.update(&old, steps, value, span, ctx)
            }
            ExpKind::Assert(condition, value) => {
                let text = self.checker.names.sources.snippet(condition.at.span);
                let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
                // Braces would be taken for places of arguments.
                let text = text.replace("{}", "{ }");
                let message = format!("Assertion is false: {text}");
                let cond = self.eval_atom(condition, ctx)?;
                self.fun.assert(cond, message, Vec::new());
                self.eval(value, ctx)
            }
            ExpKind::Ascript(inner, ty) | ExpKind::Coerce(inner, ty) => {
                let value = self.eval(inner, ctx)?;
                self.check_type(ctx, ty, &value);
                Ok(value)
            }
        }
    }

    fn unary(&mut self, op: ScalarOp, inner: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let atom = self.eval_atom(inner, ctx)?;
        let ty = self.fun.type_of(atom).elem;
        Ok(Value::Atom(self.fun.scalar(op, ty, &[atom])))
    }

    /// What an occurrence of a name is, projections included.
    fn occurrence(
        &mut self,
        id: NodeId,
        name: &QualName<'a>,
        span: Span,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let Some(used) = self.checker.names.uses.get(&id).copied() else {
            return self.refuse(span, "this name");
        };
        let instance = self.instance(id, ctx);
        let mut value = self.resolved(used.res, instance, span, ctx)?;
        for field in &name.parts[name.parts.len() - used.fields..] {
            value = self.project(&value, field.text, span)?;
        }
        Ok(value)
    }

    pub(super) fn resolved(
        &mut self,
        res: Res,
        instance: Use<'a>,
        span: Span,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let callee = match res {
            Res::Local(id) => {
                let Some(value) = ctx.get(id) else { return self.refuse(span, "this use of a size") };
                // A local function that is polymorphic takes what this use chose.
                if let Value::Fun(closure) = value
                    && let Callee::Local { fun, ctx, .. } = &closure.callee
                    && !(instance.types.is_empty() && instance.sizes.is_empty())
                {
                    let callee = Callee::Local { fun: *fun, ctx: ctx.clone(), instance };
                    return Ok(Value::Fun(Rc::new(Closure { callee, args: closure.args.clone() })));
                }
                return Ok(value.clone());
            }
            Res::Global(id) => {
                if self.checker.names.globals[id].bind.params.is_empty() {
                    return self.constant(id, &instance, span);
                }
                Callee::Global(id, instance)
            }
            Res::View(id) => return self.view(id, instance, span, ctx),
            Res::Intrinsic(row) => Callee::Intrinsic(row, instance),
            Res::Member(_, galopvm_stdlib::Member::Const(scalar)) => {
                return Ok(Value::Atom(Atom::Const(scalar)));
            }
            Res::Member(ty, member) => Callee::Member(ty, member),
            Res::Operator(op) => Callee::Operator(op),
            Res::TypeParam(_) | Res::Abbr(_) | Res::Prim(_) | Res::Error => {
                return self.refuse(span, "this name");
            }
        };
        Ok(Value::Fun(Rc::new(Closure { callee, args: Vec::new() })))
    }

    /// What stands behind a term of a module type.
    fn view(&mut self, id: ViewId, instance: Use<'a>, span: Span, ctx: &Context<'a>) -> Built<Value<'a>> {
        let Some((res, chosen)) = self.checker.names.views[id].target.clone() else {
            return self.refuse(span, "a parametric module that is not applied");
        };
        let vars = &self.checker.vars;
        let types: Vec<(NodeId, Type)> =
            chosen.types.iter().map(|(p, t)| (*p, vars.substitute(t, &instance.types))).collect();
        let mut scope = ctx.clone();
        instance.sizes.iter().for_each(|(id, value)| scope.bind(*id, value.clone()));
        let mut sizes = Vec::new();
        for (param, size) in &chosen.sizes {
            if let Some(atom) = self.size(size, &scope) {
                sizes.push((*param, Value::Atom(atom)));
            }
        }
        self.resolved(res, Use { types: types.into(), sizes: sizes.into() }, span, ctx)
    }

    /// What a use of a polymorphic name chose, in terms of the current instance.
    fn instance(&mut self, id: NodeId, ctx: &Context<'a>) -> Use<'a> {
        let Some(chosen) = self.checker.instances.get(&id).cloned() else { return Use::none() };
        let types: Vec<(NodeId, Type)> =
            chosen.types.iter().map(|(p, t)| (*p, self.checker.vars.substitute(t, &ctx.types))).collect();
        let mut sizes = Vec::new();
        for (param, size) in &chosen.sizes {
            if let Some(atom) = self.size(size, ctx) {
                sizes.push((*param, Value::Atom(atom)));
            }
        }
        Use { types: types.into(), sizes: sizes.into() }
    }

    /// The value of a size, if it is made of names in scope.
    pub(super) fn size(&mut self, size: &Size, ctx: &Context<'a>) -> Option<Atom> {
        match size {
            Size::Const(n) => Some(Atom::i64(*n)),
            Size::Name(id) => match ctx.get(*id) {
                Some(Value::Atom(atom)) => Some(*atom),
                Some(_) => None,
                None => {
                    let global =
                        self.checker.names.globals.iter_ids().find(|(_, g)| g.bind.name.at.id == *id)?.0;
                    let constant = self.checker.names.globals[global].bind.params.is_empty();
                    let value = constant
                        .then(|| self.constant(global, &Use::none(), self.fun.span?).ok())
                        .flatten()?;
                    self.atom(&value, self.fun.span?).ok()
                }
            },
            Size::Exp(exp) => {
                let (SizeHead::Operator(op), [a, b]) = (&exp.head, exp.args.as_slice()) else { return None };
                let op = galopvm_stdlib::operator(op)?;
                let (a, b) = (self.size(a, ctx)?, self.size(b, ctx)?);
                Some(self.fun.size_op(op, a, b))
            }
            Size::Any | Size::Var(_) => None,
        }
    }

    /// The value of a top-level constant, computed once at the beginning of the function being built.
    fn constant(&mut self, id: GlobalId, instance: &Use<'a>, span: Span) -> Built<Value<'a>> {
        if let Some(value) = self.constants.get(&id) {
            return Ok(value.clone());
        }
        let polymorphic = !self.checker.global(id).params.is_empty();
        if polymorphic {
            return self.expand_global(id, instance, Vec::new(), span);
        }
        let aside = self.fun.at_root();
        let soacs = std::mem::take(&mut self.fun.soacs);
        let value = self.expand_global(id, instance, Vec::new(), span);
        self.fun.soacs = soacs;
        self.fun.back(aside);
        let value = value?;
        self.constants.insert(id, value.clone());
        Ok(value)
    }

    fn project(&self, value: &Value<'a>, field: &str, span: Span) -> Built<Value<'a>> {
        match value.field(field) {
            Some(part) => Ok(part.clone()),
            None => self.refuse(span, "this projection"),
        }
    }

    fn binary(
        &mut self,
        op: &OpName<'a>,
        left: &'a Exp<'a>,
        right: &'a Exp<'a>,
        span: Span,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let res = self.checker.names.uses.get(&op.at.id).map_or(Res::Error, |u| u.res);
        if let Res::Operator(logic @ ("&&" | "||")) = res {
            let condition = self.eval_atom(left, ctx)?;
            return self.logic(logic == "&&", condition, span, &mut |b| b.eval(right, ctx));
        }
        let a = self.eval(left, ctx)?;
        if let Res::Operator("<|") = res {
            let b = self.eval(right, ctx)?;
            return self.apply(a, vec![b], span);
        }
        let b = self.eval(right, ctx)?;
        if let Res::Operator("|>") = res {
            return self.apply(b, vec![a], span);
        }
        let function = self.occurrence(op.at.id, &op.name, span, ctx)?;
        self.apply(function, vec![a, b], span)
    }

    /// `a && b` or `a || b`: `b` is evaluated only if it decides, unless it is cheap and cannot fail.
    pub(super) fn logic(
        &mut self,
        and: bool,
        a: Atom,
        span: Span,
        b: &mut dyn FnMut(&mut Self) -> Built<Value<'a>>,
    ) -> Built<Value<'a>> {
        const CHEAP: usize = 6;
        if let Atom::Const(value) = a {
            return if (value.bits != 0) == and { b(self) } else { Ok(Value::Atom(a)) };
        }
        self.fun.begin(&[]);
        let value = b(self)?;
        let rest = self.atom(&value, span)?;
        let block = self.fun.end(vec![rest]);
        let cheap =
            |s: &Stm| s.op.is_pure() && matches!(s.op, Op::Scalar(..) | Op::Convert(..) | Op::Dim(..));
        let op = if and { ScalarOp::And } else { ScalarOp::Or };
        if block.stms.len() <= CHEAP && block.stms.iter().all(cheap) {
            self.fun.splice(block);
            return Ok(Value::Atom(self.fun.scalar(op, ElemType::Bool, &[a, rest])));
        }
        let fixed = Block { results: vec![Atom::bool(!and)], ..Block::default() };
        let (yes, no) = if and { (block, fixed) } else { (fixed, block) };
        let bool_type = [ValueType::scalar(ElemType::Bool)];
        Ok(Value::Atom(self.fun.emit_all(Op::If(a, yes, no), &bool_type)[0]))
    }

    pub(super) fn if_exp(
        &mut self,
        condition: Atom,
        span: Span,
        yes: &mut dyn FnMut(&mut Self) -> Built<Value<'a>>,
        no: &mut dyn FnMut(&mut Self) -> Built<Value<'a>>,
    ) -> Built<Value<'a>> {
        if let Atom::Const(value) = condition {
            return if value.bits != 0 { yes(self) } else { no(self) };
        }
        self.fun.begin(&[]);
        let a = yes(self)?;
        let structure = self.structure_of(&a, span)?;
        let yes = self.fun.end(a.parts());
        self.fun.begin(&[]);
        let b = no(self)?;
        let no = self.fun.end(b.parts());
        let mut types = Vec::new();
        structure.leaves(&mut types);
        if yes.stms.is_empty() && no.stms.is_empty() && types.iter().all(|t| t.is_scalar()) {
            let parts: Vec<Atom> = (yes.results.iter().zip(&no.results).zip(&types))
                .map(|((a, b), ty)| self.fun.scalar(ScalarOp::Select, ty.elem, &[condition, *a, *b]))
                .collect();
            return Ok(structure.fill(&mut parts.into_iter()));
        }
        let parts = self.fun.emit_all(Op::If(condition, yes, no), &types);
        Ok(structure.fill(&mut parts.into_iter()))
    }

    /// The sizes in the type of one part of a value; 0 where they are not known.
    fn leaf_sizes(&mut self, ty: &Type, leaf: usize, ctx: &Context<'a>) -> Vec<Atom> {
        let mut sizes = Vec::new();
        let (mut ty, mut leaf) = (ty.clone(), leaf);
        loop {
            match self.checker.vars.resolve(&ty) {
                Type::Array(size, elem) => {
                    sizes.push(self.size(&size, ctx).unwrap_or(Atom::i64(0)));
                    ty = (*elem).clone();
                }
                Type::Record(fields) => {
                    let mut found = None;
                    for (_, field) in fields.iter() {
                        let mut leaves = Vec::new();
                        if let Ok(structure) = self.structure(field, self.fun.span.unwrap_or(NOWHERE)) {
                            structure.leaves(&mut leaves);
                        }
                        if leaf < leaves.len() {
                            found = Some(field.clone());
                            break;
                        }
                        leaf -= leaves.len();
                    }
                    match found {
                        Some(field) => ty = field,
                        None => return sizes,
                    }
                }
                _ => return sizes,
            }
        }
    }

    fn array_literal(&mut self, exp: &Exp<'a>, items: &'a [Exp<'a>], ctx: &Context<'a>) -> Built<Value<'a>> {
        let span = exp.at.span;
        let mut values = Vec::new();
        for item in items {
            values.push(self.eval(item, ctx)?);
        }
        let structure = match values.first() {
            Some(first) => self.structure_of(first, span)?.array_of(),
            None => {
                let ty = self.type_of(exp, ctx);
                self.structure(&ty, span)?
            }
        };
        let mut types = Vec::new();
        structure.leaves(&mut types);
        if types.is_empty() {
            return self.refuse(span, "an array of ()");
        }
        let rows: Vec<Vec<Atom>> = values.iter().map(Value::parts).collect();
        let mut parts = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            let column: Vec<Atom> = rows.iter().filter_map(|r| r.get(i).copied()).collect();
            let inner: Vec<Option<Atom>> = (0..ty.rank as u32 - 1)
                .map(|d| column.first().and_then(|row| self.fun.known(*row, d)))
                .collect();
            if column.is_empty() && ty.rank > 1 {
                // Only a shape says what the inner extents of an empty array are.
                let whole = self.type_of(exp, ctx);
                let mut shape = vec![Atom::i64(0)];
                shape.extend(self.leaf_sizes(&whole, i, ctx).into_iter().skip(1));
                shape.resize(ty.rank as usize, Atom::i64(0));
                let flat = self.fun.emit(Op::Array(ty.elem, 1, column), ValueType::array(ty.elem, 1));
                if let Atom::Var(var) = flat {
                    parts.push(self.reshape(var, shape, ty.elem));
                }
                continue;
            }
            let atom = self.fun.emit(Op::Array(ty.elem, ty.rank as u32, column), *ty);
            self.fun.know(atom, 0, Atom::i64(items.len() as i64));
            for (d, extent) in inner.into_iter().enumerate() {
                if let Some(extent) = extent {
                    self.fun.know(atom, d as u32 + 1, extent);
                }
            }
            parts.push(atom);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }
}

/// A literal in its type.
fn number_value(number: Number<'_>, ty: ElemType) -> Scalar {
    match number {
        Number::Int(value) if ty.is_float() => parse_scalar(&format!("{value}{ty}")),
        Number::Int(value) => Some(Scalar::new(ty, value as u64)),
        Number::Float(text) => parse_scalar(&format!("{text}{ty}")),
    }
    // The lexer lets only digits through.
    .unwrap_or(Scalar::new(ty, 0))
}

/// The name in a parameter.
fn written_name<'p>(pat: &Pat<'p>) -> Option<&'p str> {
    match pat.kind {
        PatKind::Id(name) => Some(name),
        PatKind::Parens(inner) | PatKind::Ascript(inner, _) | PatKind::Attr(_, inner) => written_name(inner),
        _ => None,
    }
}

fn written_type<'p>(pat: &Pat<'p>) -> Option<&'p TypeExp<'p>> {
    match pat.kind {
        PatKind::Ascript(_, ty) => Some(ty),
        PatKind::Parens(inner) | PatKind::Attr(_, inner) => written_type(inner),
        _ => None,
    }
}

fn strip<'p>(ty: &'p TypeExp<'p>) -> &'p TypeExp<'p> {
    match ty.kind {
        TypeExpKind::Parens(inner) => strip(inner),
        _ => ty,
    }
}

fn is_unique(ty: &TypeExp<'_>) -> bool {
    match ty.kind {
        TypeExpKind::Unique(_) => true,
        TypeExpKind::Parens(inner) => is_unique(inner),
        _ => false,
    }
}
