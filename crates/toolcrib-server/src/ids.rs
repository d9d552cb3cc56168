//! Random ids and keys, from the operating system's generator.

use std::fmt::Write as _;

/// The operating system gave no randomness. Nothing that needs an id can be done.
#[derive(Debug, thiserror::Error)]
#[error("reading random bytes from the operating system: {0}")]
pub(crate) struct RandomnessError(String);

/// `prefix` and 24 hexadecimal digits (96 random bits).
pub(crate) fn random_id(prefix: &str) -> Result<String, RandomnessError> {
    Ok(format!("{prefix}{}", hex(&random_bytes::<12>()?)))
}

/// A secret of 256 random bits behind `prefix`, as hexadecimal digits.
pub(crate) fn random_secret(prefix: &str) -> Result<String, RandomnessError> {
    Ok(format!("{prefix}{}", hex(&random_bytes::<32>()?)))
}

/// A seed for what only has to differ from process to process.
pub(crate) fn random_seed() -> Result<u64, RandomnessError> {
    Ok(u64::from_le_bytes(random_bytes::<8>()?))
}

fn random_bytes<const N: usize>() -> Result<[u8; N], RandomnessError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| RandomnessError(error.to_string()))?;
    Ok(bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
