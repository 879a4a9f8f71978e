//! Which of the files that a command is given, or is sent, it runs.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use omo_core::check::command_line::{ShellCommand, is_line_option, is_syntax_check, is_wrapper, program_name};
use omo_core::check::test_runner::test_commands::python_module;
use omo_state::files::regular_file;

use super::steering;

/// The commands of a line whose output is run by another one, or names what another one runs.
pub(super) fn commands_feeding_others(commands: &[ShellCommand]) -> BTreeSet<usize> {
    let sent: BTreeSet<usize> = commands.iter().filter(|it| runs_what_it_is_sent(it)).map(|it| it.pipeline).collect();
    let mut fed = BTreeSet::new();
    for (at, command) in commands.iter().enumerate() {
        if sent.contains(&command.pipeline) {
            fed.insert(at);
        }
        if command.substituted > 0 && runs_its_words(command) {
            fed.extend(at.saturating_sub(command.substituted)..at);
        }
    }
    fed
}

/// Whether an interpreter runs the files that `find` or `xargs` names to it.
pub(super) fn is_script_run(program: &str, own: &[&str]) -> bool {
    let name = program_name(program);
    let is_given = own.iter().all(|word| word.starts_with('-') || word.contains("{}"));
    steering::is_interpreter(name) && is_given && !is_given_code(name, own)
}

/// The file is a module, code, or one that is not run.
fn is_given_code(name: &str, own: &[&str]) -> bool {
    let is_code = |word: &&str| matches!(*word, "-e" | "--eval" | "--print" | "--test") || is_line_option(word);
    is_syntax_check(name, own)
        || own.iter().any(is_code)
        || (steering::is_python(name) && python_module(own).is_some())
        || matches!((name, own.first()), ("deno" | "bun", Some(&"test")))
}

/// The interpreter or the task runner that a command runs, by itself or by a wrapper, and what that is given.
fn script_runner(command: &ShellCommand) -> Option<(&str, Vec<&str>)> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let (program, arguments) = words.split_first()?;
    let is_known =
        |word: &str| steering::is_interpreter(program_name(word)) || matches!(program_name(word), "make" | "gmake");
    if is_known(program) || steering::is_sourcing_command(program) || *program == "eval" || program.is_empty() {
        return Some((program_name(program), arguments.to_vec()));
    }
    let at =
        arguments.iter().position(|word| is_known(word)).filter(|_| is_wrapper(program_name(program), arguments))?;
    Some((program_name(arguments.get(at)?), arguments.get(at + 1..).unwrap_or_default().to_vec()))
}

/// Whether a command runs what another one sends it, or names to it.
pub(super) fn runs_what_it_is_sent(command: &ShellCommand) -> bool {
    let Some((name, own)) = script_runner(command) else { return false };
    let is_named = command.words.first().is_some_and(|program| matches!(program_name(program), "xargs" | "parallel"));
    let is_unknown = |word: &str| word.starts_with('$') || word == "{}";
    match name {
        "make" | "gmake" => {
            let is_input = |pair: &[&str]| matches!(pair, ["-f" | "--file" | "--makefile", "-"]);
            own.windows(2).any(is_input) || own.iter().any(|word| matches!(*word, "-f-" | "--file=-" | "--makefile=-"))
        }
        "eval" => own.iter().any(|word| is_unknown(word)),
        "" => false,
        // A line that is not known: what was read or named.
        _ if own.iter().any(|word| is_line_option(word)) => {
            let line = own.iter().skip_while(|word| !is_line_option(word)).nth(1);
            line.is_some_and(|line| is_unknown(line))
        }
        _ if is_given_code(name, &own) => false,
        _ if is_named => own.iter().all(|word| word.starts_with('-') || word.contains("{}")),
        _ => own.iter().all(|word| word.starts_with('-') || is_unknown(word)),
    }
}

/// Whether what stands for a substitution is a script, or the name of one.
fn runs_its_words(command: &ShellCommand) -> bool {
    let Some((name, own)) = script_runner(command) else { return false };
    let is_line = own.iter().skip_while(|word| !is_line_option(word)).nth(1).is_some_and(|line| line.is_empty());
    is_line || matches!(name, "eval" | "") || (!matches!(name, "make" | "gmake") && !is_given_code(name, &own))
}

/// The folder that `-C folder`, `--prefix folder` and the like send a tool to.
pub(super) fn folder_of(name: &str, folder: &Path, arguments: &[&str]) -> PathBuf {
    let known = |name: &str| {
        let names = ["-C", "--prefix", "--directory", "--dir", "--cwd", "-w", "--workspace", "--filter", "workspace"];
        names.contains(&name)
    };
    let next = |at: usize| arguments.get(at + 1).copied();
    let values = arguments.iter().enumerate().filter_map(|(at, word)| match word.split_once('=') {
        Some((name, value)) => known(name).then_some(value),
        None if known(word) => next(at),
        // Behind other letters, as in `make -sC web`.
        None => {
            let (flags, value) = word.strip_prefix('-')?.split_once('C')?;
            let are_flags =
                flags.is_empty() || (matches!(name, "make" | "gmake") && !flags.contains(['f', 'I', 'o', 'W', '-']));
            let value = if value.is_empty() { next(at) } else { Some(value) };
            value.filter(|_| are_flags)
        }
    });
    values.map(|value| folder.join(value)).find(|folder| folder.is_dir()).unwrap_or_else(|| folder.to_owned())
}

/// Whether a file is one that can be run as it is.
pub(super) fn is_runnable(path: &Path) -> bool {
    is_script_name(path) || read_beginning(path).starts_with(b"#!") || is_binary(path)
}

/// Whether a file is a program that was compiled.
pub(super) fn is_binary(path: &Path) -> bool {
    const BEGINNINGS: [&[u8]; 5] = [b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
    let begins = read_beginning(path);
    BEGINNINGS.iter().any(|begin| begins.starts_with(begin))
}

fn read_beginning(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(Some(file)) = regular_file::open(path) {
        // What cannot be read begins with nothing.
        let _ = file.take(4).read_to_end(&mut bytes);
    }
    bytes
}

/// Whether a file is a script by its name. One of Java is not: most tools that are given it compile it.
pub(super) fn is_script_name(path: &Path) -> bool {
    const ENDINGS: &str = "\
        sh bash zsh ksh fish py pyz js cjs mjs ts mts rb pl php lua mk awk ps1 cmd jl exs kts groovy tcl csx nu";
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.split_ascii_whitespace().any(|known| known == ending))
}
