//! A process that is killed while it writes: what it was told is done, is there; what is there, is whole.
//!
//! The test starts its own binary again, to run [`writes_until_it_is_killed`] on a folder.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use toolcrib_runtime::journal::{Journal, RoundEnd, RunPause, RunState, TraceStatus};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::message::{Message, Usage};
use toolcrib_runtime::offering::approval::ApprovalRequest;
use toolcrib_storage::record::Owner;
use toolcrib_storage::sqlite::SqliteStore;
use toolcrib_storage::store::{ApprovalStore, ConversationStore, LabelStore, RunStore, Store};

use crate::folder::{Folder, at, conversation, end, options, start, trace};

const FOLDER: &str = "TOOLCRIB_STORAGE_CRASH_FOLDER";
const ROUND: &str = "TOOLCRIB_STORAGE_CRASH_ROUND";
const CHILD: &str = "crash::writes_until_it_is_killed";
const ROUNDS: u32 = 15;
const WRITERS: u32 = 4;

/// What the killed processes had been told is done, by run.
#[derive(Default)]
struct Acknowledged {
    begun: HashSet<String>,
    admitted: HashSet<(String, u32)>,
    recorded: HashSet<(String, u32)>,
    rounds: HashMap<String, u32>,
    paused: HashSet<String>,
    ended: HashSet<String>,
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged() {
    let folder = Folder::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = folder.open().await;
        for writer in 0..WRITERS {
            conversation(&store, &format!("c{writer}")).await;
        }
        store.close().await;
    });
    let mut told = Acknowledged::default();
    let mut interrupted = 0;
    for round in 0..ROUNDS {
        let before = told.begun.len();
        told.read(write_and_kill(folder.path(), round));
        assert!(told.begun.len() > before, "round {round} has written nothing");
        interrupted += runtime.block_on(check(&folder, &told));
    }
    assert!(interrupted > 0, "no kill came in the middle of a run");
    assert!(!told.recorded.is_empty() && !told.ended.is_empty());
    assert!(!told.rounds.is_empty() && !told.paused.is_empty());
}

