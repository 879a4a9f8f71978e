//! Splits `<verify>` of a GSD task into commands to run and criteria for a reader.

use omo_core::check::task_check::TaskCheck;

use super::elements::tag_name;
use crate::document::MarkdownDocument;
use crate::fields::programs::{is_only_program, never_ends};
use crate::fields::stated_checks::{read_checks, reads_like_prose, split_code_span};
use crate::labels::split_list_marker;
use crate::pattern::Pattern;

/// Content of a `<verify>` element; `unused` are commands that are not run.
#[derive(Debug, Default)]
pub(super) struct VerifyText {
    pub(super) checks: Vec<TaskCheck>,
    pub(super) criteria: Vec<String>,
    pub(super) unused: Vec<String>,
}

pub(super) fn read_verify(text: &str) -> VerifyText {
    let (commands, rest) = split_automated(text);
    if commands.is_empty() {
        return read_rows(&dedent(text));
    }
    let mut all = VerifyText::default();
    for command in commands {
        let command = dedent(&unescape(command));
        if command.contains("```") {
            let found = read_rows(&command);
            all.checks.extend(found.checks);
            all.criteria.extend(found.criteria);
            all.unused.extend(found.unused);
        } else {
            read_automated(&command, &mut all.checks, &mut all.criteria);
        }
    }
    all.criteria.extend(read_items(&without_tags(&rest)));
    all
}

/// Texts of `<automated>`, and the text beside them.
fn split_automated(text: &str) -> (Vec<&str>, String) {
    let (mut found, mut beside, mut rest) = (Vec::new(), String::new(), text);
    while let Some((before, behind)) = rest.split_once("<automated>") {
        beside.push_str(before);
        let (command, more) = behind.split_once("</automated>").unwrap_or((behind, ""));
        found.push(command);
        rest = more;
    }
    beside.push_str(rest);
    (found, beside)
}

/// One command a line, unless a line goes on in the next.
fn read_automated(text: &str, checks: &mut Vec<TaskCheck>, criteria: &mut Vec<String>) {
    let rows: Vec<&str> = text
        .lines()
        .map(|row| unwrap_code(row.trim_end()))
        .filter(|row| is_code(row))
        .collect();
    if rows.iter().all(|row| is_alone(row)) {
        for row in rows {
            if NO_COMMAND.is_match(row) || reads_like_prose(row) {
                criteria.push(row.trim().to_owned());
            } else {
                checks.push(TaskCheck::new(row.trim()));
            }
        }
    } else {
        checks.push(TaskCheck::new(rows.join("\n").trim()));
    }
}

static NO_COMMAND: Pattern =
    Pattern::new(r"^\W*(?i-u:missing|none|n/a|tbd|todo|manual|manually|human|visual|see)\b");

fn is_code(row: &str) -> bool {
    !row.trim().is_empty() && !row.trim_start().starts_with('#')
}

fn unwrap_code(row: &str) -> &str {
    let code = split_code_span(row.trim_start()).filter(|(_, rest)| rest.trim().is_empty());
    code.map_or(row, |(code, _)| code)
}

/// Part of a command that goes on in the next line, or affects it.
static GOES_ON: Pattern = Pattern::new(
    r"^\s*(?:&&|\|)|(?:\\|&&|\||[({])\s*$|<<|^\s*(?:(?:if|then|else|elif|fi|for|while|do|done|case|esac|cd|export|set|source)\b|[})]|[A-Za-z_]+=\S*\s*$)",
);

fn is_alone(row: &str) -> bool {
    shlex::split(row).is_some() && !GOES_ON.is_match(row)
}

static PATH_OR_VARIABLE: Pattern =
    Pattern::new(r"^(?:[.~]+/\S|[\w./-]+\.(?:sh|py|js|rb)\s|[A-Z_]+=)");

fn begins_as_shell(row: &str) -> bool {
    let is_call = row
        .split_once(char::is_whitespace)
        .is_some_and(|(first, _)| is_only_program(first));
    is_call || PATH_OR_VARIABLE.is_match(row)
}

fn join_sentences(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut is_code, mut is_item) = (false, false);
    for row in text.lines() {
        let inner = row.trim();
        let is_fence = inner.starts_with("```") || inner.starts_with("~~~");
        is_code ^= is_fence;
        let has_marker = split_list_marker(row).0.is_some();
        let before = found.last_mut().filter(|before| {
            let item_text = split_list_marker(before).1;
            let is_open = !item_text
                .trim_end()
                .ends_with(['.', ':', ';', '!', '?', '`'])
                && item_text.starts_with(char::is_uppercase);
            is_open
                || is_item && row.starts_with([' ', '\t']) && !item_text.trim_end().ends_with(':')
        });
        let goes_on = inner.starts_with(char::is_lowercase)
            && !begins_as_shell(inner)
            && !is_fence
            && !is_code;
        match before {
            Some(before) if goes_on && !has_marker => {
                before.push(' ');
                before.push_str(inner);
            }
            _ => found.push(row.to_owned()),
        }
        is_item = !inner.is_empty() && (has_marker || is_item);
    }
    found
}

