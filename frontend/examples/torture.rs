use galopvm_base::Sources;
fn run(name: &str, text: &str) -> (bool, f64) {
    let t = std::time::Instant::now();
    let ok = std::panic::catch_unwind(|| {
        let mut sources = Sources::new();
        let file = sources.add(name, text);
        let d = galopvm_frontend::compile(&mut sources, file).diagnostics;
        for d in &d {
            d.render(&sources, false);
        }
    })
    .is_ok();
    (ok, t.elapsed().as_secs_f64())
}
fn main() {
    let list = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let mode = std::env::args().nth(2).unwrap();
    let files: Vec<(String, String)> = list
        .lines()
        .map(|p| (p.to_string(), String::from_utf8_lossy(&std::fs::read(p).unwrap()).into_owned()))
        .collect();
    let (mut n, mut bad, mut slowest, mut total) = (0u64, 0u64, (0.0f64, String::new()), 0.0);
    let mut see = |name: &str, text: &str, what: String| {
        let (ok, s) = run(name, text);
        n += 1;
        total += s;
        if !ok {
            bad += 1;
            println!("PANIC {name} {what}");
            std::fs::write(format!("/tmp/panic{bad}.fut"), text).unwrap();
        }
        if s > 3.0 {
            println!("SLOW {s:.1} {name} {what}");
        }
        if s > slowest.0 {
            slowest = (s, format!("{name} {what}"));
        }
    };
    if mode == "trunc" {
        for (p, t) in &files {
            let mut end = 0;
            for (i, line) in t.split_inclusive('\n').enumerate() {
                end += line.len();
                see(p, &t[..end], format!("line {}", i + 1));
            }
        }
    } else {
        let count: u64 = mode.parse().unwrap();
        let mut seed = 0x9E3779B97F4A7C15u64;
        let mut rnd = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let tokens = [
            "(", ")", "[", "]", "{", "}", "=", "->", "\\", "in", "let", "def", "loop", "do", "for", "i", "0",
            "1.5", "map", "+", "*", ":", ":>", "#a", "match", "case", "if", "then", "else", "'a", "[n]",
            "module", "open", "type", "~", "^", ".", ",", "with", "while", "?[n].", "i32", "()",
        ];
        for k in 0..count {
            let (p, t) = &files[(rnd() % files.len() as u64) as usize];
            let mut b = t.clone().into_bytes();
            for _ in 0..1 + rnd() % 4 {
                if b.is_empty() {
                    break;
                }
                let at = (rnd() % b.len() as u64) as usize;
                match rnd() % 5 {
                    0 => {
                        b[at] = (rnd() % 128) as u8;
                    }
                    1 => {
                        let e = (at + 1 + (rnd() % 12) as usize).min(b.len());
                        b.drain(at..e);
                    }
                    2 => {
                        let tok = tokens[(rnd() % tokens.len() as u64) as usize];
                        let s: Vec<u8> = format!(" {tok} ").into_bytes();
                        b.splice(at..at, s);
                    }
                    3 => {
                        let e = (at + 1 + (rnd() % 40) as usize).min(b.len());
                        let c = b[at..e].to_vec();
                        let to = (rnd() % b.len() as u64) as usize;
                        b.splice(to..to, c);
                    }
                    _ => {
                        let to = (rnd() % b.len() as u64) as usize;
                        b.swap(at, to);
                    }
                }
            }
            let s = String::from_utf8_lossy(&b).into_owned();
            see(p, &s, format!("mutation {k}"));
        }
    }
    println!("{n} runs, {bad} panics, {total:.0} s, slowest {:.2} s {}", slowest.0, slowest.1);
}
