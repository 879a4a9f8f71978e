//! What a user types behind the command.

use omo_plan::ultra_run::arguments::{Arguments, Mode, Part, parse, usage};
use omo_plan::ultra_run::target::{Found, check_file, check_part};

use crate::{plan, vectors};

const COMMAND: &str = "/ultraexecute-local";

fn read(line: &str) -> Result<Arguments, String> {
    parse(COMMAND, line).map_err(|error| error.message)
}

#[test]
fn every_line_that_was_written_down_is_read_as_it_says() {
    let five = plan(5, &[(&[1, 2], 1), (&[3, 4, 5], 1)]);
    let vectors = vectors("ultra-args.json");
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 37, "the rows of the table");
    for case in cases {
        let line = case["arguments"].as_str().unwrap();
        let read = read(line);
        let strict = case["strict"].as_str().unwrap_or_default();
        let spec = &case["spec"];
        match strict {
            "" if spec["error"].is_string() => {
                let expected = spec["error"].as_str().unwrap();
                if let Some(path) = expected.strip_prefix("Error: file not found: ") {
                    assert_eq!(read.unwrap().path, path, "{line}");
                    let error = check_file(path, Found::Nothing).unwrap_err();
                    assert_eq!((format!("Error: {}", error.message).as_str(), error.is_missing), (expected, true));
                } else {
                    assert_eq!(
                        read.unwrap_err().lines().next(),
                        Some("Usage: /ultraexecute-local <plan.md>"),
                        "{line}"
                    );
                }
            }
            ""
            | "flags are whole words only (the seed says `contain`)"
            | "foreground allowed; multi-session refuses: plan is outside the repository" => {
                let read = read.unwrap();
                assert_eq!(read.mode.word(), spec["mode"], "{line}");
                assert_eq!(read.part.number(), spec["target"].as_u64(), "{line}");
                assert_eq!(read.path, spec["path"].as_str().unwrap(), "{line}");
            }
            "exit 2" => assert!(read.unwrap_err().contains("needs a positive integer"), "{line}"),
            "after parsing: exit 2: no step 99 (plan has 1..5)" => {
                let error = check_part(&five, read.unwrap().part).unwrap_err();
                assert_eq!(error.message, "no step 99 (plan has 1..5)");
            }
            "exit 2: no session 9" => {
                let error = check_part(&five, read.unwrap().part).unwrap_err();
                assert_eq!(error.message, "no session 9 (plan has 1..2)");
            }
            "exit 2: plan has no Execution Strategy" => {
                let error = check_part(&plan(2, &[]), read.unwrap().part).unwrap_err();
                assert_eq!(error.message, "plan has no Execution Strategy");
            }
            "exit 2: not a file" => {
                let error = check_file(&read.unwrap().path, Found::Other).unwrap_err();
                assert_eq!(error.message, "not a file: ./dir");
            }
            "strip the quotes" => {
                let plain = spec["path"].as_str().unwrap().trim_matches(['"', '\'']);
                assert_eq!(read.unwrap().path, plain, "{line}");
            }
            "accept --step=3" => assert_eq!(read.unwrap().part, Part::Step(3)),
            "allow: preview of one session" => {
                let read = read.unwrap();
                assert_eq!((read.mode, read.part), (Mode::DryRun, Part::Session(2)));
            }
            strict if strict.ends_with("make it resume, foreground") => {
                let read = read.unwrap();
                assert_eq!((read.mode, read.is_foreground, read.path.as_str()), (Mode::Resume, true, "plan.md"));
            }
            strict => {
                let expected = strict.strip_prefix("exit 2: ").unwrap();
                let error = read.unwrap_err();
                assert!(error.starts_with(expected), "{line}: {error}");
            }
        }
    }
}

#[test]
fn other_lines_of_the_same_kinds() {
    let is = |mode, part, is_foreground, path: &str| Ok(Arguments { mode, part, is_foreground, path: path.to_owned() });
    let err = |text: &str| Err(text.to_owned());
    for (line, expected) in [
        ("--session=2 plan.md", is(Mode::Session, Part::Session(2), false, "plan.md")),
        ("--fg --step 2 plan.md", is(Mode::Step, Part::Step(2), true, "plan.md")),
        ("plan.md --dry-run --step 2", is(Mode::DryRun, Part::Step(2), false, "plan.md")),
        ("--fg --dry-run plan.md", is(Mode::DryRun, Part::Whole, true, "plan.md")),
        ("plan.md --resume", is(Mode::Resume, Part::Whole, false, "plan.md")),
        ("docs/my  plan.md --fg", is(Mode::Foreground, Part::Whole, true, "docs/my  plan.md")),
        ("'my plan' --fg", is(Mode::Foreground, Part::Whole, true, "my plan")),
        ("-- --fg.md", is(Mode::Execute, Part::Whole, false, "--fg.md")),
        ("'--fg'", is(Mode::Execute, Part::Whole, false, "--fg")),
        (r"C:\plans\plan.md", is(Mode::Execute, Part::Whole, false, r"C:\plans\plan.md")),
        ("PLAN.MD", is(Mode::Execute, Part::Whole, false, "PLAN.MD")),
        ("--step", err("--step needs a positive integer, got \"\"")),
        ("--step=", err("--step needs a positive integer, got \"\"")),
        ("--step +3 plan.md", err("--step needs a positive integer, got \"+3\"")),
        ("--step 99999999999999999999 plan.md", err("--step needs a positive integer, got \"99999999999999999999\"")),
        ("--step ３ plan.md", err("--step needs a positive integer, got \"３\"")),
        ("--session two plan.md", err("--session needs a positive integer, got \"two\"")),
        ("--step 1 --step 2 plan.md", err("--step is given twice")),
        ("--step 1 --session 2 plan.md", err("--step and --session exclude each other")),
        ("--resume --session 2 plan.md", err("--resume and --session exclude each other")),
        ("--resume --dry-run plan.md", err("--resume and --dry-run exclude each other")),
        ("--fg=yes plan.md", err("unknown option --fg=yes")),
        ("-f plan.md", err("unknown option -f")),
        ("my --fg plan.md", err("unexpected argument `plan.md`")),
        ("a.md b.md", err("unexpected argument `b.md`")),
        ("'a b' c.md", err("unexpected argument `c.md`")),
        ("a 'b.md'", err("unexpected argument `b.md`")),
        ("plan extra", err("unexpected argument `extra`")),
        ("\"plan.md", err("a quote is not closed")),
        ("\"\"", err("the path of the plan is empty")),
    ] {
        assert_eq!(read(line), expected, "{line}");
    }
}

#[test]
fn the_numbers_that_there_are_are_named_however_they_stand() {
    let mut gaps = plan(6, &[]);
    gaps.units.retain(|unit| unit.id != "4" && unit.id != "6");
    assert_eq!(check_part(&gaps, Part::Step(4)).unwrap_err().message, "no step 4 (plan has 1..3, 5)");
    assert_eq!(check_part(&gaps, Part::Step(5)), Ok(()));
    assert_eq!(check_part(&gaps, Part::Whole), Ok(()));
}

#[test]
fn the_usage_names_every_option() {
    let usage = usage("/omo:execute-local");
    for option in ["--fg", "--resume", "--dry-run", "--step N", "--session N"] {
        assert!(usage.contains(&format!("\n       /omo:execute-local {option} <plan.md>")), "{usage}");
        assert!(usage.contains(&format!("\n  {option}")), "{usage}");
    }
}
