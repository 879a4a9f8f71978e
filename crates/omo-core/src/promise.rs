//! temporary
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    Done,
    Blocked { reason: String },
}
pub fn claim(text: &str) -> Option<Claim> {
    text.ends_with("<promise>DONE</promise>").then_some(Claim::Done)
}
