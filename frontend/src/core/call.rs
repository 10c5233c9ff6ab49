//! Definitions that become functions of their own, and calls of them.
//!
//! A definition is expanded where it is used if it is small, is used once, or must be because functions come out. One that calls
//! itself is always called. Functions among the arguments of a call become part of the callee, and what they capture becomes
//! parameters; a definition that calls itself passes them on unchanged.

use super::build::{Builder, Built, Instance};
use super::emit::{FunState, Within};
use super::env::Node;
use super::ir::*;
use super::value::*;
use crate::names::{GlobalId, Names, Res};
use crate::syntax::ast::*;
use crate::types::{SchemeParam, Size, Type};
use galopvm_base::{ElemType, Span};
use galopvm_bytecode::ValueType;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;

/// Definitions that are at most this many nodes when everything small in them is expanded are expanded themselves.
const SMALL: usize = 80;
/// Those that are used in one place are expanded up to this size.
const ONCE: usize = 1_000;
/// Inside parallel operators larger ones are expanded too: only an operator whose body is one piece becomes a kernel.
const SMALL_IN_OPERATOR: usize = 10_000;
/// The same for those that take functions: called, they become a function of its own for each function they are given.
const HIGHER: usize = 4_000;
const HIGHER_IN_OPERATOR: usize = 20_000;
/// After so many nodes in operators those that are not small are called there, too.
const MANY_IN_OPERATORS: usize = 40_000;

/// What a call passes, and what it is a call of.
struct Call<'a> {
    id: GlobalId,
    types: Rc<[(NodeId, Type)]>,
    args: Vec<Value<'a>>,
    /// Sizes that the arguments do not tell.
    hidden: Vec<(NodeId, Atom)>,
    /// What functions among the arguments capture.
    captured: Vec<Atom>,
    /// Constants that the callee needs.
    constants: Vec<(GlobalId, Value<'a>)>,
    span: Span,
}

/// The definition that a name means, whatever module types show it.
fn behind_views(names: &Names<'_, '_>, mut res: Res) -> Option<GlobalId> {
    while let Res::View(view) = res {
        res = names.views[view].target.as_ref()?.0;
    }
    match res {
        Res::Global(id) => Some(id),
        _ => None,
    }
}

