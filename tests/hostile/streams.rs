//! Streams that do not behave, and a system that gives little: open, endless, huge or odd stdin, a stdout that no
//! process reads, few files, little memory, no space.

use omo_tests::all_good;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::ChildStdin;
use std::thread;

use anyhow::{Context, Result, ensure};
use omo_core::events::EVENTS;
use omo_tests::scene::{Scene, plugin};
use serde_json::json;

use crate::hostile_calls::{
    Ask, END, FAILURE, PROMPT, START, STATUS, STOP, STOP_ALL, SUBAGENT, ULW,
};
use crate::program_run::{Call, Run, Stdin};

/// Cases that are played at once: most of them wait.
const AT_ONCE: usize = 12;

/// Plays every case on an armed scene of its own, and names those that went wrong.
fn play<T: Sync>(
    plugin: &Path,
    cases: &[(String, T)],
    case: impl Fn(&mut Scene, &T) -> Result<()> + Sync,
) {
    let played = |value: &T| -> Result<()> {
        let mut scene = Scene::new(plugin)?;
        scene.arm()?;
        case(&mut scene, value)
    };
    all_good(cases.chunks(AT_ONCE).flat_map(|cases| {
        thread::scope(|scope| {
            let started: Vec<_> = cases
                .iter()
                .map(|(name, value)| (name, scope.spawn(|| played(value))))
                .collect();
            let ended = |(name, thread): (&String, thread::ScopedJoinHandle<'_, Result<()>>)| {
                (
                    name.clone(),
                    thread.join().unwrap_or_else(|_| anyhow::bail!("a panic")),
                )
            };
            started.into_iter().map(ended).collect::<Vec<_>>()
        })
    }));
}

/// Writes a piece again and again until the reader closes the pipe, or `times` are up.
fn again_and_again(stdin: &mut ChildStdin, head: &[u8], piece: &[u8], times: usize) {
    let chunk = piece.repeat(64 * 1024 / piece.len().max(1));
    let mut alive = stdin.write_all(head).is_ok();
    for _ in 0..times.min(if chunk.is_empty() { 0 } else { usize::MAX }) {
        alive = alive && stdin.write_all(&chunk).is_ok();
        if !alive {
            return;
        }
    }
}

/// Nothing is said, and the state is the same bytes.
fn lets_be(scene: &Scene, call: Call) -> Result<()> {
    let before = fs::read(scene.state_file())?;
    let run = call.run(scene)?;
    run.require_sound()?;
    run.require_silent()?;
    ensure!(
        fs::read(scene.state_file())? == before,
        "the state was written"
    );
    Ok(())
}

#[test]
fn an_input_is_answered_while_stdin_stays_open_however_it_comes() {
    let plugin = plugin();
    let pieces = [
        ("whole", usize::MAX),
        ("a byte at a time", 1),
        ("odd pieces", 4_097),
        ("64 KiB", 65_536),
    ];
    let cases: Vec<(String, (usize, usize))> = pieces
        .iter()
        .flat_map(|(name, size)| {
            [0, 100_000].map(|filler| (format!("{filler} bytes, {name}"), (*size, filler)))
        })
        .collect();
    play(&plugin, &cases, |scene, (size, filler)| {
        let (size, message) = (*size, "x}]\"\\ ".repeat(filler / 6));
        let input = scene.stop_input(&json!({"last_assistant_message": message}))?;
        let feed = move |stdin: &mut ChildStdin| {
            for piece in input.as_bytes().chunks(size.min(input.len())) {
                stdin.write_all(piece).ok();
            }
        };
        let run = Call::hook_with_stdin("omo-stop", Stdin::Fed(Box::new(feed))).run(scene)?;
        run.require_sound()?;
        ensure!(
            run.blocks() && scene.blocks_counted()? == 1,
            "{}",
            run.stdout
        );
        Ok(())
    });
}

