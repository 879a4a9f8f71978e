//! Every file that a whole run leaves is one that the guide names.

use std::fs;
use std::path::Path;

use omo_testkit::Lab;
use omo_tests::claim_scene::AGREES;
use omo_tests::scene::{Scene, plugin};

use crate::{first_cells, page};

/// Whether a name is the one that a row of the table shows; what stands in `<…>` may be anything.
fn is_shown(rows: &[String], name: &str) -> bool {
    rows.iter()
        .any(|row| match (row.split_once('<'), row.split_once('>')) {
            (Some((before, _)), Some((_, after))) => {
                name.starts_with(before) && name.ends_with(after)
            }
            _ => row.trim_end_matches('/') == name,
        })
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn every_file_of_a_run_is_in_the_guide() {
    let plugin = plugin();
    let guide = page("docs/guide.md");
    let in_project = first_cells(&guide, "In the project, only once ultrawork was used there");
    let own = first_cells(&guide, "In `~/.local/state/omo/`:");
    let mut scene = Scene::in_lab(&plugin, Lab::builder().build().unwrap()).unwrap();
    scene.start("--check \"test -f done.txt\"").unwrap();
    scene.claim_fails().unwrap();
    fs::write(scene.lab.project().join("done.txt"), "").unwrap();
    // Green now, and a review is asked for.
    scene.claim_fails().unwrap();
    let mut seen = names(&scene.lab.state_folder());
    scene.reviewer_reports(AGREES).unwrap();
    scene.claim_ends("verified").unwrap();
    seen.extend(names(&scene.lab.state_folder()));
    assert!(
        seen.iter().any(|name| name.starts_with("review-")),
        "{seen:?}"
    );
    for name in seen {
        assert!(
            is_shown(&in_project, &name),
            "{name} is not in {in_project:?}"
        );
    }
    for name in names(&scene.lab.home().join(".local/state/omo")) {
        assert!(is_shown(&own, &name), "{name} is not in {own:?}");
    }
}

#[test]
fn the_files_that_the_code_names_are_in_the_guide() {
    let rows = first_cells(
        &page("docs/guide.md"),
        "In the project, only once ultrawork was used there",
    );
    let named = [
        omo_state::state::FILE,
        omo_state::decision_log::FILE,
        omo_state::hook_error_log::FILE,
        omo_state::task_list_note::FILE,
    ];
    for name in named {
        assert!(is_shown(&rows, name), "{name}");
    }
    assert!(
        is_shown(&rows, "check-tests.log") && !is_shown(&rows, "other.log"),
        "{rows:?}"
    );
}
