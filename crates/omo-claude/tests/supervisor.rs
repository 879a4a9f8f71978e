//! Sessions under a supervisor, with a pretended client that ends in every way in which one can.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use omo_claude::client_end::{
    ClientEnd, ClientProcessEnd, FollowUp, LedgerFacts, SessionOutput, classify_end, follow_up,
};
use omo_claude::supervisor::minder::MinderSpec;
use omo_claude::supervisor::process_state::{self, ProcessIdentity, ProcessState};
use omo_claude::supervisor::{Supervisor, SupervisorEvent, claim_supervision, minder};
use omo_core::timestamp::Timestamp;
use omo_process::detached;
use omo_process::process_identity::is_alive;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::LockError;
use omo_testkit::main_tests;
use tempfile::TempDir;

/// Longer than anything here takes, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(60);
/// What makes this program a supervisor of the folder after it.
const SUPERVISE: &str = "--supervise";

const INIT: &str = r#"echo '{"type":"system","subtype":"init","session_id":"s"}'"#;
const DONE: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"session_id":"s","api_error_status":null,"result":"PASSED"}'"#;

fn main() -> ExitCode {
    minder::run_if_asked();
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == SUPERVISE) {
        supervise(&PathBuf::from(arguments.next().unwrap()));
        return ExitCode::SUCCESS;
    }
    let tests: Vec<(&str, fn())> = if cfg!(unix) {
        vec![
            (
                "every_ending_is_reported_and_none_is_a_pass",
                every_ending_is_reported_and_none_is_a_pass,
            ),
            (
                "the_prompt_comes_in_and_what_is_printed_is_kept",
                the_prompt_comes_in_and_what_is_printed_is_kept,
            ),
            (
                "no_more_run_at_a_time_than_may",
                no_more_run_at_a_time_than_may,
            ),
            (
                "one_that_is_no_longer_needed_is_interrupted_asked_and_then_ended",
                one_that_is_no_longer_needed_is_interrupted_asked_and_then_ended,
            ),
            (
                "what_is_not_the_client_is_asked_at_once_to_end",
                what_is_not_the_client_is_asked_at_once_to_end,
            ),
            ("nothing_outlives_a_session", nothing_outlives_a_session),
            (
                "a_second_supervisor_is_refused",
                a_second_supervisor_is_refused,
            ),
            (
                "a_supervisor_outlives_its_caller_and_its_death_ends_its_clients",
                a_supervisor_outlives_its_caller_and_its_death_ends_its_clients,
            ),
            (
                "two_clients_of_one_session_are_never_at_work_at_once",
                two_clients_of_one_session_are_never_at_work_at_once,
            ),
            (
                "what_a_dead_minder_leaves_is_ended",
                what_a_dead_minder_leaves_is_ended,
            ),
            (
                "what_is_left_is_found_and_another_process_is_not_touched",
                what_is_left_is_found,
            ),
        ]
    } else {
        Vec::new()
    };
    main_tests::run(tests)
}

/// A folder with everything of a few sessions.
struct SessionFiles(TempDir);

impl SessionFiles {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A session that is this script, which has the standard input of a client.
    fn spec(&self, group: &str, script: &str) -> MinderSpec {
        let prompt = self.path(&format!("{group}.prompt"));
        fs::write(&prompt, format!("work on {group}\n")).unwrap();
        MinderSpec {
            program: "/bin/sh".into(),
            arguments: ["-c", script].map(OsString::from).into(),
            folder: self.0.path().to_owned(),
            variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
            prompt,
            printed: self.path(&format!("{group}.jsonl")),
            complaints: self.path(&format!("{group}.log")),
            timeout_millis: 60_000,
            is_interrupted_first: true,
        }
    }

    /// The number that a session wrote, once it has.
    fn pid(&self, name: &str) -> u32 {
        let path = self.path(name);
        let read = || {
            fs::read_to_string(&path)
                .ok()?
                .strip_suffix('\n')?
                .parse()
                .ok()
        };
        omo_testkit::wait_until(&format!("{name} is written"), read).unwrap()
    }
}

