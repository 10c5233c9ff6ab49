//! The abstract syntax: what was written, in an arena, with a span and an id on every expression.
//!
//! Invariants:
//! - Parentheses are kept as nodes, so printing the tree token by token gives text that parses to the same tree.
//! - Equality ignores spans and ids: two trees are equal when they were written with the same tokens.
//! - Names are slices of the source text (or of the arena); nothing is resolved here.

use galopvm_base::{Scalar, Span, define_id};

define_id!(
    /// Number of an expression or binding occurrence within one compilation; side tables are indexed by it.
    pub struct NodeId, "node"
);

/// Where a node stands in the source and its number; never part of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The text it covers.
    pub span: Span,
    /// Its number.
    pub id: NodeId,
}

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

/// A name with its place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Name<'a> {
    /// The name itself; operators by their spelling.
    pub text: &'a str,
    /// Where, and the number of the binding if it binds.
    pub at: At,
}

/// A possibly qualified name: `x`, `i32.max`, `r.f.g`. Which part is a module is decided by name resolution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QualName<'a> {
    /// The parts; at least one.
    pub parts: &'a [Name<'a>],
}

impl<'a> QualName<'a> {
    /// The whole span.
    pub fn span(&self) -> Span {
        let (first, last) = (self.parts[0], self.parts[self.parts.len() - 1]);
        first.at.span.to(last.at.span)
    }

    /// The text with dots.
    pub fn text(&self) -> String {
        self.parts.iter().map(|p| p.text).collect::<Vec<_>>().join(".")
    }

    /// The last part.
    pub fn last(&self) -> Name<'a> {
        self.parts[self.parts.len() - 1]
    }
}

/// A whole file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prog<'a> {
    /// Its declarations, in order.
    pub decs: &'a [Dec<'a>],
}

/// A declaration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Dec<'a> {
    /// Where.
    pub at: At,
    /// The documentation comment, without its `-- |` marks; not compared.
    pub doc: Doc<'a>,
    /// Attributes, outermost first.
    pub attrs: &'a [Attr<'a>],
    /// What is declared.
    pub kind: DecKind<'a>,
}

/// A documentation comment; ignored by comparisons, since the canonical text drops comments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doc<'a>(pub Option<&'a str>);

impl PartialEq for Doc<'_> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What a declaration declares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DecKind<'a> {
    /// A function or constant.
    Val(&'a ValBind<'a>),
    /// `type t 'a = ...`.
    Type(&'a TypeBind<'a>),
    /// `module m (p: mt) : mt = e`.
    Module(&'a ModBind<'a>),
    /// `module type mt = e`.
    ModType {
        /// Its name.
        name: Name<'a>,
        /// Its definition.
        def: &'a ModTypeExp<'a>,
    },
    /// `open m`.
    Open(&'a ModExp<'a>),
    /// `import "file"`.
    Import(&'a str),
    /// `local dec`.
    Local(&'a Dec<'a>),
}

/// Which keyword introduced a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValKeyword {
    /// `def` (or the older top-level `let`).
    Def,
    /// `entry`.
    Entry,
}

/// A function or constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ValBind<'a> {
    /// Its keyword.
    pub keyword: ValKeyword,
    /// Its name; operators by their spelling.
    pub name: Name<'a>,
    /// Size and type parameters.
    pub type_params: &'a [TypeParam<'a>],
    /// Parameters.
    pub params: &'a [Pat<'a>],
    /// The result type, if written.
    pub result: Option<&'a TypeExp<'a>>,
    /// The body.
    pub body: &'a Exp<'a>,
}

/// How much a type parameter may stand for, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Lifted {
    /// `'a`: no functions, no anonymous sizes.
    No,
    /// `'~a`: may hide sizes.
    Size,
    /// `'^a`: may be a function.
    Full,
}

