//! Results that are not the expected ones: the first differing element, with its neighbours.

use crate::values::type_text;
use galopvm::data::{Difference, TOLERANCE, compare as compare_values, value_text};
use galopvm::{Array, Value};

/// Elements shown at either side of one that differs.
const AROUND: i64 = 3;

/// Refuses values that differ; floats may by Futhark's tolerance.
pub fn compare(found: &[Value], expected: &[Value]) -> Result<(), String> {
    let mut first = None;
    let mut more = 0usize;
    compare_values(found, expected, TOLERANCE, &mut |difference| {
        match first {
            None => first = Some(difference),
            Some(_) => more += 1,
        }
        more < 1000
    });
    let Some(difference) = first else { return Ok(()) };
    let mut text = described(&difference, found, expected);
    if let Difference::Element { value, index, .. } = &difference
        && let (Some(Value::Array(found)), Some(Value::Array(expected))) =
            (found.get(*value), expected.get(*value))
    {
        text.push_str(&format!("\n  expected {}", context(expected, index)));
        text.push_str(&format!("\n  got      {}", context(found, index)));
    }
    match more {
        0 => {}
        1..1000 => text.push_str(&format!("\n  and {more} more that differ")),
        _ => text.push_str("\n  and many more that differ"),
    }
    Err(text)
}

/// A difference in words; values of different types are told by these, with the extents that they have.
fn described(difference: &Difference, found: &[Value], expected: &[Value]) -> String {
    match difference {
        Difference::Count { expected: 1, found } => format!("Expected 1 value, got {found}"),
        Difference::Shape { value, .. } | Difference::Type { value, .. }
            if found[*value].ty() != expected[*value].ty() =>
        {
            let (expected, found) = (type_text(&expected[*value]), type_text(&found[*value]));
            format!("Value #{value}: expected a value of type {expected}, got {found}")
        }
        _ => difference.to_string(),
    }
}

/// The elements around an index in its innermost row: `[.., 3, >4<, 5, ..]`.
fn context(array: &Array, index: &[i64]) -> String {
    let Some((last, outer)) = index.split_last() else { return String::new() };
    let extent = array.shape().last().copied().unwrap_or(0);
    let mut shown = Vec::new();
    let (start, end) = ((last - AROUND).max(0), (last + AROUND + 1).min(extent));
    if start > 0 {
        shown.push("..".to_string());
    }
    for k in start..end {
        if let Some(scalar) = array.get(&[outer, &[k]].concat()) {
            let text = value_text(&Value::Scalar(scalar));
            shown.push(if k == *last { format!(">{text}<") } else { text });
        }
    }
    if end < extent {
        shown.push("..".to_string());
    }
    format!("[{}]", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::compare;
    use galopvm::Memory;
    use galopvm::data::read_values;

    #[test]
    fn the_first_element_that_differs_is_shown_in_its_row() {
        let read = |text: &str| read_values(&Memory::default(), text.as_bytes()).expect("values");
        let wrong = compare(
            &read("[[1,2,3,4,5,6,7,8,9],[1,2,3,4,5,6,7,8,9]]"),
            &read("[[1,2,3,4,5,6,7,8,9],[1,2,3,4,0,6,7,8,0]]"),
        );
        assert_eq!(
            wrong,
            Err("Value #0 index [1,4]: expected 0, got 5\n  \
                 expected [.., 2i32, 3i32, 4i32, >0i32<, 6i32, 7i32, 8i32, ..]\n  \
                 got      [.., 2i32, 3i32, 4i32, >5i32<, 6i32, 7i32, 8i32, ..]\n  \
                 and 1 more that differ"
                .to_string())
        );
        assert_eq!(compare(&read("1.0"), &read("1.001")), Ok(()));
        assert_eq!(compare(&read("1"), &read("2")), Err("Value #0: expected 2, got 1".into()));
    }
}
