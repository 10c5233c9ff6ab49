//! What the prompt can be told beside the language: a row for each command, which help, abbreviations and completion derive from.

/// What a command is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// The type of an expression.
    Type,
    /// What a module defines, with types.
    ModuleType,
    /// What a name means, in words.
    Doc,
    /// An evaluation with its time.
    Time,
    /// Many evaluations with their times.
    Bench,
    /// An evaluation with what happened in it.
    Stats,
    /// What was decided for an evaluation, and why.
    Explain,
    /// Where the time of an evaluation goes.
    Profile,
    /// The machine code of an expression.
    Asm,
    /// The gradient of a function.
    Grad,
    /// Numbers as a figure.
    Plot,
    /// A matrix as an image.
    Image,
    /// A file, whenever it changes.
    Watch,
    /// A file in the place of all definitions.
    Load,
    /// The last file again.
    Reload,
    /// The values of a file as definitions.
    Read,
    /// The definitions into a file.
    Save,
    /// What is defined, with types.
    Defs,
    /// What is defined, with types and the values of constants.
    Vars,
    /// The memory of values.
    Memory,
    /// The definitions as they were before the last one.
    Undo,
    /// Another current folder.
    Cd,
    /// The current folder.
    Pwd,
    /// What is known of a breakpoint.
    Frame,
    /// On from a breakpoint.
    Unbreak,
    /// A stop at each NaN.
    NanBreak,
    /// The commands.
    Help,
    /// The end.
    Quit,
}

/// What stands behind a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// Nothing.
    None,
    /// An expression.
    Expression,
    /// A function and its argument.
    Application,
    /// An expression, with what this says around it.
    Picture(&'static str),
    /// The name of a file or folder.
    File,
    /// The name of a file, and then an expression, or nothing.
    Watched,
    /// The name of a file, and then names, or nothing.
    Named,
    /// A name, or a module.
    Name,
    /// The number of a frame, or nothing.
    Number,
    /// The name of a command, or nothing.
    Command,
}

/// One command.
pub struct Row {
    /// Which one.
    pub command: Command,
    /// The word behind the colon.
    pub name: &'static str,
    /// What it wants.
    pub argument: Argument,
    /// What it does.
    pub meaning: &'static str,
    /// How it is used.
    pub example: &'static str,
}

const fn row(
    command: Command,
    name: &'static str,
    argument: Argument,
    meaning: &'static str,
    example: &'static str,
) -> Row {
    Row { command, name, argument, meaning, example }
}

impl Row {
    /// The command with what it wants.
    pub fn usage(&self) -> String {
        let name = self.name;
        match self.argument {
            Argument::None => format!(":{name}"),
            Argument::Expression => format!(":{name} EXPRESSION"),
            Argument::Application => format!(":{name} F X"),
            Argument::Picture(words) => format!(":{name} {words}"),
            Argument::Watched => format!(":{name} FILE [EXPRESSION]"),
            Argument::Named => format!(":{name} FILE [NAME ..]"),
            Argument::Name => format!(":{name} NAME"),
            Argument::Number => format!(":{name} [N]"),
            Argument::Command => format!(":{name} [COMMAND]"),
            Argument::File if self.command == Command::Load => format!(":{name} [FILE]"),
            Argument::File => format!(":{name} FILE"),
        }
    }

    /// What is missing if the command stands alone; nothing if it may.
    pub fn wants(&self) -> Option<&'static str> {
        match self.argument {
            Argument::None | Argument::Number | Argument::Command => None,
            Argument::File if self.command == Command::Load => None,
            Argument::Expression | Argument::Application | Argument::Picture(_) => Some("an expression"),
            Argument::File | Argument::Watched | Argument::Named => Some("the name of a file or folder"),
            Argument::Name => Some("a name"),
        }
    }
}

/// Where the meanings of commands begin in the help.
const COLUMN: usize = 20;

