//! Arrays: copies of every kind, views, and their messages.

use super::view::{index, slice};
use super::*;
use crate::error::ErrorKind;
use galopvm_lmad::{Dim, Lmad};

fn numbers(memory: &Memory, shape: &[i64]) -> Array {
    let count: i64 = shape.iter().product();
    let numbers: Vec<i32> = (0..count as i32).collect();
    Array::from_slice(memory, &numbers, shape).unwrap()
}

#[test]
fn copies_of_every_kind_keep_the_elements() {
    let memory = Memory::default();
    let array = numbers(&memory, &[3, 40, 70]);
    let views = [
        array.lmad().clone(),
        array.lmad().permute(&[0, 2, 1]),
        array.lmad().permute(&[2, 1, 0]),
        array.lmad().reverse(1),
        array.lmad().triplet(2, 3, 20, 3),
        array.lmad().fix(0, 2).expand(0, 4),
        array.lmad().triplet(0, 1, 0, 1),
    ];
    for view in views {
        for elem in [ElemType::I8, ElemType::I16, ElemType::I32] {
            // Narrow types read the same block in smaller pieces.
            let array = Array::from_block(array.block().clone(), elem, view.clone()).unwrap();
            let copy = array.copy(&memory).unwrap();
            assert!(copy.lmad().is_row_major());
            assert_eq!(copy, array, "{view}");
            assert!(copy.iter_bits().eq(array.iter_bits()));
        }
    }
    let stats = memory.stats();
    assert!(stats.copies.iter().all(|n| *n > 0), "{stats}");
}

#[test]
fn large_copies_are_divided_among_threads() {
    let memory = Memory::default();
    let several = memory.for_call(&Stop::default(), 3);
    for elem in [ElemType::I8, ElemType::I16, ElemType::I32, ElemType::I64] {
        let (rows, cols) = (1500, 2400 / elem.bytes() as i64 + 1999);
        let mut array = Array::fresh(&memory, elem, &[rows, cols]).unwrap();
        for (at, byte) in array.block.bytes_mut().unwrap().iter_mut().enumerate() {
            *byte = (at * 31 + at / 251) as u8;
        }
        let whole = array.lmad().clone();
        let views = [
            whole.clone(),
            whole.transpose(),
            whole.reverse(0),
            whole.reverse(1).transpose(),
            whole.triplet(0, 1, rows / 2, 2),
            whole.fix(0, 2).expand(0, 4000),
            whole.reshape(&[rows * cols]).unwrap().reverse(0),
        ];
        for view in views {
            let array = array.with_view(view);
            let (one, many) = (array.copy(&memory).unwrap(), array.copy(&several).unwrap());
            assert!(one.block.bytes() == many.block.bytes(), "{elem} {}", array.lmad());
        }
        // Into places that lie among others.
        let mut wide = Array::fresh(&memory, elem, &[cols, rows + 3]).unwrap();
        let places = [
            Lmad::new(1, [Dim::new(cols, rows + 3), Dim::new(rows, 1)]),
            Lmad::new((cols - 1) * (rows + 3), [Dim::new(cols, -rows - 3), Dim::new(rows, 1)]),
            Lmad::new(rows, [Dim::new(cols, rows + 3), Dim::new(rows, -1)]),
        ];
        for places in places {
            let copies = [&memory, &several].map(|memory| {
                let target = wide.block.bytes_mut().unwrap();
                target.fill(7);
                let from = whole.transpose();
                copy_elements(memory, target, &places, array.block.bytes(), &from, elem.bytes()).unwrap();
                target.to_vec()
            });
            assert!(copies[0] == copies[1], "{elem} {places}");
        }
    }
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let ending = memory.for_call(&Stop::new(flag, None), 3);
    let array = Array::fresh(&memory, ElemType::I64, &[1500, 3000]).unwrap();
    assert_eq!(array.copy(&ending).map(|_| ()).unwrap_err().kind, ErrorKind::Interrupted);
}

#[test]
fn large_copies_end_when_their_call_does() {
    let memory = Memory::default();
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let ending = memory.for_call(&Stop::new(flag, None), 1);
    let side = 3000i64;
    let array = Array::fresh(&memory, ElemType::I16, &[side, side]).unwrap();
    let whole = array.lmad().clone();
    let views = [
        whole.clone(),
        whole.transpose(),
        whole.reverse(1),
        whole.triplet(0, 0, side / 2, 2),
        whole.triplet(1, 0, side - 1, 1),
        whole.fix(0, 1).expand(0, side),
        whole.reshape(&[side * side]).unwrap().reverse(0),
        Lmad { offset: 0, dims: [Dim { size: side * side, stride: 0 }].into_iter().collect() },
    ];
    for view in views {
        let array = array.with_view(view);
        let error = array.copy(&ending).expect_err("the flag is set");
        assert_eq!(error.kind, ErrorKind::Interrupted, "{}", array.lmad());
        assert!(array.copy(&memory).is_ok());
        assert!(array.equals_until(&array, &mut ending.stop().pace()).is_err());
        // What takes no time is finished.
        assert!(array.into_view(whole.fix(0, 1)).copy(&ending).is_ok());
    }
}

