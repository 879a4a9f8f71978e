//! Times on the reader's clock: the zone of `TZ`, else of `/etc/localtime`, else UTC, which is then named.

use std::fmt;
use std::io::Read;

use omo_core::text::format_age;
use omo_core::timestamp::Timestamp;
use omo_state::env;
use omo_state::files::regular_file;
use tz::timezone::{TimeZone, TimeZoneSettings};
use tz::{DateTime, UtcDateTime};

const MAX_ZONE_BYTES: u64 = 256 * 1024;
const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

pub(crate) struct LocalClock {
    zone: Option<TimeZone>,
    now: Timestamp,
}

impl LocalClock {
    pub(crate) fn from_process(now: Timestamp) -> Self {
        let named = env::time_zone();
        Self {
            zone: named
                .as_deref()
                .map_or_else(system_zone, parse_zone)
                .or_else(system_zone),
            now,
        }
    }

    /// A time for people: `4 min ago`, or after a day the date and time.
    pub(crate) fn describe(&self, at: Timestamp) -> String {
        match self.now.millis_since(at) {
            Some(millis) if millis < MINUTE => "just now".to_owned(),
            Some(millis) if millis < DAY => format!("{} ago", format_age(Some(at), self.now)),
            _ => self.date_and_time(at),
        }
    }

    /// Date and time of day, such as `2026-11-23 19:30`.
    pub(crate) fn date_and_time(&self, at: Timestamp) -> String {
        let Some(local) = self.local(at) else {
            return at.to_string();
        };
        let (year, month, day) = (local.year(), local.month(), local.month_day());
        let utc = if self.zone.is_none() { " UTC" } else { "" };
        format!(
            "{year:04}-{month:02}-{day:02} {:02}:{:02}{utc}",
            local.hour(),
            local.minute()
        )
    }

    pub(crate) fn time_of_day(&self, at: Timestamp) -> String {
        let Some(local) = self.local(at) else {
            return at.to_string();
        };
        let utc = if self.zone.is_none() { " UTC" } else { "" };
        format!(
            "{:02}:{:02}:{:02}{utc}",
            local.hour(),
            local.minute(),
            local.second()
        )
    }

    /// RFC 3339 with the offset of the zone.
    pub(crate) fn rfc_3339(&self, at: Timestamp) -> String {
        let Some(local) = self.local(at) else {
            return at.to_string();
        };
        let (year, month, day) = (local.year(), local.month(), local.month_day());
        let (hour, minute, second) = (local.hour(), local.minute(), local.second());
        let offset = Offset(local.local_time_type().ut_offset() / 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{offset}")
    }

    fn midnight(&self, year: i32, month: u8, day: u8) -> Option<Timestamp> {
        let utc = TimeZone::utc();
        let zone = self.zone.as_ref().unwrap_or(&utc).as_ref();
        let found = DateTime::find(year, month, day, 0, 0, 0, 0, zone)
            .ok()?
            .earliest()?;
        Some(Timestamp::from_millis(
            found.unix_time().checked_mul(1_000)?,
        ))
    }

    fn local(&self, at: Timestamp) -> Option<DateTime> {
        let utc = UtcDateTime::from_timespec(at.as_millis().div_euclid(1_000), 0).ok()?;
        let zone = self.zone.clone().unwrap_or_else(TimeZone::utc);
        utc.project(zone.as_ref()).ok()
    }
}

struct Offset(i32);

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        write!(f, "{sign}{:02}:{:02}", self.0.abs() / 60, self.0.abs() % 60)
    }
}

fn system_zone() -> Option<TimeZone> {
    parse_zone("localtime")
}

