//! What the stub server sends for one request.
//!
//! Invariant: bytes are sent exactly as written; nothing is added or repaired.

use std::time::Duration;

use bytes::Bytes;

/// A response as steps over time.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    steps: Vec<Step>,
}

/// One step of a reply.
#[derive(Debug, Clone)]
pub enum Step {
    /// Sends these bytes.
    Send(Bytes),
    /// Sends these bytes again and again.
    Repeat {
        /// What is sent.
        bytes: Bytes,
        /// How often; `None` is for ever.
        times: Option<u64>,
        /// The pause before each.
        pause: Duration,
    },
    /// Does nothing for a while.
    Pause(Duration),
    /// Does nothing until the client closes the connection.
    Hang,
}

impl Reply {
    /// A complete header, a body still missing. `Connection: close` and no length: the body ends with the
    /// connection unless [`Reply::body`] says its length.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self::raw(format!("HTTP/1.1 {status} Stub\r\nConnection: close\r\n"))
    }

    /// A successful page.
    #[must_use]
    pub fn html(body: impl Into<Bytes>) -> Self {
        Self::new(200).header("Content-Type", "text/html; charset=utf-8").body(body)
    }

    /// A redirect.
    #[must_use]
    pub fn redirect(status: u16, location: impl AsRef<[u8]>) -> Self {
        Self::new(status).header("Location", location).body("")
    }

    /// Exactly these bytes, then the end of the connection.
    #[must_use]
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self::steps(vec![Step::Send(bytes.into())])
    }

    /// Exactly these steps, then the end of the connection.
    #[must_use]
    pub fn steps(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// Adds a header field; before [`Reply::body`].
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let line = [name.as_bytes(), b": ", value.as_ref(), b"\r\n"].concat();
        self.steps.push(Step::Send(line.into()));
        self
    }

    /// Adds the body's length, the end of the header, and the body.
    #[must_use]
    pub fn body(self, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let length = body.len().to_string();
        self.header("Content-Length", length).then(Step::Send("\r\n".into())).then(Step::Send(body))
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps
    }
}
