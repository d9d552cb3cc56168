//! A strict HTTP/1.1 client half: one request out, one response header in.
//!
//! Invariant: whatever servers and proxies could read differently is an error (RFC 9112): bare line feeds,
//! folded fields, white space before a colon, contradictory framing. No buffer grows beyond the budgets.
//!
//! General HTTP libraries accept some of these, skip interim responses without counting them, and do not
//! show how many bytes a header took. A fetch needs one response on one connection, which is little enough
//! to be read in full.

use bytes::{Buf, Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limits::Budgets;

/// How a response ends, in the words of RFC 9112, section 6.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// There is no body.
    Empty,
    /// So many bytes.
    Length(u64),
    /// Chunks and trailers.
    Chunked,
    /// Everything until the connection ends.
    UntilClose,
}

/// A final response's header.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) fields: HeaderMap,
    pub(crate) framing: Framing,
}

/// What went wrong while reading.
#[derive(Debug)]
pub(crate) enum WireError {
    /// Not HTTP/1.1, or not unambiguously.
    Protocol(&'static str),
    /// Above a budget for headers.
    Header,
    /// The connection ended or failed in the middle.
    Lost,
}

/// A connection's incoming half.
pub(crate) struct Wire<S> {
    stream: S,
    buffer: BytesMut,
    consumed: u64,
}

/// Bytes asked from the connection at once.
const READ_BYTES: usize = 8 * 1024;

impl<S: AsyncRead + Unpin> Wire<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, buffer: BytesMut::new(), consumed: 0 }
    }

    /// Bytes taken so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Reads the final response's header, past a bounded number of interim ones.
    pub(crate) async fn head(&mut self, budgets: &Budgets) -> Result<Head, WireError> {
        let mut room = budgets.header_bytes;
        for _ in 0..=budgets.interim_responses {
            let (minor, status) = self.status_line(&mut room).await?;
            let fields = self.fields(&mut room, budgets.header_fields).await?;
            match status {
                101 => return Err(WireError::Protocol("it switches protocols")),
                100..=199 => {}
                407 => return Err(WireError::Protocol("it asks for proxy credentials")),
                _ => {
                    let framing = framing(status, minor, &fields)?;
                    return Ok(Head { status, fields, framing });
                }
            }
        }
        Err(WireError::Header)
    }

    /// Reads at most `limit` bytes of data; nothing at the connection's end.
    pub(crate) async fn data(&mut self, limit: u64) -> Result<Bytes, WireError> {
        if self.buffer.is_empty() && self.fill().await? == 0 {
            return Ok(Bytes::new());
        }
        let length = self.buffer.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(self.take(length).freeze())
    }

    /// Reads a line of at most `limit` bytes besides its end, and takes it with its end.
    pub(crate) async fn line(&mut self, limit: usize) -> Result<BytesMut, WireError> {
        let mut searched = 0;
        loop {
            if let Some(found) = self.buffer[searched..].iter().position(|&byte| byte == b'\n') {
                let end = searched + found;
                if end > limit.saturating_add(1) {
                    return Err(WireError::Header);
                }
                let mut line = self.take(end + 1);
                line.truncate(end);
                if line.last() != Some(&b'\r') {
                    return Err(WireError::Protocol("a line ends without a carriage return"));
                }
                line.truncate(end - 1);
                if line.contains(&b'\r') {
                    return Err(WireError::Protocol("a carriage return stands within a line"));
                }
                return Ok(line);
            }
            searched = self.buffer.len();
            if searched > limit.saturating_add(1) {
                return Err(WireError::Header);
            }
            if self.fill().await? == 0 {
                return Err(WireError::Lost);
            }
        }
    }

    /// Reads fields up to the empty line, within `room` bytes.
    pub(crate) async fn fields(&mut self, room: &mut usize, count: usize) -> Result<HeaderMap, WireError> {
        let mut fields = HeaderMap::new();
        loop {
            let line = self.header_line(room).await?;
            if line.is_empty() {
                return Ok(fields);
            }
            if fields.len() == count {
                return Err(WireError::Header);
            }
            let (name, value) = field(&line)?;
            fields.try_append(name, value).map_err(|_| WireError::Header)?;
        }
    }

    async fn status_line(&mut self, room: &mut usize) -> Result<(u8, u16), WireError> {
        // Anything else than HTTP is recognized at its first bytes, not at a line end that may never come.
        loop {
            let known = self.buffer.len().min(VERSION.len());
            if self.buffer[..known] != VERSION[..known] {
                return Err(WireError::Protocol("it is not HTTP/1"));
            }
            if known == VERSION.len() {
                break;
            }
            if self.fill().await? == 0 {
                return Err(WireError::Lost);
            }
        }
        let line = self.header_line(room).await?;
        parse_status_line(&line).ok_or(WireError::Protocol("its status line is malformed"))
    }

    /// Reads a line that fits, its end included, and takes its length from `room`.
    async fn header_line(&mut self, room: &mut usize) -> Result<BytesMut, WireError> {
        let line = self.line(room.checked_sub(2).ok_or(WireError::Header)?).await?;
        *room = room.saturating_sub(line.len() + 2);
        Ok(line)
    }

    async fn fill(&mut self) -> Result<usize, WireError> {
        self.buffer.reserve(READ_BYTES);
        let mut limited = (&mut self.stream).take(READ_BYTES as u64);
        limited.read_buf(&mut self.buffer).await.map_err(|_| WireError::Lost)
    }

    fn take(&mut self, length: usize) -> BytesMut {
        self.consumed += length as u64;
        self.buffer.split_to(length)
    }
}

