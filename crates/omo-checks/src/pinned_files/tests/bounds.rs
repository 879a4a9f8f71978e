//! A command that runs more than is followed says so, and no file outside of the project is looked at.

use super::{Scene, UNBOUNDED, UNREADABLE, first_changed};

fn package(scripts: &[(&str, String)]) -> String {
    let members: Vec<String> = scripts.iter().map(|(name, line)| format!("{name:?}:{line:?}")).collect();
    format!("{{\"scripts\":{{{}}}}}", members.join(","))
}

fn assert_unbounded(scene: &Scene, run: &str, is_expected: bool) {
    let pins = scene.pins(run);
    let has = pins.get(UNBOUNDED).map(String::as_str) == Some(UNREADABLE);
    assert_eq!(has, is_expected, "{run}: {:?}", pins.keys());
    assert_eq!(first_changed(&pins, &pins) == Some(UNBOUNDED), is_expected);
}

#[test]
fn scripts_that_call_each_other_are_read_once() {
    let fan = |of: &str| vec![format!("npm run {of}"); 40].join(" && ");
    let scripts = [("test", fan("a")), ("a", fan("b")), ("b", fan("c")), ("c", fan("test")), ("d", "sh x".to_owned())];
    let scene = Scene::new(&[("package.json", &package(&scripts))]);
    assert_unbounded(&scene, "npm test", false);
}

#[test]
fn more_than_the_budget_is_a_pin() {
    let scene = Scene::new(&[]);
    for script in
        ["a; ".repeat(5_000), "`a ".repeat(20_000), "x".repeat(65 * 1024), "$(".repeat(40_000), "npx ".repeat(9_000)]
    {
        scene.write("package.json", &package(&[("test", script)]));
        assert_unbounded(&scene, "npm test", true);
    }
    let loops = "for a in 1 2 3 4 5 6 7 8 9; do for b in 1 2 3 4 5 6 7 8 9; do for c in 1 2 3 4 5 6 7 8 9; do \
                 for d in 1 2 3 4 5 6 7 8 9; do sh $a$b$c$d; done; done; done; done";
    assert_unbounded(&scene, loops, true);
}

#[test]
fn a_pattern_lists_each_folder_once_and_none_outside() {
    let scene = Scene::new(&[]);
    for index in 0..60 {
        scene.write(&format!("d{index}/x"), "x");
    }
    assert_unbounded(&scene, "zz */../*/../*/../*/../*/../*/x", false);
    let pins = scene.pins("sh */../d7/../*/x");
    assert!(pins.keys().any(|name| name.starts_with("d59/") || name.contains("files behind it")), "{pins:?}");
    for outside in ["zz /*/*/*", "zz ../../../*/*/*", "sh /*/*", "find / -name '*' -exec sh {} +"] {
        assert_unbounded(&scene, outside, false);
        assert!(scene.pins(outside).is_empty(), "{outside}");
    }
    for index in 0..17_000 {
        std::fs::write(scene.root().join(format!("f{index}")), "").unwrap();
    }
    assert_unbounded(&scene, "zz *", true);
}
