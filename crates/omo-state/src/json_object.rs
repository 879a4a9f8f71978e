//! JSON object with unparsed values, which are written back byte for byte.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Maximum members; a state of 4 MiB by omo has fewer.
pub(crate) const MAX_MEMBERS: usize = 5_000;

/// Members in order, each value as it was written.
#[derive(Debug, Default)]
pub struct JsonObject<'a> {
    members: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> JsonObject<'a> {
    /// Object in `text`; values are checked to be JSON, and not parsed.
    pub fn parse(text: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Value of a member; of a repeated name the last one counts.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.members
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_ref())
    }

    /// [`JsonObject::get`] of an unchanged value, borrowed from the text.
    pub(crate) fn get_as_written(&self, name: &str) -> Option<&'a str> {
        match self.members.iter().rev().find(|(key, _)| key == name) {
            Some((_, Cow::Borrowed(value))) => Some(value),
            _ => None,
        }
    }

    /// Adds a member, or fails beyond [`MAX_MEMBERS`].
    pub(crate) fn push<E: Error>(
        &mut self,
        name: Cow<'a, str>,
        value: &'a RawValue,
    ) -> Result<(), E> {
        if self.members.len() == MAX_MEMBERS {
            return Err(E::custom(format_args!(
                "an object of more than {MAX_MEMBERS} members"
            )));
        }
        self.members.push((name, Cow::Borrowed(value.get())));
        Ok(())
    }

    /// Replaces a member, or appends it; `value` is JSON.
    pub fn set(&mut self, name: &str, value: String) {
        let last = self.members.iter().rposition(|(key, _)| key == name);
        match last.and_then(|at| self.members.get_mut(at)) {
            Some((_, old)) => *old = Cow::Owned(value),
            None => self
                .members
                .push((Cow::Owned(name.to_owned()), Cow::Owned(value))),
        }
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&str, &str) -> bool) {
        self.members.retain(|(key, value)| keep(key, value));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members
            .iter()
            .map(|(key, value)| (key.as_ref(), value.as_ref()))
    }

    pub fn to_json(&self, separator: &str) -> String {
        let mut json = String::with_capacity(self.json_len(separator));
        self.write_json(&mut json, separator, |json, _, value| json.push_str(value));
        json
    }

    pub(crate) fn json_len(&self, separator: &str) -> usize {
        let members = self
            .members
            .iter()
            .map(|(key, value)| key.len() + value.len() + separator.len() + 4);
        members.sum::<usize>() + 2
    }

    /// Writes JSON; `write` gets each member's name and value.
    pub(crate) fn write_json(
        &self,
        json: &mut String,
        separator: &str,
        mut write: impl FnMut(&mut String, &str, &str),
    ) {
        json.push('{');
        for (index, (key, value)) in self.iter().enumerate() {
            if index > 0 {
                json.push_str(separator);
            }
            push_quoted(json, key);
            json.push(':');
            write(json, key, value);
        }
        json.push('}');
    }

    /// Merges `new` into this object: its members replace old ones, and two objects are merged.
    pub(crate) fn lay_over(&mut self, new: &JsonObject<'_>) {
        for (name, value) in new.iter() {
            let merged = self.get(name).and_then(|old| merge(old, value));
            self.set(name, merged.unwrap_or_else(|| value.to_owned()));
        }
    }
}

/// Two objects merged; `None` where either is no object.
fn merge(old: &str, new: &str) -> Option<String> {
    if !old.starts_with('{') || !new.starts_with('{') {
        return None;
    }
    let (mut merged, new) = (JsonObject::parse(old).ok()?, JsonObject::parse(new).ok()?);
    merged.lay_over(&new);
    Some(merged.to_json(","))
}

fn push_quoted(json: &mut String, key: &str) {
    let is_plain = key
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
    if is_plain {
        json.extend(["\"", key, "\""]);
    } else {
        json.push_str(&serde_json::Value::from(key).to_string());
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for JsonObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = JsonObject<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonObject<'de>, A::Error> {
                let mut object = JsonObject::default();
                while let Some(MemberKey(key)) = map.next_key()? {
                    object.push(key, map.next_value()?)?;
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Name of a member, borrowed where it holds no escape.
pub(crate) struct MemberKey<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for MemberKey<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = MemberKey<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<MemberKey<'de>, E> {
                Ok(MemberKey(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<MemberKey<'de>, E> {
                Ok(MemberKey(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(old: &str, new: &str) -> String {
        let mut object = JsonObject::parse(old).unwrap();
        object.lay_over(&JsonObject::parse(new).unwrap());
        object.to_json(",")
    }

    #[test]
    fn what_is_not_known_stays_byte_for_byte() {
        assert_eq!(
            laid(
                r#"{"x": [1, 2.50,"\u00e9"] ,"ulw":{"mine":1,"theirs" : 1e2}}"#,
                r#"{"ulw":{"mine":2}}"#
            ),
            r#"{"x":[1, 2.50,"\u00e9"],"ulw":{"mine":2,"theirs":1e2}}"#
        );
    }

    #[test]
    fn a_null_and_a_list_are_replaced_whole() {
        assert_eq!(
            laid(r#"{"a":{"b":1},"c":[1]}"#, r#"{"a":null,"c":[]}"#),
            r#"{"a":null,"c":[]}"#
        );
    }

    #[test]
    fn of_a_name_that_stands_twice_the_last_counts() {
        let object = JsonObject::parse(r#"{"a":1,"a":2}"#).unwrap();
        assert_eq!(object.get("a"), Some("2"));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["", "[]", "1", "null", "{", r#"{"a":}"#, r#"{"a":1}x"#] {
            assert!(JsonObject::parse(text).is_err(), "{text}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        let _ = JsonObject::parse(&deep);
    }

    #[test]
    fn an_object_of_too_many_members_is_refused() {
        let object = |count: usize| format!("{{{}\"b\":0}}", "\"a\":0,".repeat(count));
        assert!(JsonObject::parse(&object(MAX_MEMBERS - 1)).is_ok());
        assert!(
            JsonObject::parse(&object(MAX_MEMBERS))
                .unwrap_err()
                .to_string()
                .contains("more than 5000")
        );
    }

    #[test]
    fn keys_are_written_as_json() {
        assert_eq!(laid(r#"{"a\"\n":1}"#, "{}"), r#"{"a\"\n":1}"#);
    }
}
