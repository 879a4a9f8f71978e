//! `watch_live`: draws a run on the screen, and handles keys until the run ends or its user leaves.

use std::time::{Duration, Instant};

use omo_core::messages::notification::terminal_notification;
use omo_state::env;
use omo_view::run_view::{RunEnd, RunView};
use omo_view::screen::lines::{LastLine, screen_lines, sentence};

use crate::commands::run::cancel::{self, RunCancelOptions};
use crate::commands::stop::{self, StopOptions};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::page_file::open_page;
use crate::parallel_workers::keeper::WorkerKeeper;
use crate::parallel_workers::screen::print_workers;
use crate::run_arguments::RunOptions;
use crate::run_reader::{RunReader, now_in};
use crate::watch::live_screen::{LiveScreen, UserInput, terminal_size, write_all};
use crate::watch::run_loop::{RunDisplay, show_until_end};
use crate::watch::{WatchRequest, print_end, result};

const MESSAGE_FOR: Duration = Duration::from_secs(5);
const ASK_FOR: Duration = Duration::from_secs(10);
const READ_FOR: Duration = Duration::from_millis(300);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    Done,
    StopRun,
    Asked,
}

enum LastLineState {
    Keys,
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

pub(crate) fn watch_live(
    mut run: RunReader<'_>,
    request: &WatchRequest<'_>,
    keeper: Option<WorkerKeeper<'_>>,
) -> Result<(), CommandError> {
    let mut shown = ScreenDisplay {
        screen: LiveScreen::enter()?,
        view: RunView::default(),
        end: None,
        last: LastLineState::Keys,
        request,
        keeper,
        leaving: None,
        has_page: false,
    };
    show_until_end(&mut run, &mut shown, &request.pace())?;
    let ScreenDisplay {
        mut screen,
        view,
        keeper,
        leaving,
        has_page,
        ..
    } = shown;
    if leaving == Some(Leaving::Asked) {
        screen.leave_and_end();
        return result(&view);
    }
    screen.leave();
    if let (Some(keeper), Some(plan)) = (keeper, run.source.plan()) {
        keeper.close(&plan.run.state()?)?;
    }
    if leaving == Some(Leaving::StopRun) {
        stop_run(&run, request)?;
        return Err(CommandError::already_printed(ExitKind::NotGreen));
    }
    if let Some(plan) = run
        .source
        .plan()
        .filter(|plan| plan.state.parallel.is_some())
    {
        print_workers(&plan.state)?;
    }
    print_end(&run, &view, has_page)
}

struct ScreenDisplay<'a> {
    screen: LiveScreen,
    view: RunView,
    end: Option<RunEnd>,
    last: LastLineState,
    request: &'a WatchRequest<'a>,
    keeper: Option<WorkerKeeper<'a>>,
    leaving: Option<Leaving>,
    has_page: bool,
}

impl ScreenDisplay<'_> {
    fn draw(&mut self, last: Option<LastLine<'_>>) -> Result<(), CommandError> {
        let (size, last) = (terminal_size(), last.unwrap_or_else(|| self.last.shown()));
        Ok(self
            .screen
            .show(&screen_lines(&self.view, env::now(), size, last), size)?)
    }

    fn open_page(&self, run: &RunReader<'_>) -> String {
        match run.keep_page() {
            Err(error) => error.message().to_owned(),
            Ok(path) => match open_page(self.request.env, &path) {
                Ok(()) => "The page is open in the browser.".to_owned(),
                Err(error) => format!("{} cannot be opened: {error}", path.display()),
            },
        }
    }
}

impl RunDisplay for ScreenDisplay<'_> {
    fn show(&mut self, run: &RunReader<'_>, has_changed: bool) -> Result<bool, CommandError> {
        if self.leaving.is_some() {
            return Ok(false);
        }
        run.update_view(&mut self.view, has_changed);
        if let (Some(keeper), Some(plan)) = (&mut self.keeper, run.source.plan()) {
            keeper.keep_going(&plan.state)?;
        }
        let end = self.view.end;
        if self.end.replace(end).is_some_and(|before| before != end) && end != RunEnd::Running {
            let setting = self.request.config.notify;
            write_all(&terminal_notification(
                setting.bell,
                setting.desktop,
                &sentence(&self.view),
            ))?;
        }
        if self.view.ended_at.is_some() {
            return Ok(false);
        }
        self.draw(None)?;
        Ok(true)
    }

    fn wait(&mut self, run: &RunReader<'_>, patience: Duration) -> Result<(), CommandError> {
        let input = self.screen.wait(patience)?;
        let asked = match &self.last {
            LastLineState::AskToStop(since) => {
                Some(since.elapsed()).filter(|elapsed| *elapsed < ASK_FOR)
            }
            LastLineState::Keys | LastLineState::Message(..) => None,
        };
        match (input, asked) {
            (UserInput::Nothing, _) => {}
            (UserInput::End, _) => self.leaving = Some(Leaving::Asked),
            // Keys that come with the first one are a pasted text.
            (_, Some(elapsed)) if elapsed < READ_FOR => {}
            (UserInput::Key('y' | 'Y'), Some(_)) => self.leaving = Some(Leaving::StopRun),
            (_, Some(_)) => self.last = LastLineState::message("Not stopped.".to_owned()),
            (UserInput::Key('q' | 'Q'), _) => self.leaving = Some(Leaving::Done),
            (UserInput::Key('s'), _) => self.last = LastLineState::AskToStop(Instant::now()),
            (UserInput::Key('r' | 'o'), _) => {
                self.draw(Some(LastLine::Message("Writing the page…")))?;
                self.last = LastLineState::message(self.open_page(run));
                self.has_page = true;
                // A warning may have been written into the screen.
                self.screen.forget_shown();
            }
            (UserInput::Key(key), _) => {
                if key == '\u{c}' {
                    self.screen.forget_shown();
                }
                self.last = LastLineState::Keys;
            }
        }
        Ok(())
    }
}

fn stop_run(run: &RunReader<'_>, request: &WatchRequest<'_>) -> Result<(), CommandError> {
    let (env, id) = (&now_in(request.env), Some(run.source.id().to_owned()));
    if run.source.plan().is_some() {
        cancel::run(
            env,
            &RunCancelOptions {
                run: RunOptions { run: id }.into(),
                reason: "by its user".to_owned(),
            },
        )
    } else {
        stop::run(
            env,
            request.config,
            &StopOptions {
                session: id,
                all: false,
                reason: None,
            },
        )
    }
}
