//! Runs as files: whole writes are read again, torn ones are not there, and foreign lines are noticed.

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
