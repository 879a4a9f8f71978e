//! What a command does beside judging: it prepares, runs on, or changes what is no part of the work.

use std::collections::HashMap;
use std::sync::LazyLock;

use omo_core::shell::programs::{Role, has_role, program_name, without_wrappers};
use omo_core::shell::split_commands;

/// The effect of a command; the later ones weigh more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// It runs what the plan makes, or tells of a repository.
    Runs,
    /// It writes files, or creates or starts something.
    Prepares,
    /// It installs something.
    Installs,
    /// It is a server or a watcher.
    NeverEnds,
    /// It changes git, a registry, a database or a deployment.
    Changes,
    /// It looks at what another machine answers.
    Reaches,
    /// It works in a folder that is not of the project.
    Leaves,
}

/// The effects of programs by the first word behind their options; `*` is any or none, `-` none.
const TABLE: &[(Effect, &str, &str)] = &[
    (
        Effect::Changes,
        "git",
        "add commit push pull fetch checkout switch restore reset stash merge rebase worktree rm mv cherry-pick revert",
    ),
    (Effect::Prepares, "git", "init clone"),
    (Effect::Runs, "git", "*"),
    (Effect::Changes, "ssh scp rsync sftp gh glab vercel netlify heroku twine", "*"),
    (Effect::Changes, "terraform tofu pulumi", "apply destroy import up"),
    (Effect::Changes, "kubectl", "apply create delete patch replace rollout scale set exec cp"),
    (Effect::Changes, "helm", "install upgrade uninstall rollback"),
    (Effect::Changes, "docker podman", "push login"),
    (Effect::Changes, "prisma", "migrate db"),
    (Effect::Changes, "alembic", "upgrade downgrade revision stamp"),
    (Effect::Changes, "drizzle-kit", "push migrate drop"),
    (Effect::Changes, "supabase", "db start link"),
    (Effect::Changes, "manage.py", "migrate makemigrations flush loaddata"),
    (Effect::Changes, "dbt", "run seed build"),
    (Effect::Changes, "aws gcloud az firebase flyctl fly wrangler serverless sls sam cdk", "deploy destroy s3 publish"),
    (Effect::Installs, "npm pnpm yarn bun", "install i ci add remove uninstall link init create update upgrade login"),
    (Effect::Installs, "yarn", "-"),
    (Effect::Installs, "pip pipx", "*"),
    (Effect::Prepares, "shadcn husky degit sv", "*"),
    (Effect::Installs, "uv", "pip add sync lock venv init tool build remove"),
    (
        Effect::Installs,
        "poetry cargo go gem composer bundle mix dart flutter dotnet",
        "add sync install lock get require restore new init update upgrade remove create tool mod pub dev start deps.get",
    ),
    (Effect::Installs, "brew apt apt-get dnf pod", "*"),
    (Effect::Prepares, "terraform tofu openspec", "init archive"),
    (Effect::Prepares, "docker podman docker-compose", "up down start stop pull"),
    (
        Effect::Prepares,
        "mkdir touch cp mv rm rmdir ln chmod chown sleep kill open code source export unset echo printf tee cd",
        "*",
    ),
    (Effect::Runs, "docker podman docker-compose", "run exec"),
    (Effect::Runs, "cargo go dotnet flutter", "run"),
    (Effect::Runs, "prisma rails", "generate g db"),
    (
        Effect::NeverEnds,
        "uvicorn gunicorn hypercorn nodemon serve http-server json-server webpack-dev-server watchexec entr watch ngrok \
         air http.server live-server",
        "*",
    ),
    (Effect::NeverEnds, "vite", "- dev serve preview"),
    (Effect::NeverEnds, "next nuxt astro expo tauri wrangler ng webpack", "dev start serve"),
    (Effect::NeverEnds, "rails artisan hugo jekyll mkdocs mix flask streamlit", "s server serve phx.server run"),
    (Effect::NeverEnds, "cargo dotnet tsx manage.py", "watch runserver"),
    (Effect::NeverEnds, "kubectl", "port-forward proxy"),
];

