//! `omo setup`: copies the plugin of this `omo` into a user folder, and has the client register it, or undoes both.

mod link;
mod plugin_source;
mod registration;
mod staging;
mod status_line;

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use omo_claude::client::{ClaudeClient, ClaudeError};
use omo_claude::version::MIN_CLIENT_VERSION;
use omo_core::text::command_text::quote_argument;
use omo_core::text::sanitize;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::folder::{FolderError, GuardedFolder};
use omo_state::files::lock::{DEADLINE, LockError, StateLock};
use omo_state::search_path::SearchPath;

use crate::commands::setup::link::OtherLink;
use crate::commands::setup::registration::{
    MARKETPLACE, MarketplaceOwner, PLUGIN, RegistrationStep,
};
use crate::commands::setup::staging::StagedPlugin;
use crate::commands::setup::status_line::StatusLineRemoval;
use crate::error::CommandError;
use crate::process_paths::own_program;

const HELP: &str = "\
Examples:
  ./bin/omo setup          from an unpacked archive
  omo setup --remove       undo it
  omo setup --link         only have `omo` found in a terminal

It puts a copy of the plugin into ~/.local/share/omo, has the `claude` on your
PATH register that, for all your projects, and links `omo` into ~/.local/bin,
where another file of that name stays. Run it again at any time: it adds what is
missing, and updates what is older. It needs no network. Of the settings of Claude
Code it edits only the status line: at a terminal it asks whether to show runs in
it, and --remove restores what was there, or takes out one whose omo has gone.
An installation from a marketplace links `omo` by itself.";

/// Install this omo's plugin in Claude Code, or remove it
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct SetupOptions {
    /// Take the plugin out of Claude Code and remove its copy
    #[arg(long)]
    pub remove: bool,
    /// Only link this omo into ~/.local/bin, where terminals find it
    #[arg(long, conflicts_with = "remove")]
    pub link: bool,
}

struct SetupFolders {
    data_home: PathBuf,
    plugin: PathBuf,
    new: PathBuf,
}

pub(crate) fn run(env: &ProcessEnv, options: &SetupOptions) -> Result<(), CommandError> {
    let data_home = env::data_home().ok_or_else(|| {
        CommandError::precondition(
            "no home folder is known to put the plugin into",
            "set HOME, or XDG_DATA_HOME",
        )
    })?;
    let folder = data_home.join("omo");
    let places = SetupFolders {
        plugin: folder.join("plugin"),
        new: folder.join("plugin.new"),
        data_home,
    };
    match (options.remove, options.link) {
        (true, _) => remove(env, &places),
        (_, true) => link_only(&places),
        _ => set_up(env, &places),
    }
}

fn link_only(places: &SetupFolders) -> Result<(), CommandError> {
    let program = own_program()?;
    let lasting = link::lasting_path(&program, &places.plugin).ok_or_else(|| {
        let message = format!(
            "{} does not stay where it is over an update of omo",
            program.display()
        );
        CommandError::precondition(message, "run `omo setup`, which puts it where it does")
    })?;
    link(&lasting, OtherLink::Stays)
}

fn link(to: &Path, other: OtherLink) -> Result<(), CommandError> {
    let Some(place) = link::link_path() else {
        return Ok(());
    };
    let linked = link::link(to, &place, other).map_err(|error| {
        let message = format!("link {}: {error}", place.display());
        CommandError::io(
            message,
            format!("everything else is done; {} is the program", to.display()),
        )
    })?;
    say("terminal", &link::link_message(&linked, to, &place));
    Ok(())
}

