//! The commands in a line of shell, read as far as is needed to say which programs and files it names.
//!
//! What a variable holds and what another command prints is left in the words as it was written, where it can be known:
//! [`expand_variables`] puts it there. Anything else that another command prints stays unknown.

mod line_reader;
mod programs;
mod variables;

pub use self::line_reader::{TOP_LEVEL, split_commands};
pub use self::programs::{is_builder, is_reader, is_shell, is_syntax_check, is_wrapper, program_name};
pub use self::variables::{expand_variables, variables_in};

/// One command of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCommand {
    /// What is assigned before it.
    pub assigned: Vec<Assignment>,
    /// Its words without their quotes, the program first.
    pub words: Vec<String>,
    /// The files that it reads from: what stands behind `<`.
    pub inputs: Vec<String>,
    /// The subshells that it runs in, the outermost first: what is set there, such as the folder, ends with them.
    pub subshells: Vec<usize>,
    /// So many of the commands just before it print what stands in its words.
    pub substituted: usize,
    /// Commands with the same number may send their output to each other.
    pub pipeline: usize,
}

/// `NAME=value`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The name of the variable.
    pub name: String,
    /// What it is set to.
    pub value: String,
}

impl Assignment {
    /// Reads a word; `None` where it is none.
    pub fn parse(word: &str) -> Option<Self> {
        let (name, value) = word.split_once('=')?;
        let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name.then(|| Self { name: name.to_owned(), value: value.to_owned() })
    }
}

impl ShellCommand {
    /// The program and what it is given; `None` where nothing but variables are set.
    pub fn program(&self) -> Option<(&str, &[String])> {
        self.words.split_first().map(|(program, arguments)| (program.as_str(), arguments))
    }

    /// The lines of shell among what it is given: behind `-c`, behind `eval`, and each word that has several words.
    pub fn inner_lines(&self) -> Vec<String> {
        let Some((program, arguments)) = self.program().filter(|(program, _)| !is_reader(program_name(program))) else {
            return Vec::new();
        };
        if program == "eval" {
            return vec![arguments.join(" ")];
        }
        let mut is_line = false;
        let lines = arguments.iter().filter(|word| {
            let is_behind = std::mem::take(&mut is_line);
            is_line = is_line_option(word);
            is_behind || word.contains(char::is_whitespace)
        });
        lines.cloned().collect()
    }
}

/// Whether a shell takes the word behind this one for a line: `-c`, `-ec`.
pub fn is_line_option(word: &str) -> bool {
    let letters = word.strip_prefix('-').and_then(|letters| letters.strip_suffix('c'));
    letters.is_some_and(|letters| letters.bytes().all(|letter| letter.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> String {
        let commands = split_commands(line);
        commands.iter().map(|command| command.words.join("·")).collect::<Vec<_>>().join(" ; ")
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
            ("sh $(dirname $0)/check.sh x", "dirname·$0 ; sh·./check.sh·x"),
            ("sh `cat name`.sh", "cat·name ; sh·.sh"),
            ("x=$(a b) c", "a·b ; c"),
            ("a # b; c\nd", "a ; d"),
            ("a#b", "a#b"),
            (r".\check.cmd x", r".\check.cmd·x"),
            (r"C:\ci\check.cmd x", r"C:\ci\check.cmd·x"),
            (r"sh ./c\heck.sh", "sh·./check.sh"),
            ("sh $'check.sh'", "sh·check.sh"),
            (
                "cd \"$(git rev-parse --show-toplevel)\" && a",
                "git·rev-parse·--show-toplevel ; cd·$(git rev-parse --show-toplevel) ; a",
            ),
            ("sh \"`pwd`/a b\" c", "pwd ; sh·$PWD/a b·c"),
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
    fn what_a_command_reads_and_is_given_is_told_apart_from_its_words() {
        let [command] = &split_commands("A=x.sh B= sh -s 2>err < check.sh << END -e")[..] else { panic!() };
        let assigned: Vec<_> = command.assigned.iter().map(|it| (&*it.name, &*it.value)).collect();
        assert_eq!(assigned, [("A", "x.sh"), ("B", "")]);
        assert_eq!(command.words, ["sh", "-s", "-e"]);
        assert_eq!(command.inputs, ["check.sh"]);
    }

    #[test]
    fn the_subshells_and_the_pipeline_of_a_command_are_known() {
        let commands = split_commands("(a; (b)) && (c | d) && e $(f; g); while h; do i; done < j");
        let parts = |name: &str| commands.iter().find(|it| it.words.first().is_some_and(|word| word == name)).unwrap();
        assert_eq!(parts("a").subshells.len(), 1);
        assert!(parts("b").subshells.starts_with(&parts("a").subshells) && parts("b").subshells.len() == 2);
        assert_ne!(parts("a").subshells, parts("c").subshells);
        assert_eq!(parts("c").pipeline, parts("d").pipeline);
        assert_ne!(parts("a").pipeline, parts("c").pipeline);
        assert_eq!((parts("e").subshells.len(), parts("e").substituted), (0, 2));
        assert_eq!(parts("f").subshells.len(), 1);
        assert_eq!(commands.last().unwrap().inputs, ["j"]);
        assert_eq!(commands.last().unwrap().pipeline, parts("i").pipeline);
    }

    #[test]
    fn no_line_takes_more_than_its_length() {
        for part in ["$(", "`a ", "(a", "{ a;", "a \"$(", "case a in b) "] {
            let commands = split_commands(&part.repeat(20_000));
            assert!(commands.iter().all(|command| command.subshells.len() <= 64), "{part}");
        }
    }
}
