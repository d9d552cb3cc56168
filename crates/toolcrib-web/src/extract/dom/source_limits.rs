//! Cuts tags with absurdly many attributes out of the source before it is tokenized.
//!
//! Invariant: no tag that a tokenizer could see in the result has more than [`MAX_ATTRIBUTES`] attributes,
//! whichever way comments, scripts and quotes are read. A tokenizer compares each attribute with all before
//! it, so that a million of them on one tag would take hours.

use std::borrow::Cow;

/// Attributes that a tag may have.
pub(super) const MAX_ATTRIBUTES: u32 = 256;

/// Where a scan stands within a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    TagName,
    Between,
    Name,
    AfterName,
    BeforeValue,
    DoubleQuoted,
    SingleQuoted,
    Unquoted,
}

const STATES: [State; 8] = [
    State::TagName,
    State::Between,
    State::Name,
    State::AfterName,
    State::BeforeValue,
    State::DoubleQuoted,
    State::SingleQuoted,
    State::Unquoted,
];

/// The state after `byte`, and whether an attribute began with it; `None` at the end of the tag.
fn step(state: State, byte: u8) -> Option<(State, bool)> {
    let space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0C);
    let state = match (state, byte) {
        (State::DoubleQuoted, b'"') | (State::SingleQuoted, b'\'') => State::Between,
        (State::DoubleQuoted | State::SingleQuoted, _) => state,
        (_, b'>') => return None,
        (State::BeforeValue, b'"') => State::DoubleQuoted,
        (State::BeforeValue, b'\'') => State::SingleQuoted,
        (State::BeforeValue, _) if !space => State::Unquoted,
        (State::Name | State::AfterName, b'=') => State::BeforeValue,
        (State::Unquoted | State::TagName, _) if space => State::Between,
        (State::Name, _) if space => State::AfterName,
        (State::BeforeValue | State::Unquoted, _) => state,
        (_, b'/') => State::Between,
        (State::TagName | State::Name, _) => state,
        (State::Between | State::AfterName, _) if space => state,
        (State::Between | State::AfterName, _) => return Some((State::Name, true)),
    };
    Some((state, false))
}

/// The source without the attributes that a tag has too many of.
///
/// A quote or a comment can hide where a tag begins, so every `<` followed by a letter starts a scan of its
/// own. Scans in the same state go on alike: per state only the highest count is kept.
pub(super) fn without_excess_attributes(source: &str) -> Cow<'_, str> {
    let bytes = source.as_bytes();
    let mut counts: [Option<u32>; STATES.len()] = [None; STATES.len()];
    let mut active = false;
    let mut kept = String::new();
    let mut kept_until = 0;
    let mut position = 0;
    while position < bytes.len() {
        if !active {
            match bytes[position..].iter().position(|&byte| byte == b'<') {
                Some(offset) => position += offset,
                None => break,
            }
        }
        let byte = bytes[position];
        if active {
            let mut next: [Option<u32>; STATES.len()] = [None; STATES.len()];
            let mut excess = false;
            active = false;
            for (index, &state) in STATES.iter().enumerate() {
                let Some(count) = counts[index] else { continue };
                if let Some((state, began)) = step(state, byte) {
                    let count = count + u32::from(began);
                    excess |= count > MAX_ATTRIBUTES;
                    let slot = &mut next[state as usize];
                    *slot = Some(slot.map_or(count, |other| other.max(count)));
                    active = true;
                }
            }
            counts = next;
            if excess {
                kept.push_str(&source[kept_until..position]);
                position +=
                    bytes[position..].iter().position(|&byte| byte == b'>').unwrap_or(bytes.len() - position);
                kept_until = position;
                counts = [None; STATES.len()];
                active = false;
                continue;
            }
        }
        if byte == b'<' && bytes.get(position + 1).is_some_and(u8::is_ascii_alphabetic) {
            let slot = &mut counts[State::TagName as usize];
            *slot = Some(slot.unwrap_or(0));
            active = true;
        }
        position += 1;
    }
    if kept_until == 0 {
        return Cow::Borrowed(source);
    }
    kept.push_str(source.get(kept_until..).unwrap_or_default());
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests;
