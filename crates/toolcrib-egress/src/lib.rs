#![doc = include_str!("../docs/boundary.md")]

pub mod address;
pub mod audit;
pub mod limits;
pub mod operator;
#[cfg(feature = "testing")]
pub mod testing;

mod body;
mod client;
mod connector;
mod error;
mod http1;
mod policy;
mod redirect;
mod resolve;
mod target;
mod tls;

pub use audit::{AuditHop, AuditRecord, AuditSink, TracingAudit};
pub use body::{PartialReason, StartCheck};
pub use client::{Egress, EgressSettings, EgressSetupError, FetchRequest, Fetched, MediaTypeCheck};
pub use connector::{Connection, Connector, Stream};
pub use error::{Excess, FetchError, Phase, RedirectProblem, ResolveError, SafeUrl};
pub use limits::Budgets;
pub use operator::{OperatorClient, OperatorError, OperatorRequest, OperatorResponse, OperatorSettings};
pub use policy::{HostList, HostListProblem, HostProblem, JudgedAddress, Policy, Rule, Zone};
pub use target::UrlProblem;
pub use tls::TlsSetupError;

/// The types of other crates that stand in this crate's signatures.
pub mod reexports {
    pub use bytes::Bytes;
    pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
    pub use rustls::pki_types::CertificateDer;
    pub use secrecy::SecretString;
    pub use tokio_util::sync::CancellationToken;
    pub use url::Url;
}
