//! Names of source files as paths: their normal form, and as they look from a folder.
//!
//! Nothing here asks the file system.

use std::path::{Component, Path, PathBuf};

/// The path without `.`, and without `..` behind a name.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if normal.components().next_back().is_some_and(|c| matches!(c, Component::Normal(_))) =>
            {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// The folder that a file of this name lies in.
pub fn folder(name: &str) -> PathBuf {
    normal(Path::new(name).parent().unwrap_or(Path::new("")))
}

/// A file's name as it looks from a folder, with `/` between its parts: the same wherever the folder lies. A file that
/// cannot be reached from there keeps its name.
pub fn seen_from(folder: &Path, name: &str) -> String {
    let (from, to) = (normal(folder), normal(Path::new(name)));
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let is_rooted = |part: &Component<'_>| matches!(part, Component::RootDir | Component::Prefix(_));
    if !from[shared..].iter().all(is_name) || to[shared..].iter().any(is_rooted) {
        return name.to_string();
    }
    let up = std::iter::repeat_n("..".into(), from.len() - shared);
    let down = to[shared..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<String>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_look_the_same_from_their_folder() {
        for (program, import, seen) in [
            ("p.fut", "lib/a.fut", "lib/a.fut"),
            ("./x/../p.fut", "lib/a.fut", "lib/a.fut"),
            ("dir/p.fut", "dir/lib/a.fut", "lib/a.fut"),
            ("dir/p.fut", "a.fut", "../a.fut"),
            ("dir/p.fut", "../a.fut", "../../a.fut"),
            ("../p.fut", "../../a.fut", "../a.fut"),
            ("../dir/p.fut", "../a.fut", "../a.fut"),
            ("/home/u/dir/p.fut", "/home/u/dir/./lib/a.fut", "lib/a.fut"),
            ("/home/u/dir/p.fut", "/home/u/a.fut", "../a.fut"),
            ("dir/p.fut", "/lib/a.fut", "/lib/a.fut"),
            ("../../p.fut", "a.fut", "a.fut"),
            ("<stdin>", "<stdin>", "<stdin>"),
        ] {
            assert_eq!(seen_from(&folder(program), import), seen, "{import} from {program}");
        }
    }
}