/// Scripts of a project that run on, by the first part of their names.
const ENDLESS_SCRIPTS: &str = "dev start serve watch preview storybook";
/// Words that change what is no part of the work, in the name of a script or as what a program is told to do, and words
/// that say that it is only looked at.
const CHANGING: &str = "deploy deployment publish migrate migration migrations seed upload rollback provision";
const JUDGING: &str = "test tests check checks lint verify validate validation status dry spec ci list show diff build";
/// Options whose value is a word of its own, and those of them whose value is the folder that the command works in.
const VALUED: &str = "-C -f -F -w --prefix --cwd --dir --filter --file --workspace --project --config";
const FOLDERS: &str = "-C --prefix --cwd --dir";
/// Programs that fetch what they are told to.
const FETCHING: &str = "curl wget http https xh";

fn has_word(words: &str, wanted: &str) -> bool {
    words.split_ascii_whitespace().any(|word| word == wanted)
}

/// The effects of the parts of a command, in their order; `None` for one that may judge. A change of the folder within
/// the project is none of them.
pub(crate) fn effects(command: &str) -> Vec<Option<Effect>> {
    let mut depth = 0;
    let parts = split_commands(command).into_iter();
    parts
        .filter_map(|words| {
            let (program, arguments) = words.split_first()?;
            match program.as_str() {
                "cd" | "pushd" => leaves_project(arguments.first().map_or("", String::as_str), &mut depth)
                    .then_some(Some(Effect::Leaves)),
                // An address is opened by a person.
                address if address.contains("://") => Some(Some(Effect::Prepares)),
                _ => Some(words_effect(&words)),
            }
        })
        .collect()
}

/// The effect of a command that weighs most.
pub(crate) fn effect(command: &str) -> Option<Effect> {
    effects(command).into_iter().flatten().max()
}

impl Effect {
    /// Whether a command with it may still be meant to judge.
    pub(crate) fn may_judge(self) -> bool {
        matches!(self, Self::Runs | Self::Reaches | Self::Leaves)
    }
}

/// Whether a change of the folder leads out of the project, from so many folders below its top.
fn leaves_project(target: &str, depth: &mut isize) -> bool {
    for part in target.split(['/', '\\']) {
        *depth += match part {
            "" | "." | "-" => 0,
            ".." => -1,
            _ => 1,
        };
        if *depth < 0 {
            return true;
        }
    }
    is_elsewhere(target)
}

/// Whether a folder is named from the root of a disk, or from the home of its author.
fn is_elsewhere(folder: &str) -> bool {
    folder.starts_with(['/', '~']) || folder.starts_with("$HOME") || folder.get(1..3).is_some_and(|sign| sign == ":\\")
}

fn words_effect(words: &[String]) -> Option<Effect> {
    let is_bounded = words.first().is_some_and(|program| matches!(program.as_str(), "timeout" | "gtimeout"));
    let (program, arguments) = without_wrappers(words).split_first()?;
    let is_file = program.contains('/');
    let found = program_effect(program_name(program), arguments, is_file).max(folder_effect(arguments));
    found.filter(|effect| !(is_bounded && *effect == Effect::NeverEnds))
}

/// The effect of an option that names the folder to work in.
fn folder_effect(arguments: &[String]) -> Option<Effect> {
    let values = arguments.iter().zip(arguments.iter().skip(1)).filter(|(option, _)| has_word(FOLDERS, option));
    let mut folders = values.map(|(_, value)| value);
    folders.any(|folder| is_elsewhere(folder)).then_some(Effect::Leaves)
}

/// The places of the arguments that are no options, and no values of options.
fn plain_places(arguments: &[String]) -> Vec<usize> {
    let is_value = |place: usize| place.checked_sub(1).and_then(|before| arguments.get(before));
    let is_plain = |(place, word): &(usize, &String)| {
        !word.starts_with('-') && !is_value(*place).is_some_and(|option| has_word(VALUED, option))
    };
    arguments.iter().enumerate().filter(is_plain).map(|(place, _)| place).collect()
}

