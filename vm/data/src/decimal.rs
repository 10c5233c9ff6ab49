//! Binary floating-point numbers as decimal digits and back: a fixed count of digits, correctly rounded; as few as
//! read back the same; and the number that digits mean.
//!
//! A number times a power of ten is computed with 128 bits of the power. What those bits cannot decide (one number
//! in about 2^60, and exact ties of large numbers) is left to the standard library, so that the result is always the
//! correctly rounded one.

/// A positive number `digits * 10^(exponent - count + 1)`, where `digits` has `count` digits: the exponent is that of
/// the first digit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decimal {
    pub(super) digits: u64,
    pub(super) count: u32,
    pub(super) exponent: i32,
}

/// The least and the greatest power of ten that a digit of an `f64` needs.
const LEAST: i32 = -300;
const GREATEST: i32 = 345;
const POWERS: usize = (GREATEST - LEAST + 1) as usize;

/// Powers of ten up to this one fit into 128 bits: they are exact.
const EXACT: i32 = 55;

/// The first 128 bits of each power of ten, rounded down; they are less than 2 units in the last place too small.
static TABLE: [u128; POWERS] = table();

/// 256 bits, least limb first, of which the first is set.
type Wide = [u64; 4];

const fn table() -> [u128; POWERS] {
    const ONE: Wide = [0, 0, 0, 1 << 63];
    let mut table = [0; POWERS];
    let (mut power, mut k) = (ONE, -LEAST);
    while k < POWERS as i32 {
        table[k as usize] = first_half(power);
        power = times_ten(power);
        k += 1;
    }
    let (mut power, mut k) = (over_ten(ONE), -LEAST - 1);
    while k >= 0 {
        table[k as usize] = first_half(power);
        power = over_ten(power);
        k -= 1;
    }
    table
}

const fn first_half(x: Wide) -> u128 {
    (x[3] as u128) << 64 | x[2] as u128
}

/// `x + x / 4` is ten times `x` but for a power of two.
const fn times_ten(x: Wide) -> Wide {
    let (mut y, mut carry, mut i) = ([0; 4], 0, 0);
    while i < 4 {
        let quarter = x[i] >> 2 | if i < 3 { x[i + 1] << 62 } else { 0 };
        let sum = x[i] as u128 + quarter as u128 + carry;
        y[i] = sum as u64;
        carry = sum >> 64;
        i += 1;
    }
    if carry == 0 {
        return y;
    }
    [y[0] >> 1 | y[1] << 63, y[1] >> 1 | y[2] << 63, y[2] >> 1 | y[3] << 63, y[3] >> 1 | 1 << 63]
}

/// A fifth is a tenth but for a power of two. The division goes one limb further, so that no bit is lost.
const fn over_ten(x: Wide) -> Wide {
    let limbs = [x[3], x[2], x[1], x[0], 0];
    let (mut y, mut rest, mut i) = ([0u64; 5], 0u128, 0);
    while i < 5 {
        let part = rest << 64 | limbs[i] as u128;
        y[i] = (part / 5) as u64;
        rest = part % 5;
        i += 1;
    }
    let shift = y[0].leading_zeros();
    [limb(y[3], y[4], shift), limb(y[2], y[3], shift), limb(y[1], y[2], shift), limb(y[0], y[1], shift)]
}

const fn limb(high: u64, low: u64, shift: u32) -> u64 {
    high << shift | low >> (64 - shift)
}

/// The greatest `k` with `2^k <= 10^power`.
const fn log2_of_power(power: i32) -> i32 {
    (power * 217_706) >> 16
}

/// The greatest `k` with `10^k <= 2^power`.
const fn log10_of_power(power: i32) -> i32 {
    (power * 78_913) >> 18
}

