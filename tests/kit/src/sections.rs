//! Files of several texts: sections after a line `---- NAME`, and parts after a line `==== TITLE`.

/// A section's text, up to the next one.
pub fn find_section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = &text[after_head(text, name)?..];
    Some(&rest[..head(rest, "---- ").unwrap_or(rest.len())])
}

/// The text of a section that has to be there.
pub fn section<'a>(text: &'a str, name: &str) -> &'a str {
    find_section(text, name).unwrap_or_else(|| panic!("no section {name}:\n{text}"))
}

/// What stands before a section; everything if there is none.
pub fn before<'a>(text: &'a str, name: &str) -> &'a str {
    let end = after_head(text, name).map_or(text.len(), |after| after - "---- \n".len() - name.len());
    &text[..end]
}

/// What stands before the first line `==== TITLE`, and each title with the lines after it. Ends of lines between parts belong
/// to none of them.
pub fn parts(text: &str) -> (&str, Vec<(&str, &str)>) {
    let mut parts = text.split("\n==== ");
    let first = parts.next().unwrap_or_default();
    (first, parts.map(|part| part.split_once('\n').unwrap_or((part, ""))).collect())
}

/// Where the first line that begins so is.
fn head(text: &str, start: &str) -> Option<usize> {
    if text.starts_with(start) { Some(0) } else { text.find(&format!("\n{start}")).map(|at| at + 1) }
}

/// Where the text of a section begins.
fn after_head(text: &str, name: &str) -> Option<usize> {
    let line = format!("---- {name}\n");
    Some(head(text, &line)? + line.len())
}

#[test]
fn sections_are_found_where_they_begin() {
    let text = "title ---- env\n---- env\n---- region\na ---- b\nc\n---- plan\n";
    assert_eq!(section(text, "env"), "");
    assert_eq!(section(text, "region"), "a ---- b\nc\n");
    assert_eq!(section(text, "plan"), "");
    assert_eq!(find_section(text, "reg"), None);
    assert_eq!(before(text, "env"), "title ---- env\n");
    assert_eq!(before(text, "work"), text);
    assert_eq!(parts("p\nq\n==== f 1\nx\ny\n==== g"), ("p\nq", vec![("f 1", "x\ny"), ("g", "")]));
}
