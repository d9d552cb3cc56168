//! Content codings: gzip, deflate, Brotli and Zstandard, streaming and bounded.
//!
//! Invariant: a decoder hands every decoded byte to [`Output`] at once, and [`Output`] refuses the byte that
//! is too many. No decoder allocates by an announced size without a limit.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

mod gzip;
mod zstd;

/// Why decoding stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The decoded budget is full.
    Full,
    /// Too much came out for what went in.
    Ratio,
    /// The data is not of its coding.
    Malformed(&'static str),
    /// The data ended too early.
    Truncated,
}

/// What the first decoded bytes get.
const FIRST_BYTES: usize = 16 * 1024;

/// The decoded bytes, bounded.
#[derive(Debug)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    limit: u64,
    ratio: u64,
    ratio_floor: u64,
    on_wire: u64,
}

impl Output {
    pub(crate) fn new(limit: u64, ratio: u64, ratio_floor: u64) -> Self {
        Self { bytes: Vec::new(), limit, ratio, ratio_floor, on_wire: 0 }
    }

    /// Tells how many bytes the wire has carried so far.
    pub(crate) fn on_wire(&mut self, bytes: u64) {
        self.on_wire = bytes;
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        self.bytes.into()
    }

    /// Bytes that may still come, and what it means if more do.
    fn room(&self) -> (usize, Stop) {
        let by_ratio = self.ratio_floor.max(self.ratio.saturating_mul(self.on_wire));
        let (cap, stop) =
            if by_ratio < self.limit { (by_ratio, Stop::Ratio) } else { (self.limit, Stop::Full) };
        let room = cap.saturating_sub(self.bytes.len() as u64);
        (usize::try_from(room).unwrap_or(usize::MAX), stop)
    }

    fn push(&mut self, data: &[u8]) -> Result<(), Stop> {
        let (room, stop) = self.room();
        let fits = &data[..data.len().min(room)];
        self.grow_for(fits.len());
        self.bytes.extend_from_slice(fits);
        if fits.len() < data.len() { Err(stop) } else { Ok(()) }
    }

    /// Grows by halves and never beyond the limit: doubling would take twice the budget at its end.
    fn grow_for(&mut self, more: usize) {
        let needed = self.bytes.len() + more;
        let capacity = self.bytes.capacity();
        if needed > capacity {
            let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
            let wanted = (capacity + capacity / 2 + FIRST_BYTES).min(limit).max(needed);
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
    }
}

/// One content coding, or none.
pub(crate) enum Decoder {
    Identity,
    Gzip(Box<gzip::Gzip>),
    Deflate(Deflate),
    Brotli(Brotli),
    Zstd(Box<zstd::Zstd>),
}

impl Decoder {
    /// Chooses by the `Content-Encoding` fields.
    ///
    /// # Errors
    /// An unknown coding, or more than one.
    pub(crate) fn for_fields(fields: &HeaderMap) -> Result<Self, &'static str> {
        let mut decoder = None;
        for value in fields.get_all(CONTENT_ENCODING) {
            let value = value.to_str().map_err(|_| "its content coding is unknown")?;
            for coding in value.split(',').map(str::trim).filter(|coding| !coding.is_empty()) {
                let found = match coding.to_ascii_lowercase().as_str() {
                    "identity" => continue,
                    "gzip" | "x-gzip" => Self::Gzip(Box::default()),
                    "deflate" => Self::Deflate(Deflate::default()),
                    "br" => Self::Brotli(Brotli::default()),
                    "zstd" => Self::Zstd(Box::default()),
                    _ => return Err("its content coding is unknown"),
                };
                if decoder.replace(found).is_some() {
                    return Err("it has more than one content coding");
                }
            }
        }
        Ok(decoder.unwrap_or(Self::Identity))
    }

    /// Decodes one piece.
    pub(crate) fn push(&mut self, data: &[u8], output: &mut Output) -> Result<(), Stop> {
        match self {
            Self::Identity => output.push(data),
            Self::Gzip(decoder) => decoder.push(data, output),
            Self::Deflate(decoder) => decoder.push(data, output),
            Self::Brotli(decoder) => decoder.push(data, output),
            Self::Zstd(decoder) => decoder.push(data, output),
        }
    }

    /// The data is over: was it complete?
    pub(crate) fn finish(&mut self, output: &mut Output) -> Result<(), Stop> {
        match self {
            Self::Identity => Ok(()),
            Self::Gzip(decoder) => decoder.finish(),
            Self::Deflate(decoder) => decoder.finish(),
            Self::Brotli(decoder) => decoder.finish(output),
            Self::Zstd(decoder) => decoder.finish(),
        }
    }
}

