entry arithmetic (x: i32) (y: f32) = (x + 1 - 0, y * 2 + 0, (2 + 3) * 4i64, x ** 2 / 3 % 4, -x, -1.5f32, 1u8 << 3)
entry compare (a: i32) (b: i32) = (a == b, a != b, a < b && b < 10, a == 0 || 10 / a > b, !(a > b))
entry convert (x: f64) = (i32.f64 x, f32.f64 x, i64.f64 x |> u8.i64, bool.i64 (i64.f64 x), f16.f64 x)
entry functions (x: f32) = (f32.sqrt x, f32.max x 0, f32.exp (f32.abs x), f32.pi, i32.highest, f64.inf, f32.recip x)
entry same (p: (i32, bool)) (q: (i32, bool)) = p == q