/// Every command, in the order of the help.
pub const TABLE: &[Row] = &[
    row(
        Command::Type,
        "type",
        Argument::Expression,
        "the type of an expression, without evaluating it",
        ":type map f64.sqrt",
    ),
    row(Command::ModuleType, "mtype", Argument::Name, "what a module defines, with types", ":mtype f64"),
    row(
        Command::Doc,
        "doc",
        Argument::Name,
        "what a name means: its type and its comment `-- |`",
        ":doc scan",
    ),
    row(
        Command::Time,
        "time",
        Argument::Expression,
        "evaluate, and say how long it took, with the most memory in use",
        ":time f64.sum (map f64.i64 (iota 1000000))",
    ),
    row(
        Command::Bench,
        "bench",
        Argument::Expression,
        "evaluate many times: the mean time and the least",
        ":bench i64.sum (iota 1000000)",
    ),
    row(
        Command::Stats,
        "stats",
        Argument::Expression,
        "evaluate, and say what ran how: times, memory, operators",
        ":stats i64.sum (iota 1000000)",
    ),
    row(
        Command::Explain,
        "explain",
        Argument::Expression,
        "evaluate, and tell what was decided about operators and arrays, and why",
        ":explain map (+ 1) (iota 1000)",
    ),
    row(
        Command::Profile,
        "profile",
        Argument::Expression,
        "evaluate, and say line by line where the time goes",
        ":profile i64.sum (scan (+) 0 (iota 1000000))",
    ),
    row(
        Command::Asm,
        "asm",
        Argument::Expression,
        "evaluate, and show the machine code of each operator",
        ":asm map (* 2) (iota 1000)",
    ),
    row(
        Command::Grad,
        "grad",
        Argument::Application,
        "the gradient of F at X, by vjp and jvp, and compared with differences",
        ":grad f64.sqrt 2",
    ),
    row(
        Command::Plot,
        "plot",
        Argument::Picture("[line|scatter|hist|heat] EXPRESSION [FILE.png|.svg]"),
        "numbers as a figure, here or in a file",
        ":plot map (\\x -> f64.sin (f64.i64 x / 10)) (iota 100)",
    ),
    row(
        Command::Image,
        "image",
        Argument::Picture("EXPRESSION [FILE.png]"),
        "a matrix as an image, here or in a file",
        ":image tabulate_2d 16 16 (\\i j -> f64.i64 (i + j) / 30)",
    ),
    row(
        Command::Load,
        "load",
        Argument::File,
        "forget all definitions and load a file (alone: the last one again)",
        ":load stats.fut",
    ),
    row(Command::Reload, "reload", Argument::None, "load the last file again", ":reload"),
    row(
        Command::Watch,
        "watch",
        Argument::Watched,
        "load a file and evaluate, again each time it changes, until Ctrl-C",
        ":watch stats.fut mean [1, 2]",
    ),
    row(
        Command::Read,
        "read",
        Argument::Named,
        "define the values, columns or image of a file",
        ":read table.csv",
    ),
    row(Command::Save, "save", Argument::File, "write all definitions to a new file", ":save kept.fut"),
    row(Command::Defs, "defs", Argument::None, "what is defined, with types", ":defs"),
    row(
        Command::Vars,
        "vars",
        Argument::None,
        "as :defs, with the values of constants, which are evaluated for it",
        ":vars",
    ),
    row(
        Command::Memory,
        "mem",
        Argument::None,
        "the memory that values take now, and the most they took",
        ":mem",
    ),
    row(Command::Undo, "undo", Argument::None, "take back the last definition, or the last :load", ":undo"),
    row(Command::Cd, "cd", Argument::File, "go to another folder, where files are looked for", ":cd data"),
    row(Command::Pwd, "pwd", Argument::None, "the folder in which files are looked for", ":pwd"),
    row(Command::Frame, "frame", Argument::Number, "at a breakpoint: where it is, and the value", ":frame 0"),
    row(
        Command::Unbreak,
        "unbreak",
        Argument::None,
        "at a breakpoint: go on, to the next one or to the end",
        ":unbreak",
    ),
    row(
        Command::NanBreak,
        "nanbreak",
        Argument::None,
        "stop wherever an operation makes NaN of operands that are none; again: not any more",
        ":nanbreak",
    ),
    row(Command::Help, "help", Argument::Command, "this text, or what a command does", ":help plot"),
    row(Command::Quit, "quit", Argument::None, "leave (as does Ctrl-D); Ctrl-C ends an evaluation", ":quit"),
];