#[test]
fn of_several_values_the_first_one_counts() {
    let plugin = plugin();
    let cases =
        ["", "\n", " \u{feff}", "}", "]]", "\0"].map(|between| (format!("{between:?}"), between));
    play(&plugin, &cases, |scene, between| {
        let input = scene.stop_input(&json!({}))?;
        let run = Call::hook(
            "omo-stop",
            &format!("{input}{between}{input}{between}garbage"),
        )
        .run(scene)?;
        run.require_sound()?;
        ensure!(
            run.blocks() && scene.blocks_counted()? == 1,
            "{}",
            run.stdout
        );
        Ok(())
    });
}

#[test]
fn an_input_that_never_becomes_one_is_given_up_in_silence() {
    let plugin = plugin();
    let endless: [(&str, &'static [u8], &'static [u8]); 6] = [
        ("nothing at all", b"", b""),
        ("half an object", b"{\"session_id\":\"a\",", b""),
        ("garbage without end", b"", b"garbage without end \x00\xff"),
        (
            "an open text without end",
            b"{\"prompt\":\"",
            b"ulw ulw ulw ulw",
        ),
        ("depth without end", b"", b"[[[[{\"a\":[[[["),
        ("blanks without end", b"", b" "),
    ];
    let cases: Vec<_> = EVENTS
        .iter()
        .map(|row| row.program)
        .flat_map(|hook| {
            endless.map(|(name, head, rest)| (format!("{hook}: {name}"), (hook, head, rest)))
        })
        .collect();
    play(&plugin, &cases, |scene, &(hook, head, rest)| {
        let feed = move |stdin: &mut ChildStdin| again_and_again(stdin, head, rest, usize::MAX);
        lets_be(
            scene,
            Call::hook_with_stdin(hook, Stdin::Fed(Box::new(feed))),
        )
    });
}

/// The input of an event up to the beginning of its last field, a text of any length.
fn up_to(scene: &Scene, event: &str, field: &str) -> Result<String> {
    let input = scene.input(
        event,
        &scene.stop_fields(&json!({"last_assistant_message": null})),
        &json!({}),
    )?;
    Ok(format!(
        "{},\"{field}\":\"ulw ",
        input.strip_suffix('}').context("no object")?
    ))
}

