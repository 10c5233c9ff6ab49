//! Regions of every kind, on groups of rows and by the reference evaluator: the same elements and the same traps, for sizes
//! around those of groups and for all representations of an array.

use galopvm_base::{ElemType, Scalar};
use galopvm_kir::evaluate::{Trial, Value, evaluate};
use galopvm_kir::text::{parse_plan, parse_region};
use galopvm_kir::{
    Argument, Backend, Buffer, Launch, Machine, Observed, Plan, ResultView, RunError, Unit, VerifiedPlan,
    VerifiedRegion, types, verify,
};
use galopvm_lmad::Lmad;
use galopvm_testkit::{Layout, Random};
use galopvm_vector::Vector;

/// A whole number from -20 to 20, so that sums of floats are exact.
fn value(random: &mut Random, elem: ElemType) -> u64 {
    let number = random.between(-20, 20);
    if elem.is_float() {
        Scalar::from_f64(elem, number as f64).bits
    } else {
        Scalar::from_int(elem, number).bits
    }
}

fn verified(text: &str) -> VerifiedRegion {
    let mut region = parse_region(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    types::infer(&mut region);
    verify(region).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// Arguments: `n` and `m` as given, random ones for the rest.
fn arguments(region: &VerifiedRegion, n: i64, m: i64, random: &mut Random) -> Vec<Value> {
    let size = |name: &str| match name {
        "n" => n,
        "m" => m,
        _ => 3,
    };
    let params = &region.region().params;
    let value = |param| {
        let ty = region.type_of(param);
        if ty.is_scalar() {
            let name = region.region().name_of(param);
            return Value::Scalar(match name {
                "n" | "m" | "k" => Scalar::i64(size(name)),
                _ => Scalar::new(ty.elem, value(random, ty.elem)),
            });
        }
        let known = |var| Some(Scalar::i64(size(region.region().name_of(var))));
        let shape: Vec<i64> =
            ty.shape.iter().map(|extent| region.size_with(extent, &known).expect("a size")).collect();
        let count = shape.iter().product::<i64>();
        Value::new(ty.elem, shape, (0..count).map(|_| value(random, ty.elem)).collect())
    };
    params.iter().copied().map(value).collect()
}

fn check(text: &str, plan: &str, sizes: &[(i64, i64)]) {
    let region = verified(text);
    let plan = match plan {
        "" => Plan::default(),
        plan => parse_plan(region.region(), plan).unwrap_or_else(|error| panic!("{error}")),
    };
    let plan = VerifiedPlan::new(plan, region.region()).unwrap_or_else(|error| panic!("{error}"));
    let machine = Machine::default();
    for (round, (n, m)) in sizes.iter().enumerate() {
        let mut random = Random::new(round as u64 * 77 + 12345);
        let arguments = arguments(&region, *n, *m, &mut random);
        let wanted = evaluate(&region, &arguments);
        for layout in Layout::ALL {
            let trial =
                Trial::new(&region, &arguments, |shape| layout.view(shape)).expect("it fits in memory");
            let observed = trial.observed();
            let unit =
                Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
            let code = Vector::default().compile(unit).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
            let found = trial.run(code.as_ref());
            let is_right = match (&wanted, &found) {
                (Ok(wanted), Ok(found)) => wanted == found,
                (Err(RunError::Trap), Err(RunError::Trap)) => true,
                _ => false,
            };
            assert!(is_right, "n = {n}, m = {m}, {layout:?}:\n{text}\nwanted {wanted:?}\nfound  {found:?}");
        }
    }
}

/// Around groups of few rows and of many.
const ALL: [(i64, i64); 12] = [
    (0, 3),
    (3, 0),
    (1, 1),
    (2, 5),
    (5, 70),
    (70, 5),
    (16, 16),
    (24, 40),
    (127, 3),
    (129, 2),
    (1023, 2),
    (2049, 1),
];

#[test]
fn scalar_code_of_every_kind() {
    check(
        "region r (n : i64, m : i64, c : i32, A : [n][m]i32, B : [n]f32)
         let (p : [n][m]i32, q : [n][m]bool, w : [n][m]f32) = kernel i < n, j < m do
           let a : i32 = A[i, j] * c + to_i32(i - j * 3)
           let b : bool = a < 4i32 && B[i] <= 2.0f32
           let d : f32 = select(b, B[i], to_f32(a)) + B[n - 1 - i]
           in (a, b, sqrt(d * d))
         in (p, q, w)",
        "",
        &ALL,
    );
}

#[test]
fn the_axis_across_lanes_may_be_any() {
    let text = "region r (n : i64, m : i64, A : [n][m]i64)
         let p : [m][n]i64 = kernel j < m, i < n do
           let a : i64 = A[i, j] + i * j
           in a
         in p";
    check(text, "plan\n  lane j : a test", &ALL);
    check(text, "plan\n  lane i : a test", &ALL);
}

#[test]
fn branches_by_rows_and_by_scalars() {
    check(
        "region r (n : i64, k : i64, c : bool, A : [n]i64)
         let (p : [n]i64, q : [n][2]i64) = kernel i < n do
           let a : i64 = A[i]
           let (b : i64, d : [2]i64) = if a > 3 then
               let x : i64 = 100 // a
               let y : [2]i64 = kernel l < 2 do let z : i64 = l + a in z
               in (x, y)
             else
               let f : i64 = if c then let u : i64 = a * 2 in u else let v : i64 = A[(i + 1) % n] in v
               let g : [2]i64 = kernel h < 2 do let e : i64 = f - h in e
               in (f, g)
           in (b, d)
         in (p, q)",
        "",
        &ALL,
    );
}

#[test]
fn loops_whose_rounds_differ_and_do_not() {
    check(
        "region r (n : i64, m : i64, A : [n]i64)
         let (p : [n]i64, q : [n]i64, w : [n]i64, v : [n]i64) = kernel i < n do
           let a : i64 = loop (s : i64) = (A[i]) for j < m do in s * 3 + j
           let b : i64 = loop (t : i64) = (0) for k < i % 13 - 2 do in t + k * i
           let c : i64 = loop (u : i64) = (1) while u < m * 10 + i do in u * 3
           let o : i64 = A[i]
           let d : i64 = red l < o do let x : i64 = l * l in x by (e : i64 = 0) (f : i64) do in e + f
           in (a, b, c, d)
         in (p, q, w, v)",
        "",
        &ALL,
    );
}

#[test]
fn arrays_of_rows_are_made_changed_and_read() {
    check(
        "region r (n : i64, m : i64, A : [n][m]i32)
         let (p : [n][m]i32, q : [n]i32) = kernel i < n do
           let row : [m]i32 = A[i]
           let s : [m]i32 = scan j < m do let x : i32 = row[j] in x by (a : i32 = 0i32) (b : i32) do in a + b
           let t : [m]i32 = loop (u : [m]i32) = (s) for k < m - 1 do
             let e : i32 = u[k] + u[k + 1]
             let w : [m]i32 = u with [k + 1] = e
             in w
           let l : i32 = red h < m do let y : i32 = t[m - 1 - h] in y by (c : i32 = -1000000i32) (d : i32) do in max(c, d)
           in (t, l)
         in (p, q)",
        "",
        &ALL,
    );
}

#[test]
fn an_array_that_is_changed_may_be_looked_at_afterwards() {
    check(
        "region r (n : i64, m : i64, A : [n][m]i64)
         let (p : [n]i64, q : [n][m]i64) = kernel i < n do
           let a : [m]i64 = kernel j < m do let x : i64 = A[i, j] * 2 in x
           let at : i64 = (i * 5) % m
           let b : [m]i64 = a with [at] = 77
           let c : [m]i64 = if A[i, 0] > 0 then let d : [m]i64 = b with [0] = i in d else let e : i64 = 0 in b
           let s : i64 = a[at] + b[at] * 1000
           in (s, c)
         in (p, q)",
        "",
        &ALL,
    );
}

#[test]
fn an_array_of_both_sides_of_a_branch_is_left_to_the_second() {
    check(
        "region r (n : i64, m : i64, A : [n]i64)
         let p : [n]i64 = kernel i < n do
           let a : [3]i64 = kernel j < 3 do let x : i64 = A[i] + j in x
           let r : i64 = if A[i] > 0 then
               let b : [3]i64 = a with [0] = 7
               let s : i64 = b[0] * b[1] in s
             else let t : i64 = a[0] - a[2] in t
           in r
         in p",
        "",
        &ALL,
    );
}

#[test]
fn an_array_that_each_round_changes_begins_the_next_as_it_was() {
    check(
        "region r (n : i64, m : i64, A : [n]i64)
         let (p : [n]i64, q : [n]i64) = kernel i < n do
           let a : [3]i64 = kernel j < 3 do let x : i64 = A[i] + j in x
           let r : i64 = loop (s : i64) = (0) for k < 3 do
             let b : [3]i64 = a with [k] = 100
             in s * 3 + b[0] + b[1] * 2 + b[2] * 5
           let t : i64 = loop (u : i64) = (0) for l < m % 4 do
             let c : [3]i64 = a with [l % 3] = u
             in c[0] + c[1] * 2 + c[2] * 5
           in (r, t)
         in (p, q)",
        "",
        &ALL,
    );
}

#[test]
fn an_array_of_all_rows_is_changed_for_those_that_count() {
    check(
        "region r (n : i64, m : i64, A : [n]i64)
         let (p : [n]i64, q : [n][3]i64) = kernel i < n do
           let a : [3]i64 = iota [3]
           let (r : i64, b : [3]i64) = if A[i] > 5 then
               let d : [3]i64 = a with [1] = 9
               let s : i64 = d[0] + d[1] * 10 in (s, d)
             else let t : i64 = a[1] in (t, a)
           in (r, b)
         in (p, q)",
        "",
        &ALL,
    );
}

#[test]
fn windows_of_one_array_are_not_changed_together() {
    // Each row's window of an array that is the same for all, and that nobody has any more when the window is changed.
    check(
        "region r (n : i64, A : [n]i64)
         let p : [n][3]i64 = kernel i < n do
           let w : [n + 3]i64 = kernel j < n + 3 do let x : i64 = j * j in x
           let v : [3]i64 = w[i :+ 3 * 1]
           let u : [n + 3]i64 = w with [0] = 5
           let y : [3]i64 = v with [1] = A[i] + u[0]
           in y
         in p",
        "",
        &ALL,
    );
    check(
        "region r (n : i64, A : [n]i64)
         let p : [n][3]i64 = kernel i < n do
           let w = iota [n + 3]
           let v : [3]i64 = w[i :+ 3 * 1]
           let u : [n + 3]i64 = w with [0] = 5
           let y : [3]i64 = v with [1] = A[i] + u[0]
           in y
         in p",
        "",
        &ALL,
    );
}

#[test]
fn an_array_on_the_way_is_bounded() {
    let text = "region r (n : i64)
         let a : [n]i64 = kernel i < n do let x : i64 = i * 3 in x
         let s : i64 = red j < n do let y : i64 = a[n - 1 - j] in y by (b : i64 = 0) (c : i64) do in b + c
         in s";
    check(text, "", &[(1000, 1)]);
    let region = verified(text);
    let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("it decides nothing");
    let trial = Trial::new(&region, &[Value::int(1 << 40)], |shape| Layout::Contiguous.view(shape))
        .expect("one number fits in memory");
    let (observed, machine) = (trial.observed(), Machine::default());
    let unit = Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
    let code = Vector::default().compile(unit).expect("it is taken");
    let said = format!("{:?}", trial.run(code.as_ref()));
    assert!(said.contains("an array on the way takes 8796093022208 bytes"), "{said}");
}

#[test]
fn a_block_that_is_read_is_not_written() {
    let region = verified(
        "region r (n : i64, A : [n]i64)
         let p : [n]i64 = kernel i < n do let x : i64 = A[i] + 1 in x
         in p",
    );
    let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("it decides nothing");
    let (observed, machine) = (Observed::default(), Machine::default());
    let unit = Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
    let code = Vector::default().compile(unit).expect("it is taken");
    let mut block = [7u8; 32];
    let view = Lmad::row_major(&[4]);
    let mut launch = Launch {
        buffers: vec![Buffer::Write(&mut block)],
        arguments: vec![Argument::Scalar(4), Argument::Array { buffer: 0, lmad: view.clone() }].into(),
        results: vec![ResultView { buffer: 0, lmad: view }],
    };
    let said = format!("{:?}", code.run(launch.check(&region).expect("it fits")));
    assert!(said.contains("a result lies in a block that is read"), "{said}");
    assert_eq!(block, [7u8; 32]);
}

#[test]
fn reductions_of_scalars_over_many_rows() {
    check(
        "region r (n : i64, m : i64, A : [n][m]f32, B : [n][m]i64)
         let (s : f32, t : i64, u : f32) = red i < n, j < m do
           in (A[i, j], B[i, j] * i, A[i, j])
         by (a : f32 = 0.0f32, b : i64 = -9223372036854775808, c : f32 = -1.0e30f32) (d : f32, e : i64, f : f32) do
           in (a + d, max(b, e), max(c, f))
         let z : i64 = red k < n do let x : i64 = B[k, 0] in x by (g : i64 = 0) (h : i64) do in g + h
         in (s, t, u, z)",
        "",
        &[(1, 1), (5, 70), (70, 5), (24, 40), (129, 2), (2049, 1), (1, 2049), (3, 1000)],
    );
}

#[test]
fn operators_whose_order_shows() {
    // Affine maps under composition; where the greatest element is.
    let text = "region r (n : i64, m : i64, A : [n]i64)
         let (s : i64, t : i64) = red i < n do in (A[i], i)
         by (a : i64 = 1, b : i64 = 0) (c : i64, d : i64) do in (a * c, b * c + d)
         let (p : [n]i64, q : [n]i64) = scan j < n do in (A[j], j)
         by (e : i64 = 1, f : i64 = 0) (k : i64, l : i64) do in (e * k, f * k + l)
         let (v : i64, at : i64) = red w < n do let y : i64 = A[w] in (y, w)
         by (a1 : i64 = -9223372036854775808, b1 : i64 = -1) (c1 : i64, d1 : i64) do
           let (x : i64, z : i64) = if c1 > a1 then let g : i64 = c1 in (g, d1) else let h : i64 = a1 in (h, b1)
           in (x, z)
         in (s, t, p, q, v, at)";
    check(
        text,
        "",
        &[(0, 1), (1, 1), (2, 1), (3, 1), (7, 1), (64, 1), (1000, 1), (1024, 1), (1025, 1), (3000, 1)],
    );
}

#[test]
fn rows_are_combined_element_by_element() {
    check(
        "region r (n : i64, m : i64, A : [n][m]i64)
         let zero : [m]i64 = kernel j < m do let z : i64 = 0 in z
         let s : [m]i64 = red i < n do let row : [m]i64 = A[i] in row
         by (a : [m]i64 = zero) (b : [m]i64) do
           let c : [m]i64 = kernel k < m do let x : i64 = a[k] + b[k] in x
           in c
         in s",
        "",
        &ALL,
    );
}

#[test]
fn results_that_are_read_again_or_given_twice() {
    check(
        "region r (n : i64, m : i64, A : [n]i64)
         let p : [n]i64 = kernel i < n do let x : i64 = A[i] + 1 in x
         let q : [n]i64 = kernel j < n do let y : i64 = A[j] * 2 in y
         let s : i64 = red k < n do let z : i64 = q[k] in z by (a : i64 = 0) (b : i64) do in a + b
         let t : [n]i64 = scan l < n do let w : i64 = A[l] in w by (c : i64 = 0) (d : i64) do in c + d
         let u : [n]i64 = scan e < n do let f : i64 = A[e] in f by (g : i64 = 0) (h : i64) do in g + h
         let v : [m]i64 = kernel o < m do
           let x1 : i64 = red y1 < n do let z1 : i64 = u[y1] in z1 by (a1 : i64 = 0) (b1 : i64) do in a1 + b1
           in x1
         in (p, q, s, t, t, u, v, A)",
        "",
        &ALL,
    );
}

#[test]
fn regions_one_after_the_other_share_nothing_but_room() {
    let sizes = [(30, 1), (1030, 1)];
    for number in [1, 2, 1, 3] {
        let body = format!("let x : i64 = A[i] * {number} + {} in x", number + 1);
        check(
            &format!("region r (n : i64, A : [n]i64)\nlet p : [n]i64 = kernel i < n do {body}\nin p"),
            "",
            &sizes,
        );
        let body = format!("let x : f32 = A[i] * {number}.0f32 in x");
        check(
            &format!("region r (n : i64, A : [n]f32)\nlet p : [n]f32 = kernel i < n do {body}\nin p"),
            "",
            &sizes,
        );
    }
}

#[test]
fn prefixes() {
    check(
        "region r (n : i64, m : i64, A : [n]i32, B : [n]f64)
         let p : [n]i32 = scan i < n do let x : i32 = A[i] * 3i32 in x by (a : i32 = 5i32) (b : i32) do in a + b
         let q : [n]f64 = scan j < n do let y : f64 = B[j] in y by (c : f64 = 0.0f64) (d : f64) do in min(c, d)
         in (p, q)",
        "",
        &[(0, 1), (1, 1), (2, 1), (1024, 1), (1025, 1), (4000, 1)],
    );
}

#[test]
fn scatters_and_histograms() {
    check(
        "region r (n : i64, m : i64, P : [n]i64, V : [n]i32, D : [m]i32, H : [m]i64, G : [m]i64)
         let p : [m]i32 = scatter D i < n do in (P[i] + i % 30, V[i])
         let h : [m]i64 = hist H j < n do in ((P[j] + j) % m, j)
         by (a : i64 = 0) (b : i64) do in a + b
         let g : [m]i64 = hist G k < n do in (P[k] % 7, k)
         by (d : i64 = 0) (e : i64) do let c : i64 = d * 2 - e in c
         in (p, h, g)",
        "",
        &[(0, 3), (1, 1), (2, 5), (5, 70), (70, 5), (127, 30), (1023, 20), (2049, 300)],
    );
}

#[test]
fn histograms_of_rows() {
    check(
        "region r (n : i64, m : i64, A : [n][m]i64)
         let (p : [n][5]i64, q : [n][5]i64) = kernel i < n do
           let zero : [5]i64 = kernel j < 5 do let z : i64 = 0 in z
           let h : [5]i64 = hist zero k < m do in (A[i, k] + i % 2, k + 1)
           by (a : i64 = 0) (b : i64) do in a * 3 + b
           let s : [5]i64 = scatter h l < m do in (A[i, l] - 1, l)
           in (h, s)
         in (p, q)",
        "",
        &ALL,
    );
}

#[test]
fn whole_arrays() {
    check(
        "region r (n : i64, m : i64, A : [n][m]i32)
         let t = transpose A
         let p : [m][n]i32 = kernel j < m, i < n do let x : i32 = t[j, i] + to_i32(j) in x
         let c = concat A A
         let f = flatten c
         let v = reverse A
         let q : [n][m]i32 = kernel g < n, h < m do let y : i32 = v[g, h] - f[g * m + h] in y
         let e = iota [n]
         let w : [n]i64 = kernel k < n do
           let u = replicate [m] (e[k])
           let z : i64 = red l < m do let d : i64 = u[l] in d by (a : i64 = 0) (b : i64) do in a + b
           in z
         in (p, q, w)",
        "",
        &ALL,
    );
}

#[test]
fn traps_of_rows_that_count() {
    // Some sizes trap, some do not.
    check(
        "region r (n : i64, m : i64, A : [n]i64)
         let (p : [n]i64, q : [n]i64) = kernel i < n do
           let a : i64 = A[i]
           let b : i64 = if a != 0 then let c : i64 = 100 / a in c else let d : i64 = 0 in d
           let e : i64 = if a >= 0 && a < n then let f : i64 = A[a] in f else let g : i64 = -1 in g
           in (b, e)
         let w : [n]i64 = kernel j < n do let x : i64 = A[j + (m - 2)] in x
         in (p, q, w)",
        "",
        &[(1, 2), (30, 2), (30, 1), (30, 3), (2000, 2), (2000, 3)],
    );
    check(
        "region r (n : i64, A : [n]i64)
         let p : [n]i64 = kernel i < n do let x : i64 = 7 % A[i] in x
         in p",
        "",
        &[(0, 1), (1, 1), (3, 1), (100, 1), (1500, 1)],
    );
}

#[test]
fn products_of_matrices_in_every_order() {
    let text = "region r (n : i64, m : i64, A : [n][m]i32, B : [m][n]i32, C : [n][m]i32)
         let p : [n][n]i32 = kernel i < n, j < n do
           let s : i32 = red k < m do in A[i, k] * B[k, j] by (a : i32 = 3i32) (b : i32) do in a + b
           in s
         let q : [n][n]i32 = kernel u < n, v < n do
           let t : i32 = red w < m do in A[u, w] - C[v, w] by (c : i32 = -100i32) (d : i32) do in max(c, d)
           in t
         let z : [n]i32 = kernel x < n do
           let y : i32 = if A[x, 0] > 0i32 then
               let o : i32 = red h < x + 1 do in C[x, 0] * B[0, h] by (e : i32 = 0i32) (f : i32) do in e + f
               in o
             else
               let g : i32 = red l < m do in A[x, m - 1] * C[(x + 1) % n, l] by (a1 : i32 = 0i32) (b1 : i32) do in a1 + b1
               in g
           in y
         in (p, q, z)";
    check(text, "", &[(1, 1), (2, 5), (5, 70), (70, 5), (33, 40), (129, 2)]);
    check(text, "plan\n  lane i : a test", &[(70, 5), (33, 40)]);
}

#[test]
fn few_rows_with_much_in_them() {
    check(
        "region r (n : i64, m : i64, A : [n][m]i64)
         let (p : [n][m]i64, q : [n]i64) = kernel i < n do
           let s : [m]i64 = scan j < m do let x : i64 = A[i, j] in x by (a : i64 = 0) (b : i64) do in a + b
           let t : i64 = red k < m do let y : i64 = s[k] * k in y by (c : i64 = 0) (d : i64) do in c + d
           in (s, t)
         in (p, q)",
        "",
        &[(2, 3000), (23, 40), (24, 40), (1, 1), (3, 0)],
    );
}

#[test]
fn places_outside_are_passed_by() {
    let sizes = [(0, 3), (1, 1), (5, 70), (70, 5), (127, 30), (1023, 20), (2049, 6)];
    check(
        "region r (n : i64, m : i64, P : [n]i64, Q : [n]i64, V : [n]i32, D : [m][4]i32, H : [m][4]i64)
         let p : [m][4]i32 = scatter D i < n do in (P[i], Q[i] % 7, V[i])
         let h : [m][4]i64 = hist H j < n do in (P[j], Q[j] % 7, j)
         by (a : i64 = 0) (b : i64) do in a + b
         let e = replicate [m] (to_i64(V[0]))
         let g : [m]i64 = hist e k < n do in (P[k], k)
         by (c : i64 = 0) (d : i64) do let f : i64 = c * 3 - d in f
         in (p, h, g)",
        "",
        &sizes[1..],
    );
    // In rows, for those that count.
    check(
        "region r (n : i64, m : i64, P : [n]i64)
         let p : [n][3][2]i64 = kernel i < n do
           let a : [3][2]i64 = kernel j < 3, k < 2 do let x : i64 = i + j in x
           let b : [3][2]i64 = if P[i] > 2 then
               let c : [3][2]i64 = scatter a l < m do in (P[i] - 4 + l, l % 4 - 1, l)
               in c
             else let z : i64 = 0 in a
           in b
         in p",
        "",
        &sizes,
    );
}

#[test]
fn a_scatter_over_an_array_made_before_begins_as_it() {
    check(
        "region r (n : i64, m : i64, P : [n]i64)
         let a : [m]i64 = kernel j < m do let x : i64 = j * 5 in x
         let p : [m]i64 = scatter a i < n do in (P[i], i)
         in p",
        "",
        &ALL,
    );
}

#[test]
fn products_that_leave_their_arrays_trap() {
    let sizes = [(1, 1), (2, 5), (70, 5), (33, 40), (129, 2), (40, 0)];
    let product = |bound: &str, a: &str, b: &str| {
        format!(
            "region r (n : i64, m : i64, A : [n][m]i32, B : [m][n]i32)
             let p : [n][n]i32 = kernel i < n, j < n do
               let s : i32 = red k < {bound} do in A[{a}] * B[{b}] by (c : i32 = 3i32) (d : i32) do in c + d
               in s
             in p"
        )
    };
    for (bound, a, b) in [
        ("m", "i, k", "k, j"),
        ("m", "i, k", "m - 1 - k, j"),
        ("m + 1", "i, k", "k, j"),
        ("m", "i + 1, k", "k, j"),
        ("m", "i, k", "k, j + 1"),
        ("m", "i, k", "k, j - 1"),
        ("m - 1", "i, k + 1", "k, n - 1 - j"),
        ("m - 3", "i, k", "k, j // (m - 2)"),
    ] {
        check(&product(bound, a, b), "", &sizes);
        check(&product(bound, a, b), "plan\n  lane i : a test", &sizes);
    }
}

#[test]
fn one_of_two_windows_of_an_array_is_chosen() {
    check(
        "region r (n : i64, A : [n][4]i64)
         let t = concat A A
         let (p : [n][2]i64, q : [n][4]i64) = kernel i < n do
           let a : [2]i64 = if A[i, 0] > 0 then let x : i64 = 0 in A[i, 0 :+ 2 * 1] else let y : i64 = 0 in A[i, 1 :+ 2 * 1]
           let b : [4]i64 = if A[i, 1] > 0 then let u : i64 = 0 in t[i] else let v : i64 = 0 in t[i * 2]
           in (a, b)
         in (p, q)",
        "",
        &ALL,
    );
}

#[test]
fn a_value_may_be_given_twice() {
    check(
        "region r (n : i64, A : [n]i64)
         let (p : [n]i64, q : [n]i64, v : [n][2]i64, w : [n][2]i64) = kernel i < n do
           let x : i64 = A[i] * 3
           let (y : i64, z : i64) = if x > 4 then let u : i64 = x - 1 in (u, u) else let o : i64 = 7 in (x, o)
           let a : [2]i64 = kernel j < 2 do let b : i64 = y + z * j in b
           in (x, x, a, a)
         in (p, q, v, w)",
        "",
        &ALL,
    );
}

#[test]
fn rows_that_an_outer_branch_leaves_out_do_not_trap_in_an_inner_one() {
    check(
        "region r (n : i64, A : [n]i64)
         let p : [n]i64 = kernel i < n do
           let a : i64 = A[i]
           let b : i64 = if a != 0 then
               let c : i64 = if i % 2 == 0 then let d : i64 = 100 / a in d else let e : i64 = 1 in e
               in c
             else let f : i64 = 0 in f
           in b
         in p",
        "",
        &ALL,
    );
}

/// Sums of floats that are not exact.
#[test]
fn a_sum_does_not_depend_on_how_rows_are_cut() {
    let sum = |text: &str, values: &Value| {
        let region = verified(text);
        let n = Value::Scalar(Scalar::i64(3000));
        let trial = Trial::new(&region, &[n, values.clone()], |shape| Layout::Contiguous.view(shape))
            .expect("it fits in memory");
        let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("it decides nothing");
        let (observed, machine) = (trial.observed(), Machine::default());
        let unit = Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
        trial.run(Vector::default().compile(unit).expect("it is taken").as_ref()).expect("a sum")
    };
    let of = |item: &str| {
        format!(
            "region r (n : i64, A : [n]f32)
             let s : f32 = red i < n do in {item} by (a : f32 = 0.0f32) (b : f32) do in a + b
             in s"
        )
    };
    for seed in 1..8 {
        let mut random = Random::new(seed);
        let values = (0..3000).map(|_| Scalar::from_f64(ElemType::F32, random.bits() as f64 * 1e-7).bits);
        let values = Value::new(ElemType::F32, vec![3000], values.collect());
        // Groups of rows with one quotient by 37.
        assert_eq!(sum(&of("A[i]"), &values), sum(&of("A[i / 37 * 37 + i % 37]"), &values));
    }
}

#[test]
fn few_rows_with_operators_may_be_left_to_others() {
    let region = verified(
        "region r (n : i64, m : i64, A : [n][m]i64)
         let p : [n]i64 = kernel i < n do
           let s : i64 = red j < m do in A[i, j] by (a : i64 = 0) (b : i64) do in a + b
           in s
         in p",
    );
    let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("it decides nothing");
    let machine = Machine::default();
    let taken = |leaves_few_rows: bool, n: i64| {
        let arguments = arguments(&region, n, 5, &mut Random::new(1));
        let observed = Trial::new(&region, &arguments, |shape| Layout::Contiguous.view(shape))
            .expect("it fits in memory")
            .observed();
        let unit = Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
        Vector { leaves_few_rows, leaves_loops: false }.compile(unit).is_ok()
    };
    assert!(taken(false, 23) && taken(true, 24) && !taken(true, 23));
}

#[test]
fn arrays_that_are_written_together_lie_each_in_its_own_way() {
    check(
        "region r (n : i64, m : i64, P : [n]i64)
         let (p : [n][2][3]i64, q : [n][2][3]i64) = kernel i < n do
           let a : [2][3]i64 = kernel j < 2, k < 3 do let x : i64 = i + j * 10 + k in x
           let t : [3][2]i64 = kernel g < 3, h < 2 do let y : i64 = i - g * 100 - h in y
           let b : [2][3]i64 = transpose t
           let (c : [2][3]i64, d : [2][3]i64) = scatter (a, b) l < m % 5 do in (P[i] % 3, l, l * 7, l * 9)
           in (c, d)
         in (p, q)",
        "",
        &ALL,
    );
}
