//! What is refused, and with which message: by the parser, and by the verifier for each of its rules.

use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_kir::text::parse_region;
use galopvm_kir::{
    Axis, Body, Exp, Read, ReadId, Region, Rhs, Stm, Type, Var, VarId, types, verified_from_text, verify,
};

#[test]
fn texts_that_do_not_parse() {
    for (text, message) in [
        ("let x = ", "1:9: expected an expression, found the end"),
        ("let x = 1\nlet x = 2", "2:5: the name `x` is already defined; names are unique"),
        ("let y = x\nlet x = 2", "2:5: the name `x` is already used or defined; names are unique"),
        ("let x = 1 $ 2", "1:11: the character '$' has no meaning here"),
        ("let in = 1", "1:5: `in` cannot be a name"),
        ("let f32 = 1", "1:5: `f32` cannot be a name"),
        ("region r (n : i64)\nlet x = m\nin x", "2:9: the name `m` is not known"),
        ("region r (A : [n]f32, n : i64)", "1:16: the name `n` is not known"),
        ("let x = min(1)", "1:9: `min` takes 2 operands, not 1"),
        ("let x = to_f32(1, 2)", "1:9: `to_f32` takes 1 operands, not 2"),
        ("let x = a < b < c", "1:15: expected the end, found `<`"),
        ("let x = 3q", "1:9: `3q` is not a number of any type"),
        ("let x = 99999999999999999999", "1:9: `99999999999999999999` is not a number of any type"),
        ("let r =\n  kernel i < n\n    in i", "3:5: expected `do`, found `in`"),
        ("let r =\n  kernel i < n do\n    let x = 1\n  let y = 2", "4:12: expected `in`, found the end"),
        ("let r =\n  if c then\n    in 1", "3:9: expected `else`, found the end"),
        ("let r =\n  red i < n do\n    in i", "3:9: expected `by`, found the end"),
        ("let a = b[1 :+ 2]", "1:17: expected `*`, found `]`"),
        ("let a = b[[0 + {(1:2)}]", "1:24: expected `]`, found the end"),
        ("let s = reduce A", "1:16: expected a scalar operation, found `A`"),
        ("let s = reduce +", "1:17: expected an expression, found the end"),
        ("let s = concat", "1:15: expected an expression, found the end"),
        ("let s = copy A B", "1:16: expected the end, found `B`"),
        ("let s = iota n", "1:14: expected `[`, found `n`"),
        ("let s = iota [n][m]", "1:17: expected the end, found `[`"),
        ("let s = scratch [n]", "1:20: expected an element type, found the end"),
        ("let s = replicate [n]", "1:22: expected an expression, found the end"),
        ("let s = rearrange A (1, 0)", "1:19: expected `(`, found `A`"),
    ] {
        let error = parse_region(text).expect_err(text);
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn deep_texts_are_refused_and_not_followed_down() {
    let nested = format!("let x = {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let signs = format!("let x = {}y", "!".repeat(100_000));
    let chain = format!("let x = 1{}", " + y".repeat(100_000));
    let bodies: String = (0..100_000).map(|k| format!("let x{k} =\n if c then\n")).collect();
    for text in [nested, signs, chain, bodies] {
        let error = parse_region(&text).expect_err("too deep");
        assert!(error.message.contains("too deep") || error.message.contains("too deeply"), "{error}");
    }
}

const HEADER: &str = "region r (n : i64, m : i64, x : f32, A : [n]f32, B : [n][m]i32)\n";

#[test]
fn every_rule_of_the_verifier() {
    for (body, message) in [
        ("let y = x + n\nin y", "in `y`: an operand of `add` should be of type f32: n has type i64"),
        ("let y = A + 1\nin y", "in `y`: an operand of `add` should be of type f32: A has type [n]f32"),
        ("let y = sqrt(n)\nin y", "in `y`: `sqrt` does not work on i64"),
        ("let y = !x\nin y", "in `y`: `not` does not work on f32"),
        (
            "let y = select(n, 1, 2)\nin y",
            "in `y`: an operand of `select` should be of type bool: n has type i64",
        ),
        ("let y = to_f32(A)\nin y", "in `y`: an array cannot be converted"),
        ("let y = f(x)\nin y", "in `y`: nothing is known of `f`"),
        ("let y : i32 = x\nin y", "in `y`: `y` has type i32, but its value has type f32"),
        ("let y : [m]f32 = A\nin y", "in `y`: `y` has type [m]f32, but its value has type [n]f32"),
        ("let (y, z) = x\nin y", "in `y`: 2 names are bound to 1 results"),
        ("let y = A[x]\nin y", "in `y`: an index should be of type i64: x has type f32"),
        ("let y = A[0, 1]\nin y", "in `y`: `A` has 1 dimensions and is indexed with 2"),
        ("let y = n[0]\nin y", "in `y`: `n` has 0 dimensions and is indexed with 1"),
        ("let y = A[0 :+ B[0, 0] * 1]\nin y", "in `y`: an extent reads memory: B[0, 0]"),
        (
            "let y =\n  kernel i < x do\n    in i\nin y",
            "in `y`: an extent should be of type i64: x has type f32",
        ),
        ("let y =\n  kernel i < n, j < i do\n    in i\nin y", "in `y`: `i` is not in scope"),
        (
            "let y =\n  kernel i < n do\n    let z = i\n    in z\nlet w = z\nin y",
            "in `w`: `z` is not in scope",
        ),
        ("let y =\n  kernel i < n do\n    let z = iota [i]\n    in z\nin y", "in `y`: `i` is not in scope"),
        (
            "let y =\n  red i < n do\n    in A[i]\n  by (a = 0) (b) do\n    in a + b + to_f32(i)\nin y",
            "in `y`: `i` is not in scope",
        ),
        (
            "let y =\n  red i < n do\n    in A[i]\n  by (a = 0) (b : f64) do\n    in a\nin y",
            "in `y`: the combined value of `a` has type f64, but its value has type f32",
        ),
        (
            "let y =\n  red i < n do\n    in A[i]\n  by (a = x < x) (b) do\n    in a\nin y",
            "in `y`: the neutral element of `a` has type f32, but its value has type bool",
        ),
        (
            "let y =\n  red i < n do\n    in A[i]\n  by (a : f32 = 0) (b : i32) do\n    in a\nin y",
            "in `y`: the right operand `b` has type i32, but its value has type f32",
        ),
        (
            "let y =\n  red i < n do\n    in A[i]\n  by (a = 0) (b) do\n    in a < b\nin y",
            "in `y`: the combination of `a` has type f32, but its value has type bool",
        ),
        (
            "let y =\n  red i < n do\n    in (A[i], i)\n  by (a = 0) (b) do\n    in a\nin y",
            "in `y`: the combined value of: 2 values for 1 names",
        ),
        (
            "let y =\n  red i < n do\n    in ()\n  by () () do\n    in ()\nin y",
            "in `y`: the operator combines nothing",
        ),
        ("let y =\n  loop j < n do\n    in j\nin y", "in `y`: the loop carries nothing"),
        (
            "let y =\n  loop a = x for j < n do\n    in j\nin y",
            "in `y`: the next `a` has type f32, but its value has type i64",
        ),
        (
            "let y =\n  loop a : i64 = x for j < n do\n    in j\nin y",
            "in `y`: the initial `a` has type i64, but its value has type f32",
        ),
        (
            "let y =\n  loop a = x while a do\n    in a\nin y",
            "in `y`: a condition should be of type bool: a has type f32",
        ),
        (
            "let y =\n  if n then\n    in 1\n  else\n    in 2\nin y",
            "in `y`: a condition should be of type bool: n has type i64",
        ),
        (
            "let y =\n  if n < m then\n    in x\n  else\n    in n\nin y",
            "in `y`: the result of one branch has type f32, but its value has type i64",
        ),
        (
            "let y =\n  if n < m then\n    in (x, x)\n  else\n    in x\nin y",
            "in `y`: the branches have 2 and 1 results",
        ),
        (
            "let y = A with [0] = n\nin y",
            "in `y`: the place of the update has type f32, but its value has type i64",
        ),
        (
            "let y = B with [0] = A\nin y",
            "in `y`: the place of the update has type [m]i32, but its value has type [n]f32",
        ),
        ("let y = manifest((0,0), B)\nin y", "in `y`: [0, 0] is not a permutation of 2 dimensions"),
        ("let y = call f(A) [n]\nin y", "in `y`: `call` has no meaning here"),
        ("let y = transpose A\nin y", "in `y`: `transpose` does not take these arguments"),
        ("let y = reshape A\nin y", "in `y`: `reshape` does not take these arguments"),
        ("let y = scratch f32\nin y", "in `y`: `scratch` does not take these arguments"),
        ("let y = replicate 1\nin y", "in `y`: `replicate` does not take these arguments"),
        (
            "let y = concat A B\nin y",
            "in `y`: the first array's element has type f32, but its value has type [m]i32",
        ),
        ("let y = reduce - A\nin y", "in `y`: `sub` does not reduce an array of type [n]f32"),
        ("let y = 1\nin y + 1", "a result of the region is not a name: y + 1"),
        (
            "let k =\n  red i < n do\n    in i\n  by (a = 0) (b) do\n    in a + b\nlet y = iota [k]\nin y",
            "the shape of the result `y` depends on `k`, which is not known at entry",
        ),
    ] {
        let text = format!("{HEADER}{body}\n");
        let error = verified_from_text(&text).expect_err(&text);
        assert!(
            error.lines().any(|line| line.starts_with(message)),
            "{text}\nexpected {message}\nfound    {error}"
        );
    }
}

#[test]
fn shapes_of_results_may_use_scalars_of_the_top_level() {
    let text = format!("{HEADER}let k = n * 2\nlet l = k + 1 - 1\nlet y = iota [l]\nin y\n");
    let region = verified_from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    let extent = &region.results()[0].shape[0];
    assert_eq!(region.size_with(extent, &|_| Some(Scalar::i64(21))), Some(42));
}

/// A region `let y = exps in y` over the parameters of [`HEADER`], as code makes it.
fn made(exp: Exp) -> Region {
    let mut region = parse_region(HEADER).unwrap_or_else(|e| panic!("{e}"));
    let y = region.fresh("y", Some(Type::scalar(ElemType::F32)));
    region.body =
        Body { stms: vec![Stm { pat: vec![y], rhs: Rhs::Exps(vec![exp]) }], results: vec![Exp::Var(y)] };
    region
}

fn messages(region: Region) -> Vec<String> {
    verify(region).expect_err("a wrong region").iter().map(|error| error.to_string()).collect()
}

#[test]
fn regions_that_no_text_can_express() {
    let x = VarId(2);
    let array = VarId(3);
    let good = made(Exp::Var(x));
    assert!(verify(good.clone()).is_ok());

    let mut region = good.clone();
    region.vars[x].name = "n".into();
    assert!(messages(region).contains(&"the name `n` is not unique".to_string()));

    let mut region = good.clone();
    region.vars[x].name = "a b".into();
    assert!(messages(region).contains(&"`a b` cannot be a name".to_string()));

    let mut region = good.clone();
    region.vars.push(Var { name: "loose".into(), ty: None });
    assert_eq!(messages(region), ["the name `loose` is never defined"]);

    let mut region = good.clone();
    region.vars[VarId(5)].ty = None;
    assert!(messages(region).contains(&"in `y`: `y` has no type".to_string()));

    let mut region = good.clone();
    region.body.stms.push(region.body.stms[0].clone());
    assert!(messages(region).contains(&"in `y`: the name `y` is defined twice".to_string()));

    let region = made(Exp::Var(VarId(99)));
    assert!(messages(region).contains(&"in `y`: `v99` is not in scope".to_string()));

    let region = made(Exp::Op(ScalarOp::Add, ElemType::F32, vec![Exp::Var(x)]));
    assert!(messages(region).contains(&"in `y`: `add` takes 2 operands, not 1".to_string()));

    let region = made(Exp::Op(ScalarOp::Add, ElemType::I64, vec![Exp::Var(x), Exp::Var(x)]));
    let said = "in `y`: `add` is said to work on i64, but its operands are of type f32".to_string();
    assert!(messages(region).contains(&said));

    let mut region = good.clone();
    let first = region.read(array, vec![Exp::int(0)]);
    region.body.stms[0].rhs =
        Rhs::Exps(vec![Exp::Op(ScalarOp::Add, ElemType::F32, vec![first.clone(), first])]);
    assert!(messages(region).contains(&"in `y`: read0 is not a number of its own below 1".to_string()));

    let index = galopvm_kir::Index::Dims(vec![galopvm_kir::DimIndex::At(Exp::int(0))]);
    let region = made(Exp::Read(Read { id: ReadId(4), array, index }));
    assert!(messages(region).contains(&"in `y`: read4 is not a number of its own below 0".to_string()));

    let mut region = good.clone();
    let i = region.fresh("i", Some(Type::scalar(ElemType::F32)));
    let body = Body { stms: Vec::new(), results: vec![Exp::Var(x)] };
    let axes = vec![Axis { var: i, bound: Exp::int(3) }];
    region.body.stms[0].rhs = Rhs::Kernel { axes, body: body.clone() };
    assert!(
        messages(region.clone()).contains(&"in `y`: the iteration variable `i` is not an i64".to_string())
    );
    region.body.stms[0].rhs = Rhs::Kernel { axes: Vec::new(), body };
    assert!(messages(region).contains(&"in `y`: there is no axis".to_string()));
}

#[test]
fn names_made_by_code_are_names_of_the_text_form() {
    let mut region = Region::default();
    for (wish, name) in
        [("x", "x"), ("x", "x_2"), ("in", "in_"), ("f32", "f32_"), ("3", "_3"), ("a.b", "a_b"), ("", "_")]
    {
        let var = region.fresh(wish, None);
        assert_eq!(region.name_of(var), name);
    }
}

#[test]
fn inference_changes_nothing_that_is_there() {
    let text = format!("{HEADER}let y : f32 = x\nin y\n");
    let mut region = parse_region(&text).unwrap_or_else(|e| panic!("{e}"));
    let before = region.clone();
    types::infer(&mut region);
    assert_eq!(region, before);
}

/// What analyses are given but nothing executes: unknown functions, loops that carry nothing.
#[test]
fn what_has_no_meaning_can_be_analysed_and_not_executed() {
    let sketch = "\
let xs = call f(ys) [n]
let zs =
  kernel i < n do
    let s =
      loop j < m do
        let x = xs[j] + g(i)
        in x
    in s
let ys2 = ys with [0 :+ n * 1] = zs
";
    let mut known = Region::default();
    let size = |known: &mut Region, name: &str| known.fresh(name, Some(Type::scalar(ElemType::I64)));
    let (n, m) = (size(&mut known, "n"), size(&mut known, "m"));
    let ys = known.fresh("ys", Some(Type { elem: ElemType::F32, shape: vec![Exp::Var(m)] }));
    known.params = vec![n, m, ys];
    let mut region = galopvm_kir::text::parse_region_in(known, sketch).unwrap_or_else(|e| panic!("{e}"));
    types::infer(&mut region);
    let checked = galopvm_kir::check(region.clone()).unwrap_or_else(|e| panic!("{e:?}"));
    let named = |name: &str| {
        checked.region().vars.iter_ids().find(|(_, var)| var.name == name).map(|(id, _)| id).expect("a name")
    };
    // The type that is wanted of an unknown function comes from later statements.
    for name in ["xs", "zs", "s", "x"] {
        assert_eq!(checked.type_of(named(name)).elem, ElemType::F32, "{name}");
    }
    let errors = messages(region.clone());
    for expected in ["`call` has no meaning here", "the loop carries nothing", "nothing is known of `g`"] {
        assert!(errors.iter().any(|error| error.contains(expected)), "{expected}: {errors:?}");
    }
    // Scopes and types are checked all the same.
    region.body.results.push(Exp::Var(named("x")));
    assert!(galopvm_kir::check(region).is_err());
}