/// `[n]` or `'a`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TypeParam<'a> {
    /// A size.
    Size(Name<'a>),
    /// A type.
    Type(Lifted, Name<'a>),
}

/// `type t 'a [n] = ...`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TypeBind<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// `type`, `type~` or `type^`.
    pub lifted: Lifted,
    /// Its parameters.
    pub params: &'a [TypeParam<'a>],
    /// Its definition.
    pub def: &'a TypeExp<'a>,
}

/// A type as written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TypeExp<'a> {
    /// Where.
    pub at: At,
    /// What.
    pub kind: TypeExpKind<'a>,
}

/// The forms of a type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TypeExpKind<'a> {
    /// `t`, `m.t`.
    Var(QualName<'a>),
    /// `(t)`.
    Parens(&'a TypeExp<'a>),
    /// `(a, b)`, `()`.
    Tuple(&'a [TypeExp<'a>]),
    /// `{a: t}`.
    Record(&'a [(Name<'a>, TypeExp<'a>)]),
    /// `[n]t`, `[]t`.
    Array(SizeExp<'a>, &'a TypeExp<'a>),
    /// `*t`.
    Unique(&'a TypeExp<'a>),
    /// `t u`, `t [n]`.
    Apply(&'a TypeExp<'a>, TypeArg<'a>),
    /// `(x: a) -> b`.
    Arrow(Option<Name<'a>>, &'a TypeExp<'a>, &'a TypeExp<'a>),
    /// `#a t | #b`.
    Sum(&'a [(Name<'a>, &'a [TypeExp<'a>])]),
    /// `?[n][m].t`.
    Exists(&'a [Name<'a>], &'a TypeExp<'a>),
    /// Not understood; a message has been given.
    Error,
}

/// An argument of a type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TypeArg<'a> {
    /// `[n]`.
    Size(SizeExp<'a>),
    /// A type.
    Type(&'a TypeExp<'a>),
}

/// `[e]` or `[]`; the place covers the brackets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SizeExp<'a> {
    /// Where.
    pub at: At,
    /// The size, if given.
    pub size: Option<&'a Exp<'a>>,
}

/// A pattern.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pat<'a> {
    /// Where.
    pub at: At,
    /// What.
    pub kind: PatKind<'a>,
}

/// The forms of a pattern.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PatKind<'a> {
    /// `x`; the node's own id is the binding's id.
    Id(&'a str),
    /// `_`.
    Wildcard,
    /// `(p)`.
    Parens(&'a Pat<'a>),
    /// `(p, q)`, `()`.
    Tuple(&'a [Pat<'a>]),
    /// `{a = p, b}`.
    Record(&'a [(Name<'a>, Pat<'a>)]),
    /// `p: t`.
    Ascript(&'a Pat<'a>, &'a TypeExp<'a>),
    /// A literal.
    Lit(&'a Exp<'a>),
    /// `#c p q`.
    Constr(&'a str, &'a [Pat<'a>]),
    /// `#[attr] p`.
    Attr(Attr<'a>, &'a Pat<'a>),
}

/// An attribute: `name`, `3`, `name(args)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Attr<'a> {
    /// Its name or number, as written.
    pub name: &'a str,
    /// Arguments, if it has parentheses.
    pub args: Option<&'a [Attr<'a>]>,
    /// Where.
    pub at: At,
}

/// An expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exp<'a> {
    /// Where.
    pub at: At,
    /// What.
    pub kind: ExpKind<'a>,
}

/// A number whose type is not written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number<'a> {
    /// An integer literal, without sign; may still become a float.
    Int(u128),
    /// A float literal as written (lower case, no underscores); rounded once, when its type is known.
    Float(&'a str),
}

