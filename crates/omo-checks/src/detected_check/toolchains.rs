//! Detects the test command of each toolchain by its files, such as `cargo test` by `Cargo.toml`.

use serde_json::Value as Json;

use super::top_files::{EntryKind, TopFiles};
use super::{Candidate, javascript, python};

type Detect = fn(&dyn TopFiles) -> Option<Candidate>;

/// Detectors in order of preference; the first candidate wins.
pub(super) const ALL: [Detect; 11] = [
    rust,
    go,
    javascript::package,
    javascript::deno,
    python::detect,
    gradle,
    maven,
    dotnet,
    elixir,
    ruby,
    php,
];

/// Rust. Beside a package at the top, `cargo test` leaves out members without `default-members`.
fn rust(top: &dyn TopFiles) -> Option<Candidate> {
    let file = top.first_file(&["Cargo.toml"])?;
    let manifest = top.toml(file);
    let is_partial = manifest.pointer("/package").is_some()
        && manifest.pointer("/workspace/members").is_some()
        && manifest.pointer("/workspace/default-members").is_none();
    Some(Candidate::certain(
        if is_partial {
            "cargo test --workspace"
        } else {
            "cargo test"
        },
        file,
    ))
}

/// Go. In a workspace `./...` is the module at the top, and an error without one.
fn go(top: &dyn TopFiles) -> Option<Candidate> {
    let file = top.first_file(&["go.work", "go.mod"])?;
    let command = if file == "go.work" {
        "go list -f '{{.Dir}}/...' -m | xargs go test"
    } else {
        "go test ./..."
    };
    Some(Candidate::certain(command, file))
}

fn gradle(top: &dyn TopFiles) -> Option<Candidate> {
    let file = top.first_file(&[
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
    ])?;
    Some(Candidate::certain(
        if top.has_file("gradlew") {
            "./gradlew test"
        } else {
            "gradle test"
        },
        file,
    ))
}

fn maven(top: &dyn TopFiles) -> Option<Candidate> {
    let file = top.first_file(&["pom.xml"])?;
    Some(Candidate::certain(
        if top.has_file("mvnw") {
            "./mvnw test"
        } else {
            "mvn test"
        },
        file,
    ))
}

/// `dotnet test` ends with status 0 without tests, so the file has to name some.
fn dotnet(top: &dyn TopFiles) -> Option<Candidate> {
    const ENDINGS: [(&str, &str); 5] = [
        (".sln", "the .sln file"),
        (".slnx", "the .slnx file"),
        (".csproj", "the .csproj file"),
        (".fsproj", "the .fsproj file"),
        (".vbproj", "the .vbproj file"),
    ];
    let name = top.only_file_ending(&ENDINGS.map(|(ending, _)| ending))?;
    let (_, found_in) = ENDINGS
        .into_iter()
        .find(|(ending, _)| name.ends_with(ending))?;
    let has_tests = top.text(name)?.to_ascii_lowercase().contains("test");
    has_tests.then(|| Candidate::certain("dotnet test", found_in))
}

fn elixir(top: &dyn TopFiles) -> Option<Candidate> {
    Some(Candidate::certain(
        "mix test",
        top.first_file(&["mix.exs"])?,
    ))
}

fn ruby(top: &dyn TopFiles) -> Option<Candidate> {
    let bundle = top.first_file(&["Gemfile"]);
    match top.first_file(&[".rspec"]) {
        Some(file) => Some(Candidate::certain(
            if bundle.is_some() {
                "bundle exec rspec"
            } else {
                "rspec"
            },
            file,
        )),
        None if top.kind("spec") == Some(EntryKind::Folder) => {
            Some(Candidate::likely("bundle exec rspec", bundle?))
        }
        None => None,
    }
}

fn php(top: &dyn TopFiles) -> Option<Candidate> {
    const COMPOSER: &str = "composer.json";
    let has_script = match top.json(COMPOSER).pointer("/scripts/test") {
        Some(Json::String(script)) => javascript::is_test_script(script),
        Some(Json::Array(scripts)) => scripts
            .iter()
            .filter_map(Json::as_str)
            .any(javascript::is_test_script),
        _ => false,
    };
    if has_script {
        return Some(Candidate::certain("composer test", COMPOSER));
    }
    let file = top.first_file(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"])?;
    Some(Candidate::certain("vendor/bin/phpunit", file))
}
