//! Copies into other layouts change no result: random programs, random copies, executed before and after.

use galopvm_analysis::index::{Role, Table, table};
use galopvm_analysis::layout::{
    Copy, Costs, Means, PartCopy, Pricing, Profile, Question, Target, Verdict, plain_text, transform,
    transform_with_parts,
};
use galopvm_analysis::strategy::{decide, kernel_strategies};
use galopvm_base::ElemType;
use galopvm_kir::evaluate::{Value, evaluate};
use galopvm_kir::text::{parse_region, print_region};
use galopvm_kir::{Observed, ObservedParam, Region, Rhs, VarId, VerifiedRegion, types, verify};
use galopvm_lmad::Lmad;
use galopvm_testkit::Random;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What can be named at a place.
#[derive(Clone)]
struct Scope {
    scalars: Vec<String>,
    /// With the names of their extents.
    arrays: Vec<(String, Vec<&'static str>)>,
    depth: usize,
}

struct Maker {
    random: Random,
    text: String,
    names: usize,
}

impl Maker {
    fn name(&mut self, base: &str) -> String {
        self.names += 1;
        format!("{base}{}", self.names)
    }

    fn line(&mut self, scope: &Scope, text: &str) {
        let indent = "  ".repeat(scope.depth);
        let _ = writeln!(self.text, "{indent}{text}");
    }

    fn scalar(&mut self, scope: &Scope) -> String {
        let k = self.random.below(scope.scalars.len() + 1);
        scope.scalars.get(k).cloned().unwrap_or_else(|| self.random.below(7).to_string())
    }

    /// An index inside an extent.
    fn index(&mut self, scope: &Scope, extent: &str) -> String {
        let scalar = self.scalar(scope);
        match self.random.below(3) {
            0 => format!("({scalar} + 1) % {extent}"),
            1 => format!("max(0, min({scalar}, {extent}-1))"),
            _ => format!("{scalar} % {extent}"),
        }
    }

    fn read(&mut self, scope: &Scope) -> String {
        let (array, shape) = scope.arrays[self.random.below(scope.arrays.len())].clone();
        let indices: Vec<String> = shape.iter().map(|extent| self.index(scope, extent)).collect();
        format!("{array}[{}]", indices.join(", "))
    }

    /// Some statements, then a scalar to give.
    fn body(&mut self, scope: &Scope, statements: usize) -> String {
        let mut scope = scope.clone();
        for _ in 0..statements {
            self.statement(&mut scope);
        }
        let (read, scalar) = (self.read(&scope), self.scalar(&scope));
        format!("{read} + {scalar}")
    }

    fn nested(&mut self, scope: &Scope, extra: &[&str]) {
        let mut inner = Scope { depth: scope.depth + 2, ..scope.clone() };
        inner.scalars.extend(extra.iter().map(|name| name.to_string()));
        let statements = self.random.below(3);
        let result = self.body(&inner, statements);
        self.line(&inner, &format!("in {result}"));
    }

