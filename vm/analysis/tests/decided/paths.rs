//! Paths through views: their text for a region, and against execution for random chains of views. An array holds the place
//! of each of its elements, so what is read through a view is the place that its path has to lead to.

use galopvm_analysis::index::{Path, Paths, table};
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::evaluate::{Value, evaluate};
use galopvm_kir::text::parse_region;
use galopvm_kir::types::scalar_value;
use galopvm_kir::{Exp, Observed, ObservedParam, Region, VarId, VerifiedRegion, types, verify};
use galopvm_lmad::Lmad;
use galopvm_testkit::Random;

fn verified(text: &str) -> VerifiedRegion {
    let mut region = parse_region(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    types::infer(&mut region);
    verify(region).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

fn named(region: &Region, name: &str) -> VarId {
    let found = region.vars.iter_ids().find(|(_, var)| var.name.as_str() == name);
    found.unwrap_or_else(|| panic!("there is no {name}")).0
}

#[test]
fn paths_in_text() {
    let region = verified(
        "\
region paths (n : i64, m : i64, c : i64, A : [n][m]f32, B : [n]f32)
let same = A
let turned = transpose A
let part = turned[1 :+ 3 * c, c]
let back = reverse part
let flat = B[[2 + {(3:c),(2:1)}]]
let shape = reshape [n*m] A
let of_shape = shape[c :+ 2 * 1]
let r =
  kernel i < 3 do
    let row = A[i + 1]
    let x = row[i * 2] + back[i] + flat[i, 1] + of_shape[1] + same[i, c]
    in x
in r
",
    );
    let expected = "\
same : A [_0, _1]
turned : A [_1, _0]
part : A [c, 1 + _0 * c : 3]
back : A [c, c*2+1 + _0 * -1 * c : 3]
flat : B [2 + _0 * c : 3 + _1 * 1 : 2]
of_shape : shape [c + _0 * 1 : 2]
row : A [i+1, _0]
read0 : A [c, 1 + _0 * c : 3]
read1 : B [2 + _0 * c : 3 + _1 * 1 : 2]
read2 : shape [c + _0 * 1 : 2]
read3 : A [i+1, _0]
read4 : A [i+1, i*2]
read5 : A [c, c*(-1*i)+(c*2+1)]
read6 : B [1+(c*i+2)]
read7 : shape [1+c]
read8 : A [i, c]
";
    assert_eq!(Paths::new(region.region()).report(), expected);
}

/// `start :+ count * step` inside an extent, with its count; the start is written with a name.
fn slice(random: &mut Random, extent: i64) -> (String, i64) {
    let count = 1 + random.below(extent);
    let most = if count == 1 { 1 } else { ((extent - 1) / (count - 1)).max(1) };
    let step = 1 + random.below(most);
    let first = random.below(extent - (count - 1) * step);
    let (first, step) = match random.below(3) {
        0 => (first + (count - 1) * step, -step),
        _ => (first, step),
    };
    (format!("c + {} :+ {count} * {step}", first - C), count)
}

/// The right side of a view of `of`, and its shape.
fn view(random: &mut Random, of: &str, shape: &[i64]) -> (String, Vec<i64>) {
    let rank = shape.len();
    match random.below(7) {
        0 => (of.to_string(), shape.to_vec()),
        1 => (format!("reverse {of}"), shape.to_vec()),
        2 if rank >= 2 => {
            let swapped = [&[shape[1], shape[0]], &shape[2..]].concat();
            (format!("transpose {of}"), swapped)
        }
        3 => {
            let perm = random.permutation(rank);
            let text: Vec<String> = perm.iter().map(usize::to_string).collect();
            (format!("rearrange ({}) {of}", text.join(",")), perm.iter().map(|dim| shape[*dim]).collect())
        }
        4 => {
            let rows = 1 + random.below(shape[0]);
            let (inner, outer) = (1 + random.below(shape[0] - rows + 1), 1 + random.below(2));
            let room = shape[0] - 1 - (rows - 1) - (inner - 1);
            let outer = outer.min(1 + room / rows.max(2));
            let text = format!("{of}[[c - {C} + {{({rows}:{outer}),({inner}:1)}}]]");
            match (rows - 1) * outer + inner <= shape[0] {
                true => (text, [&[rows, inner], &shape[1..]].concat()),
                false => (of.to_string(), shape.to_vec()),
            }
        }
        _ => {
            let (mut index, mut left) = (Vec::new(), Vec::new());
            let given = 1 + random.below(rank);
            for extent in &shape[..given] {
                if random.below(3) == 0 && left.len() + 1 < rank {
                    index.push(format!("c + {}", random.below(*extent) - C));
                } else {
                    let (text, count) = slice(random, *extent);
                    index.push(text);
                    left.push(count);
                }
            }
            left.extend_from_slice(&shape[given..]);
            match left.is_empty() {
                true => (of.to_string(), shape.to_vec()),
                false => (format!("{of}[{}]", index.join(", ")), left),
            }
        }
    }
}

/// The value of the parameter `c`.
const C: i64 = 3;

fn each_index(shape: &[i64], f: &mut dyn FnMut(&[i64])) {
    let view = Lmad::row_major(shape);
    for flat in 0..shape.iter().product() {
        let index: Vec<i64> = view.dims.iter().map(|dim| flat / dim.stride.max(1) % dim.size).collect();
        f(&index);
    }
}

/// The place that a path leads to in an array of this shape.
fn place(path: &Path, index: &[i64], shape: &[i64], known: &dyn Fn(VarId) -> Option<Scalar>) -> i64 {
    let value = |exp: &Exp| scalar_value(exp, known).expect("an index over known names").as_i64();
    let at = path.places.iter().map(|place| {
        let open = place.open.iter().map(|open| {
            let factors: i64 = open.factors.iter().map(&value).product();
            assert!(open.count.as_ref().is_none_or(|count| index[open.dim] < value(count)));
            index[open.dim] * factors
        });
        place.start.as_ref().map_or(0, &value) + open.sum::<i64>()
    });
    at.zip(shape).fold(0, |flat, (at, extent)| {
        assert!(0 <= at && at < *extent, "the path leads outside");
        flat * extent + at
    })
}

#[test]
fn paths_lead_where_execution_reads() {
    let mut random = Random::new(5);
    let mut longest = 0;
    for round in 0..3000 {
        let rank = 1 + random.below(3usize);
        let whole: Vec<i64> = (0..rank).map(|_| 1 + random.below(6)).collect();
        let extents: String = whole.iter().map(|extent| format!("[{extent}]")).collect();
        let mut text = format!("region all (c : i64, A : {extents}i64)\n");
        let (mut name, mut shape) = ("A".to_string(), whole.clone());
        let mut views: Vec<String> = Vec::new();
        for k in 0..random.below(6) {
            let (rhs, new) = view(&mut random, &name, &shape);
            (name, shape) = (format!("v{k}"), new);
            text += &format!("let {name} = {rhs}\n");
            views.push(name.clone());
        }
        // A row of the last view, and an element of the row.
        let inner: Vec<String> = (1..shape.len()).map(|dim| format!("i{dim}")).collect();
        let read = match inner.is_empty() {
            true => format!("    let x = {name}[i0]\n    in x\n"),
            false => {
                let axes: Vec<String> = inner
                    .iter()
                    .zip(&shape[1..])
                    .map(|(axis, extent)| format!("{axis} < {extent}"))
                    .collect();
                let kernel = format!("kernel {} do\n        in row[{}]", axes.join(", "), inner.join(", "));
                format!("    let row = {name}[i0]\n    let x =\n      {kernel}\n    in x\n")
            }
        };
        text += &format!("let r =\n  kernel i0 < {} do\n{read}in (r", shape[0]);
        views.iter().for_each(|view| text += &format!(", {view}"));
        text += ")\n";

        let region = verified(&text);
        let code = region.region();
        let count: i64 = whole.iter().product();
        let data = (0..count as u64).collect();
        let arguments = [Value::int(C), Value::new(ElemType::I64, whole.clone(), data)];
        let results =
            evaluate(&region, &arguments).unwrap_or_else(|e| panic!("round {round}: {e:?}\n{text}"));
        let paths = Paths::new(code);
        let c = named(code, "c");
        let params = |var: VarId| (var == c).then_some(Scalar::i64(C));
        for (view, value) in views.iter().zip(&results[1..]) {
            let path = paths.array(named(code, view));
            assert_eq!(code.name_of(path.base), "A", "round {round}: {view}\n{text}");
            longest = longest.max(path.names.len());
            let mut elements = value.data().iter();
            each_index(value.shape(), &mut |index| {
                let found = elements.next().map(|bits| *bits as i64);
                let place = place(&path, index, &whole, &params);
                assert_eq!(Some(place), found, "round {round}: {view} at {index:?}\n{text}");
            });
        }
        // The same of the complete read, as the table has it.
        let lmad = Lmad::row_major(&whole);
        let array = ObservedParam::Array { lmad, block: 0, block_elements: count, references: 1 };
        let facts = table(&region, &Observed { params: vec![ObservedParam::Scalar(Scalar::i64(C)), array] });
        let row = facts.reads().last().unwrap_or_else(|| panic!("round {round}: no complete read\n{text}"));
        assert_eq!(code.name_of(row.array), "A", "round {round}\n{text}");
        let axes: Vec<VarId> = (0..shape.len()).map(|dim| named(code, &format!("i{dim}"))).collect();
        let mut elements = results[0].data().iter();
        each_index(results[0].shape(), &mut |index| {
            let known = |var: VarId| {
                let at = axes.iter().position(|axis| *axis == var);
                at.map(|dim| Scalar::i64(index[dim])).or_else(|| params(var))
            };
            let mut flat = 0;
            for (dim, extent) in row.dims.iter().zip(&whole) {
                let at = scalar_value(&dim.source, &known).expect("a known index").as_i64();
                let range = dim.value.range;
                assert!(range.low <= at.into() && i128::from(at) <= range.high, "round {round}\n{text}");
                flat = flat * extent + at;
            }
            let found = elements.next().map(|bits| *bits as i64);
            assert_eq!(Some(flat), found, "round {round} at {index:?}\n{text}");
        });
    }
    assert!(longest >= 4, "{longest} views at most");
}