#[test]
fn an_input_of_64_mib_is_let_be_and_takes_little_memory() {
    let plugin = plugin();
    let pieces: [&'static [u8]; 4] = [b"ulw fix it ", b"ulw\\n", b"\\ud83d", "울트라 ".as_bytes()];
    let events = [
        ("omo-user-prompt-submit", "UserPromptSubmit", "prompt"),
        ("omo-stop", "Stop", "last_assistant_message"),
        (
            "omo-subagent-stop",
            "SubagentStop",
            "last_assistant_message",
        ),
    ];
    let cases: Vec<_> = events
        .iter()
        .flat_map(|event| {
            pieces.map(|piece| {
                (
                    format!("{}, {:?}", event.0, String::from_utf8_lossy(piece)),
                    (event, piece),
                )
            })
        })
        .collect();
    play(&plugin, &cases, |scene, &(&(hook, event, field), piece)| {
        let head = up_to(scene, event, field)?;
        let feed = move |stdin: &mut ChildStdin| {
            again_and_again(stdin, head.as_bytes(), piece, 1_024);
            stdin.write_all(b"\"}").ok();
        };
        lets_be(
            scene,
            Call::hook_with_stdin(hook, Stdin::Fed(Box::new(feed))),
        )
    });
}

/// Nearly as much as a hook reads.
const LONG: usize = 3_900_000;

#[test]
fn a_long_message_is_read_within_the_memory() {
    let plugin = plugin();
    let pieces = [
        "x y ",
        "x\n",
        "\"",
        "<promise>",
        "`x` ",
        "> x\n",
        "울트라 ",
        "\u{0}",
    ];
    let cases = pieces.map(|piece| (format!("{piece:?}"), piece));
    play(&plugin, &cases, |scene, piece| {
        let written = json!(piece).to_string().len() - 2;
        let message = piece.repeat(LONG / written);
        let run = Call::hook(
            "omo-stop",
            &scene.stop_input(&json!({"last_assistant_message": message}))?,
        )
        .run(scene)?;
        run.require_sound()?;
        ensure!(
            run.blocks() && scene.blocks_counted()? == 1,
            "{}",
            run.stdout
        );
        Ok(())
    });
}

#[test]
fn a_stdin_that_is_no_pipe_is_silence_or_a_whole_answer() {
    let plugin = plugin();
    let setups = [
        "exec <&-",
        "exec </dev/null",
        "exec </",
        "exec </dev/zero",
        "exec </dev/full",
        "exec <&- >&- 2>&-",
    ];
    let cases: Vec<_> = EVENTS
        .iter()
        .flat_map(|row| {
            setups.map(|setup| (format!("{}, {setup}", row.program), (row.program, setup)))
        })
        .collect();
    play(&plugin, &cases, |scene, &(hook, setup)| {
        lets_be(scene, Call::hook(hook, "").after(setup))
    });
    // A terminal at which no user types; and a file, as any pipe.
    let hooks = EVENTS.map(|row| (row.program.to_owned(), row.program));
    play(&plugin, &hooks, |scene, hook| {
        let (_master, terminal) = terminal()?;
        lets_be(
            scene,
            Call::hook_with_stdin(hook, Stdin::Is(terminal.into())),
        )
    });
    play(&plugin, &[("a file".to_owned(), ())], |scene, ()| {
        let path = scene.lab.root().join("input");
        fs::write(&path, scene.stop_input(&json!({}))?)?;
        let run =
            Call::hook_with_stdin("omo-stop", Stdin::Is(File::open(path)?.into())).run(scene)?;
        run.require_sound()?;
        ensure!(run.blocks(), "{}", run.stdout);
        Ok(())
    });
}

/// A terminal, and the end at which a person would sit.
fn terminal() -> Result<(std::os::fd::OwnedFd, File)> {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let terminal = OpenOptions::new().read(true).open(name.to_str()?)?;
    Ok((master, terminal))
}

/// A pipe that takes only so many bytes more before it is read.
fn full_pipe(free: usize) -> Result<(std::io::PipeReader, std::io::PipeWriter, usize)> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let (reader, writer) = std::io::pipe()?;
    let size = rustix::pipe::fcntl_getpipe_size(&writer)?;
    let flags = fcntl_getfl(&writer)?;
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK)?;
    let written = size - free;
    (&writer).write_all(&vec![b'-'; written])?;
    fcntl_setfl(&writer, flags)?;
    Ok((reader, writer, written))
}

#[test]
fn a_stdout_that_takes_nothing_gets_no_half_answer_and_ends_no_hook_badly() {
    let plugin = plugin();
    let asks = [STOP, ULW, START];
    let setups = [
        "exec >&-",
        "exec >/dev/full",
        "exec >&- 2>&-",
        "exec 2>&-",
        "exec 2>/dev/full",
    ];
    let cases: Vec<_> = asks
        .iter()
        .flat_map(|ask| setups.map(|setup| (format!("{}, {setup}", ask.name), (ask, setup))))
        .collect();
    play(&plugin, &cases, |scene, &(ask, setup)| {
        ask.run_after(scene, setup).map(drop)
    });
    // In a pipe of 64 KiB a page stays free, or only a part of one: a process that reads it later must not find the
    // beginning of an answer there.
    let pipes: Vec<_> = [0, 100]
        .iter()
        .flat_map(|free| {
            asks.iter()
                .map(move |ask| (format!("{} with {free} bytes free", ask.name), (ask, *free)))
        })
        .collect();
    play(&plugin, &pipes, |scene, &(ask, free)| {
        let (mut reader, writer, written) = full_pipe(free)?;
        let run = Call {
            stdout: Some(writer.into()),
            ..ask.to_program_call(scene)?
        }
        .run(scene)?;
        run.require_sound()?;
        let mut left = Vec::new();
        reader.read_to_end(&mut left)?;
        let said = String::from_utf8_lossy(left.get(written..).unwrap_or_default()).into_owned();
        ensure!(said.is_empty(), "half an answer: {said:?}");
        Ok(())
    });
}

