//! The rules, from outside, as tables and as properties.

mod claim;
mod keyword;
mod keyword_properties;
mod promise;
mod prompt;
mod runners;
mod stop;
mod stop_properties;
mod vectors;
