//! Dates of hits.

use jiff::Timestamp;
use jiff::civil;
use jiff::fmt::rfc2822;
use serde_json::Value;

use super::clean;

/// The most characters of a date that is passed on as it is written.
const LONGEST: usize = 40;

/// Units of time since the epoch, in parts of a second, each with the first second that is taken
/// for a date in it: small numbers are more likely something else, and what is a date beyond
/// [`NEVER`] in one unit must not become one in the next.
const UNITS: &[(f64, f64)] = &[(1.0, 1e8), (1e3, 1e8), (1e6, 1e9), (1e9, 1e9)];

/// The year 2200: later numbers stand for "never".
const NEVER: f64 = 7_258_118_400.0;

/// A date. Seconds, milliseconds, microseconds and nanoseconds since the epoch, as a number or in
/// digits, become RFC 3339 in UTC, and so do the dates of mail and HTTP. Other forms are passed on
/// as they are written where they hold a digit. Zero, beginnings of time and years beyond four
/// digits are none.
pub(super) fn date(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => epoch(number.as_f64()?),
        Value::String(text) => written(&clean::one_line(text, LONGEST + 1)),
        // Extended JSON of document databases.
        Value::Object(object) if object.len() == 1 => match object.get("$date")? {
            Value::Object(inner) => date(inner.get("$numberLong").filter(|it| it.is_string())?),
            inner => date(inner),
        },
        _ => None,
    }
}

fn epoch(number: f64) -> Option<String> {
    let seconds = UNITS.iter().find_map(|(unit, first)| {
        let seconds = number / unit;
        (*first..NEVER).contains(&seconds).then_some(seconds)
    })?;
    #[allow(clippy::cast_possible_truncation, reason = "below NEVER")]
    let timestamp = Timestamp::from_second(seconds.trunc() as i64).ok()?;
    Some(timestamp.to_string())
}

fn written(text: &str) -> Option<String> {
    if text.len() > LONGEST || !text.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
        return None;
    }
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    if text.chars().all(is_number) && text.matches('.').count() < 2 {
        return match text.len() {
            // A year, and a day without separators.
            4 if text.starts_with("19") || text.starts_with("20") => Some(text.to_owned()),
            8 if !text.contains('.') => civil::Date::strptime("%Y%m%d", text)
                .ok()
                .filter(|day| is_plausible(day.year()))
                .map(|day| day.to_string()),
            _ => epoch(text.parse().ok()?),
        };
    }
    if text.parse::<f64>().is_ok() {
        return None;
    }
    let digits = text.trim_start_matches(['+', '-']);
    let year = digits.bytes().take_while(u8::is_ascii_digit).count();
    let dashed = digits.as_bytes().get(year) == Some(&b'-');
    if (year > 4 && dashed) || (year < digits.len() && digits.len() < text.len()) {
        return None;
    }
    if let Ok(zoned) = rfc2822::parse(text) {
        return plausible(&zoned.timestamp());
    }
    if year == 4 && dashed {
        let year = digits.get(..4)?.parse().ok()?;
        let start = text
            .parse::<Timestamp>()
            .is_ok_and(|it| it == Timestamp::UNIX_EPOCH);
        return (is_plausible(year) && !start).then(|| text.to_owned());
    }
    Some(text.to_owned())
}

fn plausible(timestamp: &Timestamp) -> Option<String> {
    let text = timestamp.to_string();
    let year = text.get(..4)?.parse().ok()?;
    (is_plausible(year) && *timestamp != Timestamp::UNIX_EPOCH).then_some(text)
}

/// Years before are what programs write where they have no date.
fn is_plausible(year: i16) -> bool {
    year > 1000
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        reason = "a test fails by panicking"
    )]

    use serde_json::json;

    use super::*;

    #[test]
    fn dates_are_dates_or_none() {
        let instant = "2017-12-02T04:30:30Z";
        let same = [
            json!(1_512_189_030),
            json!(1_512_189_030_000_u64),
            json!(1_512_189_030_000_000_u64),
            json!(1_512_189_030_000_000_000_u64),
            json!(1_512_189_030.5),
            json!("1512189030"),
            json!(" 1512189030123 "),
            json!("Sat, 02 Dec 2017 04:30:30 GMT"),
            json!("Sat, 02 Dec 2017 05:30:30 +0100"),
            json!({"$date": instant}),
            json!({"$date": {"$numberLong": "1512189030000"}}),
            json!("20171202"),
        ];
        for value in same {
            let date = date(&value).unwrap();
            assert!(instant.starts_with(&date), "{value} became {date}");
        }
        let kept = [
            instant,
            "2017-12-02T05:30:30+01:00",
            "2017-12-02",
            "2017-12-02 04:30",
            "2 Dec 2017",
            "02.12.2017",
            "2017",
            "2017-12",
            "2 days ago",
        ];
        for text in kept {
            assert_eq!(date(&json!(text)).as_deref(), Some(text));
        }
        let none = [
            json!(null),
            json!(""),
            json!("  "),
            json!(0),
            json!(-1),
            json!(42),
            json!(0.35),
            json!(i64::MAX),
            json!(u64::MAX),
            json!(i64::MIN),
            json!("9223372036854775807"),
            json!("yesterday"),
            json!("null"),
            json!("NaN"),
            json!("inf"),
            json!("-1"),
            json!("1e300"),
            json!("0000-00-00 00:00:00"),
            json!("0001-01-01T00:00:00Z"),
            json!("1970-01-01T00:00:00Z"),
            json!("Thu, 01 Jan 1970 00:00:00 GMT"),
            json!("+275760-09-13T00:00:00.000Z"),
            json!("12017-12-02"),
            json!("-0044-03-15"),
            json!(true),
            json!([1512189030]),
            json!({"$date": null}),
            json!({}),
            json!("1".repeat(400)),
            json!(253_402_300_800_u64 * 1000),
            serde_json::from_str("1e999").unwrap(),
        ];
        for value in none {
            assert_eq!(date(&value), None, "{value}");
        }
    }
}