#[test]
fn a_client_that_is_gone_is_no_error() {
    let plugin = plugin();
    let cases = [STOP, ULW, START, STATUS, STOP_ALL].map(|ask| (ask.name.to_owned(), ask));
    play(&plugin, &cases, |scene, ask| {
        let (reader, writer) = std::io::pipe()?;
        drop(reader);
        let run = Call {
            stdout: Some(writer.into()),
            ..ask.to_program_call(scene)?
        }
        .run(scene)?;
        run.require_sound()
    });
}

/// Whatever a limit cuts off: a block is counted, the state is the old one or a new one, no
/// temporary file is left, and without the limit all is well again.
fn within_a_limit(scene: &mut Scene, ask: &Ask, setup: &str) -> Result<Run> {
    let run = ask.run_after(scene, setup)?;
    ensure!(scene.lab.state().is_some(), "no state that parses");
    ensure!(
        !scene
            .state_file_names()
            .iter()
            .any(|name| name.contains(".tmp")),
        "{:?}",
        scene.state_file_names()
    );
    scene.prompt("ulw once more")?;
    ensure!(STOP.run(scene)?.blocks(), "not held any more");
    Ok(run)
}

#[test]
#[ignore = "needs the built plugin and the release build: cargo xtask test"]
fn few_files_little_memory_and_no_space_end_no_hook_badly() {
    let plugin = plugin();
    let few_files = (3..=8).map(|files| format!("ulimit -n {files}"));
    let little_space = ["ulimit -f 0", "ulimit -f 1", "ulimit -s 256"].map(str::to_owned);
    let asks = [
        STOP, PROMPT, ULW, START, SUBAGENT, FAILURE, END, STATUS, STOP_ALL,
    ];
    for setup in few_files.chain(little_space) {
        play_within(&plugin, &asks.each_ref().map(|ask| (ask, setup.clone())));
    }
    // What a program itself takes is a part of its memory.
    let little_memory = |ask: &Ask| format!("ulimit -v {}", ask.program_kib(&plugin) + 4_000);
    play_within(
        &plugin,
        &asks.each_ref().map(|ask| (ask, little_memory(ask))),
    );
}

fn play_within(plugin: &Path, limited: &[(&Ask, String)]) {
    let name = |(ask, setup): &(&Ask, String)| format!("{}, {setup}", ask.name);
    let cases: Vec<_> = limited.iter().map(|case| (name(case), case)).collect();
    play(plugin, &cases, |scene, (ask, setup)| {
        within_a_limit(scene, ask, setup).map(drop)
    });
}

#[test]
fn without_space_a_block_is_not_given_and_a_command_says_why() {
    let plugin = plugin();
    let cases = ["ulimit -f 0", "ulimit -f 1", "trap '' XFSZ; ulimit -f 0"]
        .map(|setup| (setup.to_owned(), setup));
    play(&plugin, &cases, |scene, setup| {
        let before = fs::read(scene.state_file())?;
        ensure!(
            before.len() > 600,
            "the state must be longer than what may be written of it"
        );
        STOP.run_after(scene, setup)?.require_silent()?;
        let reported = STOP_ALL.run_after(scene, setup)?;
        ensure!(
            reported.status == 9 && reported.stderr.contains("runtime.local.json"),
            "{}",
            reported.stderr
        );
        ensure!(
            fs::read(scene.state_file())? == before,
            "the state was written"
        );
        Ok(())
    });
}

/// Where even a large input meets little memory, the hook gives up instead of falling.
#[test]
#[ignore = "needs the built plugin and the release build: cargo xtask test"]
fn a_large_input_in_little_memory_is_let_be() {
    let plugin = plugin();
    // What the program itself takes is a part of it.
    let program = fs::metadata(plugin.join("bin/omo-stop")).unwrap().len() / 1024;
    let cases = [0, 1_000, 2_500]
        .map(|more| format!("ulimit -v {}", program + more))
        .map(|setup| (setup.clone(), setup));
    play(&plugin, &cases, |scene, setup| {
        let input = scene.stop_input(&json!({"last_assistant_message": "x".repeat(4_100_000)}))?;
        lets_be(scene, Call::hook("omo-stop", &input).after(setup))
    });
}
