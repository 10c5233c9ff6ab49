//! Arrays of the crate ndarray as arguments and results: in every layout, of every rank and element type, and where nothing is copied.

use galopvm::ndarray::Held;
use galopvm::{Engine, Program, Session, Value, f16};
use ndarray::{
    ArcArray, Array, Array0, Array1, Array2, Array3, ArrayD, ArrayViewD, Axis, Ix0, Ix1, Ix2, Ix3, IxDyn,
    arr0, array, s,
};

fn session(source: &str) -> Session {
    let program = Program::from_source("test.fut", source).unwrap();
    Engine::new().session(&program)
}

/// The same elements in other layouts: as they are, with reversed axes, transposed, cut out of something larger.
fn layouts(elements: &Array3<f64>) -> Vec<Array3<f64>> {
    let mut found = Vec::new();
    for axes in [[0, 1, 2], [2, 0, 1], [1, 0, 2], [2, 1, 0]] {
        let mut back = [0; 3];
        axes.iter().enumerate().for_each(|(k, axis)| back[*axis] = k);
        let turned = elements.view().permuted_axes(axes).as_standard_layout().into_owned();
        found.push(turned.permuted_axes(back));
    }
    for axis in 0..3 {
        let mut reversed = elements.clone();
        reversed.invert_axis(Axis(axis));
        let mut reversed = reversed.as_standard_layout().into_owned();
        reversed.invert_axis(Axis(axis));
        found.push(reversed);
    }
    let (a, b, c) = elements.dim();
    let mut larger = Array3::from_elem((2 * a + 1, b + 3, 3 * c), -1.0);
    larger.slice_mut(s![1..;2, 1..b + 1, ..;3]).assign(elements);
    found.push(larger.slice_move(s![1..;2, 1..b + 1, ..;3]));
    found.iter().for_each(|other| assert_eq!(other, elements));
    found
}

#[test]
fn every_layout_goes_in_and_comes_out() {
    let source = "
        entry same [a][b][c] (xs: [a][b][c]f64): [a][b][c]f64 = map (map (map (+ 0))) xs
        entry view [a][b][c] (xs: [a][b][c]f64): [a][b][c]f64 = xs
        entry turned [a][b][c] (xs: [a][b][c]f64): [c][a][b]f64 = transpose (map transpose xs)
        entry back [a][b][c] (xs: [a][b][c]f64): [a][b][c]f64 = map (\\m -> m[::-1]) xs[::-1]";
    let mut session = session(source);
    for shape in [(2, 3, 4), (1, 5, 1), (3, 1, 2), (0, 2, 3), (2, 0, 3), (4, 4, 0)] {
        let mut next = 0.0;
        let elements = Array::from_shape_simple_fn(shape, || {
            next += 1.0;
            next
        });
        let turned = elements.view().permuted_axes([2, 0, 1]);
        let turned = Array3::from_shape_fn(turned.dim(), |(k, i, j)| elements[[i, j, k]]);
        for layout in layouts(&elements) {
            let shared = ArcArray::from(layout.clone());
            for name in ["same", "view"] {
                assert_eq!(session.call::<Array3<f64>>(name, (&layout,)).unwrap(), elements);
                assert_eq!(session.call::<Array3<f64>>(name, (layout.view(),)).unwrap(), elements);
                assert_eq!(session.call::<Array3<f64>>(name, (shared.clone(),)).unwrap(), elements);
                assert_eq!(session.call::<Array3<f64>>(name, (&shared,)).unwrap(), elements);
                let held: Held<f64, Ix3> = session.call(name, (layout.clone(),)).unwrap();
                assert_eq!(held.view().unwrap(), elements);
                // What is held goes into a program as well.
                assert_eq!(session.call::<Array3<f64>>("view", (&held,)).unwrap(), elements);
                assert_eq!(
                    session.call::<ArrayD<f64>>("view", (held,)).unwrap(),
                    elements.clone().into_dyn()
                );
            }
            assert_eq!(session.call::<Array3<f64>>("turned", (layout.clone(),)).unwrap(), turned);
            let held: Held<f64, IxDyn> = session.call("turned", (shared.clone(),)).unwrap();
            assert_eq!(held.view().unwrap(), turned.clone().into_dyn());
            let back = elements.slice(s![..;-1, ..;-1, ..]);
            assert_eq!(session.call::<Array3<f64>>("back", (shared.clone(),)).unwrap(), back);
            let held: Held<f64, Ix3> = session.call("back", (layout,)).unwrap();
            assert_eq!(held.view().unwrap(), back);
        }
    }
}

