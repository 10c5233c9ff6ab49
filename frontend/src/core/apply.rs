//! Applications: functions expanded or called, parameters bound, written sizes checked.

use super::build::{Builder, Built, Instance};
use super::emit::FunState;
use super::ir::*;
use super::value::*;
use crate::names::{GlobalId, Res};
use crate::syntax::ast::*;
use crate::types::{Size, Type};
use galopvm_base::{Diagnostic, ElemType, ScalarOp, Span};
use galopvm_bytecode::ValueType;
use galopvm_stdlib::{Lowering, Member};
use std::rc::Rc;

/// Definitions with at most this many nodes are expanded where they are applied.
const SMALL: usize = 80;
/// Inside parallel operators larger ones are expanded too: the operator's body should be one piece.
const SMALL_IN_OPERATOR: usize = 1500;
/// After this many expansions only what must be expanded is.
const MANY_EXPANSIONS: usize = 20_000;
/// Expansions inside expansions; a program that needs more is refused.
const MAX_DEPTH: usize = 400;

/// How messages of failed size checks begin.
const SHAPE_MESSAGE: &str = "Value of (core language) shape ({}) cannot match shape of type";

impl<'a> Builder<'_, 'a, '_, '_> {
    /// A function applied to arguments, perhaps fewer or more than it takes at once.
    pub(super) fn apply(
        &mut self,
        function: Value<'a>,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Built<Value<'a>> {
        let mut function = function;
        let mut args = args.into_iter().peekable();
        while args.peek().is_some() {
            let Value::Fun(closure) = &function else { return self.refuse(span, "applying this") };
            let arity = self.arity(&closure.callee);
            let mut given = closure.args.clone();
            given.extend(args.by_ref().take(arity.saturating_sub(given.len())));
            let callee = closure.callee.clone();
            function = if given.len() < arity {
                Value::Fun(Rc::new(Closure { callee, args: given }))
            } else {
                self.invoke(callee, given, span)?
            };
        }
        Ok(function)
    }

    fn arity(&self, callee: &Callee<'a>) -> usize {
        match callee {
            Callee::Local { fun, .. } => fun.params.len(),
            Callee::Global(id, _) => self.checker.names.globals[*id].bind.params.len(),
            Callee::Intrinsic(row, _) => match row.lowering {
                Lowering::Map | Lowering::Replicate | Lowering::Concat => 2,
                Lowering::Reduce | Lowering::Scan => 3,
                Lowering::Zip => row.name.strip_prefix("zip").and_then(|n| n.parse().ok()).unwrap_or(2),
                _ => 1,
            },
            Callee::Member(_, Member::Op(op)) => op.arity(),
            Callee::Member(..) => 1,
            Callee::Operator(op) => {
                if *op == "!" {
                    1
                } else {
                    2
                }
            }
            Callee::Right(..) | Callee::Path(..) => 1,
        }
    }

    fn invoke(&mut self, callee: Callee<'a>, args: Vec<Value<'a>>, span: Span) -> Built<Value<'a>> {
        if self.depth >= MAX_DEPTH {
            return self.refuse(span, "expanding functions this deep");
        }
        self.depth += 1;
        let result = self.invoke_inner(callee, args, span);
        self.depth -= 1;
        result
    }

    fn invoke_inner(&mut self, callee: Callee<'a>, args: Vec<Value<'a>>, span: Span) -> Built<Value<'a>> {
        match callee {
            Callee::Local { fun, ctx, instance } => self.expand(&fun, ctx, &instance, args),
            Callee::Global(id, instance) => self.invoke_global(id, &instance, args, span),
            Callee::Intrinsic(row, instance) => self.intrinsic(row, &instance, args, span),
            Callee::Member(ty, member) => {
                let atoms: Built<Vec<Atom>> = args.iter().map(|a| self.atom(a, span)).collect();
                let atoms = atoms?;
                Ok(Value::Atom(match member {
                    Member::Op(op) => self.scalar_op(op, ty, &atoms),
                    Member::From(from) => self.conversion(from, ty, atoms[0]),
                    Member::To(to) => self.conversion(ty, to, atoms[0]),
                    Member::Const(scalar) => Atom::Const(scalar),
                }))
            }
            Callee::Operator(op) => self.operator(op, args, span),
            Callee::Right(function, right) => {
                let mut both = args;
                both.push(right);
                self.apply(function, both, span)
            }
            Callee::Path(steps, ctx) => {
                let mut value = args.into_iter().next().unwrap_or(Value::tuple(Vec::new()));
                for step in steps {
                    value = match step {
                        Step::Field(name) => match value.field(name.text) {
                            Some(part) => part.clone(),
                            None => return self.refuse(span, "this projection"),
                        },
                        Step::Index(dims) => {
                            let dims = self.dims(dims, &ctx)?;
                            self.index(&value, &dims, span)?
                        }
                    };
                }
                Ok(value)
            }
        }
    }

    /// A conversion as the language has it: from a signed to a wider unsigned type the bits are kept.
    fn conversion(&mut self, from: ElemType, to: ElemType, a: Atom) -> Atom {
        let unsigned = match from {
            ElemType::I8 => ElemType::U8,
            ElemType::I16 => ElemType::U16,
            ElemType::I32 => ElemType::U32,
            _ => from,
        };
        if to.is_unsigned() && unsigned != from {
            let bits = self.fun.convert(from, unsigned, a);
            return self.fun.convert(unsigned, to, bits);
        }
        self.fun.convert(from, to, a)
    }

    /// A scalar operation as the language has it: integer powers need an exponent that is not negative.
    fn scalar_op(&mut self, op: ScalarOp, ty: ElemType, args: &[Atom]) -> Atom {
        if let (ScalarOp::Pow, [_, exponent]) = (op, args)
            && ty.is_signed()
        {
            let zero = Atom::Const(galopvm_base::Scalar::from_int(ty, 0));
            let valid = self.fun.scalar(ScalarOp::Ge, ty, &[*exponent, zero]);
            self.fun.assert(valid, "Negative exponent used.".to_string(), Vec::new());
        }
        self.fun.scalar(op, ty, args)
    }

    fn operator(&mut self, op: &str, args: Vec<Value<'a>>, span: Span) -> Built<Value<'a>> {
        match (op, args.as_slice()) {
            ("|>", [a, f]) => self.apply(f.clone(), vec![a.clone()], span),
            ("<|", [f, a]) => self.apply(f.clone(), vec![a.clone()], span),
            ("&&" | "||", [a, b]) => {
                let a = self.atom(a, span)?;
                let b = b.clone();
                self.logic(op == "&&", a, span, &mut |_| Ok(b.clone()))
            }
            ("!", [a]) => {
                let a = self.atom(a, span)?;
                let ty = self.fun.type_of(a).elem;
                Ok(Value::Atom(self.fun.scalar(ScalarOp::Not, ty, &[a])))
            }
            ("==", [a, b]) => Ok(Value::Atom(self.equal(a, b, span)?)),
            ("!=", [a, b]) => {
                let equal = self.equal(a, b, span)?;
                // `x != y` on scalars has an operation of its own.
                if let (Value::Atom(a), Value::Atom(b)) = (a, b) {
                    let ty = self.fun.type_of(*a).elem;
                    return Ok(Value::Atom(self.fun.scalar(ScalarOp::Ne, ty, &[*a, *b])));
                }
                Ok(Value::Atom(self.fun.scalar(ScalarOp::Not, ElemType::Bool, &[equal])))
            }
            (_, [a, b]) => {
                let (a, b) = (self.atom(a, span)?, self.atom(b, span)?);
                let ty = self.fun.type_of(a).elem;
                match galopvm_stdlib::operator(op) {
                    Some(op) if op.accepts(ty) => Ok(Value::Atom(self.scalar_op(op, ty, &[a, b]))),
                    _ => self.refuse(span, "this operator"),
                }
            }
            _ => self.refuse(span, "this operator"),
        }
    }

    fn equal(&mut self, a: &Value<'a>, b: &Value<'a>, span: Span) -> Built<Atom> {
        match (a, b) {
            (Value::Atom(a), Value::Atom(b)) => {
                let ty = self.fun.type_of(*a);
                if !ty.is_scalar() {
                    return self.refuse(span, "comparing arrays");
                }
                Ok(self.fun.scalar(ScalarOp::Eq, ty.elem, &[*a, *b]))
            }
            (Value::Record(xs), Value::Record(ys)) => {
                let mut all = Atom::bool(true);
                for ((_, x), (_, y)) in xs.iter().zip(ys.iter()) {
                    let part = self.equal(x, y, span)?;
                    all = self.fun.scalar(ScalarOp::And, ElemType::Bool, &[all, part]);
                }
                Ok(all)
            }
            _ => self.refuse(span, "comparing functions"),
        }
    }

    /// Expands a definition with arguments.
    pub(super) fn expand_global(
        &mut self,
        id: GlobalId,
        instance: &Use<'a>,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Built<Value<'a>> {
        self.expansions += 1;
        // Checks it if it is of the prelude and new.
        self.checker.global(id);
        let bind = self.checker.names.globals[id].bind;
        let fun = LocalFun {
            type_params: bind.type_params,
            params: bind.params,
            result: bind.result,
            body: bind.body,
        };
        let ctx = Context::empty(Rc::from([]));
        // Inside the prelude, messages and places point to the caller.
        let place = (!self.checker.names.globals[id].user).then_some(span);
        let outer = self.fun.hold(place);
        let value = self.expand(&fun, ctx, instance, args);
        self.fun.release(outer);
        value
    }

    fn expand(
        &mut self,
        fun: &LocalFun<'a>,
        ctx: Context<'a>,
        instance: &Use<'a>,
        args: Vec<Value<'a>>,
    ) -> Built<Value<'a>> {
        let mut ctx = ctx;
        let types: Vec<(NodeId, Type)> = ctx.types.iter().chain(instance.types.iter()).cloned().collect();
        ctx.types = types.into();
        let own: Vec<NodeId> = fun
            .type_params
            .iter()
            .filter_map(|p| match p {
                TypeParam::Size(name) => Some(name.at.id),
                TypeParam::Type(..) => None,
            })
            .collect();
        let mut scope = ctx.clone();
        for (pat, arg) in fun.params.iter().zip(&args) {
            self.bind_sizes(&mut scope, &own, pat, arg);
        }
        for (id, value) in instance.sizes.iter() {
            if scope.get(*id).is_none() {
                scope.bind(*id, value.clone());
            }
        }
        for (pat, arg) in fun.params.iter().zip(&args) {
            self.bind(&mut scope, pat, arg)?;
        }
        let value = self.eval(fun.body, &scope)?;
        if let Some(ty) = fun.result {
            self.check_type(&scope, ty, &value);
        }
        Ok(value)
    }

    /// Calls or expands a definition.
    fn invoke_global(
        &mut self,
        id: GlobalId,
        instance: &Use<'a>,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Built<Value<'a>> {
        let global = self.checker.names.globals[id];
        let attribute = |name: &str| global.attrs.iter().any(|a| a.name == name);
        let size = self.size_of(id);
        let small = if self.fun.soacs > 0 { SMALL_IN_OPERATOR } else { SMALL };
        let inline = !global.user
            || args.iter().any(Value::has_function)
            || !instance.sizes.is_empty() && self.needs_sizes(id)
            || gives_function(&self.checker.global(id).ty, args.len(), &instance.types)
            || attribute("inline")
            || size <= small && self.expansions < MANY_EXPANSIONS && !attribute("noinline");
        if inline {
            return self.expand_global(id, instance, args, span);
        }
        let mut structures = Vec::new();
        for arg in &args {
            structures.push(self.structure_of(arg, span)?);
        }
        let types: Vec<String> = instance.types.iter().map(|(_, t)| self.checker.vars.show(t)).collect();
        let key = format!("{id} {structures:?} {types:?}");
        let built = match self.instances.get(&key) {
            Some(built) => built.clone(),
            None => {
                let built = self.build_global(id, instance, &structures, span)?;
                self.instances.insert(key, built.clone());
                built
            }
        };
        let mut atoms = Vec::new();
        args.iter().for_each(|a| a.leaves(&mut atoms));
        let mut result_types = Vec::new();
        built.result.leaves(&mut result_types);
        let results = self.fun.emit_all(Op::Call(built.id, atoms), &result_types);
        Ok(built.result.fill(&mut results.into_iter()))
    }

    /// A function of its own for arguments of these structures.
    fn build_global(
        &mut self,
        id: GlobalId,
        instance: &Use<'a>,
        structures: &[Structure],
        span: Span,
    ) -> Built<Instance> {
        let bind = self.checker.names.globals[id].bind;
        let own = FunState::at(bind.name.at.span);
        let outer = std::mem::replace(&mut self.fun, own);
        let constants = std::mem::take(&mut self.constants);
        let built = self.build_body(id, instance, structures, span);
        self.fun = outer;
        self.constants = constants;
        built
    }

    fn build_body(
        &mut self,
        id: GlobalId,
        instance: &Use<'a>,
        structures: &[Structure],
        span: Span,
    ) -> Built<Instance> {
        let bind = self.checker.names.globals[id].bind;
        let mut leaves = Vec::new();
        structures.iter().for_each(|s| s.leaves(&mut leaves));
        let mut atoms = self.fun.begin(&leaves).into_iter();
        let args = structures.iter().map(|s| s.fill(&mut atoms)).collect();
        let value = self.expand_global(id, instance, args, span)?;
        let result = self.structure_of(&value, bind.body.at.span)?;
        let id = self.finish_fun(bind.name.text, value.parts());
        Ok(Instance { id, result })
    }

    /// True if a size parameter of the definition cannot be read off its arguments.
    fn needs_sizes(&self, id: GlobalId) -> bool {
        let bind = self.checker.names.globals[id].bind;
        let mut found = Vec::new();
        for pat in bind.params {
            self.sizes_in_pat(pat, &mut found);
        }
        bind.type_params.iter().any(|p| matches!(p, TypeParam::Size(name) if !found.contains(&name.at.id)))
    }

    fn sizes_in_pat(&self, pat: &Pat<'a>, out: &mut Vec<NodeId>) {
        match pat.kind {
            PatKind::Ascript(inner, ty) => {
                if let Some(ty) = self.checker.types.get(&ty.at.id) {
                    plain_sizes(ty, out);
                }
                self.sizes_in_pat(inner, out);
            }
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => self.sizes_in_pat(inner, out),
            PatKind::Tuple(items) => items.iter().for_each(|p| self.sizes_in_pat(p, out)),
            PatKind::Record(fields) => fields.iter().for_each(|(_, p)| self.sizes_in_pat(p, out)),
            PatKind::Id(_) | PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => {}
        }
    }

    /// Number of nodes of a definition; none if it uses constants that should be computed once per entry point
    /// rather than once per call.
    fn size_of(&mut self, id: GlobalId) -> usize {
        if let Some(size) = self.sizes.get(&id) {
            return *size;
        }
        let bind = self.checker.names.globals[id].bind;
        // Node numbers inside the body lie between the body's first and its own, which is given last.
        let body = bind.body.at.id.0;
        let first = bind.name.at.id.0;
        let mut constants = false;
        for node in first..body {
            if let Some(used) = self.checker.names.uses.get(&NodeId(node))
                && let Res::Global(other) = used.res
            {
                let global = self.checker.names.globals[other];
                let scalar = matches!(self.checker.global(other).ty, Type::Prim(_));
                constants |= global.user && global.bind.params.is_empty() && !scalar;
            }
        }
        let size = if constants { 0 } else { (body - first) as usize };
        self.sizes.insert(id, size);
        size
    }

    /// Binds size parameters that stand alone in a pattern's types to the extents of a value.
    pub(super) fn bind_sizes(
        &mut self,
        ctx: &mut Context<'a>,
        own: &[NodeId],
        pat: &'a Pat<'a>,
        value: &Value<'a>,
    ) {
        if own.is_empty() {
            return;
        }
        match pat.kind {
            PatKind::Ascript(inner, ty) => {
                if let Some(ty) = self.checker.types.get(&ty.at.id).cloned() {
                    self.bind_type_sizes(ctx, own, &ty, value, 0);
                }
                self.bind_sizes(ctx, own, inner, value);
            }
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => self.bind_sizes(ctx, own, inner, value),
            PatKind::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    if let Some(part) = value.field(&i.to_string()).cloned() {
                        self.bind_sizes(ctx, own, item, &part);
                    }
                }
            }
            PatKind::Record(fields) => {
                for (name, item) in fields {
                    if let Some(part) = value.field(name.text).cloned() {
                        self.bind_sizes(ctx, own, item, &part);
                    }
                }
            }
            PatKind::Id(_) | PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => {}
        }
    }

    fn bind_type_sizes(
        &mut self,
        ctx: &mut Context<'a>,
        own: &[NodeId],
        ty: &Type,
        value: &Value<'a>,
        dim: u32,
    ) {
        match ty {
            Type::Array(size, elem) => {
                if let Size::Name(id) = size
                    && own.contains(id)
                    && ctx.get(*id).is_none()
                    && let Some(leaf) = value.parts().first()
                {
                    let extent = self.fun.dim(*leaf, dim);
                    ctx.bind(*id, Value::Atom(extent));
                }
                self.bind_type_sizes(ctx, own, elem, value, dim + 1);
            }
            Type::Record(fields) => {
                for (name, ty) in fields.iter() {
                    if let Some(part) = value.field(name).cloned() {
                        self.bind_type_sizes(ctx, own, ty, &part, dim);
                    }
                }
            }
            _ => {}
        }
    }

    /// Binds the names of a pattern; sizes in its types are checked.
    pub(super) fn bind(&mut self, ctx: &mut Context<'a>, pat: &'a Pat<'a>, value: &Value<'a>) -> Built<()> {
        match pat.kind {
            PatKind::Id(_) => ctx.bind(pat.at.id, value.clone()),
            PatKind::Wildcard => {}
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => self.bind(ctx, inner, value)?,
            PatKind::Ascript(inner, ty) => {
                self.check_type(ctx, ty, value);
                self.bind(ctx, inner, value)?;
            }
            PatKind::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    match value.field(&i.to_string()).cloned() {
                        Some(part) => self.bind(ctx, item, &part)?,
                        None => return self.refuse(item.at.span, "this pattern"),
                    }
                }
            }
            PatKind::Record(fields) => {
                for (name, item) in fields {
                    match value.field(name.text).cloned() {
                        Some(part) => self.bind(ctx, item, &part)?,
                        None => return self.refuse(item.at.span, "this pattern"),
                    }
                }
            }
            PatKind::Lit(_) | PatKind::Constr(..) => {
                return self.refuse(pat.at.span, "a pattern that can fail");
            }
        }
        Ok(())
    }

    /// Checks the sizes of a written type against the extents of a value, when the program runs.
    pub(super) fn check_type(&mut self, ctx: &Context<'a>, written: &'a TypeExp<'a>, value: &Value<'a>) {
        let Some(ty) = self.checker.types.get(&written.at.id).cloned() else { return };
        let outer = self.fun.span.replace(written.at.span);
        self.check_sizes(ctx, &ty, &ty, value, 0);
        self.fun.span = outer;
    }

    fn check_sizes(&mut self, ctx: &Context<'a>, whole: &Type, ty: &Type, value: &Value<'a>, dim: u32) {
        match ty {
            Type::Array(size, elem) => {
                if let Some(wanted) = self.size(size, ctx) {
                    for leaf in value.parts() {
                        let extent = self.fun.dim(leaf, dim);
                        let message = format!("{SHAPE_MESSAGE} `{}`.", self.checker.vars.show(whole));
                        self.fun.assert_equal(extent, wanted, &message, &[extent]);
                        self.fun.know(leaf, dim, wanted);
                    }
                }
                self.check_sizes(ctx, whole, elem, value, dim + 1);
            }
            Type::Record(fields) => {
                for (name, ty) in fields.iter() {
                    if let Some(part) = value.field(name).cloned() {
                        self.check_sizes(ctx, whole, ty, &part, dim);
                    }
                }
            }
            _ => {}
        }
    }

    /// A function's body as a block over parameters of these structures, whose extents are those given; also what
    /// is known outside of the block about the extents of its results.
    pub(super) fn operator_block(
        &mut self,
        function: &Value<'a>,
        params: &[Structure],
        shapes: &[Vec<Option<Atom>>],
        span: Span,
    ) -> Built<OperatorBlock> {
        let mut types = Vec::new();
        params.iter().for_each(|s| s.leaves(&mut types));
        self.fun.soacs += 1;
        let atoms = self.fun.begin(&types);
        for (atom, shape) in atoms.iter().zip(shapes) {
            self.know_all(*atom, shape);
        }
        let mut atoms = atoms.into_iter();
        let args = params.iter().map(|s| s.fill(&mut atoms)).collect();
        let value = self.apply(function.clone(), args, span)?;
        let structure = self.structure_of(&value, span)?;
        let results = value.parts();
        let mut shapes: Vec<Vec<Option<Atom>>> = results.iter().map(|r| self.fun.known_shape(*r)).collect();
        let block = self.fun.end(results);
        self.fun.soacs -= 1;
        for extent in shapes.iter_mut().flatten() {
            *extent = extent.filter(|e| self.fun.visible(*e));
        }
        Ok(OperatorBlock { block, structure, shapes })
    }

    fn intrinsic(
        &mut self,
        row: &'static galopvm_stdlib::Intrinsic,
        instance: &Use<'a>,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Built<Value<'a>> {
        match (row.lowering, args.as_slice()) {
            (Lowering::Map, [function, arrays]) => self.map(function, arrays, span),
            (Lowering::Reduce, [op, neutral, arrays]) => self.reduce(op, neutral, arrays, false, span),
            (Lowering::Scan, [op, neutral, arrays]) => self.reduce(op, neutral, arrays, true, span),
            (Lowering::Zip, arrays) => self.zip(arrays, span),
            (Lowering::Unzip | Lowering::Identity, [value]) => Ok(value.clone()),
            (Lowering::Iota, [count]) => {
                let count = self.atom(count, span)?;
                let ty = ElemType::I64;
                let op = Op::Iota { ty, count, start: Atom::i64(0), step: Atom::i64(1) };
                let array = self.fun.emit(op, ValueType::array(ty, 1));
                self.fun.know(array, 0, count);
                Ok(Value::Atom(array))
            }
            (Lowering::Replicate, [count, value]) => {
                let count = self.atom(count, span)?;
                self.each(value, span, &mut |b, part| {
                    let ty = b.fun.type_of(part).array_of();
                    let array = b.fun.emit(Op::Replicate(count, part), ty);
                    b.fun.know(array, 0, count);
                    for d in 1..ty.rank as u32 {
                        if let Some(extent) = b.fun.known(part, d - 1) {
                            b.fun.know(array, d, extent);
                        }
                    }
                    array
                })
            }
            (Lowering::Transpose, [value]) => self.each(value, span, &mut |b, part| {
                let (Atom::Var(var), ty) = (part, b.fun.type_of(part)) else { return part };
                let mut perm: Vec<u32> = (0..ty.rank as u32).collect();
                perm.swap(0, 1);
                let known: Vec<Option<Atom>> = perm.iter().map(|d| Some(b.fun.dim(part, *d))).collect();
                let array = b.fun.emit(Op::Permute(var, perm), ty);
                b.know_all(array, &known);
                array
            }),
            (Lowering::Flatten, [value]) => self.each(value, span, &mut |b, part| {
                let (Atom::Var(var), ty) = (part, b.fun.type_of(part)) else { return part };
                let extents: Vec<Atom> = (0..ty.rank as u32).map(|d| b.fun.dim(part, d)).collect();
                let outer = b.fun.size_op(ScalarOp::Mul, extents[0], extents[1]);
                let shape: Vec<Atom> = [outer].into_iter().chain(extents[2..].iter().copied()).collect();
                b.reshape(var, shape, ty.elem)
            }),
            (Lowering::Unflatten, [value]) => {
                let sizes: Vec<Atom> = instance.sizes.iter().flat_map(|(_, v)| v.parts()).collect();
                let [n, m] = sizes.as_slice() else {
                    return Err(Box::new(
                        Diagnostic::error(
                            span,
                            "the extents of the result of `unflatten` cannot be inferred",
                        )
                        .with_hint("write the argument's type as a product: `unflatten (xs :> [n * m]t)`"),
                    ));
                };
                let (n, m) = (*n, *m);
                self.each(value, span, &mut |b, part| {
                    let (Atom::Var(var), ty) = (part, b.fun.type_of(part)) else { return part };
                    let product = b.fun.size_op(ScalarOp::Mul, n, m);
                    let extent = b.fun.dim(part, 0);
                    let message = "Cannot unflatten an array of {} elements to {} by {}.";
                    b.fun.assert_equal(extent, product, message, &[extent, n, m]);
                    let mut shape = vec![n, m];
                    shape.extend((1..ty.rank as u32).map(|d| b.fun.dim(part, d)));
                    b.reshape(var, shape, ty.elem)
                })
            }
            (Lowering::Concat, [a, b]) => {
                let (xs, ys) = (a.parts(), b.parts());
                let structure = self.structure_of(a, span)?;
                let mut parts = Vec::new();
                for (x, y) in xs.into_iter().zip(ys) {
                    let (Atom::Var(left), Atom::Var(right)) = (x, y) else {
                        return self.refuse(span, "this");
                    };
                    let ty = self.fun.type_of(x);
                    let (n, m) = (self.fun.dim(x, 0), self.fun.dim(y, 0));
                    let total = self.fun.size_op(ScalarOp::Add, n, m);
                    let array = self.fun.emit(Op::Concat(vec![left, right], 0), ty);
                    self.fun.know(array, 0, total);
                    parts.push(array);
                }
                Ok(structure.fill(&mut parts.into_iter()))
            }
            (Lowering::Length, [value]) => Ok(Value::Atom(self.length(value, span)?)),
            (Lowering::Copy, [value]) => self.each(value, span, &mut |b, part| {
                let ty = b.fun.type_of(part);
                match part {
                    Atom::Var(var) if !ty.is_scalar() => {
                        let known: Vec<Option<Atom>> =
                            (0..ty.rank as u32).map(|d| b.fun.known(part, d)).collect();
                        let array = b.fun.emit(Op::Copy(var), ty);
                        b.know_all(array, &known);
                        array
                    }
                    _ => part,
                }
            }),
            _ => self.refuse(span, "this intrinsic"),
        }
    }
}

