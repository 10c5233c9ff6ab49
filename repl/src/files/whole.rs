//! Files that are written as a whole, or not at all: under another name beside the place, and then renamed.
//!
//! So nobody ever sees half of one, and a running program that has the old one mapped keeps it. A link leads to the file that it
//! names, and a file that is replaced leaves its permissions to the new one. What is there already and is no file, such as a
//! pipe, is written to directly, and so is standard output, which is called `-`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file in the making. Unless it is put in its place, nothing remains of it.
pub struct Whole {
    out: BufWriter<Box<dyn Write>>,
    /// Where it is now, and where it belongs; nothing if it is written where it belongs.
    renamed: Option<(PathBuf, PathBuf)>,
}

impl Whole {
    /// A file that belongs there.
    pub fn create(path: &Path) -> io::Result<Whole> {
        let direct = |out: Box<dyn Write>| Whole { out: BufWriter::new(out), renamed: None };
        if path == Path::new("-") {
            return Ok(direct(Box::new(io::stdout())));
        }
        let there = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let before = fs::metadata(&there).ok();
        if before.as_ref().is_some_and(|meta| !meta.is_file()) {
            return Ok(direct(Box::new(File::options().write(true).open(&there)?)));
        }
        if before.is_some() {
            // What may not be written is not replaced either.
            File::options().write(true).open(&there)?;
        }
        let mut name = there.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let beside = there.with_file_name(name);
        let out: BufWriter<Box<dyn Write>> = BufWriter::new(Box::new(File::create(&beside)?));
        let whole = Whole { out, renamed: Some((beside.clone(), there)) };
        if let Some(meta) = before {
            fs::set_permissions(&beside, meta.permissions())?;
        }
        Ok(whole)
    }

    /// Where to write.
    pub fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some((beside, there)) = &self.renamed {
            fs::rename(beside, there)?;
            self.renamed = None;
        }
        Ok(())
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        if let Some((beside, _)) = &self.renamed {
            // What cannot be removed has been left by somebody who may not.
            let _ = fs::remove_file(beside);
        }
    }
}

#[test]
fn files_are_whole_or_not_there() {
    let folder = std::env::temp_dir().join(format!("galopvm-whole-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("a.txt");
    let mut file = Whole::create(&path).expect("a file");
    file.out().write_all(b"one").expect("room");
    drop(file);
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
    for text in ["two", "three"] {
        let mut file = Whole::create(&path).expect("a file");
        file.out().write_all(text.as_bytes()).expect("room");
        file.finish().expect("a place");
        assert_eq!(fs::read_to_string(&path).expect("a file"), text);
    }
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
    assert!(Whole::create(&folder.join("none").join("a.txt")).is_err());
    assert!(Whole::create(&folder).is_err());
    fs::remove_dir_all(&folder).expect("nothing else there");
}
