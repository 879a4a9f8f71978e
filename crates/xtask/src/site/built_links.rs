//! Links of a built site: each internal one leads to a file, and to an element of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

#[derive(Default)]
struct Page {
    links: Vec<String>,
    ids: BTreeSet<String>,
}

/// Follows every internal link of the pages below a folder; gives their number. `site_url` is the address of the
/// folder, such as `/omo/`, which absolute links begin with.
pub(super) fn check(site: &Path, site_url: &str) -> Result<usize> {
    let mut files = BTreeSet::new();
    list_files(site, site, &mut files)?;
    let mut pages = BTreeMap::new();
    for file in files.iter().filter(|file| is_page(file)) {
        let text = fs::read_to_string(site.join(file)).with_context(|| format!("read {file}"))?;
        pages.insert(file.as_str(), read_page(&text));
    }
    let (mut count, mut broken) = (0, Vec::new());
    for (file, page) in &pages {
        for link in page.links.iter().filter(|link| is_internal(link)) {
            count += 1;
            if let Some(problem) = problem(file, link, site_url, &files, &pages) {
                broken.push(format!("{file}: {link}: {problem}"));
            }
        }
    }
    if !broken.is_empty() {
        bail!("links that lead nowhere:\n{}", broken.join("\n"));
    }
    Ok(count)
}

fn list_files(site: &Path, folder: &Path, files: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
        let path: PathBuf = entry?.path();
        if path.is_dir() {
            list_files(site, &path, files)?;
        } else if let Ok(path) = path.strip_prefix(site) {
            let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            files.insert(parts.join("/"));
        }
    }
    Ok(())
}

fn is_page(file: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|ending| ending == "html")
}

fn is_internal(link: &str) -> bool {
    let scheme = link.split(['/', '#', '?']).next().unwrap_or_default();
    !scheme.contains(':') && !link.starts_with("//")
}

/// Reason why a link of a page leads nowhere.
fn problem(
    from: &str,
    link: &str,
    site_url: &str,
    files: &BTreeSet<String>,
    pages: &BTreeMap<&str, Page>,
) -> Option<&'static str> {
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let path = path.split('?').next().unwrap_or_default();
    let Some(target) = resolve(from, path, site_url) else {
        return Some("it is outside of the site");
    };
    let index = format!("{target}/index.html");
    let candidates = [target.as_str(), index.trim_start_matches('/')];
    let Some(file) = candidates.into_iter().find(|file| files.contains(*file)) else {
        return Some("there is no such file");
    };
    let page = pages.get(file);
    let has_element = fragment.is_empty() || page.is_none_or(|page| page.ids.contains(fragment));
    (!has_element).then_some("there is no such heading")
}

/// Path below the site that a path on a page leads to; `None` for one out of the site.
fn resolve(from: &str, path: &str, site_url: &str) -> Option<String> {
    if path.is_empty() {
        return Some(from.to_owned());
    }
    let below = path.strip_prefix(site_url);
    if below.is_none() && path.starts_with('/') {
        return None;
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = match below {
        Some(_) => Vec::new(),
        None => folder.split('/').filter(|part| !part.is_empty()).collect(),
    };
    for part in below.unwrap_or(path).split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Links and ids of a page. Scripts and comments have none.
fn read_page(html: &str) -> Page {
    let mut page = Page::default();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        rest = match after.strip_prefix("!--") {
            Some(comment) => comment.split_once("-->").map_or("", |(_, rest)| rest),
            None => after,
        };
        if rest.len() != after.len()
            || !after.starts_with(|first: char| first.is_ascii_alphabetic())
        {
            continue;
        }
        let (tag, after) = split_tag(after);
        for (name, value) in attributes(tag) {
            match name {
                "href" | "src" => page.links.push(value.replace("&amp;", "&")),
                "id" | "name" => drop(page.ids.insert(value.replace("&amp;", "&"))),
                _ => {}
            }
        }
        rest = if tag.starts_with("script") {
            after.split_once("</script").map_or("", |(_, rest)| rest)
        } else {
            after
        };
    }
    page
}

/// A tag without its brackets, and what follows it. A `>` in quotes does not end it.
fn split_tag(text: &str) -> (&str, &str) {
    let mut quote = None;
    let end = text.char_indices().find(|(_, character)| {
        match quote {
            Some(open) if open == *character => quote = None,
            None if ['"', '\''].contains(character) => quote = Some(*character),
            _ => {}
        }
        quote.is_none() && *character == '>'
    });
    end.map_or((text, ""), |(place, _)| text.split_at(place))
}

/// Names and values of the attributes of a tag that stand in double quotes, as mdBook writes them.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = tag;
    while let Some((before, after)) = rest.split_once("=\"") {
        let Some((value, after)) = after.split_once('"') else {
            break;
        };
        let name = before.split_whitespace().next_back().unwrap_or_default();
        found.push((name, value));
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(pages: &[(&str, &str)]) -> Result<usize> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in pages {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        check(folder.path(), "/omo/")
    }

    #[test]
    fn links_to_files_folders_and_headings_are_followed() {
        let index = "<h1 id=\"top\"><a title='>' class=\"x\" href=\"a/b.html#one\">b</a></h1> <a href=\"#top\"> \
                     <a href=\"/omo/a/b.html\"> <a href=\"https://e.e/x\"> <!-- <a href=\"no\"> --> \
                     <script>'<a href=\"no\">'</script> <img src=\"p.svg?v=1\">";
        let below = "<h2 id=\"one\"></h2><a href=\"../index.html#top\"><a href=\"..\">";
        let pages = [("index.html", index), ("a/b.html", below), ("p.svg", "")];
        assert_eq!(checked(&pages).unwrap(), 6);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_named_with_its_page() {
        for (link, problem) in [
            ("b.html", "there is no such file"),
            ("#no", "there is no such heading"),
            ("../index.html", "it is outside of the site"),
            ("/other/", "it is outside of the site"),
        ] {
            let page = format!("<a href=\"{link}\">");
            let error = checked(&[("index.html", &page)]).unwrap_err().to_string();
            assert!(
                error.ends_with(&format!("index.html: {link}: {problem}")),
                "{error}"
            );
        }
    }
}
