//! Check of a command line against the fence: folders it enters, files it writes, `git` calls.

use omo_core::git_variables::is_repository_variable;
use omo_core::shell::programs::{Role, has_role, is_wrapper, program_name};
use omo_core::shell::{Part, PartKind, is_assignment, parse_shell, shell_script};

use super::git::{self, Deed};
use super::{FenceRefusal, ResolvePath, WorktreeFence, resolved_places};
use crate::fence::path_text::{is_absolute, leads_up, resolve_path};

/// Maximum bytes of commands read, nested ones counted again.
const MAX_BYTES: usize = 256 * 1024;
const MAX_PATH: usize = 4_096;
const TOO_COMPLEX: FenceRefusal =
    FenceRefusal::Unclear("the command is too long, or nested too deeply");

/// Refuses a command line, run in `folder`, of which a command may leave the fence.
pub(super) fn check_command_line(
    fence: &WorktreeFence,
    text: &str,
    folder: String,
    real: ResolvePath,
) -> Result<(), FenceRefusal> {
    let mut judge = Judge {
        fence,
        real,
        bytes_left: MAX_BYTES,
    };
    judge.check_text(text, &mut Some(folder))
}

struct Judge<'a> {
    fence: &'a WorktreeFence<'a>,
    real: ResolvePath<'a>,
    bytes_left: usize,
}

/// Current folder of the shell; `None` once that is unknown.
type Folder = Option<String>;

