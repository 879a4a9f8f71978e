//! Recognition of pasted lines of code, and of settings with a keyword.

use super::{Line, is_name, without_bullet};

impl Line<'_> {
    pub(super) fn is_code(&self) -> bool {
        const STARTS: [&str; 36] = [
            "let ",
            "const ",
            "var ",
            "fn ",
            "def ",
            "class ",
            "import ",
            "return ",
            "if (",
            "if ",
            "for (",
            "while (",
            "func ",
            "function ",
            "struct ",
            "enum ",
            "pub ",
            "case ",
            "elif ",
            "else ",
            "} ",
            "async ",
            "await ",
            "package ",
            "private ",
            "public ",
            "static ",
            "switch ",
            "match ",
            "impl ",
            "use ",
            "type ",
            "SELECT ",
            "INSERT ",
            "UPDATE ",
            "DELETE ",
        ];
        let line = self.text.trim();
        let ends_as_code = line.ends_with([';', '{', '}', ':'])
            || line.ends_with(");")
            || line.contains("= ")
            || line.contains("):")
            || line.starts_with("return ") && line.split_whitespace().count() == 2
            || line.ends_with(['"', '\'']);
        STARTS.iter().any(|start| line.starts_with(start)) && ends_as_code
            || line.ends_with([';', '{'])
            || line.starts_with("from ") && line.contains(" import ")
            || ["//", "/*", "#!", "#include", "#define"]
                .iter()
                .any(|start| line.starts_with(start))
            || line.starts_with("SELECT ") && line.contains(" FROM ")
            || is_statement(line)
    }

    /// `true` for a setting such as `mode: ulw`, `keywords: [ulw, x]` or `ulw: true`.
    pub(super) fn is_setting_of_keyword(&self) -> bool {
        let (before, after) = (without_bullet(self.before()), self.after());
        let uncommented = after.split_once(" #").map_or(after, |(value, _)| value);
        let is_alone = uncommented
            .trim_end_matches([',', ' ', '"', '\''])
            .is_empty();
        if let Some((name, rest)) = before.split_once(':') {
            let in_list = rest.trim_start().starts_with('[')
                && after.trim_end_matches([',', ' ']).ends_with(']');
            return is_name(name) && (rest.trim().is_empty() && is_alone || in_list);
        }
        let value = after
            .trim_start()
            .strip_prefix(": ")
            .unwrap_or_default()
            .trim()
            .trim_end_matches(',');
        before.is_empty()
            && (matches!(value, "on" | "true" | "false" | "null" | "yes" | "no" | "~")
                || !value.is_empty()
                    && value
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || byte == b'.')
                || matches!(value, "{" | "[" | "|" | ">")
                || value.starts_with(['[', '{', '"', '\''])
                    && value.ends_with([']', '}', '"', '\'']))
    }
}

/// `true` for a statement such as `import ulw`, `class Ulw: pass` or `const ulw: string`.
fn is_statement(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(4).collect();
    match words.as_slice() {
        [
            "import" | "package" | "print" | "module" | "namespace" | "return",
            _,
        ] => true,
        ["class" | "def", name, ..] | ["const" | "let" | "var", name, _] => name.ends_with(':'),
        _ => false,
    }
}