    fn statement(&mut self, scope: &mut Scope) {
        let deep = scope.depth >= 6;
        match self.random.below(if deep { 5 } else { 12 }) {
            0 | 1 => {
                let (x, read, scalar) = (self.name("x"), self.read(scope), self.scalar(scope));
                self.line(scope, &format!("let {x} = {read} * {scalar}"));
                scope.scalars.push(x);
            }
            2 | 3 => self.view(scope),
            4 => {
                let matrices: Vec<_> =
                    scope.arrays.iter().filter(|(_, shape)| shape.len() == 2).cloned().collect();
                let Some((array, shape)) = matrices.get(self.random.below(matrices.len())).cloned() else {
                    return;
                };
                let u = self.name("up");
                let at: Vec<String> = shape.iter().map(|extent| self.index(scope, extent)).collect();
                let value = self.read(scope);
                self.line(scope, &format!("let {u} = {array} with [{}] = {value}", at.join(", ")));
                scope.arrays.push((u, shape));
            }
            5 => {
                let (k, i, j) = (self.name("k"), self.name("ix"), self.name("j"));
                self.line(scope, &format!("let {k} ="));
                let both = self.random.below(2) == 0;
                let axes = if both { format!("{i} < n, {j} < m") } else { format!("{i} < n") };
                self.line(scope, &format!("  kernel {axes} do"));
                let extra: &[&str] = if both { &[&i, &j] } else { &[&i] };
                self.nested(scope, extra);
                scope.arrays.push((k, if both { vec!["n", "m"] } else { vec!["n"] }));
            }
            6 => {
                let (l, acc, t) = (self.name("l"), self.name("acc"), self.name("t"));
                self.line(scope, &format!("let {l} ="));
                let start = self.scalar(scope);
                self.line(scope, &format!("  loop {acc} = {start} for {t} < c do"));
                self.nested(scope, &[&acc, &t]);
                scope.scalars.push(l);
            }
            7 => {
                let q = self.name("q");
                self.line(scope, &format!("let {q} ="));
                let (a, b) = (self.scalar(scope), self.scalar(scope));
                self.line(scope, &format!("  if {a} < {b} then"));
                self.nested(scope, &[]);
                self.line(scope, "  else");
                self.nested(scope, &[]);
                scope.scalars.push(q);
            }
            8 => {
                let (s, j, a, b) = (self.name("s"), self.name("j"), self.name("a"), self.name("b"));
                self.line(scope, &format!("let {s} ="));
                self.line(scope, &format!("  red {j} < m do"));
                self.nested(scope, &[&j]);
                self.line(scope, &format!("  by ({a} = 0) ({b}) do"));
                self.line(scope, &format!("    in {a} + {b}"));
                scope.scalars.push(s);
            }
            9 => {
                let (w, acc) = (self.name("w"), self.name("acc"));
                self.line(scope, &format!("let {w} ="));
                let read = self.read(scope);
                self.line(scope, &format!("  loop {acc} = 0 while {acc} < {read} % 3 do"));
                let mut inner = Scope { depth: scope.depth + 2, ..scope.clone() };
                inner.scalars.push(acc.clone());
                let statements = self.random.below(2);
                let value = self.body(&inner, statements);
                self.line(&inner, &format!("in {acc} + 1 + ({value}) % 2"));
                scope.scalars.push(w);
            }
            10 => {
                let (p, ix, a, b) = (self.name("p"), self.name("ix"), self.name("a"), self.name("b"));
                self.line(scope, &format!("let {p} ="));
                self.line(scope, &format!("  scan {ix} < n do"));
                self.nested(scope, &[&ix]);
                let read = self.read(scope);
                self.line(scope, &format!("  by ({a} = 0) ({b}) do"));
                self.line(scope, &format!("    in {a} + {b} * ({read} % 2)"));
                scope.arrays.push((p, vec!["n"]));
            }
            _ => {
                // A loop that carries an array.
                let (l, acc, t, u) = (self.name("l"), self.name("acc"), self.name("t"), self.name("up"));
                self.line(scope, &format!("let {l} ="));
                self.line(scope, &format!("  loop {acc} = A for {t} < c do"));
                let mut inner = Scope { depth: scope.depth + 2, ..scope.clone() };
                inner.scalars.push(t);
                inner.arrays.push((acc.clone(), vec!["n", "m"]));
                let statements = self.random.below(3);
                let value = self.body(&inner, statements);
                self.line(&inner, &format!("let {u} = {acc} with [0, 0] = {value}"));
                self.line(&inner, &format!("in {u}"));
                scope.arrays.push((l, vec!["n", "m"]));
            }
        }
    }