/// The effect of a program, which may be a script of the project, with its arguments.
fn program_effect(name: &str, arguments: &[String], is_script: bool) -> Option<Effect> {
    let places = plain_places(arguments);
    let word = |place: usize| places.get(place).and_then(|at| arguments.get(*at)).map_or("", String::as_str);
    let behind = |place: usize| places.get(place).and_then(|at| arguments.get(at + 1..)).unwrap_or_default();
    let has = |wanted: &dyn Fn(&str) -> bool| arguments.iter().any(|argument| wanted(argument));
    match name {
        "npm" | "pnpm" | "yarn" | "bun" if table_effect(name, word(0)).is_none() => {
            let script = usize::from(matches!(word(0), "run" | "run-script"));
            return script_effect(word(script), behind(script));
        }
        "docker" | "podman" if word(0) == "compose" => return program_effect("docker-compose", behind(0), false),
        "docker-compose" if word(0) == "up" && !has(&|word| word.starts_with("-d") || word.starts_with("--d")) => {
            return Some(Effect::NeverEnds);
        }
        "git" => return git_effect(word(0), arguments),
        "php" if has(&|word| word == "-S") => return Some(Effect::NeverEnds),
        _ if has_role(name, Role::Interpreter)
            && table_effect(name, word(0)).is_none()
            && !has(&|word| matches!(word, "-c" | "-e")) =>
        {
            let file = word(0);
            let is_module = arguments.iter().any(|word| word == "-m");
            return (!file.is_empty()).then(|| program_effect(program_name(file), behind(0), !is_module)).flatten();
        }
        _ if has_word(FETCHING, name) && has(&is_remote) => return Some(Effect::Reaches),
        _ => {}
    }
    let is_trial = has(&|word| {
        matches!(word, "--dry-run" | "--check" | "--help")
            || word.starts_with("--dry-run=") && word != "--dry-run=false"
    });
    let follows = has(&|word| matches!(word, "--watch" | "--watchAll" | "--serve"))
        || matches!(name, "tail" | "journalctl" | "logs")
            && has(&|word| word.starts_with('-') && word.contains(['f', 'F']))
        || word(0) == "logs" && has(&|word| word == "-f")
        || matches!(name, "tsc" | "jest") && has(&|word| word == "-w");
    let told = table_effect(name, word(0)).max(follows.then_some(Effect::NeverEnds));
    let looks = [Role::Reader, Role::Printer, Role::OutputJudge, Role::TestRunner].iter();
    let changes = (has_role(name, Role::TaskRunner) || !looks.into_iter().any(|role| has_role(name, *role)))
        && (changes_by_name(word(0), false) || is_script && changes_by_name(name, true));
    told.max(changes.then_some(Effect::Changes)).filter(|_| !is_trial)
}

fn table_effect(name: &str, word: &str) -> Option<Effect> {
    static BY_PROGRAM: LazyLock<HashMap<&str, Vec<(Effect, &str)>>> = LazyLock::new(|| {
        let mut rows: HashMap<&str, Vec<(Effect, &str)>> = HashMap::new();
        for (effect, programs, words) in TABLE {
            for program in programs.split_ascii_whitespace() {
                rows.entry(program).or_default().push((*effect, words));
            }
        }
        rows
    });
    let holds = |words: &str| words == "*" || has_word(words, if word.is_empty() { "-" } else { word });
    let rows = BY_PROGRAM.get(name)?.iter().filter(|(_, words)| holds(words));
    rows.map(|(effect, _)| *effect).max()
}

/// The effect of a script of `package.json`, whose name may be that of a program.
fn script_effect(script: &str, arguments: &[String]) -> Option<Effect> {
    let first = script.split(':').next().unwrap_or_default();
    let runs_on = has_word(ENDLESS_SCRIPTS, first).then_some(Effect::NeverEnds);
    let repairs = matches!(script, "fix" | "lint:fix").then_some(Effect::Runs);
    runs_on.max(repairs).max(program_effect(script, arguments, true).filter(|_| !script.is_empty()))
}

