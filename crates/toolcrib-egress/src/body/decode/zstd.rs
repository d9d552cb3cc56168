//! `zstd` (RFC 8878), one block at a time.
//!
//! Invariant: the decoder is given exactly one block at once, which becomes at most 128 KiB; a window above
//! the limit of RFC 9659 is refused before anything is allocated for it.

use std::io::Read;

use ruzstd::decoding::FrameDecoder;

use super::{Output, Stop};
use crate::limits::ZSTD_WINDOW_BYTES;

/// A Zstandard decoder.
pub(crate) struct Zstd {
    decoder: FrameDecoder,
    waiting: Vec<u8>,
    state: State,
    frames: usize,
}

/// Concatenated frames that are read; more are an error.
const FRAMES: usize = 64;

/// A block is at most this large, compressed or not (RFC 8878, section 3.1.1.2.4).
const BLOCK_BYTES: usize = 128 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    FrameHeader,
    /// A skippable frame's content: bytes left.
    Skip(u64),
    Block {
        checksum: bool,
    },
    Checksum,
}

const MALFORMED: Stop = Stop::Malformed("its zstd body is malformed");

impl Default for Zstd {
    fn default() -> Self {
        Self { decoder: FrameDecoder::new(), waiting: Vec::new(), state: State::FrameHeader, frames: 0 }
    }
}

impl Zstd {
    pub(super) fn push(&mut self, data: &[u8], output: &mut Output) -> Result<(), Stop> {
        self.waiting.extend_from_slice(data);
        let mut taken = 0;
        let result = loop {
            match self.step(taken, output) {
                Ok(0) => break Ok(()),
                Ok(step) => taken += step,
                Err(stop) => break Err(stop),
            }
        };
        self.waiting.drain(..taken);
        result
    }

    pub(super) fn finish(&self) -> Result<(), Stop> {
        if self.state == State::FrameHeader && self.waiting.is_empty() {
            Ok(())
        } else {
            Err(Stop::Truncated)
        }
    }

    /// Takes the next whole part of what waits from `at` on; says how long it was, zero if it is not whole.
    fn step(&mut self, at: usize, output: &mut Output) -> Result<usize, Stop> {
        let waiting = &self.waiting[at..];
        match self.state {
            State::FrameHeader => self.frame_header(at),
            State::Skip(left) => {
                let skipped = usize::try_from(left).unwrap_or(usize::MAX).min(waiting.len());
                let left = left - skipped as u64;
                self.state = if left == 0 { State::FrameHeader } else { State::Skip(left) };
                Ok(skipped)
            }
            State::Block { checksum } => self.block(at, checksum, output),
            State::Checksum if waiting.len() >= 4 => {
                self.state = State::FrameHeader;
                self.check(at, output)?;
                Ok(4)
            }
            State::Checksum => Ok(0),
        }
    }

    fn frame_header(&mut self, at: usize) -> Result<usize, Stop> {
        let waiting = &self.waiting[at..];
        let Some((&magic, rest)) = waiting.split_first_chunk::<4>() else { return Ok(0) };
        if u32::from_le_bytes(magic) & 0xffff_fff0 == 0x184d_2a50 {
            let Some(size) = rest.first_chunk::<4>() else { return Ok(0) };
            let size = u64::from(u32::from_le_bytes(*size));
            self.begin_frame()?;
            self.state = if size == 0 { State::FrameHeader } else { State::Skip(size) };
            return Ok(8);
        }
        if u32::from_le_bytes(magic) != 0xfd2f_b528 {
            return Err(Stop::Malformed("its body is not zstd as announced"));
        }
        let Some(&descriptor) = rest.first() else { return Ok(0) };
        let single_segment = descriptor & 0x20 != 0;
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content_size = match descriptor >> 6 {
            0 => usize::from(single_segment),
            1 => 2,
            2 => 4,
            _ => 8,
        };
        let length = 5 + usize::from(!single_segment) + dictionary + content_size;
        let Some(mut header) = waiting.get(..length) else { return Ok(0) };
        self.decoder.set_max_window_size(ZSTD_WINDOW_BYTES);
        self.decoder
            .reset(&mut header)
            .map_err(|_| Stop::Malformed("the frame of its zstd body is refused"))?;
        self.begin_frame()?;
        self.state = State::Block { checksum: descriptor & 4 != 0 };
        Ok(length)
    }

    fn begin_frame(&mut self) -> Result<(), Stop> {
        self.frames += 1;
        if self.frames > FRAMES { Err(Stop::Malformed("its zstd body has too many frames")) } else { Ok(()) }
    }

    fn block(&mut self, at: usize, checksum: bool, output: &mut Output) -> Result<usize, Stop> {
        let waiting = &self.waiting[at..];
        let Some(&[a, b, c]) = waiting.first_chunk::<3>() else { return Ok(0) };
        let header = u32::from_le_bytes([a, b, c, 0]);
        let last = header & 1 != 0;
        let size = usize::try_from(header >> 3).map_err(|_| MALFORMED)?;
        if size > BLOCK_BYTES {
            return Err(MALFORMED);
        }
        let content = match (header >> 1) & 3 {
            0 | 2 => size,
            1 => 1,
            _ => return Err(MALFORMED),
        };
        let length = 3 + content;
        let Some(block) = waiting.get(..length) else { return Ok(0) };
        let taken = self.decoder.decode_from_to(block, &mut []).map_err(|_| MALFORMED)?.0;
        if taken != length {
            return Err(MALFORMED);
        }
        drain(&mut self.decoder, output)?;
        if last {
            self.state = if checksum { State::Checksum } else { State::FrameHeader };
        }
        Ok(length)
    }

    /// Gives the decoder the checksum, without which it holds back the last window.
    fn check(&mut self, at: usize, output: &mut Output) -> Result<(), Stop> {
        let Some(stored) = self.waiting[at..].first_chunk::<4>() else { return Err(MALFORMED) };
        self.decoder.decode_from_to(stored, &mut []).map_err(|_| MALFORMED)?;
        drain(&mut self.decoder, output)?;
        match self.decoder.get_calculated_checksum() {
            Some(calculated) if calculated != u32::from_le_bytes(*stored) => {
                Err(Stop::Malformed("the checksum of its zstd body is wrong"))
            }
            _ => Ok(()),
        }
    }
}

/// Hands over what the decoder does not need for later blocks.
fn drain(decoder: &mut FrameDecoder, output: &mut Output) -> Result<(), Stop> {
    let mut piece = [0_u8; 8 * 1024];
    loop {
        let produced = decoder.read(&mut piece).map_err(|_| MALFORMED)?;
        if produced == 0 {
            return Ok(());
        }
        output.push(piece.get(..produced).unwrap_or_default())?;
    }
}
