//! TLS as this crate speaks it: verified always, keys logged never.
//!
//! Invariant: there is no way to accept a certificate that does not chain to a root and fit the host.

use std::sync::{Arc, OnceLock};

use rustls::client::Resumption;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use crate::target::TargetHost;

/// A root certificate or the TLS library's defaults cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("setting up TLS failed: {0}")]
pub struct TlsSetupError(#[from] rustls::Error);

/// For model-chosen URLs: the web's roots only, nothing remembered between fetches.
pub(crate) fn fetch_config(
    additional_roots: &[CertificateDer<'static>],
) -> Result<Arc<ClientConfig>, TlsSetupError> {
    let mut config = config(web_roots(), additional_roots)?;
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// For configured endpoints: the web's roots and those of the operating system.
pub(crate) fn operator_config(
    additional_roots: &[CertificateDer<'static>],
) -> Result<Arc<ClientConfig>, TlsSetupError> {
    static ROOTS: OnceLock<RootCertStore> = OnceLock::new();
    let roots = ROOTS.get_or_init(|| {
        let mut roots = web_roots();
        let native = rustls_native_certs::load_native_certs();
        for error in native.errors {
            tracing::debug!(%error, "a certificate of the operating system cannot be read");
        }
        roots.add_parsable_certificates(native.certs);
        roots
    });
    Ok(Arc::new(config(roots.clone(), additional_roots)?))
}

/// The name to send as SNI and to verify against. An address literal sends no SNI (RFC 6066, section 3).
pub(crate) fn server_name(host: &TargetHost) -> Option<ServerName<'static>> {
    match host {
        TargetHost::Name(name) => ServerName::try_from(name.clone()).ok(),
        TargetHost::Address(address) => Some(ServerName::IpAddress((*address).into())),
    }
}

fn web_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

fn config(
    mut roots: RootCertStore,
    additional_roots: &[CertificateDer<'static>],
) -> Result<ClientConfig, TlsSetupError> {
    for root in additional_roots {
        roots.add(root.clone())?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // HTTP/2 is never offered: what a server could do with it need not be bounded.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
