//! Puts a key into the header that a family wants.
//!
//! A key leaves its wrapper only to be wrapped again.

use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::profile::Auth;

/// The key without white space around it, such as the line ending of the file that it was read from.
pub(super) fn trimmed(key: &SecretString) -> SecretString {
    SecretString::from(key.expose_secret().trim())
}

pub(super) fn header(auth: Auth, key: &SecretString) -> (HeaderName, SecretString) {
    let key = key.expose_secret().trim();
    match auth {
        Auth::Bearer => (AUTHORIZATION, SecretString::from(format!("Bearer {key}"))),
        Auth::Header(name) => (HeaderName::from_static(name), SecretString::from(key)),
    }
}

pub(super) fn plain_headers(headers: &[(&'static str, &'static str)]) -> Vec<(HeaderName, HeaderValue)> {
    let parse = |(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    headers.iter().map(parse).collect()
}
