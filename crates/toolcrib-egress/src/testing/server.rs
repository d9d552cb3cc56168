//! A scriptable HTTP server on loopback, with and without TLS on the same port.
//!
//! Invariant: one connection, one request, one reply; dropping the server ends all its connections.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;
use tokio_rustls::LazyConfigAcceptor;

use super::authority::{TestAuthority, Validity};
use super::connector::lock;
use super::{Reply, Step, TestError};

/// From the client's end of a connection to the address that it was made for.
pub(super) type Links = Arc<Mutex<HashMap<SocketAddr, SocketAddr>>>;

/// A stub server. See the module [`crate::testing`].
pub struct StubServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

/// A request that the server got.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    /// The request line and the header, line ends included.
    pub head: String,
    /// The body, as far as its `Content-Length` says.
    pub body: Vec<u8>,
    /// The address that the client meant to reach; `None` if it did not come through a test connector.
    pub target: Option<SocketAddr>,
    /// Whether it came through TLS.
    pub secure: bool,
    /// The name in the TLS handshake.
    pub server_name: Option<String>,
}

impl SeenRequest {
    /// The method and the request target.
    #[must_use]
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    /// A header field's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// How the server behaves when a client begins TLS.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TlsMode {
    /// A valid certificate for whatever the client wants to reach.
    #[default]
    Valid,
    /// A certificate that expired long ago.
    Expired,
    /// A certificate that nobody signed.
    SelfSigned,
    /// A valid certificate for this name.
    For(String),
    /// An answer without TLS.
    Plain,
    /// No answer.
    Silent,
}

struct Shared {
    authority: TestAuthority,
    replies: Mutex<VecDeque<Reply>>,
    default: Mutex<Reply>,
    tls: Mutex<TlsMode>,
    seen: Mutex<Vec<SeenRequest>>,
    links: Links,
    open: AtomicUsize,
    accepted: AtomicUsize,
    sent: AtomicU64,
}

impl StubServer {
    /// Starts a server that answers every request with a small page.
    ///
    /// # Errors
    /// If the loopback socket or the test authority cannot be made.
    pub async fn start() -> Result<Self, TestError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            authority: TestAuthority::new()?,
            replies: Mutex::default(),
            default: Mutex::new(Reply::html("<title>Stub</title><p>A page of the stub server.</p>")),
            tls: Mutex::default(),
            seen: Mutex::default(),
            links: Links::default(),
            open: AtomicUsize::new(0),
            accepted: AtomicUsize::new(0),
            sent: AtomicU64::new(0),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared))).abort_handle();
        Ok(Self { address, shared, accepting })
    }

    /// The loopback address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The authority that signs the server's certificates.
    #[must_use]
    pub fn authority(&self) -> &TestAuthority {
        &self.shared.authority
    }

    /// Adds the answer to a future request; answers are used in order.
    pub fn push(&self, reply: Reply) {
        lock(&self.shared.replies).push_back(reply);
    }

    /// Forgets the answers that were not used, and the requests so far.
    pub fn clear(&self) {
        lock(&self.shared.replies).clear();
        lock(&self.shared.seen).clear();
    }

    /// Sets the answer for when no other is left.
    pub fn set_default(&self, reply: Reply) {
        *lock(&self.shared.default) = reply;
    }

    /// Sets the behavior in TLS.
    pub fn set_tls(&self, mode: TlsMode) {
        *lock(&self.shared.tls) = mode;
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<SeenRequest> {
        lock(&self.shared.seen).clone()
    }

    /// Connections that are open now.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// Connections so far.
    #[must_use]
    pub fn accepted_connections(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// Bytes of replies that the operating system took so far.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    pub(super) fn links(&self) -> Links {
        Arc::clone(&self.shared.links)
    }
}

impl Drop for StubServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, client)) = listener.accept().await {
        shared.accepted.fetch_add(1, Ordering::SeqCst);
        connections.spawn(connection(stream, client, Open::new(&shared)));
        while connections.try_join_next().is_some() {}
    }
}

/// Counts a connection as open while it lives.
struct Open(Arc<Shared>);

impl Open {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.open.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(shared))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn connection(stream: TcpStream, client: SocketAddr, open: Open) {
    // A client that goes away in the middle is what many tests are about.
    let _ = serve(stream, client, &open.0).await;
}

async fn serve(stream: TcpStream, client: SocketAddr, shared: &Shared) -> Result<(), TestError> {
    stream.set_nodelay(true)?;
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 {
        return Ok(());
    }
    let target = lock(&shared.links).get(&client).copied();
    let request =
        SeenRequest { head: String::new(), body: Vec::new(), target, secure: false, server_name: None };
    let mode = lock(&shared.tls).clone();
    if first == [0x16] && mode == TlsMode::Plain {
        return plain_refusal(stream).await.map_err(Into::into);
    }
    if first != [0x16] {
        return answer(stream, request, shared).await.map_err(Into::into);
    }
    if mode == TlsMode::Silent {
        return until_closed(stream).await.map_err(Into::into);
    }
    let handshake = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let server_name = handshake.client_hello().server_name().map(str::to_owned);
    let wanted = server_name.clone().or(target.map(|target| target.ip().to_string()));
    let config = server_config(shared, mode, &wanted.unwrap_or_else(|| "localhost".to_owned()))?;
    let stream = handshake.into_stream(config).await?;
    answer(stream, SeenRequest { secure: true, server_name, ..request }, shared).await.map_err(Into::into)
}

fn server_config(shared: &Shared, mode: TlsMode, wanted: &str) -> Result<Arc<ServerConfig>, TestError> {
    match mode {
        TlsMode::Expired => shared.authority.issue(wanted, Validity::Expired),
        TlsMode::SelfSigned => shared.authority.issue(wanted, Validity::SelfSigned),
        TlsMode::For(name) => shared.authority.issue(&name, Validity::Valid),
        TlsMode::Valid | TlsMode::Plain | TlsMode::Silent => shared.authority.issue(wanted, Validity::Valid),
    }
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    mut request: SeenRequest,
    shared: &Shared,
) -> io::Result<()> {
    (request.head, request.body) = read_request(&mut stream).await?;
    lock(&shared.seen).push(request);
    let next = lock(&shared.replies).pop_front();
    let reply = next.unwrap_or_else(|| lock(&shared.default).clone());
    for step in reply.into_steps() {
        match step {
            Step::Send(bytes) => send(&mut stream, &bytes, shared).await?,
            Step::Pause(pause) => sleep(pause).await,
            Step::Hang => return until_closed(stream).await,
            Step::Repeat { bytes, times, pause } => {
                let mut left = times.unwrap_or(u64::MAX);
                while left > 0 {
                    if !pause.is_zero() {
                        sleep(pause).await;
                    }
                    send(&mut stream, &bytes, shared).await?;
                    left -= 1;
                }
            }
        }
    }
    stream.shutdown().await
}

async fn send<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8], shared: &Shared) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await?;
    shared.sent.fetch_add(bytes.len() as u64, Ordering::SeqCst);
    Ok(())
}

/// What web servers say to TLS on a port for plain HTTP.
async fn plain_refusal(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n").await?;
    until_closed(stream).await
}

async fn until_closed<S: AsyncRead + Unpin>(mut stream: S) -> io::Result<()> {
    let mut ignored = [0; 1024];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}

/// Largest request head that the server reads.
const HEAD_BYTES: usize = 64 * 1024;

async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if bytes.len() > HEAD_BYTES || stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let mut body = bytes.split_off(end);
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    while body.len() < length.unwrap_or(0) {
        if stream.read_buf(&mut body).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok((head, body))
}
