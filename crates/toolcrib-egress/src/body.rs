//! Reading a body: framing off, coding off, counted all the way.
//!
//! Invariant: at no time is more in memory than the decoded budget, one decoder's window and one read; the
//! pump stops at the first budget that is reached and keeps what was read until then.

use bytes::Bytes;
use tokio::io::AsyncRead;
use tokio::time::{Instant, timeout_at};

use crate::body::decode::{Decoder, Output, Stop};
use crate::error::{Excess, Phase};
use crate::http1::{Framing, Wire, WireError};
use crate::limits::{BODY_START_BYTES, Budgets, CHUNK_BYTES, CHUNK_LINE_BYTES};

pub(crate) mod decode;

/// Why a body is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartialReason {
    /// A budget of size was reached.
    #[error("the page is larger than the size limit")]
    TooLarge,
    /// A budget of time ran out.
    #[error("the page took too long")]
    TooSlow,
    /// The connection ended, or its data, before the announced end.
    #[error("the connection ended early")]
    Cut,
}

/// What was read.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) bytes: Bytes,
    pub(crate) partial: Option<PartialReason>,
}

/// Why nothing usable was read.
#[derive(Debug)]
pub(crate) enum BodyError {
    Wire(WireError),
    Coding(&'static str),
    TooLarge(Excess),
    Timeout,
    Unreadable,
}

impl BodyError {
    pub(crate) const PHASE: Phase = Phase::Body;
}

/// Judges the first decoded bytes; `false` refuses the body.
pub type StartCheck<'a> = &'a (dyn Fn(&[u8]) -> bool + Send + Sync);

/// Reads the body that `framing` announces.
pub(crate) async fn read<S: AsyncRead + Unpin>(
    wire: &mut Wire<S>,
    framing: Framing,
    decoder: Decoder,
    budgets: &Budgets,
    deadline: Instant,
    start_check: Option<StartCheck<'_>>,
) -> Result<Body, BodyError> {
    if let Framing::Length(length) = framing
        && length > budgets.wire_bytes
    {
        return Err(BodyError::TooLarge(Excess::DeclaredLength));
    }
    let mut pump = Pump {
        frames: Frames::new(framing, wire),
        decoder,
        output: Output::new(budgets.decoded_bytes, budgets.ratio, budgets.ratio_floor),
        budgets,
        deadline,
        start_check,
    };
    let end = pump.run().await;
    pump.close(end)
}

struct Pump<'a, S> {
    frames: Frames<'a, S>,
    decoder: Decoder,
    output: Output,
    budgets: &'a Budgets,
    deadline: Instant,
    start_check: Option<StartCheck<'a>>,
}

impl<S: AsyncRead + Unpin> Pump<'_, S> {
    /// Reads to the end, or to the first reason to stop.
    async fn run(&mut self) -> Result<(), BodyError> {
        let begin = self.frames.wire.consumed();
        loop {
            let until = self.deadline.min(Instant::now() + self.budgets.idle);
            let used = self.frames.wire.consumed() - begin;
            let room = self.budgets.wire_bytes.saturating_sub(used);
            if room == 0 {
                // The budget may be reached exactly at the end.
                return if self.frames.is_done() { self.finish() } else { Err(TOO_LARGE) };
            }
            let piece = match timeout_at(until, self.frames.next(room, self.budgets)).await {
                Err(_) => return Err(BodyError::Timeout),
                Ok(piece) => piece.map_err(BodyError::Wire)?,
            };
            let Some(piece) = piece else { return self.finish() };
            self.output.on_wire(self.frames.wire.consumed() - begin);
            let pushed = self.decoder.push(&piece, &mut self.output);
            self.check_start(false)?;
            pushed.map_err(stopped)?;
        }
    }

    fn finish(&mut self) -> Result<(), BodyError> {
        self.decoder.finish(&mut self.output).map_err(stopped)?;
        self.check_start(true)
    }

    fn check_start(&mut self, at_end: bool) -> Result<(), BodyError> {
        let bytes = self.output.bytes();
        let is_due = bytes.len() >= BODY_START_BYTES || (at_end && !bytes.is_empty());
        if is_due
            && let Some(check) = self.start_check.take()
            && !check(&bytes[..bytes.len().min(BODY_START_BYTES)])
        {
            return Err(BodyError::Unreadable);
        }
        Ok(())
    }

    fn close(mut self, end: Result<(), BodyError>) -> Result<Body, BodyError> {
        let reason = match end {
            Ok(()) => return Ok(Body { bytes: self.output.into_bytes(), partial: None }),
            Err(BodyError::TooLarge(Excess::Body)) => PartialReason::TooLarge,
            Err(BodyError::Timeout) => PartialReason::TooSlow,
            Err(BodyError::Wire(WireError::Lost)) => PartialReason::Cut,
            Err(error) => return Err(error),
        };
        if self.output.bytes().is_empty() {
            return end.map(|()| Body { bytes: Bytes::new(), partial: None });
        }
        self.check_start(true)?;
        Ok(Body { bytes: self.output.into_bytes(), partial: Some(reason) })
    }
}

