//! Fusion changes no result and no trap: random programs of kernels that read each other, executed before and after.

use galopvm_analysis::fusion::{Fusion, Fusions, Reason, apply, decide};
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::evaluate::{Value, evaluate};
use galopvm_kir::text::{parse_region, print_region};
use galopvm_kir::{Observed, ObservedParam, VerifiedRegion, types, verify};
use galopvm_lmad::Lmad;
use galopvm_testkit::{Random, rounds};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What can be named at a place.
#[derive(Clone, Default)]
struct Scope {
    /// Iteration variables with their bounds.
    axes: Vec<(String, String)>,
    scalars: Vec<String>,
    arrays: Vec<(String, Vec<String>)>,
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

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(depth));
    }

    /// An index into an extent; rarely one that may lie outside.
    fn index(&mut self, scope: &Scope, extent: &str) -> String {
        let fitting: Vec<&(String, String)> =
            scope.axes.iter().filter(|(_, bound)| bound == extent).collect();
        if fitting.is_empty() {
            // A part of an array is smaller than what its indices usually run over.
            if let (true, Some((axis, _))) = (self.random.below(4) == 0, scope.axes.last()) {
                return axis.clone();
            }
            let scalar = self.scalar(scope);
            return self
                .random
                .pick(&[
                    "0".to_string(),
                    format!("{extent}-1"),
                    format!("max(0, min({scalar}, {extent}-1))"),
                    format!("({scalar}) % {extent}"),
                ])
                .clone();
        }
        let axis = fitting[self.random.below(fitting.len())].0.clone();
        match self.random.below(24) {
            0..=13 => axis,
            14..=16 => format!("{extent}-1-{axis}"),
            17 => format!("max(0, {axis}-1)"),
            18 => format!("min({extent}-1, {axis}+1)"),
            19 => format!("({axis} + 1) % {extent}"),
            20 => "0".into(),
            21 => format!("{axis} + 1"),
            22 => format!("max(0, min({}, {extent}-1))", self.scalar(scope)),
            _ => format!("({}) % {extent}", self.scalar(scope)),
        }
    }

    fn scalar(&mut self, scope: &Scope) -> String {
        let mut all: Vec<String> = scope.scalars.clone();
        all.extend(scope.axes.iter().map(|(axis, _)| axis.clone()));
        all.push(self.random.below(5).to_string());
        self.random.pick(&all).clone()
    }

    fn read(&mut self, scope: &Scope) -> String {
        // The last arrays are read more often.
        let count = scope.arrays.len();
        let at = if self.random.below(3) > 0 {
            count - 1 - self.random.below(count.min(3))
        } else {
            self.random.below(count)
        };
        let (array, shape) = scope.arrays[at].clone();
        let index: Vec<String> = shape.iter().map(|extent| self.index(scope, extent)).collect();
        format!("{array}[{}]", index.join(", "))
    }

    fn value(&mut self, scope: &Scope) -> String {
        let (read, scalar) = (self.read(scope), self.scalar(scope));
        match self.random.below(12) {
            0 => format!("{read} / {}", self.read(scope)),
            1 => format!("{read} * {} + {scalar}", self.read(scope)),
            2 => format!("select({read} > {scalar}, {}, 1)", self.read(scope)),
            3 => format!("{read} % 7"),
            4 => scalar,
            _ => format!("{read} + {scalar}"),
        }
    }

    /// Statements, and what they give.
    fn body(&mut self, scope: &Scope, statements: usize) {
        let mut scope = scope.clone();
        for _ in 0..statements {
            self.inner(&mut scope);
        }
        let value = self.value(&scope);
        self.line(scope.depth, &format!("in {value}"));
    }

    fn deeper(scope: &Scope, axes: &[(String, String)]) -> Scope {
        let mut inner = Scope { depth: scope.depth + 2, ..scope.clone() };
        inner.axes.extend_from_slice(axes);
        inner
    }

    /// A statement inside a kernel.
    fn inner(&mut self, scope: &mut Scope) {
        let depth = scope.depth;
        match self.random.below(if depth > 4 { 3 } else { 10 }) {
            0..=2 => {
                let (x, value) = (self.name("x"), self.value(scope));
                self.line(depth, &format!("let {x} = {value}"));
                scope.scalars.push(x);
            }
            3 => {
                let q = self.name("q");
                let condition = match scope.axes.last().cloned() {
                    Some((axis, bound)) if self.random.below(2) == 0 => {
                        self.random.pick(&[format!("{axis} > 0"), format!("{axis} < {bound} - 1")]).clone()
                    }
                    _ => format!("{} > 2", self.value(scope)),
                };
                self.line(depth, &format!("let {q} ="));
                self.line(depth, &format!("  if {condition} then"));
                self.body(&Self::deeper(scope, &[]), 0);
                self.line(depth, "  else");
                self.body(&Self::deeper(scope, &[]), 0);
                scope.scalars.push(q);
            }
            4 => {
                let s = self.name("s");
                self.reduction(scope, &s, 1);
                scope.scalars.push(s);
            }
            5 => {
                let (l, acc, t) = (self.name("l"), self.name("acc"), self.name("t"));
                let bound = self.random.pick(&["n", "m", "c"]).to_string();
                self.line(depth, &format!("let {l} ="));
                self.line(depth, &format!("  loop {acc} : i64 = 0 for {t} < {bound} do"));
                let mut inner = Self::deeper(scope, &[(t, bound)]);
                inner.scalars.push(acc);
                self.body(&inner, 1);
                scope.scalars.push(l);
            }
            6 => {
                let (w, acc) = (self.name("w"), self.name("acc"));
                let limit = self.read(scope);
                self.line(depth, &format!("let {w} ="));
                self.line(depth, &format!("  loop {acc} : i64 = 0 while {acc} < {limit} % 3 do"));
                let inner = Self::deeper(scope, &[]);
                let value = self.read(&inner);
                self.line(inner.depth, &format!("in {acc} + 1 + {value} % 2"));
                scope.scalars.push(w);
            }
            7 => self.view(scope),
            8 => self.scatter(scope),
            _ => self.kernel(scope),
        }
    }

    /// Sums, and a kernel that reads them alike in all iterations of its first axes.
    fn alike(&mut self, scope: &mut Scope) {
        let [k, s, i, r, q, j, x] = ["k", "s", "ix", "k", "q", "j", "x"].map(|base| self.name(base));
        self.line(scope.depth, &format!("let {k} ="));
        self.line(scope.depth, &format!("  kernel {i} < n do"));
        let inner = Self::deeper(scope, &[(i, "n".into())]);
        self.reduction(&inner, &s, 1);
        self.line(inner.depth, &format!("in {s}"));
        let rows = self.random.pick(&["3", "2", "1"]).to_string();
        self.line(scope.depth, &format!("let {r} ="));
        self.line(scope.depth, &format!("  kernel {q} < {rows}, {j} < n do"));
        let mut inner = Self::deeper(scope, &[(q.clone(), rows.clone()), (j.clone(), "n".into())]);
        let first = self.value(&inner);
        self.line(inner.depth, &format!("let {x} = {k}[{j}] + {first}"));
        inner.scalars.push(x.clone());
        let second = self.value(&inner);
        self.line(inner.depth, &format!("in {second} * {k}[{j}] + {x} * {q}"));
        scope.arrays.extend([(k, vec!["n".into()]), (r, vec![rows, "n".into()])]);
    }

    fn reduction(&mut self, scope: &Scope, name: &str, statements: usize) {
        let (j, a, b) = (self.name("j"), self.name("a"), self.name("b"));
        let bound = self.random.pick(&["n", "m"]).to_string();
        self.line(scope.depth, &format!("let {name} ="));
        self.line(scope.depth, &format!("  red {j} < {bound} do"));
        let count = self.random.below(statements + 1);
        self.body(&Self::deeper(scope, &[(j, bound)]), count);
        let operator =
            self.random.pick(&[format!("{a} + {b}"), format!("max({a}, {b})"), format!("{a} * {b}")]).clone();
        self.line(scope.depth, &format!("  by ({a} = 0) ({b}) do"));
        self.line(scope.depth, &format!("    in {operator}"));
    }

    fn kernel(&mut self, scope: &mut Scope) {
        let (k, i, j) = (self.name("k"), self.name("ix"), self.name("j"));
        let shape: Vec<String> = match self.random.below(6) {
            0 | 1 => vec!["n".into()],
            2 => vec!["m".into()],
            3 => vec!["3".into(), "n".into()],
            _ => vec!["n".into(), "m".into()],
        };
        let axes: Vec<(String, String)> = [i, j].into_iter().zip(shape.iter().cloned()).collect();
        let bounds: Vec<String> = axes.iter().map(|(axis, bound)| format!("{axis} < {bound}")).collect();
        self.line(scope.depth, &format!("let {k} ="));
        self.line(scope.depth, &format!("  kernel {} do", bounds.join(", ")));
        let count = self.random.below(3);
        self.body(&Self::deeper(scope, &axes), count);
        scope.arrays.push((k, shape));
    }

    /// A scatter, or a histogram, into one or two arrays of a shape that was not made by a view.
    fn scatter(&mut self, scope: &mut Scope) {
        let is_plain = |(name, _): &&(String, Vec<String>)| !name.starts_with('v');
        let all: Vec<(String, Vec<String>)> = scope.arrays.iter().filter(is_plain).cloned().collect();
        let (array, shape) = self.random.pick(&all).clone();
        let others: Vec<(String, Vec<String>)> =
            all.into_iter().filter(|(_, other)| *other == shape).collect();
        let mut arrays = vec![array];
        if self.random.below(3) == 0 {
            arrays.push(self.random.pick(&others).0.clone());
        }
        let names: Vec<String> = arrays.iter().map(|_| self.name("k")).collect();
        let axes: Vec<(String, String)> = match self.random.below(3) {
            0 => vec![(self.name("t"), "n".into()), (self.name("t"), "m".into())],
            1 => vec![(self.name("t"), "m".into())],
            _ => vec![(self.name("t"), "n".into())],
        };
        let is_hist = self.random.below(2) == 0;
        let word = if is_hist { "hist" } else { "scatter" };
        let bounds: Vec<String> = axes.iter().map(|(axis, bound)| format!("{axis} < {bound}")).collect();
        let depth = scope.depth;
        self.line(depth, &format!("let ({}) =", names.join(", ")));
        self.line(depth, &format!("  {word} ({}) {} do", arrays.join(", "), bounds.join(", ")));
        let mut inner = Self::deeper(scope, &axes);
        for _ in 0..self.random.below(2) {
            self.inner(&mut inner);
        }
        let mut results: Vec<String> = shape.iter().map(|_| format!("{} - 1", self.read(&inner))).collect();
        results.extend(arrays.iter().map(|_| self.value(&inner)));
        self.line(inner.depth, &format!("in ({})", results.join(", ")));
        if is_hist {
            let accs: Vec<String> = arrays.iter().map(|_| self.name("a")).collect();
            let items: Vec<String> = arrays.iter().map(|_| self.name("b")).collect();
            let neutral: Vec<String> = accs.iter().map(|acc| format!("{acc} = 0")).collect();
            // Not commutative, so that the order shows.
            let combined: Vec<String> =
                accs.iter().zip(&items).map(|(acc, item)| format!("{acc} * 3 + {item}")).collect();
            self.line(depth, &format!("  by ({}) ({}) do", neutral.join(", "), items.join(", ")));
            self.line(depth, &format!("    in ({})", combined.join(", ")));
        }
        scope.arrays.extend(names.into_iter().map(|name| (name, shape.clone())));
    }

    fn view(&mut self, scope: &mut Scope) {
        let at = scope.arrays.len() - 1 - self.random.below(scope.arrays.len().min(3));
        let (array, shape) = scope.arrays[at].clone();
        let v = self.name("v");
        let (text, shape) = match (self.random.below(8), shape.as_slice()) {
            (0, [a, b]) => (format!("transpose {array}"), vec![b.clone(), a.clone()]),
            (1, [a, b]) => {
                let row = self.index(scope, a);
                (format!("{array}[{row}, 0 :+ {b} * 1]"), vec![b.clone()])
            }
            (2, [a, b]) => (format!("flatten {array}"), vec![format!("({a}*{b})")]),
            (3, [a]) => (format!("{array}[{a}-1 :+ {a} * (-1)]"), shape.clone()),
            (4, [a]) => (format!("{array}[[{a}-1 + {{({a}:-1)}}]]"), shape.clone()),
            (5, [a]) => {
                (format!("{array}[{} :+ ({a}-1) * 1]", self.random.below(2)), vec![format!("({a}-1)")])
            }
            (6, _) => (format!("copy {array}"), shape.clone()),
            _ => (format!("reverse {array}"), shape.clone()),
        };
        self.line(scope.depth, &format!("let {v} = {text}"));
        scope.arrays.push((v, shape));
    }

    /// A statement of the region.
    fn outer(&mut self, scope: &mut Scope) {
        match self.random.below(20) {
            0..=6 => self.kernel(scope),
            18 | 19 => self.alike(scope),
            16 | 17 => self.scatter(scope),
            7 | 8 => self.view(scope),
            9 => {
                let s = self.name("s");
                self.reduction(scope, &s, 2);
                scope.scalars.push(s);
            }
            10 => {
                let (p, i, a, b) = (self.name("p"), self.name("ix"), self.name("a"), self.name("b"));
                self.line(scope.depth, &format!("let {p} ="));
                self.line(scope.depth, &format!("  scan {i} < n do"));
                self.body(&Self::deeper(scope, &[(i, "n".into())]), 1);
                self.line(scope.depth, &format!("  by ({a} = 0) ({b}) do"));
                self.line(scope.depth, &format!("    in {a} + {b}"));
                scope.arrays.push((p, vec!["n".into()]));
            }
            11 => {
                let (array, shape) = self.random.pick(&scope.arrays).clone();
                let (u, value) = (self.name("up"), self.read(scope));
                let at: Vec<String> = shape.iter().map(|extent| self.index(scope, extent)).collect();
                self.line(scope.depth, &format!("let {u} = {array} with [{}] = {value}", at.join(", ")));
                scope.arrays.push((u, shape));
            }
            12 => {
                let z = self.name("z");
                let extent = self.random.pick(&["n", "m"]).to_string();
                let text = self
                    .random
                    .pick(&[format!("iota [{extent}]"), format!("replicate [{extent}] 3")])
                    .clone();
                self.line(scope.depth, &format!("let {z} = {text}"));
                scope.arrays.push((z, vec![extent]));
            }
            13 => {
                let s = self.name("s");
                let flat: Vec<String> = scope
                    .arrays
                    .iter()
                    .filter(|(_, shape)| shape.len() == 1)
                    .map(|(a, _)| a.clone())
                    .collect();
                let array = self.random.pick(&flat).clone();
                self.line(scope.depth, &format!("let {s} = reduce + {array}"));
                scope.scalars.push(s);
            }
            14 => {
                // Two results of one kernel.
                let (k, l, i) = (self.name("k"), self.name("k"), self.name("ix"));
                self.line(scope.depth, &format!("let ({k}, {l}) ="));
                self.line(scope.depth, &format!("  kernel {i} < n do"));
                let inner = Self::deeper(scope, &[(i, "n".into())]);
                let (x, y) = (self.value(&inner), self.value(&inner));
                self.line(inner.depth, &format!("in ({x}, {y})"));
                scope.arrays.extend([(k, vec!["n".to_string()]), (l, vec!["n".to_string()])]);
            }
            _ => {
                let (l, acc, t) = (self.name("l"), self.name("acc"), self.name("t"));
                self.line(scope.depth, &format!("let {l} ="));
                self.line(scope.depth, &format!("  loop {acc} = V for {t} < c do"));
                let mut inner = Self::deeper(scope, &[]);
                inner.scalars.push(t);
                inner.arrays.push((acc, vec!["n".into()]));
                for _ in 0..1 + self.random.below(3) {
                    self.kernel(&mut inner);
                }
                let (g, i) = (self.name("g"), self.name("ix"));
                self.line(inner.depth, &format!("let {g} ="));
                self.line(inner.depth, &format!("  kernel {i} < n do"));
                self.body(&Self::deeper(&inner, &[(i, "n".into())]), 0);
                self.line(inner.depth, &format!("in {g}"));
                scope.arrays.push((l, vec!["n".into()]));
            }
        }
    }
}

