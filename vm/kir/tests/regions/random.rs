//! Random expressions and renumbered regions: what is printed parses back to the same.

use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_kir::text::{parse_region, print_region};
use galopvm_kir::{Body, DimIndex, Exp, Index, Read, ReadId, Region, Rhs, Stm, Type, VarId, types, verify};
use galopvm_testkit::Random;

/// One scalar and one array parameter of each type.
fn params() -> (Region, Vec<VarId>, Vec<VarId>) {
    let mut region = Region::default();
    let scalars: Vec<VarId> =
        ElemType::ALL.iter().map(|ty| region.fresh(&format!("s_{ty}"), Some(Type::scalar(*ty)))).collect();
    let arrays: Vec<VarId> = ElemType::ALL
        .iter()
        .map(|ty| {
            let ty = Type { elem: *ty, shape: vec![Exp::int(4), Exp::Var(scalars[ElemType::I64 as usize])] };
            region.fresh(&format!("a_{}", ty.elem), Some(ty))
        })
        .collect();
    region.params = [scalars.clone(), arrays.clone()].concat();
    (region, scalars, arrays)
}

struct Maker<'a> {
    random: &'a mut Random,
    scalars: &'a [VarId],
    arrays: &'a [VarId],
    reads: u32,
}

impl Maker<'_> {
    fn constant(&mut self, ty: ElemType) -> Exp {
        let value = match self.random.below(4) {
            0 if ty.is_float() => Scalar::from_f64(ty, f64::NEG_INFINITY),
            1 if ty.is_float() => Scalar::from_f64(ty, f64::NAN),
            2 if ty.is_float() => Scalar::from_f64(ty, self.random.below(1 << 20) as f64 / -1024.0),
            0 => Scalar::new(ty, 1 << (ty.bits() - 1)),
            _ => Scalar::from_int(ty, self.random.below(2000) as i64 - 1000),
        };
        Exp::Const(value)
    }

    fn exp(&mut self, ty: ElemType, depth: usize) -> Exp {
        match self.random.below(if depth == 0 { 2 } else { 8 }) {
            0 => self.constant(ty),
            1 => Exp::Var(self.scalars[ty as usize]),
            2 => {
                let id = ReadId(self.reads);
                self.reads += 1;
                let index = vec![
                    DimIndex::At(self.exp(ElemType::I64, depth - 1)),
                    DimIndex::At(self.exp(ElemType::I64, depth - 1)),
                ];
                Exp::Read(Read { id, array: self.arrays[ty as usize], index: Index::Dims(index) })
            }
            3 => {
                let from = ElemType::ALL[self.random.below(12)];
                Exp::Convert(ty, Box::new(self.exp(from, depth - 1)))
            }
            _ => {
                let (op, on) = loop {
                    let op = ScalarOp::ALL[self.random.below(ScalarOp::ALL.len())];
                    let on = if op.result_type(ty) == ty && op.accepts(ty) {
                        ty
                    } else {
                        ElemType::ALL[self.random.below(12)]
                    };
                    if op.accepts(on) && op.result_type(on) == ty {
                        break (op, on);
                    }
                };
                let args = (0..op.arity()).map(|k| self.exp(op.operand_type(k, on), depth - 1)).collect();
                Exp::Op(op, on, args)
            }
        }
    }
}

#[test]
fn random_expressions_round_trip_and_verify() {
    let mut random = Random::new(7);
    for round in 0..3000 {
        let (mut region, scalars, arrays) = params();
        let ty = ElemType::ALL[random.below(12)];
        let depth = 1 + random.below(5);
        let mut maker = Maker { random: &mut random, scalars: &scalars, arrays: &arrays, reads: 0 };
        let exp = maker.exp(ty, depth);
        region.reads = maker.reads;
        let y = region.fresh("y", Some(Type::scalar(ty)));
        let z = region.fresh("z", Some(Type::scalar(ty)));
        let stms = vec![
            Stm { pat: vec![y], rhs: Rhs::Exps(vec![exp]) },
            Stm { pat: vec![z], rhs: Rhs::Exps(vec![Exp::Var(y)]) },
        ];
        region.body = Body { stms, results: vec![Exp::Var(z)] };
        let printed = print_region(&region);
        let again = parse_region(&printed).unwrap_or_else(|e| panic!("round {round}: {e}\n{printed}"));
        assert_eq!(again, region, "round {round}:\n{printed}");
        verify(region).unwrap_or_else(|e| panic!("round {round}: {e:?}\n{printed}"));
    }
}

const NESTED: &str = "\
region nested (n : i64, m : i64, A : [n][m]f32)
let r : [n]f32 =
  kernel i < n do
    let s : f32 =
      red j < m do
        let k : i64 =
          loop c : i64 = j for t < i do
            in c + t
        let x : f32 = A[i, k]
        in x
      by (a : f32 = 0.0f32) (b : f32) do
        in a + b
    in s
let p : [m]f32 =
  scan q < m do
    let w : f32 = A[0, q] + A[1, q]
    in w
  by (d : f32 = 1.0f32) (e : f32) do
    let f : f32 = d * e
    in f
in (r, p)
";

