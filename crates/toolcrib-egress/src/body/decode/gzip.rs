//! `gzip` (RFC 1952): the header is skipped byte by byte, so that no field of it needs memory.
//!
//! Invariant: constant memory, whatever the header announces; at most [`MEMBERS`] members.

use flate2::{Crc, Decompress};

use super::{Output, Stop, inflate};

/// A gzip decoder.
pub(crate) struct Gzip {
    state: State,
    flags: u8,
    members: usize,
    decompress: Decompress,
    checksum: Crc,
}

/// Concatenated members that are read; what follows is ignored.
const MEMBERS: usize = 64;

/// Bytes of optional header fields that are skipped, at most.
const HEADER_BYTES: u32 = 64 * 1024;

#[derive(Debug, Clone, Copy)]
enum State {
    /// The ten fixed bytes; the position among them.
    Fixed(u8),
    /// The two bytes of the extra field's length.
    ExtraLength {
        low: Option<u8>,
    },
    Extra(u16),
    /// A text that a zero byte ends: the file's name, then the comment.
    Name(u32),
    Comment(u32),
    /// The header's checksum, which is skipped; bytes left.
    HeaderChecksum(u8),
    Data,
    /// Checksum and length behind the data.
    Trailer {
        seen: u8,
        bytes: [u8; 8],
    },
    /// Behind a member: another one, or garbage.
    Between,
    Garbage,
}

const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const HEADER_CHECKSUM: u8 = 2;
const RESERVED: u8 = 0xe0;

const NOT_GZIP: Stop = Stop::Malformed("its body is not gzip as announced");

impl Default for Gzip {
    fn default() -> Self {
        Self {
            state: State::Fixed(0),
            flags: 0,
            members: 0,
            decompress: Decompress::new(false),
            checksum: Crc::new(),
        }
    }
}

impl Gzip {
    pub(super) fn push(&mut self, mut data: &[u8], output: &mut Output) -> Result<(), Stop> {
        while let Some(&byte) = data.first() {
            match self.state {
                State::Data => {
                    let (taken, ended) =
                        inflate(&mut self.decompress, data, output, Some(&mut self.checksum))?;
                    data = data.get(taken..).unwrap_or_default();
                    if ended {
                        self.state = State::Trailer { seen: 0, bytes: [0; 8] };
                    } else if taken == 0 {
                        return Err(Stop::Malformed("its compressed body is malformed"));
                    }
                }
                State::Garbage => return Ok(()),
                State::Between => {
                    self.state =
                        if byte == 0x1f && self.members < MEMBERS { State::Fixed(0) } else { State::Garbage };
                }
                _ => {
                    self.state = self.step(byte)?;
                    data = &data[1..];
                }
            }
        }
        Ok(())
    }

    pub(super) fn finish(&self) -> Result<(), Stop> {
        match self.state {
            State::Between | State::Garbage => Ok(()),
            State::Fixed(0) if self.members == 0 => Ok(()),
            _ => Err(Stop::Truncated),
        }
    }

    /// Takes one byte of a header or trailer.
    fn step(&mut self, byte: u8) -> Result<State, Stop> {
        Ok(match self.state {
            State::Fixed(position) => return self.fixed(position, byte),
            State::ExtraLength { low: None } => State::ExtraLength { low: Some(byte) },
            State::ExtraLength { low: Some(low) } => match u16::from_le_bytes([low, byte]) {
                0 => self.after(EXTRA),
                length => State::Extra(length),
            },
            State::Extra(1) => self.after(EXTRA),
            State::Extra(left) => State::Extra(left - 1),
            State::Name(_) if byte == 0 => self.after(NAME),
            State::Comment(_) if byte == 0 => self.after(COMMENT),
            State::Name(HEADER_BYTES) | State::Comment(HEADER_BYTES) => {
                return Err(Stop::Malformed("the header of its gzip body is too long"));
            }
            State::Name(seen) => State::Name(seen + 1),
            State::Comment(seen) => State::Comment(seen + 1),
            State::HeaderChecksum(1) => self.after(HEADER_CHECKSUM),
            State::HeaderChecksum(left) => State::HeaderChecksum(left - 1),
            State::Trailer { seen, mut bytes } => {
                bytes[usize::from(seen)] = byte;
                if seen < 7 { State::Trailer { seen: seen + 1, bytes } } else { self.trailer(bytes)? }
            }
            state @ (State::Data | State::Between | State::Garbage) => state,
        })
    }

    fn fixed(&mut self, position: u8, byte: u8) -> Result<State, Stop> {
        let fits = match position {
            0 => byte == 0x1f,
            1 => byte == 0x8b,
            2 => byte == 8,
            3 => byte & RESERVED == 0,
            _ => true,
        };
        if !fits {
            // Behind a whole member this is garbage, not a broken start.
            return if self.members > 0 { Ok(State::Garbage) } else { Err(NOT_GZIP) };
        }
        if position == 3 {
            self.flags = byte;
        }
        Ok(if position < 9 { State::Fixed(position + 1) } else { self.after(0) })
    }

    /// The state after the header's part `done`, in the order in which parts follow.
    fn after(&mut self, done: u8) -> State {
        let rank = |part: u8| match part {
            0 => 0,
            EXTRA => 1,
            NAME => 2,
            COMMENT => 3,
            _ => 4,
        };
        let parts = [
            (EXTRA, State::ExtraLength { low: None }),
            (NAME, State::Name(0)),
            (COMMENT, State::Comment(0)),
            (HEADER_CHECKSUM, State::HeaderChecksum(2)),
        ];
        for (part, state) in parts {
            if rank(part) > rank(done) && self.flags & part != 0 {
                return state;
            }
        }
        self.decompress.reset(false);
        self.checksum.reset();
        State::Data
    }

    fn trailer(&mut self, bytes: [u8; 8]) -> Result<State, Stop> {
        // CRC-32, then the length modulo 2^32, both with the lowest byte first.
        let expected = (u64::from(self.checksum.amount()) << 32) | u64::from(self.checksum.sum());
        if u64::from_le_bytes(bytes) != expected {
            return Err(Stop::Malformed("the checksum of its gzip body is wrong"));
        }
        self.members += 1;
        Ok(State::Between)
    }
}
