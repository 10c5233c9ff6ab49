//! Programs inside of executables: a head that starts galopvm, bytecode, its length, and a mark.
//!
//! The head is a shell script that starts the installed galopvm (`galopvm c`), or galopvm itself (`galopvm stand`). The
//! bytecode is verified when it is loaded, as that of any file.

use crate::failure::{Failure, Outcome};
use galopvm_base::system_message;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The last bytes of a file with a program inside.
const MARK: &[u8; 8] = b"GALOPVM>";

/// Bytes after the bytecode.
const TAIL: u64 = 16;

/// The bytecode in an executable; nothing if there is none.
pub fn program_in(path: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()))?;
    let end = file.seek(SeekFrom::End(0)).ok()?;
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(end.checked_sub(TAIL)?)).ok()?;
    file.read_exact(&mut tail).ok()?;
    let (length, mark) = tail.split_at(8);
    if mark != MARK {
        return None;
    }
    let length = u64::from_le_bytes(length.try_into().ok()?);
    let start = end.checked_sub(TAIL)?.checked_sub(length)?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Writes an executable with bytecode inside; never half of one.
pub fn write(path: &Path, head: &mut dyn Read, bytecode: &[u8]) -> Outcome {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = Path::new(&part);
    let written = (|| {
        let mut file = File::create(part)?;
        std::io::copy(head, &mut file)?;
        file.write_all(bytecode)?;
        file.write_all(&(bytecode.len() as u64).to_le_bytes())?;
        file.write_all(MARK)?;
        make_executable(&file)?;
        drop(file);
        std::fs::rename(part, path)
    })();
    written.map_err(|error| {
        let _ = std::fs::remove_file(part);
        Failure::user(
            format!("{}: cannot write: {}", path.display(), system_message(&error)),
            "name another file with -o",
        )
    })
}

#[cfg(unix)]
fn make_executable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = file.metadata()?.permissions();
    // Who may read it may start it.
    permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
    file.set_permissions(permissions)
}

#[cfg(not(unix))]
fn make_executable(_: &File) -> std::io::Result<()> {
    Ok(())
}