/// Whether a word changes what is no part of the work: `db:migrate`, `deploy`, `migrate_users.py`.
fn changes_by_name(word: &str, is_file: bool) -> bool {
    let is_end = |char: char| matches!(char, ':' | '-' | '_') || is_file && char == '.';
    let parts = || word.split(is_end);
    if word.contains('/') || !is_file && word.contains('.') || parts().any(|part| has_word(JUDGING, part)) {
        return false;
    }
    word.starts_with("db:") || parts().any(|part| has_word(CHANGING, part))
}

fn git_effect(verb: &str, arguments: &[String]) -> Option<Effect> {
    let words = plain_places(arguments).len();
    let adds = |verbs: &str| arguments.iter().any(|word| has_word(verbs, word));
    let is_listed = adds("-l --list --get --get-all --show-current -v --contains --merged -a -r");
    let changes = match verb {
        "remote" => adds("add set-url remove rm rename prune"),
        "config" => words > 2 && !is_listed || adds("--unset"),
        "branch" | "tag" => words > 1 && !is_listed || adds("-d -D"),
        _ => false,
    };
    table_effect("git", verb).max(changes.then_some(Effect::Changes))
}

/// Whether an argument is the address of another machine.
fn is_remote(argument: &str) -> bool {
    let host = argument.split_once("://").map(|(_, rest)| rest.split(['/', ':', '?']).next().unwrap_or_default());
    host.is_some_and(|host| {
        let is_own = matches!(host, "localhost" | "0.0.0.0" | "[" | "host.docker.internal") || host.starts_with("127.");
        !is_own && !host.starts_with('$') && !host.ends_with(".localhost")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_does_beside_judging_is_known() {
        for (command, expected) in [
            ("cargo run -p a", Some(Effect::Runs)),
            ("git status", Some(Effect::Runs)),
            ("git branch --show-current", Some(Effect::Runs)),
            ("git branch old", Some(Effect::Changes)),
            ("git remote -v", Some(Effect::Runs)),
            ("git -C web commit -m x", Some(Effect::Changes)),
            ("mkdir -p a", Some(Effect::Prepares)),
            ("docker compose up -d", Some(Effect::Prepares)),
            ("docker compose config", None),
            ("npm install && npm test", Some(Effect::Installs)),
            ("uv sync", Some(Effect::Installs)),
            ("cd a && go mod tidy", Some(Effect::Installs)),
            ("python3 -m pip install x", Some(Effect::Installs)),
            ("npm run dev", Some(Effect::NeverEnds)),
            ("npm run tauri dev", Some(Effect::NeverEnds)),
            ("FOO=1 next dev", Some(Effect::NeverEnds)),
            ("python -m http.server", Some(Effect::NeverEnds)),
            ("pnpm --filter web dev", Some(Effect::NeverEnds)),
            ("timeout 5 npm start", None),
            ("npm run db:migrate", Some(Effect::Changes)),
            ("npm run test:db", None),
            ("npm run deploy:staging", Some(Effect::Changes)),
            ("make deploy", Some(Effect::Changes)),
            ("rails db:test:prepare", None),
            ("python scripts/migrate_users.py --profile x", Some(Effect::Changes)),
            ("python -m pytest tests/test_migrate.py", None),
            ("pytest deploy", None),
            ("cat deploy.yaml", None),
            ("./scripts/deploy.sh", Some(Effect::Changes)),
            ("kubectl apply --dry-run=client -f a.yaml", None),
            ("terraform plan", None),
            ("curl -sf http://localhost:3000/health", None),
            ("curl -s https://example.com/a", Some(Effect::Reaches)),
            ("cd web && npm test && cd ../api && npm test", None),
            ("cd .. && npm test", Some(Effect::Leaves)),
            ("cd web && cd ../..", Some(Effect::Leaves)),
            ("cd ~/code && make", Some(Effect::Leaves)),
            ("make -C /srv/app test", Some(Effect::Leaves)),
            ("cd \"$(git rev-parse --show-toplevel)\" && make test", Some(Effect::Runs)),
            ("cargo test", None),
            ("(cd a && go vet ./...)", None),
            ("uv run pytest", None),
            ("", None),
        ] {
            assert_eq!(effect(command), expected, "{command}");
        }
    }
}
