//! Reads every file of a folder again and again and prints how many pages that makes per second:
//! `cargo run --release -p toolcrib-web --example measure_pages -- FOLDER [OUTPUT]`. With OUTPUT, the Markdown of
//! `x.html` is written to `OUTPUT/x.md`.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for people that measures time"
)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use toolcrib_web::read_document;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().ok_or("name a folder of pages")?;
    let output = arguments.next();
    let url = url::Url::parse("https://pages.example/a/page.html")?;
    let mut times: Vec<(Duration, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "html") {
            continue;
        }
        let bytes = std::fs::read(&path)?;
        let mut best = Duration::MAX;
        for _ in 0..3 {
            let start = Instant::now();
            let document = read_document(&bytes, Some("text/html"), &url);
            best = best.min(start.elapsed());
            if let (Some(output), Ok(document), Some(name)) = (&output, document, path.file_stem()) {
                std::fs::write(output.join(name).with_extension("md"), document.markdown)?;
            }
        }
        times.push((best, path));
    }
    times.sort();
    let total: Duration = times.iter().map(|(time, _)| *time).sum();
    let at = |percent: usize| times.get((times.len() * percent / 100).min(times.len().saturating_sub(1)));
    if let (Some(median), Some(slow), Some(worst)) = (at(50), at(99), times.last()) {
        let pages = f64::from(u32::try_from(times.len())?);
        println!("{} pages, {:.0} pages/s", times.len(), pages / total.as_secs_f64());
        println!(
            "median {:?}, 99th percentile {:?}, longest {:?} ({})",
            median.0,
            slow.0,
            worst.0,
            worst.1.display()
        );
    }
    Ok(())
}
