//! What a program shows is what it has at that place: an array that is shown while it is being built in a place of its own,
//! changed, carried by a loop or read by a fused group is shown as it is then, whatever is switched on.

use super::support::executions;
use galopvm::{Program, Scalar, Switch, Switches, Value};
use galopvm_runtime::{Options, Session, ShowSink, Shown};
use std::sync::{Arc, Mutex, PoisonError};

/// Programs that show arrays whose memory somebody else wants.
const PROGRAMS: [&str; 7] = [
    // Parts of a concatenation, before and after.
    "entry main (k: i64): []i64 =
       let a = map (* 3) (iota (20 + k))
       let _ = #[trace(a)] a
       let b = map (+ k) (iota 30)
       let c = #[trace(b)] b
       let d = a ++ c
       let _ = #[trace(d)] d
       in map (+ 1) d",
    // The part of an update, and the array before and after it.
    "entry main (k: i64): []i64 =
       let a = map (* 7) (iota 40)
       let p = map (\\i -> i * i + k) (iota 10)
       let _ = #[trace(before)] a
       let _ = #[trace(part)] p
       let a = a with [5:15] = p
       let _ = #[trace(after)] a
       in a with [k % 40] = 0",
    // Rows that a loop replaces one after the other.
    "entry main (k: i64): [][]i64 =
       loop a = tabulate_2d 12 12 (\\i j -> i * 13 + j + k) for i < 6 do
         let row = map (\\x -> x * 2 - i) a[i]
         let _ = #[trace(row)] row
         let a = #[trace(round)] (a with [i + 1] = row)
         in a",
    // What a loop carries, made anew in each round in memory that takes turns.
    "entry main (k: i64): ([]i64, []i64) =
       loop (a, b) = (iota 50, map (+ k) (iota 50)) for i < 4 do
         let c = map2 (\\x y -> x * 3 - y + i) a b
         let _ = #[trace(c)] c
         let d = map2 (-) c (reverse a)
         let _ = #[trace(old)] a
         in (d, c)",
    // Operators that become one group, with what lies between them shown.
    "entry main (k: i64): i64 =
       let a = map (\\i -> i * 5 % 17 + k) (iota 300)
       let b = map (* 2) a
       let _ = #[trace(b)] b
       let c = map2 (+) a b
       let _ = #[trace(a)] a[3:9]
       in reduce (+) 0 c + b[7]",
    // Views, and an array that is shown after its last other use.
    "entry main (k: i64): [][]i64 =
       let a = tabulate_2d 9 7 (\\i j -> i * 10 + j + k)
       let t = transpose a
       let b = map (map (+ 1)) t
       let _ = #[trace(turned)] t
       let c = map reverse b
       let _ = #[trace(reversed)] c
       in c",
    // In a branch and in a called function, with a copy that might be left out.
    "#[noinline]
     def changed (n: i64) (a: *[n]i64) (k: i64): *[n]i64 =
       let a = #[trace(given)] (a with [k % n] = 1000)
       in a with [0] = k
     entry main (k: i64): ([]i64, []i64) =
       let a = map (+ k) (iota 25)
       let b = changed 25 (copy a) k
       let c = if k % 2 == 0 then #[trace(first)] (map2 (+) a b) else map2 (-) a b
       let _ = #[trace(both)] (a, c)
       in (b, c)",
];

/// What the program shows and gives for each number, in one session.
fn outcomes(text: &str, options: Options) -> Vec<String> {
    let program = Program::from_source("traces.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let said = Arc::new(Mutex::new(Vec::new()));
    let sink = said.clone();
    let shows: ShowSink = Arc::new(move |shown: &Shown<'_>| {
        let mut said = sink.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(shown.label.as_bytes());
        said.extend_from_slice(b": ");
        shown.write_value(&mut *said).expect("a vector takes everything");
        said.push(b'\n');
    });
    let mut session = Session::new(program.module().clone(), Options { shows: Some(shows), ..options });
    let call = |number: i64| {
        let given = session.call("main", vec![Value::from(Scalar::i64(number))]).expect(text);
        let given: String = given.iter().map(|value| format!("{value}\n")).collect();
        let said = std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&said).into_owned() + &given
    };
    let outcomes = [0, 3, 3, 2, 8, 0].into_iter().map(call).collect();
    assert_eq!(session.violation(), None, "the checker refuses what was decided\n{text}");
    outcomes
}

#[test]
fn arrays_are_shown_as_they_are_at_that_place() {
    let mut switches = vec![Switches::ON, Switches::OFF];
    switches.extend(Switch::ALL.iter().map(|switch| Switches::without(&[*switch])));
    for text in PROGRAMS {
        let plain = outcomes(text, Options { switches: Switches::OFF, ..Options::default() });
        assert!(plain[0].contains(": ["), "nothing is shown\n{text}");
        for options in executions(&switches) {
            let way = format!("{:?}, eager {}", options.switches, options.eager);
            assert_eq!(outcomes(text, options), plain, "{way}\n{text}");
        }
    }
}
