//! Commands that prove something, others, and scripts in parts.

use super::*;

#[test]
fn only_what_proves_something_is_a_check() {
    for command in [
        "cargo test -p app",
        "cd web && npm run build",
        "npm install && npm test",
        "pytest -q tests/a.py::test_b",
        "PORT=1 node check.mjs",
        "git diff --check",
        "curl -sf http://localhost:1/health",
        "npm run lint",
        "pnpm --filter web test",
        "[ -f a ]",
        "go build ./... && ./bin/app",
    ] {
        assert!(proves_something(command), "{command}");
    }
    for command in [
        "git add -A && git commit -m 'x'",
        "npm test && git commit -am x",
        "npm run dev",
        "pnpm --filter web dev",
        "cd web && npm run dev",
        "bun add left-pad",
        "pip install -r a.txt",
        "mkdir -p a/b",
        "node server.js &",
        "cd web",
        "vercel deploy --prod",
        "rm -f a",
        "",
    ] {
        assert!(!proves_something(command), "{command}");
    }
}

#[test]
fn a_script_is_taken_apart_where_its_lines_stand_for_themselves() {
    for (script, expected) in [
        ("npm test\nnpm run lint", vec!["npm test", "npm run lint"]),
        ("cd web\nnpm test", vec!["cd web\nnpm test"]),
        ("cd web\nnpm run dev", vec![]),
        ("git push", vec![]),
        (
            "# say\n\nnpm test\ngit add -A\ngit commit -m \"a\n\nb\"",
            vec!["npm test"],
        ),
        ("git add a\ngit commit -m \"a\n\nCo: b\"", vec![]),
        (
            "pytest \\\n  -q a.py\nruff check",
            vec!["pytest \\\n  -q a.py", "ruff check"],
        ),
        (
            "for a in b; do\n  test -f $a\ndone",
            vec!["for a in b; do\n  test -f $a\ndone"],
        ),
        (
            "python - <<'END'\nassert True\nEND",
            vec!["python - <<'END'\nassert True\nEND"],
        ),
        ("npm install\nnpm test", vec!["npm test"]),
        ("cd web && npm test", vec!["cd web && npm test"]),
        (
            "cd web && npm test\ncd api && make check",
            vec!["cd web && npm test", "cd api && make check"],
        ),
        (
            "cd web && npm test\nnpm run lint",
            vec!["cd web && npm test\nnpm run lint"],
        ),
        (
            "npm test\ncd web && npm test",
            vec!["npm test", "cd web && npm test"],
        ),
        ("cd web && npm install", vec![]),
        (
            "cd web\npython -c \"\nimport a\n\"",
            vec!["cd web\npython -c \"\nimport a\n\""],
        ),
        ("", vec![]),
    ] {
        assert_eq!(read_script(script).checks, expected, "{script}");
    }
}

#[test]
fn a_program_is_known_by_its_name() {
    for text in [
        "cargo test",
        "A=1 B='x y' npm t",
        "cd a && make",
        "./run.sh",
        "scripts/check a",
        "pytest",
        "! grep x y",
        ".\\gradlew test",
        "tools\\check.ps1 -All",
    ] {
        assert!(names_program(text), "{text}");
    }
    for text in [
        "func (a *App) run()",
        "src/a.rs",
        "build_all",
        "the tests",
        "",
        "a.b.c(\"d\")",
    ] {
        assert!(!names_program(text), "{text}");
    }
}

#[test]
fn what_proves_nothing_in_a_script_is_kept_beside_it() {
    for (script, unused) in [
        ("npm install\nnpm test", vec!["npm install"]),
        ("cd web\nnpm run dev", vec!["npm run dev"]),
        ("npm test\ngit add a\ngit commit -m x", vec![]),
        (
            "mkdir \\\n  a &&\nnpm install",
            vec!["mkdir \\\n  a &&\nnpm install"],
        ),
        ("cd web", vec![]),
    ] {
        assert_eq!(read_script(script).unused, unused, "{script}");
    }
}
