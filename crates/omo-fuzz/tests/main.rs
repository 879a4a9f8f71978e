//! The fuzz targets with kept and generated inputs.

mod corpus;
mod own_words;
mod plan_readers;
mod state;
