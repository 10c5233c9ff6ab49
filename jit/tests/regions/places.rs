//! Results in blocks that the kernel reads: no iteration reads what another one writes, so nothing may change.

use crate::support::*;
use galopvm_base::ElemType;
use galopvm_kir::{Argument, Buffer, Launch, ResultView};
use galopvm_lmad::{Dim, Lmad};

/// Runs a region whose result takes the memory of its last argument, lying there as `place` says.
fn over(text: &str, args: &[Arg], place: impl Fn(&Lmad) -> Lmad) {
    let region = region(text);
    let expected = reference(&region, args).expect("the reference does not trap");
    let Some(Arg::Array(elem, data, view)) = args.last() else { panic!("the last argument is no array") };
    let to = place(view);
    for cpu in modes() {
        let code = compile(&region, "", args, cpu, false).unwrap_or_else(|e| panic!("{cpu}: {e}\n{text}"));
        let bytes = |elem: ElemType, data: &[u64]| -> Vec<u8> {
            data.iter().flat_map(|e| e.to_le_bytes()[..elem.bytes()].to_vec()).collect()
        };
        let mut block = bytes(*elem, data);
        let inputs: Vec<Vec<u8>> = args[..args.len() - 1]
            .iter()
            .filter_map(|arg| match arg {
                Arg::Array(elem, data, _) => Some(bytes(*elem, data)),
                Arg::Scalar(_) => None,
            })
            .collect();
        let mut blocks = 0;
        let arguments = args.iter().map(|arg| match arg {
            Arg::Scalar(scalar) => Argument::Scalar(scalar.bits),
            Arg::Array(_, _, lmad) => {
                blocks += 1;
                Argument::Array { buffer: blocks - 1, lmad: lmad.clone() }
            }
        });
        let arguments: Vec<Argument> = arguments.collect();
        let mut buffers: Vec<Buffer<'_>> = inputs.iter().map(|bytes| Buffer::Read(bytes)).collect();
        buffers.push(Buffer::Write(&mut block));
        let results = vec![ResultView { buffer: buffers.len() - 1, lmad: to.clone() }];
        let mut launch = Launch { buffers, arguments: arguments.into(), results };
        code.run(launch.check(&region).expect("it fits")).unwrap_or_else(|e| panic!("{cpu}: {e:?}\n{text}"));
        drop(launch);
        let got = to.places().map(|at| element(*elem, &block, at as usize)).collect();
        compare(
            &region,
            &format!("{cpu}\n{text}"),
            &Ok(expected.clone()),
            &Ok(vec![got]),
            0.0,
            code.as_ref(),
        );
    }
}

fn same_place(view: &Lmad) -> Lmad {
    view.clone()
}

#[test]
fn each_iteration_replaces_its_own_element() {
    for ty in ["i8", "u16", "i32", "i64", "f16", "f32", "f64"] {
        let text = format!(
            "region own (n : i64, x : [n]{ty})
                let r : [n]{ty} = kernel i < n do
                  let a : {ty} = x[i]
                  let b : {ty} = a + a * a
                  in b
                in r"
        );
        let elem = ElemType::ALL.iter().copied().find(|e| e.name() == ty).expect("a type");
        let mut random = Random::new(3);
        for n in SIZES.into_iter().chain([100_000]) {
            over(&text, &[size(n), array(elem, &[n as i64], &mut random)], same_place);
        }
    }
}

#[test]
fn what_is_read_elsewhere_does_not_change() {
    // The upper rows are read, the lower ones are written; a column and a row that stay are read again and again.
    let text = "region lower (n : i64, m : i64, k : i64, x : [n][m]f64)
        let r : [n][m]f64 = kernel i < n, j < m do
          let v : f64 = if i > k && j > k then
              let d : f64 = x[i, j] - x[i, k] * x[k, j]
              in d
            else
              let o : f64 = x[i, j]
              in o
          in v
        in r";
    let mut random = Random::new(4);
    for (n, m, k) in [(5, 9, 0), (40, 37, 3), (64, 64, 20), (3, 200, 1), (300, 70, 2)] {
        let x = tame(ElemType::F64, &[n, m], &mut random);
        over(text, &[size(n as usize), size(m as usize), size(k), x], same_place);
        // The same in a block with gaps, and by columns.
        let Arg::Array(elem, data, _) = array(ElemType::F64, &[(n + 3) * (m + 3) * 2], &mut random) else {
            unreachable!()
        };
        for (view, _) in [Layout::Padded.view(&[n, m]), Layout::Turned.view(&[n, m])] {
            let x = Arg::Array(elem, data.clone(), view);
            over(text, &[size(n as usize), size(m as usize), size(k), x], same_place);
        }
    }
}

#[test]
fn a_place_next_to_what_is_read() {
    // Reads rows 0..n of a block and writes rows n..2n, backwards.
    let text = "region next (n : i64, m : i64, x : [n][m]f32)
        let r : [n][m]f32 = kernel i < n, j < m do
          let s : f32 = x[i, j] * 2.0f32 + x[0, j]
          in s
        in r";
    let mut random = Random::new(5);
    for (n, m) in [(1, 1), (4, 33), (50, 64), (33, 100)] {
        let Arg::Array(elem, data, _) = tame(ElemType::F32, &[2 * n, m], &mut random) else { unreachable!() };
        let x = Arg::Array(elem, data, Lmad::row_major(&[n, m]));
        over(text, &[size(n as usize), size(m as usize), x], |_| {
            let dims = [Dim::new(n, -m), Dim::new(m, 1)].into_iter().collect();
            Lmad { offset: (2 * n - 1) * m, dims }
        });
    }
}

#[test]
fn what_a_row_begins_with_is_read_before_the_row_is_written() {
    // Each row is scaled by its own first element, which is read before the inner kernel begins.
    let text = "region rows (n : i64, m : i64, x : [n][m]f32)
        let r : [n][m]f32 = kernel i < n do
          let first : f32 = x[i, 0]
          let q : [m]f32 = kernel j < m do
            let s : f32 = x[i, j] * first + first
            in s
          in q
        in r";
    let mut random = Random::new(6);
    for (n, m) in [(1, 5), (7, 16), (20, 65), (40, 131)] {
        let x = tame(ElemType::F32, &[n, m], &mut random);
        over(text, &[size(n as usize), size(m as usize), x], same_place);
    }
}
