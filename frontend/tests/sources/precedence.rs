//! What binds how strongly: an expression and the same with every parenthesis written parse to the same tree.

use galopvm_base::Sources;
use galopvm_frontend::syntax::ast::{Exp, ExpKind};
use galopvm_frontend::syntax::{parse_expression, print_exp};

/// The tree as text, with brackets round everything that is made of expressions.
fn tree(exp: &Exp) -> String {
    match exp.kind {
        ExpKind::Parens(inner) => tree(inner),
        ExpKind::BinOp(op, a, b) => format!("[{} {} {}]", tree(a), op.name.text(), tree(b)),
        ExpKind::Negate(a) => format!("[-{}]", tree(a)),
        ExpKind::Not(a) => format!("[!{}]", tree(a)),
        ExpKind::Apply(f, args) => {
            format!("[{} {}]", tree(f), args.iter().map(tree).collect::<Vec<_>>().join(" "))
        }
        ExpKind::Range { first, second, last, kind } => {
            format!("[{} {:?} {kind:?} {}]", tree(first), second.map(tree), tree(last))
        }
        ExpKind::Update(a, steps, b) => format!("[{} with {} = {}]", tree(a), steps.len(), tree(b)),
        ExpKind::Ascript(a, _) => format!("[{} :]", tree(a)),
        ExpKind::Coerce(a, _) => format!("[{} :>]", tree(a)),
        ExpKind::If(a, b, c) => format!("[if {} {} {}]", tree(a), tree(b), tree(c)),
        ExpKind::Lambda(_, _, body) => format!("[\\ {}]", tree(body)),
        ExpKind::Let { value, body, .. } => format!("[let {} {}]", tree(value), tree(body)),
        ExpKind::Assert(a, b) => format!("[assert {} {}]", tree(a), tree(b)),
        ExpKind::Attr(_, a) => format!("[attr {}]", tree(a)),
        ExpKind::Project(a, field) => format!("[{}.{}]", tree(a), field.text),
        ExpKind::Index(a, dims) => format!("[{} at {}]", tree(a), dims.len()),
        ExpKind::Match(a, cases) => {
            let cases: Vec<String> = cases.iter().map(|(_, body)| tree(body)).collect();
            format!("[match {} {}]", tree(a), cases.join(" | "))
        }
        ExpKind::Loop { body, .. } => format!("[loop {}]", tree(body)),
        _ => print_exp(exp),
    }
}

fn parsed(text: &str) -> String {
    let arena = bumpalo::Bump::new();
    let mut sources = Sources::new();
    let file = sources.add("expression", text);
    let parsed = parse_expression(&arena, file, text, 0);
    if let Some(diagnostic) = parsed.diagnostics.first() {
        panic!("{}", diagnostic.render(&sources, false));
    }
    tree(parsed.tree)
}

#[test]
fn binding_strength() {
    for (short, long) in [
        // From the loosest to the strongest.
        ("a :> t : u", "(a :> t) : u"),
        ("a + b : t", "(a + b) : t"),
        ("a ..< b + c", "a ..< (b + c)"),
        ("a .. b ... c |> f", "a .. b ... (c |> f)"),
        ("a `f` b ..< c `g` d", "(a `f` b) ..< (c `g` d)"),
        ("a `f` b `g` c", "(a `f` b) `g` c"),
        ("a `f` b |> c", "a `f` (b |> c)"),
        ("a `f` b with [0] = c", "a `f` (b with [0] = c)"),
        ("a with [0] = b with [1] = c", "(a with [0] = b) with [1] = c"),
        ("a with [0] = b |> f", "a with [0] = (b |> f)"),
        ("a |> f with [0] = b", "(a |> f) with [0] = b"),
        ("a with [0] = b `f` c", "(a with [0] = b) `f` c"),
        ("a |> f |> g", "(a |> f) |> g"),
        ("f <| g <| a", "f <| (g <| a)"),
        ("a |> f <| b", "a |> (f <| b)"),
        ("f <| a || b", "f <| (a || b)"),
        ("a || b && c", "a || (b && c)"),
        ("a && b == c", "a && (b == c)"),
        ("a == b & c", "a == (b & c)"),
        ("a < b | c ^ d & e", "a < (((b | c) ^ d) & e)"),
        ("a & b << c", "a & (b << c)"),
        ("a << b + c", "a << (b + c)"),
        ("a + b * c", "a + (b * c)"),
        ("a - b - c + d", "((a - b) - c) + d"),
        ("a * b ** c", "a * (b ** c)"),
        ("a ** b ** c", "(a ** b) ** c"),
        ("a // b %% c / d % e", "(((a // b) %% c) / d) % e"),
        // An operator of the user's binds as the longest built-in one it begins with.
        ("a +^ b *. c", "a +^ (b *. c)"),
        ("a <+> b + c", "a <+> (b + c)"),
        ("a |>> f <|> g", "a |>> (f <|> g)"),
        ("a >>> b + c", "a >>> (b + c)"),
        ("a &&& b == c", "a &&& (b == c)"),
        ("a ^^ b == c", "(a ^^ b) == c"),
        ("a !! b + c", "a !! (b + c)"),
        ("a =*= b + c", "a =*= (b + c)"),
        ("a m.+ b m.* c", "a m.+ (b m.* c)"),
        // Prefixes bind like application.
        ("-a ** b", "(-a) ** b"),
        ("-f a", "-(f a)"),
        ("!a && b", "(!a) && b"),
        ("f -a", "f - a"),
        ("f a b - c", "(f a b) - c"),
        ("-a with [0] = b", "(-a) with [0] = b"),
        ("- -a", "-(-a)"),
        // What reaches as far as it can.
        ("a + if b then c else d + e", "a + (if b then c else (d + e))"),
        ("-if a then b else c * d", "-(if a then b else (c * d))"),
        ("a |> \\x -> x + b : t", "a |> (\\x -> ((x + b) : t))"),
        ("f a \\x -> x |> g", "f a (\\x -> (x |> g))"),
        ("a + let x = b in c * d", "a + (let x = b in (c * d))"),
        ("assert a b + c : t", "assert a ((b + c) : t)"),
        ("#[inline] a + b : t", "#[inline] ((a + b) : t)"),
        ("match a case _ -> b + c case _ -> d : t", "match a case _ -> (b + c) case _ -> (d : t)"),
        ("loop x = a while b do c + d", "loop x = a while b do (c + d)"),
        // Selection binds strongest; a blank makes an argument of an array.
        ("f a.b", "f (a.b)"),
        ("f a[0]", "f (a[0])"),
        ("f a [b]", "(f a) [b]"),
        ("a[0].b[1].0", "(((a[0]).b)[1]).0"),
        ("f (a).b", "f ((a).b)"),
        ("-a[0]", "-(a[0])"),
    ] {
        let application = short == "f a [b]";
        let long = if application { parsed("f a ([b])") } else { parsed(long) };
        assert_eq!(parsed(short), long, "{short}");
    }
}