impl<'a> Builder<'_, 'a, '_, '_> {
    /// Calls or expands a definition.
    pub(super) fn invoke_global(
        &mut self,
        id: GlobalId,
        instance: &Use<'a>,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Built<Value<'a>> {
        if self.is_recursive(id) || !self.expands(id, instance, &args) {
            return self.call(id, instance, args, span);
        }
        self.expand_global(id, instance, args, span)
    }

    fn expands(&mut self, id: GlobalId, instance: &Use<'a>, args: &[Value<'a>]) -> bool {
        let global = self.checker.names.globals[id];
        let attribute = |name: &str| global.attrs.iter().any(|a| a.name == name);
        if !global.user || attribute("inline") || self.fun.is_derived() {
            return true;
        }
        let ty = self.checker.global(id).ty;
        if self.gives_function(&ty, args.len(), &instance.types) {
            return true;
        }
        let inside = self.fun.soacs > 0 && self.in_operators < MANY_IN_OPERATORS;
        let limit = match (args.iter().any(Value::has_function), inside) {
            (true, true) => HIGHER_IN_OPERATOR,
            (true, false) => HIGHER,
            (false, true) => SMALL_IN_OPERATOR,
            (false, false) => SMALL,
        };
        let first_order = matches!(limit, SMALL | SMALL_IN_OPERATOR);
        // Operators on both sides of a call are seen together where there is none.
        let limit = if limit == SMALL && self.is_used_once(id) { ONCE } else { limit };
        let expands = self.size_of(id) <= limit && !(first_order && attribute("noinline"));
        if expands && self.fun.soacs > 0 {
            self.in_operators += (global.bind.body.at.id.0 - global.bind.name.at.id.0) as usize;
        }
        expands
    }

    /// True if a function of this type gives a function after so many arguments.
    fn gives_function(&self, ty: &Type, args: usize, types: &[(NodeId, Type)]) -> bool {
        let mut ty = self.transparent(ty);
        for _ in 0..args {
            if let Type::Arrow(_, _, to) = ty {
                ty = self.transparent(&to);
            }
        }
        self.has_arrow(&self.checker.vars.substitute(&ty, types))
    }

    pub(super) fn has_arrow(&self, ty: &Type) -> bool {
        match self.transparent(ty) {
            Type::Arrow(..) => true,
            Type::Record(fields) => fields.iter().any(|(_, t)| self.has_arrow(t)),
            Type::Sum(constructors) => {
                constructors.iter().any(|(_, payload)| payload.iter().any(|t| self.has_arrow(t)))
            }
            _ => false,
        }
    }

    /// True if one place of the program mentions a definition.
    fn is_used_once(&mut self, id: GlobalId) -> bool {
        let names = &self.checker.names;
        let mentions = self.mentions.get_or_insert_with(|| {
            let mut mentions: HashMap<GlobalId, u32> = HashMap::new();
            for usage in names.uses.values() {
                if let Some(id) = behind_views(names, usage.res) {
                    *mentions.entry(id).or_default() += 1;
                }
            }
            mentions
        });
        mentions.get(&id) == Some(&1)
    }

    /// The definitions that a definition mentions.
    fn mentioned(&self, id: GlobalId) -> Vec<GlobalId> {
        let bind = self.checker.names.globals[id].bind;
        // Node numbers inside the body lie between the name's and the body's own, which is given last.
        let nodes = bind.name.at.id.0..bind.body.at.id.0;
        let names = &self.checker.names;
        nodes.filter_map(|node| behind_views(names, names.uses.get(&NodeId(node))?.res)).collect()
    }

    fn is_recursive(&mut self, id: GlobalId) -> bool {
        if let Some(known) = self.recursive.get(&id) {
            return *known;
        }
        let recursive = self.mentioned(id).contains(&id);
        self.recursive.insert(id, recursive);
        recursive
    }

    /// The constants that are more than a number and that a definition needs: they are computed once, outside of it.
    fn constants_of(&mut self, id: GlobalId) -> Rc<[GlobalId]> {
        if let Some(known) = self.needed.get(&id) {
            return known.clone();
        }
        // If it calls itself, that needs nothing else.
        self.needed.insert(id, Rc::from([]));
        let mut all: Vec<GlobalId> = Vec::new();
        for other in self.mentioned(id) {
            let global = self.checker.names.globals[other];
            if !global.user {
                continue;
            }
            if !global.bind.params.is_empty() {
                all.extend(self.constants_of(other).iter());
                continue;
            }
            let scheme = self.checker.global(other);
            let plain = matches!(self.transparent(&scheme.ty), Type::Prim(_)) || self.has_arrow(&scheme.ty);
            if scheme.params.is_empty() && !plain {
                all.push(other);
            }
        }
        all.sort_unstable();
        all.dedup();
        let all: Rc<[GlobalId]> = all.into();
        self.needed.insert(id, all.clone());
        all
    }

    /// Number of nodes of a definition and of what expands in it.
    fn size_of(&mut self, id: GlobalId) -> usize {
        if let Some(size) = self.sizes.get(&id) {
            return *size;
        }
        let bind = self.checker.names.globals[id].bind;
        let mut size = (bind.body.at.id.0 - bind.name.at.id.0) as usize;
        // If it calls itself, that is no expansion.
        self.sizes.insert(id, size);
        for other in self.mentioned(id) {
            let global = self.checker.names.globals[other];
            if !global.user || global.bind.params.is_empty() || self.is_recursive(other) {
                continue;
            }
            let inner = self.size_of(other);
            let limit = if self.has_arrow_param(other) { HIGHER_IN_OPERATOR } else { SMALL_IN_OPERATOR };
            if inner <= limit {
                size = size.saturating_add(inner);
            }
        }
        self.sizes.insert(id, size);
        size
    }

    fn has_arrow_param(&mut self, id: GlobalId) -> bool {
        let ty = self.checker.global(id).ty;
        let mut ty = self.transparent(&ty);
        while let Type::Arrow(_, from, to) = ty {
            if self.has_arrow(&from) {
                return true;
            }
            ty = self.transparent(&to);
        }
        false
    }

    /// The choice of a use, with what the use leaves to the definition that it stands in: its own.
    pub(super) fn complete(&mut self, id: GlobalId, instance: Use<'a>, ctx: &Context<'a>) -> Use<'a> {
        if !self.is_recursive(id) {
            return instance;
        }
        let scheme = self.checker.global(id);
        let mut types: Vec<(NodeId, Type)> = instance.types.to_vec();
        let mut sizes: Vec<(NodeId, Value<'a>)> = instance.sizes.to_vec();
        let mut names = Vec::new();
        for param in scheme.params.iter() {
            match param {
                SchemeParam::Type(id, _) => {
                    if !types.iter().any(|(p, _)| p == id)
                        && let Some(own) = ctx.types.iter().find(|(p, _)| p == id)
                    {
                        types.push(own.clone());
                    }
                }
                SchemeParam::Size(id) => names.push(*id),
            }
        }
        types.iter().for_each(|(_, ty)| self.names_in(ty, &mut names));
        for name in names {
            if !sizes.iter().any(|(p, _)| *p == name)
                && let Some(value) = ctx.get(name)
            {
                sizes.push((name, value));
            }
        }
        Use { types: types.into(), sizes: sizes.into() }
    }

    /// Names that are whole sizes in a type.
    fn names_in(&self, ty: &Type, out: &mut Vec<NodeId>) {
        match self.transparent(ty) {
            Type::Array(size, elem) => {
                if let Size::Name(id) = self.checker.vars.resolve_size(&size) {
                    out.push(id);
                }
                self.names_in(&elem, out);
            }
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.names_in(t, out)),
            Type::Sum(constructors) => {
                constructors
                    .iter()
                    .flat_map(|(_, payload)| payload.iter())
                    .for_each(|t| self.names_in(t, out));
            }
            _ => {}
        }
    }

    fn call(
        &mut self,
        id: GlobalId,
        instance: &Use<'a>,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Built<Value<'a>> {
        let scheme = self.checker.global(id);
        let mut ctx = Context::empty();
        ctx.types = instance.types.clone();
        let own = |id: NodeId| scheme.params.iter().any(|p| p.id() == id);
        let ty = self.bind_arguments(&mut ctx, &scheme.ty, &args, &own);
        let mut names: Vec<NodeId> = scheme.params.iter().map(|p| p.id()).collect();
        names.retain(|name| ctx.get(*name).is_none());
        instance.types.iter().for_each(|(_, ty)| self.names_in(ty, &mut names));
        let mut hidden: Vec<(NodeId, Atom)> = Vec::new();
        for name in names {
            let value = instance.sizes.iter().find(|(p, _)| *p == name).map(|(_, v)| v.clone());
            let atom = match value {
                Some(Value::Size(lazy)) => self.force(&lazy),
                Some(Value::Atom(atom)) => Some(atom),
                _ => None,
            };
            if let Some(atom) = atom
                && !hidden.iter().any(|(other, _)| *other == name)
            {
                hidden.push((name, atom));
                ctx.bind(name, Value::Atom(atom));
            }
        }
        let captured = self.captured(&args);
        let mut constants = Vec::new();
        for constant in self.constants_of(id).iter() {
            constants.push((*constant, self.constant(*constant, &Use::none(), span)?));
        }
        let call = Call { id, types: instance.types.clone(), args, hidden, captured, constants, span };
        let key = self.key(&call)?;
        let built = match self.instances.get(&key) {
            Some(built) => built.clone(),
            None => self.build_global(&call, &ty, key)?,
        };
        let mut atoms = Vec::new();
        call.args.iter().filter(|a| !a.has_function()).for_each(|a| a.leaves(&mut atoms));
        atoms.extend(call.hidden.iter().map(|(_, atom)| *atom).filter(|a| a.constant().is_none()));
        atoms.extend(call.captured);
        call.constants.iter().for_each(|(_, value)| value.leaves(&mut atoms));
        let results = self.fun.emit_all(Op::Call { function: built.id, args: atoms }, &built.result.types());
        let value = built.result.fill(&mut results.into_iter());
        self.know_sizes(&ctx, &ty, &value);
        Ok(value)
    }

    /// What makes calls go to the same function.
    fn key(&self, call: &Call<'a>) -> Built<String> {
        let mut key = format!("{}", call.id);
        for arg in &call.args {
            if arg.has_function() {
                let _ = write!(key, " {:?}", pointers(arg));
            } else {
                let _ = write!(key, " {:?}", self.structure_of(arg, call.span)?);
            }
        }
        for (name, size) in &call.hidden {
            // Only where it stands counts, and its value if it is known.
            let shown = size.constant().map_or_else(|| "_".to_string(), |c| c.as_i64().to_string());
            let _ = write!(key, " {}={shown}", self.checker.vars.names.get(name).map_or("", |n| n));
        }
        for (_, ty) in call.types.iter() {
            key.push(' ');
            self.type_key(ty, &call.hidden, &mut key);
        }
        Ok(key)
    }

    fn type_key(&self, ty: &Type, hidden: &[(NodeId, Atom)], out: &mut String) {
        match self.transparent(ty) {
            Type::Array(size, elem) => {
                let _ = match self.checker.vars.resolve_size(&size) {
                    Size::Const(n) => write!(out, "[{n}]"),
                    Size::Name(id) => match hidden.iter().position(|(name, _)| *name == id) {
                        Some(k) => write!(out, "[s{k}]"),
                        None => write!(out, "[]"),
                    },
                    _ => write!(out, "[]"),
                };
                self.type_key(&elem, hidden, out);
            }
            Type::Record(fields) => {
                out.push('{');
                for (name, ty) in fields.iter() {
                    let _ = write!(out, "{name}:");
                    self.type_key(ty, hidden, out);
                    out.push(',');
                }
                out.push('}');
            }
            Type::Sum(constructors) => {
                for (name, payload) in constructors.iter() {
                    let _ = write!(out, "#{name}");
                    for ty in payload.iter() {
                        out.push(' ');
                        self.type_key(ty, hidden, out);
                    }
                }
            }
            other => out.push_str(&self.checker.vars.show(&other)),
        }
    }

    /// A function of its own for a call and those like it.
    fn build_global(&mut self, call: &Call<'a>, result: &Type, key: String) -> Built<Instance> {
        let recursive = self.is_recursive(call.id);
        let functions = call.args.iter().any(Value::has_function);
        if recursive && functions && self.building.contains(&call.id) {
            return self.refuse(call.span, "passing other functions to a recursive call");
        }
        let bind = self.checker.names.globals[call.id].bind;
        let own = FunState::at(bind.name.at.span);
        let captured: Vec<ValueType> = call.captured.iter().map(|a| self.fun.type_of(*a)).collect();
        let mut constants_given = Vec::new();
        for (_, value) in &call.constants {
            constants_given.push(self.structure_of(value, call.span)?);
        }
        let mut structures = Vec::new();
        for arg in &call.args {
            structures.push(if arg.has_function() { None } else { Some(self.structure_of(arg, call.span)?) });
        }
        let reserved = if recursive {
            let result = self.checker.vars.substitute(result, &call.types);
            let result = self.structure(&result, call.span)?;
            let instance = Instance { id: self.program.funs.push(Fun::default()), result };
            self.instances.insert(key.clone(), instance.clone());
            Some(instance)
        } else {
            None
        };
        let outer = std::mem::replace(&mut self.fun, own);
        let constants = std::mem::take(&mut self.constants);
        // What a key tells apart by its address stays where it is.
        self.kept.extend(call.args.iter().filter(|arg| arg.has_function()).cloned());
        self.building.extend(functions.then_some(call.id));
        let built = self.build_body(call, &structures, &captured, &constants_given, reserved);
        if functions {
            self.building.pop();
        }
        self.fun = outer;
        self.constants = constants;
        let built = built?;
        self.instances.insert(key, built.clone());
        Ok(built)
    }

    fn build_body(
        &mut self,
        call: &Call<'a>,
        structures: &[Option<Structure>],
        captured: &[ValueType],
        constants: &[Structure],
        reserved: Option<Instance>,
    ) -> Built<Instance> {
        let bind = self.checker.names.globals[call.id].bind;
        let mut types = Vec::new();
        structures.iter().flatten().for_each(|s| s.leaves(&mut types));
        let passed = call.hidden.iter().filter(|(_, atom)| atom.constant().is_none()).count();
        types.extend((0..passed).map(|_| ValueType::scalar(ElemType::I64)));
        types.extend(captured);
        constants.iter().for_each(|s| s.leaves(&mut types));
        let mut atoms = self.fun.begin(&types).into_iter();
        let mut args: Vec<Option<Value<'a>>> =
            structures.iter().map(|s| s.as_ref().map(|s| s.fill(&mut atoms))).collect();
        let mut sizes: Vec<(NodeId, Value<'a>)> = Vec::new();
        for (name, size) in &call.hidden {
            let atom = if size.constant().is_some() { Some(*size) } else { atoms.next() };
            sizes.extend(atom.map(|atom| (*name, Value::Atom(atom))));
        }
        let inside: HashMap<Atom, Atom> = call.captured.iter().copied().zip(atoms.by_ref()).collect();
        for ((constant, _), structure) in call.constants.iter().zip(constants) {
            let value = structure.fill(&mut atoms);
            let ty = self.checker.global(*constant).ty;
            self.know_sizes(&Context::empty(), &ty, &value);
            self.constants.insert(*constant, value);
        }
        let mut put = |atom: Atom| match atom {
            Atom::Const(_) => Some(atom),
            Atom::Var(_) => inside.get(&atom).copied(),
        };
        let mut mapping = Mapping { put: &mut put, scopes: HashMap::new(), found: HashMap::new() };
        for (slot, arg) in args.iter_mut().zip(&call.args) {
            if slot.is_none() {
                *slot = Some(mapping.value(arg));
            }
        }
        let args: Vec<Value<'a>> = args.into_iter().flatten().collect();
        if let Some(instance) = &reserved
            && !call.captured.is_empty() | args.iter().any(Value::has_function)
        {
            // The functions as the body sees them make the same key.
            let hidden = sizes.iter().filter_map(|(n, v)| match v {
                Value::Atom(atom) => Some((*n, *atom)),
                _ => None,
            });
            let inner = Call {
                id: call.id,
                types: call.types.clone(),
                args: args.clone(),
                hidden: hidden.collect(),
                captured: Vec::new(),
                constants: Vec::new(),
                span: call.span,
            };
            let key = self.key(&inner)?;
            self.kept.extend(args.iter().filter(|arg| arg.has_function()).cloned());
            self.instances.insert(key, instance.clone());
        }
        let instance = Use { types: call.types.clone(), sizes: sizes.into() };
        let value = self.expand_in(call.id, &instance, args, Within::default())?;
        let result = self.structure_of(&value, bind.body.at.span)?;
        let Some(reserved) = reserved else {
            return Ok(Instance { id: self.finish_fun(bind.name.text, value.parts()), result });
        };
        if reserved.result != result {
            return self.refuse(bind.name.at.span, "the result of this recursive function");
        }
        self.program.funs[reserved.id] = self.close_fun(bind.name.text, value.parts());
        Ok(reserved)
    }

    /// The variables that functions among the arguments capture, in the order in which they are met.
    fn captured(&self, args: &[Value<'a>]) -> Vec<Atom> {
        let mut all: Vec<Atom> = Vec::new();
        let mut put = |atom: Atom| {
            if let Atom::Var(_) = atom
                && self.fun.visible(atom)
                && !all.contains(&atom)
            {
                all.push(atom);
            }
            Some(atom)
        };
        let mut mapping = Mapping { put: &mut put, scopes: HashMap::new(), found: HashMap::new() };
        args.iter().filter(|a| a.has_function()).for_each(|a| {
            mapping.value(a);
        });
        all
    }
}

/// The functions in a value, by identity.
fn pointers(value: &Value<'_>) -> Vec<usize> {
    match value {
        Value::Fun(closure) => vec![Rc::as_ptr(closure) as usize],
        Value::Record(fields) => fields.iter().flat_map(|(_, v)| pointers(v)).collect(),
        Value::Sum(sum) => match &sum.known {
            Some((k, payload)) => [*k].into_iter().chain(payload.iter().flat_map(pointers)).collect(),
            None => Vec::new(),
        },
        Value::Acc(_, inner) => pointers(inner),
        Value::Atom(_) | Value::Unit(_) | Value::Size(_) => Vec::new(),
    }
}

/// A way through a value and all that it captures, which puts other atoms in the place of its atoms. A size that has no
/// atom any more is forgotten.
struct Mapping<'m, 'a> {
    put: &'m mut dyn FnMut(Atom) -> Option<Atom>,
    scopes: HashMap<*const Node<'a>, Rc<Node<'a>>>,
    found: HashMap<*const Found, Rc<Found>>,
}

impl<'a> Mapping<'_, 'a> {
    fn atom(&mut self, atom: Atom) -> Atom {
        // Without a place of its own it is not visible where the value is used, so nobody asks for it.
        (self.put)(atom).unwrap_or(Atom::i64(0))
    }

    fn value(&mut self, value: &Value<'a>) -> Value<'a> {
        match value {
            Value::Atom(atom) => Value::Atom(self.atom(*atom)),
            Value::Unit(atom) => Value::Unit(self.atom(*atom)),
            Value::Record(fields) => {
                Value::Record(fields.iter().map(|(n, v)| (n.clone(), self.value(v))).collect())
            }
            Value::Sum(sum) => Value::Sum(Rc::new(SumValue {
                layout: sum.layout.clone(),
                parts: sum.parts.iter().map(|a| self.atom(*a)).collect(),
                known: sum
                    .known
                    .as_ref()
                    .map(|(k, payload)| (*k, payload.iter().map(|v| self.value(v)).collect())),
            })),
            Value::Acc(number, inner) => Value::Acc(*number, Rc::new(self.value(inner))),
            Value::Fun(closure) => {
                let callee = self.callee(&closure.callee);
                let args = closure.args.iter().map(|v| self.value(v)).collect();
                Value::Fun(Rc::new(Closure { callee, args }))
            }
            Value::Size(lazy) => Value::Size(Rc::new(LazySize {
                size: lazy.size.clone(),
                ctx: self.context(&lazy.ctx),
                value: Cell::new(None),
            })),
        }
    }

    fn callee(&mut self, callee: &Callee<'a>) -> Callee<'a> {
        match callee {
            Callee::Local { fun, ctx, instance } => {
                Callee::Local { fun: *fun, ctx: self.context(ctx), instance: self.instance(instance) }
            }
            Callee::Global(id, instance) => Callee::Global(*id, self.instance(instance)),
            Callee::Intrinsic(row, instance) => Callee::Intrinsic(row, self.instance(instance)),
            Callee::Right(function, right) => Callee::Right(self.value(function), self.value(right)),
            Callee::Path(steps, ctx) => Callee::Path(steps, self.context(ctx)),
            Callee::Hole(ty, ctx, span) => Callee::Hole(ty.clone(), self.context(ctx), *span),
            Callee::Member(ty, member) => Callee::Member(*ty, *member),
            Callee::Operator(op) => Callee::Operator(op),
        }
    }

    fn instance(&mut self, instance: &Use<'a>) -> Use<'a> {
        let sizes = instance.sizes.iter().map(|(n, v)| (*n, self.value(v))).collect();
        Use { types: instance.types.clone(), sizes }
    }

    fn context(&mut self, ctx: &Context<'a>) -> Context<'a> {
        let env = ctx.env.map(|root| self.node(root));
        Context { env, types: ctx.types.clone(), found: self.sizes(&ctx.found), within: ctx.within }
    }

    /// Scopes that share a part share it still.
    fn node(&mut self, node: &Rc<Node<'a>>) -> Rc<Node<'a>> {
        if let Some(done) = self.scopes.get(&Rc::as_ptr(node)) {
            return done.clone();
        }
        let mapped = Rc::new(match &**node {
            Node::Value(value) => Node::Value(self.value(value)),
            Node::Digits(links) => Node::map_links(links, |link| self.node(link)),
        });
        self.scopes.insert(Rc::as_ptr(node), mapped.clone());
        mapped
    }

    fn sizes(&mut self, found: &Rc<Found>) -> Rc<Found> {
        if let Some(done) = self.found.get(&Rc::as_ptr(found)) {
            return done.clone();
        }
        let outer = found.outer.as_ref().map(|outer| self.sizes(outer));
        let sizes = found.sizes.borrow();
        let sizes = sizes.iter().filter_map(|(n, a)| Some((*n, (self.put)(*a)?))).collect();
        let mapped = Rc::new(Found { sizes: RefCell::new(sizes), outer });
        self.found.insert(Rc::as_ptr(found), mapped.clone());
        mapped
    }
}
