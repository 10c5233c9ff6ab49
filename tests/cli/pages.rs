//! Examples of pages: what a page says that a command prints is what it prints.
//!
//! In a block `console`, a line with `$` is a command for a shell, and what follows is what it writes. `cat` of a file that is
//! not there makes it.

use super::process::{Folder, command};
use galopvm_testkit::{read, root};
use std::path::Path;
use std::process::Command;

/// The commands of a page, each with what it has to write.
fn steps(page: &str) -> Vec<(String, String)> {
    let mut steps: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match (inside, line.strip_prefix("$ ")) {
            (false, _) => inside = line == "```console",
            (true, _) if line == "```" => inside = false,
            (true, Some(command)) => steps.push((command.into(), String::new())),
            (true, None) => {
                let (_, output) = steps.last_mut().expect("a command comes first");
                *output += &format!("{line}\n");
            }
        }
    }
    steps
}

#[test]
fn the_page_about_data_is_right() {
    let folder = Folder::new("pages");
    let page = read(&root().join("docs/data.md"));
    let steps = steps(&page);
    assert!(steps.len() > 15, "{}", steps.len());
    let galopvm = Path::new(env!("CARGO_BIN_EXE_galopvm")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let settings = command(&folder.0, &[]);
    for (line, expected) in steps {
        if let Some(name) = line.strip_prefix("cat ").filter(|name| !folder.0.join(name).exists()) {
            folder.write(name, expected);
            continue;
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{{ {line}; }} 2>&1")]).current_dir(&folder.0);
        shell.envs(settings.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("PATH", format!("{}:{path}", galopvm.display()));
        let output = shell.output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{line}");
    }
}
