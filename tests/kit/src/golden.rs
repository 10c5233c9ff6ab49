//! Golden files: text in, text out. What was found is compared with what a file says; `GALOPVM_ACCEPT=1` writes it there
//! instead. A failure shows the lines that differ, file by file.

use crate::{files, read};
use std::fmt::Write;
use std::path::Path;

/// Unchanged lines that are shown around changed ones.
const CONTEXT: usize = 3;

/// Up to so many pairs of lines are compared to find the fewest that differ.
const MOST_PAIRS: usize = 1 << 24;

/// A comparison of many files.
pub struct Golden {
    accept: bool,
    wrong: Vec<String>,
}

impl Golden {
    /// One that accepts what is found if the environment says so.
    pub fn new() -> Golden {
        Golden { accept: std::env::var_os("GALOPVM_ACCEPT").is_some(), wrong: Vec::new() }
    }

    /// Compares what was found with a file, which may be missing so far.
    pub fn compare(&mut self, path: &Path, found: &str) {
        let expected = std::fs::read_to_string(path).unwrap_or_default();
        if expected == found {
            return;
        }
        if self.accept {
            std::fs::write(path, found).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        } else {
            self.wrong.push(format!("{}:\n{}", path.display(), difference(&expected, found)));
        }
    }

    /// Fails if something differs.
    pub fn finish(self) {
        let wrong = self.wrong.join("\n");
        assert!(wrong.is_empty(), "{wrong}\nif this is right, accept it with GALOPVM_ACCEPT=1");
    }
}

impl Default for Golden {
    fn default() -> Golden {
        Golden::new()
    }
}

/// Compares the files of `tests/golden/FOLDER` with what is found from each, given its path and text: the whole file with
/// everything in it that follows computed anew. At least so many files were there when this was written.
pub fn whole(folder: &str, ending: &str, least: usize, found: impl Fn(&Path, &str) -> String) {
    let mut golden = Golden::new();
    let files = files(&format!("tests/golden/{folder}"), ending);
    assert!(files.len() >= least, "{} files in {folder}, not {least}", files.len());
    for path in files {
        golden.compare(&path, &found(&path, &read(&path)));
    }
    golden.finish();
}

/// Compares what is found from each file of `tests/golden/FOLDER`, given its name and text, with the file beside it that has
/// another ending.
pub fn beside(folder: &str, [ending, other]: [&str; 2], found: impl Fn(&str, String) -> String) {
    let mut golden = Golden::new();
    for path in files(&format!("tests/golden/{folder}"), ending) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        golden.compare(&path.with_extension(other), &found(&name, read(&path)));
    }
    golden.finish();
}

/// The lines that differ, those that are expected with `-` and those that were found with `+`, and some lines around.
fn difference(expected: &str, found: &str) -> String {
    let lines = |text: &'_ str| -> Vec<String> { text.split('\n').map(String::from).collect() };
    let (old, new) = (lines(expected), lines(found));
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (old_part, new_part) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut marked: Vec<(char, &str)> = old[..start].iter().map(|line| (' ', line.as_str())).collect();
    marked.extend(changes(old_part, new_part));
    marked.extend(old[old.len() - end..].iter().map(|line| (' ', line.as_str())));
    let mut text = String::new();
    let mut shown = 0;
    for (k, (mark, line)) in marked.iter().enumerate() {
        let around = k.saturating_sub(CONTEXT)..(k + CONTEXT + 1).min(marked.len());
        if marked[around].iter().any(|(mark, _)| *mark != ' ') {
            if k > shown {
                text.push_str("  ..\n");
            }
            let _ = writeln!(text, "{mark} {line}");
            shown = k + 1;
        }
    }
    text
}

/// The fewest lines to take out and put in, in order, and the common ones between them.
fn changes<'a>(old: &'a [String], new: &'a [String]) -> Vec<(char, &'a str)> {
    let taken = |line: &'a String| ('-', line.as_str());
    let put = |line: &'a String| ('+', line.as_str());
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        return old.iter().map(taken).chain(new.iter().map(put)).collect();
    }
    // How many lines the rests from two places on have in common.
    let width = new.len() + 1;
    let mut common = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut marked = Vec::new();
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            marked.push((' ', old[i].as_str()));
            (i, j) = (i + 1, j + 1);
        } else if common[(i + 1) * width + j] >= common[i * width + j + 1] {
            marked.push(taken(&old[i]));
            i += 1;
        } else {
            marked.push(put(&new[j]));
            j += 1;
        }
    }
    marked.extend(old[i..].iter().map(taken));
    marked.extend(new[j..].iter().map(put));
    marked
}

#[test]
fn differences_show_what_changed() {
    let old: String = (0..30).map(|k| format!("line {k}\n")).collect();
    let new = old.replace("line 9\n", "").replace("line 20\n", "line 20\nmore\n");
    let expected = "  ..\n  line 6\n  line 7\n  line 8\n- line 9\n  line 10\n  line 11\n  line 12\n  ..\n\
                    \x20 line 18\n  line 19\n  line 20\n+ more\n  line 21\n  line 22\n  line 23\n";
    assert_eq!(difference(&old, &new), expected);
    assert_eq!(difference("a\nb", "a\nb\n"), "  a\n  b\n+ \n");
    assert_eq!(difference("", "a"), "- \n+ a\n");
}

#[test]
#[should_panic(expected = "accept it with GALOPVM_ACCEPT=1")]
fn what_differs_fails() {
    let mut golden = Golden { accept: false, wrong: Vec::new() };
    golden.compare(&crate::root().join("tests/golden/kir/matmul.kir"), "something else");
    golden.finish();
}

#[test]
fn what_is_accepted_is_written() {
    let path = std::env::temp_dir().join(format!("galopvm-golden-{}", std::process::id()));
    let mut golden = Golden { accept: true, wrong: Vec::new() };
    golden.compare(&path, "found\n");
    golden.finish();
    let mut golden = Golden { accept: false, wrong: Vec::new() };
    golden.compare(&path, "found\n");
    golden.finish();
    std::fs::remove_file(&path).expect("the file that was written");
}
