//! A list of bounded length, so that a hostile file cannot fill the memory.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// A list of at most `MAX` entries; deserializing a longer one fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundedVec<T, const MAX: usize>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for BoundedVec<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T, const MAX: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Elements<T, MAX> {
            type Value = BoundedVec<T, MAX>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MAX}")
            }
            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut sequence: A,
            ) -> Result<BoundedVec<T, MAX>, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = sequence.next_element()? {
                    if list.len() == MAX {
                        return Err(A::Error::invalid_length(MAX + 1, &self));
                    }
                    list.push(element);
                }
                Ok(BoundedVec(list))
            }
        }
        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_list_is_not_read() {
        let read = |text: &str| serde_json::from_str::<BoundedVec<u8, 3>>(text).map(|few| few.0);
        assert_eq!(read("[1,2,3]").unwrap(), [1, 2, 3]);
        assert!(read("[]").unwrap().is_empty());
        assert!(
            read("[1,2,3,4]")
                .unwrap_err()
                .to_string()
                .contains("a list of at most 3")
        );
        assert!(read("3").is_err());
    }
}
