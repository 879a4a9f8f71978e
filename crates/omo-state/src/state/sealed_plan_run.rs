//! Plan run of a session in its state entry, under a seal of its own, and typed arguments.
//!
//! The state is in the project, where a model may write. A plan run changes at other times than
//! what a verdict rests on (`seal`), so neither seal covers the other.

use std::path::Path;

use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::{PlanRun, TypedCommand};
use omo_core::timestamp::Timestamp;

use crate::files::folder::GuardedFolder;
use crate::seal::{KeyError, SealKey};
use crate::state::{self, EntryChange, StateError, StateUpdateOptions};

#[derive(Debug, thiserror::Error)]
pub enum PlanRunError {
    #[error(transparent)]
    State(#[from] StateError),
    /// Missing key, without which no hook believes a plan run.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// Writes the plan run of a session. Notes of hooks in it stay; without a change nothing is
/// written.
pub fn set(
    folder: &GuardedFolder,
    id: &SessionId,
    run: PlanRun,
    options: StateUpdateOptions<'_>,
) -> Result<(), PlanRunError> {
    let key = SealKey::load(options.state_home)?;
    state::update(folder, id, options, |session| {
        let before = session
            .plan_run
            .as_ref()
            .filter(|run| is_sealed(&key, id, run));
        let new = PlanRun {
            updated_at: Some(options.now),
            ..run.bounded().following(before)
        };
        if before.is_some_and(|before| before.has_same_content(&new)) {
            return ((), EntryChange::Keep);
        }
        session.plan_run = Some(with_seal(&key, id, new));
        ((), EntryChange::Write)
    })?;
    Ok(())
}

pub fn clear(
    folder: &GuardedFolder,
    id: &SessionId,
    run: &str,
    options: StateUpdateOptions<'_>,
) -> Result<(), StateError> {
    state::update(folder, id, options, |session| {
        let is_meant = session
            .plan_run
            .as_ref()
            .is_some_and(|known| known.id == run);
        if is_meant {
            session.plan_run = None;
        }
        (
            (),
            if is_meant {
                EntryChange::Write
            } else {
                EntryChange::Keep
            },
        )
    })?;
    Ok(())
}

/// Reads the plan run without the lock; `None` where omo did not write it.
pub fn read(
    root: &Path,
    id: &SessionId,
    state_home: Option<&Path>,
) -> Result<Option<PlanRun>, StateError> {
    let session = state::peek(root, id)?;
    Ok(session
        .as_ref()
        .and_then(|session| authentic_run(session, id, state_home))
        .cloned())
}

/// Plan run of an entry, if omo wrote it; the key is read only where there is one.
pub fn authentic_run<'a>(
    session: &'a Session,
    id: &SessionId,
    state_home: Option<&Path>,
) -> Option<&'a PlanRun> {
    let run = session.plan_run.as_ref()?;
    SealKey::load(state_home)
        .is_ok_and(|key| is_sealed(&key, id, run))
        .then_some(run)
}

/// Notes the last prompt's time; with `None` the model may not act for the user until the next.
pub fn note_prompt(
    session: &mut Session,
    id: &SessionId,
    state_home: Option<&Path>,
    prompt_at: Option<Timestamp>,
) -> EntryChange {
    let Some(run) = authentic_run(session, id, state_home).filter(|run| run.can_resume()) else {
        return EntryChange::Keep;
    };
    let Ok(key) = SealKey::load(state_home) else {
        return EntryChange::Keep;
    };
    session.plan_run = Some(with_seal(
        &key,
        id,
        PlanRun {
            prompt_at,
            ..run.clone()
        },
    ));
    EntryChange::Write
}

/// Takes, once, the outcome of omo's own plan run that the user was not told.
pub fn take_untold(
    session: &mut Session,
    id: &SessionId,
    state_home: Option<&Path>,
) -> Option<PlanRun> {
    let run = session.plan_run.as_ref().filter(|run| run.is_untold())?;
    let key = SealKey::load(state_home)
        .ok()
        .filter(|key| is_sealed(key, id, run))?;
    let told = with_seal(
        &key,
        id,
        PlanRun {
            is_untold: Some(false),
            ..run.clone()
        },
    );
    session.plan_run.replace(told)
}

/// Takes, once, the arguments that the user just typed behind the command `name`.
pub fn take_arguments(
    folder: &GuardedFolder,
    id: &SessionId,
    name: &str,
    options: StateUpdateOptions<'_>,
) -> Result<Option<String>, StateError> {
    let (arguments, _lock) = state::update(folder, id, options, |session| {
        match session
            .typed_command
            .take_if(|command| command.name == name)
        {
            Some(command) if command.is_recent(name, options.now) => {
                (Some(command.arguments), EntryChange::Write)
            }
            Some(_) => (None, EntryChange::Write),
            None => (None, EntryChange::Keep),
        }
    })?;
    Ok(arguments)
}

