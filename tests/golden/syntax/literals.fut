def ints = (1, 1_000, 0xff, 0b1010, 0rXIV, 255u8, -128i8, 0x80i8, 10i64)
def floats = (1.5, 1e3, 1.5e-3f32, 2f64, 0x1.8p1f32, 1_0.5, 1f16)
def others = (true, false, 'a', '\n', "text \"quoted\"", ())
