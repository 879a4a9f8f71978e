//! Random lower-case letters for ids.

use crate::seal::KeyError;

const ALPHABET: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";
/// 9 times 26: bytes from here on are thrown away, since they would make some letters likelier.
const UNBIASED_LIMIT: u8 = 234;

/// Text of `count` random lower-case letters.
///
/// # Errors
///
/// Where the system gives no random numbers.
pub fn random_letters(count: usize) -> Result<String, KeyError> {
    let mut letters = String::with_capacity(count);
    let mut bytes = [0; 64];
    while letters.len() < count {
        getrandom::fill(&mut bytes).map_err(KeyError::Random)?;
        let fair = bytes.iter().filter(|byte| **byte < UNBIASED_LIMIT);
        let drawn = fair
            .filter_map(|byte| ALPHABET.get(usize::from(byte % 26)))
            .map(|letter| char::from(*letter));
        letters.extend(drawn.take(count - letters.len()));
    }
    Ok(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_as_many_as_asked_for_and_every_one_occurs() {
        let text = random_letters(5_000).unwrap();
        assert_eq!(text.len(), 5_000);
        assert!(
            ALPHABET
                .iter()
                .all(|letter| text.contains(char::from(*letter))),
            "{text}"
        );
        assert_ne!(random_letters(8).unwrap(), random_letters(8).unwrap());
    }
}
