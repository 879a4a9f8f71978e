//! Shell text and its commands.

use super::reader::MAX_DEPTH;
use super::*;

/// One line: words parted by `_`, then inputs, then written files behind `>`, and groups in parentheses; with their
/// joints, and with a mark for what expands, where `is_whole`.
fn shown(parts: &[Part], is_whole: bool) -> String {
    let mut line = String::new();
    for (place, part) in parts.iter().enumerate() {
        let inner = |inner: &[Part]| shown(inner, is_whole);
        let words = match &part.kind {
            PartKind::Command(words) => words.join("_"),
            PartKind::Group(parts) if is_whole => format!("{{{}}}", inner(parts)),
            PartKind::Inner(parts) if is_whole => format!("$({})", inner(parts)),
            PartKind::Subshell(parts) | PartKind::Group(parts) | PartKind::Inner(parts) => {
                format!("({})", inner(parts))
            }
        };
        let inputs = part.inputs.iter().map(|input| if is_whole { format!("<{input}") } else { input.clone() });
        let targets = part.written_files.iter().map(|target| format!(">{target}"));
        let words = (!words.is_empty()).then_some(words);
        line.push_str(&words.into_iter().chain(inputs).chain(targets).collect::<Vec<_>>().join("_"));
        line.push_str(if is_whole && part.expands { "*" } else { "" });
        line.push_str(match part.joint {
            Joint::And if is_whole => " && ",
            Joint::Or if is_whole => " || ",
            Joint::Pipe if is_whole => " | ",
            Joint::Background if is_whole => " & ",
            _ if place + 1 < parts.len() => "; ",
            _ => "",
        });
    }
    line
}

#[test]
fn a_command_line_is_parted_as_a_shell_does_it() {
    for (text, expected) in [
        ("a b", "a_b"),
        ("a  'b c'\t\"d e\" f\\ g", "a_b c_d e_f g"),
        ("g'i't st\"as\"h", "git_stash"),
        ("a && b || c; d & e | f\ng", "a; b; c; d; e; f; g"),
        ("a '' \"\"", "a__"),
        ("$'git' $\"push\" \"$\"", "git_push_$"),
        ("echo $'\\''; git push; echo $'\\''", "echo_'; git_push; echo_'"),
        ("$'\\x67it' $'\\160ush' $'\\u0067'", "git_push_g"),
        ("a \\\n b", "a_b"),
        ("(a; b) && c", "(a; b); c"),
        ("a $(b c) d", "(b_c); a_$()_d"),
        ("a \"x $(b \"y)z\") w\"", "(b_y)z); a_x $() w"),
        ("a `b \\`c\\``", "((c); b_$()); a_$()"),
        ("a '$(b)' \"\\$(b)\"", "a_$(b)_$(b)"),
        ("a $HOME/x ${y}", "a_$HOME/x_${y}"),
        ("a # b; c\nd #e", "a; d"),
        ("a b#c", "a_b#c"),
        ("a > f 2>&1 >>g &> h", "a_>f_>g_>h"),
        ("a >&2 b 2>&- c >& d", "a_b_c_>d"),
        ("x=$((1 << 2))\na", "((1_2)); x=$(); a"),
        ("((x <<= 2))\na", "((x_=_2)); a"),
        ("a $(pwd)/b `pwd`", "(pwd); (pwd); a_$PWD/b_$PWD"),
        ("cat <<'EOF' | bash -s | c\ngit push\nEOF\nd", "cat; bash_-s; c; (git_push); d"),
        ("echo 'git push' | sh", "echo_git push; (git_push); sh"),
        ("printf 'a\\ngit push\\n' | bash -e", "printf_a\\ngit push\\n; (a; git_push); bash_-e"),
        ("echo a; b | sh", "echo_a; b; sh"),
        ("echo 'git push' || sh", "echo_git push; sh"),
        ("cat <<'EOF' || bash\ngit push\nEOF\nd", "cat; bash; d"),
        ("a 2>/dev/null b", "a_b_>/dev/null"),
        ("a '2'>f", "a_2_>f"),
        ("a < f <<< 'x y'", "a_f_x y"),
        ("cat <<EOF\ngit push $(b)\nEOF\nc", "cat; ((b)); c"),
        ("cat <<'EOF' > f; d\ngit push $(b)\nEOF\nc", "cat_>f; d; c"),
        ("bash <<-EOF\n\tgit push\n\tEOF\nc", "bash; (git_push); c"),
        ("git commit -m \"$(cat <<'EOF'\nIt's \"git push\"\n\nEOF\n)\" && d", "(cat); git_commit_-m_$(); d"),
        ("if a; then b; fi", "if_a; then_b; fi"),
        ("'", ""),
        ("a 'b", "a_b"),
        ("\\", ""),
        (")", ""),
    ] {
        assert_eq!(shown(&parse_shell(text).unwrap(), false), expected, "{text}");
    }
}

