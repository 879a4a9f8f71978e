//! The commands in a line of shell, read as far as is needed to say which programs it starts. What a variable holds and
//! what another command prints stays unknown.

mod line_reader;
mod programs;

pub use self::line_reader::split_commands;
pub(crate) use self::programs::{is_reader, is_shell, is_wrapper, program_name};

#[cfg(test)]
mod tests {
    use super::*;

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
            ("sh $(dirname $0)/check.sh x", "dirname·$0 ; sh·/check.sh·x"),
            ("sh `cat name`.sh", "cat·name ; sh·.sh"),
            ("x=$(a b) c", "a·b ; c"),
            ("a # b; c\nd", "a ; d"),
            ("a#b", "a#b"),
            (r".\check.cmd x", r".\check.cmd·x"),
            (r"C:\ci\check.cmd x", r"C:\ci\check.cmd·x"),
            (r"sh ./c\heck.sh", "sh·./check.sh"),
            ("sh $'check.sh'", "sh·check.sh"),
            ("cd \"$(git rev-parse --show-toplevel)\" && a", "git·rev-parse·--show-toplevel ; cd· ; a"),
            ("sh \"`pwd`/a b\" c", "pwd ; sh·/a b·c"),
            ("a \"x $(b \"c d\") y\" e", "b·c d ; a·x  y·e"),
            ("bash <(cat x)", "cat·x ; bash·"),
            ("sh ${D:-a b}/c", "sh·${D:-a b}/c"),
            ("case $x in a) b;; (c) d;; esac; e", "$x·in·a ; b ; c ; d ; e"),
            ("a 'open", "a·open"),
            ("a $(open", "open ; a·"),
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
}
