//! Content types and content codings: the classes `bomb` and `parse` of `server-behaviours.tsv`.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use toolcrib_egress::testing::Reply;
use toolcrib_egress::{Budgets, Excess, FetchError, FetchRequest, Fetched, PartialReason, Policy};

use crate::support::{EXAMPLE, answered_with, fetch_with, scenario};

const TEXT: &str = "The mill stands where the river bends. ";

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn brotli(data: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    let params = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
    brotli::BrotliCompress(&mut &data[..], &mut compressed, &params).unwrap();
    compressed
}

/// A frame of `blocks` run-length blocks of 128 KiB, its window `exponent` being 2^(10 + exponent) bytes.
fn zstd_run(blocks: usize, exponent: u8) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, exponent << 3];
    for block in 1..=blocks {
        let last = u32::from(block == blocks);
        let header = last | 1 << 1 | (128 * 1024) << 3;
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(b'z');
    }
    frame
}

/// A frame of one raw block.
fn zstd_raw(data: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 10 << 3];
    let header = 1 | u32::try_from(data.len()).unwrap() << 3;
    frame.extend_from_slice(&header.to_le_bytes()[..3]);
    frame.extend_from_slice(data);
    frame
}

fn coded(coding: &str, body: Vec<u8>) -> Reply {
    Reply::new(200).header("Content-Type", "text/html").header("Content-Encoding", coding).body(body)
}

async fn read(coding: &str, body: Vec<u8>) -> Result<Fetched, FetchError> {
    answered_with(coded(coding, body)).await.1
}

fn bad(result: Result<Fetched, FetchError>) {
    assert!(matches!(result, Err(FetchError::BadResponse { .. })), "{result:?}");
}

#[tokio::test]
async fn every_offered_coding_is_read_whole() {
    let text = TEXT.repeat(3000);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(text.as_bytes()).unwrap();
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
    raw.write_all(text.as_bytes()).unwrap();
    for (coding, body) in [
        ("gzip", gzip(text.as_bytes())),
        ("X-GZip", gzip(text.as_bytes())),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", raw.finish().unwrap()),
        ("br", brotli(text.as_bytes())),
        ("identity", text.clone().into_bytes()),
        ("", text.clone().into_bytes()),
        ("identity, gzip", gzip(text.as_bytes())),
    ] {
        // One of these compresses better than the ratio allows for arbitrary servers.
        let budgets = Budgets { ratio: 100_000, ..Budgets::default() };
        let scenario = scenario(EXAMPLE, coded(coding, body)).await;
        let request = FetchRequest::new("http://example.com/", &Policy::Public);
        let page = fetch_with(&scenario, request, budgets).await.unwrap();
        assert!(page.is_complete() && page.body == text, "{coding}");
    }
    let short = TEXT.as_bytes();
    assert_eq!(read("zstd", zstd_raw(short)).await.unwrap().body, TEXT);
    let two_frames =
        [zstd_raw(short), vec![0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9], zstd_raw(short)].concat();
    assert_eq!(read("zstd", two_frames).await.unwrap().body, TEXT.repeat(2));
    for coding in ["gzip", "deflate", "br", "zstd"] {
        assert_eq!(read(coding, Vec::new()).await.unwrap().body, "", "{coding}");
    }
}

#[tokio::test]
async fn compressed_zstd_blocks_are_read_and_their_checksum_is_verified() {
    let text = (0..40_000).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let mut frame = ruzstd::encoding::compress_to_vec(text.as_bytes(), level);
    assert_eq!(frame[4] & 4, 4, "the encoder writes a checksum");
    assert_eq!(read("zstd", frame.clone()).await.unwrap().body, text);
    let last = frame.len() - 1;
    frame[last] ^= 1;
    bad(read("zstd", frame).await);
}

#[tokio::test]
async fn bombs_stop_at_the_ratio() {
    let zeros = vec![0; 16 << 20];
    for (coding, body) in [("gzip", gzip(&zeros)), ("br", brotli(&zeros)), ("zstd", zstd_run(2048, 10))] {
        let result = read(coding, body).await;
        assert!(
            matches!(result, Err(FetchError::TooLarge { excess: Excess::Ratio, .. })),
            "{coding}: {result:?}"
        );
    }
}

