//! Damaged files: each is read or refused, whatever is wrong with it, and takes no more memory than it may.

use super::*;
use crate::wanted::Leaf;
use galopvm::{ElemType, Memory};
use galopvm_testkit::{Random, rounds};

/// The most that any of these small files may take.
const MOST: u64 = 8 << 20;

/// Damages bytes in one of several ways.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len().max(1));
    match random.below(6) {
        0 => bytes.truncate(at),
        1 => drop((at < bytes.len()).then(|| bytes.remove(at))),
        2 => bytes.insert(at.min(bytes.len()), *random.pick(b"\",;\n\r\t -.e9#\xff\0")),
        3 => {
            let part = bytes[at.min(bytes.len())..].to_vec();
            bytes.extend_from_slice(&part[..part.len().min(40)]);
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.bits() as u8;
            }
        }
    }
}

/// The sum that ends a part of a PNG file.
fn sum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

/// Makes the sums of a PNG file right again, so that what is damaged is read.
fn with_right_sums(file: &mut [u8]) {
    let mut at = png::FIRST_BYTES.len();
    while let Some(length) = file.get(at..at + 4).and_then(|bytes| bytes.first_chunk()) {
        let end = at + 8 + u32::from_be_bytes(*length) as usize;
        if file.len() < end + 4 {
            return;
        }
        let right = sum(&file[at + 4..end]);
        file[end..end + 4].copy_from_slice(&right.to_be_bytes());
        at = end + 4;
    }
}

/// A small PNG file of a layout.
fn image(channels: usize, wide: bool) -> Vec<u8> {
    let layout = pixels::Layout { width: 7, height: 5, channels, wide };
    let samples: Vec<u8> = (0..(7 * 5 * channels) << usize::from(wide)).map(|k| (k * 37) as u8).collect();
    let mut file = Vec::new();
    png::write(&mut file, layout, |out| out.write_all(&samples)).expect("memory takes everything");
    file
}

#[test]
fn damaged_images_are_read_or_refused() {
    let mut random = Random::new(7);
    let texts = [
        "P2\n3 2\n255\n1 2 3\n4 5 # x\n 6\n",
        "P3 1 2 1000 1 2 3 4 5 1000",
        "P5 4 1 65535 abcdefgh",
        "P6 1 2 9 abcdef",
    ];
    let mut read = 0;
    for _ in 0..rounds(4000) {
        let is_png = random.one_in(2);
        let mut file = match is_png {
            true => image(*random.pick(&[1, 3, 4]), random.one_in(2)),
            false => random.pick(&texts).as_bytes().to_vec(),
        };
        for _ in 0..=random.below(2) {
            damage(&mut random, &mut file);
        }
        if is_png && !random.one_in(4) {
            with_right_sums(&mut file);
        }
        let memory = Memory::new(Some(MOST));
        let samples = if is_png { png::read(&memory, &file) } else { netpbm::read(&memory, &file) };
        for (elem, rank) in [(ElemType::U32, 2), (ElemType::U8, 3), (ElemType::F32, 2), (ElemType::I64, 2)] {
            let Ok(samples) = &samples else { continue };
            let value = pixels::of_samples(&memory, samples, Some(&Leaf::of(elem, rank)));
            read += usize::from(value.is_ok());
        }
        assert!(memory.stats().peak_bytes <= MOST, "{} bytes", memory.stats().peak_bytes);
    }
    assert!(read > 100, "{read}");
}

#[test]
fn damaged_tables_are_read_or_refused() {
    let mut random = Random::new(8);
    let texts = [
        "x,y\n1,2\n3.5,-4\n",
        "1;2,5;true\r\n\"3\";4;false\r\n",
        "\u{feff}\"a\"\"b\"\tc\n\"1\"\t2\n",
        "1\n2\n3\n",
    ];
    let mut read = 0;
    for _ in 0..rounds(4000) {
        let mut text = random.pick(&texts).as_bytes().to_vec();
        for _ in 0..=random.below(2) {
            damage(&mut random, &mut text);
        }
        let memory = Memory::new(Some(MOST));
        let Ok(table) = Table::of(&memory, &text) else { continue };
        let wanted = [Leaf::of(ElemType::F64, 1), Leaf::of(ElemType::I16, 1)];
        let matrix = [Leaf::of(ElemType::F32, 2)];
        for values in [
            columns::read(&memory, &table, &wanted),
            columns::read(&memory, &table, &matrix),
            columns::read_naturally(&memory, &table),
        ] {
            read += usize::from(values.is_ok());
        }
    }
    assert!(read > 100, "{read}");
}
