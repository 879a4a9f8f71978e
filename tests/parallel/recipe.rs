//! docs/many-machines.md: its recipe for ssh, followed word for word with a host that ssh knows as `build01`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_tests::parallel_plan;
use omo_tests::plan_project::Said;

use crate::launchers::{WELL, two};
use crate::parallel_repository::{Ground, on_repository};
use crate::second_host::Host;

const PAGE: &str = include_str!("../../docs/many-machines.md");

/// The first block of this language behind the recipe's mark.
fn block(language: &str) -> Result<&'static str> {
    let (_, recipe) = PAGE
        .split_once("<!-- recipe: ssh -->")
        .context("the page has no recipe for ssh")?;
    let (_, block) = recipe
        .split_once(&format!("```{language}\n"))
        .context("the recipe has no such block")?;
    Ok(block.split_once("```").context("the block does not end")?.0)
}

/// A host that the recipe's `ssh` finds: what the page asks for is there, and `ssh` knows its name.
fn prepare_host(ground: &Ground) -> Result<Host> {
    let host = Host::new(ground, &WELL)?;
    let bin = host.home().join("bin");
    fs::create_dir_all(&bin)?;
    host.files().add_programs(ground)?;
    symlink("../client", bin.join("claude"))?;
    symlink(ground.program(), bin.join("omo"))?;
    // What a person has in ~/.ssh, which belongs to the account that the tests run as.
    let here = ground.lab.root().join("ssh");
    fs::create_dir_all(&here)?;
    let options = host.ssh_options();
    fs::write(
        here.join("ssh"),
        format!("#!/bin/sh\nexec /usr/bin/ssh {options} -o HostName=127.0.0.1 \"$@\"\n"),
    )?;
    fs::set_permissions(here.join("ssh"), fs::Permissions::from_mode(0o755))?;
    symlink(ground.program(), here.join("omo"))?;
    Ok(host)
}

/// A command as its user types it: words, and a PATH with `ssh` and `omo`.
fn typed(ground: &Ground, words: &[&str]) -> Result<Said> {
    let lab = &ground.lab;
    let path = lab.environment().get("PATH").cloned().unwrap_or_default();
    let here = lab.root().join("ssh");
    let program = here.join(words.first().context("an empty line")?);
    let mut command: Command = lab.command(program);
    command
        .args(words.iter().skip(1))
        .env("PATH", format!("{}:{path}", here.display()));
    Ok(Said::of(&command.output()?))
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn the_recipe_for_ssh_works_word_for_word() {
    let play = |ground: &Ground| {
        let host = prepare_host(ground)?;
        ground.lab.configure(block("toml")?)?;
        let lines: Vec<Vec<String>> = block("sh")?
            .lines()
            .map(|line| shlex::split(line).unwrap_or_default())
            .collect();
        ensure!(lines.len() == 4, "{lines:?}");
        for line in &lines {
            let words: Vec<&str> = line.iter().map(String::as_str).collect();
            let said = if words.starts_with(&["omo", "run", "start"]) {
                // A key is set here, and the plan's commands are approved, as a person does by what is asked.
                let (plan, options) = words.split_last().context("no plan")?;
                ensure!(*plan == parallel_plan::PLAN, "{plan}");
                let options = [options, &["--accept-api-billing"]].concat();
                let before = typed(ground, &[options.as_slice(), &[plan]].concat())?;
                let is_digest = |word: &&str| {
                    word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
                };
                let digest = before
                    .err
                    .split_whitespace()
                    .find(is_digest)
                    .context("no digest")?;
                typed(
                    ground,
                    &[options.as_slice(), &["--digest", digest, plan]].concat(),
                )?
            } else {
                typed(ground, &words)?
            };
            ensure!(said.status == 0, "{line:?}: {}\n{}", said.out, said.err);
        }
        ground.require_complete(&WELL)?;
        host.files().require_clean_remote(ground)
    };
    on_repository(
        &two(),
        "test -f a.txt && test -f b.txt && test -f c.txt",
        play,
    );
}