/// `m * 2^e * 10^power` with two bits of fraction, of which the last is set if anything is left over. `m` has its
/// first bit set, and the integral part fits 60 bits. Nothing if the bits of the power do not decide it.
#[inline]
fn scale(m: u64, e: i32, power: i32) -> Option<u64> {
    let ten = *TABLE.get(usize::try_from(power - LEAST).ok()?)?;
    let (high, low) = ((ten >> 64) as u64, ten as u64);
    let rest = u128::from(m) * u128::from(low);
    let product = u128::from(m) * u128::from(high) + (rest >> 64);
    let (first, middle, last) = ((product >> 64) as u64, product as u64, rest as u64);
    let cut = -(e + log2_of_power(power) + 3);
    if !(1..=61).contains(&cut) {
        return None;
    }
    let kept = first >> cut;
    if (0..=EXACT).contains(&power) {
        let left = first & ((1 << cut) - 1) | middle | last;
        return Some(kept | u64::from(left != 0));
    }
    // The true product is greater, by less than three units of the middle bits.
    if middle >= u64::MAX - 3 { scale_down(m, e, power) } else { Some(kept | 1) }
}

/// The same by an exact division, for negative powers whose divisor fits.
#[cold]
fn scale_down(m: u64, e: i32, power: i32) -> Option<u64> {
    let fives = 5u64.checked_pow(power.checked_neg()?.try_into().ok()?)?;
    let twos = e + power + 2;
    let up = u32::try_from(twos.max(0)).ok().filter(|up| *up <= 64)?;
    let down = u32::try_from((-twos).max(0)).ok().filter(|down| *down <= 64)?;
    let (number, divisor) = (u128::from(m) << up, u128::from(fives) << down);
    let kept = u64::try_from(number / divisor).ok()?;
    Some(kept | u64::from(number % divisor != 0))
}

/// A finite positive number as `m * 2^e`, with the first bit of `m` set.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (m, e) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let shift = m.leading_zeros();
    (m << shift, e - shift as i32)
}

/// A finite positive number rounded to so many digits, 17 at most.
pub(super) fn rounded(value: f64, count: u32) -> Decimal {
    let (m, e) = parts(value);
    let mut power = count as i32 - 1 - log10_of_power(e + 63);
    let Some(mut scaled) = scale(m, e, power) else {
        return of_text(&format!("{value:.*e}", count as usize - 1));
    };
    let limit = 10u64.pow(count);
    if scaled >> 2 >= limit {
        // One digit too many; what it leaves is something left over.
        scaled = (scaled / 10) | u64::from(!scaled.is_multiple_of(10));
        power -= 1;
    }
    let mut digits = (scaled + 1 + (scaled >> 2 & 1)) >> 2;
    if digits == limit {
        digits /= 10;
        power -= 1;
    }
    Decimal { digits, count, exponent: count as i32 - 1 - power }
}

/// The shortest digits that read back as this finite positive `f64` however ties are read, and of those the nearest.
pub(super) fn shortest_f64(value: f64) -> Decimal {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    // Powers of two have a nearer neighbour below; denormal numbers have fewer bits.
    let regular = fraction != 0 && bits >> 52 != 0;
    regular
        .then(|| shortest(fraction | 1 << 52, (bits >> 52) as i32 - 1075))
        .flatten()
        .unwrap_or_else(|| of_text(&format!("{value:e}")))
}

/// The shortest digits that read back as this finite positive `f32` however ties are read, and of those the nearest.
pub(super) fn shortest_f32(value: f32) -> Decimal {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 23) - 1);
    let regular = fraction != 0 && bits >> 23 != 0;
    regular
        .then(|| shortest(u64::from(fraction | 1 << 23), (bits >> 23) as i32 - 150))
        .flatten()
        .unwrap_or_else(|| of_text(&format!("{value:e}")))
}

