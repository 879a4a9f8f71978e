//! What the fuzz targets hold, with inputs that are kept or made.

mod corpus;
mod own_words;
mod plan_readers;
mod state;