fn set_up(env: &ProcessEnv, places: &SetupFolders) -> Result<(), CommandError> {
    let source = plugin_source::own_plugin()?;
    let claude = client()?;
    let version = claude.version()?;
    if version < MIN_CLIENT_VERSION {
        let message = format!(
            "{} is version {version}, and omo needs {MIN_CLIENT_VERSION} or later",
            claude.program().display()
        );
        return Err(CommandError::precondition(
            message,
            "run `claude update`, then `omo setup` again",
        ));
    }
    say(
        "Claude Code",
        &format!("{version}, {}", claude.program().display()),
    );
    // Before anything is written: the present registration goes on working.
    let before = registration::read_registration(&claude, &places.plugin)?;
    if let MarketplaceOwner::Elsewhere(origin) = &before.marketplace {
        let message = format!(
            "Claude Code has a marketplace `{MARKETPLACE}` already, from {}",
            sanitize(origin, 300)
        );
        let hint = format!(
            "keep using that one, or remove it and its plugin with `claude plugin marketplace remove {MARKETPLACE}` and run `omo setup` again"
        );
        return Err(CommandError::precondition(message, hint));
    }
    let _lock = lock(places)?;
    let staged = staging::stage_plugin(&source, &places.new, &places.plugin)?;
    say(
        "omo",
        &staging_message(&staged, &source.version, &places.plugin),
    );
    let steps = registration::steps_to_set_up(&before, &source.version);
    for step in &steps {
        step.take(&claude, &places.plugin)?;
    }
    let after = registration::read_registration(&claude, &places.plugin)?;
    if after.marketplace != MarketplaceOwner::Ours
        || !after.plugin.is_some_and(|plugin| plugin.is_enabled)
    {
        let message =
            format!("Claude Code was told to install {PLUGIN}, and does not show it as enabled");
        return Err(CommandError::precondition(
            message,
            "see what `claude plugin list` says about it",
        ));
    }
    say("plugin", &registration_message(&steps));
    link(&places.plugin.join("bin").join("omo"), OtherLink::GivesWay)?;
    say_what_is_next(&staged, &places.plugin);
    let program = places
        .plugin
        .join("bin")
        .join(format!("omo{}", std::env::consts::EXE_SUFFIX));
    let is_asked =
        !env.in_session && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if let Some(outcome) = status_line::offer(env, &program, is_asked)? {
        let _ = writeln!(anstream::stdout(), "{outcome}");
    }
    Ok(())
}

fn staging_message(staged: &StagedPlugin, version: &str, place: &Path) -> String {
    let (version, place) = (sanitize(version, 60), place.display());
    match staged {
        StagedPlugin::Unchanged => format!("{version} is up to date in {place}"),
        StagedPlugin::New => format!("{version} was put into {place}"),
        StagedPlugin::Replaced(Some(old)) if *old == version => {
            format!("{version} was repaired in {place}")
        }
        StagedPlugin::Replaced(Some(old)) => {
            format!("updated from {} to {version} in {place}", sanitize(old, 60))
        }
        StagedPlugin::Replaced(None) => {
            format!("{version} took the place of what was broken in {place}")
        }
    }
}

fn registration_message(steps: &[RegistrationStep]) -> String {
    let state_words = match steps {
        [.., RegistrationStep::Install] => "is installed and on, for all projects",
        [.., RegistrationStep::Enable] => "is on again, for all projects",
        [] => "was on already",
        _ => "is on, for all projects",
    };
    format!("{PLUGIN} {state_words}")
}

fn say_what_is_next(staged: &StagedPlugin, place: &Path) {
    let program = place
        .join("bin")
        .join(format!("omo{}", std::env::consts::EXE_SUFFIX));
    let program = quote_argument(&program.to_string_lossy());
    let mut out = anstream::stdout().lock();
    let next = if matches!(staged, StagedPlugin::Replaced(_)) {
        "Open sessions use the new binaries from their next prompt on, and new commands after `/reload-plugins`."
    } else {
        "Next: open a new session of Claude Code in a project, and type for example"
    };
    let _ = writeln!(out, "\n{next}");
    if !matches!(staged, StagedPlugin::Replaced(_)) {
        let _ = writeln!(out, "  ulw fix the failing tests");
    }
    let _ = writeln!(out, "To undo this:\n  {program} setup --remove");
}

fn remove(env: &ProcessEnv, places: &SetupFolders) -> Result<(), CommandError> {
    let is_staged =
        places.plugin.symlink_metadata().is_ok() || places.new.symlink_metadata().is_ok();
    let folder =
        GuardedFolder::open_user(&places.data_home).map_err(|error| cannot_use(places, &error))?;
    let lock = if folder.is_some() {
        Some(lock(places)?)
    } else {
        None
    };
    let unregistered = match client() {
        Ok(claude) => unregister(&claude, places)?,
        // Without a staged plugin nothing of omo can be registered.
        Err(ClaudeError::Missing) if !is_staged => false,
        Err(ClaudeError::Missing) => {
            let message = "there is no `claude` on PATH to take the plugin out of".to_owned();
            let by_hand = format!(
                "if Claude Code is gone for good, remove the folder {}",
                places.plugin.display()
            );
            return Err(CommandError::precondition(
                message,
                format!("put it on PATH and try again; {by_hand}"),
            ));
        }
        Err(error) => return Err(error.into()),
    };
    unstage(places).map_err(|error| {
        let message = format!("remove {}: {error}", places.plugin.display());
        CommandError::io(
            message,
            "Claude Code does not use it any more; remove that folder yourself",
        )
    })?;
    drop(lock);
    let dangled = remove_dangling_links(env)?;
    // An empty folder belongs to no session.
    for folder in places.plugin.ancestors().skip(1).take(3) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    if is_staged {
        say("omo", &format!("removed from {}", places.plugin.display()));
    } else if !unregistered && !dangled {
        say("omo", "was not set up; there is nothing to remove");
    }
    say_what_stays(env);
    Ok(())
}