#[tokio::test]
async fn a_decoded_body_above_the_budget_is_partial() {
    let text = TEXT.repeat(10_000);
    for (coding, body) in
        [("gzip", gzip(text.as_bytes())), ("br", brotli(text.as_bytes())), ("", text.clone().into())]
    {
        let budgets = Budgets { decoded_bytes: 50_000, ratio: 1_000_000, ..Budgets::default() };
        let scenario = scenario(EXAMPLE, coded(coding, body)).await;
        let request = FetchRequest::new("http://example.com/", &Policy::Public);
        let page = fetch_with(&scenario, request, budgets).await.unwrap();
        assert_eq!((page.partial, page.body.len()), (Some(PartialReason::TooLarge), 50_000), "{coding}");
        assert_eq!(page.body, text[..50_000]);
    }
}

#[tokio::test]
async fn a_zstd_window_of_two_gibibytes_is_refused() {
    bad(read("zstd", zstd_run(1, 21)).await);
    bad(read("zstd", zstd_run(1, 14)).await);
}

#[tokio::test]
async fn more_than_one_coding_an_unknown_one_and_a_wrong_one_are_errors() {
    let zipped = gzip(TEXT.as_bytes());
    bad(read("gzip, gzip", gzip(&zipped)).await);
    let two_fields = Reply::new(200).header("Content-Encoding", "gzip").header("Content-Encoding", "gzip");
    bad(answered_with(two_fields.body(gzip(&zipped))).await.1);
    for unknown in ["compress", "exi", "gzip;q=1", "snappy", "aes128gcm"] {
        bad(read(unknown, zipped.clone()).await);
    }
    for coding in ["gzip", "zstd"] {
        bad(read(coding, TEXT.into()).await);
    }
    for coding in ["br", "deflate"] {
        assert!(read(coding, TEXT.into()).await.is_err(), "{coding}");
    }
}

#[tokio::test]
async fn gzip_members_are_joined_and_garbage_behind_them_is_dropped() {
    let member = gzip(TEXT.as_bytes());
    assert_eq!(read("gzip", member.repeat(3)).await.unwrap().body, TEXT.repeat(3));
    assert_eq!(read("gzip", [member.clone(), vec![0; 1000]].concat()).await.unwrap().body, TEXT);
    assert_eq!(read("gzip", [&member[..], b"\x1f garbage"].concat()).await.unwrap().body, TEXT);
    let many = read("gzip", gzip(b"").repeat(10_000)).await.unwrap();
    assert_eq!(many.body, "");
    let mut wrong = member.clone();
    let checksum = wrong.len() - 8;
    wrong[checksum] ^= 1;
    bad(read("gzip", wrong).await);
}

#[tokio::test]
async fn truncated_data_is_partial_or_an_error_and_never_hangs() {
    let text = (0..4000).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    for (coding, body) in [("gzip", gzip(text.as_bytes())), ("br", brotli(text.as_bytes()))] {
        for keep in [1, 5, 12, body.len() / 2, body.len() - 1] {
            match read(coding, body[..keep].to_vec()).await {
                Ok(page) => {
                    assert_eq!(page.partial, Some(PartialReason::Cut), "{coding} {keep}");
                    assert!(text.as_bytes().starts_with(&page.body));
                }
                Err(FetchError::BadResponse { .. }) => assert!(keep < body.len() - 1, "{coding} {keep}"),
                Err(error) => panic!("{coding} {keep}: {error}"),
            }
        }
    }
    let frame = zstd_raw(TEXT.as_bytes());
    for keep in 1..frame.len() {
        assert!(read("zstd", frame[..keep].to_vec()).await.is_err());
    }
}

#[tokio::test]
async fn a_gzip_header_with_an_endless_name_is_an_error() {
    let mut body = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0];
    body.extend(std::iter::repeat_n(b'n', 1 << 20));
    bad(read("gzip", body).await);
}

