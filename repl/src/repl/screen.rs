//! What the place can show where pictures are written: how large it is, which characters, colours and pictures it knows.
//!
//! Only the environment is asked, never the terminal: one that does not answer would hold the prompt.

use super::lines::Lines;
use std::env;
use std::io::{self, IsTerminal};

/// Columns and rows where nobody says how many there are.
const USUAL: (usize, usize) = (80, 24);

/// The colours of characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colours {
    /// None.
    None,
    /// 256, of which 216 are a cube.
    Palette,
    /// All.
    Full,
}

/// How pictures are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// By kitty's graphics protocol.
    Kitty,
    /// As sixels.
    Sixel,
    /// By characters.
    Characters,
}

/// A place to write to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Screen {
    pub columns: usize,
    pub rows: usize,
    /// Only letters, digits and the like can be shown.
    pub is_plain: bool,
    pub colours: Colours,
    pub protocol: Protocol,
}

impl Screen {
    /// Standard output.
    pub fn of_output(lines: &mut Lines) -> Screen {
        let size = lines.dimensions().unwrap_or(USUAL);
        Screen::described(size, io::stdout().is_terminal(), &|name| env::var(name).unwrap_or_default())
    }

    /// What can be concluded from the variables of the environment.
    fn described(
        (columns, rows): (usize, usize),
        is_terminal: bool,
        variable: &dyn Fn(&str) -> String,
    ) -> Screen {
        let term = variable("TERM");
        let program = variable("TERM_PROGRAM");
        let is_plain = !is_terminal || term == "dumb" || term.is_empty();
        let is_one_of = |words: &[&str]| words.iter().any(|word| term.contains(word) || program == *word);
        // Those that divide a terminal among programs pass on no pictures.
        let is_divided = !variable("TMUX").is_empty() || is_one_of(&["screen", "tmux"]);
        let knows_kitty =
            !variable("KITTY_WINDOW_ID").is_empty() || is_one_of(&["kitty", "ghostty", "WezTerm"]);
        let knows_sixel = is_one_of(&["foot", "mlterm", "contour", "sixel", "iTerm.app"]);
        let protocol = match () {
            () if is_plain || is_divided => Protocol::Characters,
            () if knows_kitty => Protocol::Kitty,
            () if knows_sixel => Protocol::Sixel,
            () => Protocol::Characters,
        };
        let full = ["truecolor", "24bit"].contains(&variable("COLORTERM").as_str()) || knows_kitty;
        let colours = match () {
            () if is_plain || !variable("NO_COLOR").is_empty() => Colours::None,
            () if full => Colours::Full,
            () => Colours::Palette,
        };
        Screen { columns: columns.clamp(20, 400), rows: rows.clamp(8, 200), is_plain, colours, protocol }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(is_terminal: bool, variables: &[(&str, &str)]) -> Screen {
        let variable = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map_or(String::new(), |(_, value)| (*value).into())
        };
        Screen::described((100, 40), is_terminal, &variable)
    }

    #[test]
    fn the_environment_says_what_is_shown() {
        let shown = |is_terminal: bool, variables: &[(&str, &str)]| {
            let screen = described(is_terminal, variables);
            (screen.is_plain, screen.colours, screen.protocol)
        };
        let characters = Protocol::Characters;
        assert_eq!(shown(true, &[("TERM", "xterm")]), (false, Colours::Palette, characters));
        assert_eq!(shown(true, &[("TERM", "dumb")]), (true, Colours::None, characters));
        assert_eq!(shown(false, &[("TERM", "xterm-kitty")]), (true, Colours::None, characters));
        assert_eq!(shown(true, &[("TERM", "xterm-kitty")]), (false, Colours::Full, Protocol::Kitty));
        assert_eq!(shown(true, &[("TERM", "foot")]), (false, Colours::Palette, Protocol::Sixel));
        let divided = [("TERM", "screen-256color"), ("KITTY_WINDOW_ID", "1")];
        assert_eq!(shown(true, &divided), (false, Colours::Full, characters));
        let full = [("TERM", "xterm"), ("COLORTERM", "truecolor")];
        assert_eq!(shown(true, &full), (false, Colours::Full, characters));
        let quiet = [("TERM", "xterm"), ("NO_COLOR", "1")];
        assert_eq!(shown(true, &quiet), (false, Colours::None, characters));
    }
}
