//! Times an entry point under the interpreter alone: `speed FILE ENTRY ARGUMENT..`.
//!
//! FILE is a module in assembly. An argument is a value in the data format, or `N*TYPE`: a vector of N elements.

use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::{text, verify};
use galopvm_runtime::{Array, Memory, Options, Session, Value, data};
use std::time::Instant;

/// Processor time of this process in seconds, which other processes disturb less than time; without it, time.
fn processor_time(start: Instant) -> f64 {
    let known = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = known.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |n| n / 1e9)
}

fn vector(memory: &Memory, count: i64, ty: ElemType) -> Array {
    let number = |i: i64| {
        Scalar::from_f64(
            ty,
            ((i * 7919) % 1000) as f64 / 1000.0 + i64::from(ty.is_int()) as f64 * (i % 100) as f64,
        )
    };
    match ty {
        ElemType::F32 => {
            let numbers: Vec<f32> = (0..count).map(|i| number(i).as_f64() as f32).collect();
            Array::from_slice(memory, &numbers, &[count]).expect("there is memory")
        }
        ElemType::F64 => {
            let numbers: Vec<f64> = (0..count).map(|i| number(i).as_f64()).collect();
            Array::from_slice(memory, &numbers, &[count]).expect("there is memory")
        }
        ElemType::I32 => {
            let numbers: Vec<i32> = (0..count).map(|i| (i % 1000) as i32).collect();
            Array::from_slice(memory, &numbers, &[count]).expect("there is memory")
        }
        _ => {
            let numbers: Vec<i64> = (0..count).map(|i| i % 1000).collect();
            Array::from_slice(memory, &numbers, &[count]).expect("there is memory")
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, entry, rest @ ..] = &args[..] else {
        eprintln!("speed FILE ENTRY ARGUMENT..");
        std::process::exit(2);
    };
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let module = verify(text::parse(&text).expect("it assembles")).expect("it verifies");
    let mut session = Session::new(module, Options::default());
    let values: Vec<Value> = rest
        .iter()
        .flat_map(|arg| match arg.split_once('*') {
            Some((count, ty)) => {
                let (count, ty) = (count.parse().expect("a number"), ty.parse().expect("a type"));
                vec![Value::Array(vector(session.memory(), count, ty))]
            }
            None => data::read_values(session.memory(), arg.as_bytes()).expect("values"),
        })
        .collect();
    let mut best = f64::INFINITY;
    let mut shown = String::new();
    let begin = Instant::now();
    for _ in 0..10 {
        let start = processor_time(begin);
        let result = session.call(entry, values.clone());
        best = best.min(processor_time(begin) - start);
        shown = match result {
            Ok(values) => values
                .iter()
                .map(|v| v.as_scalar().map_or("array".into(), |s| s.to_string()))
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.to_string(),
        };
        if begin.elapsed().as_secs_f64() > 3.0 {
            break;
        }
    }
    println!("{entry}: {:.3} ms  {shown}", best * 1e3);
}