fn parse_zone(name: &str) -> Option<TimeZone> {
    let settings = TimeZoneSettings::new(TimeZoneSettings::DEFAULT_DIRECTORIES, |path| {
        let file = regular_file::open(path.as_ref())?.ok_or("no regular file")?;
        let mut bytes = Vec::new();
        file.take(MAX_ZONE_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    settings.parse_posix_tz(name).ok()
}

/// A typed start: `2h`, `3d`, `2026-11-20`, or a whole time in RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    Millis(i64),
    Day(i32, u8, u8),
    At(Timestamp),
}

impl Since {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let found = parse_duration(text)
            .map(Self::Millis)
            .or_else(|| parse_day(text));
        found
            .or_else(|| Timestamp::parse(text).map(Self::At))
            .ok_or_else(|| {
                "allowed are 30min, 2h, 3d, 1w, a date as 2026-11-20, and RFC 3339".to_owned()
            })
    }

    pub(crate) fn resolve(self, clock: &LocalClock) -> Option<Timestamp> {
        match self {
            Self::Millis(millis) => Some(Timestamp::from_millis(
                clock.now.as_millis().saturating_sub(millis).max(0),
            )),
            Self::Day(year, month, day) => clock.midnight(year, month, day),
            Self::At(at) => Some(at),
        }
    }
}

fn parse_duration(text: &str) -> Option<i64> {
    let end = text.find(|char: char| !char.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let millis = match unit {
        "m" | "min" => MINUTE,
        "h" => 60 * MINUTE,
        "d" => DAY,
        "w" => 7 * DAY,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(millis)
}

fn parse_day(text: &str) -> Option<Since> {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = *parts else {
        return None;
    };
    if (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return None;
    }
    let day = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    UtcDateTime::new(day.0, day.1, day.2, 0, 0, 0, 0).ok()?;
    Some(Since::Day(day.0, day.1, day.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(zone: Option<&str>) -> LocalClock {
        let zone = zone.map(|zone| TimeZone::from_posix_tz(zone).unwrap());
        LocalClock {
            zone,
            now: at("2026-11-23T17:30:00Z"),
        }
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_time_is_an_age_for_a_day_and_then_what_a_clock_here_showed() {
        for (zone, time, expected) in [
            (Some("CET-1"), "2026-11-23T17:29:01Z", "just now"),
            (Some("CET-1"), "2026-11-23T17:26:00Z", "4 min ago"),
            (Some("CET-1"), "2026-11-22T17:30:01Z", "23 h 59 min ago"),
            (Some("CET-1"), "2026-11-22T17:30:00Z", "2026-11-22 18:30"),
            (Some("EST5"), "2026-11-01T02:04:00Z", "2026-10-31 21:04"),
            (None, "2026-11-01T02:04:00Z", "2026-11-01 02:04 UTC"),
            // A clock that was set back.
            (Some("CET-1"), "2026-11-23T18:30:00Z", "2026-11-23 19:30"),
        ] {
            assert_eq!(clock(zone).describe(at(time)), expected, "{time}");
        }
    }

    #[test]
    fn a_time_of_the_day_is_that_of_a_clock_here() {
        for (zone, expected) in [(Some("CET-1"), "18:30:00"), (None, "17:30:00 UTC")] {
            assert_eq!(
                clock(zone).time_of_day(at("2026-11-23T17:30:00Z")),
                expected
            );
        }
    }

    #[test]
    fn a_program_gets_the_offset() {
        for (zone, expected) in [
            (Some("CET-1"), "2026-11-23T18:30:00+01:00"),
            (Some("<-0330>3:30"), "2026-11-23T14:00:00-03:30"),
            (None, "2026-11-23T17:30:00+00:00"),
        ] {
            assert_eq!(clock(zone).rfc_3339(at("2026-11-23T17:30:00Z")), expected);
        }
    }

    #[test]
    fn since_is_a_duration_a_day_or_a_time_and_nothing_else() {
        for (text, expected) in [
            ("2h", "2026-11-23T15:30:00Z"),
            ("30min", "2026-11-23T17:00:00Z"),
            ("3d", "2026-11-20T17:30:00Z"),
            ("2026-11-20", "2026-11-19T23:00:00Z"),
            ("2026-11-20T01:02:03Z", "2026-11-20T01:02:03Z"),
            ("99999999w", "1970-01-01T00:00:00Z"),
        ] {
            assert_eq!(
                Since::parse(text).unwrap().resolve(&clock(Some("CET-1"))),
                Some(at(expected)),
                "{text}"
            );
        }
        for text in [
            "",
            "2",
            "h",
            "-2h",
            "2x",
            "2026-02-30",
            "2026-1-2",
            "yesterday",
            "99999999999999999999d",
        ] {
            assert!(Since::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_zone_is_passed_over() {
        assert!(parse_zone("No/Such_Zone").is_none());
        assert!(parse_zone("/dev/zero").is_none());
    }
}
