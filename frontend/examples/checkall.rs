use galopvm_base::Sources;
use std::io::Write;
fn main() {
    let list = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let out = std::io::stdout();
    let core = std::env::var_os("CORE").is_some();
    for path in list.lines() {
        let text = std::fs::read(path).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap();
        let t = std::time::Instant::now();
        let p = path.to_string();
        let r = std::panic::catch_unwind(|| {
            let mut sources = Sources::new();
            let file = sources.add(p.as_str(), text);
            let diagnostics = if core {
                galopvm_frontend::compile(&mut sources, file).diagnostics
            } else {
                galopvm_frontend::check(&mut sources, file).diagnostics
            };
            let bad = galopvm_base::diagnostic::has_errors(&diagnostics);
            let mut text = String::new();
            for d in &diagnostics {
                text += &d.render(&sources, false);
                text += "\n";
            }
            (bad, text)
        });
        let ms = t.elapsed().as_secs_f64() * 1000.0;
        let (s, text) = match r {
            Ok((true, t)) => ("ERR", t),
            Ok((false, t)) => ("OK", t),
            Err(_) => ("PANIC", String::new()),
        };
        let text = text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', " ");
        writeln!(out.lock(), "{path}\t{s}\t{ms:.1}\t{text}").unwrap();
    }
}
