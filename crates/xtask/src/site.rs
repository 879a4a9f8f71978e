//! `cargo xtask site`: the pages as a site in `target/site`, with every link of it followed.

mod built_links;
mod staged_pages;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cargo;

const VERSION: &str = "0.5.4";
/// Address of the site below its host, as in `docs/book.toml`.
const SITE_URL: &str = "/omo/";

pub(crate) fn run() -> Result<()> {
    let site = cargo::target()?.join("site");
    let links = build(&find_or_install_mdbook()?, &site)?;
    anstream::println!(
        "{links} links lead somewhere: {}",
        site.join("index.html").display()
    );
    Ok(())
}

/// Builds the site; gives the number of its internal links, each of which leads somewhere.
fn build(mdbook: &Path, site: &Path) -> Result<usize> {
    let top = cargo::top()?;
    let book = site.with_extension("source");
    for folder in [&book, &site.to_owned()] {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
        }
    }
    staged_pages::stage(&top, &book.join("src"))?;
    for name in ["book.toml", "site.css"] {
        fs::copy(top.join("docs").join(name), book.join(name))
            .with_context(|| format!("copy docs/{name}"))?;
    }
    // Its lines about steps are no news.
    let mut command = Command::new(mdbook);
    command
        .arg("build")
        .arg(&book)
        .arg("--dest-dir")
        .arg(site)
        .env("MDBOOK_LOG", "warn");
    cargo::run(&mut command)?;
    built_links::check(site, SITE_URL)
}

/// mdBook of [`VERSION`], built by cargo if missing. It gets the processor that nothing else wants.
pub(crate) fn find_or_install_mdbook() -> Result<PathBuf> {
    let root = cargo::target()?.join("tools");
    let name = format!("mdbook{}", std::env::consts::EXE_SUFFIX);
    let program = root.join("bin").join(name);
    if is_version(&program) {
        return Ok(program);
    }
    anstream::println!(
        "building mdBook {VERSION} into {}, which takes minutes",
        root.display()
    );
    let mut install = if cfg!(unix) {
        let mut nice = Command::new("nice");
        nice.args(["-n", "19"]).arg(cargo::cargo());
        nice
    } else {
        Command::new(cargo::cargo())
    };
    install.arg("install").arg("--root").arg(&root);
    install.args(["--locked", "--quiet", "--version", &format!("={VERSION}")]);
    install.args(["mdbook", "--no-default-features", "--features", "search"]);
    cargo::run(install.current_dir(cargo::top()?))?;
    ensure!(
        is_version(&program),
        "cargo installed no {}",
        program.display()
    );
    Ok(program)
}

fn is_version(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| {
        String::from_utf8_lossy(&output.stdout).trim() == format!("mdbook v{VERSION}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "needs mdBook: cargo xtask test"]
    fn the_site_is_built_can_be_searched_and_each_of_its_links_leads_somewhere() {
        #[expect(clippy::disallowed_methods, reason = "the task says where it is")]
        let mdbook = std::env::var_os("OMO_TEST_MDBOOK").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site");
        let links = build(Path::new(&mdbook), &site).unwrap();
        assert!(links > 500, "only {links} links");
        let mut names = fs::read_dir(&site)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.any(|name| name.starts_with("searchindex")));
    }

    #[test]
    fn the_address_is_the_one_of_the_book() {
        let book: toml::Table = toml::from_str(
            &fs::read_to_string(cargo::top().unwrap().join("docs/book.toml")).unwrap(),
        )
        .unwrap();
        let html = &book["output"]["html"];
        assert_eq!(html["site-url"].as_str(), Some(SITE_URL));
        assert_eq!(
            html["git-repository-url"].as_str(),
            Some(env!("CARGO_PKG_REPOSITORY"))
        );
    }
}
