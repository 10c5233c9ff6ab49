//! Every INPUT and ENV of the golden cases parses, and what is printed of it parses back to the same.

use galopvm_kir::text::{
    parse_env, parse_region, parse_region_in, print_observed, print_region, print_statements,
};
use galopvm_kir::types;
use galopvm_testkit::cases::all;

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn every_environment_and_input_round_trips() {
    let (mut envs, mut inputs, mut transforms) = (0, 0, 0);
    for case in all() {
        let name = &case.name;
        let env = case.text("ENV").unwrap_or_default();
        let (params, observed) = parse_env(env).unwrap_or_else(|e| panic!("{name}: ENV:{e}\n{env}"));
        let printed = print_observed(&params, &observed);
        let (_, again) = parse_env(&printed).unwrap_or_else(|e| panic!("{name}: printed ENV:{e}\n{printed}"));
        assert_eq!(again, observed, "{name}: {printed}");
        envs += 1;
        if let Some(text) = case.text("EXPECT transform gpu") {
            let region = parse_region(text).unwrap_or_else(|e| panic!("{name}: transform:{e}\n{text}"));
            assert_eq!(without_blanks(&print_statements(&region)), without_blanks(text), "{name}");
            transforms += 1;
        }
        let Some(input) = case.text("INPUT") else { continue };
        inputs += 1;
        let mut region =
            parse_region_in(params, input).unwrap_or_else(|e| panic!("{name}: INPUT:{e}\n{input}"));
        assert_eq!(without_blanks(&print_statements(&region)), without_blanks(input), "{name}");
        for _ in 0..2 {
            let printed = print_region(&region);
            let again = parse_region(&printed).unwrap_or_else(|e| panic!("{name}: printed:{e}\n{printed}"));
            assert_eq!(again, region, "{name}:\n{printed}");
            // The second time with all types that can be found.
            types::infer(&mut region);
        }
    }
    assert_eq!(envs, 89);
    assert_eq!(inputs, 71);
    assert_eq!(transforms, 3);
}
