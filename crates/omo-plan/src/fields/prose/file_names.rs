//! What the name of a file looks like, by its end or as a whole.

/// What the names of files end with.
const EXTENSIONS: &str = "\
    adoc astro avsc bash bat bicep blade c cc cfg cjs clj cmake cmd conf config cpp cs csproj css csv cts cxx dart \
    db dockerfile edn ejs env erb erl ex example exs feature fs fsproj gd gif go gql gradle graphql groovy h hbs \
    hcl heex hpp hs htm html ico ini ipynb java jinja jinja2 jpg js json json5 jsonc jsonl jsx kt kts less liquid \
    lock lua m mako md mdc mdx mjs mk ml mli mm mod mts nim nix php pl plist png prisma properties proto props ps1 \
    psm1 pug py pyi r rb rego rs rst sass sbt scala scss service sh sln snap sol sql sqlite storyboard sum sv \
    svelte svg swift targets template tf tfvars tmpl toml tpl ts tsx txt v vb vhd vue webp wgsl xaml xcconfig xml \
    xsd yaml yml zig zsh";
/// Files without such an end.
const NAMES: &[&str] = &[
    "Brewfile",
    "CODEOWNERS",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "Makefile",
    "Podfile",
    "Procfile",
    "Rakefile",
    "Vagrantfile",
    "justfile",
    "makefile",
];
/// Files that begin with a dot.
const DOT_FILES: &[&str] = &[
    ".editorconfig",
    ".env",
    ".gitattributes",
    ".gitkeep",
    ".gitmodules",
    ".mailmap",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".tool-versions",
];
/// Names of libraries that look like files.
const LIBRARIES: &str = "\
    alpine.js asp.net backbone.js chart.js d3.js deck.gl discord.js ember.js express.js fabric.js highlight.js \
    htmx.js js.org leaflet.js moment.js nest.js next.js node.js nuxt.js p5.js pdf.js phaser.js pixi.js plotly.js \
    react.js solid.js socket.io tensorflow.js three.js tone.js transformers.js vue.js web3.js ethers.js \
    ffmpeg.wasm";

fn has_word(words: &str, wanted: &str) -> bool {
    words.split(' ').any(|word| word == wanted)
}

/// Whether a path ends with the name of a file.
pub(super) fn is_file_name(path: &str, is_code: bool) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    if has_word(LIBRARIES, &path.to_ascii_lowercase()) {
        return false;
    }
    if name.is_empty() || !path.chars().any(char::is_alphanumeric) || (name.starts_with("*.") && !path.contains('/')) {
        return false;
    }
    if NAMES.contains(&name) || name.starts_with("Dockerfile.") || (name.starts_with(".env") && name.len() > 4) {
        return true;
    }
    if name.starts_with('.') && !name.trim_start_matches('.').contains('.') {
        // A name with a leading dot may be a class or a target: `.active`, `.PHONY`.
        let is_ignore = name.ends_with("ignore") && name != ".ignore";
        return is_ignore || name.ends_with("rc") && name.len() > 4 || DOT_FILES.contains(&name);
    }
    let Some((stem, end)) = name.rsplit_once('.') else { return false };
    let lower = end.to_ascii_lowercase();
    let is_name =
        !stem.is_empty() && stem.chars().any(|char| char.is_alphanumeric() || matches!(char, '*' | '_' | '['));
    // `e.g`, `i.e` and versions are none; nor is `v1.c` in a sentence.
    let is_short = !is_code && !path.contains('/') && end.len() < 2;
    // A field of a value is no file: `app.config`, `process.env`.
    let is_field = !path.contains('/')
        && matches!(
            lower.as_str(),
            "env"
                | "config"
                | "db"
                | "service"
                | "example"
                | "props"
                | "m"
                | "v"
                | "r"
                | "h"
                | "template"
                | "feature"
                | "targets"
                | "mod"
                | "lock"
                | "sum"
                | "properties"
                | "conf"
        )
        && !matches!(
            name,
            "go.mod"
                | "go.sum"
                | "Cargo.lock"
                | "poetry.lock"
                | "uv.lock"
                | "yarn.lock"
                | "nginx.conf"
                | "gradle.properties"
                | "application.properties"
        );
    is_name && !is_short && !is_field && has_word(EXTENSIONS, &lower)
}
