//! A cell of a table as a scalar. Scalars are written as [`Scalar::plain`] says, which is read back as the same.

use super::table::shortened;
use galopvm::{ElemType, Scalar};
use galopvm_runtime::data::misfit;

/// Why a cell is not what a column holds: what is wrong, and what to do.
#[derive(Debug, PartialEq)]
pub struct Refused {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// The text of a number as the language of the program writes it.
fn plain(text: &str, decimal_comma: bool) -> String {
    if decimal_comma && !text.contains('.') { text.replacen(',', ".", 1) } else { text.into() }
}

/// The truth value that a word says.
fn truth(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Whether a cell is a number or a truth value.
pub fn is_value(text: &str, decimal_comma: bool) -> bool {
    truth(text).is_some() || plain(text, decimal_comma).parse::<f64>().is_ok()
}

/// The type that holds all cells of a column, as far as they are known: integers, else floats; or truth values.
pub fn natural(text: &str, decimal_comma: bool, before: Option<ElemType>) -> Option<ElemType> {
    let own = if text.parse::<i64>().is_ok() {
        ElemType::I64
    } else if truth(text).is_some() {
        ElemType::Bool
    } else if plain(text, decimal_comma).parse::<f64>().is_ok() {
        ElemType::F64
    } else {
        return None;
    };
    match (before, own) {
        (None, own) => Some(own),
        (Some(before), own) if before == own => Some(own),
        (Some(ElemType::I64 | ElemType::F64), ElemType::I64 | ElemType::F64) => Some(ElemType::F64),
        _ => None,
    }
}

/// A cell as a scalar of a type.
pub fn scalar(text: &str, elem: ElemType, decimal_comma: bool) -> Result<Scalar, Refused> {
    let found = match elem {
        ElemType::Bool => truth(text).map(Scalar::bool),
        _ if elem.is_float() => float(text, elem, decimal_comma),
        _ => integer(text, elem),
    };
    found.ok_or_else(|| refused(text, elem, decimal_comma))
}

/// What is infinite has to be written so.
fn float(text: &str, elem: ElemType, decimal_comma: bool) -> Option<Scalar> {
    let plain = if decimal_comma { plain(text, decimal_comma) } else { String::new() };
    let text = if decimal_comma { plain.as_str() } else { text };
    // Numbers of few digits are read by themselves: twice rounded is not always once rounded.
    let (scalar, number) = match elem {
        ElemType::F32 => text.parse::<f32>().ok().map(|x| (Scalar::f32(x), f64::from(x)))?,
        _ => {
            let scalar = Scalar::from_f64(elem, text.parse().ok()?);
            (scalar, scalar.as_f64())
        }
    };
    (!number.is_infinite() || text.contains(['i', 'I'])).then_some(scalar)
}

fn integer(text: &str, elem: ElemType) -> Option<Scalar> {
    let number = match text.parse::<i64>() {
        Ok(number) => i128::from(number),
        Err(_) => text.parse().ok()?,
    };
    let fits = number.unsigned_abs() <= elem.reach(number < 0).into();
    fits.then(|| Scalar::new(elem, number as u64))
}

fn refused(text: &str, elem: ElemType, decimal_comma: bool) -> Refused {
    let refused = |message: String, hint: &str| Refused { message, hint: hint.into() };
    let number = plain(text, decimal_comma).parse::<f64>().ok();
    let is_whole = text.trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit());
    let text = shortened(text);
    if text.is_empty() {
        let hint = match elem {
            _ if elem.is_float() => "write nan where a number is missing, or leave out the row",
            _ => "write a value that stands for what is missing, or leave out the row",
        };
        return refused(format!("this cell is empty, but a value of type {elem} is expected"), hint);
    }
    if elem == ElemType::Bool {
        return refused(format!("`{text}` is not a bool"), "write true or false, or 1 or 0");
    }
    match number {
        Some(_) if elem.is_float() => {
            let hint =
                if elem == ElemType::F64 { "write inf if that is meant" } else { "let the program take f64" };
            refused(format!("`{text}` is too large for {elem}"), hint)
        }
        Some(_) if is_whole => {
            refused(misfit(&text, elem), "let the program take a larger type, such as i64, or f64")
        }
        Some(_) => refused(
            format!("`{text}` is not an integer, but a value of type {elem} is expected"),
            "let the program take f64, or round the numbers of this column",
        ),
        None if text.contains(',') => refused(
            format!("`{text}` is not a number"),
            "write numbers with a point and without separators of thousands; a comma stands for the point only where \
             cells are separated by semicolons or tabs",
        ),
        None => refused(
            format!("`{text}` is not a number, but a value of type {elem} is expected"),
            "text is taken only in the first line, for the names of columns; leave out columns of text, or name the \
             parameters like the columns that are wanted",
        ),
    }
}

#[test]
fn cells_are_read_as_what_is_expected() {
    let of = |text, elem| scalar(text, elem, false).map_err(|refused| refused.message);
    assert_eq!(of("-128", ElemType::I8), Ok(Scalar::new(ElemType::I8, 0x80)));
    assert_eq!(of("18446744073709551615", ElemType::U64), Ok(Scalar::new(ElemType::U64, u64::MAX)));
    assert_eq!(of("1e3", ElemType::F32), Ok(Scalar::f32(1000.0)));
    assert_eq!(of("-Inf", ElemType::F64), Ok(Scalar::f64(f64::NEG_INFINITY)));
    assert_eq!(of("TRUE", ElemType::Bool), Ok(Scalar::bool(true)));
    assert_eq!(scalar("1,5", ElemType::F64, true), Ok(Scalar::f64(1.5)));
    for (text, elem, message) in [
        ("300", ElemType::U8, "`300` does not fit u8, which goes from 0 to 255"),
        ("-1", ElemType::U32, "`-1` does not fit u32, which goes from 0 to 4294967295"),
        ("1.5", ElemType::I32, "`1.5` is not an integer, but a value of type i32 is expected"),
        ("1e400", ElemType::F64, "`1e400` is too large for f64"),
        ("1e39", ElemType::F32, "`1e39` is too large for f32"),
        ("70000", ElemType::F16, "`70000` is too large for f16"),
        ("", ElemType::F64, "this cell is empty, but a value of type f64 is expected"),
        ("yes", ElemType::Bool, "`yes` is not a bool"),
        ("1,000", ElemType::F64, "`1,000` is not a number"),
        ("x", ElemType::F64, "`x` is not a number, but a value of type f64 is expected"),
    ] {
        assert_eq!(of(text, elem), Err(message.to_string()));
    }
}

#[test]
fn scalars_are_read_back_from_cells() {
    for value in [
        Scalar::f64(0.1),
        Scalar::f64(1e300),
        Scalar::f32(0.1),
        Scalar::f32(f32::INFINITY),
        Scalar::from_f64(ElemType::F16, 0.1),
        Scalar::new(ElemType::U64, u64::MAX),
        Scalar::from_int(ElemType::I8, -7),
        Scalar::bool(false),
    ] {
        let text = value.plain();
        assert_eq!(scalar(&text, value.ty, false), Ok(value), "{text}");
    }
}
