//! Loops whose rounds change parts of an array in its place, round by round and in blocks of rounds: elements that go straight to their
//! places, and several rows of them at once.

use crate::support::*;
use galopvm_analysis::rounds::block;
use galopvm_base::ElemType;
use galopvm_kir::text::print_region;
use galopvm_testkit::rounds;
use galopvm_testkit::sweeps::sweeps;

/// An array that lies in its block in some way.
fn lying(ty: ElemType, shape: &[i64], random: &mut Random) -> Arg {
    let layout = *random.pick(&Layout::ALL);
    let (view, count) = layout.view(shape);
    Arg::Array(ty, (0..count).map(|_| value_of(ty, random)).collect(), view)
}

#[test]
fn generated_loops() {
    let mut in_blocks = 0;
    for seed in 0..rounds(6) {
        let mut random = Random::new(seed ^ 0x0b10c5);
        let made = sweeps(&mut random);
        let plain = region(&made.text);
        let ty = plain.results()[0].elem;
        let launches: Vec<Vec<Arg>> = [(0, 1, 1), (5, 7, 7), (9, 12, 30), (20, 23, 70)]
            .iter()
            .map(|&(n, m, w)| {
                let mut args = vec![size(n)];
                let mut shape = vec![m, w];
                if made.is_batch {
                    args.push(size(2));
                    shape.insert(0, 2);
                }
                args.extend([size(m as usize), size(w as usize)]);
                args.extend([lying(ty, &shape, &mut random), lying(ty, &[m, w], &mut random)]);
                args
            })
            .collect();
        check_launches(&made.text, "", &launches, 0.0);
        if let Ok(blocked) = block(&plain, 8) {
            in_blocks += 1;
            check_launches(&print_region(blocked.region()), "", &launches, 0.0);
        }
    }
    assert!(in_blocks > 0);
}

/// Rows and vectors that are computed together, and those that are left over.
#[test]
fn several_rows_at_once() {
    for (ty, carried) in [("f32", 1), ("f64", 1), ("i32", 2), ("u8", 1)] {
        let (extra, init, next, names, sum) = match carried {
            1 => ("", "", "", "", "v"),
            _ => (", t : i32", ", 1i32", ", t + u", ", t_2 : i32", "v + t_2"),
        };
        let text = format!(
            "region r (n : i64, m : i64, w : i64, A : [m][w]{ty}, L : [m][n]{ty}, U : [n][w]{ty})
            let r : [m][w]{ty} = loop x : [m][w]{ty} = A for q < 2 do
              let z : [m-1][w-2]{ty} = kernel i < m-1, j < w-2 do
                let e : {ty} = x[1+i, 2+j]
                let (v : {ty}{names}) = loop (u : {ty}{extra}) = (e{init}) for p < n do
                  let s : {ty} = L[i, p] * U[p, j]
                  in (u - s{next})
                in {sum}
              let y : [m][w]{ty} = x with [1 :+ (m-1) * 1, 2 :+ (w-2) * 1] = z
              in y
            in r"
        );
        let elem = region(&text).results()[0].elem;
        let mut random = Random::new(7);
        let launches: Vec<Vec<Arg>> =
            [(0, 1, 2), (1, 2, 3), (3, 5, 18), (7, 9, 66), (5, 18, 133), (4, 7, 40)]
                .iter()
                .map(|&(n, m, w)| {
                    let mut args = vec![size(n as usize), size(m as usize), size(w as usize)];
                    args.extend([
                        lying(elem, &[m, w], &mut random),
                        lying(elem, &[m, n], &mut random),
                        lying(elem, &[n, w], &mut random),
                    ]);
                    args
                })
                .collect();
        check_launches(&text, "", &launches, 0.0);
    }
}

/// A kernel that reads the array elsewhere makes an array of its own first.
#[test]
fn neighbours_are_read_before_they_change() {
    let text = "region r (n : i64, m : i64, A : [m]i32)
        let r : [m]i32 = loop x : [m]i32 = A for k < n do
          let z : [m-1]i32 = kernel i < m-1 do in x[1+i] + x[i]
          let y : [m]i32 = x with [1 :+ (m-1) * 1] = z
          in y
        in r";
    let mut random = Random::new(3);
    let launches: Vec<Vec<Arg>> = [(0, 1), (1, 2), (3, 17), (5, 70)]
        .iter()
        .map(|&(n, m)| vec![size(n), size(m), lying(ElemType::I32, &[m as i64], &mut random)])
        .collect();
    check_launches(text, "", &launches, 0.0);
}