/// Words that are no unique beginnings, and mean a command all the same.
const SHORT: [(&str, Command); 1] = [("t", Command::Type)];

/// The command that a word means: its name, its short name, or a beginning of no other.
pub fn find(word: &str) -> Option<&'static Row> {
    let short = SHORT.iter().find(|(short, _)| *short == word).map(|(_, command)| *command);
    let named = TABLE.iter().find(|row| row.name == word || Some(row.command) == short);
    named.or_else(|| match candidates(word).as_slice() {
        [row] => Some(*row),
        _ => None,
    })
}

/// The commands that begin with a word.
fn candidates(word: &str) -> Vec<&'static Row> {
    TABLE.iter().filter(|row| !word.is_empty() && row.name.starts_with(word)).collect()
}

/// What is wrong with a word that means no command, and what to do.
pub fn unknown(word: &str) -> (String, String) {
    let names: Vec<String> = candidates(word).iter().map(|row| format!(":{}", row.name)).collect();
    match names.as_slice() {
        [] => (format!("there is no command `:{word}`"), ":help lists the commands".into()),
        names => (format!("`:{word}` could be {}", names.join(", ")), "write more of it".into()),
    }
}

/// A whole input that means a command in other programs, as the command here: `help`, `quit`, `?map`.
pub fn habit(input: &str) -> Option<String> {
    // Whole names alone: what begins as one is more probably a name of a program.
    let about = |text: &str| {
        let name = text.trim().trim_start_matches(':');
        TABLE.iter().find(|row| row.name == name).map(|row| format!("help {}", row.name))
    };
    match input {
        "help" | "?" => Some("help".into()),
        "quit" | "exit" | "quit()" | "exit()" => Some("quit".into()),
        _ => match (input.strip_prefix('?'), input.strip_prefix("help ")) {
            (Some(name), _) => about(name).or_else(|| Some(format!("type {}", name.trim()))),
            (None, name) => about(name?),
        },
    }
}

/// All commands with what they do.
pub fn help() -> String {
    let rows: String = TABLE
        .iter()
        .map(|row| match row.usage() {
            // What is long has a line of its own.
            long if long.len() > COLUMN => format!("  {long}\n  {:COLUMN$} {}\n", "", row.meaning),
            short => format!("  {short:COLUMN$} {}\n", row.meaning),
        })
        .collect();
    format!(
        "Type definitions (`def f (x: i32) = x + 1`) and expressions (`map f [1, 2, 3]`).\n{rows}\
         Commands may be shortened (:t, :l, :q); :help COMMAND tells more. Tab completes names. An empty line ends an incomplete input."
    )
}

/// What one command does.
pub fn help_about(row: &Row) -> String {
    format!("{}\n  {}\n  example: {}", row.usage(), row.meaning, row.example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_may_be_shortened() {
        let means = |word: &str| find(word).map(|row| row.command);
        assert_eq!(means("t"), Some(Command::Type));
        assert_eq!(means("ti"), Some(Command::Time));
        assert_eq!(means("l"), Some(Command::Load));
        assert_eq!(means("q"), Some(Command::Quit));
        assert_eq!(means("type"), Some(Command::Type));
        assert_eq!(means("p"), None);
        assert_eq!(means("pl"), Some(Command::Plot));
        assert_eq!(means(""), None);
        assert_eq!(means("types"), None);
    }

    #[test]
    fn several_commands_are_named() {
        assert_eq!(unknown("p").0, "`:p` could be :profile, :plot, :pwd");
        assert_eq!(unknown("frobnicate").0, "there is no command `:frobnicate`");
        assert_eq!(unknown("").0, "there is no command `:`");
    }

    #[test]
    fn other_programs_leave_habits() {
        assert_eq!(habit("?map").as_deref(), Some("type map"));
        assert_eq!(habit("quit").as_deref(), Some("quit"));
        for asked in ["help plot", "help :plot", "?plot", "?:plot"] {
            assert_eq!(habit(asked).as_deref(), Some("help plot"), "{asked}");
        }
        assert_eq!(habit("help me"), None);
    }

    #[test]
    fn examples_are_of_their_commands() {
        for row in TABLE {
            let word = row.example.split_whitespace().next();
            assert_eq!(word, Some(format!(":{}", row.name).as_str()));
        }
    }
}
