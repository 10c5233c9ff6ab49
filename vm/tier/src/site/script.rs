//! The machines of sites, driven by text: a script of `tests/golden/site/` says which machine it is about and then what happens,
//! line by line; behind `=>` stands what the machine says then. `GALOPVM_ACCEPT=1` writes that anew.

use super::rules::{self, Rules};
use super::{Answers, Asking, Found, MOST_VERSIONS, Made, Memo, Trust, Turnover};
use galopvm_testkit::golden::whole;
use galopvm_testkit::{files, read};

/// A machine that takes events.
trait Machine {
    /// What it says after an event.
    fn take(&mut self, event: &[&str]) -> String;
}

/// The last word of an event as a number.
fn number(event: &[&str]) -> u64 {
    let word = event.last().expect("a word");
    word.parse().unwrap_or_else(|_| panic!("`{word}` of `{}` is no number", event.join(" ")))
}

/// How often an event happens: `come x 3`.
fn times<'e, 'w>(event: &'e [&'w str]) -> (&'e [&'w str], u64) {
    match event {
        [before @ .., "x", _] => (before, number(event)),
        _ => (event, 1),
    }
}

fn unknown(event: &[&str]) -> ! {
    panic!("nobody knows `{}`", event.join(" "))
}

struct Question(Asking);

impl Machine for Question {
    fn take(&mut self, event: &[&str]) -> String {
        let Question(asking) = self;
        let (event, times) = times(event);
        for _ in 0..times {
            match event {
                ["come"] => {
                    asking.come();
                    asking.state();
                }
                ["made", _] => asking.made(number(event)),
                ["served", _] => asking.served(number(event)),
                ["useful"] => asking.learn(true),
                ["useless"] => asking.learn(false),
                ["fails"] => asking.fail(),
                ["forgiven"] => asking.forgive(),
                ["given", "up"] => asking.give_up(),
                ["spend", _] => {
                    return if asking.may_spend(number(event)) { "may" } else { "may not" }.into();
                }
                _ => unknown(event),
            }
        }
        asking.clone().state().to_string()
    }
}

/// Keys are words, which stand for their letters.
fn numbers(word: &str) -> Vec<u64> {
    word.bytes().map(u64::from).collect()
}

impl Machine for Memo<String> {
    fn take(&mut self, event: &[&str]) -> String {
        match event {
            ["find", key] => self.find(&numbers(key)).map_or_else(|| "unknown".into(), |value| value.clone()),
            ["keep", key, value, "weight", _] => {
                let dropped = self.keep(&numbers(key), value.to_string(), number(event) as usize);
                format!("{dropped} dropped")
            }
            ["clear"] => {
                self.clear();
                "empty".into()
            }
            _ => unknown(event),
        }
    }
}

impl Machine for Answers<String> {
    fn take(&mut self, event: &[&str]) -> String {
        let (event, eager) = match event {
            [before @ .., "eager"] => (before, true),
            _ => (event, false),
        };
        match event {
            ["come"] => {
                self.asking.come();
                self.asking.clone().state().to_string()
            }
            ["find", key] => match self.find(&numbers(key), eager) {
                Found::Known(value) => value.clone(),
                Found::Ask => "ask".into(),
                Found::Wait => "wait".into(),
            },
            ["keep", key, value, "made", "in", _] => {
                let (value, nanos) = (value.to_string(), number(event));
                let is_useful = value != "nothing";
                let dropped = self.keep(&numbers(key), Made { value, weight: 1, nanos, is_useful });
                format!("{dropped} dropped, {}", self.asking.clone().state())
            }
            _ => unknown(event),
        }
    }
}

impl Machine for Trust {
    fn take(&mut self, event: &[&str]) -> String {
        let (event, times) = times(event);
        for _ in 0..times {
            match event {
                ["without", _] => self.ran(number(event), false),
                ["under", _] => self.ran(number(event), true),
                _ => unknown(event),
            }
        }
        self.to_string()
    }
}

/// A turnover with the kinds that there are answers for, and the launches that used them last.
#[derive(Default)]
struct Kinds(Turnover, Vec<(String, u64)>);

impl Kinds {
    fn launch(&mut self, kind: &str) -> String {
        let Kinds(turnover, kinds) = self;
        if let Some((_, used)) = kinds.iter_mut().find(|(known, _)| known == kind) {
            *used = turnover.launch();
            return format!("launch {used}");
        }
        if kinds.len() < MOST_VERSIONS {
            kinds.push((kind.to_string(), turnover.launch()));
            return format!("room for {kind}");
        }
        let gone = turnover.miss(&numbers(kind), kinds.iter().map(|(_, used)| *used).enumerate());
        let launch = turnover.launch();
        let Some(at) = gone else { return format!("launch {launch}: the general one") };
        let (gone, _) = std::mem::replace(&mut kinds[at], (kind.to_string(), launch));
        format!("launch {launch}: {gone} goes for {kind}")
    }
}

impl Machine for Kinds {
    fn take(&mut self, event: &[&str]) -> String {
        let (event, times) = times(event);
        let mut said = String::new();
        for _ in 0..times {
            let ["launch", kind] = event else { unknown(event) };
            said = self.launch(kind);
        }
        said
    }
}

fn rules_of(name: &str) -> &'static Rules {
    match name {
        "plans" => &rules::PLANS,
        "merges" => &rules::MERGES,
        "advice" => &rules::ADVICE,
        "layouts" => &rules::LAYOUTS,
        "reuse" => &rules::REUSE,
        "checks" => &rules::CHECKS,
        "groups" => &rules::GROUPS,
        "code" => &rules::CODE,
        _ => panic!("no rules are called `{name}`"),
    }
}

fn machine(words: &[&str]) -> Box<dyn Machine> {
    match words {
        ["asking", name] => Box::new(Question(Asking::new(rules_of(name)))),
        ["answers", name, _] => Box::new(Answers::<String>::new(rules_of(name), number(words) as usize)),
        ["memo", _] => Box::new(Memo::<String>::new(number(words) as usize)),
        ["trust"] => Box::new(Trust::default()),
        ["turnover"] => Box::new(Kinds::default()),
        _ => unknown(words),
    }
}

/// The script with what its machines say now.
fn executed(script: &str) -> String {
    let mut current: Option<Box<dyn Machine>> = None;
    let mut text = String::new();
    for line in script.lines() {
        let event = line.split_once(" => ").map_or(line, |(event, _)| event).trim_end();
        let words: Vec<&str> = event.split_whitespace().collect();
        text.push_str(event);
        match (&mut current, words.as_slice()) {
            (_, [] | ["#", ..]) => {}
            (_, ["answers" | "asking" | "memo" | "trust" | "turnover", ..]) => {
                current = Some(machine(&words))
            }
            (Some(machine), words) => text.push_str(&format!(" => {}", machine.take(words))),
            (None, words) => unknown(words),
        }
        text.push('\n');
    }
    text
}

#[test]
fn machines_say_what_scripts_expect() {
    whole("site", "txt", 5, |_, script| executed(script));
}

#[test]
fn every_rule_has_a_script() {
    let all: String = files("tests/golden/site", "txt").iter().map(|path| read(path)).collect();
    for name in ["plans", "merges", "advice", "layouts", "reuse", "checks", "groups", "code"] {
        assert!(all.contains(&format!("asking {name}\n")), "no script is about {name}");
    }
}