/// Lets a process write for a random time, kills it, and returns what it had said by then.
fn write_and_kill(folder: &Path, round: u32) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([CHILD, "--exact", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = Vec::new();
    for line in lines.by_ref() {
        said.push(line.unwrap());
        if said.last().is_some_and(|line| line.starts_with("begun")) {
            break;
        }
    }
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
    std::thread::sleep(Duration::from_micros(RandomState::new().hash_one(round) % 120_000));
    kill(&mut child);
    said.extend(reader.join().unwrap());
    said
}

fn kill(child: &mut Child) {
    // SIGKILL, on Unix.
    child.kill().unwrap();
    child.wait().unwrap();
}

impl Acknowledged {
    fn read(&mut self, lines: Vec<String>) {
        for line in lines {
            let words: Vec<_> = line.split(' ').collect();
            match words[..] {
                ["begun", run] => {
                    self.begun.insert(run.to_owned());
                }
                ["admitted", run, order] => {
                    self.admitted.insert((run.to_owned(), order.parse().unwrap()));
                }
                ["recorded", run, order] => {
                    self.recorded.insert((run.to_owned(), order.parse().unwrap()));
                }
                ["round", run, number] => {
                    self.rounds.insert(run.to_owned(), number.parse().unwrap());
                }
                ["paused", run] => {
                    self.paused.insert(run.to_owned());
                }
                ["ended", run] => {
                    self.ended.insert(run.to_owned());
                }
                // The test harness speaks too.
                _ => {}
            }
        }
    }
}

/// Opens the store again and compares it with what was acknowledged; returns how many runs were interrupted.
async fn check(folder: &Folder, told: &Acknowledged) -> u64 {
    let owner = Owner::first();
    let store = SqliteStore::open(folder.path(), options()).await.unwrap();
    let recovered = store.recovered();
    let mut messages: HashMap<String, usize> = HashMap::new();
    for writer in 0..WRITERS {
        let conversation = format!("c{writer}");
        let stored = store.messages(&owner, &conversation).await.unwrap().unwrap();
        assert!(stored.iter().map(|message| message.position).eq(1..=stored.len() as u64));
        for message in stored {
            *messages.entry(message.run_id).or_default() += 1;
        }
    }
    for (run_id, count) in &messages {
        let run = store.run(&owner, run_id).await.unwrap().unwrap();
        assert_ne!(run.state, RunState::Running, "{run_id}");
        let completed = run.state == RunState::Completed;
        // The question, what each finished round added, and the answer.
        let expected = if completed { 1 + 3 + 2 } else { 1 + run.rounds as usize };
        assert_eq!(*count, expected, "{run_id} is {:?}", run.state);
        assert!(
            completed || run.rounds >= told.rounds.get(run_id).copied().unwrap_or_default(),
            "{run_id} lost a round"
        );
        assert_eq!(run.usage.input_tokens, if completed { 7 } else { u64::from(run.rounds) }, "{run_id}");
        if told.paused.contains(run_id) {
            let waiting = store.waiting_run(run_id).await.unwrap().expect("a run that waits goes on waiting");
            assert_eq!((waiting.state.as_str(), waiting.approvals.len()), ("what it needs", 1), "{run_id}");
            assert!(store.labels(run.conversation_id.as_deref().unwrap()).await.unwrap().untrusted);
        }
        let traces = store.run_traces(&owner, run_id).await.unwrap().unwrap();
        for trace in &traces {
            let whole = match trace.status {
                TraceStatus::Success => trace.result_text.is_some(),
                TraceStatus::Error => trace.status_message.as_deref() == Some("interrupted"),
                TraceStatus::Pending => run.state == RunState::Waiting,
                _ => false,
            };
            assert!(whole, "{run_id}: {trace:?}");
            let is_told = told.recorded.contains(&(run_id.clone(), trace.order));
            assert!(!is_told || trace.status == TraceStatus::Success, "{run_id}: {trace:?}");
        }
        for (_, order) in told.admitted.iter().filter(|(admitted, _)| admitted == run_id) {
            assert!(traces.iter().any(|trace| trace.order == *order), "{run_id} has lost call {order}");
        }
        assert!(completed || !told.ended.contains(run_id), "{run_id} has lost its end");
    }
    for run_id in &told.begun {
        assert!(messages.contains_key(run_id), "{run_id} is lost");
    }
    store.close().await;
    recovered.runs
}

#[test]
#[ignore = "run by `a_kill_loses_nothing_that_was_acknowledged`, and writes until it is killed"]
#[expect(clippy::disallowed_methods, reason = "the parent tells its child through the environment")]
fn writes_until_it_is_killed() {
    let folder = std::env::var(FOLDER).expect("the parent names the folder");
    let round = std::env::var(ROUND).expect("the parent names the round");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(Path::new(&folder), options()).await.unwrap();
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| tokio::spawn(write(store.clone(), round.clone(), writer))).collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

async fn write(store: SqliteStore, round: String, writer: u32) {
    for number in 0_u32.. {
        let run_id = format!("r{round}-{writer}-{number}");
        store.begin_run(start(&run_id, &format!("c{writer}"))).await.unwrap();
        say(&format!("begun {run_id}"));
        for order in 1..=3 {
            store.admit_call(&run_id, &trace(order, TraceStatus::Pending)).await.unwrap();
            say(&format!("admitted {run_id} {order}"));
            store.record_trace(&run_id, &trace(order, TraceStatus::Success)).await.unwrap();
            say(&format!("recorded {run_id} {order}"));
            store.record_round(round_end(&run_id, order)).await.unwrap();
            say(&format!("round {run_id} {order}"));
        }
        if number % 3 == 2 {
            store.pause_run(pause(&run_id, &format!("c{writer}"))).await.unwrap();
            say(&format!("paused {run_id}"));
            continue;
        }
        store.end_run(end(&run_id)).await.unwrap();
        say(&format!("ended {run_id}"));
    }
}

fn round_end(run_id: &str, number: u32) -> RoundEnd {
    RoundEnd {
        run_id: run_id.to_owned(),
        messages: vec![Message::user(format!("round {number}"))],
        labels: Labels::default(),
        usage: Usage { input_tokens: number.into(), ..Usage::default() },
        rounds: number,
        at: at(1),
    }
}

fn pause(run_id: &str, conversation_id: &str) -> RunPause {
    let request = ApprovalRequest {
        id: format!("apr_{run_id}"),
        run_id: run_id.to_owned(),
        conversation_id: Some(conversation_id.to_owned()),
        order: 4,
        call_id: "call_4".to_owned(),
        tool_id: "web_search".to_owned(),
        display_name: "Search the web".to_owned(),
        icon: "🔎".to_owned(),
        arguments: serde_json::json!({"query": "rust"}),
        reason: "the tool asks before every call".to_owned(),
        created_at: at(1),
        expires_at: at(86_400),
    };
    RunPause {
        run_id: run_id.to_owned(),
        waiting: vec![(trace(4, TraceStatus::Pending), request)],
        state: "what it needs".to_owned(),
        labels: Labels { untrusted: true, ..Labels::default() },
        usage: Usage { input_tokens: 3, ..Usage::default() },
        rounds: 3,
        at: at(1),
    }
}

/// One write for the whole line, so that a kill cuts it off or leaves it whole.
fn say(line: &str) {
    std::io::stdout().lock().write_all(format!("{line}\n").as_bytes()).unwrap();
}