/// The forms of an expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ExpKind<'a> {
    /// A literal with its type: `1i32`, `true`.
    Literal(Scalar),
    /// A literal without type.
    Number(Number<'a>),
    /// A string: its bytes, and its text as written with quotes.
    String(&'a [u8], &'a str),
    /// `x`, `m.x`, `r.f` (decided by name resolution).
    Var(QualName<'a>),
    /// `???`.
    Hole,
    /// `(e)`.
    Parens(&'a Exp<'a>),
    /// `m.(e)`.
    QualParens(QualName<'a>, &'a Exp<'a>),
    /// `(a, b)`, `()`.
    Tuple(&'a [Exp<'a>]),
    /// `{a = 1, b}`.
    Record(&'a [(Name<'a>, Option<Exp<'a>>)]),
    /// `[a, b]`.
    Array(&'a [Exp<'a>]),
    /// `e.f`, `e.0`.
    Project(&'a Exp<'a>, Name<'a>),
    /// `e[i, l:h:s]`.
    Index(&'a Exp<'a>, &'a [DimIndex<'a>]),
    /// `f x y`.
    Apply(&'a Exp<'a>, &'a [Exp<'a>]),
    /// `a + b`, a `op` b.
    BinOp(OpName<'a>, &'a Exp<'a>, &'a Exp<'a>),
    /// `-e`.
    Negate(&'a Exp<'a>),
    /// `!e`.
    Not(&'a Exp<'a>),
    /// `\p q: t -> e`.
    Lambda(&'a [Pat<'a>], Option<&'a TypeExp<'a>>, &'a Exp<'a>),
    /// `(+)`.
    Section(OpName<'a>),
    /// `(e +)`.
    SectionLeft(OpName<'a>, &'a Exp<'a>),
    /// `(+ e)`.
    SectionRight(OpName<'a>, &'a Exp<'a>),
    /// `(.f.g)`, `(.[i])`.
    SectionPath(&'a [Step<'a>]),
    /// `if c then a else b`.
    If(&'a Exp<'a>, &'a Exp<'a>, &'a Exp<'a>),
    /// `let [n] p = e in body`.
    Let {
        /// Sizes bound from the value's type.
        sizes: &'a [Name<'a>],
        /// The pattern.
        pat: &'a Pat<'a>,
        /// The value.
        value: &'a Exp<'a>,
        /// Where the names are seen.
        body: &'a Exp<'a>,
    },
    /// `let f [n] x y : t = e in body`.
    LetFun {
        /// The function.
        fun: &'a ValBind<'a>,
        /// Where it is seen.
        body: &'a Exp<'a>,
    },
    /// `let x[i] = v in body`.
    LetWith {
        /// The variable updated and bound again.
        name: Name<'a>,
        /// The old value's occurrence.
        old: &'a Exp<'a>,
        /// The path.
        steps: &'a [Step<'a>],
        /// The new value there.
        value: &'a Exp<'a>,
        /// Where the new array is seen.
        body: &'a Exp<'a>,
    },
    /// `loop p = init form do body`.
    Loop {
        /// The loop's parameters.
        pat: &'a Pat<'a>,
        /// Their initial value; absent when the pattern's own names are it.
        init: Option<&'a Exp<'a>>,
        /// What decides about another turn.
        form: LoopForm<'a>,
        /// One turn.
        body: &'a Exp<'a>,
    },
    /// `match e case p -> e ...`.
    Match(&'a Exp<'a>, &'a [(Pat<'a>, Exp<'a>)]),
    /// `#c x y`; saturated.
    Constr(&'a str, &'a [Exp<'a>]),
    /// `a..b...c`.
    Range {
        /// First element.
        first: &'a Exp<'a>,
        /// Second element, if a step is given.
        second: Option<&'a Exp<'a>>,
        /// Which end.
        kind: RangeKind,
        /// The bound.
        last: &'a Exp<'a>,
    },
    /// `e with path = v`.
    Update(&'a Exp<'a>, &'a [Step<'a>], &'a Exp<'a>),
    /// `assert c e`.
    Assert(&'a Exp<'a>, &'a Exp<'a>),
    /// `e : t`.
    Ascript(&'a Exp<'a>, &'a TypeExp<'a>),
    /// `e :> t`.
    Coerce(&'a Exp<'a>, &'a TypeExp<'a>),
    /// `#[attr] e`.
    Attr(Attr<'a>, &'a Exp<'a>),
    /// Not understood; a message has been given.
    Error,
}

/// An operator in use: its (qualified) name, and whether it was written in backticks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OpName<'a> {
    /// The name.
    pub name: QualName<'a>,
    /// Written as `` `f` ``.
    pub backticks: bool,
    /// Its occurrence.
    pub at: At,
}

/// The end of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RangeKind {
    /// `...`: up or down to the bound.
    Inclusive,
    /// `..<`.
    Upto,
    /// `..>`.
    Downto,
}

/// What decides about another turn of a loop.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LoopForm<'a> {
    /// `for i < n`.
    For(Name<'a>, &'a Exp<'a>),
    /// `for p in xs`.
    ForIn(&'a Pat<'a>, &'a Exp<'a>),
    /// `while c`.
    While(&'a Exp<'a>),
}

/// One step of an update path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step<'a> {
    /// `[i, j]`.
    Index(&'a [DimIndex<'a>]),
    /// `.f`.
    Field(Name<'a>),
}