/// `m * 2^e`, where every number between the middles to `m - 1` and to `m + 1` means the same. The middles themselves
/// do not count, as in Haskell.
fn shortest(m: u64, e: i32) -> Option<Decimal> {
    // The interval is then between 1 and 10 wide.
    let power = -log10_of_power(e);
    let scaled = |m: u64, e: i32| {
        let shift = m.leading_zeros();
        scale(m << shift, e - shift as i32, power)
    };
    let (low, value, high) = (scaled(2 * m - 1, e - 1)?, scaled(m, e)?, scaled(2 * m + 1, e - 1)?);
    let (least, greatest) = ((low >> 2) + 1, high.checked_sub(1)? >> 2);
    let tens = greatest / 10 * 10;
    // Of two that are as near, the greater: so do Haskell and the standard library.
    let mut digits = if tens >= least { tens } else { (value + 2) >> 2 };
    if digits == 0 {
        return None;
    }
    let mut power = power;
    while digits.is_multiple_of(10) {
        digits /= 10;
        power -= 1;
    }
    let count = digits.ilog10() + 1;
    Some(Decimal { digits, count, exponent: count as i32 - 1 - power })
}

/// A binary format: bits of the fraction, and the least exponent of a normal number.
struct Format {
    fraction: u32,
    least: i32,
    greatest: i32,
}

const SINGLE: Format = Format { fraction: 23, least: -126, greatest: 127 };
const DOUBLE: Format = Format { fraction: 52, least: -1022, greatest: 1023 };

/// The `f64` nearest to `digits * 10^power`, if that is easily decided.
#[inline]
pub(super) fn nearest_f64(digits: u64, power: i32) -> Option<f64> {
    // Both exact: one rounding.
    if digits < 1 << 53 && (-22..=22).contains(&power) {
        const TENS: [f64; 23] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
            1e18, 1e19, 1e20, 1e21, 1e22,
        ];
        let ten = TENS[power.unsigned_abs() as usize];
        return Some(if power < 0 { digits as f64 / ten } else { digits as f64 * ten });
    }
    nearest(digits, power, &DOUBLE).map(f64::from_bits)
}

/// The `f32` nearest to `digits * 10^power`, if that is easily decided.
#[inline]
pub(super) fn nearest_f32(digits: u64, power: i32) -> Option<f32> {
    if digits < 1 << 24 && (-10..=10).contains(&power) {
        const TENS: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];
        let ten = TENS[power.unsigned_abs() as usize];
        return Some(if power < 0 { digits as f32 / ten } else { digits as f32 * ten });
    }
    nearest(digits, power, &SINGLE).map(|bits| f32::from_bits(bits as u32))
}

/// The bits of the nearest normal number, if 128 bits of the power decide which it is.
fn nearest(digits: u64, power: i32, format: &Format) -> Option<u64> {
    if digits == 0 {
        return Some(0);
    }
    let ten = *TABLE.get(usize::try_from(power.checked_sub(LEAST)?).ok()?)?;
    let shift = digits.leading_zeros();
    let m = digits << shift;
    let rest = u128::from(m) * u128::from(ten as u64);
    let product = u128::from(m) * (ten >> 64) + (rest >> 64);
    let lead = product.leading_zeros();
    let product = product << lead;
    // Bits below the last one that is kept, and the middle between two numbers.
    let below = 127 - format.fraction;
    let (kept, left, middle) = (product >> below, product & ((1 << below) - 1), 1u128 << (below - 1));
    // Bits that the product lacks, and what the power lacks: less than this. Nothing is lacking of an exact power but
    // the last limb.
    const LACKING: u128 = 8;
    let exact = (0..=EXACT).contains(&power) && rest as u64 == 0;
    if !exact && (left + LACKING >= 1 << below || left < middle && left + LACKING >= middle) {
        return None;
    }
    let up = left > middle || left == middle && (!exact || kept & 1 == 1);
    let mut kept = (kept + u128::from(up)) as u64;
    let mut exponent = 127 - shift as i32 - lead as i32 + log2_of_power(power) + 64 - 127;
    if kept >> (format.fraction + 1) != 0 {
        kept >>= 1;
        exponent += 1;
    }
    if exponent < format.least || exponent > format.greatest {
        return None;
    }
    let fraction = kept & ((1 << format.fraction) - 1);
    Some(((exponent - format.least + 1) as u64) << format.fraction | fraction)
}