fn remove_dangling_links(env: &ProcessEnv) -> Result<bool, CommandError> {
    let link = link::link_path();
    let is_unlinked = link.as_deref().map_or(Ok(false), link::remove_dangling)?;
    if let Some(place) = link.filter(|_| is_unlinked) {
        say("terminal", &format!("{} is removed", place.display()));
    }
    let Some(settings) = env::client_home().map(|home| home.join("settings.json")) else {
        return Ok(is_unlinked);
    };
    let removal = status_line::remove_dangling(&settings, env.state_home.as_deref());
    match &removal {
        Some(StatusLineRemoval::Removed) => {
            say(
                "status line",
                &format!(
                    "`statusLine` is removed from {}, for its omo is gone",
                    settings.display()
                ),
            );
        }
        Some(StatusLineRemoval::ByHand(why)) => crate::output::print_warning(&format!(
            "`statusLine` in {} names an omo that is gone, and stays, for {why}: remove it yourself",
            settings.display()
        )),
        None => {}
    }
    Ok(is_unlinked || removal.is_some())
}

fn unregister(claude: &ClaudeClient, places: &SetupFolders) -> Result<bool, CommandError> {
    let now = registration::read_registration(claude, &places.plugin)?;
    if let MarketplaceOwner::Elsewhere(origin) = &now.marketplace {
        let origin = sanitize(origin, 300);
        let other = format!(
            "the plugin from {origin} stays; `claude plugin marketplace remove {MARKETPLACE}` removes it"
        );
        crate::output::print_warning(&other);
    }
    let steps = registration::steps_to_remove(&now);
    for step in &steps {
        step.take(claude, &places.plugin)?;
    }
    if !steps.is_empty() {
        say("plugin", &format!("{PLUGIN} is uninstalled"));
    }
    Ok(!steps.is_empty())
}

fn unstage(places: &SetupFolders) -> std::io::Result<()> {
    for left in [&places.new, &places.plugin] {
        omo_state::files::folder_swap::clear_leftovers(left)?;
    }
    match fs::remove_file(lock_of(places)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn say_what_stays(env: &ProcessEnv) {
    let Some(own) = env
        .state_home
        .as_ref()
        .map(|home| home.join("omo"))
        .filter(|own| own.is_dir())
    else {
        return;
    };
    let own = own.display();
    say(
        "kept",
        &format!("your key and your approvals, in {own}: remove that folder to be rid of them"),
    );
}

/// The client on `PATH`, started beside this program, where no project has settings.
fn client() -> Result<ClaudeClient, ClaudeError> {
    let own = std::env::current_exe()
        .ok()
        .and_then(|program| program.parent().map(Path::to_owned));
    ClaudeClient::find(
        &SearchPath::from_process(),
        &own.unwrap_or_else(|| PathBuf::from("/")),
    )
}

fn lock(places: &SetupFolders) -> Result<StateLock, CommandError> {
    let folder = GuardedFolder::create_user(&places.data_home)
        .map_err(|error| cannot_use(places, &error))?;
    let lock = match StateLock::take(&folder, DEADLINE) {
        Err(LockError::Busy(_)) => {
            return Err(CommandError::busy(
                "another `omo setup` is at work",
                "try again when it is done",
            ));
        }
        Err(LockError::Folder(error)) => return Err(cannot_use(places, &error)),
        Err(LockError::Io(error)) => return Err(error.into()),
        Ok(lock) => lock,
    };
    if !lock_of(places).is_file() {
        // Another `omo setup --remove` held the lock file and removed it.
        return Err(CommandError::busy(
            "another `omo setup` was at work",
            "try again",
        ));
    }
    Ok(lock)
}

fn lock_of(places: &SetupFolders) -> PathBuf {
    places.data_home.join("omo").join("runtime.lock")
}

fn cannot_use(places: &SetupFolders, error: &FolderError) -> CommandError {
    let hint = format!(
        "{} has to be a folder that you can write to; XDG_DATA_HOME names another",
        places.data_home.display()
    );
    CommandError::io(error.to_string(), hint)
}

/// Prints a finished step. A failed write does not stop the rest.
fn say(step: &str, text: &str) {
    let bold = anstyle::Style::new().bold();
    let _ = writeln!(anstream::stdout(), "{bold}{step:<11}{bold:#}  {text}");
}