#[test]
fn what_is_nested_too_deeply_is_not_read() {
    let nested = |depth: usize| format!("{}git push{}", "$(".repeat(depth), ")".repeat(depth));
    assert!(parse_shell(&nested(MAX_DEPTH)).is_some());
    assert_eq!(parse_shell(&nested(MAX_DEPTH + 1)), None);
    assert_eq!(parse_shell(&"(".repeat(1_000_000)), None);
    assert_eq!(parse_shell(&"\"$(".repeat(1_000_000)), None);
}

fn words(line: &str) -> String {
    let commands = split_commands(line);
    commands.iter().map(|words| words.join("·")).collect::<Vec<_>>().join(" ; ")
}

#[test]
fn a_line_is_read_as_its_commands() {
    for (line, expected) in [
        ("cargo test", "cargo·test"),
        ("CI=1 npm run x", "npm·run·x"),
        ("a&&b || c;d & e\nf|g", "a ; b ; c ; d ; e ; f ; g"),
        ("bash -c \"make check\"", "bash·-c·make check"),
        ("sh -c 'a \"b\"' x", "sh·-c·a \"b\"·x"),
        (r#"echo "a \"b\" \n" c\ d"#, r#"echo·a "b" \n·c d"#),
        ("if ! test -f x; then { sh y; }; fi", "test·-f·x ; sh·y"),
        ("(cd a && b) > out.log 2>&1", "cd·a ; b"),
        ("a >> x b &> y", "a·b"),
        ("sh $(dirname $0)/check.sh x", "dirname·$0 ; sh·$()/check.sh·x"),
        ("sh `cat name`.sh", "cat·name ; sh·$().sh"),
        ("x=$(a b) c", "a·b ; c"),
        ("a # b; c\nd", "a ; d"),
        ("a#b", "a#b"),
        (r".\check.cmd x", r".\check.cmd·x"),
        (r"C:\ci\check.cmd x", r"C:\ci\check.cmd·x"),
        (r"sh ./c\heck.sh", "sh·./check.sh"),
        ("sh $'check.sh'", "sh·check.sh"),
        ("cd \"$(git rev-parse --show-toplevel)\" && a", "git·rev-parse·--show-toplevel ; cd·$() ; a"),
        ("sh \"`pwd`/a b\" c", "pwd ; sh·$PWD/a b·c"),
        ("a \"x $(b \"c d\") y\" e", "b·c d ; a·x $() y·e"),
        ("bash <(cat x)", "cat·x ; bash·$()"),
        ("sh ${D:-a b}/c", "sh·${D:-a b}/c"),
        ("case $x in a) b;; (c) d;; esac; e", "$x·in·a ; b ; c ; d ; e"),
        ("a 'open", "a·open"),
        ("a $(open", "open ; a·$()"),
        ("", ""),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn no_line_takes_more_than_its_length() {
    for part in ["$(", "`a ", "(a", "{ a;", "a \"$(", "case a in b) "] {
        assert!(split_commands(&part.repeat(20_000)).len() <= 40_000, "{part}");
    }
}
