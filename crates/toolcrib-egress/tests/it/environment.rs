//! What the machine around the process may not change: the class `env` of `server-behaviours.tsv`.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, Mutex};

use tokio::net::{TcpListener, UdpSocket};
use toolcrib_egress::reexports::{CancellationToken, Method};
use toolcrib_egress::testing::{Reply, StubServer};
use toolcrib_egress::{
    Egress, EgressSettings, FetchError, FetchRequest, OperatorClient, OperatorRequest, OperatorSettings,
    Policy,
};

use crate::support::{EXAMPLE, fetch, scenario};

#[test]
fn proxies_and_key_logs_of_the_environment_are_ignored() {
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let key_log = std::env::temp_dir().join(format!("egress-key-log-{}", std::process::id()));
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--ignored", "--exact", "environment::fetches_in_a_changed_environment"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        child.env(name, &address);
    }
    child.env("NO_PROXY", "").env("SSLKEYLOGFILE", &key_log);
    let output = child.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
    assert!(proxy.accept().is_err(), "somebody connected to the proxy");
    assert!(!key_log.exists(), "TLS keys were logged");
}

#[tokio::test]
#[ignore = "run by the test above, in a changed environment"]
async fn fetches_in_a_changed_environment() {
    let scenario = scenario(EXAMPLE, Reply::html("page")).await;
    for url in ["http://example.com/", "https://example.com/"] {
        assert_eq!(fetch(&scenario, url).await.unwrap().body, "page");
    }
    let server = StubServer::start().await.unwrap();
    let base = format!("http://{}/", server.address()).parse().unwrap();
    let client = OperatorClient::new(OperatorSettings::new(base)).unwrap();
    let response =
        client.send(OperatorRequest::new(Method::GET, ""), &CancellationToken::new()).await.unwrap();
    assert_eq!(response.status, 200);
}

/// A name server that answers every A query with `address`, and writes the questions down.
async fn name_server(address: [u8; 4]) -> (SocketAddr, Arc<Mutex<Vec<(String, u16)>>>) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = socket.local_addr().unwrap();
    let questions = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&questions);
    tokio::spawn(async move {
        let mut packet = [0; 1500];
        while let Ok((length, client)) = socket.recv_from(&mut packet).await {
            let mut end = 12;
            let mut labels = Vec::new();
            while packet[end] != 0 {
                let next = end + 1 + usize::from(packet[end]);
                labels.push(String::from_utf8_lossy(&packet[end + 1..next]).into_owned());
                end = next;
            }
            let kind = u16::from_be_bytes([packet[end + 1], packet[end + 2]]);
            seen.lock().unwrap().push((labels.join("."), kind));
            let question = &packet[12..(end + 5).min(length)];
            let answers = u8::from(kind == 1);
            let mut reply = vec![packet[0], packet[1], 0x81, 0x80, 0, 1, 0, answers, 0, 0, 0, 0];
            reply.extend_from_slice(question);
            if kind == 1 {
                reply.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
                reply.extend_from_slice(&address);
            }
            let _ = socket.send_to(&reply, client).await;
        }
    });
    (at, questions)
}

#[tokio::test]
async fn the_real_resolver_asks_for_the_absolute_name_only_and_its_answer_is_judged() {
    let (server, questions) = name_server([127, 0, 0, 1]).await;
    let settings = EgressSettings { name_servers: vec![server], ..EgressSettings::default() };
    let egress = Egress::new(settings).unwrap();
    let request = FetchRequest::new("http://page.rebind.example.com/", &Policy::Public);
    let error = egress.fetch(request, &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, FetchError::Refused { .. }), "{error}");
    let mut questions = questions.lock().unwrap().clone();
    questions.sort();
    questions.dedup();
    let name = "page.rebind.example.com".to_owned();
    assert_eq!(questions, [(name.clone(), 1), (name, 28)]);
}

#[tokio::test]
async fn the_machines_own_addresses_are_refused_by_the_real_connector() {
    let egress = Egress::new(EgressSettings::default()).unwrap();
    for interface in if_addrs::get_if_addrs().unwrap() {
        let url = match interface.ip() {
            std::net::IpAddr::V4(address) => format!("http://{address}/"),
            std::net::IpAddr::V6(address) => format!("http://[{address}]/"),
        };
        let request = FetchRequest::new(&url, &Policy::Public);
        let error = egress.fetch(request, &CancellationToken::new()).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused { .. }), "{url}: {error}");
    }
}

#[tokio::test]
async fn a_name_that_nobody_serves_is_an_error_in_time() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let settings =
        EgressSettings { name_servers: vec![closed], ..crate::support::settings(crate::support::quick()) };
    let egress = Egress::new(settings).unwrap();
    let request = FetchRequest::new("http://example.com/", &Policy::Public);
    let error = egress.fetch(request, &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, FetchError::Dns { .. } | FetchError::Timeout { .. }), "{error}");
}
