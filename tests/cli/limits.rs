//! Limits of the command line: memory, time, Ctrl-C.

use super::{Folder, Ran, command, in_order};
use std::io::Write;
use std::process::Command;

/// Programs that keep arrays of `8 n` bytes, three of which fit and a fourth does not, or let one grow, each in its own way.
const GREEDY: &str = "\
entry scans (n: i64) =
  let a = scan (+) 0 (iota n) let b = scan (^) 1 a let c = scan (|) 2 b let d = scan i64.max 3 c in (a, b, c, d)
entry maps (n: i64) =
  let a = map (* n) (iota n) let b = map (2 ^) (iota n) let c = map (n -) (iota n) let d = map (% 9) (iota n) in (a, b, c, d)
entry fills (n: i64) = (replicate n 1i64, replicate n 2f64, replicate n n, replicate n 4u64)
entry rows (n: i64) =
  let f k = map (\\i -> scan (+) k (map (* i) (iota 1000))) (iota (n / 1000)) in (f 1, f 2, f 3, f 4)
entry turned (n: i64) =
  let f k = copy (transpose (replicate (n / 1000) (map (+ k) (iota 1000)))) in (f 1, f 2, f 3, f 4)
entry filtered (n: i64) = let f k = filter (>= k) (iota n) in (f 0, f 1, f 2, f 3)
entry scattered (n: i64) = let f k = scatter (replicate n k) (iota 1000) (iota 1000) in (f 1, f 2, f 3, f 4)
entry counted (n: i64) =
  let f k = reduce_by_index (replicate n k) (+) 0 (iota 1000) (iota 1000) in (f 1, f 2, f 3, f 4)
entry grown (n: i64): []i64 = loop a = [1i64] while length a < 4 * n do a ++ replicate (n / 10) 1
entry doubled (n: i64): []i64 = loop a = replicate (n / 10 * 9) 1i64 while length a < 9 * n do a ++ a
entry bytes (n: i64) = let f k = map (\\i -> i8.i64 (i + k)) (iota (8 * n)) in (f 1, f 2, f 3, f 4)
entry updated (n: i64) = let a = iota n let f k = copy a with [k] = 0 in (f 1, f 2, f 3, f 4)
";

/// What the process had at most, as `--stats` says.
fn peak(ran: &Ran) -> Option<u64> {
    let line = ran.err.lines().find_map(|line| line.split_once("most memory of the process: "))?.1;
    line.strip_suffix(" bytes")?.parse().ok()
}

#[test]
fn limits_hold_and_say_so() {
    let folder = Folder::new("limits");
    folder.write("greedy.fut", GREEDY);
    let limit = 64u64 << 20;
    let least = folder.run("run greedy.fut -n -e fills --stats", "10");
    least.succeeds();
    for line in GREEDY.lines().filter(|line| line.starts_with("entry")) {
        let entry = line.split_whitespace().nth(1).expect("a name");
        let ran = folder.run(&format!("run greedy.fut -n -e {entry} --max-memory 64M --stats"), "2500000");
        ran.fails(1, &["Error: Out of memory", "the limit is 67108864 bytes"]);
        if let (Some(peak), Some(least)) = (peak(&ran), peak(&least)) {
            assert!(peak < least + limit / 20 * 21, "{entry}: {peak} over {least}\n{}", ran.err);
            // It was no single request that was too large.
            assert!(peak > least + limit / 3, "{entry}: {peak} over {least}\n{}", ran.err);
        }
    }
    folder.write("slow.fut", "def main (n: i64): i64 = loop x = 0 for i < n do x ^ i\n");
    let start = std::time::Instant::now();
    folder
        .run("run slow.fut --timeout 200ms", "9000000000000000000")
        .fails(1, &["longer than its time of 200ms"]);
    assert!(start.elapsed().as_secs() < 5);
    // One element of a kernel, which has all the work.
    folder.write(
        "element.fut",
        "def main (n: i64): []i64 = map (\\k -> loop x = k for i < n do x ^ i + k) (iota 1)\n",
    );
    for backend in ["x86", "interp", "reference"] {
        folder
            .run(&format!("run element.fut --timeout 200ms --backend {backend}"), "9000000000000000000")
            .fails(1, &["longer than its time of 200ms"]);
    }
    folder.run("run slow.fut --timeout never", "1").fails(2, &["a time is wanted"]);
    folder.run("run slow.fut --timeout 1m --max-memory 1G --fuel 1000000", "10").prints("1i64\n");
}

#[test]
fn reading_is_limited_in_time() {
    let folder = Folder::new("reading");
    folder.write("slow.fut", "def main (n: i64): i64 = n\n");
    let mut child =
        command(&folder.0, &["run", "slow.fut", "--timeout", "300ms"]).spawn().expect("galopvm starts");
    // Open as long as galopvm runs.
    let input = child.stdin.take();
    let ran = Ran::new(&["run slow.fut"], child.wait_with_output().expect("galopvm ends"));
    drop(input);
    ran.fails(1, &["Error: Reading the input took longer than its time of 300ms."]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_program_with_an_error() {
    let folder = Folder::new("interrupt");
    folder.write("slow.fut", "def main (n: i64): i64 = loop x = 0 for i < n do x ^ i\n");
    let mut child = command(&folder.0, &["run", "slow.fut", "--trace"]).spawn().expect("galopvm starts");
    child.stdin.take().expect("its standard input").write_all(b"9000000000000000000").expect("a value");
    // Until it runs, Ctrl-C ends it without a word, with the same exit code.
    std::thread::sleep(std::time::Duration::from_millis(1000));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    if kill.is_ok_and(|status| status.success()) {
        let ran = Ran::new(&["run"], child.wait_with_output().expect("galopvm ends"));
        assert_eq!(ran.code, Some(130));
        in_order("run", &ran.err, &["Error: Interrupted."]);
    } else {
        child.kill().expect("it still runs");
        child.wait().expect("it has been ended");
    }
}