const VERSION: &[u8] = b"HTTP/1.";

/// The minor version and the status (RFC 9112, section 4).
fn parse_status_line(mut line: &[u8]) -> Option<(u8, u16)> {
    line.advance(VERSION.len());
    let (&minor, rest) = line.split_first()?;
    let rest = rest.strip_prefix(b" ")?;
    let (status, reason) = rest.split_at_checked(3)?;
    let minor = match minor {
        b'0' => 0,
        b'1' => 1,
        _ => return None,
    };
    let status = status
        .iter()
        .try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u16::from(byte - b'0')))?;
    let reason_is_text =
        reason.is_empty() || (reason[0] == b' ' && reason.iter().all(|&byte| is_field_byte(byte)));
    ((100..=599).contains(&status) && reason_is_text).then_some((minor, status))
}

fn field(line: &[u8]) -> Result<(HeaderName, HeaderValue), WireError> {
    if matches!(line[0], b' ' | b'\t') {
        return Err(WireError::Protocol("a field is folded over two lines"));
    }
    let colon =
        line.iter().position(|&byte| byte == b':').ok_or(WireError::Protocol("a field has no colon"))?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    let name =
        HeaderName::from_bytes(name).map_err(|_| WireError::Protocol("the name of a field is malformed"))?;
    if !value.iter().all(|&byte| is_field_byte(byte)) {
        return Err(WireError::Protocol("the value of a field holds control characters"));
    }
    let value = HeaderValue::from_bytes(value)
        .map_err(|_| WireError::Protocol("the value of a field holds control characters"))?;
    Ok((name, value))
}

fn is_field_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

fn framing(status: u16, minor: u8, fields: &HeaderMap) -> Result<Framing, WireError> {
    let lengths = content_length(fields)?;
    let mut codings = fields.get_all(TRANSFER_ENCODING).iter();
    let coding = codings.next();
    if coding.is_some() && lengths.is_some() {
        return Err(WireError::Protocol("it has both Content-Length and Transfer-Encoding"));
    }
    if let Some(coding) = coding
        && (minor == 0 || codings.next().is_some() || !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
    {
        return Err(WireError::Protocol("its transfer coding is not chunked alone"));
    }
    Ok(match (status, coding, lengths) {
        (204 | 304, _, _) => Framing::Empty,
        (_, Some(_), _) => Framing::Chunked,
        (_, None, Some(length)) => Framing::Length(length),
        (_, None, None) => Framing::UntilClose,
    })
}

/// One number, however often it is repeated (RFC 9112, section 6.3, item 5).
fn content_length(fields: &HeaderMap) -> Result<Option<u64>, WireError> {
    let mut length = None;
    for value in fields.get_all(CONTENT_LENGTH) {
        for item in value.as_bytes().split(|&byte| byte == b',') {
            let digits = item.trim_ascii();
            if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                return Err(WireError::Protocol("its Content-Length is not a number"));
            }
            let number = std::str::from_utf8(digits)
                .ok()
                .and_then(|digits| digits.parse::<u64>().ok())
                .ok_or(WireError::Protocol("its Content-Length is too large to be true"))?;
            if *length.get_or_insert(number) != number {
                return Err(WireError::Protocol("it has two different Content-Length fields"));
            }
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests;
