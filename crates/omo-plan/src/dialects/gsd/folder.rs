//! The plans of a folder as one plan: each is done behind those that it requires.