fn parsed(text: &str) -> Region {
    parse_region(text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn changed_texts_are_refused_or_printed_but_never_panic() {
    let mut random = Random::new(11);
    let pieces = [
        "(", ")", "[", "]", "in", "let", "-", "--", "0", "9f32", "é", " : ", "i64", "x", "A", "+ {", ":+",
        "\n",
    ];
    let (mut parse, mut pass) = (0, 0);
    for _ in 0..20_000 {
        let mut text = NESTED.to_string();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len());
            let end = (at + random.below(6)).min(text.len());
            // Positions that cut a character in two are left alone.
            if text.is_char_boundary(at) && text.is_char_boundary(end) {
                text.replace_range(at..end, pieces[random.below(pieces.len())]);
            }
        }
        let Ok(mut region) = parse_region(&text) else { continue };
        parse += 1;
        assert_eq!(parse_region(&print_region(&region)).as_ref(), Ok(&region), "{text}");
        types::infer(&mut region);
        assert_eq!(parse_region(&print_region(&region)).as_ref(), Ok(&region), "{text}");
        pass += u32::from(verify(region).is_ok());
    }
    assert!(parse > 100 && pass > 10, "{parse} parse, {pass} pass");
}

#[test]
fn renumbering_undoes_any_numbering() {
    let region = parsed(NESTED);
    assert_eq!(region.renumbered(), region);
    // The same region with ids in the opposite order, a loose name and reads numbered backwards.
    let count = region.vars.len() as u32;
    let mut vars: Vec<_> = region.vars.iter().cloned().rev().collect();
    vars.push(galopvm_kir::Var { name: "loose".into(), ty: None });
    let turn = |var: VarId| VarId(count - 1 - var.0);
    let turn_exp = |exp: &mut Exp| {
        exp.visit_mut(&mut |part| match part {
            Exp::Var(var) => *var = turn(*var),
            Exp::Read(read) => {
                read.array = turn(read.array);
                read.id = ReadId(region.reads - 1 - read.id.0);
            }
            _ => {}
        })
    };
    fn turn_body(body: &mut Body, turn: &dyn Fn(VarId) -> VarId, turn_exp: &dyn Fn(&mut Exp)) {
        use galopvm_kir::walk::PartMut;
        for stm in &mut body.stms {
            stm.pat.iter_mut().for_each(|var| *var = turn(*var));
            stm.rhs.each_part_mut(&mut |part| match part {
                PartMut::Exp(exp) => turn_exp(exp),
                PartMut::Use(var) | PartMut::Bind(var) => *var = turn(*var),
                PartMut::Body(body) => turn_body(body, turn, turn_exp),
            });
        }
        body.results.iter_mut().for_each(turn_exp);
    }
    let mut turned = region.clone();
    turn_body(&mut turned.body, &turn, &turn_exp);
    turned.params.iter_mut().for_each(|var| *var = turn(*var));
    for var in &mut vars {
        if let Some(ty) = &mut var.ty {
            ty.shape.iter_mut().for_each(turn_exp);
        }
    }
    turned.vars = vars.into();
    assert_ne!(turned, region);
    assert_eq!(turned.renumbered(), region);
    assert_eq!(print_region(&turned), NESTED);
}

#[test]
fn walks_see_axes_reads_and_free_names() {
    let region = parsed(NESTED);
    let names = |vars: Vec<VarId>| vars.iter().map(|v| region.name_of(*v)).collect::<Vec<_>>().join(" ");
    assert_eq!(names(region.parallel_axes()), "i j q");
    assert_eq!(names(region.axes().iter().map(|axis| axis.var).collect()), "i j t q");
    assert_eq!(names(region.body.free_vars().into_iter().collect()), "n m A");
    assert_eq!(names(region.body.bound_vars()), "r i s j k c t x a b p q w d e f");
    assert_eq!(region.all_reads().iter().map(|read| read.id.0).collect::<Vec<_>>(), [0, 1, 2]);
    let Rhs::Kernel { body, .. } = &region.body.stms[0].rhs else { panic!("a kernel comes first") };
    assert_eq!(names(body.free_vars().into_iter().collect()), "m A i");
}

#[test]
fn types_that_were_left_out_come_back() {
    let mut untyped = NESTED.to_string();
    for ty in [" : [n]f32 =", " : [m]f32 =", " : f32 =", " : i64 ="] {
        untyped = untyped.replace(ty, " =");
    }
    let untyped = untyped
        .replace("(b : f32)", "(b)")
        .replace("(e : f32)", "(e)")
        .replace("0.0f32", "0")
        .replace("1.0f32", "1");
    let mut region = parsed(&untyped);
    assert_eq!(print_region(&region), untyped);
    types::infer(&mut region);
    assert_eq!(print_region(&region), NESTED);
}

#[test]
fn the_content_hash_follows_the_content() {
    let hash = |text: &str| verify(parsed(text)).unwrap_or_else(|e| panic!("{e:?}")).content_hash();
    assert_eq!(hash(NESTED), hash(NESTED));
    assert_ne!(hash(NESTED), hash(&NESTED.replace("c + t", "c - t")));
    // FNV-1a of the text: caches on disk may rely on it.
    assert_eq!(hash("region (n : i64)\nin n\n"), 0x9478e80d_5b362cb2_f346cae6_ebda1e9e);
}
