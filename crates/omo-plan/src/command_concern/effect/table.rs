//! Effects of programs by their subcommand, such as `git push` → `Changes`.

use super::Effect;

/// Effect, programs, and words after their options; `*` is any word or none, `-` none. Of several matching rows the greatest
/// [`Effect`] wins.
pub(super) const TABLE: &[(Effect, &str, &str)] = &[
    (
        Effect::Changes,
        "git",
        "add commit push pull fetch checkout switch restore reset stash merge rebase worktree rm mv cherry-pick revert \
         update-ref am clean submodule filter-branch gc",
    ),
    (Effect::Prepares, "git", "init clone"),
    (Effect::Runs, "git", "*"),
    (
        Effect::Changes,
        "ssh scp rsync sftp gh glab heroku twine",
        "*",
    ),
    (
        Effect::Changes,
        "vercel netlify",
        "- deploy promote rollback",
    ),
    (
        Effect::Changes,
        "terraform tofu pulumi",
        "apply destroy import up",
    ),
    (
        Effect::Changes,
        "kubectl",
        "apply create delete patch replace rollout scale set exec cp drain",
    ),
    (
        Effect::Changes,
        "helm",
        "install upgrade uninstall rollback push",
    ),
    (
        Effect::Changes,
        "docker podman docker-compose",
        "push login prune",
    ),
    (Effect::Changes, "prisma", "migrate db"),
    (
        Effect::Changes,
        "alembic flask",
        "upgrade downgrade revision stamp",
    ),
    (Effect::Changes, "drizzle-kit", "push migrate drop"),
    (Effect::Changes, "dotnet", "database"),
    (
        Effect::Changes,
        "mix",
        "ecto.reset ecto.drop ecto.migrate ecto.rollback ecto.create ecto.setup",
    ),
    (Effect::Changes, "supabase", "push reset start link"),
    (
        Effect::Changes,
        "manage.py",
        "migrate makemigrations flush loaddata",
    ),
    (Effect::Changes, "dbt", "run seed build"),
    (
        Effect::Changes,
        "aws gcloud az firebase flyctl fly wrangler serverless sls sam cdk",
        "deploy destroy publish rm cp mv sync rb mb create delete update put invoke",
    ),
    (
        Effect::Installs,
        "npm pnpm yarn bun",
        "install i ci add remove uninstall link init create update upgrade login",
    ),
    (Effect::Installs, "yarn", "-"),
    (
        Effect::Installs,
        "pip pipx",
        "install uninstall inject upgrade",
    ),
    (
        Effect::Installs,
        "pipenv playwright",
        "install install-deps sync update",
    ),
    (Effect::Prepares, "shadcn husky degit sv", "*"),
    (
        Effect::Installs,
        "uv",
        "pip add sync lock venv init tool remove",
    ),
    (
        Effect::Installs,
        "poetry cargo go gem composer bundle mix dart flutter dotnet",
        "add sync install lock get require restore new init update upgrade remove create tool mod pub dev start deps.get",
    ),
    (Effect::Installs, "brew apt apt-get dnf pod", "*"),
    (Effect::Prepares, "terraform tofu openspec", "init archive"),
    (
        Effect::Prepares,
        "docker podman docker-compose",
        "up down start stop pull",
    ),
    (
        Effect::Prepares,
        "mkdir touch cp mv rm rmdir ln chmod chown sleep kill open code export unset echo printf tee cd rimraf",
        "*",
    ),
    (Effect::Runs, "docker podman docker-compose", "run exec"),
    (Effect::Runs, "cargo go dotnet flutter", "run"),
    (Effect::Runs, "prisma rails", "generate g"),
    (
        Effect::NeverEnds,
        "uvicorn gunicorn hypercorn nodemon serve http-server json-server webpack-dev-server watchexec entr watch ngrok \
         air http.server live-server",
        "*",
    ),
    (Effect::NeverEnds, "vite", "- dev serve preview"),
    (
        Effect::NeverEnds,
        "next nuxt astro expo tauri wrangler ng webpack nx",
        "dev start serve",
    ),
    (
        Effect::NeverEnds,
        "rails artisan hugo jekyll mkdocs mix flask streamlit",
        "s server serve phx.server run",
    ),
    (
        Effect::NeverEnds,
        "cargo dotnet tsx manage.py",
        "watch runserver",
    ),
    (Effect::NeverEnds, "kubectl", "port-forward proxy"),
];

pub(super) const ACTION_ANYWHERE: &str = "\
     kubectl helm alembic flask prisma drizzle-kit supabase terraform tofu pulumi aws gcloud az firebase flyctl fly wrangler \
     serverless sls sam cdk docker-compose make gmake mvn mvnw gradle gradlew turbo nx lerna moon dotnet";
pub(super) const LOOKING: &str = "\
     status diff validate list ls get describe lint show verify doctor config logs ps images help version explain preview";
pub(super) const TRIALS: &str =
    "--dry-run --check --help --version --sql --just-print --syntax-check --collect-only --preview";

pub(super) const ENDLESS_SCRIPTS: &str = "dev start serve watch preview storybook";
/// Names of scripts, and arguments, that change something outside of the work.
pub(super) const CHANGING: &str = "deploy deployment publish unpublish migrate migration migrations seed upload rollback provision release";
pub(super) const JUDGING: &str =
    "test tests check checks lint verify validate validation status dry spec list show diff plan";
/// Options with a separate value; `FOLDERS` are those for the working folder.
pub(super) const VALUED: &str = "\
     -C -c -f -F -w -e -j -n -p -pl -r -t -u -W -o -H -d -X --prefix --cwd --dir --directory --filter --file --workspace \
     --project --config --port --profile --env --namespace --header --data --request --output --manifest-path --user";
pub(super) const FOLDERS: &str =
    "-C --prefix --cwd --dir --directory --manifest-path --git-dir --work-tree";
pub(super) const FETCHING: &str = "curl wget http https xh";
pub(super) const DATABASES: &str = "psql mysql mariadb sqlite3 mongosh redis-cli duckdb";
/// Programs that write to path arguments.
pub(super) const WRITING: &str =
    "rm cp mv ln chmod chown mkdir rmdir touch tee rimraf sed dd install";
