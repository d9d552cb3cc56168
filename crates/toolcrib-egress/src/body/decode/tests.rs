use http::HeaderValue;
use proptest::prelude::*;

use super::*;

fn decoder(coding: &'static str) -> Decoder {
    let mut fields = HeaderMap::new();
    fields.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    Decoder::for_fields(&fields).unwrap()
}

fn decode(coding: &'static str, data: &[u8], piece: usize, limit: u64) -> (Result<(), Stop>, Vec<u8>) {
    let mut decoder = decoder(coding);
    let mut output = Output::new(limit, u64::MAX, limit);
    let mut run = || {
        for piece in data.chunks(piece) {
            decoder.push(piece, &mut output)?;
        }
        decoder.finish(&mut output)
    };
    let result = run();
    (result, output.bytes)
}

fn compressed(coding: &str, data: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::fast();
    match coding {
        "gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut compressed = Vec::new();
            let params = brotli::enc::BrotliEncoderParams { quality: 2, ..Default::default() };
            brotli::BrotliCompress(&mut &data[..], &mut compressed, &params).unwrap();
            compressed
        }
        _ => ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest),
    }
}

const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn data_comes_back_whole_however_it_is_cut(
        data in proptest::collection::vec(0_u8..8, 0..5000),
        piece in 1_usize..600,
    ) {
        for coding in CODINGS {
            let (result, decoded) = decode(coding, &compressed(coding, &data), piece, 1 << 20);
            prop_assert_eq!((coding, result, &decoded), (coding, Ok(()), &data));
        }
    }

    #[test]
    fn no_data_makes_a_decoder_panic_or_pass_its_limit(
        data in proptest::collection::vec(any::<u8>(), 0..300),
        flip in any::<(u16, u8)>(),
        piece in 1_usize..100,
    ) {
        for coding in CODINGS {
            let mut damaged = compressed(coding, &data);
            let position = usize::from(flip.0) % damaged.len();
            damaged[position] ^= flip.1;
            for input in [&data, &damaged] {
                let (_, decoded) = decode(coding, input, piece, 100);
                prop_assert!(decoded.len() <= 100);
            }
        }
    }
}

#[test]
fn the_limit_is_exact_and_what_fits_is_kept() {
    let data = [7; 1000];
    for coding in CODINGS {
        let body = compressed(coding, &data);
        assert_eq!(decode(coding, &body, 10, 1000), (Ok(()), data.to_vec()), "{coding}");
        assert_eq!(decode(coding, &body, 10, 999), (Err(Stop::Full), data[..999].to_vec()), "{coding}");
    }
}

#[test]
fn a_frame_of_the_reference_encoder_is_read_and_its_checksum_verified() {
    // `printf 'hello hello hello hello\n' | zstd`, with zstd 1.5.
    let mut frame = [
        0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x6d, 0x00, 0x00, 0x38, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x0a,
        0x01, 0x00, 0x99, 0x4b, 0x11, 0xa8, 0x7c, 0x2e, 0xa8,
    ];
    assert_eq!(decode("zstd", &frame, 3, 100), (Ok(()), b"hello hello hello hello\n".to_vec()));
    frame[25] ^= 1;
    assert!(matches!(decode("zstd", &frame, 3, 100).0, Err(Stop::Malformed(_))));
}
