//! Runs as files: what is written is read again, what was not written whole is not there, and what omo
//! did not write is noticed.

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod life;
#[cfg(test)]
mod places;
#[cfg(test)]
mod projections;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod torn;