/// Inflates `data` into `output`; says how much was taken and whether the stream ended.
fn inflate(
    decompress: &mut Decompress,
    data: &[u8],
    output: &mut Output,
    mut checksum: Option<&mut Crc>,
) -> Result<(usize, bool), Stop> {
    let mut taken = 0;
    let mut piece = [0_u8; 8 * 1024];
    loop {
        let (before_in, before_out) = (decompress.total_in(), decompress.total_out());
        let status = decompress
            .decompress(&data[taken..], &mut piece, FlushDecompress::None)
            .map_err(|_| Stop::Malformed("its compressed body is malformed"))?;
        let consumed = usize::try_from(decompress.total_in() - before_in).unwrap_or(usize::MAX);
        let produced = usize::try_from(decompress.total_out() - before_out).unwrap_or(usize::MAX);
        taken = taken.saturating_add(consumed);
        let decoded = piece.get(..produced).unwrap_or(&piece);
        if let Some(checksum) = checksum.as_deref_mut() {
            checksum.update(decoded);
        }
        output.push(decoded)?;
        if status == Status::StreamEnd {
            return Ok((taken, true));
        }
        // A full buffer may mean that more output waits, even if all input is taken.
        if consumed == 0 && produced == 0 || (taken >= data.len() && produced < piece.len()) {
            return Ok((taken, false));
        }
    }
}

/// `deflate`: zlib framing as RFC 9110 asks, or the raw stream that some servers send.
#[derive(Default)]
pub(crate) struct Deflate {
    start: Vec<u8>,
    inner: Option<Decompress>,
    ended: bool,
}

impl Deflate {
    fn push(&mut self, data: &[u8], output: &mut Output) -> Result<(), Stop> {
        if self.ended || data.is_empty() {
            return Ok(());
        }
        let mut data = data;
        let joined;
        if self.inner.is_none() {
            self.start.extend_from_slice(data);
            let &[first, second, ..] = self.start.as_slice() else { return Ok(()) };
            // RFC 1950, section 2.2: compression method 8, and a header divisible by 31.
            let zlib = first & 0x0f == 8 && (u16::from(first) << 8 | u16::from(second)) % 31 == 0;
            self.inner = Some(Decompress::new(zlib));
            joined = std::mem::take(&mut self.start);
            data = &joined;
        }
        if let Some(inner) = &mut self.inner {
            let (_, ended) = inflate(inner, data, output, None)?;
            self.ended = ended;
        }
        Ok(())
    }

    fn finish(&self) -> Result<(), Stop> {
        let nothing = self.inner.is_none() && self.start.is_empty();
        if self.ended || nothing { Ok(()) } else { Err(Stop::Truncated) }
    }
}

/// `br` (RFC 7932). Its window is at most 16 MiB by its format; large windows are not enabled.
pub(crate) struct Brotli {
    writer: Box<brotli::DecompressorWriter<Sink>>,
    started: bool,
}

impl Default for Brotli {
    fn default() -> Self {
        let writer = Box::new(brotli::DecompressorWriter::new(Sink::default(), 8 * 1024));
        Self { writer, started: false }
    }
}

impl Brotli {
    fn push(&mut self, data: &[u8], output: &mut Output) -> Result<(), Stop> {
        self.started |= !data.is_empty();
        self.writer.get_mut().room = output.room().0;
        let result = self.writer.write_all(data).and_then(|()| self.writer.flush());
        self.drain(output)?;
        result.map_err(|_| Stop::Malformed("its compressed body is malformed"))
    }

    fn finish(&mut self, output: &mut Output) -> Result<(), Stop> {
        if !self.started {
            return Ok(());
        }
        self.writer.get_mut().room = output.room().0;
        let result = self.writer.close();
        self.drain(output)?;
        result.map_err(|_| Stop::Truncated)
    }

    fn drain(&mut self, output: &mut Output) -> Result<(), Stop> {
        let stop = output.room().1;
        let sink = self.writer.get_mut();
        let decoded = std::mem::take(&mut sink.bytes);
        let overflowed = sink.overflowed;
        output.push(&decoded)?;
        if overflowed { Err(stop) } else { Ok(()) }
    }
}

/// Where the Brotli decoder writes: as much as there is room for, then an error that stops it.
#[derive(Default)]
pub(crate) struct Sink {
    bytes: Vec<u8>,
    room: usize,
    overflowed: bool,
}

impl Write for Sink {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let left = self.room.saturating_sub(self.bytes.len());
        if left < data.len() {
            self.bytes.extend_from_slice(&data[..left]);
            self.overflowed = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
