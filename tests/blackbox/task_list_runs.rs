//! Runs of task lists from outside: how one goes from its first wave to its end, what each phase means
//! on entry, what counts as shown, and what its files say meanwhile.

mod evidence;
mod list_files;
mod phases;
mod unfinished_lines;
mod whole_run;
