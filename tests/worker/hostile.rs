//! What is not meant for a worker, and what is too much for it.

use anyhow::{Result, ensure};
use omo_testkit::wait_until;

use crate::two_machines::{BRANCH, TwoMachines};

#[test]
fn another_brief_than_the_named_one_is_not_followed() -> Result<()> {
    let machines = TwoMachines::new("touch \"$HOME/started\"; echo 1 >a; commit 1")?;
    let named = machines.push_brief(&machines.brief(&["1"]))?;
    let mut other = machines.brief(&["1"]);
    other.setup = Some("touch \"$HOME/started\"".to_owned());
    machines.push_brief(&other)?;
    ensure!(machines.run(&named, &[])?.status == 10);
    ensure!(
        machines.there(&format!("{BRANCH}.report"))?.is_empty() && machines.subjects()?.is_empty()
    );
    ensure!(!machines.lab.home().join("started").exists());
    // None at all, no branch, and no repository.
    machines.git(&[
        "push",
        "-q",
        &machines.remote(),
        &format!(":{BRANCH}.brief"),
    ])?;
    ensure!(machines.run(&named, &[])?.status == 3);
    std::fs::rename(machines.hub(), machines.path("away"))?;
    let said = machines.run(&named, &[])?;
    ensure!(said.status == 9, "{said:?}");
    machines.require_tidy()
}

#[test]
fn a_brief_that_is_none_is_refused_with_its_reason() -> Result<()> {
    let machines = TwoMachines::new("touch \"$HOME/started\"")?;
    let huge = format!("{{\"version\":1,\"run\":\"{}\"}}", "x".repeat(5 << 20));
    for text in ["", "[1]", "{\"version\":1}", &huge] {
        let brief = machines.push_text(text)?;
        let said = machines.run(&brief, &[])?;
        ensure!(said.status == 5, "{} bytes: {said:?}", text.len());
        ensure!(said.out.len() < 4_000, "{}", said.out.len());
    }
    ensure!(!machines.lab.home().join("started").exists());
    machines.require_tidy()
}

#[test]
fn words_that_are_no_names_are_refused_before_anything_is_done() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let brief = "0".repeat(40);
    let good = [machines.remote(), BRANCH.to_owned(), brief, "a".to_owned()];
    let long = "a".repeat(101);
    for (place, word) in [
        (0, "ext::sh -c touch% started"),
        (0, "--upload-pack=touch started"),
        (0, "../hub.git"),
        (0, "a\nb:"),
        (1, "-x"),
        (1, "a b"),
        (1, "../x"),
        (1, "a*"),
        (1, "$(touch started)"),
        (2, "HEAD"),
        (2, "--all"),
        (3, "../x"),
        (3, "a b"),
        (3, ""),
        (3, "\u{1b}[2J"),
        (3, &long),
    ] {
        let mut words = good.clone();
        if let Some(known) = words.get_mut(place) {
            word.clone_into(known);
        }
        let options = ["remote", "branch", "brief", "name"].iter().zip(&words);
        let mut command = machines.command(&["worker"]);
        command.args(options.map(|(option, word)| format!("--{option}={word}")));
        let scratch = machines.path("scratch");
        command.arg("--scratch").arg(&scratch);
        let output = command.output()?;
        ensure!(output.status.code() == Some(2), "{word:?}: {output:?}");
        ensure!(!scratch.exists(), "{word:?}");
        ensure!(!output.stderr.contains(&0x1b), "{word:?}: {output:?}");
    }
    Ok(())
}

