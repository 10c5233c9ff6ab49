//! scratch
use galopvm_base::*;
use galopvm_frontend::{names::Names, syntax::parse_prog, types::Checker};
fn main() {
    let mut bad = 0; let mut n = 0;
    for f in std::env::args().skip(1) {
        let Ok(text) = std::fs::read_to_string(&f) else { continue };
        n += 1;
        let out = galopvm_frontend::stack::with_room(|| {
            let arena = bumpalo::Bump::new();
            let mut s = Sources::new();
            let id = s.add(&f, text.clone());
            let t0 = std::time::Instant::now();
            let mut names = Names::new(&arena, &mut s);
            let t1 = t0.elapsed();
            let p = parse_prog(&arena, id, &text, names.next_id);
            names.next_id = p.next_id;
            let mut diags = p.diagnostics;
            let ids = names.add_user(&p.tree);
            let mut c = Checker::new(&mut names);
            let mut show = String::new();
            for g in ids { let ty = c.global(g); show += &format!("{} : {}\n", c.names.globals[g].bind.name.text, c.vars.show(&ty.ty)); }
            if std::env::var("SHOW").is_ok() { println!("{show}\nprelude {t1:?} total {:?}", t0.elapsed()); }
            diags.extend(std::mem::take(&mut names.diagnostics));
            if let Some(d) = diags.first() { return Some(d.render(&s, false)); }
            None
        });
        if let Some(m) = out { bad += 1; println!("{m}\n"); }
    }
    println!("{n} files, {bad} bad");
}
