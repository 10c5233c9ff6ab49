//! Entry points with types of Rust: what fits is called, what does not is refused before any call.

use galopvm::{Argument, Array, ArrayOf, Engine, Error, Outcome, Program, Rows, Session, Value, f16};

const SOURCE: &str = "
type point = {y: f64, x: f32}
type~ shape = #circle f64 | #rect point | #path ([]f64) i32 | #nothing | #three ([3]i32) bool bool
type level = #low i32 | #high i32 i32 | #none

entry moved (p: point) (by: f64): point = p with y = p.y + by
entry area (s: shape): f64 =
  match s
  case #circle r -> r * r
  case #rect p -> p.y * f64.f32 p.x
  case #path ys k -> f64.i32 k + f64.sum ys
  case #nothing -> 0
  case #three xs a b -> f64.i32 (i32.sum xs) + (if a && !b then 0.5 else 0)
entry shapes (k: i64): shape =
  if k == 0 then #nothing
  else if k == 1 then #rect {x = 2, y = 3}
  else if k == 2 then #path [1, 2, 3] 7
  else #three [4, 5, 6] true false
entry turned [n] (ps: [n]point): [n](f32, f64) = map (\\p -> (p.x, p.y)) (reverse ps)
entry levels [n] (xs: [n]i32): [n]level =
  map (\\x -> if x < 0 then #none else if x < 10 then #low x else #high x (x / 10)) xs
entry sum [n] (ls: [n]level): i32 =
  i32.sum (map (\\l -> match l case #none -> 0 case #low a -> a case #high a b -> a + b) ls)
entry nested (t: ((i32, bool), [2]f16)) (u: ()): (bool, (f16, i32)) = (t.0.1, (t.1[1], t.0.0))
entry matrix [n] [m] (a: [n][m]f32): [m][n]f32 = transpose a
entry wrapped (a: {all: []i64, count: i64}): {all: []i64, count: i64} = a with count = a.count + length a.all
entry units [n] (us: [n]()): i64 = n
entry among [n] (us: [n]((), bool, {k: i32, u: ()})): [n]({k: i32, u: ()}, (), bool) = map (\\(u, b, k) -> (k, u, !b)) us
entry consumed (xs: *[]i32): *[]i32 = xs with [0] = 9
";

#[derive(Argument, Outcome, Clone, PartialEq, Debug)]
struct Point {
    x: f32,
    y: f64,
}

#[derive(Argument, Outcome, PartialEq, Debug)]
enum Shape {
    Circle(f64),
    Rect {
        x: f32,
        y: f64,
    },
    Path(Vec<f64>, i32),
    Nothing,
    #[galopvm(name = "three")]
    Triple([i32; 3], bool, bool),
}

// Of a sum's results, too, arrays of known extents are vectors.
#[derive(Outcome, PartialEq, Debug)]
enum Found {
    Circle(f64),
    Rect(Point),
    Path(Vec<f64>, i32),
    Nothing,
    Three(Vec<i32>, bool, bool),
}

#[derive(Argument, Outcome, Clone, PartialEq, Debug)]
enum Level {
    None,
    Low(i32),
    High(i32, i32),
}

#[derive(Argument, Outcome, PartialEq, Debug)]
struct Marked {
    k: i32,
    u: (),
}

#[derive(Argument, Outcome, PartialEq, Debug)]
struct Pair<A, B>(A, B);

#[derive(Argument, Outcome)]
struct Wrapped<T> {
    #[galopvm(name = "all")]
    r#type: T,
    count: i64,
}

fn session() -> (Program, Session) {
    let program = Program::from_source("typed.fut", SOURCE).unwrap_or_else(|e| panic!("{e}"));
    let session = Engine::new().session(&program);
    (program, session)
}

#[test]
fn records_and_sums_go_in_and_come_out() -> Result<(), Error> {
    let (program, mut session) = session();
    let session = &mut session;
    let moved = program.entry::<(Point, f64), Point>("moved")?;
    assert_eq!(moved.call(session, (Point { x: 1.5, y: 2.0 }, 0.5))?, Point { x: 1.5, y: 2.5 });

    let area = program.entry::<(Shape,), f64>("area")?;
    assert_eq!(area.call(session, (Shape::Circle(3.0),))?, 9.0);
    assert_eq!(area.call(session, (Shape::Rect { x: 2.0, y: 5.0 },))?, 10.0);
    assert_eq!(area.call(session, (Shape::Path(vec![1.0, 2.0], 4),))?, 7.0);
    assert_eq!(area.call(session, (Shape::Nothing,))?, 0.0);
    assert_eq!(area.call(session, (Shape::Triple([1, 2, 3], true, false),))?, 6.5);
    let shapes = program.entry::<(i64,), Found>("shapes")?;
    let all: Vec<Found> = (0..4).map(|k| shapes.call(session, (k,))).collect::<Result<_, _>>()?;
    let rect = Found::Rect(Point { x: 2.0, y: 3.0 });
    let path = Found::Path(vec![1.0, 2.0, 3.0], 7);
    assert_eq!(all, [Found::Nothing, rect, path, Found::Three(vec![4, 5, 6], true, false)]);
    assert_ne!(all[0], Found::Circle(0.0));

    let nested = program.entry::<(((i32, bool), [f16; 2]), ()), (bool, (f16, i32))>("nested")?;
    let halves = [f16::from_f32(1.0), f16::from_f32(2.5)];
    assert_eq!(nested.call(session, (((7, true), halves), ()))?, (true, (halves[1], 7)));
    let wrapped = program.entry::<(Wrapped<Vec<i64>>,), Wrapped<Array>>("wrapped")?;
    let again = wrapped.call(session, (Wrapped { r#type: vec![1, 2, 3], count: 4 },))?;
    assert_eq!((again.count, again.r#type.to_vec::<i64>()), (7, Some(vec![1, 2, 3])));
    // Also by name, without the check before.
    assert_eq!(session.call::<Point>("moved", (Point { x: 1.0, y: 1.0 }, 1.0))?, Point { x: 1.0, y: 2.0 });
    Ok(())
}

#[test]
fn rows_are_arrays_of_parts() -> Result<(), Error> {
    let (program, mut session) = session();
    let session = &mut session;
    let turned = program.entry::<(Rows<Point>,), Rows<Pair<f32, f64>>>("turned")?;
    let points = Rows(vec![Point { x: 1.0, y: 2.0 }, Point { x: 3.0, y: 4.0 }]);
    assert_eq!(turned.call(session, (points,))?.0, [Pair(3.0, 4.0), Pair(1.0, 2.0)]);
    assert_eq!(turned.call(session, (Rows(Vec::new()),))?.0, []);

    let levels = program.entry::<(Vec<i32>,), Rows<Level>>("levels")?;
    let sum = program.entry::<(Rows<Level>,), i32>("sum")?;
    let found = levels.call(session, (vec![5, -1, 30],))?;
    assert_eq!(found.0, [Level::Low(5), Level::None, Level::High(30, 3)]);
    assert_eq!(sum.call(session, (found,))?, 38);
    let units = program.entry::<(Rows<()>,), i64>("units")?;
    assert_eq!(units.call(session, (Rows(vec![(); 4]),))?, 4);

    // What has no values has truth values in arrays.
    let among = program.entry::<(Rows<((), bool, Marked)>,), Rows<(Marked, (), bool)>>("among")?;
    let marked = |k| Marked { k, u: () };
    let found = among.call(session, (Rows(vec![((), true, marked(7)), ((), false, marked(8))]),))?;
    assert_eq!(found.0, [(marked(7), (), false), (marked(8), (), true)]);

    let matrix = program.entry::<(ArrayOf<f32, 2>,), ArrayOf<f32, 2>>("matrix")?;
    let whole = ArrayOf::new(session.array(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?)?;
    assert_eq!(matrix.call(session, (whole,))?.shape().as_slice(), [3, 2]);
    let consumed = program.entry::<(Vec<i32>,), Vec<i32>>("consumed")?;
    assert_eq!(consumed.call(session, (vec![1, 2],))?, [9, 2]);
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused_before_a_call() {
    let (program, session) = session();
    let says = |error: Error, text: &str| assert_eq!(error.to_string(), text);
    let refused = |outcome: Result<(), Error>| outcome.expect_err("it does not fit");
    macro_rules! entry {
        ($name:literal, $arguments:ty => $results:ty) => {
            refused(program.entry::<$arguments, $results>($name).map(drop))
        };
    }
    says(
        entry!("moved", (Point, f32) => Point),
        "`moved` has f64 (`by`) as parameter 2, where f32 is wanted.",
    );
    says(
        entry!("moved", (Pair<f32, f64>, f64) => Point),
        "`moved` has {x: f32, y: f64} (`p`) as parameter 1, where (f32, f64) is wanted.",
    );
    says(entry!("moved", (Point,) => Point), "`moved` has 2 parameters ({x: f32, y: f64}, f64), not 1.");
    says(entry!("area", (Shape,) => f32), "`area` has f64 as result 1, where f32 is wanted.");
    says(
        entry!("sum", (Rows<Shape>,) => i32),
        "`sum` has [](#high i32 i32 | #low i32 | #none) (`ls`) as parameter 1, where [](#circle f64 | #nothing | \
         #path []f64 i32 | #rect {x: f32, y: f64} | #three []i32 bool bool) is wanted.",
    );
    says(
        entry!("matrix", (Vec<f32>,) => Array),
        "`matrix` has [][]f32 (`a`) as parameter 1, where []f32 is wanted.",
    );
    let none = entry!("motor", () => ()).to_string();
    assert!(none.starts_with("There is no entry point `motor`; there are moved, area"), "{none}");
    // What is not known before is found in the call.
    let matrix = program.entry::<(Value,), Array>("matrix").expect("any value may fit");
    let mut session = session;
    assert!(matrix.call(&mut session, (galopvm::Value::Scalar(galopvm::scalar(1i32)),)).is_err());
    let flat = ArrayOf::<f32, 2>::new(session.array(&[1f32], &[1]).expect("an array"));
    says(flat.map(drop).expect_err("it is flat"), "the array is a []f32, not a [][]f32");
}
