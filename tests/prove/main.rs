//! `omo prove` from outside: real projects of each language, changes of each kind, and whatever a check, a tree or a
//! repository can do to have it say something that is not so.
#![cfg(unix)]
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

mod attacks;
mod bases;
mod copies;
mod endings;
mod hollow;
mod languages;
mod project;
mod pull_request;
mod stored_files;
mod trees;