/// Command with a remark: `npm test passes`, `make → no warning`.
static SAID: Pattern = Pattern::new(
    r"^([a-z.~/][^`]*?[^\s`,;:])\s*(?:\s(?i-u:passes|pass|succeeds|completes|works|compiles|is clean|exits|returns|shows|prints|outputs|reports|runs without|has no|without errors|with no errors)\b|\s(?:→|->|=>|—|–|#|//)\s)",
);

pub(super) fn read_rows(text: &str) -> VerifyText {
    // Each sentence that begins with a command is a row.
    let rows = join_sentences(text).into_iter().flat_map(|row| {
        let text = split_list_marker(&row).1;
        let head = row.len() - text.len();
        let ends = text
            .match_indices(". `")
            .filter(|_| text.starts_with('`'))
            .map(|(at, end)| head + at + end.len() - 1);
        let cuts: Vec<usize> = std::iter::once(0).chain(ends).chain([row.len()]).collect();
        let parts = cuts.iter().zip(cuts.iter().skip(1));
        parts
            .filter_map(|(start, end)| row.get(*start..*end))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let rows: Vec<String> = rows.map(|row| mark_command(&unescape(&row))).collect();
    let text = rows.join("\n");
    let document = MarkdownDocument::read(&text);
    let mut found = read_checks(&document, 0..text.len());
    let mut unused = Vec::new();
    found.retain(|stated| {
        let is_block = document.code_at(stated.span.start).is_some();
        let is_code = document.slice(stated.span.clone()).contains('`');
        let is_command = is_block || is_row_command(&stated.check.command, is_code);
        let is_used = is_command && (is_block || !never_ends(&stated.check.command));
        unused.extend((is_command && !is_used).then(|| stated.check.command.clone()));
        is_used
    });
    let mut joined = String::new();
    let mut at = 0;
    for row in text.split_inclusive('\n') {
        // Results stand in the order of the text.
        let behind = found.partition_point(|stated| stated.span.start <= at);
        let last = behind.checked_sub(1).and_then(|last| found.get(last));
        let is_read =
            last.is_some_and(|stated| stated.span.contains(&at)) || document.code_at(at).is_some();
        if !is_read && !row.trim_end().ends_with(':') {
            joined.push_str(row);
        }
        at += row.len();
    }
    let checks = found.into_iter().map(|stated| stated.check).collect();
    VerifyText {
        checks,
        criteria: read_items(&without_tags(&joined)),
        unused,
    }
}

/// Text that runs nothing: a route, a file that is no script, markup.
static NAMES_A_THING: Pattern = Pattern::new(
    r#"^(?:/|[\w@().+\[\]-]+(?:/[\w@().+\[\]-]+)*\.(?:tsx?|jsx|svelte|vue|rs|go|md|json|ya?ml|toml|css|html|swift|kt|java|sql)\b|\S+\s+\w+=["']|\W*$)"#,
);

/// `true` for code, or the start of a shell line.
fn is_row_command(command: &str, is_code: bool) -> bool {
    (is_code || begins_as_shell(command)) && !NAMES_A_THING.is_match(command)
}

static NAMED: Pattern = Pattern::new(r"^[^`]{1,80}[^`\s]:[*_]*\s*(`[^`]+`)[\s.;]*$");

fn mark_command(row: &str) -> String {
    let (_, inner) = split_list_marker(row);
    if let Some((command, rest)) = split_code_span(inner) {
        let is_shell =
            command.starts_with(|first: char| first.is_ascii_lowercase() || "./~".contains(first));
        let has_words = rest.trim_start().starts_with(char::is_alphabetic);
        return if is_shell && has_words && is_whole_command(command) {
            format!("`{command}` - {}", rest.trim_start())
        } else {
            row.to_owned()
        };
    }
    if let Some(([code], _)) = NAMED.read(inner)
        && begins_as_shell(code.trim_matches('`'))
    {
        return code.to_owned();
    }
    let Some(([command], _)) = SAID.read(inner) else {
        return row.to_owned();
    };
    let rest = inner.get(command.len()..).unwrap_or_default();
    if begins_as_shell(command) && is_whole_command(command) {
        format!("`{command}` - {}", rest.trim_start())
    } else {
        row.to_owned()
    }
}

fn is_whole_command(command: &str) -> bool {
    let is_plain = begins_as_shell(command) || command.split_whitespace().count() > 1;
    is_plain && !reads_like_prose(command) && is_alone(command) && !NO_COMMAND.is_match(command)
}

pub(super) fn read_items(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for row in text
        .lines()
        .map(str::trim_end)
        .filter(|row| !row.trim().is_empty())
    {
        match (split_list_marker(row), found.last_mut()) {
            ((None, inner), Some(last)) => {
                last.push(' ');
                last.push_str(inner.trim());
            }
            ((_, inner), _) => found.push(inner.trim().to_owned()),
        }
    }
    found
}

fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        out.push_str(before);
        let name = behind.trim_start_matches('/');
        let length =
            name.find(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '_' | '-'));
        let closed = length
            .filter(|length| *length > 0)
            .and_then(|length| name.get(length..)?.strip_prefix('>'));
        out.push(if closed.is_some() { '\n' } else { '<' });
        rest = closed.unwrap_or(behind);
    }
    out.push_str(rest);
    out
}

