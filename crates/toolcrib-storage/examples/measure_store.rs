//! Measures the store on this machine: `cargo run --release -p toolcrib-storage --example measure_store [FOLDER]`.
//!
//! FOLDER must be on the disk that is to be measured; it is created and left behind. Without it, a temporary folder
//! is used.

#![expect(clippy::print_stdout, reason = "the figures are the program's output")]

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::journal::{Journal, RoundEnd, RunEnd, RunStart, RunState, Trace, TraceStatus};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::labels::fingerprint::Fingerprint;
use toolcrib_runtime::message::{Message, Usage};
use toolcrib_runtime::policy::OutboundRestriction;
use toolcrib_storage::record::{KeyHash, NewConversation, NewKey, Owner, RunFilter};
use toolcrib_storage::sqlite::{Durability, OpenOptions, SqliteStore};
use toolcrib_storage::store::{ConversationStore, KeyStore, LabelStore, Page, RunStore, Store};

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

const CALLS: u32 = 200;
/// Fingerprints of a long result.
const PROTECTED: i64 = 5_000;
/// Runs of each of those that write at once.
const RUNS: u32 = 50;
const MANY_RUNS: u32 = 20_000;
const TRACES_OF_A_RUN: u32 = 10;

#[tokio::main]
async fn main() -> Outcome {
    let temporary = tempfile::tempdir()?;
    let folder = std::env::args_os().nth(1).map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    for (name, durability) in
        [("power loss", Durability::PowerLoss), ("process crash", Durability::ProcessCrash)]
    {
        println!("writes that survive a {name}");
        let store = open(&folder.join(name.replace(' ', "-")), durability).await?;
        calls(&store).await?;
        rounds(&store).await?;
        protected(&store).await?;
        for at_once in [1, 16, 64] {
            runs(&store, at_once).await?;
        }
        store.close().await;
    }
    let store = open(&folder.join("many"), Durability::ProcessCrash).await?;
    many(&store).await?;
    store.close().await;
    Ok(())
}

async fn open(folder: &Path, durability: Durability) -> Result<SqliteStore, Box<dyn Error + Send + Sync>> {
    let begun = Instant::now();
    let options = OpenOptions { durability, ..OpenOptions::new("measured", at(0)) };
    let store = SqliteStore::open(folder, options).await?;
    println!("  open {:?}", begun.elapsed());
    Ok(store)
}

/// One call after the other, as the rounds of a run make them: an admission and an outcome each.
async fn calls(store: &SqliteStore) -> Outcome {
    let run_id = "calls";
    store.begin_run(start(run_id, None, 0)).await?;
    let mut times = Vec::new();
    for order in 1..=CALLS {
        let begun = Instant::now();
        store.admit_call(run_id, &trace(order, TraceStatus::Pending)).await?;
        store.record_trace(run_id, &trace(order, TraceStatus::Success)).await?;
        times.push(begun.elapsed());
    }
    show("admission and outcome of a call", times);
    Ok(())
}

/// One round after the other, each with an answer and a result, in a conversation that grows.
async fn rounds(store: &SqliteStore) -> Outcome {
    let run_id = "rounds";
    create(store, run_id).await?;
    store.begin_run(start(run_id, Some(run_id), 0)).await?;
    let mut times = Vec::new();
    for rounds in 1..=CALLS {
        let labels = Labels { untrusted: true, ..Labels::requiring(Confidence::Low) };
        let messages = vec![Message::user("a thought ".repeat(10)), Message::user("a result ".repeat(50))];
        let usage = Usage { input_tokens: 100, output_tokens: 200, ..Usage::default() };
        let round = RoundEnd { run_id: run_id.to_owned(), messages, labels, usage, rounds, at: at(1) };
        let begun = Instant::now();
        store.record_round(round).await?;
        times.push(begun.elapsed());
    }
    show("end of a round", times);
    Ok(())
}

/// Runs that end with much protected text, and requests in which it is looked for.
async fn protected(store: &SqliteStore) -> Outcome {
    let fingerprints = |seed: i64| -> BTreeSet<Fingerprint> {
        (0..PROTECTED).map(|number| (seed * PROTECTED + number).wrapping_mul(0x1234_5678_9abc_def1)).collect()
    };
    let workspace = Owner::first().workspace_id;
    let (mut unknown, mut ends, mut known) = (Vec::new(), Vec::new(), Vec::new());
    let asked = fingerprints(-1);
    for _ in 0..20 {
        let begun = Instant::now();
        store.recognize(&workspace, &asked).await?;
        unknown.push(begun.elapsed());
    }
    for seed in 0..20 {
        let run_id = format!("protected-{seed}");
        store.begin_run(start(&run_id, None, 0)).await?;
        let labels = Labels::requiring(Confidence::High);
        let end = RunEnd { labels, protected: fingerprints(seed), ..end(&run_id) };
        let begun = Instant::now();
        store.end_run(end).await?;
        ends.push(begun.elapsed());
        let asked = fingerprints(seed);
        let begun = Instant::now();
        store.recognize(&workspace, &asked).await?;
        known.push(begun.elapsed());
    }
    show(&format!("looking for {PROTECTED} fingerprints while nothing is protected"), unknown);
    show(&format!("end of a run with {PROTECTED} fingerprints"), ends);
    show(&format!("looking for {PROTECTED} fingerprints"), known);
    Ok(())
}