fn program(seed: u64) -> String {
    let mut maker = Maker { random: Random::new(seed), text: String::new(), names: 0 };
    maker.text.push_str("region random (n : i64, m : i64, c : i64, A : [n][m]i64, V : [n]i64, W : [m]i64)\n");
    let array =
        |name: &str, shape: &[&str]| (name.to_string(), shape.iter().map(|s| s.to_string()).collect());
    let mut scope = Scope {
        scalars: vec!["c".into()],
        arrays: vec![array("A", &["n", "m"]), array("V", &["n"]), array("W", &["m"])],
        ..Scope::default()
    };
    for _ in 0..3 + maker.random.below(6) {
        maker.outer(&mut scope);
    }
    let mut results: Vec<String> = scope.scalars.iter().skip(1).cloned().collect();
    // Flat shapes are no extents of parameters, but products of them, which is fine for results.
    let (last, earlier) = scope.arrays.split_last().expect("there are arrays");
    results.push(last.0.clone());
    let kept = earlier.iter().skip(3).filter(|_| maker.random.below(6) == 0);
    results.extend(kept.map(|(name, _)| name.clone()));
    let results = if results.len() == 1 { results.remove(0) } else { format!("({})", results.join(", ")) };
    maker.line(0, &format!("in {results}"));
    maker.text
}