/// Text with an item on each line where its items are elements; else unchanged.
pub(super) fn unwrap_elements(text: &str) -> String {
    let name = text.trim_start().strip_prefix('<').map_or("", tag_name);
    if name.is_empty() {
        return text.to_owned();
    }
    text.replace(&format!("<{name}>"), "\n- ")
        .replace(&format!("</{name}>"), "\n")
}

pub(super) fn unescape(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    if !text.contains('&') {
        return text.to_owned();
    }
    pairs.iter().fold(text.to_owned(), |text, (word, sign)| {
        text.replace(word, sign)
    })
}

/// Text without common indentation and empty lines around it; a first line behind a tag has no indentation.
pub(super) fn dedent(text: &str) -> String {
    let behind = text.lines().skip(1).filter(|row| !row.trim().is_empty());
    let shared = behind.map(indentation).min().unwrap_or(0);
    let rows = text
        .lines()
        .map(|row| row.get(shared.min(indentation(row))..).unwrap_or_default());
    rows.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn indentation(row: &str) -> usize {
    row.len() - row.trim_start_matches([' ', '\t']).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_prose() {
        for (text, commands, criteria) in [
            (
                "\n  <automated>make a &amp;&amp; make b</automated>\n",
                "make a && make b",
                "",
            ),
            (
                "<automated>make a</automated>\n<manual>Look at it</manual>",
                "make a",
                "Look at it",
            ),
            (
                "<automated>make a</automated> <automated>make b</automated>",
                "make a|make b",
                "",
            ),
            (
                "<automated>\n make a\n make b\n</automated>",
                "make a|make b",
                "",
            ),
            (
                "<automated>\n cd sub\n make b\n</automated>",
                "cd sub\nmake b",
                "",
            ),
            (
                "<automated>\n node -e \"\n a()\n \"\n</automated>",
                "node -e \"\na()\n\"",
                "",
            ),
            ("<automated>`make a`</automated>", "make a", ""),
            (
                "<automated>MISSING: no test yet</automated>",
                "",
                "MISSING: no test yet",
            ),
            ("<automated>make a", "make a", ""),
            (
                "\n  make a\n  grep -c x b.md | head -1\n",
                "make a|grep -c x b.md | head -1",
                "",
            ),
            (
                "npm run build passes without a warning",
                "npm run build",
                "",
            ),
            (
                "- `make a` passes\n- The page shows\n  a list",
                "make a",
                "The page shows a list",
            ),
            (
                "The list shows all that was made",
                "",
                "The list shows all that was made",
            ),
            (
                "```bash\nmake a\n```\nLook:\n```bash\nmake b\n```",
                "make a|make b",
                "",
            ),
            ("TypeScript compiles: `npm run build`", "npm run build", ""),
            (
                "1. `cat a.md | head -3` shows two lines",
                "cat a.md | head -3",
                "",
            ),
            (
                "1. `omo list --all` finds it\n2. `heat` is there",
                "omo list --all",
                "`heat` is there",
            ),
            ("all tests pass (`make a`)", "", "all tests pass (`make a`)"),
            ("- users table with a field", "", "users table with a field"),
            (
                "- src/a.ts has two lines\n- /start shows it",
                "",
                "src/a.ts has two lines|/start shows it",
            ),
            ("- `src/a.ts` - exists", "", "`src/a.ts` - exists"),
            ("- `npm run dev` - starts", "", "`npm run dev` - starts"),
            ("- tests/all.sh --fast", "tests/all.sh --fast", ""),
            ("Look at `src/a.rs`", "", "Look at `src/a.rs`"),
            ("Two parts: `src/a.rs`", "", "Two parts: `src/a.rs`"),
            ("", "", ""),
        ] {
            let VerifyText {
                checks,
                criteria: said,
                ..
            } = read_verify(text);
            let found: Vec<&str> = checks.iter().map(|check| check.command.as_str()).collect();
            assert_eq!(
                (found.join("|").as_str(), said.join("|").as_str()),
                (commands, criteria),
                "{text}"
            );
        }
        let servers = read_verify("- `npm run dev` starts\n- `make a` passes\nnpm start\n");
        assert_eq!(servers.unused, ["npm run dev", "npm start"]);
    }
}
