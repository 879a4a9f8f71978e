//! A run on a screen of its own: keys, and what makes the screen go away.

use std::time::{Duration, Instant};

use omo_core::messages::notification::terminal_notification;
use omo_state::env;
use omo_view::run_view::{RunEnd, RunView};
use omo_view::screen::lines::{LastLine, screen_lines, sentence};

use crate::commands::report::html;
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::print_block;
use crate::parallel_workers::screen::print_workers;
use crate::watch::live_screen::{LiveScreen, UserInput, terminal_size, write_all};
use crate::watch::{LOOK_EVERY, RunKeeper, WatchRequest, WatchedRun, is_over, now_in, result, tell_page};

/// For so long a message stands in the place of the keys.
const MESSAGE_FOR: Duration = Duration::from_secs(5);
/// For so long it is asked whether the run is to be stopped, and before this a person has not read the question.
const ASK_FOR: Duration = Duration::from_secs(10);
const READ_FOR: Duration = Duration::from_millis(300);

/// Why the screen is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    /// Its user leaves, the time is over, or the run has ended.
    Done,
    /// Its user stops the run.
    StopRun,
    /// Something has this program end.
    Asked,
}

/// What the last line says at the moment.
enum LastLineState {
    Keys,
    /// Since when it is asked.
    AskToStop(Instant),
    Message(String, Instant),
}

impl LastLineState {
    fn message(text: String) -> Self {
        Self::Message(text, Instant::now() + MESSAGE_FOR)
    }

    fn shown(&self) -> LastLine<'_> {
        match self {
            Self::AskToStop(since) if since.elapsed() < ASK_FOR => LastLine::AskToStop,
            Self::Message(text, until) if Instant::now() < *until => LastLine::Message(text),
            Self::Keys | Self::AskToStop(_) | Self::Message(..) => LastLine::Keys,
        }
    }
}

/// Watches a run that has not ended.
pub(crate) fn watch_live(
    mut run: WatchedRun,
    request: &WatchRequest<'_>,
    keeper: &mut dyn RunKeeper,
) -> Result<(), CommandError> {
    let mut screen = LiveScreen::enter()?;
    let mut view = run.view(env::now());
    let (leaving, has_page) = show_until_left(&mut run, &mut view, &mut screen, request, keeper)?;
    if leaving != Leaving::Asked {
        screen.leave();
        keeper.close()?;
    }
    match leaving {
        Leaving::Asked => {
            screen.leave_and_end();
            result(&view)
        }
        Leaving::StopRun => {
            run.stop(&now_in(request.env), request.config)?;
            Err(CommandError::already_printed(ExitKind::NotGreen))
        }
        Leaving::Done => {
            if let WatchedRun::Plan(source) = &run
                && source.state().parallel.is_some()
            {
                print_workers(source.state())?;
            }
            print_block(&run.closing_text(&view))?;
            if view.ended_at.is_some() || has_page {
                tell_page(&run, request)?;
            }
            result(&view)
        }
    }
}

/// Shows the run until the screen is left; why, and whether a page of it was written meanwhile.
fn show_until_left(
    run: &mut WatchedRun,
    view: &mut RunView,
    screen: &mut LiveScreen,
    request: &WatchRequest<'_>,
    keeper: &mut dyn RunKeeper,
) -> Result<(Leaving, bool), CommandError> {
    let mut last = LastLineState::Keys;
    let mut has_page = false;
    let mut end = view.end;
    let mut look_at = Instant::now();
    loop {
        if Instant::now() >= look_at {
            run.refresh(view)?;
            keeper.keep_going()?;
            look_at = Instant::now() + LOOK_EVERY;
        }
        let now = env::now();
        if view.end != end && view.end != RunEnd::Running {
            notify(request, view)?;
        }
        end = view.end;
        if view.ended_at.is_some() || is_over(request.deadline) {
            return Ok((Leaving::Done, has_page));
        }
        let size = terminal_size();
        screen.show(&screen_lines(view, now, size, last.shown()), size)?;
        let key = match screen.wait(look_at.saturating_duration_since(Instant::now()))? {
            UserInput::Nothing => continue,
            UserInput::End => return Ok((Leaving::Asked, has_page)),
            UserInput::Key(key) => key,
        };
        last = match (&last, key) {
            // Keys that come with the one that asked are those of a pasted text.
            (LastLineState::AskToStop(since), _) if since.elapsed() < READ_FOR => continue,
            (LastLineState::AskToStop(since), 'y' | 'Y') if since.elapsed() < ASK_FOR => {
                return Ok((Leaving::StopRun, has_page));
            }
            (LastLineState::AskToStop(since), _) if since.elapsed() < ASK_FOR => {
                LastLineState::message("Not stopped.".to_owned())
            }
            (_, 'q' | 'Q') => return Ok((Leaving::Done, has_page)),
            (_, 's') => LastLineState::AskToStop(Instant::now()),
            (_, 'r' | 'o') => {
                screen.show(&screen_lines(view, now, size, LastLine::Message("Writing the page…")), size)?;
                let said = open_page(run, request);
                has_page = true;
                // A warning may have been written into the screen.
                screen.forget_shown();
                LastLineState::message(said)
            }
            (_, '\u{c}') => {
                screen.forget_shown();
                LastLineState::Keys
            }
            _ => LastLineState::Keys,
        };
    }
}

/// Tells that the run has ended, or waits for its user, once.
fn notify(request: &WatchRequest<'_>, view: &RunView) -> Result<(), CommandError> {
    let setting = request.config.notify;
    Ok(write_all(&terminal_notification(setting.bell, setting.desktop, &sentence(view)))?)
}

/// Writes the page of the run and shows it in the browser; says what came of it.
fn open_page(run: &WatchedRun, request: &WatchRequest<'_>) -> String {
    match run.write_page(request.env) {
        Err(error) => error.message().to_owned(),
        Ok(path) => match html::open_page(request.env, &path) {
            Ok(()) => "The page is open in the browser.".to_owned(),
            Err(error) => format!("{} cannot be opened: {error}", path.display()),
        },
    }
}
