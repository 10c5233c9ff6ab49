//! Sizes: their values, the names that stand for them, and the checks of those that only the run decides.

use super::build::Builder;
use super::ir::*;
use super::value::*;
use crate::names::GlobalId;
use crate::syntax::ast::*;
use crate::types::{Instance, Size, SizeExp, SizeHead, Type};
use galopvm_base::{ElemType, Scalar, ScalarOp, Span};
use std::cell::Cell;
use std::rc::Rc;

/// Sees a size of a type, the parts of the value that have it, and which of their dimensions it is.
type SeeSize<'s, B> = dyn FnMut(&mut B, &Size, &[Atom], u32) + 's;

impl<'a> Builder<'_, 'a, '_, '_> {
    /// Goes through the sizes of a type along a value, outermost first.
    pub(super) fn walk_sizes(&mut self, ty: &Type, value: &Value<'a>, dim: u32, see: &mut SeeSize<'_, Self>) {
        match self.transparent(ty) {
            Type::Array(size, elem) => {
                let parts: Vec<Atom> = (value.parts().into_iter())
                    .filter(|part| self.fun.type_of(*part).rank as u32 > dim)
                    .collect();
                see(self, &size, &parts, dim);
                self.walk_sizes(&elem, value, dim + 1, see);
            }
            Type::Record(fields) => {
                for (name, ty) in fields.iter() {
                    if let Some(part) = value.field(name).cloned() {
                        self.walk_sizes(ty, &part, dim, see);
                    }
                }
            }
            Type::Sum(constructors) => {
                let Value::Sum(sum) = value else { return };
                for (k, (_, payload)) in constructors.iter().enumerate() {
                    for (ty, part) in payload.iter().zip(sum.payload(k)) {
                        self.walk_sizes(ty, &part, dim, see);
                    }
                }
            }
            _ => {}
        }
    }

    /// Binds the names of a function type's parameters to arguments, and the sizes that are in `own` to the arguments'
    /// extents; gives the type of the result.
    pub(super) fn bind_arguments(
        &mut self,
        ctx: &mut Context<'a>,
        ty: &Type,
        args: &[Value<'a>],
        own: &dyn Fn(NodeId) -> bool,
    ) -> Type {
        let mut ty = ty.clone();
        for arg in args {
            let Type::Arrow(name, from, to) = self.transparent(&ty) else { break };
            self.bind_type_sizes(ctx, &from, arg, own);
            if let Some(name) = name {
                ctx.bind(name, arg.clone());
            }
            ty = (*to).clone();
        }
        ty
    }

    /// Binds names that are sizes of a type to the extents of a value: those that `wanted` accepts and that are not
    /// bound yet.
    pub(super) fn bind_type_sizes(
        &mut self,
        ctx: &mut Context<'a>,
        ty: &Type,
        value: &Value<'a>,
        wanted: &dyn Fn(NodeId) -> bool,
    ) {
        let mut bound: Vec<(NodeId, Atom)> = Vec::new();
        self.walk_sizes(ty, value, 0, &mut |b, size, parts, dim| {
            if let Size::Name(id) = b.checker.vars.resolve_size(size)
                && let Some(part) = parts.first()
                && wanted(id)
                && !bound.iter().any(|(name, _)| *name == id)
                && ctx.get(id).is_none()
            {
                bound.push((id, b.fun.dim(*part, dim)));
            }
        });
        for (id, extent) in bound {
            ctx.bind(id, Value::Atom(extent));
        }
    }

    /// Remembers the extents of a value that its type tells. The checker has proved them.
    pub(super) fn know_sizes(&mut self, ctx: &Context<'a>, ty: &Type, value: &Value<'a>) {
        self.know_sizes_except(ctx, ty, value, &[]);
    }

    /// As `know_sizes`, without those that mention one of some names.
    pub(super) fn know_sizes_except(
        &mut self,
        ctx: &Context<'a>,
        ty: &Type,
        value: &Value<'a>,
        unknown: &[NodeId],
    ) {
        self.walk_sizes(ty, value, 0, &mut |b, size, parts, dim| {
            let size = &b.checker.vars.zonk_size(size);
            if unknown.iter().any(|id| mentions(size, *id)) {
                return;
            }
            if let Some(extent) = b.plain_size(size, ctx) {
                for part in parts {
                    b.fun.know(*part, dim, extent);
                }
            }
        });
    }

    /// The extents of a value are those of a type, or the program ends.
    pub(super) fn check_coercion(&mut self, ctx: &Context<'a>, ty: &Type, value: &Value<'a>) {
        let mut wanted: Vec<(Atom, u32, Atom)> = Vec::new();
        self.walk_sizes(ty, value, 0, &mut |b, size, parts, dim| {
            if let Some(extent) = b.size(size, ctx) {
                wanted.extend(parts.iter().map(|part| (*part, dim, extent)));
            }
        });
        let mut checks: Vec<(Atom, Vec<Atom>)> = Vec::new();
        for (part, dim, extent) in &wanted {
            let found = self.fun.dim(*part, *dim);
            if found != *extent {
                let equal = self.fun.size_op(ScalarOp::Eq, found, *extent);
                match checks.iter_mut().find(|(p, _)| p == part) {
                    Some((_, conditions)) => conditions.push(equal),
                    None => checks.push((*part, vec![equal])),
                }
            }
        }
        for (part, conditions) in checks {
            let holds = conditions.into_iter().fold(Atom::bool(true), |all, one| {
                self.fun.scalar(ScalarOp::And, ElemType::Bool, &[all, one])
            });
            let rank = self.fun.type_of(part).rank as u32;
            let mut args: Vec<Atom> = (0..rank).map(|d| self.fun.dim(part, d)).collect();
            let shape = "[{}]".repeat(rank as usize);
            let text = self.show_sizes(ctx, ty, &mut args);
            let message =
                format!("Value of (desugared) shape {shape} cannot match shape of type \"{text}\".");
            self.fun.assert(holds, message, args);
        }
        for (part, dim, extent) in wanted {
            self.fun.know(part, dim, extent);
        }
    }

    /// A type as messages at run time show it: sizes by their values, which are added to the arguments.
    fn show_sizes(&mut self, ctx: &Context<'a>, ty: &Type, args: &mut Vec<Atom>) -> String {
        match self.checker.vars.resolve(ty) {
            Type::Unique(inner) | Type::Exists(_, inner) => self.show_sizes(ctx, &inner, args),
            Type::Array(size, elem) => {
                let size = match self.size(&size, ctx) {
                    Some(atom) => {
                        args.push(atom);
                        "{}"
                    }
                    None => "",
                };
                format!("[{size}]{}", self.show_sizes(ctx, &elem, args))
            }
            Type::Record(fields) => {
                let tuple = Type::is_tuple(&fields);
                let mut items = Vec::new();
                for (name, ty) in fields.iter() {
                    let shown = self.show_sizes(ctx, ty, args);
                    items.push(if tuple { shown } else { format!("{name}: {shown}") });
                }
                let items = items.join(", ");
                if tuple { format!("({items})") } else { format!("{{ {items} }}") }
            }
            Type::Sum(constructors) => {
                let mut items = Vec::new();
                for (name, payload) in constructors.iter() {
                    let mut text = format!("#{name}");
                    for ty in payload.iter() {
                        text += " ";
                        text += &self.show_sizes(ctx, ty, args);
                    }
                    items.push(text);
                }
                items.join(" | ")
            }
            // Braces would be taken for places of arguments.
            other => self.checker.vars.show(&other).replace("{}", "{ }"),
        }
    }

    /// Binds the sizes that an expression brings into being, from its value.
    pub(super) fn bind_found(&mut self, exp: NodeId, ctx: &Context<'a>, value: &Value<'a>) {
        let Some(ids) = self.checker.exts.get(&exp).cloned() else { return };
        let Some(ty) = self.checker.types.get(exp).cloned() else { return };
        self.bind_exts(&ids, &ty, ctx, value);
    }

    /// Binds names to the extents that a type says they are.
    pub(super) fn bind_exts(&mut self, ids: &[NodeId], ty: &Type, ctx: &Context<'a>, value: &Value<'a>) {
        let ty = self.checker.vars.substitute(ty, &ctx.types);
        let mut found: Vec<NodeId> = Vec::new();
        self.walk_sizes(&ty, value, 0, &mut |b, size, parts, dim| {
            if let Size::Name(id) = b.checker.vars.resolve_size(size)
                && let Some(part) = parts.first()
                && ids.contains(&id)
                && !found.contains(&id)
            {
                found.push(id);
                let extent = b.fun.dim(*part, dim);
                ctx.find(id, extent);
                for part in parts {
                    b.fun.know(*part, dim, extent);
                }
            }
        });
    }

    /// The value of a size, if it can be computed here.
    pub(super) fn size(&mut self, size: &Size, ctx: &Context<'a>) -> Option<Atom> {
        match self.size_value(size, ctx)? {
            Value::Atom(atom) => {
                let elem = self.fun.type_of(atom).elem;
                Some(self.fun.convert(elem, ElemType::I64, atom))
            }
            _ => None,
        }
    }

    /// The value of a size that costs nothing and cannot fail: names, numbers, and arithmetic without division.
    fn plain_size(&mut self, size: &Size, ctx: &Context<'a>) -> Option<Atom> {
        if self.is_plain(size) { self.size(size, ctx) } else { None }
    }

    fn is_plain(&self, size: &Size) -> bool {
        match size {
            Size::Const(_) => true,
            // What a constant tells is for nothing only if the constant is there.
            Size::Name(id) => {
                let constant = self.checker.constant_sizes.get(id);
                constant.is_none_or(|global| self.constants.contains_key(global))
            }
            Size::Exp(exp) => {
                matches!(exp.head, SizeHead::Operator("+" | "-" | "*"))
                    && exp.args.iter().all(|arg| self.is_plain(arg))
            }
            Size::Any | Size::Var(_) => false,
        }
    }

    /// The value of a size or of a part of one.
    fn size_value(&mut self, size: &Size, ctx: &Context<'a>) -> Option<Value<'a>> {
        match self.checker.vars.resolve_size(size) {
            Size::Const(n) => Some(Value::Atom(Atom::i64(n))),
            Size::Name(id) => self.named_size(id, ctx),
            Size::Exp(exp) => self.size_exp(&exp, ctx),
            Size::Any | Size::Var(_) => None,
        }
    }

    fn named_size(&mut self, id: NodeId, ctx: &Context<'a>) -> Option<Value<'a>> {
        match ctx.get(id) {
            Some(Value::Size(lazy)) => self.force(&lazy).map(Value::Atom),
            Some(Value::Atom(atom)) if !self.fun.visible(atom) => None,
            Some(value) => Some(value),
            None => {
                let span = self.fun.span?;
                if let Some(view) = self.view_named(id) {
                    return self.view(view, &Use::none(), span, ctx).ok();
                }
                if let Some(global) = self.checker.constant_sizes.get(&id).copied() {
                    return self.constant_size(global, id, span).map(Value::Atom);
                }
                let global = self.global_named(id)?;
                let constant = self.checker.names.globals[global].bind.params.is_empty();
                constant.then(|| self.constant(global, &Use::none(), span).ok()).flatten()
            }
        }
    }

    /// An extent of a constant's value, once there is one.
    fn constant_size(&mut self, global: GlobalId, id: NodeId, span: Span) -> Option<Atom> {
        if self.opening.contains(&global) {
            return None;
        }
        let value = self.constant(global, &Use::none(), span).ok()?;
        let ty = self.checker.global(global).ty;
        let mut extent = None;
        self.walk_sizes(&ty, &value, 0, &mut |b, size, parts, dim| {
            if let (Size::Name(name), Some(part)) = (b.checker.vars.resolve_size(size), parts.first())
                && name == id
                && extent.is_none()
            {
                extent = Some(b.fun.dim(*part, dim));
            }
        });
        extent
    }

    /// The value of a size in its own scope.
    pub(super) fn force(&mut self, lazy: &LazySize<'a>) -> Option<Atom> {
        if let Some(known) = lazy.value.get()
            && self.fun.visible(known)
        {
            return Some(known);
        }
        let value = self.size(&lazy.size, &lazy.ctx)?;
        lazy.value.set(Some(value));
        Some(value)
    }

    fn size_exp(&mut self, exp: &SizeExp, ctx: &Context<'a>) -> Option<Value<'a>> {
        let span = self.fun.span?;
        if let SizeHead::If = exp.head {
            let [condition, yes, no] = exp.args.as_slice() else { return None };
            let Value::Atom(condition) = self.size_value(condition, ctx)? else { return None };
            let refused = |b: &Self| b.refuse(span, "this size");
            return self
                .if_exp(
                    condition,
                    span,
                    &mut |b| b.size_value(yes, ctx).map_or_else(|| refused(b), Ok),
                    &mut |b| b.size_value(no, ctx).map_or_else(|| refused(b), Ok),
                )
                .ok();
        }
        let mut args = Vec::new();
        for arg in &exp.args {
            args.push(self.size_value(arg, ctx)?);
        }
        match &exp.head {
            SizeHead::Operator(op) => self.operator(op, args, span).ok(),
            SizeHead::Global(res, node, _) => {
                let instance = self.instance(*node, ctx);
                self.resolved(*res, instance, span, ctx).ok()
            }
            SizeHead::Apply => {
                let function = args.remove(0);
                self.apply(function, args, span).ok()
            }
            SizeHead::Field(name) => args.first()?.field(name).cloned(),
            SizeHead::Index => {
                let value = args.remove(0);
                let mut dims = Vec::new();
                for arg in args {
                    let Value::Atom(atom) = arg else { return None };
                    let elem = self.fun.type_of(atom).elem;
                    dims.push(SliceDim::At(self.fun.convert(elem, ElemType::I64, atom)));
                }
                self.index(&value, &dims, span).ok()
            }
            SizeHead::Literal(scalar) => Some(Value::Atom(Atom::Const(*scalar))),
            SizeHead::Tuple => Some(Value::tuple(args)),
            SizeHead::Record(names) => Some(Value::Record(names.iter().cloned().zip(args).collect())),
            SizeHead::Array => self.array_of(&args, None, span).ok(),
            SizeHead::Negate | SizeHead::Not => {
                let Some(Value::Atom(atom)) = args.first() else { return None };
                let op = if matches!(exp.head, SizeHead::Not) { ScalarOp::Not } else { ScalarOp::Neg };
                let ty = self.fun.type_of(*atom).elem;
                Some(Value::Atom(self.fun.scalar(op, ty, &[*atom])))
            }
            SizeHead::If => None,
        }
    }

    /// What a use of a polymorphic name chose, in terms of the current instance.
    pub(super) fn instance(&mut self, id: NodeId, ctx: &Context<'a>) -> Use<'a> {
        match self.checker.instances.get(&id).cloned() {
            Some(chosen) => self.use_of(&chosen, ctx),
            None => Use::none(),
        }
    }

    /// What was chosen in some scope.
    pub(super) fn use_of(&mut self, chosen: &Instance, ctx: &Context<'a>) -> Use<'a> {
        let mut sizes = Vec::new();
        let mut types = Vec::new();
        for (param, ty) in &chosen.types {
            let ty = self.checker.vars.substitute(ty, &ctx.types);
            types.push((*param, self.close(&ty, ctx, &mut sizes)));
        }
        for (param, size) in &chosen.sizes {
            sizes.push((*param, lazy(size.clone(), ctx)));
        }
        Use { types: types.into(), sizes: sizes.into() }
    }

    /// A type that means the same in every scope that binds `sizes`: its sizes get names of their own.
    fn close(&mut self, ty: &Type, ctx: &Context<'a>, sizes: &mut Vec<(NodeId, Value<'a>)>) -> Type {
        match self.checker.vars.resolve(ty) {
            Type::Array(size, elem) => {
                let size = match self.checker.vars.resolve_size(&size) {
                    known @ (Size::Const(_) | Size::Any) => known,
                    Size::Var(_) => Size::Any,
                    other => {
                        let id = self.checker.names.fresh_id();
                        sizes.push((id, lazy(other, ctx)));
                        Size::Name(id)
                    }
                };
                Type::array(size, self.close(&elem, ctx, sizes))
            }
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(n, t)| (n.clone(), self.close(t, ctx, sizes))).collect())
            }
            Type::Sum(constructors) => {
                let mut all = Vec::new();
                for (name, payload) in constructors.iter() {
                    let payload: Rc<[Type]> = payload.iter().map(|t| self.close(t, ctx, sizes)).collect();
                    all.push((name.clone(), payload));
                }
                Type::Sum(all.into())
            }
            opaque @ Type::Opaque(..) => match self.transparent(&opaque) {
                // An accumulator: what it is of comes with its value.
                Type::Opaque(..) => opaque,
                inner => self.close(&inner, ctx, sizes),
            },
            Type::Unique(inner) => self.close(&inner, ctx, sizes),
            other => other,
        }
    }

    /// An array of zeros, or a zero.
    pub(super) fn zeros(&mut self, elem: ElemType, extents: &[Atom]) -> Atom {
        let mut atom = Atom::Const(Scalar::new(elem, 0));
        for (k, extent) in extents.iter().enumerate().rev() {
            let ty = self.fun.type_of(atom).array_of();
            atom = self.fun.emit(Op::Replicate { count: *extent, value: atom }, ty);
            for (d, known) in extents[k..].iter().enumerate() {
                self.fun.know(atom, d as u32, *known);
            }
        }
        atom
    }

    /// True if all extents of a value of a type can be computed here.
    pub(super) fn tells_extents(&mut self, ty: &Type, ctx: &Context<'a>) -> bool {
        match self.transparent(ty) {
            Type::Array(size, elem) => self.size(&size, ctx).is_some() && self.tells_extents(&elem, ctx),
            Type::Record(fields) => fields.iter().all(|(_, t)| self.tells_extents(t, ctx)),
            Type::Sum(constructors) => constructors
                .iter()
                .flat_map(|(_, payload)| payload.iter())
                .all(|t| self.tells_extents(t, ctx)),
            _ => true,
        }
    }

    /// The extents of each part of a value of a type; those that cannot be computed here are 0.
    pub(super) fn part_extents(&mut self, ty: &Type, ctx: &Context<'a>, span: Span) -> Vec<Vec<Atom>> {
        match self.transparent(ty) {
            Type::Array(size, elem) => {
                let outer = self.size(&size, ctx).unwrap_or(Atom::i64(0));
                let mut parts = self.part_extents(&elem, ctx, span);
                if parts.is_empty() {
                    parts.push(Vec::new());
                }
                for part in &mut parts {
                    part.insert(0, outer);
                }
                parts
            }
            Type::Record(fields) => {
                fields.iter().flat_map(|(_, t)| self.part_extents(t, ctx, span)).collect()
            }
            Type::Sum(constructors) => {
                let Ok(Structure::Sum(layout, _)) = self.structure(ty, span) else { return Vec::new() };
                let mut parts = vec![Vec::new(); layout.slots.len() + 1];
                for ((_, payload), constructor) in constructors.iter().zip(&layout.constructors) {
                    let extents: Vec<Vec<Atom>> =
                        payload.iter().flat_map(|t| self.part_extents(t, ctx, span)).collect();
                    for (slot, extents) in constructor.slots.iter().zip(extents) {
                        parts[slot + 1] = extents;
                    }
                }
                parts
            }
            Type::Prim(_) => vec![Vec::new()],
            _ => Vec::new(),
        }
    }
}

/// A size to be computed when it is needed.
fn lazy<'a>(size: Size, ctx: &Context<'a>) -> Value<'a> {
    match size {
        Size::Const(n) => Value::Atom(Atom::i64(n)),
        size => Value::Size(Rc::new(LazySize { size, ctx: ctx.clone(), value: Cell::new(None) })),
    }
}

/// True if a size mentions a name.
fn mentions(size: &Size, id: NodeId) -> bool {
    match size {
        Size::Name(name) => *name == id,
        Size::Exp(exp) => exp.args.iter().any(|arg| mentions(arg, id)),
        Size::Any | Size::Const(_) | Size::Var(_) => false,
    }
}
