//! A password in the address of a remote repository is in nothing that omo prints, whatever the commands of a launcher
//! print of the words that they were called with.

use std::fs;

use anyhow::{Result, ensure};
use omo_engine::report::ultraplan::worker_lines::worker_event_line;
use omo_testkit::wait_until;

use crate::launcher_failures::{add_program, configure};
use crate::launchers::{Engine, on_local};

const PASSWORD: &str = "s3cr3t";
/// Nothing listens there.
const ADDRESS: &str = "https://user:s3cr3t@127.0.0.1:9/x.git";

/// What these commands print, in which no password is.
fn printed(engine: &Engine, commands: &[&[&str]]) -> Result<String> {
    let mut all = String::new();
    for arguments in commands {
        let said = engine.ground.omo(arguments)?;
        let text = format!("{}\n{}\n", said.out, said.err);
        ensure!(
            !text.contains(PASSWORD),
            "{arguments:?} prints the password: {text}"
        );
        all.push_str(&text);
    }
    Ok(all)
}

/// The same of a text that has the address, or this would be no test.
fn require_address(text: &str) -> Result<()> {
    ensure!(
        text.contains("://127.0.0.1:9/x.git") && !text.contains(PASSWORD),
        "{text}"
    );
    Ok(())
}

/// A program that prints its words, as a shell with `-x` does, and then runs its first one.
fn add_talkative(engine: &Engine, name: &str, end: &str) -> Result<String> {
    add_program(
        engine,
        name,
        &format!("echo \"+ $0 $*\" >&2\necho \"running $*\"\n{end}"),
    )
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_start_that_prints_its_own_words_tells_no_password() {
    on_local(|engine| {
        let start = add_talkative(
            engine,
            "start",
            "[ -e \"$home/go\" ] || exit 1\nexec sh -c \"$1\"\n",
        )?;
        let logs = add_talkative(engine, "logs", "sh -c \"$1\"\necho \"of $2\"\n")?;
        let remote = format!("remote = \"{ADDRESS}\"\n");
        let doctor = ["doctor", "--launcher", "local"];
        // Its words are printed as the reason; and a value that cannot stand in its word is.
        for start in [
            format!("{start} {{worker_start}}"),
            "sh -c 'exec {worker}'".to_owned(),
        ] {
            configure(engine, &format!("{remote}start = \"{start}\"\n"))?;
            require_address(&printed(engine, &[&doctor])?)?;
            printed(engine, &[&["doctor", "--launcher", "local", "--json"]])?;
        }
        configure(
            engine,
            &format!(
                "{remote}start = \"{start} {{worker_start}}\"\nlogs = \"{logs} {{worker_logs}} '{ADDRESS}'\"\n"
            ),
        )?;
        engine.open()?;
        engine
            .ground
            .omo(&["agent", "workers", "start"])?
            .exits_with(0)?;
        let is_refused = || {
            let known = engine.ground.state().ok()?.parallel?;
            known
                .groups
                .values()
                .all(|group| group.reason.is_some())
                .then_some(())
        };
        wait_until("a refusal of each worker", is_refused)?;
        let looks: [&[&str]; 4] = [
            &["run", "show"],
            &["run", "show", "--json"],
            &["report"],
            &["report", "--html"],
        ];
        printed(engine, &looks)?;
        // From now on workers are taken, and none of them reaches its remote.
        fs::write(engine.host.home().join("go"), "")?;
        let is_lost = || (engine.task("1").ok()?.lost_workers > 0).then_some(());
        wait_until("the loss of a worker", is_lost)?;
        require_address(&printed(engine, &[&["run", "logs", "1"]])?)?;
        printed(engine, &[&["run", "logs", "2"]])?;
        printed(engine, &looks)?;
        let (run, home) = (engine.ground.run()?, engine.ground.lab.home());
        let (state, events) = (run.state()?, run.events()?);
        let watched: Vec<_> = events
            .iter()
            .filter_map(|event| worker_event_line(&state, &event.kind))
            .collect();
        require_address(&watched.join("\n"))?;
        for folder in [
            run.folder().join("logs"),
            home.join(".local/state/omo/reports/project"),
        ] {
            for file in fs::read_dir(folder)?
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.is_file())
            {
                let text = String::from_utf8_lossy(&fs::read(&file)?).into_owned();
                ensure!(
                    !text.contains(PASSWORD),
                    "{} has the password: {text}",
                    file.display()
                );
            }
        }
        engine
            .ground
            .omo(&["run", "cancel"])?
            .exits_with(0)
            .map(drop)
    });
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn an_address_of_the_repository_tells_no_password() {
    on_local(|engine| {
        engine.ground.git(&["remote", "add", "away", ADDRESS])?;
        configure(engine, "")?;
        let doctor = ["doctor", "--launcher", "local", "--launcher-remote", "away"];
        let said = engine.ground.omo(&doctor)?;
        ensure!(
            !format!("{}{}", said.out, said.err).contains(PASSWORD),
            "{}\n{}",
            said.out,
            said.err
        );
        configure(engine, &format!("remote = \"ext::{ADDRESS}\"\n"))?;
        require_address(&printed(engine, &[&["doctor", "--launcher", "local"]])?)
    });
}