#[test]
fn slices_mean_what_futhark_says() {
    let view = Lmad::row_major(&[5]);
    let range = |start, end, step| slice(&view, &[SliceIndex::Range { start, end, step }]);
    let places = |start, end, step| range(start, end, step).map(|v| v.places().collect::<Vec<_>>());
    assert_eq!(places(None, None, None), Ok(vec![0, 1, 2, 3, 4]));
    assert_eq!(places(Some(1), Some(4), None), Ok(vec![1, 2, 3]));
    assert_eq!(places(Some(0), Some(5), Some(2)), Ok(vec![0, 2, 4]));
    assert_eq!(places(None, None, Some(-1)), Ok(vec![4, 3, 2, 1, 0]));
    assert_eq!(places(Some(4), Some(0), Some(-2)), Ok(vec![4, 2]));
    assert_eq!(places(Some(9), Some(9), None), Ok(vec![]));
    let bad = |text: &str| Err(format!("Index [{text}] out of bounds for array of shape [5]."));
    assert_eq!(places(Some(2), Some(1), None), bad("2:1"));
    assert_eq!(places(Some(2), Some(9), None), bad("2:9"));
    assert_eq!(places(None, Some(9), None), bad(":9"));
    assert_eq!(places(Some(-1), None, None), bad("-1:"));
    assert_eq!(places(Some(0), Some(3), Some(0)), bad("0:3:0"));
    assert_eq!(places(Some(7), Some(0), Some(-3)), bad("7:0:-3"));
    assert_eq!(places(Some(i64::MIN), Some(i64::MAX), Some(2)), bad(&format!("{}:{}:2", i64::MIN, i64::MAX)));
    let matrix = Lmad::row_major(&[2, 2]);
    assert_eq!(
        index(&matrix, [1, 5].into_iter()),
        Err("Index [1, 5] out of bounds for array of shape [2][2].".into())
    );
    assert_eq!(
        index(&matrix, [7].into_iter()),
        Err("Index [7] out of bounds for array of shape [2].".into())
    );
    let both = [SliceIndex::At(1), SliceIndex::Range { start: Some(1), end: Some(5), step: None }];
    assert_eq!(slice(&matrix, &both), Err("Index [1, 1:5] out of bounds for array of shape [2][2].".into()));
}

#[test]
fn conversions_and_checks() {
    let memory = Memory::default();
    let array = Array::from_slice(&memory, &[true, false, true], &[3]).unwrap();
    assert_eq!(array.to_vec::<bool>(), Some(vec![true, false, true]));
    assert_eq!(array.to_vec::<u8>(), None);
    assert_eq!(array.get(&[1]), Some(Scalar::bool(false)));
    assert_eq!(array.get(&[3]), None);
    assert!(Array::from_slice(&memory, &[1i32], &[2]).is_err());
    assert!(Array::from_slice(&memory, &[1i32], &[-1, -1]).is_err());
    assert!(Array::fresh(&memory, ElemType::F64, &[i64::MAX, 4]).is_err());
    let bytes = numbers(&memory, &[4]);
    assert!(Array::from_block(bytes.block().clone(), ElemType::Bool, Lmad::row_major(&[16])).is_none());
    assert!(Array::from_block(bytes.block().clone(), ElemType::I32, Lmad::row_major(&[5])).is_none());
    assert!(
        Array::from_block(bytes.block().clone(), ElemType::I32, Lmad::new(3, [Dim::new(4, -1)])).is_some()
    );
    let reversed = bytes.with_view(bytes.lmad().reverse(0));
    assert_eq!(reversed.to_vec::<i32>(), Some(vec![3, 2, 1, 0]));
    assert!(reversed != bytes && reversed.clone() == reversed);
}

#[test]
fn views_share_and_updates_do_not_show_through() {
    let memory = Memory::default();
    let base = numbers(&memory, &[2, 3]);
    let transposed = base.clone().permute(&[1, 0]).unwrap();
    assert_eq!(transposed.to_vec::<i32>(), Some(vec![0, 3, 1, 4, 2, 5]));
    assert!(transposed.block().same(base.block()));
    let part =
        base.clone().slice(&[SliceIndex::At(1), SliceIndex::Range { start: Some(1), end: None, step: None }]);
    assert_eq!(part.unwrap().to_vec::<i32>(), Some(vec![4, 5]));
    assert_eq!(base.clone().reverse(0).unwrap().to_vec::<i32>(), Some(vec![3, 4, 5, 0, 1, 2]));
    let flat = transposed.clone().reshape(&memory, &[6]).unwrap();
    assert_eq!((flat.to_vec::<i32>(), flat.block().same(base.block())), (transposed.to_vec(), false));
    assert!(base.clone().reshape(&memory, &[6]).unwrap().block().same(base.block()));
    for wrong in [base.clone().permute(&[0, 0]), base.clone().permute(&[0]), base.clone().reverse(2)] {
        assert!(wrong.is_err());
    }
    assert!(base.clone().slice(&[SliceIndex::At(0); 3]).is_err());
    assert!(base.clone().reshape(&memory, &[7]).is_err());

    let mut changed = transposed.clone();
    changed.set(&memory, &[2, 1], Scalar::new(ElemType::I32, 9)).unwrap();
    assert_eq!(changed.to_vec::<i32>(), Some(vec![0, 3, 1, 4, 2, 9]));
    assert_eq!(base.to_vec::<i32>(), Some(vec![0, 1, 2, 3, 4, 5]));
    let before = memory.stats().allocations;
    changed.set(&memory, &[0, 0], Scalar::new(ElemType::I32, 7)).unwrap();
    assert_eq!(memory.stats().allocations, before);
    assert!(changed.set(&memory, &[3, 0], Scalar::new(ElemType::I32, 7)).is_err());
    assert!(changed.set(&memory, &[0, 0], Scalar::i64(7)).is_err());
    // One place under many indices is not written in place.
    let view = base.lmad().fix(0, 0).expand(0, 2);
    let mut repeated =
        Array::from_block(numbers(&memory, &[3]).block().clone(), ElemType::I32, view).unwrap();
    repeated.set(&memory, &[0, 0], Scalar::new(ElemType::I32, 8)).unwrap();
    assert_eq!(repeated.to_vec::<i32>(), Some(vec![8, 1, 2, 0, 1, 2]));
}