fn verified(text: &str) -> VerifiedRegion {
    let mut region = parse_region(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    types::infer(&mut region);
    verify(region).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

fn inputs(random: &mut Random, least: usize) -> (Vec<Value>, Observed) {
    let sizes = [least + random.below(4), least + random.below(4), random.below(3)].map(|size| size as i64);
    let mut values: Vec<Value> = sizes.iter().map(|size| Value::int(*size)).collect();
    let mut params: Vec<ObservedParam> =
        sizes.iter().map(|size| ObservedParam::Scalar(Scalar::i64(*size))).collect();
    for shape in [vec![sizes[0], sizes[1]], vec![sizes[0]], vec![sizes[1]]] {
        let count = shape.iter().product::<i64>();
        let data = (0..count).map(|_| random.below(6) as u64).collect();
        values.push(Value::new(ElemType::I64, shape.clone(), data));
        params.push(ObservedParam::Array {
            lmad: Lmad::row_major(&shape),
            block: params.len() as u32,
            block_elements: count,
            references: 1,
        });
    }
    (values, Observed { params })
}

#[test]
fn fusion_changes_no_result_and_no_trap() {
    let (mut fused, mut joined, mut fed, mut turned, mut traps, mut values) = (0, 0, 0, 0, 0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let rounds = rounds(700);
    for seed in 0..rounds {
        let text = program(seed * 7919 + 1);
        let region = verified(&text);
        let mut random = Random::new(seed);
        let (_, observed) = inputs(&mut random, 1);
        let fusions = decide(&region, &observed);
        assert_eq!(fusions, decide(&region, &observed), "the same every time");
        let lines = fusions.text(region.region());
        assert_eq!(Fusions::parse(region.region(), &lines).as_ref(), Ok(&fusions));
        let after = apply(&region, &fusions);
        let printed = print_region(after.region());
        let context = || format!("seed {seed}\n{text}\n{lines}\n{printed}");
        let after = verify(after.region().clone()).unwrap_or_else(|e| panic!("{e:?}\n{}", context()));
        assert_eq!(verified(&printed).region(), after.region(), "{}", context());
        for line in &fusions.lines {
            match &line.fusion {
                Fusion::Fuse(made, _) => {
                    fused += 1;
                    let name = region.region().name_of(*made);
                    assert!(!printed.contains(&format!("let {name} : [")), "{name} is made: {}", context());
                }
                Fusion::Join(..) => joined += 1,
                Fusion::Feed(..) => fed += 1,
                Fusion::Turn(_) => turned += 1,
                Fusion::Keep(_) => {
                    let reason = format!("{:?}", line.reason);
                    let kind = reason.split('(').next().unwrap_or_default();
                    *reasons.entry(kind.to_string()).or_default() += 1;
                }
            }
        }
        for least in [0, 1, 2] {
            let (arguments, _) = inputs(&mut random, least);
            let (x, y) = (evaluate(&region, &arguments), evaluate(&after, &arguments));
            assert_eq!(x, y, "{}", context());
            *(if x.is_ok() { &mut values } else { &mut traps }) += 1;
        }
    }
    println!(
        "{fused} fused, {joined} joined, {fed} fed, {turned} turned, {values} with values, {traps} traps"
    );
    reasons.iter().for_each(|(reason, count)| println!("{count:6} {reason}"));
    // Programs in which nothing happens would agree as well.
    assert!(fused as u64 > rounds / 4 && joined as u64 > rounds / 20, "{fused} fused, {joined} joined");
    assert!(fed > 0, "no scan is read as it is computed");
    assert!(turned as u64 > rounds / 200, "{turned} turned");
    assert!(values as u64 > rounds / 2 && traps as u64 > rounds / 20, "{values} with values, {traps} traps");
}

/// A decision about one region, made in another one: what is not right there is left out.
#[test]
fn foolish_decisions_change_no_result() {
    let mut made = 0;
    for seed in 0..600u64 {
        let region = verified(&program(seed * 104_729 + 5));
        let code = region.region();
        let mut random = Random::new(seed);
        let mut fusions = Fusions::default();
        let names: Vec<_> = code.body.stms.iter().map(|stm| stm.pat[0]).collect();
        for _ in 0..6 {
            let at = random.below(names.len());
            let (a, b) = (names[at], *random.pick(&names[at..names.len().min(at + 3)]));
            let fusion = if random.below(2) == 0 { Fusion::Fuse(a, vec![b]) } else { Fusion::Join(a, b) };
            let reason = Reason::Held();
            fusions.lines.push(galopvm_analysis::fusion::FusionLine { fusion, reason, saving: None });
        }
        let after = apply(&region, &fusions);
        let after = verify(after.region().clone()).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        made += usize::from(after != region);
        let (arguments, _) = inputs(&mut random, 0);
        assert_eq!(evaluate(&region, &arguments), evaluate(&after, &arguments), "seed {seed}");
    }
    assert!(made > 20, "{made} regions were changed");
}
