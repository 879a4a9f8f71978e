//! The loop of the command file that task sessions were made for, run with its own words.
