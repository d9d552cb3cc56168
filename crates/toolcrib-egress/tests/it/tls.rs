//! Certificates: the class `tls` of `server-behaviours.tsv`.

use toolcrib_egress::reexports::CancellationToken;
use toolcrib_egress::testing::{Reply, TlsMode};
use toolcrib_egress::{Egress, EgressSettings, FetchError, FetchRequest, Policy};

use crate::support::{EXAMPLE, fetch, scenario};

#[tokio::test]
async fn certificates_that_do_not_prove_the_host_are_errors() {
    for mode in [
        TlsMode::Expired,
        TlsMode::SelfSigned,
        TlsMode::For("other.example.com".to_owned()),
        TlsMode::For("93.184.215.14".to_owned()),
        TlsMode::Plain,
    ] {
        let scenario = scenario(EXAMPLE, Reply::html("page")).await;
        scenario.server.set_tls(mode.clone());
        let error = fetch(&scenario, "https://example.com/").await.unwrap_err();
        assert!(matches!(error, FetchError::Tls { .. }), "{mode:?}: {error}");
        assert!(scenario.server.requests().iter().all(|request| !request.head.starts_with("GET")));
    }
}

#[tokio::test]
async fn an_authority_that_is_not_trusted_is_an_error() {
    let scenario = scenario(EXAMPLE, Reply::html("page")).await;
    let connector = std::sync::Arc::clone(&scenario.connector);
    let egress = Egress::with_connector(connector, EgressSettings::default()).unwrap();
    let request = FetchRequest::new("https://example.com/", &Policy::Public);
    let error = egress.fetch(request, &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, FetchError::Tls { .. }), "{error}");
}

#[tokio::test]
async fn the_handshake_names_the_host_and_never_an_address() {
    let scenario = scenario(EXAMPLE, Reply::html("page")).await;
    for (url, name) in [
        ("https://example.com/", Some("example.com")),
        ("https://EXAMPLE.com./", Some("example.com")),
        ("https://93.184.215.14/", None),
        ("https://[2606:4700:4700::1111]/", None),
    ] {
        fetch(&scenario, url).await.unwrap();
        let seen = scenario.server.requests().pop().unwrap();
        assert_eq!((seen.secure, seen.server_name.as_deref()), (true, name), "{url}");
    }
    let last = scenario.server.requests().pop().unwrap();
    assert_eq!(last.header("host"), Some("[2606:4700:4700::1111]"));
}

#[tokio::test]
async fn a_port_that_is_not_the_schemes_own_stands_in_the_host_field() {
    let scenario = scenario(EXAMPLE, Reply::html("page")).await;
    for (url, host) in [
        ("https://example.com:8443/", "example.com:8443"),
        ("https://example.com:443/", "example.com"),
        ("http://example.com:80/", "example.com"),
        ("https://example.com:80/", "example.com:80"),
    ] {
        fetch(&scenario, url).await.unwrap();
        assert_eq!(scenario.server.requests().pop().unwrap().header("host"), Some(host));
    }
}
