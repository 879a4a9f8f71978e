//! Tickets: the proof of a worker that a task was given to it.

use omo_plan::digest::sha256_hex;
use omo_state::random_id;

use crate::error::RunStoreError;

/// Number of letters of a ticket: as hard to guess as a key of 128 bits.
const LETTERS: usize = 28;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Text that only the worker is told.
    pub text: String,
    pub digest: String,
}

pub(crate) fn new_ticket() -> Result<Ticket, RunStoreError> {
    let text = random_id::random_letters(LETTERS)?;
    let digest = sha256_hex(text.as_bytes());
    Ok(Ticket { text, digest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tickets_are_the_same_and_the_digest_is_that_of_the_text() {
        let (one, other) = (new_ticket().unwrap(), new_ticket().unwrap());
        assert_ne!(one.text, other.text);
        assert_eq!(one.digest, sha256_hex(one.text.as_bytes()));
        assert_eq!(one.text.len(), LETTERS);
    }
}
