//! Colours, and numbers as colours.

/// Red, green and blue.
pub type Colour = [u8; 3];

/// White.
pub const WHITE: Colour = [255; 3];
/// Black.
pub const BLACK: Colour = [0; 3];
/// What is drawn.
pub const INK: Colour = [31, 87, 160];
/// In the place of what is no number.
pub const NOTHING: Colour = [128; 3];

/// From low to high: the lightness grows evenly, so that it reads without colours as well.
const SCALE: [Colour; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/// The colour of a fraction from zero to one; of nothing, that of what is no number.
pub fn of_fraction(fraction: Option<f64>) -> Colour {
    let Some(fraction) = fraction else { return NOTHING };
    let place = fraction.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let below = (place as usize).min(SCALE.len() - 2);
    let part = place - below as f64;
    std::array::from_fn(|k| {
        let (a, b) = (f64::from(SCALE[below][k]), f64::from(SCALE[below + 1][k]));
        (a + part * (b - a)).round() as u8
    })
}

/// How light a colour is, from zero to 255.
pub fn lightness(colour: Colour) -> u8 {
    let [red, green, blue] = colour.map(u32::from);
    ((299 * red + 587 * green + 114 * blue) / 1000) as u8
}

/// The number of the colour among 256 that is next to it: one of a cube of 216, or of 24 greys.
pub fn in_palette(colour: Colour) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let away = |other: Colour| -> u32 {
        colour.iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let next = colour.map(|c| (0..6).min_by_key(|k| STEPS[*k].abs_diff(c)).unwrap_or(0));
    let cube = next.map(|k| STEPS[k]);
    let grey = (0..24u8).min_by_key(|k| away([8 + 10 * k; 3])).unwrap_or(0);
    match away([8 + 10 * grey; 3]) < away(cube) {
        true => 232 + grey,
        false => (16 + 36 * next[0] + 6 * next[1] + next[2]) as u8,
    }
}

#[test]
fn fractions_and_palettes_have_their_ends() {
    assert_eq!(of_fraction(Some(0.0)), SCALE[0]);
    assert_eq!(of_fraction(Some(1.0)), SCALE[8]);
    assert_eq!(of_fraction(None), NOTHING);
    assert_eq!(in_palette(BLACK), 16);
    assert_eq!(in_palette(WHITE), 231);
    assert_eq!(in_palette([128; 3]), 244);
    assert_eq!(in_palette([255, 0, 0]), 196);
}
