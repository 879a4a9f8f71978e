//! JSON objects that keep the order in which fields are added.
//!
//! The client writes `type` and `operation` first in some lines and late in others; a test that
//! writes such lines must show a scanner the same bytes, and `serde_json`'s own map would sort them.

use serde::Serialize;

#[derive(Debug, Clone)]
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    pub(crate) fn field<T: Serialize + ?Sized>(self, name: &str, value: &T) -> Self {
        let value = serde_json::to_string(value).unwrap_or_else(|_| String::from("null"));
        self.raw(name, &value)
    }

    /// Adds a field whose value is another object of this kind.
    pub(crate) fn object(self, name: &str, value: Self) -> Self {
        self.raw(name, &value.end())
    }

    /// Adds a field whose value is JSON text already.
    pub(crate) fn raw(mut self, name: &str, value: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&serde_json::Value::from(name).to_string());
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    /// Adds every field of `other` behind the ones that are here.
    pub(crate) fn extend(mut self, other: &Self) -> Self {
        if let Some(fields) = other.0.get(1..).filter(|fields| !fields.is_empty()) {
            if self.0.len() > 1 {
                self.0.push(',');
            }
            self.0.push_str(fields);
        }
        self
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Object;

    #[test]
    fn keeps_order_and_escapes() {
        let inner = Object::new().field("z", "a\"b").field("a", &1);
        let text = Object::new()
            .field("type", "x")
            .extend(&inner)
            .extend(&Object::new())
            .object("nested", inner)
            .end();
        assert_eq!(
            text,
            r#"{"type":"x","z":"a\"b","a":1,"nested":{"z":"a\"b","a":1}}"#
        );
    }
}
