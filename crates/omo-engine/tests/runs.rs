//! Runs as files: what is written is read again, what was not written whole is not there, and what omo
//! did not write is noticed.

#[cfg(test)]
mod hostile_ledgers;
#[cfg(test)]
mod projections;
#[cfg(test)]
mod run_lab;
#[cfg(test)]
mod run_lifecycle;
#[cfg(test)]
mod run_locations;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod torn_writes;
