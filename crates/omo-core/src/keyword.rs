//! temporary
#[derive(Clone, Debug, Default)]
pub struct Keywords(Vec<String>);
#[derive(Debug)]
pub struct InvalidKeyword;
impl std::fmt::Display for InvalidKeyword {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("bad")
    }
}
impl Keywords {
    pub fn new(v: Vec<String>) -> Result<Self, InvalidKeyword> {
        Ok(Self(v))
    }
}
#[derive(Debug, PartialEq, Eq)]
pub enum Reading<'a> {
    Nothing,
    Activate,
    Command { name: &'a str, arguments: &'a str },
    Off { whole: bool },
}
pub fn read<'a>(prompt: &'a str, _k: &Keywords) -> Reading<'a> {
    if let Some(rest) = prompt.strip_prefix("/omo:") {
        let (n, a) = rest.split_once(' ').unwrap_or((rest, ""));
        return Reading::Command { name: n, arguments: a };
    }
    if prompt == "ulw off" {
        return Reading::Off { whole: true };
    }
    if prompt.contains("ulw") { Reading::Activate } else { Reading::Nothing }
}
pub fn is_from_a_person(prompt: &str) -> bool {
    !prompt.starts_with('<')
}