/// The body of a parallel operator.
pub(super) struct OperatorBlock {
    pub block: Block,
    /// The structure of its results.
    pub structure: Structure,
    /// Known extents of each result.
    pub shapes: Vec<Vec<Option<Atom>>>,
}

/// True if a function of this type gives a function after so many arguments.
fn gives_function(ty: &Type, args: usize, types: &[(NodeId, Type)]) -> bool {
    let mut ty = ty.clone();
    for _ in 0..args {
        if let Type::Arrow(_, _, to) = ty {
            ty = (*to).clone();
        }
    }
    match ty {
        Type::Arrow(..) => true,
        Type::Param(id) => types.iter().any(|(p, t)| *p == id && matches!(t, Type::Arrow(..))),
        Type::Record(fields) => fields.iter().any(|(_, t)| gives_function(t, 0, types)),
        _ => false,
    }
}

/// Names that are whole sizes in a type.
fn plain_sizes(ty: &Type, out: &mut Vec<NodeId>) {
    match ty {
        Type::Array(size, elem) => {
            if let Size::Name(id) = size {
                out.push(*id);
            }
            plain_sizes(elem, out);
        }
        Type::Record(fields) => fields.iter().for_each(|(_, t)| plain_sizes(t, out)),
        _ => {}
    }
}