#[test]
fn much_output_and_an_address_with_a_password_show_nowhere() -> Result<()> {
    let machines = TwoMachines::new("")?;
    machines.set_client("head -c 10000000 /dev/zero | tr '\\0' x >&3; echo >&3; head -c 10000000 /dev/zero | tr '\\0' y >&2; echo 1 >a; commit 1")?;
    let brief = machines.push_brief(&machines.brief(&["1"]))?;
    let said = machines.run(&brief, &[])?;
    ensure!(
        said.status == 0 && said.out.len() + said.err.len() < 4_000,
        "{:?}",
        said.status
    );
    // Nothing listens there.
    let mut command = machines.command(&[
        "worker", "--branch", BRANCH, "--brief", &brief, "--name", "a",
    ]);
    command
        .arg("--remote=http://me:s3cr3t@127.0.0.1:1/x.git")
        .arg("--scratch")
        .arg(machines.path("scratch"));
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()?;
    let scratch = machines.path("scratch").display().to_string();
    let logs = || {
        machines
            .command(&["worker", "logs", "a", "--scratch", &scratch])
            .output()
    };
    let is_fetching = || {
        logs()
            .is_ok_and(|log| {
                String::from_utf8_lossy(&log.stdout).contains("http://127.0.0.1:1/x.git")
            })
            .then_some(())
    };
    wait_until("the first line of the log", is_fetching)?;
    crate::two_machines::signal(&child, rustix::process::Signal::TERM)?;
    ensure!(child.wait()?.code() == Some(1));
    let output = child.wait_with_output()?;
    for text in [output.stdout, output.stderr, logs()?.stdout] {
        let text = String::from_utf8_lossy(&text).into_owned();
        ensure!(!text.contains("s3cr3t"), "{text}");
    }
    machines.require_tidy()
}

#[test]
fn the_client_stands_behind_the_fence() -> Result<()> {
    let machines = TwoMachines::new("")?;
    let (words, answers) = (machines.path("words"), machines.path("answers"));
    machines.set_client(&format!(
        r#"printf '%s\n' "$@" >'{}'
           while [ $# -gt 0 ]; do [ "$1" = --settings ] && settings="$2"; shift; done
           rules="$(sed -n 's/.*"\(.*fence[.]json\)".*/\1/p' "$settings" | head -n 1)"
           ask() {{
             printf '{{"tool_name":"Write","tool_input":{{"file_path":"%s"}},"cwd":"%s"}}' "$1" "$PWD" |
               omo agent fence --rules "$rules" | grep -q deny && echo "denied $2" || echo "allowed $2"
           }}
           {{ ask "$PWD/new" inside; ask "$TMPDIR/new" temporary; ask "$rules" rules; ask "$HOME/new" home
              ask "$PWD/kept/x" never; ask "$PWD/.git/config" git; }} >'{}'
           echo 1 >a; commit 1"#,
        words.display(),
        answers.display()
    ))?;
    let brief = machines.brief(&["1"]);
    let brief = omo_remote::exchange::WorkerBrief {
        skips_permissions: false,
        allow: vec!["Bash(make:*)".to_owned()],
        never_touch: vec!["kept/**".to_owned()],
        model: Some("opus".to_owned()),
        budget_micros: Some(2_500_000),
        ..brief
    };
    let brief = machines.push_brief(&brief)?;
    ensure!(
        machines.run(&brief, &[])?.status == 0,
        "{:?}",
        machines.report()
    );
    let answers = std::fs::read_to_string(answers)?;
    let expected =
        "allowed inside\nallowed temporary\ndenied rules\ndenied home\ndenied never\ndenied git\n";
    ensure!(answers == expected, "{answers}");
    let words = std::fs::read_to_string(words)?.replace('\n', " ");
    let rules = "Bash(git add:*) Bash(git commit:*) Bash(git rm:*) Bash(git mv:*) Bash(make:*) ";
    let rules = format!("--permission-mode acceptEdits --allowedTools {rules}");
    for part in ["--max-budget-usd 2.5", "--model opus", &rules] {
        ensure!(words.contains(part), "{part}: {words}");
    }
    ensure!(
        !words.contains("omo agent") && !words.contains("dangerously"),
        "{words}"
    );
    machines.require_tidy()
}
