//! Launches: what the one check refuses, and results that overwrite an argument's block.

use galopvm_base::ElemType;
use galopvm_kir::evaluate::{Value, load};
use galopvm_kir::{
    Argument, Backend, Buffer, Launch, Machine, Observed, Passed, Plan, Reference, ResultView, RunError,
    Unit, VerifiedPlan, VerifiedRegion, verified_from_text,
};
use galopvm_lmad::{Dim, Lmad};

fn region() -> VerifiedRegion {
    let text = "region reversed (n : i64, A : [n]i16)\nlet r =\n  kernel i < n do\n    in A[n-1-i]\nin r\n";
    verified_from_text(text).unwrap_or_else(|e| panic!("{e}"))
}

fn bytes(values: &[i16]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// `n`, the view of A in block 0, the view of the result in block 1.
fn check(n: i64, a: &Lmad, result: &Lmad) -> Result<(), String> {
    let mut out = [0; 8];
    let mut launch = Launch {
        buffers: vec![Buffer::Read(&[0; 8]), Buffer::Write(&mut out)],
        arguments: vec![Argument::Scalar(n as u64), Argument::Array { buffer: 0, lmad: a.clone() }].into(),
        results: vec![ResultView { buffer: 1, lmad: result.clone() }],
    };
    launch.check(&region()).map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn views_must_fit_shapes_and_blocks() {
    let whole = Lmad::row_major(&[4]);
    assert_eq!(check(4, &whole, &whole), Ok(()));
    assert_eq!(check(4, &Lmad::new(0, [Dim::new(4, 0)]), &Lmad::new(3, [Dim::new(4, -1)])), Ok(()));
    // A negative size is an extent of 0.
    let empty = Lmad::row_major(&[0]);
    assert_eq!(check(-3, &empty, &empty), Ok(()));
    for (n, a, result, message) in [
        (3, &whole, &whole, "A has shape"),
        (4, &Lmad::new(1, [Dim::new(4, 1)]), &whole, "A leaves its buffer"),
        (4, &Lmad::new(2, [Dim::new(4, -1)]), &whole, "A leaves its buffer"),
        (4, &whole, &Lmad::new(0, [Dim::new(4, 2)]), "result 0 leaves its buffer"),
        (4, &whole, &Lmad::new(0, [Dim::new(4, 0)]), "result 0 stores two elements"),
        (4, &whole, &Lmad::row_major(&[2, 2]), "result 0 has shape"),
    ] {
        let error = check(n, a, result).expect_err(message);
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn buffers_and_kinds_must_fit() {
    let whole = || Lmad::row_major(&[4]);
    let scalar = || Argument::Scalar(4);
    let array = |buffer| Argument::Array { buffer, lmad: whole() };
    let result = |buffer| vec![ResultView { buffer, lmad: whole() }];
    for (arguments, results, message) in [
        (vec![scalar()], result(1), "the number of arguments or results"),
        (vec![scalar(), array(0)], vec![], "the number of arguments or results"),
        (vec![scalar(), scalar()], result(1), "argument A has the wrong kind"),
        (vec![array(0), array(0)], result(1), "argument n has the wrong kind"),
        (vec![scalar(), array(7)], result(1), "A names a buffer that is not there"),
        (vec![scalar(), array(0)], result(0), "result 0 lies in a buffer that is only read"),
    ] {
        let mut out = [0; 8];
        let buffers = vec![Buffer::Read(&[0; 8]), Buffer::Write(&mut out)];
        let mut launch = Launch { buffers, arguments: arguments.into(), results };
        let error = launch.check(&region()).err().expect(message).to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_launch_is_for_the_region_that_it_was_checked_for() {
    let other = verified_from_text(
        "region other (n : i64, A : [n]i16)\nlet r =\n  kernel i < n do\n    in A[n - 1 - i]\nin r\n",
    );
    let other = other.expect("a region");
    let mut out = [0; 8];
    let mut launch = Launch {
        buffers: vec![Buffer::Read(&[0; 8]), Buffer::Write(&mut out)],
        arguments: vec![Argument::Scalar(4), Argument::Array { buffer: 0, lmad: Lmad::row_major(&[4]) }]
            .into(),
        results: vec![ResultView { buffer: 1, lmad: Lmad::row_major(&[4]) }],
    };
    let checked = launch.check(&other).expect("it fits that one as well");
    let refused = reference(&region()).run(checked);
    assert!(matches!(refused, Err(RunError::Failed(_))), "{refused:?}");
}

#[test]
fn a_launch_after_one_that_passed_is_refused_as_ever() {
    let (mut passed, whole) = (Passed::default(), Lmad::row_major(&[4]));
    let mut check = |region: &VerifiedRegion, n: u64, a: &Lmad, result: (usize, &Lmad), bytes: [usize; 2]| {
        let mut out = [0; 8];
        let (buffer, lmad) = (result.0, result.1.clone());
        let mut launch = Launch {
            buffers: vec![Buffer::Read(&[0; 8][..bytes[0]]), Buffer::Write(&mut out[..bytes[1]])],
            arguments: vec![Argument::Scalar(n), Argument::Array { buffer: 0, lmad: a.clone() }].into(),
            results: vec![ResultView { buffer, lmad }],
        };
        launch.check_after(region, &mut passed).map(|_| ()).map_err(|error| error.to_string())
    };
    let wider = verified_from_text(
        "region wider (n : i64, A : [n]i32)\nlet r =\n  kernel i < n do\n    in A[n-1-i]\nin r\n",
    );
    let (own, wider) = (region(), wider.expect("a region"));
    let backwards = Lmad::new(3, [Dim::new(4, -1)]);
    for _ in 0..3 {
        for _ in 0..3 {
            assert_eq!(check(&own, 4, &whole, (1, &whole), [8, 8]), Ok(()));
        }
        assert!(check(&own, 3, &whole, (1, &whole), [8, 8]).is_err());
        assert!(check(&own, 4, &Lmad::row_major(&[5]), (1, &whole), [8, 8]).is_err());
        assert!(check(&own, 4, &whole, (1, &Lmad::new(0, [Dim::new(4, 0)])), [8, 8]).is_err());
        assert!(check(&own, 4, &whole, (0, &whole), [8, 8]).is_err());
        assert!(check(&own, 4, &whole, (1, &whole), [6, 8]).is_err());
        assert!(check(&own, 4, &whole, (1, &whole), [8, 6]).is_err());
        assert!(check(&wider, 4, &whole, (1, &whole), [8, 8]).is_err());
        assert_eq!(check(&own, 4, &backwards, (1, &backwards), [8, 8]), Ok(()));
    }
}

#[test]
fn what_is_kept_goes_with_extents_and_views() {
    let text = "region scaled (n : i64, k : i32, m : i64, x : i16, A : [n]i16)
let w : i64 = m + 1
let r =
  kernel i < w do
    in A[i] * x
in r
";
    let region = verified_from_text(text).unwrap_or_else(|e| panic!("{e}"));
    let mut passed = Passed::default();
    // The number that was kept before; afterwards it is `keeps`.
    let mut launch = |[n, k, m, x]: [u64; 4], elements: i64, keeps: u32| {
        let mut out = [0; 16];
        let scalars = [n, k, m, x].map(Argument::Scalar);
        let array = Argument::Array { buffer: 0, lmad: Lmad::row_major(&[n as i64]) };
        let mut launch = Launch {
            buffers: vec![Buffer::Read(&[0; 16]), Buffer::Write(&mut out)],
            arguments: scalars.into_iter().chain([array]).collect::<Vec<_>>().into(),
            results: vec![ResultView { buffer: 1, lmad: Lmad::row_major(&[elements]) }],
        };
        let checked = launch.check_after(&region, &mut passed).map_err(|error| error.to_string())?;
        let (_, kept) = checked.with_kept(&region).map_err(|error| format!("{error:?}"))?;
        let kept = kept.ok_or("nothing can be kept")?;
        let before = kept.get::<u32>().copied();
        kept.set(keeps);
        Ok::<_, String>(before)
    };
    assert_eq!(launch([4, 1, 3, 5], 4, 1), Ok(None));
    assert_eq!(launch([4, 1, 3, 5], 4, 2), Ok(Some(1)));
    // Scalars that no extent depends on may be others, of their type.
    assert_eq!(launch([4, 7, 3, 9], 4, 3), Ok(Some(2)));
    assert!(launch([4, 1 << 32, 3, 5], 4, 0).is_err_and(|e| e.contains("wrong kind")));
    assert!(launch([4, 1, 3, 1 << 16], 4, 0).is_err_and(|e| e.contains("wrong kind")));
    assert_eq!(launch([4, 7, 3, 9], 4, 4), Ok(Some(3)));
    // The extent of the axis is made of another scalar, and so is that of the result.
    assert!(launch([4, 7, 2, 9], 4, 0).is_err_and(|e| e.contains("result 0 has shape")));
    assert_eq!(launch([4, 7, 2, 9], 3, 5), Ok(None));
    // Where each launch is another one, not every one is kept; what is kept stays that of its own.
    assert_eq!(launch([4, 7, 3, 9], 4, 6), Err("nothing can be kept".into()));
    assert_eq!(launch([4, 7, 2, 9], 3, 7), Ok(Some(5)));
}

fn reference(region: &VerifiedRegion) -> std::sync::Arc<dyn galopvm_kir::Compiled> {
    let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("an empty plan fits every region");
    let unit =
        Unit { name: "", region, plan: &plan, observed: &Observed::default(), machine: &Machine::default() };
    Reference.compile(unit).expect("the reference takes everything")
}

#[test]
fn a_result_may_overwrite_the_block_of_an_argument() {
    let region = region();
    let mut block = bytes(&[1, 2, 3, 4]);
    let mut launch = Launch {
        buffers: vec![Buffer::Write(&mut block)],
        arguments: vec![Argument::Scalar(4), Argument::Array { buffer: 0, lmad: Lmad::row_major(&[4]) }]
            .into(),
        results: vec![ResultView { buffer: 0, lmad: Lmad::row_major(&[4]) }],
    };
    assert_eq!(reference(&region).run(launch.check(&region).expect("it fits")), Ok(()));
    assert_eq!(block, bytes(&[4, 3, 2, 1]));
    let value = load(ElemType::I16, &block, &Lmad::new(3, [Dim::new(4, -1)]));
    assert_eq!(value, Ok(Value::new(ElemType::I16, vec![4], vec![1, 2, 3, 4])));
}