const TOO_LARGE: BodyError = BodyError::TooLarge(Excess::Body);

fn stopped(stop: Stop) -> BodyError {
    match stop {
        Stop::Full => TOO_LARGE,
        Stop::Ratio => BodyError::TooLarge(Excess::Ratio),
        Stop::Malformed(detail) => BodyError::Coding(detail),
        Stop::Truncated => BodyError::Wire(WireError::Lost),
    }
}

/// Takes the framing off.
struct Frames<'a, S> {
    wire: &'a mut Wire<S>,
    state: FrameState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameState {
    Length(u64),
    ChunkLine,
    ChunkData(u64),
    ChunkEnd,
    UntilClose,
    Done,
}

impl<'a, S: AsyncRead + Unpin> Frames<'a, S> {
    fn new(framing: Framing, wire: &'a mut Wire<S>) -> Self {
        let state = match framing {
            Framing::Empty | Framing::Length(0) => FrameState::Done,
            Framing::Length(length) => FrameState::Length(length),
            Framing::Chunked => FrameState::ChunkLine,
            Framing::UntilClose => FrameState::UntilClose,
        };
        Self { wire, state }
    }

    fn is_done(&self) -> bool {
        self.state == FrameState::Done
    }

    /// The next piece of data of at most `room` bytes; `None` at the end.
    ///
    /// A caller that drops this future must not call again: a line may be half read.
    async fn next(&mut self, room: u64, budgets: &Budgets) -> Result<Option<Bytes>, WireError> {
        loop {
            match self.state {
                FrameState::Done => return Ok(None),
                FrameState::UntilClose => {
                    let data = self.wire.data(room).await?;
                    if data.is_empty() {
                        self.state = FrameState::Done;
                        return Ok(None);
                    }
                    return Ok(Some(data));
                }
                FrameState::Length(left) => {
                    let data = self.some_data(left.min(room)).await?;
                    let left = left - data.len() as u64;
                    self.state = if left == 0 { FrameState::Done } else { FrameState::Length(left) };
                    return Ok(Some(data));
                }
                FrameState::ChunkLine => {
                    let line = self.wire.line(CHUNK_LINE_BYTES).await.map_err(|error| match error {
                        WireError::Header => WireError::Protocol("the line before a chunk is too long"),
                        other => other,
                    })?;
                    let size =
                        chunk_size(&line).ok_or(WireError::Protocol("the size of a chunk is malformed"))?;
                    if size == 0 {
                        let mut trailers = budgets.header_bytes;
                        self.wire.fields(&mut trailers, budgets.header_fields).await?;
                        self.state = FrameState::Done;
                        return Ok(None);
                    }
                    self.state = FrameState::ChunkData(size);
                }
                FrameState::ChunkEnd => match self.wire.line(0).await {
                    Ok(_) => self.state = FrameState::ChunkLine,
                    Err(WireError::Lost) => return Err(WireError::Lost),
                    Err(_) => return Err(WireError::Protocol("a chunk is longer than its size says")),
                },
                FrameState::ChunkData(left) => {
                    let data = self.some_data(left.min(room)).await?;
                    let left = left - data.len() as u64;
                    if left > 0 {
                        self.state = FrameState::ChunkData(left);
                        return Ok(Some(data));
                    }
                    // The end of the chunk is looked for with the next piece, so that data is never held back.
                    self.state = FrameState::ChunkEnd;
                    return Ok(Some(data));
                }
            }
        }
    }

    async fn some_data(&mut self, limit: u64) -> Result<Bytes, WireError> {
        let data = self.wire.data(limit).await?;
        if data.is_empty() { Err(WireError::Lost) } else { Ok(data) }
    }
}

/// The size in front of a chunk, its extensions ignored (RFC 9112, section 7.1).
fn chunk_size(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|&byte| byte == b';').unwrap_or(line.len());
    let digits = line[..end].trim_ascii_end();
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut size: u64 = 0;
    for &digit in digits {
        size = (size << 4) | u64::from(char::from(digit).to_digit(16)?);
    }
    (size <= CHUNK_BYTES).then_some(size)
}