impl Judge<'_> {
    fn check_text(&mut self, text: &str, folder: &mut Folder) -> Result<(), FenceRefusal> {
        self.charge(text.len().max(1))?;
        self.check_parts(&parse_shell(text).ok_or(TOO_COMPLEX)?, folder)
    }

    /// Counts text each time, also where it is read again behind a program that runs others.
    fn charge(&mut self, bytes: usize) -> Result<(), FenceRefusal> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(TOO_COMPLEX)?;
        Ok(())
    }

    fn check_parts(&mut self, parts: &[Part], folder: &mut Folder) -> Result<(), FenceRefusal> {
        for part in parts {
            let words: &[String] = if let PartKind::Command(words) = &part.kind {
                words
            } else {
                &[]
            };
            for word in words.iter().chain(&part.inputs).chain(&part.written_files) {
                self.check_names(word, folder.as_deref())?;
            }
            for target in &part.written_files {
                self.check_target(target, folder.as_deref())?;
            }
            match &part.kind {
                PartKind::Command(words) => self.check_command(words, folder)?,
                PartKind::Group(inner) => self.check_parts(inner, folder)?,
                PartKind::Subshell(inner) | PartKind::Inner(inner) => {
                    self.check_parts(inner, &mut folder.clone())?;
                }
            }
        }
        Ok(())
    }

    fn check_command(
        &mut self,
        mut words: &[String],
        folder: &mut Folder,
    ) -> Result<(), FenceRefusal> {
        while let [first, rest @ ..] = words {
            check_git_redirection(first)?;
            if !has_role(first, Role::Prefix) && !is_assignment(first) {
                break;
            }
            words = rest;
        }
        // An option first belongs to a word before the program: `time -p`, `exec -a name`.
        let runs_another = words.split_first().is_some_and(|(first, arguments)| {
            let name = program_name(first);
            first.starts_with('-') || has_role(name, Role::Runner) || is_wrapper(name, arguments)
        });
        if !runs_another {
            return self.check_program(words, folder);
        }
        // The options decide which word is the program: each of them may be.
        for start in 1..words.len() {
            let from = words.get(start..).unwrap_or_default();
            from.first()
                .map_or(Ok(()), |first| check_git_redirection(first))?;
            self.check_program(from, &mut folder.clone())?;
        }
        Ok(())
    }

    fn check_program(&mut self, words: &[String], folder: &mut Folder) -> Result<(), FenceRefusal> {
        let [program, arguments @ ..] = words else {
            return Ok(());
        };
        let name = program_name(program);
        if let Some(elsewhere) = folder
            .as_ref()
            .filter(|folder| name != "cd" && !self.fence.may_write(folder))
        {
            return Err(FenceRefusal::LeavesWorktree(elsewhere.clone()));
        }
        match name {
            "git" => self.check_git(arguments, folder.as_deref()),
            "cd" | "pushd" => self.change_folder(arguments, folder),
            "popd" => {
                *folder = None;
                Ok(())
            }
            "eval" => self.check_text(&arguments.join(" "), folder),
            // A trap runs later, wherever the shell stands by then: here is as good a guess as any.
            "trap" => arguments
                .iter()
                .try_for_each(|word| self.check_text(word, &mut folder.clone())),
            "alias" => arguments
                .iter()
                .filter_map(|word| word.split_once('='))
                .try_for_each(|(_, command)| self.check_text(command, &mut folder.clone())),
            name if has_role(name, Role::VariableSetter) => arguments
                .iter()
                .try_for_each(|word| check_git_redirection(word)),
            _ => shell_script(program, arguments).map_or(Ok(()), |script| {
                self.check_text(script, &mut folder.clone())
            }),
        }
    }

    fn check_git(
        &mut self,
        arguments: &[String],
        folder: Option<&str>,
    ) -> Result<(), FenceRefusal> {
        self.charge(arguments.len())?;
        let mut folder = folder.map(str::to_owned);
        for deed in git::git_actions(arguments) {
            match deed {
                Deed::InFolder(place) => folder = self.enter_folder(place, folder.as_deref())?,
                Deed::RedirectsGit(word) => {
                    return Err(FenceRefusal::RedirectsGit(word.to_owned()));
                }
                Deed::ReachesShared(words) => return Err(FenceRefusal::SharedGit(words)),
            }
        }
        Ok(())
    }

    fn change_folder(&self, arguments: &[String], folder: &mut Folder) -> Result<(), FenceRefusal> {
        let place = arguments
            .iter()
            .find(|word| !(word.len() > 1 && word.starts_with('-')))
            .map_or("~", String::as_str);
        // `cd -`: the folder before, which was in the worktree.
        let entered = if place == "-" {
            None
        } else {
            self.enter_folder(place, folder.as_deref())?
        };
        *folder = entered;
        Ok(())
    }

    /// The folder that is entered; `None` where it is unknown.
    fn enter_folder(&self, place: &str, folder: Option<&str>) -> Result<Folder, FenceRefusal> {
        let Some(path) = self.expand_word(place, folder) else {
            return Ok(None);
        };
        let from = if is_absolute(&path) {
            Some("/")
        } else {
            folder
        };
        let Some(from) = from else { return Ok(None) };
        let places = resolved_places(from, &path, self.real)?;
        if places.iter().any(|place| !self.fence.may_write(place)) {
            return Err(FenceRefusal::LeavesWorktree(place.to_owned()));
        }
        Ok(places.into_iter().next())
    }

    fn check_target(&self, target: &str, folder: Option<&str>) -> Result<(), FenceRefusal> {
        let Some(path) = self.expand_word(target, folder) else {
            return Ok(());
        };
        let from = if is_absolute(&path) {
            Some("/")
        } else {
            folder
        };
        let Some(from) = from else { return Ok(()) };
        for place in resolved_places(from, &path, self.real)? {
            if self.fence.is_in_main(&place) {
                return Err(FenceRefusal::OutsideWorktree(target.to_owned()));
            }
            self.fence.check_touch(&place, target)?;
        }
        self.fence.check_touch(&resolve_path(from, &path), target)
    }

    /// Refuses a word, or the value of an option, that names the main checkout or a folder above the worktree.
    fn check_names(&self, word: &str, folder: Option<&str>) -> Result<(), FenceRefusal> {
        if let Some(named) = self.main_path_in(word) {
            return Err(FenceRefusal::MainCheckout(named));
        }
        for part in [Some(word), word.split_once('=').map(|(_, value)| value)]
            .into_iter()
            .flatten()
        {
            let is_path = part.len() < MAX_PATH && !part.contains(char::is_whitespace);
            let Some(path) = self.expand_word(part, folder).filter(|_| is_path) else {
                continue;
            };
            let from = if is_absolute(&path) {
                Some("/")
            } else {
                folder
            };
            let Some(place) = from.map(|from| resolve_path(from, &path)) else {
                continue;
            };
            let is_named = is_absolute(&path);
            if !is_named && leads_up(&path) && !self.fence.may_write(&place) {
                return Err(FenceRefusal::OutsideWorktree(part.to_owned()));
            }
            if is_named && !self.fence.may_write(&place) && self.leads_to_main(&place) {
                return Err(FenceRefusal::MainCheckout(part.to_owned()));
            }
        }
        Ok(())
    }

    fn leads_to_main(&self, place: &str) -> bool {
        self.fence.is_in_main(place)
            || (self.real)(place).is_some_and(|place| self.fence.is_in_main(&place))
    }

    fn main_path_in(&self, word: &str) -> Option<String> {
        let (main, folded) = (
            self.fence.rules.main_checkout.to_ascii_lowercase(),
            word.to_ascii_lowercase(),
        );
        let starts = folded
            .match_indices(main.as_str())
            .filter(|_| main.len() > 1)
            .map(|(start, _)| start);
        let named = starts.filter_map(|start| {
            let (before, from) = word.split_at_checked(start)?;
            let after = from.get(main.len()..)?;
            // The path of something else, unless it stands right behind an option's letter.
            let begins = !before
                .ends_with(|char: char| char.is_alphanumeric() || "_-./".contains(char))
                || (start == 2 && word.starts_with('-'));
            let end = after
                .char_indices()
                .find(|(at, char)| {
                    *at >= MAX_PATH || char.is_whitespace() || "'\"`:,;()|&<>".contains(*char)
                })
                .map_or(after.len(), |(at, _)| at);
            let path = from.get(..main.len() + end)?;
            begins.then_some(path)
        });
        named
            .map(str::to_owned)
            .find(|path| self.fence.is_in_main(&resolve_path("/", path)))
    }

    /// A path with known variables expanded; `None` where one is unknown.
    fn expand_word(&self, word: &str, folder: Option<&str>) -> Option<String> {
        let (home, root) = (self.fence.home, Some(self.fence.root));
        let known = [
            ("~", home),
            ("$HOME", home),
            ("${HOME}", home),
            ("$OMO_ROOT", root),
            ("${OMO_ROOT}", root),
            ("$PWD", folder),
            ("${PWD}", folder),
        ];
        let path = known
            .into_iter()
            .find_map(|(name, value)| {
                let rest = word
                    .strip_prefix(name)
                    .filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
                Some(format!("{}{rest}", value?))
            })
            .unwrap_or_else(|| word.to_owned());
        (!path.contains('$') && !path.starts_with('~')).then_some(path)
    }
}

fn check_git_redirection(word: &str) -> Result<(), FenceRefusal> {
    let name = word
        .split_once('=')
        .map(|(name, _)| name.trim_end_matches('+'));
    if name.is_some_and(is_repository_variable) {
        Err(FenceRefusal::RedirectsGit(word.to_owned()))
    } else {
        Ok(())
    }
}