/// Runs without calls, many at once: a beginning and an end each.
async fn runs(store: &SqliteStore, at_once: u32) -> Outcome {
    let begun = Instant::now();
    let tasks: Vec<_> = (0..at_once)
        .map(|task| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut times = Vec::new();
                for number in 0..RUNS {
                    let begun = Instant::now();
                    let run_id = format!("{at_once}-{task}-{number}");
                    store.begin_run(start(&run_id, None, 0)).await?;
                    store.end_run(end(&run_id)).await?;
                    times.push(begun.elapsed());
                }
                Ok::<_, Box<dyn Error + Send + Sync>>(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    let rate = f64::from(RUNS * at_once) / begun.elapsed().as_secs_f64();
    show(&format!("beginning and end of a run, {at_once} at once, {rate:.0} runs/s"), times);
    Ok(())
}

async fn create(store: &SqliteStore, id: &str) -> Outcome {
    let owner = Owner::first();
    let conversation = NewConversation {
        id: id.to_owned(),
        owner,
        title: String::new(),
        temporary: false,
        outbound: OutboundRestriction::Unrestricted,
        created_at: at(0),
    };
    store.create_conversation(conversation).await?;
    Ok(())
}

/// Reads from a store that has much in it.
async fn many(store: &SqliteStore) -> Outcome {
    let owner = Owner::first();
    let store = &Arc::new(store.clone());
    create(store, "c").await?;
    let tasks: Vec<_> = (0..64_u32)
        .map(|task| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                for number in (task..MANY_RUNS).step_by(64) {
                    let run_id = format!("r{number}");
                    let conversation_id = number.is_multiple_of(2000).then_some("c");
                    store.begin_run(start(&run_id, conversation_id, number)).await?;
                    for order in 1..=TRACES_OF_A_RUN {
                        store.record_trace(&run_id, &trace(order, TraceStatus::Success)).await?;
                    }
                    if number % 1000 != 7 {
                        store.end_run(end(&run_id)).await?;
                    }
                }
                Ok::<_, Box<dyn Error + Send + Sync>>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    println!("reads, with {MANY_RUNS} runs and {} traces", MANY_RUNS * TRACES_OF_A_RUN);
    let hash = KeyHash([1; 32]);
    let key = NewKey {
        id: "k".to_owned(),
        owner: owner.clone(),
        name: String::new(),
        hash,
        prefix: String::new(),
        scopes: String::new(),
        created_at: at(0),
        expires_at: None,
    };
    store.insert_key(key).await?;
    let (all, of_conversation, of_state) = (
        RunFilter::default(),
        RunFilter { conversation_id: Some("c".to_owned()), state: None },
        RunFilter { conversation_id: None, state: Some(RunState::Running) },
    );
    let middle = Page::after(50, format!("{}:r", at(i64::from(MANY_RUNS / 2)).as_microsecond()));
    let mut times: [Vec<Duration>; 6] = Default::default();
    for _ in 0..50 {
        let mut begun = Instant::now();
        let mut lap = || std::mem::replace(&mut begun, Instant::now()).elapsed();
        store.runs(&owner, &all, &Page::first(50)).await?;
        times[0].push(lap());
        store.runs(&owner, &all, &middle).await?;
        times[1].push(lap());
        store.runs(&owner, &of_conversation, &Page::first(50)).await?;
        times[2].push(lap());
        store.runs(&owner, &of_state, &Page::first(50)).await?;
        times[3].push(lap());
        store.conversation_traces(&owner, "c").await?;
        times[4].push(lap());
        store.find_key(&hash, at(1)).await?;
        times[5].push(lap());
    }
    let names = [
        "the first 50 runs",
        "50 runs from the middle",
        "50 runs of a conversation",
        "50 runs of a state",
        "500 traces of a conversation",
        "a key by its hash",
    ];
    for (name, times) in names.into_iter().zip(times) {
        show(name, times);
    }
    Ok(())
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |hundredths: usize| times.get(times.len() * hundredths / 100).copied().unwrap_or_default();
    println!("  {what}: median {:?}, p99 {:?}", at(50), at(99));
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn start(run_id: &str, conversation_id: Option<&str>, seconds: u32) -> RunStart {
    let owner = Owner::first();
    RunStart {
        run_id: run_id.to_owned(),
        conversation_id: conversation_id.map(str::to_owned),
        workspace_id: owner.workspace_id,
        user_id: owner.user_id,
        component: "api".to_owned(),
        locale: "en".to_owned(),
        provider_id: "provider".to_owned(),
        model: "model".to_owned(),
        messages: vec![Message::user("a question of usual length, as people ask them")],
        started_at: at(i64::from(seconds)),
    }
}

fn end(run_id: &str) -> RunEnd {
    RunEnd {
        run_id: run_id.to_owned(),
        state: RunState::Completed,
        reason: None,
        messages: vec![Message::user("an answer ".repeat(50))],
        sources: Vec::new(),
        usage: Usage { input_tokens: 100, output_tokens: 200, ..Usage::default() },
        rounds: 1,
        labels: Labels::default(),
        protected: BTreeSet::new(),
        ended_at: at(1),
    }
}

fn trace(order: u32, status: TraceStatus) -> Trace {
    Trace {
        order,
        round: order,
        tool_id: "web_search".to_owned(),
        display_name: "Search the web".to_owned(),
        icon: "🔎".to_owned(),
        call_id: format!("call_{order}"),
        status,
        executed: status == TraceStatus::Success,
        status_message: None,
        arguments: serde_json::json!({"query": "the weather tomorrow in Potsdam"}),
        repairs: Vec::new(),
        result_text: (status == TraceStatus::Success).then(|| "sunny ".repeat(80)),
        result_json: None,
        result_characters: 480,
        truncation: None,
        sources: Vec::new(),
        required_confidence: Confidence::None,
        untrusted: false,
        cost: 0,
        library_items: Vec::new(),
        started_at: at(0),
        duration_ms: 3,
    }
}
