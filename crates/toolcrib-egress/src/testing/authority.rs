//! A certificate authority that exists for one test.
//!
//! Invariant: its key never leaves the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::TestError;

/// Issues certificates for any name.
pub struct TestAuthority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
    issued: Mutex<HashMap<(String, Validity), Arc<ServerConfig>>>,
}

/// Which certificate a server shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Validity {
    Valid,
    Expired,
    SelfSigned,
}

impl TestAuthority {
    /// Makes a new authority.
    ///
    /// # Errors
    /// If no key can be generated.
    pub fn new() -> Result<Self, TestError> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "Toolcrib test authority");
        let certificate = params.self_signed(&key)?.der().clone();
        Ok(Self { certificate, issuer: Issuer::new(params, key), issued: Mutex::default() })
    }

    /// The root to trust.
    #[must_use]
    pub fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone()
    }

    /// A TLS server that proves to be `name`, a host name or an address.
    ///
    /// # Errors
    /// If no certificate can be made for the name.
    pub fn server_config(&self, name: &str) -> Result<Arc<ServerConfig>, TestError> {
        self.issue(name, Validity::Valid)
    }

    pub(super) fn issue(&self, name: &str, validity: Validity) -> Result<Arc<ServerConfig>, TestError> {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), validity);
        if let Some(config) = issued.get(&key) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.make(name, validity)?);
        issued.insert(key, Arc::clone(&config));
        Ok(config)
    }

    fn make(&self, name: &str, validity: Validity) -> Result<ServerConfig, TestError> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec![name.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, "stub server");
        if validity == Validity::Expired {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        }
        let certificate = match validity {
            Validity::SelfSigned => params.self_signed(&key)?,
            Validity::Valid | Validity::Expired => params.signed_by(&key, &self.issuer)?,
        };
        let key = PrivateKeyDer::try_from(key.serialize_der())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        Ok(config)
    }
}
