//! The same Stop hook in other languages: which of them this machine can run, and how.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A Stop hook in another language.
pub(crate) struct Peer {
    /// Its name.
    pub name: &'static str,
    /// What it runs on, with the version.
    pub runs_on: String,
    /// The program, and what it is started with.
    pub program: PathBuf,
    /// The program's arguments.
    pub arguments: Vec<PathBuf>,
}

/// Bash with one jq for everything.
pub(crate) const BASH: &str = "bash and one jq";
/// Bash with one jq for each field.
pub(crate) const COMMON_BASH: &str = "bash and a jq per field";
/// Python.
pub(crate) const PYTHON: &str = "Python";
/// Node.js.
pub(crate) const NODE: &str = "Node.js";

/// The peers that can be run, and for each of the others what is missing.
pub(crate) fn find(folder: &Path) -> (Vec<Peer>, Vec<String>) {
    let all = [
        bash(folder, BASH, "stop.sh"),
        bash(folder, COMMON_BASH, "stop-common.sh"),
        python(&folder.join("stop.py")),
        node(&folder.join("stop.cjs")),
    ];
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for peer in all {
        match peer {
            Ok(peer) => found.push(peer),
            Err(why) => missing.push(why),
        }
    }
    (found, missing)
}

fn bash(folder: &Path, name: &'static str, script: &str) -> Result<Peer, String> {
    let [bash, jq] = [
        ("bash", "echo ${BASH_VERSION%%[^0-9.]*}"),
        ("bash", "jq --version"),
    ]
    .map(|(program, script)| answer(program, ["-c", script]));
    let versions = bash
        .zip(jq)
        .filter(|_| answer("flock", ["--version"]).is_some());
    let (bash, jq) =
        versions.ok_or_else(|| format!("{name}: bash, jq or flock is not installed"))?;
    let runs_on = format!("bash {bash}, {}", jq.replace('-', " "));
    Ok(Peer {
        name,
        runs_on,
        program: folder.join(script),
        arguments: Vec::new(),
    })
}

/// The interpreter itself: what is found by its name may be a script that looks for it each time.
fn python(script: &Path) -> Result<Peer, String> {
    let asked = "import platform, sys; print(sys.executable); print(platform.python_version())";
    let (program, version) = two_lines("python3", ["-c", asked])
        .ok_or_else(|| format!("{PYTHON}: python3 is not installed"))?;
    let arguments = vec!["-I".into(), "-S".into(), script.to_owned()];
    Ok(Peer {
        name: PYTHON,
        runs_on: format!("Python {version}"),
        program: program.into(),
        arguments,
    })
}

fn node(script: &Path) -> Result<Peer, String> {
    let asked = "console.log(`${process.execPath}\\n${process.versions.node}`)";
    let (program, version) =
        two_lines("node", ["-e", asked]).ok_or_else(|| format!("{NODE}: node is not installed"))?;
    let arguments = vec![script.to_owned()];
    Ok(Peer {
        name: NODE,
        runs_on: format!("Node.js {version}"),
        program: program.into(),
        arguments,
    })
}

fn two_lines<const N: usize>(program: &str, arguments: [&str; N]) -> Option<(String, String)> {
    let answer = answer(program, arguments)?;
    answer
        .split_once('\n')
        .map(|(first, second)| (first.to_owned(), second.to_owned()))
}

/// What a program prints; nothing where it is not there, or fails.
pub(crate) fn answer<const N: usize>(
    program: impl AsRef<OsStr>,
    arguments: [&str; N],
) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output
        .status
        .success()
        .then(|| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}
