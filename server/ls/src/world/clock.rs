//! The moment, written out (adapters.md section 4, `now.date` and `now.iso`).

use jiff::{Timestamp, tz::TimeZone};
use kontext_config::facts::Now;

/// The present moment: the date in the system's time zone (UTC where it has none), the instant in
/// UTC with whole seconds.
pub fn now() -> Now {
    at(Timestamp::now(), TimeZone::system())
}

fn at(moment: Timestamp, zone: TimeZone) -> Now {
    Now {
        date: moment.to_zoned_datetime(zone).date().to_string(),
        iso: moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::offset;

    #[test]
    fn date_is_local_and_instant_is_utc() {
        let moment: Timestamp = "2026-11-30T23:03:32.987Z".parse().unwrap();
        let east = at(moment, TimeZone::fixed(offset(2)));
        assert_eq!(east.date, "2026-12-01");
        assert_eq!(east.iso, "2026-11-30T23:03:32Z");
        let utc = at(moment, TimeZone::UTC);
        assert_eq!(utc.date, "2026-11-30");
    }

    #[test]
    fn before_the_epoch_is_written_like_any_other() {
        let moment: Timestamp = "1969-12-31T23:59:59Z".parse().unwrap();
        assert_eq!(at(moment, TimeZone::UTC).iso, "1969-12-31T23:59:59Z");
    }

    #[test]
    fn now_has_the_promised_shape() {
        let now = now();
        assert_eq!(now.date.len(), "2026-11-30".len());
        assert_eq!(now.iso.len(), "2026-11-30T23:03:32Z".len());
    }
}
