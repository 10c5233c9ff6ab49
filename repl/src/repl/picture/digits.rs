//! Numbers as points: the characters that numbers are written with, in a grid of five by seven.

/// Characters, and the points of each, five to a row.
const GLYPHS: [(char, [&str; 7]); 15] = [
    ('0', [" ### ", "#   #", "#  ##", "# # #", "##  #", "#   #", " ### "]),
    ('1', ["  #  ", " ##  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "]),
    ('2', [" ### ", "#   #", "    #", "   # ", "  #  ", " #   ", "#####"]),
    ('3', [" ### ", "#   #", "    #", "  ## ", "    #", "#   #", " ### "]),
    ('4', ["   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # "]),
    ('5', ["#####", "#    ", "#### ", "    #", "    #", "#   #", " ### "]),
    ('6', [" ### ", "#    ", "#    ", "#### ", "#   #", "#   #", " ### "]),
    ('7', ["#####", "    #", "   # ", "  #  ", "  #  ", "  #  ", "  #  "]),
    ('8', [" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### "]),
    ('9', [" ### ", "#   #", "#   #", " ####", "    #", "    #", " ### "]),
    ('.', ["     ", "     ", "     ", "     ", "     ", " ##  ", " ##  "]),
    ('-', ["     ", "     ", "     ", "#####", "     ", "     ", "     "]),
    ('+', ["     ", "  #  ", "  #  ", "#####", "  #  ", "  #  ", "     "]),
    ('e', ["     ", "     ", " ### ", "#   #", "#####", "#    ", " ### "]),
    (' ', ["     "; 7]),
];

/// Each point of a character is a square of so many points.
const SCALE: usize = 2;

/// Points from one character to the next.
const ADVANCE: usize = 6 * SCALE;

/// Points from the top to the foot of characters.
pub const HEIGHT: usize = 7 * SCALE;

/// How wide a text is.
pub fn width(text: &str) -> usize {
    text.chars().count() * ADVANCE
}

/// The points of a text, from its upper left corner. Characters without points take their room.
pub fn points(text: &str) -> Vec<(usize, usize)> {
    let mut points = Vec::new();
    for (k, character) in text.chars().enumerate() {
        let Some((_, rows)) = GLYPHS.iter().find(|(known, _)| *known == character) else { continue };
        for (y, row) in rows.iter().enumerate() {
            for (x, _) in row.bytes().enumerate().filter(|(_, point)| *point == b'#') {
                let (x, y) = (k * ADVANCE + x * SCALE, y * SCALE);
                points.extend((0..SCALE * SCALE).map(|s| (x + s % SCALE, y + s / SCALE)));
            }
        }
    }
    points
}
