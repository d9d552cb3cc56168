//! What tests need to run real fetches against scripted names and servers (feature `testing`).
//!
//! Invariant: nothing here loosens a judgement. The connector answers look-ups from a table and leads every
//! connection to a stub server on loopback, but only after the fetch judged the address that it asked for;
//! every attempt is written down.
//!
//! ```
//! use toolcrib_egress::testing::{Fixture, Reply, Scenario};
//! use toolcrib_egress::{EgressSettings, FetchRequest, Policy};
//! use toolcrib_egress::reexports::CancellationToken;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let fixture = Fixture::parse("dns example.com=93.184.215.14; hop 302 /next")?;
//! let scenario = Scenario::start(&fixture, Reply::html("<p>hello</p>")).await?;
//! let egress = scenario.egress(EgressSettings::default())?;
//! let request = FetchRequest::new("https://example.com/", &Policy::Public);
//! let page = egress.fetch(request, &CancellationToken::new()).await?;
//! assert_eq!(page.final_url.as_str(), "https://example.com/next");
//! assert_eq!(scenario.connector.attempts().len(), 2);
//! # Ok(())
//! # }
//! ```

use std::error::Error;
use std::sync::Arc;

use crate::client::{Egress, EgressSettings, EgressSetupError};

mod authority;
pub mod cases;
mod connector;
mod fixture;
mod reply;
mod server;

pub use authority::TestAuthority;
pub use connector::{Route, TestConnector};
pub use fixture::{DnsAnswer, DnsScript, Fixture, Hop};
pub use reply::{Reply, Step};
pub use server::{SeenRequest, StubServer, TlsMode};

/// What can go wrong while a test is set up.
pub type TestError = Box<dyn Error + Send + Sync>;

/// A stub server and a connector that leads to it, set up from a fixture.
pub struct Scenario {
    /// Answers look-ups, leads connections to the server, and writes both down.
    pub connector: Arc<TestConnector>,
    /// Answers requests, and writes them down.
    pub server: StubServer,
}

impl Scenario {
    /// Starts a server that answers with the fixture's hops and then with `page`, again and again.
    ///
    /// # Errors
    /// If the loopback socket or the test authority cannot be made.
    pub async fn start(fixture: &Fixture, page: Reply) -> Result<Self, TestError> {
        let server = StubServer::start().await?;
        server.set_default(page);
        for hop in &fixture.hops {
            if hop.forever {
                server.set_default(hop.reply());
            } else {
                server.push(hop.reply());
            }
        }
        let connector = TestConnector::new(&server);
        for (name, script) in &fixture.dns {
            connector.set_name(name, script.clone());
        }
        connector.set_own_addresses(fixture.own_addresses.clone());
        Ok(Self { connector: Arc::new(connector), server })
    }

    /// An [`Egress`] that uses the connector and trusts the server's authority.
    ///
    /// # Errors
    /// [`EgressSetupError`] if the settings cannot be used.
    pub fn egress(&self, settings: EgressSettings) -> Result<Egress, EgressSetupError> {
        let roots = [self.server.authority().certificate()];
        Egress::with_connector_and_roots(Arc::clone(&self.connector) as _, &roots, settings)
    }
}
