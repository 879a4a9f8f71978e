//! Every page of `omo --help`: fits a screen, and has an example that can be typed.

/// Columns of the smallest usual screen.
const COLUMNS: usize = 80;
const ROWS: usize = 24;
/// Rows of the first page, which lists every command, exit status and common option.
const ROWS_OF_THE_FIRST: usize = 43;

fn pages() -> Vec<(String, String)> {
    let pages = omo_cli::help_pages(COLUMNS);
    assert!(pages.len() > 15, "only {} pages found", pages.len());
    pages
}

#[test]
fn every_command_has_its_page() {
    let names: Vec<String> = pages().into_iter().map(|(name, _)| name).collect();
    for name in [
        "omo",
        "omo stop",
        "omo ulw on",
        "omo check add",
        "omo plan lint",
        "omo agent done",
        "omo agent next",
    ] {
        assert!(names.iter().any(|it| it == name), "{names:?}");
    }
    for (name, page) in pages() {
        assert!(
            page.contains(&format!("Usage: {name}")),
            "`{name} --help`:\n{page}"
        );
    }
}

#[test]
fn every_page_fits_a_screen() {
    for (name, page) in pages() {
        let rows = page.trim_end().lines().count();
        // The first page, and the one for agents, which no person reads on a screen.
        let bound = if ["omo", "omo agent"].contains(&name.as_str()) {
            ROWS_OF_THE_FIRST
        } else {
            ROWS
        };
        assert!(rows <= bound, "`{name} --help` has {rows} lines:\n{page}");
        let widest = page.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(
            widest <= COLUMNS,
            "`{name} --help` is {widest} columns wide:\n{page}"
        );
    }
}

#[test]
fn every_page_has_an_example_that_the_parser_takes() {
    for (name, page) in pages() {
        let (_, below) = page
            .split_once("\nExample")
            .unwrap_or_else(|| panic!("`{name} --help` has no example"));
        let block = below.split("\n\n").next().unwrap();
        let examples: Vec<&str> = block.lines().skip(1).map(str::trim).collect();
        assert!(!examples.is_empty(), "{page}");
        for example in examples {
            // Behind the command stands its effect, or a redirected file.
            let typed = example
                .split("   ")
                .next()
                .unwrap()
                .split(" > ")
                .next()
                .unwrap()
                .split(" < ")
                .next()
                .unwrap();
            // The program may have its folder.
            let typed = typed
                .split_once("/bin/")
                .map_or(typed, |(_, typed)| typed)
                .trim_end();
            assert!(
                name == "omo" || typed.starts_with(&name),
                "`{typed}` is no example of `{name}`"
            );
            let words = shlex::split(typed)
                .unwrap_or_else(|| panic!("`{typed}` on the page of `{name}` is no command line"));
            if let Err(error) = omo_cli::command().try_get_matches_from(words) {
                panic!("`{typed}` on the page of `{name}`: {error}");
            }
        }
    }
}

#[test]
fn every_exit_status_is_on_the_first_page() {
    let page = omo_cli::command().render_long_help().to_string();
    for (status, _, meaning) in omo_cli::exit_statuses() {
        let row = format!(" {status}  {meaning}");
        let stands_in = |line: &str| line.ends_with(&row) || line.contains(&format!("{row}  "));
        assert!(page.lines().any(stands_in), "{status}: {page}");
    }
    let statuses = omo_cli::exit_statuses().map(|(status, ..)| usize::from(status));
    assert!(
        statuses
            .enumerate()
            .all(|(number, status)| number == status),
        "a number is left out"
    );
}

#[test]
fn the_parser_is_sound() {
    omo_cli::command().debug_assert();
}
