//! Tells names of files such as `src/a.rs` from other words, by extensions and known names.

const EXTENSIONS: &str = "\
    adoc arb asm astro avif avsc axaml bash bat bats bicep blade bru c cairo cc cfg circom cjs clj cmake cmd conf config \
    cpp cppm cs cshtml csproj crt css csv cts cu cuh cxx dart db dockerfile docx drawio edn ejs entitlements env eot epub erb erl ex \
    example exs f90 feature fish fs fsproj fxml gd gemspec gif glsl go gql gradle graphql groovy h hbs hcl heex hpp \
    hs htm html hxx ico ini ino ipynb java jinja jinja2 jpeg jpg js json json5 jsonc jsonl jsx kql kt kts latte ldif \
    less liquid lock lua m mako md mdc mdx mjml mjs mk ml mli mm mmd mod mp3 mp4 mts nim nix njk nu otf parquet pbxproj pcss pdf pem php phtml \
    pl plantuml plist png podspec pptx prisma properties props proto ps1 psm1 pug puml py pyi r rake razor rb rego resx \
    rs rst sass sbt scala scss service sh sln slnx snap sol sql sqlite storyboard strings styl sum sv svelte svg \
    swift targets template tf tfvars tmpl toml tpl tres ts tscn tsx ttf twig txt v vb vhd vue vy wav webm webmanifest webp \
    wgsl woff woff2 xaml xcconfig xcscheme xcstrings xib xlsx xml xsd yaml yml zig zsh";
const NAMES: &[&str] = &[
    "Brewfile",
    "CODEOWNERS",
    "Containerfile",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "Makefile",
    "Pipfile",
    "Podfile",
    "Procfile",
    "Rakefile",
    "Vagrantfile",
    "justfile",
    "makefile",
];
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
const LIBRARIES: &str = "\
    alpine.js anime.js asp.net babylon.js backbone.js bignumber.js chart.js cytoscape.js d3.js day.js decimal.js \
    deck.gl dexie.js discord.js ember.js ethers.js express.js fabric.js ffmpeg.wasm fuse.js highlight.js hls.js howler.js \
    htmx.js js.org knex.js koa.js konva.js leaflet.js mapbox.js matter.js moment.js nest.js next.js nextauth.js \
    node.js nuxt.js p5.js passport.js pdf.js phaser.js pixi.js plotly.js react.js reveal.js sails.js socket.io \
    solid.js tensorflow.js three.js tone.js transformers.js video.js vue.js web3.js xterm.js \
    zone.js jquery.js lodash.js underscore.js handlebars.js require.js preact.js svelte.js angular.js hono.js gsap.js \
    quill.js swiper.js prism.js redux.js";

fn has_word(words: &str, wanted: &str) -> bool {
    words.split(' ').any(|word| word == wanted)
}

/// `true` for a name with a known extension, or a known one such as `Makefile`.
pub(super) fn is_file_name(path: &str, is_code: bool) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    if has_word(LIBRARIES, &path.to_ascii_lowercase()) {
        return false;
    }
    if name.is_empty()
        || !path.chars().any(char::is_alphanumeric)
        || (name.starts_with("*.") && !path.contains('/'))
    {
        return false;
    }
    if NAMES.contains(&name)
        || name.starts_with("Dockerfile.")
        || (name.starts_with(".env") && name.len() > 4)
    {
        return true;
    }
    if name.starts_with('.') && !name.trim_start_matches('.').contains('.') {
        // A name with a leading dot may be a class or a target: `.active`, `.PHONY`.
        let is_ignore = name.ends_with("ignore") && name != ".ignore";
        return is_ignore || name.ends_with("rc") && name.len() > 4 || DOT_FILES.contains(&name);
    }
    let Some((stem, end)) = name.rsplit_once('.') else {
        return false;
    };
    let lower = end.to_ascii_lowercase();
    let is_name = !stem.is_empty()
        && stem
            .chars()
            .any(|char| char.is_alphanumeric() || matches!(char, '*' | '_' | '['));
    // `e.g`, `i.e`, versions, and `v1.c` in a sentence.
    let is_short = !is_code && !path.contains('/') && end.len() < 2;
    // Fields of values: `app.config`, `process.env`.
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
                | "bun.lock"
                | "composer.lock"
                | "deno.lock"
                | "flake.lock"
                | "mix.lock"
                | "pubspec.lock"
                | "Gemfile.lock"
                | "Pipfile.lock"
                | "Podfile.lock"
                | "poetry.lock"
                | "uv.lock"
                | "yarn.lock"
                | "nginx.conf"
                | "gradle.properties"
                | "application.properties"
        );
    is_name && !is_short && !is_field && has_word(EXTENSIONS, &lower)
}
