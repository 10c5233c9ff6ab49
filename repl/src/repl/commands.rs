//! What the prompt can be told beside the language: a row for each command, which help, abbreviations and completion derive from.

/// What a command is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// The type of an expression.
    Type,
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
    /// What is defined.
    Defs,
    /// The definitions as they were before the last one.
    Undo,
    /// Another current folder.
    Cd,
    /// The current folder.
    Pwd,
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
}

const fn row(command: Command, name: &'static str, argument: Argument, meaning: &'static str) -> Row {
    Row { command, name, argument, meaning }
}

impl Argument {
    /// Whether an expression stands behind the command.
    pub fn is_expression(self) -> bool {
        matches!(self, Argument::Expression | Argument::Application | Argument::Picture(_))
    }
}

/// Where the meanings of commands begin in the help.
const COLUMN: usize = 20;

/// Every command, in the order in which abbreviations look for them.
pub const TABLE: &[Row] = &[
    row(Command::Type, "type", Argument::Expression, "the type of an expression, without evaluating it"),
    row(Command::Time, "time", Argument::Expression, "evaluate, and say how long it took"),
    row(Command::Bench, "bench", Argument::Expression, "evaluate many times: the mean time and the least"),
    row(
        Command::Stats,
        "stats",
        Argument::Expression,
        "evaluate, and say what ran how: times, memory, operators",
    ),
    row(
        Command::Explain,
        "explain",
        Argument::Expression,
        "evaluate, and tell what was decided about operators and arrays, and why",
    ),
    row(
        Command::Profile,
        "profile",
        Argument::Expression,
        "evaluate, and say line by line where the time goes",
    ),
    row(Command::Asm, "asm", Argument::Expression, "evaluate, and show the machine code of each operator"),
    row(
        Command::Grad,
        "grad",
        Argument::Application,
        "the gradient of F at X, by vjp and jvp, and compared with differences",
    ),
    row(
        Command::Plot,
        "plot",
        Argument::Picture("[line|scatter|hist|heat] EXPRESSION [FILE.png|.svg]"),
        "numbers as a figure, here or in a file",
    ),
    row(
        Command::Image,
        "image",
        Argument::Picture("EXPRESSION [FILE.png]"),
        "a matrix as an image, here or in a file",
    ),
    row(
        Command::Load,
        "load",
        Argument::File,
        "forget all definitions and load a file (alone: the last one again)",
    ),
    row(Command::Reload, "reload", Argument::None, "load the last file again"),
    row(
        Command::Watch,
        "watch",
        Argument::Watched,
        "load a file and evaluate, again each time it changes, until Ctrl-C",
    ),
    row(Command::Read, "read", Argument::Named, "define the values, columns or image of a file"),
    row(Command::Save, "save", Argument::File, "write all definitions to a new file"),
    row(Command::Defs, "defs", Argument::None, "what is defined, with types"),
    row(Command::Undo, "undo", Argument::None, "take back the last definition, or the last :load"),
    row(Command::Cd, "cd", Argument::File, "go to another folder, where files are looked for"),
    row(Command::Pwd, "pwd", Argument::None, "the folder in which files are looked for"),
    row(Command::Help, "help", Argument::None, "this text"),
    row(Command::Quit, "quit", Argument::None, "leave (as does Ctrl-D); Ctrl-C ends an evaluation"),
];

/// The command that a word means, shortened or not.
pub fn find(word: &str) -> Option<&'static Row> {
    TABLE
        .iter()
        .find(|row| row.name == word)
        .or_else(|| TABLE.iter().find(|row| !word.is_empty() && row.name.starts_with(word)))
}

/// A whole input that means a command in other programs, as the command here: `help`, `quit`, `?map`.
pub fn habit(input: &str) -> Option<String> {
    match input {
        "help" | "?" => Some("help".into()),
        "quit" | "exit" | "quit()" | "exit()" => Some("quit".into()),
        _ => input.strip_prefix('?').map(|name| format!("type {}", name.trim())),
    }
}

/// All commands with what they do.
pub fn help() -> String {
    let shown = |row: &Row| match row.argument {
        Argument::None => format!(":{}", row.name),
        Argument::Expression => format!(":{} EXPRESSION", row.name),
        Argument::Application => format!(":{} F X", row.name),
        Argument::Picture(words) => format!(":{} {words}", row.name),
        Argument::Watched => format!(":{} FILE [EXPRESSION]", row.name),
        Argument::Named => format!(":{} FILE [NAME ..]", row.name),
        Argument::File if row.command == Command::Load => format!(":{} [FILE]", row.name),
        Argument::File => format!(":{} FILE", row.name),
    };
    let rows: String = TABLE
        .iter()
        .map(|row| match shown(row) {
            // What is long has a line of its own.
            long if long.len() > COLUMN => format!("  {long}\n  {:COLUMN$} {}\n", "", row.meaning),
            short => format!("  {short:COLUMN$} {}\n", row.meaning),
        })
        .collect();
    format!(
        "Type definitions (`def f (x: i32) = x + 1`) and expressions (`map f [1, 2, 3]`).\n{rows}\
         Commands may be shortened (:t, :l, :q). Tab completes names. An empty line ends an incomplete input."
    )
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
        assert_eq!(means(""), None);
        assert_eq!(means("types"), None);
        assert_eq!(habit("?map").as_deref(), Some("type map"));
        assert_eq!(habit("quit").as_deref(), Some("quit"));
        assert_eq!(habit("help me"), None);
    }
}
