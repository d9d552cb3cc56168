//! Reads a server-sent event stream piece by piece.
//!
//! Where the bytes are split never changes the events, and no event grows past the limit. The grammar is that of
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html>, with one leniency: an event that the end of
//! the stream cuts off before its blank line counts, since some servers leave the last line ending out.

use bytes::{Buf, Bytes, BytesMut};

/// The most bytes that one event may hold unless told otherwise: 16 MiB.
pub const DEFAULT_EVENT_LIMIT: usize = 16 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event with a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The value of the last `event` field, when there was one.
    pub name: Option<Bytes>,
    /// The `data` lines, joined by a line feed; usually a slice of what was pushed.
    pub data: Bytes,
}

/// Collects bytes and hands out events.
#[derive(Debug)]
pub struct SseReader {
    buffer: BytesMut,
    /// How far the buffer was searched for a line ending.
    searched: usize,
    at_start: bool,
    after_carriage_return: bool,
    name: Option<Bytes>,
    data: Data,
    limit: usize,
}

/// The stream cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// An event or a line is longer than the limit.
    #[error("an event of the stream is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

/// The payload of the event being read: one line needs no copy.
#[derive(Debug)]
enum Data {
    None,
    Line(Bytes),
    Lines(BytesMut),
}

impl Default for SseReader {
    fn default() -> Self {
        Self::new(DEFAULT_EVENT_LIMIT)
    }
}

impl SseReader {
    /// A reader that refuses events of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            at_start: true,
            after_carriage_return: false,
            name: None,
            data: Data::None,
            limit,
        }
    }

    /// Takes more of the stream.
    pub fn push(&mut self, bytes: Bytes) {
        if self.buffer.is_empty() {
            self.buffer = bytes.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
        } else {
            self.buffer.extend_from_slice(&bytes);
        }
    }

    /// The next event that is complete, or `None` until more is pushed.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>, SseError> {
        while let Some(line) = self.next_line()? {
            if let Some(event) = self.take_line(&line)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The event that the end of the stream completes. Call it after [`SseReader::next_event`] gave `None`.
    pub fn finish(&mut self) -> Result<Option<SseEvent>, SseError> {
        let rest = self.buffer.split().freeze();
        self.searched = 0;
        let is_rest_of_ending = self.after_carriage_return && rest[..] == *b"\n";
        let is_line = !rest.is_empty() && !is_rest_of_ending;
        if is_line && let Some(event) = self.take_line(&rest)? {
            return Ok(Some(event));
        }
        Ok(self.dispatch())
    }

    fn next_line(&mut self) -> Result<Option<Bytes>, SseError> {
        if self.after_carriage_return && !self.buffer.is_empty() {
            self.after_carriage_return = false;
            if self.buffer[0] == b'\n' {
                self.buffer.advance(1);
            }
        }
        if self.at_start {
            if self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.buffer.advance(BYTE_ORDER_MARK.len());
            } else if BYTE_ORDER_MARK.starts_with(&self.buffer) {
                return Ok(None);
            }
            self.at_start = false;
        }
        let ending = self.buffer[self.searched..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let Some(ending) = ending else {
            self.searched = self.buffer.len();
            return if self.searched > self.limit { Err(self.too_large()) } else { Ok(None) };
        };
        let line = self.buffer.split_to(self.searched + ending).freeze();
        self.searched = 0;
        self.after_carriage_return = self.buffer[0] == b'\r';
        self.buffer.advance(1);
        if line.len() > self.limit { Err(self.too_large()) } else { Ok(Some(line)) }
    }

    fn take_line(&mut self, line: &Bytes) -> Result<Option<SseEvent>, SseError> {
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let mut value = line.slice((colon + 1).min(line.len())..);
        if value.first() == Some(&b' ') {
            value.advance(1);
        }
        match &line[..colon] {
            b"data" => self.take_data(value)?,
            b"event" => self.name = Some(value),
            // A comment has an empty field name; `id` and `retry` matter only to a client that reconnects.
            _ => {}
        }
        Ok(None)
    }

    fn take_data(&mut self, value: Bytes) -> Result<(), SseError> {
        let before = match &self.data {
            Data::None => 0,
            Data::Line(line) => line.len() + 1,
            Data::Lines(lines) => lines.len() + 1,
        };
        if before + value.len() > self.limit {
            return Err(self.too_large());
        }
        self.data = match std::mem::replace(&mut self.data, Data::None) {
            Data::None => Data::Line(value),
            Data::Line(line) => Data::Lines(joined(BytesMut::from(&line[..]), &value)),
            Data::Lines(lines) => Data::Lines(joined(lines, &value)),
        };
        Ok(())
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let name = self.name.take();
        let data = match std::mem::replace(&mut self.data, Data::None) {
            Data::None => return None,
            Data::Line(line) => line,
            Data::Lines(lines) => lines.freeze(),
        };
        (!data.is_empty()).then_some(SseEvent { name, data })
    }

    fn too_large(&mut self) -> SseError {
        self.buffer.clear();
        self.searched = 0;
        self.data = Data::None;
        SseError::TooLarge { limit: self.limit }
    }
}

fn joined(mut lines: BytesMut, line: &[u8]) -> BytesMut {
    lines.extend_from_slice(b"\n");
    lines.extend_from_slice(line);
    lines
}

#[cfg(test)]
mod tests;