/// Keeps typed arguments in place of earlier ones; `None` keeps nothing.
pub fn keep_arguments(session: &mut Session, command: Option<TypedCommand>) -> EntryChange {
    if session.typed_command == command {
        return EntryChange::Keep;
    }
    session.typed_command = command;
    EntryChange::Write
}

fn with_seal(key: &SealKey, id: &SessionId, run: PlanRun) -> PlanRun {
    let seal = Some(key.mac(&sealed_bytes(id, &run)));
    PlanRun { seal, ..run }
}

fn is_sealed(key: &SealKey, id: &SessionId, run: &PlanRun) -> bool {
    run.seal
        .as_deref()
        .is_some_and(|seal| key.is_mac(&sealed_bytes(id, run), seal))
}

/// Bytes under the seal, with a prefix that nothing else under the key has.
fn sealed_bytes(id: &SessionId, run: &PlanRun) -> Vec<u8> {
    let content = (
        "omo plan run 1",
        id.as_str(),
        PlanRun {
            seal: None,
            ..run.clone()
        },
    );
    serde_json::to_vec(&content).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use omo_core::session::plan_run::ARGUMENTS_KEPT_MILLIS;

    use super::*;
    use crate::state::CorruptPolicy;

    struct Fixture {
        temp: tempfile::TempDir,
        folder: GuardedFolder,
        id: SessionId,
    }

    impl Fixture {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            let folder = GuardedFolder::create_state(temp.path()).unwrap();
            Self {
                temp,
                folder,
                id: SessionId::parse("a").unwrap(),
            }
        }

        fn options(&self, millis: i64) -> StateUpdateOptions<'_> {
            let now = Timestamp::from_millis(millis);
            StateUpdateOptions {
                deadline: Duration::from_secs(9),
                corrupt: CorruptPolicy::Refuse,
                now,
                state_home: Some(self.temp.path()),
            }
        }

        fn change(&self, change: impl FnOnce(&mut Session) -> EntryChange) {
            state::update(&self.folder, &self.id, self.options(5), |session| {
                ((), change(session))
            })
            .unwrap();
        }

        fn read(&self) -> Option<PlanRun> {
            read(self.temp.path(), &self.id, Some(self.temp.path())).unwrap()
        }

        fn file(&self) -> Option<Vec<u8>> {
            self.folder.read(state::FILE, state::MAX_BYTES).unwrap()
        }

        fn note(&self, millis: i64) {
            let at = Some(Timestamp::from_millis(millis));
            self.change(|session| note_prompt(session, &self.id, Some(self.temp.path()), at));
        }
    }

    fn run() -> PlanRun {
        PlanRun {
            id: "r-1".to_owned(),
            plan: "plan.md".to_owned(),
            total: 7,
            next: "omo agent next".to_owned(),
            ..PlanRun::default()
        }
    }

    #[test]
    fn a_run_is_read_as_it_was_written_with_the_prompt_that_came_meanwhile() {
        let place = Fixture::new();
        assert_eq!(place.read(), None);
        set(&place.folder, &place.id, run(), place.options(1)).unwrap();
        place.note(7);
        set(
            &place.folder,
            &place.id,
            PlanRun { passed: 1, ..run() },
            place.options(9),
        )
        .unwrap();
        let read = place.read().unwrap();
        assert_eq!(
            (read.passed, read.prompt_at),
            (1, Some(Timestamp::from_millis(7)))
        );
        let before = place.file();
        set(
            &place.folder,
            &place.id,
            PlanRun { passed: 1, ..run() },
            place.options(99),
        )
        .unwrap();
        assert_eq!(place.file(), before, "nothing new was said");
        clear(&place.folder, &place.id, "r-2", place.options(99)).unwrap();
        assert_eq!(place.file(), before, "another run is meant");
        clear(&place.folder, &place.id, "r-1", place.options(99)).unwrap();
        assert_eq!(place.read(), None);
    }

    #[test]
    fn what_something_else_wrote_is_no_run_and_a_prompt_does_not_make_it_one() {
        type Forgery = fn(&mut PlanRun);
        let table: [(&str, Forgery); 6] = [
            ("a count", |run| run.passed = 7),
            ("a prompt", |run| {
                run.prompt_at = Some(Timestamp::from_millis(9));
            }),
            ("an end", |run| run.ended = Some("complete".to_owned())),
            ("a question", |run| run.waits = Some("go on?".to_owned())),
            ("what is to be told", |run| run.is_untold = Some(true)),
            ("no seal", |run| run.seal = Some(String::new())),
        ];
        for (what, forge) in table {
            let place = Fixture::new();
            set(&place.folder, &place.id, run(), place.options(1)).unwrap();
            place.change(|session| {
                session.plan_run.as_mut().into_iter().for_each(forge);
                EntryChange::Write
            });
            assert_eq!(place.read(), None, "{what}");
            let before = place.file();
            place.note(7);
            assert_eq!(place.file(), before, "{what}");
            set(&place.folder, &place.id, run(), place.options(3)).unwrap();
            assert_eq!(
                place.read().unwrap().prompt_at,
                None,
                "{what}: nothing of it is taken over"
            );
        }
    }

    #[test]
    fn a_run_of_another_session_or_another_user_is_none() {
        let place = Fixture::new();
        set(&place.folder, &place.id, run(), place.options(1)).unwrap();
        let session = state::peek(place.temp.path(), &place.id).unwrap().unwrap();
        assert!(authentic_run(&session, &place.id, Some(place.temp.path())).is_some());
        assert!(
            authentic_run(
                &session,
                &SessionId::parse("b").unwrap(),
                Some(place.temp.path())
            )
            .is_none()
        );
        assert!(
            authentic_run(&session, &place.id, Some(&place.temp.path().join("other"))).is_none()
        );
        assert!(authentic_run(&session, &place.id, None).is_none());
    }

    #[test]
    fn the_seal_of_a_run_lends_nothing_to_what_a_verdict_rests_on() {
        let place = Fixture::new();
        let check = omo_core::check::session_check::Check::new(
            None,
            "true",
            omo_core::check::session_check::CheckOrigin::User,
        )
        .unwrap();
        let forged =
            serde_json::json!({"sessions": {"a": {"ulw": {"enabled": true}, "gates": [check]}}});
        place
            .folder
            .replace(state::FILE, forged.to_string().as_bytes())
            .unwrap();
        set(&place.folder, &place.id, run(), place.options(1)).unwrap();
        let session = state::peek(place.temp.path(), &place.id).unwrap().unwrap();
        assert!(authentic_run(&session, &place.id, Some(place.temp.path())).is_some());
        assert!(
            !SealKey::load(Some(place.temp.path()))
                .unwrap()
                .holds(&place.id, &session),
            "the checks are not omo's own"
        );
    }

    #[test]
    fn what_a_run_has_come_to_is_taken_once() {
        let place = Fixture::new();
        let take = || {
            let mut taken = None;
            place.change(|session| {
                taken = take_untold(session, &place.id, Some(place.temp.path()));
                if taken.is_some() {
                    EntryChange::Write
                } else {
                    EntryChange::Keep
                }
            });
            taken.and_then(|run| run.ended)
        };
        let ended = || PlanRun {
            ended: Some("complete".to_owned()),
            ..run()
        };
        set(&place.folder, &place.id, run(), place.options(1)).unwrap();
        assert_eq!(take(), None);
        set(&place.folder, &place.id, ended(), place.options(2)).unwrap();
        assert_eq!(take().as_deref(), Some("complete"));
        assert_eq!(
            (take(), place.read().unwrap().ended.as_deref()),
            (None, Some("complete"))
        );
        set(&place.folder, &place.id, ended(), place.options(3)).unwrap();
        assert_eq!(take(), None, "it was told");
        place.change(|session| {
            session.plan_run.as_mut().unwrap().is_untold = Some(true);
            EntryChange::Write
        });
        assert_eq!(take(), None, "something else wrote that");
    }

    #[test]
    fn an_ended_run_notes_no_prompt() {
        let place = Fixture::new();
        set(
            &place.folder,
            &place.id,
            PlanRun {
                ended: Some("complete".to_owned()),
                ..run()
            },
            place.options(1),
        )
        .unwrap();
        let before = place.file();
        place.note(7);
        assert_eq!(place.file(), before);
    }

    #[test]
    fn arguments_are_taken_once_by_their_own_command_and_while_they_are_new() {
        let place = Fixture::new();
        let take = |name: &str, millis: i64| {
            take_arguments(&place.folder, &place.id, name, place.options(millis)).unwrap()
        };
        let keep = || {
            let command =
                TypedCommand::to_keep("execute-plan", "a; b $(c)", Timestamp::from_millis(10));
            place.change(|session| keep_arguments(session, command));
        };
        assert_eq!(take("execute-plan", 10), None);
        keep();
        assert_eq!(take("other", 10), None);
        assert_eq!(take("execute-plan", 11).as_deref(), Some("a; b $(c)"));
        assert_eq!(take("execute-plan", 11), None, "they are there once");
        keep();
        assert_eq!(
            take("execute-plan", 11 + ARGUMENTS_KEPT_MILLIS),
            None,
            "too old"
        );
        assert_eq!(take("execute-plan", 11), None, "what is too old is gone");
    }
}