/// What the standard library prints as `d.ddde-7`.
fn of_text(text: &str) -> Decimal {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (mut digits, mut count) = (0, 0);
    for digit in mantissa.bytes().filter(u8::is_ascii_digit) {
        digits = digits * 10 + u64::from(digit - b'0');
        count += 1;
    }
    Decimal { digits, count, exponent: exponent.parse().unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_testkit::Random;

    fn numbers() -> impl Iterator<Item = f64> {
        let mut random = Random::new(1);
        let mut bits = move || random.bits() & (u64::MAX >> 1);
        let any: Vec<f64> = (0..60_000).map(|_| f64::from_bits(bits())).collect();
        let near: Vec<f64> = (0..30_000).map(|_| 1.0 + (bits() >> 12) as f64 / (1u64 << 52) as f64).collect();
        let whole = (1..2000u64).map(|n| n as f64);
        let powers = (-1074..1024).map(|e| f64::powi(2.0, e));
        let tens = (-300..300).map(|e| format!("1e{e}").parse::<f64>().expect("a number"));
        let halves = (1..3000u64).map(|n| n as f64 / 1024.0);
        let large = (0..4000u64).map(|n| ((1u64 << 53) + n * 12_345_678_901) as f64);
        let ends = [f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.7976931348623155e308, 2.225073858507201e-308];
        any.into_iter()
            .chain(near)
            .chain(whole)
            .chain(powers)
            .chain(tens)
            .chain(halves)
            .chain(large)
            .chain(ends)
            .filter(|x| x.is_finite() && *x > 0.0)
    }

    #[test]
    fn a_count_of_digits_is_correctly_rounded() {
        for value in numbers() {
            for count in [1, 9, 17] {
                let expected = of_text(&format!("{value:.*e}", count as usize - 1));
                assert_eq!(rounded(value, count), expected, "{value:e} to {count}");
            }
        }
    }

    #[test]
    fn shortest_digits_are_the_standard_librarys() {
        for value in numbers() {
            let (found, standard) = (shortest_f64(value), of_text(&format!("{value:e}")));
            let Decimal { digits, count, exponent } = found;
            assert_eq!(format!("{digits}e{}", exponent + 1 - count as i32).parse(), Ok(value));
            // The standard library takes the middle between two numbers if that is read as the even one.
            let is_even = value.to_bits() & 1 == 0;
            assert!(found == standard || is_even && count > standard.count, "{found:?} {standard:?}");
        }
        let mut bits = 1u32;
        while bits < f32::INFINITY.to_bits() {
            let single = f32::from_bits(bits);
            let (found, standard) = (shortest_f32(single), of_text(&format!("{single:e}")));
            assert!(
                found == standard || bits & 1 == 0 && found.count > standard.count,
                "{single:e}: {found:?}"
            );
            bits += 24_001;
        }
    }

    #[test]
    fn digits_mean_the_nearest_number() {
        let mut decided = 0;
        for (k, value) in numbers().enumerate() {
            let Decimal { digits, count, exponent } = rounded(value, 17);
            // The digits themselves, some fewer, and exact middles between two numbers.
            let shorter = 10u64.pow(k as u32 % 16);
            for (digits, power) in [
                (digits, exponent + 1 - count as i32),
                (digits / shorter, exponent),
                (digits, k as i32 % 30),
                ((1 << 53) + 2 * k as u64 + 1, k as i32 % 3),
                ((1 << 24) + 2 * k as u64 + 1, k as i32 % 12 - 6),
            ] {
                let text = format!("{digits}e{power}");
                if let Some(found) = nearest_f64(digits, power) {
                    assert_eq!(found, text.parse::<f64>().expect("a number"), "{text}");
                    decided += 1;
                }
                if let Some(found) = nearest_f32(digits, power) {
                    assert_eq!(found, text.parse::<f32>().expect("a number"), "{text}");
                    decided += 1;
                }
            }
        }
        assert!(decided > 500_000, "{decided}");
    }

    #[test]
    fn most_numbers_need_no_help() {
        let undecided = numbers().filter(|value| {
            let (m, e) = parts(*value);
            scale(m, e, 16 - log10_of_power(e + 63)).is_none()
        });
        assert!(undecided.count() < 4000);
    }
}
