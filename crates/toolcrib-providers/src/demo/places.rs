//! Time zones of places, by their usual names.
//!
//! Cities are those of the time zone database that the program carries along; the table adds what has another name
//! there.

use jiff::tz::TimeZoneDatabase;

const OTHERS: [(&str, &str); 32] = [
    ("munich", "Europe/Berlin"),
    ("hamburg", "Europe/Berlin"),
    ("cologne", "Europe/Berlin"),
    ("frankfurt", "Europe/Berlin"),
    ("germany", "Europe/Berlin"),
    ("austria", "Europe/Vienna"),
    ("switzerland", "Europe/Zurich"),
    ("geneva", "Europe/Zurich"),
    ("france", "Europe/Paris"),
    ("italy", "Europe/Rome"),
    ("milan", "Europe/Rome"),
    ("spain", "Europe/Madrid"),
    ("barcelona", "Europe/Madrid"),
    ("england", "Europe/London"),
    ("uk", "Europe/London"),
    ("united kingdom", "Europe/London"),
    ("the uk", "Europe/London"),
    ("netherlands", "Europe/Amsterdam"),
    ("poland", "Europe/Warsaw"),
    ("sweden", "Europe/Stockholm"),
    ("india", "Asia/Kolkata"),
    ("mumbai", "Asia/Kolkata"),
    ("delhi", "Asia/Kolkata"),
    ("china", "Asia/Shanghai"),
    ("beijing", "Asia/Shanghai"),
    ("south korea", "Asia/Seoul"),
    ("san francisco", "America/Los_Angeles"),
    ("seattle", "America/Los_Angeles"),
    ("boston", "America/New_York"),
    ("washington", "America/New_York"),
    ("california", "America/Los_Angeles"),
    ("nyc", "America/New_York"),
];

/// The regions whose zones are named after cities; the others hold old names.
const REGIONS: [&str; 7] = ["Europe/", "America/", "Asia/", "Africa/", "Australia/", "Pacific/", "Atlantic/"];

/// The time zone of a city, a country of one zone, or an identifier in any letter case.
pub(super) fn time_zone_of(place: &str) -> Option<String> {
    let place = place.to_lowercase();
    if let Some((_, zone)) = OTHERS.iter().find(|(name, _)| *name == place) {
        return Some((*zone).to_owned());
    }
    let database = TimeZoneDatabase::bundled();
    let zones: Vec<_> = database.available().map(|zone| zone.as_str().to_owned()).collect();
    let exact = zones.iter().find(|zone| zone.to_lowercase() == place);
    let of_city = |region: &str| {
        zones.iter().find(|zone| {
            let city = zone.strip_prefix(region).and_then(|rest| rest.rsplit('/').next()).unwrap_or_default();
            city.to_lowercase().replace('_', " ") == place
        })
    };
    REGIONS.iter().find_map(|region| of_city(region)).or(exact).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_their_zone() {
        let check =
            |place: &str, zone: &str| assert_eq!(time_zone_of(place).as_deref(), Some(zone), "{place}");
        check("Tokyo", "Asia/Tokyo");
        check("new york", "America/New_York");
        check("Munich", "Europe/Berlin");
        check("europe/paris", "Europe/Paris");
        check("UTC", "UTC");
        check("Singapore", "Asia/Singapore");
        assert_eq!(time_zone_of("Atlantis"), None);
    }
}