fn wait_until_dead(pid: u32) {
    omo_testkit::wait_until(&format!("{pid} is dead"), || {
        (is_alive(pid) == Some(false)).then_some(())
    })
    .unwrap();
}

fn next(supervisor: &mut Supervisor) -> SupervisorEvent {
    supervisor.next_event(LIMIT).unwrap()
}

/// The next thing that happens is that one starts.
fn next_start(supervisor: &mut Supervisor) -> (String, ProcessIdentity) {
    let event = next(supervisor);
    let SupervisorEvent::Started { group, mark } = event else {
        unreachable!("{event:?}")
    };
    (group, mark)
}

/// The next end, whatever starts meanwhile.
fn next_end(supervisor: &mut Supervisor) -> (String, ClientProcessEnd, SessionOutput) {
    loop {
        if let SupervisorEvent::Ended {
            group,
            process,
            said,
        } = next(supervisor)
        {
            return (group, process, *said);
        }
    }
}

fn now() -> Timestamp {
    Timestamp::parse("2026-11-22T00:00:00Z").unwrap()
}

fn every_ending_is_reported_and_none_is_a_pass() {
    let result = |fields: &str, status: u8| {
        format!(
            r#"{INIT}; echo '{{"type":"result","is_error":true,"subtype":"success",{fields}}}'; exit {status}"#
        )
    };
    let limit = format!(
        r#"echo '{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{}}}}}'; {}"#,
        now().as_millis() / 1_000 + 3_600,
        result(
            r#""api_error_status":429,"api_error":"usage_limit_reached""#,
            1
        )
    );
    let until = Some(Timestamp::parse("2026-11-22T01:00:00Z").unwrap());
    let api = |status| ClientEnd::ApiError {
        status: Some(status),
        detail: "boom".to_owned(),
    };
    let garbage =
        |status| ClientEnd::Garbage(format!("it ended without a result (exit status {status})"));
    let holds = FollowUp::Hold("the session was killed");
    let asks = FollowUp::Ask("the session could not be started");
    let cases = [
        (
            "done",
            format!("{INIT}; {DONE}"),
            ClientEnd::Ended,
            FollowUp::Resume {
                session: "s".to_owned(),
            },
        ),
        (
            "limit",
            limit,
            ClientEnd::UsageLimit { until },
            FollowUp::WaitUntil(until),
        ),
        (
            "server",
            result(r#""api_error_status":500,"result":"boom""#, 1),
            api(500),
            FollowUp::HoldOrAsk("the API failed"),
        ),
        (
            "refused",
            result(r#""api_error_status":401,"result":"boom""#, 0),
            api(401),
            FollowUp::Ask("the API refused the session"),
        ),
        (
            "killed",
            format!("{INIT}; kill -9 $$"),
            ClientEnd::Killed { signal: Some(9) },
            holds.clone(),
        ),
        (
            "ended",
            format!("{INIT}; exit 143"),
            ClientEnd::Killed { signal: Some(15) },
            holds,
        ),
        (
            "hang",
            format!("{INIT}; sleep 600"),
            ClientEnd::TimedOut,
            FollowUp::FailAttempt("the session's time was up"),
        ),
        (
            "garbage",
            format!(
                "{INIT}; head -c 100000 /dev/urandom; echo PASSED; echo '{{\"type\":\"result\"'"
            ),
            garbage(0),
            FollowUp::FailAttempt("the session ended without a result"),
        ),
        (
            "silent",
            "exit 0".to_owned(),
            ClientEnd::NeverBegan("it ended before it began (exit status 0)".to_owned()),
            asks.clone(),
        ),
        (
            "old",
            "echo 'unknown option' >&2; exit 1".to_owned(),
            ClientEnd::NeverBegan("unknown option".to_owned()),
            asks,
        ),
    ];
    let place = SessionFiles::new();
    let mut supervisor = Supervisor::new(cases.len());
    for (group, script, ..) in &cases {
        let mut spec = place.spec(group, script);
        // Nothing but its end is waited for here, however long the machine takes to begin.
        spec.timeout_millis = if *group == "hang" {
            500
        } else {
            spec.timeout_millis
        };
        supervisor.add_session(group, spec);
    }
    let mut ends: BTreeMap<String, _> = BTreeMap::new();
    while !supervisor.is_idle() {
        let (group, process, said) = next_end(&mut supervisor);
        ends.insert(group, (process, said));
    }
    let left = LedgerFacts {
        tasks_left: 1,
        was_resumed: false,
    };
    for (group, _, end, follows) in cases {
        let (process, said) = ends.remove(group).unwrap();
        assert_eq!(classify_end(&process, &said, now()), end, "{group}");
        assert_eq!(follow_up(&end, &said, left), follows, "{group}");
    }
    let mut spec = place.spec("missing", "");
    spec.program = place.path("no-such-client");
    supervisor.add_session("missing", spec);
    let (_, process, said) = next_end(&mut supervisor);
    let end = classify_end(&process, &said, now());
    let says_which = |why: &str| why.contains("no-such-client cannot be started");
    assert!(
        matches!(&end, ClientEnd::NeverBegan(why) if says_which(why)),
        "{end:?}"
    );
}

fn the_prompt_comes_in_and_what_is_printed_is_kept() {
    let place = SessionFiles::new();
    let mut supervisor = Supervisor::new(1);
    supervisor.add_session(
        "one",
        place.spec(
            "one",
            r#"cat; pwd; echo "[$PATH][$HOME]"; echo first >&2; echo last >&2"#,
        ),
    );
    let (group, mark) = next_start(&mut supervisor);
    assert_eq!((group.as_str(), mark.pid > 0), ("one", true));
    let (_, process, _) = next_end(&mut supervisor);
    assert_eq!(
        (process.status, process.complaint.as_str()),
        (Some(0), "last")
    );
    let folder = place.0.path().canonicalize().unwrap();
    let expected = format!("work on one\n{}\n[/usr/bin:/bin][]\n", folder.display());
    assert_eq!(
        fs::read_to_string(place.path("one.jsonl")).unwrap(),
        expected
    );
}

fn no_more_run_at_a_time_than_may() {
    let place = SessionFiles::new();
    let mut supervisor = Supervisor::new(2);
    for group in ["a", "b", "c", "d", "e"] {
        supervisor.add_session(group, place.spec(group, "true"));
    }
    let (mut running, mut most, mut order) = (0, 0, Vec::new());
    while !supervisor.is_idle() {
        match next(&mut supervisor) {
            SupervisorEvent::Started { group, .. } => {
                running += 1;
                order.push(group);
            }
            SupervisorEvent::Ended { .. } => running -= 1,
        }
        most = most.max(running);
    }
    order.sort();
    assert!(most <= 2, "{most} ran at a time");
    assert_eq!(order, ["a", "b", "c", "d", "e"]);
}

fn one_that_is_no_longer_needed_is_interrupted_asked_and_then_ended() {
    let place = SessionFiles::new();
    let mut supervisor = Supervisor::new(2);
    let put_away = "trap 'echo interrupted > away' INT; trap 'echo asked >> away; exit 0' TERM; echo $$ > polite.pid; \
        while :; do sleep 0.01; done";
    supervisor.add_session("polite", place.spec("polite", put_away));
    supervisor.add_session(
        "deaf",
        place.spec(
            "deaf",
            "trap '' INT TERM; echo $$ > deaf.pid; while :; do sleep 0.01; done",
        ),
    );
    supervisor.add_session("waiting", place.spec("waiting", "echo $$ > waiting.pid"));
    assert!(matches!(
        next(&mut supervisor),
        SupervisorEvent::Started { .. }
    ));
    let (polite, deaf) = (place.pid("polite.pid"), place.pid("deaf.pid"));
    supervisor.end_session("waiting");
    supervisor.end_all_sessions();
    for _ in 0..2 {
        let (_, process, said) = next_end(&mut supervisor);
        assert_eq!(classify_end(&process, &said, now()), ClientEnd::Stopped);
    }
    assert!(supervisor.is_idle() && !place.path("waiting.pid").exists());
    assert_eq!(
        fs::read_to_string(place.path("away")).unwrap(),
        "interrupted\nasked\n"
    );
    wait_until_dead(polite);
    wait_until_dead(deaf);
}

fn what_is_not_the_client_is_asked_at_once_to_end() {
    let place = SessionFiles::new();
    let mut supervisor = Supervisor::new(1);
    let cleans_up = "trap 'echo cleaned > cleaned; exit 0' TERM; echo $$ > launcher.pid; while :; do sleep 0.01; done";
    let spec = MinderSpec {
        is_interrupted_first: false,
        ..place.spec("launcher", cleans_up)
    };
    supervisor.add_session("launcher", spec);
    next_start(&mut supervisor);
    place.pid("launcher.pid");
    supervisor.end_all_sessions();
    next_end(&mut supervisor);
    assert!(place.path("cleaned").exists());
}

fn nothing_outlives_a_session() {
    let place = SessionFiles::new();
    let mut supervisor = Supervisor::new(1);
    supervisor.add_session(
        "one",
        place.spec("one", "sleep 600 & echo $! > left.pid; exit 0"),
    );
    let (_, process, _) = next_end(&mut supervisor);
    assert_eq!(process.status, Some(0));
    wait_until_dead(place.pid("left.pid"));
    if cfg!(target_os = "linux") {
        // Out of the session's process group, and not its child any more.
        supervisor.add_session(
            "two",
            place
                .spec("two", "setsid sh -c 'echo $$ > away.pid; exec sleep 600' & while ! [ -s away.pid ]; do :; done"),
        );
        next_end(&mut supervisor);
        wait_until_dead(place.pid("away.pid"));
    }
}

fn a_second_supervisor_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let folder = GuardedFolder::create_state(temp.path()).unwrap();
    let held = claim_supervision(&folder).unwrap();
    assert!(matches!(
        claim_supervision(&folder),
        Err(LockError::Busy(_))
    ));
    drop(held);
    claim_supervision(&folder).unwrap();
}

/// What this program is as a detached supervisor.
fn supervise(path: &std::path::Path) {
    detached::leave_terminal().unwrap();
    let folder = GuardedFolder::create_state(path).unwrap();
    let Ok(_held) = claim_supervision(&folder) else {
        std::io::stderr()
            .write_all(b"another one supervises\n")
            .unwrap();
        return;
    };
    let text = fs::read(path.join("spec.json")).unwrap();
    let mut supervisor = Supervisor::new(1);
    supervisor.add_session("one", serde_json::from_slice(&text).unwrap());
    let (_, mark) = next_start(&mut supervisor);
    detached::report_ready(&format!(
        "{} {}",
        std::process::id(),
        serde_json::to_string(&mark).unwrap()
    ))
    .unwrap();
    while !supervisor.is_idle() {
        supervisor.next_event(LIMIT);
    }
}

fn a_supervisor_outlives_its_caller_and_its_death_ends_its_clients() {
    let place = SessionFiles::new();
    let spec = place.spec("one", "echo $$ > one.pid; exec sleep 600");
    fs::write(place.path("spec.json"), serde_json::to_vec(&spec).unwrap()).unwrap();
    let log = || File::create(place.path("supervisor.log")).unwrap();
    let arguments = [OsString::from(SUPERVISE), place.0.path().into()];
    let line = detached::start_detached(&arguments, place.0.path(), log()).unwrap();
    let (pid, mark) = line.split_once(' ').unwrap();
    let (pid, mark): (u32, ProcessIdentity) =
        (pid.parse().unwrap(), serde_json::from_str(mark).unwrap());
    let own = session_of(std::process::id());
    assert_eq!(
        (session_of(pid), is_alive(pid)),
        (pid.to_string(), Some(true))
    );
    assert_ne!(own, pid.to_string());
    assert_eq!(process_state::find_process(&mark), ProcessState::Running);
    // While it lives another one is refused, and says so.
    let error = detached::start_detached(&arguments, place.0.path(), log()).unwrap_err();
    assert!(error.to_string().contains("its log says why"), "{error}");
    assert_eq!(
        fs::read_to_string(place.path("supervisor.log")).unwrap(),
        "another one supervises\n"
    );
    kill(pid);
    wait_until_dead(mark.pid);
    wait_until_dead(place.pid("one.pid"));
}

fn session_of(pid: u32) -> String {
    let reported = Command::new("ps")
        .args(["-o", "sess=", "-p", &pid.to_string()])
        .output()
        .unwrap();
    String::from_utf8(reported.stdout)
        .unwrap()
        .trim()
        .to_owned()
}

fn kill(pid: u32) {
    assert!(
        Command::new("kill")
            .args(["-9", &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

fn two_clients_of_one_session_are_never_at_work_at_once() {
    let place = SessionFiles::new();
    // It takes its time to put its things away.
    let script = "[ -e at.work ] && echo both > both; echo $$ > at.work\n\
        trap 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; rm at.work; exit 0' INT\n\
        while :; do sleep 0.01; done";
    let mut first = Supervisor::new(1);
    first.add_session("one", place.spec("one", script));
    next_start(&mut first);
    let earlier = place.pid("at.work");
    // As when it was killed before its start was recorded.
    drop(first);
    let mut second = Supervisor::new(1);
    second.add_session("one", place.spec("one", script));
    next_start(&mut second);
    assert_eq!(is_alive(earlier), Some(false));
    second.end_all_sessions();
    next_end(&mut second);
    assert!(!place.path("both").exists());
}

fn what_a_dead_minder_leaves_is_ended() {
    let place = SessionFiles::new();
    let mut supervisor = Supervisor::new(1);
    supervisor.add_session(
        "one",
        place.spec("one", "echo $PPID > minder.pid; exec sleep 600"),
    );
    let (_, mark) = next_start(&mut supervisor);
    kill(place.pid("minder.pid"));
    let (_, process, said) = next_end(&mut supervisor);
    assert_eq!(
        classify_end(&process, &said, now()),
        ClientEnd::Killed { signal: Some(9) }
    );
    if mark.start.is_some() {
        assert_eq!(process_state::find_process(&mark), ProcessState::Ended);
    }
    // Where it cannot be told from another process it is left alone, and a test leaves nothing.
    if process_state::find_process(&mark) == ProcessState::Unknown {
        kill(mark.pid);
    }
}

fn what_is_left_is_found() {
    let mut child = Command::new("/bin/cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let start = omo_process::process_identity::start_mark(child.id());
    let earlier = ProcessIdentity {
        pid: child.id(),
        start: start.as_ref().map(|start| format!("{start}1")),
    };
    let expected = if start.is_some() {
        ProcessState::Ended
    } else {
        ProcessState::Unknown
    };
    assert_eq!(
        (
            process_state::find_process(&earlier),
            process_state::end_process(&earlier)
        ),
        (expected, expected)
    );
    assert_eq!(is_alive(child.id()), Some(true));
    drop(child.stdin.take());
    let mut printed = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut printed)
        .unwrap();
    child.wait().unwrap();
    assert_eq!(
        process_state::find_process(&ProcessIdentity {
            pid: child.id(),
            start
        }),
        ProcessState::Ended
    );
}