#[tokio::test]
async fn a_gzip_header_with_all_its_fields_is_skipped() {
    let plain = gzip(TEXT.as_bytes());
    let mut body = vec![0x1f, 0x8b, 8, 4 | 8 | 16 | 2, 0, 0, 0, 0, 0, 0, 3, 0, 1, 2, 3];
    body.extend_from_slice(b"name\0comment\0\x01\x02");
    body.extend_from_slice(&plain[10..]);
    assert_eq!(read("gzip", body).await.unwrap().body, TEXT);
}

fn textual(media_type: Option<&str>) -> bool {
    media_type.is_none_or(|media_type| media_type.starts_with("text/"))
}

async fn typed(reply: Reply) -> (toolcrib_egress::testing::Scenario, Result<Fetched, FetchError>) {
    let scenario = scenario(EXAMPLE, reply).await;
    let mut request = FetchRequest::new("http://example.com/", &Policy::Public);
    request.accepts_media_type = Some(&textual);
    request.accepts_start = Some(&|start| !start.starts_with(b"%PDF") && !start.contains(&0));
    let result = fetch_with(&scenario, request, Budgets::default()).await;
    (scenario, result)
}

#[tokio::test]
async fn types_that_the_caller_does_not_read_are_refused_at_the_header() {
    for media_type in ["application/pdf", "image/png", "application/zip", "application/octet-stream"] {
        let reply = Reply::new(200).header("Content-Type", media_type);
        let reply = reply.then(toolcrib_egress::testing::Step::Send("\r\n".into()));
        // The body never comes: waiting for it would be a timeout.
        let (_, result) = typed(reply.then(toolcrib_egress::testing::Step::Hang)).await;
        match result {
            Err(FetchError::UnsupportedMediaType { media_type: shown, .. }) => assert_eq!(shown, media_type),
            other => panic!("{media_type}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_body_without_a_type_is_judged_by_its_start() {
    let (_, result) = typed(Reply::new(200).body("plain words")).await;
    assert_eq!(result.unwrap().body, "plain words");
    for start in [&b"%PDF-1.7"[..], b"PK\x03\x04\0\0"] {
        let endless = toolcrib_egress::testing::Step::Repeat {
            bytes: start.repeat(200).into(),
            times: None,
            pause: std::time::Duration::ZERO,
        };
        let (_, result) =
            typed(Reply::new(200).then(toolcrib_egress::testing::Step::Send("\r\n".into())).then(endless))
                .await;
        assert!(matches!(result, Err(FetchError::UnsupportedMediaType { .. })), "{result:?}");
    }
}

#[tokio::test]
async fn an_error_page_of_an_unreadable_type_keeps_its_status() {
    let (_, result) = typed(Reply::new(404).header("Content-Type", "image/png").body("x")).await;
    let page = result.unwrap();
    assert_eq!((page.status, page.body.len()), (404, 0));
}

#[tokio::test]
async fn the_type_and_charset_are_read_from_the_header() {
    for (header, media_type, charset) in [
        ("text/html; charset=utf-8", Some("text/html"), Some("utf-8")),
        ("Text/HTML;Charset=\"windows-1252\"", Some("text/html"), Some("windows-1252")),
        ("text/plain; boundary=x; charset = koi8-r", Some("text/plain"), Some("koi8-r")),
        ("text/plain", Some("text/plain"), None),
        ("text", None, None),
        ("text/; charset=", None, None),
        ("text/ht ml", None, None),
    ] {
        let (_, result) = answered_with(Reply::new(200).header("Content-Type", header).body("x")).await;
        let page = result.unwrap();
        assert_eq!(
            (page.media_type().as_deref(), page.charset().as_deref()),
            (media_type, charset),
            "{header}"
        );
    }
    let reply = Reply::new(200)
        .header("Content-Type", "text/html")
        .header("Content-Disposition", "attachment; filename=x.exe")
        .header("Set-Cookie", "a=b");
    let page = typed(reply.body("page")).await.1.unwrap();
    assert_eq!(page.body, "page");
    assert_eq!(page.header("set-cookie"), None);
}