#[test]
fn every_element_type_goes_in_and_comes_out() {
    macro_rules! elements {
        ($($ty:ty, $name:literal, $values:expr;)+) => {$({
            let mut session = session(&format!("entry f [n] (xs: [n][2]{0}) (x: {0}): ([2][n]{0}, {0}) = (transpose xs, x)", $name));
            let elements: Array2<$ty> = Array::from_shape_vec((2, 2), $values.to_vec()).unwrap();
            let one: Array0<$ty> = arr0($values[1]);
            let (turned, same): (Array2<$ty>, Array0<$ty>) = session.call("f", (elements.clone(), one.clone())).unwrap();
            assert_eq!((turned, same), (elements.t().to_owned(), one.clone()));
            let (turned, same): (Held<$ty, Ix2>, Held<$ty, Ix0>) =
                session.call("f", (ArcArray::from(elements.clone()), one.clone().into_shared())).unwrap();
            assert_eq!((turned.view().unwrap(), same.view().unwrap()), (elements.t(), one.view()));
            let (_, same): (Value, Held<$ty, IxDyn>) = session.call("f", (&elements, &same)).unwrap();
            assert_eq!(same.view().unwrap(), one.view().into_dyn());
            let (_, same): (Value, $ty) = session.call("f", (&elements, same)).unwrap();
            assert_eq!(same, $values[1]);
        })+};
    }
    elements! {
        i8, "i8", [-128, 127, 0, 1];
        i16, "i16", [-32768, 32767, 0, 1];
        i32, "i32", [i32::MIN, i32::MAX, 0, 1];
        i64, "i64", [i64::MIN, i64::MAX, 0, 1];
        u8, "u8", [0, 255, 2, 1];
        u16, "u16", [0, 65535, 2, 1];
        u32, "u32", [0, u32::MAX, 2, 1];
        u64, "u64", [0, u64::MAX, 2, 1];
        f16, "f16", [1.5, -2.0, 0.25, 65504.0].map(f16::from_f32);
        f32, "f32", [1.5, f32::INFINITY, f32::MIN_POSITIVE, -0.0];
        f64, "f64", [1.5, f64::INFINITY, 5e-324, -0.0];
        bool, "bool", [true, false, false, true];
    }
}

#[test]
fn nothing_is_copied_that_needs_not_be() {
    let mut session = session(
        "entry same [n][m] (xs: [n][m]f32) = xs
         entry grown [n][m] (xs: *[n][m]f32): *[n][m]f32 = loop xs for i < n do xs with [i, 0] = 7",
    );
    let copies = |session: &Session| (session.memory_stats().allocations, session.memory_stats().copies);
    let before = copies(&session);
    // An owned array, also a transposed one, is where its vector was.
    let elements = Array2::<f32>::zeros((300, 200)).reversed_axes();
    let place = elements.as_ptr();
    let held: Held<f32, Ix2> = session.call("same", (elements,)).unwrap();
    let view = held.view().unwrap();
    assert_eq!((view.as_ptr(), view.strides(), view.dim()), (place, &[1isize, 200][..], (200, 300)));
    // It is given: what consumes it writes there.
    let elements = Array2::<f32>::zeros((300, 200));
    let place = elements.as_ptr();
    let grown: Held<f32, Ix2> = session.call("grown", (elements,)).unwrap();
    let view = grown.view().unwrap();
    assert_eq!((view.as_ptr(), view[[299, 0]], view.sum()), (place, 7.0, 2100.0));
    // One that is shared is lent, and the owner stays.
    let mut shared = ArcArray::<f32, _>::zeros((300, 200));
    shared.invert_axis(Axis(1));
    let place = shared.as_ptr();
    let array: galopvm::Array = session.call("same", (shared.clone(),)).unwrap();
    assert_eq!((array.first_element().cast(), array.strides().as_slice()), (place, &[200, -1][..]));
    assert_eq!(copies(&session), before);
    // An owned result that is all of a given vector is that vector.
    let elements = Array2::<f32>::zeros((300, 200)).reversed_axes();
    let place = elements.as_ptr();
    let back: Array2<f32> = session.call("same", (elements,)).unwrap();
    assert_eq!((back.as_ptr(), back.dim()), (place, (200, 300)));
    // What is lent does not change.
    let grown: Array2<f32> = session.call("grown", (shared.clone(),)).unwrap();
    assert_eq!((shared.sum(), grown.sum()), (0.0, 2100.0));
    assert!(copies(&session) > before);
}

#[test]
fn types_are_compared_before_anything_runs() {
    let source = "entry f [n][m] (xs: [n][m]f64) (k: i32): [m]f64 = map (* f64.i32 k) (if n > 0 then xs[0] else replicate m 0)";
    let program = Program::from_source("test.fut", source).unwrap();
    let wrong = |error: galopvm::Error| error.to_string();
    let ranks = program.entry::<(Array1<f64>, i32), Array1<f64>>("f").map(|_| ()).map_err(wrong);
    assert_eq!(ranks, Err("`f` has [][]f64 (`xs`) as parameter 1, where []f64 is wanted.".into()));
    let types = program.entry::<(Array2<f64>, i32), Held<f32, Ix1>>("f").map(|_| ()).map_err(wrong);
    assert_eq!(types, Err("`f` has []f64 as result 1, where []f32 is wanted.".into()));
    let entry = program.entry::<(ArrayViewD<f64>, Array0<i32>), ArrayD<f64>>("f").unwrap();
    let mut session = Engine::new().session(&program);
    let xs = array![[1.0, 2.0]];
    let scaled = entry.call(&mut session, (xs.view().into_dyn(), arr0(3))).unwrap();
    assert_eq!(scaled, array![3.0, 6.0].into_dyn());
    // Ranks that only the value has.
    let flat = array![1.0];
    let error = session.call::<ArrayD<f64>>("f", (flat.view().into_dyn(), 1)).unwrap_err();
    assert_eq!(error.to_string(), "Argument 1 (`xs`) of `f` has type []f64, expected [][]f64.");
    let error = session.call::<ArrayD<f32>>("f", (&xs, 1)).unwrap_err();
    assert_eq!(error.to_string(), "the value is a []f64, and no array of f32 elements");
    let error = session.call::<Held<f64, Ix2>>("f", (&xs, 1)).unwrap_err();
    assert_eq!(error.to_string(), "the value is a []f64, not a [][]f64");
}
