//! Options that say where arguments come from: files, in their order, and what they are.
//!
//! `--raw` and `--csv` are about the next file; without any file, about standard input.

use crate::files::Kind;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use std::path::PathBuf;

/// Where arguments come from.
#[derive(Debug, Default, PartialEq)]
pub struct Inputs {
    /// The files, and what each is if that was said.
    pub files: Vec<(PathBuf, Option<Kind>)>,
    /// What standard input is, if there are no files and it was said.
    pub standard: Option<Kind>,
}

/// What can be said of a file.
const KINDS: [(&str, Kind); 2] = [("raw", Kind::Raw), ("csv", Kind::Table)];

/// An option without a value that may come more than once and whose places are known.
pub fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::Append).num_args(0).default_missing_value("").help(help)
}

impl clap::Args for Inputs {
    fn augment_args(command: Command) -> Command {
        command
            .arg(
                Arg::new("input")
                    .short('i')
                    .long("input")
                    .value_name("FILE")
                    .action(ArgAction::Append)
                    .value_parser(clap::value_parser!(PathBuf))
                    .help(
                        "Read values from this file instead of standard input; of several, one after the other. \
                         Tables (.csv, .tsv) give a vector for each column or a matrix, images (PNG, PPM, PGM) a \
                         matrix. Large binary arrays are mapped, not read",
                    ),
            )
            .arg(flag("raw", "The next file (or standard input) is one array of bytes, []u8, whatever it holds"))
            .arg(flag("csv", "The next file (or standard input) is a table, whatever its name is"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Inputs::augment_args(command)
    }
}

impl FromArgMatches for Inputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Inputs, clap::Error> {
        let indices = |name: &str| matches.indices_of(name).into_iter().flatten();
        let mut kinds: Vec<(usize, &str, Kind)> = Vec::new();
        for (name, kind) in KINDS {
            kinds.extend(indices(name).map(|at| (at, name, kind)));
        }
        kinds.sort_by_key(|(at, ..)| *at);
        let mut kinds = kinds.into_iter().peekable();
        // Two in front of one file contradict each other.
        let mut next = |before: usize| {
            let mut found = None;
            while let Some((_, name, kind)) = kinds.next_if(|(at, ..)| *at < before) {
                match found.replace((name, kind)) {
                    Some((other, _)) if other != name => {
                        let message =
                            format!("the option --{name} cannot be used with --{other} for one file");
                        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
                    }
                    _ => {}
                }
            }
            Ok(found)
        };
        let mut inputs = Inputs::default();
        let paths = matches.get_many::<PathBuf>("input").into_iter().flatten();
        for (at, path) in indices("input").zip(paths) {
            inputs.files.push((path.clone(), next(at)?.map(|(_, kind)| kind)));
        }
        match next(usize::MAX)? {
            Some((name, _)) if !inputs.files.is_empty() => {
                let message = format!("the option --{name} stands before the --input that it is about");
                Err(clap::Error::raw(ErrorKind::ArgumentConflict, message))
            }
            last => Ok(Inputs { standard: last.map(|(_, kind)| kind), ..inputs }),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Inputs::from_arg_matches(matches)?;
        Ok(())
    }
}

#[test]
fn what_is_said_is_about_the_next_file() {
    use clap::Args;
    let of = |words: &str| {
        let command = Inputs::augment_args(Command::new("x"));
        let matches = command.try_get_matches_from(words.split(' ')).expect("known options");
        Inputs::from_arg_matches(&matches).map_err(|error| error.to_string())
    };
    let file = |name: &str, kind| (PathBuf::from(name), kind);
    let inputs = of("x -i a --raw -i b --csv --csv -i c -i d").expect("right options");
    let wanted = [file("a", None), file("b", Some(Kind::Raw)), file("c", Some(Kind::Table)), file("d", None)];
    assert_eq!((inputs.files.as_slice(), inputs.standard), (&wanted[..], None));
    assert_eq!(of("x --csv").expect("right options").standard, Some(Kind::Table));
    assert!(of("x --raw --csv -i a").is_err_and(|why| why.contains("cannot be used with")));
    assert!(of("x -i a --raw").is_err_and(|why| why.contains("stands before")));
}