    fn view(&mut self, scope: &mut Scope) {
        let matrices: Vec<_> = scope.arrays.iter().filter(|(_, shape)| shape.len() == 2).cloned().collect();
        let (array, shape) = matrices[self.random.below(matrices.len())].clone();
        let v = self.name("v");
        let (rows, columns) = (shape[0], shape[1]);
        let (text, shape) = match self.random.below(6) {
            0 => (format!("{array}[{}, 0 :+ {columns} * 1]", self.index(scope, rows)), vec![columns]),
            1 => (format!("{array}[0 :+ {rows} * 1, {}]", self.index(scope, columns)), vec![rows]),
            2 => (format!("{array}[{rows}-1 :+ {rows} * (-1)]"), shape),
            3 => (format!("transpose {array}"), vec![columns, rows]),
            4 => (format!("reverse {array}"), shape),
            _ => (array, shape),
        };
        self.line(scope, &format!("let {v} = {text}"));
        scope.arrays.push((v, shape));
    }
}

fn program(seed: u64) -> String {
    let mut maker = Maker { random: Random::new(seed), text: String::new(), names: 0 };
    maker.text.push_str("region random (n : i64, m : i64, c : i64, A : [n][m]i64, B : [m][n]i64)\n");
    let mut scope = Scope {
        scalars: vec!["c".into()],
        arrays: vec![("A".into(), vec!["n", "m"]), ("B".into(), vec!["m", "n"])],
        depth: 0,
    };
    for _ in 0..3 + maker.random.below(4) {
        maker.statement(&mut scope);
    }
    let scalar = maker.scalar(&scope);
    let read = maker.read(&scope);
    maker.line(&scope, &format!("let last = {read} + {scalar}"));
    let mut results = vec!["last".to_string()];
    results.extend(scope.arrays.iter().skip(2).map(|(name, _)| name.clone()));
    let results = if results.len() == 1 { results.remove(0) } else { format!("({})", results.join(", ")) };
    maker.line(&scope, &format!("in {results}"));
    maker.text
}

fn verified(text: &str) -> VerifiedRegion {
    let mut region = parse_region(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    types::infer(&mut region);
    verify(region).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

fn inputs(random: &mut Random) -> (Vec<Value>, Observed) {
    let sizes = [1 + random.below(4), 1 + random.below(4), random.below(3)].map(|size| size as i64);
    let mut values: Vec<Value> = sizes.iter().map(|size| Value::int(*size)).collect();
    let mut params: Vec<ObservedParam> =
        sizes.iter().map(|size| ObservedParam::Scalar(galopvm_base::Scalar::i64(*size))).collect();
    for shape in [[sizes[0], sizes[1]], [sizes[1], sizes[0]]] {
        let count = (shape[0] * shape[1]) as usize;
        let data = (0..count).map(|_| random.below(100) as u64).collect();
        values.push(Value::new(ElemType::I64, shape.to_vec(), data));
        params.push(ObservedParam::Array {
            lmad: Lmad::row_major(&shape),
            block: params.len() as u32,
            block_elements: count as i64,
            references: 1,
        });
    }
    (values, Observed { params })
}

/// Copies that somebody may ask for, sensible or not.
fn copies(random: &mut Random, table: &Table) -> Vec<Copy> {
    let mut rows: BTreeMap<VarId, Vec<usize>> = BTreeMap::new();
    for (k, row) in table.rows.iter().enumerate() {
        if matches!(row.role, Role::Read(_)) && random.below(4) > 0 {
            rows.entry(row.array).or_default().push(k);
        }
    }
    let question = Question {
        best_already: false,
        fits: false,
        misses_only: false,
        runs: 1,
        read: 1,
        elements: 1,
        before: 1,
        after: 0,
        cost: 0,
        rebuilt: false,
        bytes: 0,
        budget: 0,
        held: false,
    };
    rows.into_iter()
        .map(|(array, rows)| {
            let rank = table.rows[rows[0]].dims.len();
            let order = (0..rank).rev().collect();
            Copy { array, order, rows, question: question.clone(), verdict: Verdict::Manifest }
        })
        .collect()
}

/// Copies of every part that is less than its array.
fn parts(facts: &Table) -> Vec<PartCopy> {
    let (costs, profile) = (Costs::default(), Profile::default());
    let pricing = Pricing { table: facts, costs: &costs, target: Target::Gpu, profile: &profile, sharing: 1 };
    let part = |row: usize| {
        let here = &facts.rows[row];
        let order: Vec<usize> = (0..here.dims.len()).rev().collect();
        let read = matches!(here.role, Role::Read(_));
        pricing.part_copy(row, *here.nest.last()?, &order, &Means::default()).filter(|_| read)
    };
    (0..facts.rows.len()).filter_map(part).collect()
}

/// Everything that is decided, in text.
fn everything(region: &VerifiedRegion, facts: &Table) -> String {
    let (costs, profile) = (Costs::default(), Profile::default());
    let mut text = facts.report(region);
    for target in Target::ALL {
        let pricing = Pricing { table: facts, costs: &costs, target, profile: &profile, sharing: 1 };
        text.push_str(&pricing.explain(region, &Means::default()));
        text.push_str(&decide(&pricing, &[], &Means::default()).text(region.region(), &pricing));
        for kernel in pricing.kernels() {
            for strategy in kernel_strategies(&pricing, kernel) {
                text.push_str(&strategy.text(region.region()));
            }
        }
    }
    text
}

/// What is decided where copies cost nearly nothing.
fn decided(region: &VerifiedRegion, facts: &Table, profile: &Profile) -> Vec<(Region, usize)> {
    let mut costs = Costs::default();
    (costs.gpu.launch_bytes, costs.cpu.copy_line, costs.cpu.copy_start) = (1, 1, 1);
    costs.cpu.cache_lines = 1;
    let choose = |target| {
        let pricing = Pricing { table: facts, costs: &costs, target, profile, sharing: 1 };
        let copies = decide(&pricing, &[], &Means::default()).copies;
        let changed = transform(region.region(), facts, &copies.iter().collect::<Vec<_>>(), profile);
        (changed, copies.len())
    };
    Target::ALL.map(choose).into()
}

fn manifests(region: &Region) -> (usize, usize) {
    let (mut all, mut in_kernels) = (0, 0);
    region.body.visit_stms(&mut |stm| {
        let mut inside = 0;
        stm.rhs.each_part(&mut |part| {
            if let galopvm_kir::walk::Part::Body(body) = part {
                body.visit_stms(&mut |stm| inside += usize::from(matches!(stm.rhs, Rhs::Manifest { .. })));
            }
        });
        all += usize::from(matches!(stm.rhs, Rhs::Manifest { .. }));
        in_kernels += if stm.rhs.parallel_axes().is_empty() { 0 } else { inside };
    });
    (all, in_kernels)
}

#[test]
fn copies_change_no_result() {
    let (mut made, mut branches, mut views, mut wanted) = (0, 0, 0, 0);
    let (mut part_copies, mut moved_parts) = (0, 0);
    for seed in 0..700 {
        let text = program(seed * 7919 + 1);
        let region = verified(&text);
        let code = region.region();
        let mut random = Random::new(seed);
        let (values, observed) = inputs(&mut random);
        let facts = table(&region, &observed);
        let copies = copies(&mut random, &facts);
        let text_of_all = everything(&region, &facts);
        assert_eq!(text_of_all, everything(&region, &facts), "the same every time");
        let mut profile = Profile::default();
        code.body.visit_stms(&mut |stm| {
            if matches!(stm.rhs, Rhs::If { .. }) && random.below(2) == 0 {
                profile.taken.insert(stm.pat[0], random.below(1001) as u32);
            }
        });
        let changed = transform(code, &facts, &copies.iter().collect::<Vec<_>>(), &profile);
        let printed = print_region(&changed);
        let context = || format!("seed {seed}\n{text}\n{printed}");
        let changed = verify(changed).unwrap_or_else(|e| panic!("{e:?}\n{}", context()));
        assert_eq!(verified(&printed).region(), changed.region(), "{}", context());
        let (all, in_kernels) = manifests(changed.region());
        assert_eq!(in_kernels, 0, "{}", context());
        let (before, after) = (evaluate(&region, &values), evaluate(&changed, &values));
        assert_eq!(format!("{before:?}"), format!("{after:?}"), "{}", context());
        let parts = parts(&facts);
        let changed = transform_with_parts(code, &facts, &[], &parts.iter().collect::<Vec<_>>(), &profile);
        let printed = print_region(&changed);
        let changed = verify(changed).unwrap_or_else(|e| panic!("{e:?}\n{printed}"));
        assert_eq!(verified(&printed).region(), changed.region(), "{printed}");
        assert_eq!(format!("{before:?}"), format!("{:?}", evaluate(&changed, &values)), "{printed}");
        part_copies += manifests(changed.region()).0;
        moved_parts += parts.iter().filter(|part| part.part.iter().any(|(start, _)| *start > 0)).count();
        for (changed, copies) in decided(&region, &facts, &profile) {
            let changed = verify(changed).unwrap_or_else(|e| panic!("{e:?}\n{}", context()));
            let after = evaluate(&changed, &values);
            assert_eq!(format!("{before:?}"), format!("{after:?}"), "{}", print_region(changed.region()));
            wanted += copies;
        }
        made += all;
        branches += usize::from(all > 0 && printed.contains("then"));
        views += copies
            .iter()
            .flat_map(|copy| &copy.rows)
            .filter(|row| !facts.rows[**row].views.is_empty())
            .count();
    }
    // Programs in which nothing happens would agree as well.
    assert!(part_copies > 100 && moved_parts > 20, "{part_copies} parts, {moved_parts} with a beginning");
    assert!(wanted > 25, "{wanted} copies are decided on");
    assert!(
        made > 700 && branches > 100 && views > 250,
        "{made} copies, {branches} with branches, {views} views"
    );
}

const HOISTED: &str = "\
region hoisted (T : i64, n : i64, m : i64, c : bool, A : [n][m]i64)
let out =
  loop acc = 0 for t < T do
    let s =
      if c then
        let r =
          kernel i < n do
            let row = A[i, 0 :+ m * 1]
            let q =
              loop p = 0 for j < m do
                let x = row[j]
                in p + x
            in q
        in r[0]
      else
        in 0
    in acc + s
in out
";

/// The copy of `A` for all its reads, in text.
fn hoisted(taken: Option<u32>) -> String {
    let region = verified(HOISTED);
    let (_, mut observed) = inputs(&mut Random::new(1));
    observed.params.truncate(3);
    observed.params.push(ObservedParam::Scalar(galopvm_base::Scalar::bool(true)));
    let lmad = Lmad::row_major(&[4, 4]);
    observed.params.push(ObservedParam::Array { lmad, block: 0, block_elements: 16, references: 1 });
    let facts = table(&region, &observed);
    let code = region.region();
    let var =
        |name: &str| code.vars.iter_ids().find(|(_, v)| v.name == name).map(|(id, _)| id).expect("a name");
    let all: Vec<usize> = (0..facts.rows.len()).filter(|row| facts.rows[*row].array == var("A")).collect();
    let mut copy = copies(&mut Random::new(0), &facts).remove(0);
    copy.array = var("A");
    copy.order = vec![1, 0];
    copy.rows = all;
    let mut profile = Profile::default();
    profile.taken.extend(taken.map(|taken| (var("s"), taken)));
    let changed = transform(code, &facts, &[&copy], &profile);
    plain_text(&changed).lines().map(|line| format!("{}\n", line.trim())).collect()
}

#[test]
fn copies_go_out_of_loops_and_only_of_likely_branches() {
    let likely = hoisted(Some(900));
    assert!(likely.starts_with("let A' = manifest((1,0), A)\nlet out =\n"), "{likely}");
    for unlikely in [hoisted(Some(100)), hoisted(None)] {
        assert!(unlikely.contains("then\nlet A' = manifest((1,0), A)\nlet r =\n"), "{unlikely}");
    }
    assert!(likely.contains("let row = A'[i, 0 :+ m * 1]\n"), "{likely}");
}
