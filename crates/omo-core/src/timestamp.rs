//! Points in time as plain data; the clock is read elsewhere.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Milliseconds since the Unix epoch, written as RFC 3339 in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Clamped to the epoch where RFC 3339 cannot write `millis`.
    pub fn from_millis(millis: i64) -> Self {
        match DateTime::<Utc>::from_timestamp_millis(millis) {
            Some(time) if (0..=9999).contains(&chrono::Datelike::year(&time)) => Self(millis),
            _ => Self(0),
        }
    }

    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// Part of a file name, without colons, in an order that sorts by time.
    pub fn to_file_name(self) -> String {
        self.to_string().replace(':', "")
    }

    /// Reads RFC 3339 with any offset.
    pub fn parse(text: &str) -> Option<Self> {
        let time = DateTime::parse_from_rfc3339(text).ok()?;
        Some(Self::from_millis(time.timestamp_millis()))
    }

    /// Milliseconds since `earlier`; `None` if that is later, as after a clock was set back.
    pub fn millis_since(self, earlier: Self) -> Option<i64> {
        (self.0 >= earlier.0).then(|| self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = DateTime::<Utc>::from_timestamp_millis(self.0).unwrap_or_default();
        f.write_str(&time.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Timestamp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time in RFC 3339")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
                Timestamp::parse(text)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_and_read_as_rfc_3339() {
        let time = Timestamp::parse("2026-02-22T17:20:01Z").unwrap();
        assert_eq!(time.to_string(), "2026-02-22T17:20:01.000Z");
        assert_eq!(
            Timestamp::parse("2026-02-22T19:20:01.000+02:00"),
            Some(time)
        );
        assert_eq!(
            serde_json::to_string(&time).unwrap(),
            r#""2026-02-22T17:20:01.000Z""#
        );
        assert_eq!(
            serde_json::from_str::<Timestamp>(r#""2026-02-22T17:20:01Z""#).unwrap(),
            time
        );
    }

    #[test]
    fn refuses_what_is_not_a_time() {
        for text in ["", "now", "2026-02-30T00:00:00Z", "17:20", "1234567890"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
        assert!(serde_json::from_str::<Timestamp>("1771780801").is_err());
    }

    #[test]
    fn an_age_is_never_negative() {
        let (early, late) = (Timestamp::from_millis(1_000), Timestamp::from_millis(4_500));
        assert_eq!(late.millis_since(early), Some(3_500));
        assert_eq!(early.millis_since(late), None);
        assert_eq!(Timestamp::from_millis(i64::MAX), Timestamp::from_millis(0));
    }
}