/// One index of an array.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DimIndex<'a> {
    /// `i`.
    Fix(Exp<'a>),
    /// `l:h:s`, each optional.
    Slice(Option<&'a Exp<'a>>, Option<&'a Exp<'a>>, Option<&'a Exp<'a>>),
}

/// A module binding.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ModBind<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// Parameters, if it is a functor.
    pub params: &'a [(Name<'a>, ModTypeExp<'a>)],
    /// Its module type, if written.
    pub sig: Option<&'a ModTypeExp<'a>>,
    /// Its definition.
    pub def: &'a ModExp<'a>,
}

/// A module expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ModExp<'a> {
    /// Where.
    pub at: At,
    /// What.
    pub kind: ModExpKind<'a>,
}

/// The forms of a module expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ModExpKind<'a> {
    /// `m`.
    Var(QualName<'a>),
    /// `(m)`.
    Parens(&'a ModExp<'a>),
    /// `{ decs }`.
    Decs(&'a [Dec<'a>]),
    /// `import "f"`.
    Import(&'a str),
    /// `f m`.
    Apply(&'a ModExp<'a>, &'a ModExp<'a>),
    /// `m : mt`.
    Ascript(&'a ModExp<'a>, &'a ModTypeExp<'a>),
    /// `\(p: mt): mt -> m`.
    Lambda(Name<'a>, &'a ModTypeExp<'a>, Option<&'a ModTypeExp<'a>>, &'a ModExp<'a>),
}

/// A module type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ModTypeExp<'a> {
    /// Where.
    pub at: At,
    /// What.
    pub kind: ModTypeExpKind<'a>,
}

/// The forms of a module type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ModTypeExpKind<'a> {
    /// `mt`.
    Var(QualName<'a>),
    /// `(mt)`.
    Parens(&'a ModTypeExp<'a>),
    /// `{ specs }`.
    Specs(&'a [Spec<'a>]),
    /// `mt with t 'a = type`.
    With(&'a ModTypeExp<'a>, QualName<'a>, &'a [TypeParam<'a>], &'a TypeExp<'a>),
    /// `(p: mt) -> mt`.
    Arrow(Option<Name<'a>>, &'a ModTypeExp<'a>, &'a ModTypeExp<'a>),
}

/// One line of a module type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spec<'a> {
    /// Where.
    pub at: At,
    /// Attributes.
    pub attrs: &'a [Attr<'a>],
    /// What.
    pub kind: SpecKind<'a>,
}

/// The forms of a specification.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SpecKind<'a> {
    /// `val f 'a : t`.
    Val(Name<'a>, &'a [TypeParam<'a>], &'a TypeExp<'a>),
    /// `type t = ...`.
    TypeAbbr(&'a TypeBind<'a>),
    /// `type t 'a`.
    Type(Lifted, Name<'a>, &'a [TypeParam<'a>]),
    /// `module m : mt`.
    Module(Name<'a>, &'a ModTypeExp<'a>),
    /// `include mt`.
    Include(&'a ModTypeExp<'a>),
}
