//! A process that is killed while it writes: what it was told is done, is there; what is there, is whole.
//!
//! The test starts its own binary again, to run [`writes_until_it_is_killed`] on a folder.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use toolcrib_runtime::journal::{Journal, RunState, Trace, TraceStatus};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::run::SavedRun;
use toolcrib_storage::record::{ApprovalState, Owner, RunRecord};
use toolcrib_storage::sqlite::SqliteStore;
use toolcrib_storage::store::{ApprovalStore, ConversationStore, RunStore, Store};

use crate::folder::{Folder, conversation, end, options, pause, round, start, trace};
use crate::waiting::saved_state;

const FOLDER: &str = "TOOLCRIB_STORAGE_CRASH_FOLDER";
const ROUND: &str = "TOOLCRIB_STORAGE_CRASH_ROUND";
const CHILD: &str = "crash::writes_until_it_is_killed";
const ROUNDS: u32 = 15;
const WRITERS: u32 = 4;
/// The call that waits.
const ASKED: u32 = 3;

/// What the killed processes had been told is done, by run.
#[derive(Default)]
struct Acknowledged {
    begun: HashSet<String>,
    admitted: HashSet<(String, u32)>,
    recorded: HashSet<(String, u32)>,
    /// Rounds whose messages are part of the conversation, by run and number.
    rounds: HashSet<(String, u32)>,
    /// Runs that wait and were not resumed yet.
    paused: HashSet<String>,
    resuming: HashSet<String>,
    resumed: HashSet<String>,
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
    let (mut interrupted, mut waiting, mut kept) = (0, 0, 0);
    for round in 0..ROUNDS {
        let before = told.begun.len();
        told.read(write_and_kill(folder.path(), round));
        assert!(told.begun.len() > before, "round {round} has written nothing");
        let found = runtime.block_on(check(&folder, &told));
        interrupted += found.interrupted;
        waiting = found.waiting;
        kept = found.kept;
    }
    assert!(interrupted > 0, "no kill came in the middle of a run");
    assert!(!told.recorded.is_empty() && !told.ended.is_empty());
    assert!(!told.rounds.is_empty() && !told.resumed.is_empty());
    assert!(waiting > 0, "no kill came while a run waited");
    assert!(kept > 0, "no kill came after a wait and before the end of its round");
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
                    self.rounds.insert((run.to_owned(), number.parse().unwrap()));
                }
                ["paused", run] => {
                    self.paused.insert(run.to_owned());
                }
                ["resuming", run] => {
                    self.resuming.insert(run.to_owned());
                }
                ["resumed", run] => {
                    self.resumed.insert(run.to_owned());
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

/// What a check has found.
#[derive(Default)]
struct Found {
    /// Runs that were interrupted by the last kill.
    interrupted: u64,
    /// Runs that wait.
    waiting: usize,
    /// Runs of which only the saved state had the messages of their round.
    kept: usize,
}

/// Opens the store again and compares it with what was acknowledged.
async fn check(folder: &Folder, told: &Acknowledged) -> Found {
    let owner = Owner::first();
    let store = SqliteStore::open(folder.path(), options()).await.unwrap();
    let mut found = Found { interrupted: store.recovered().runs, ..Found::default() };
    let mut messages: HashMap<String, Vec<String>> = HashMap::new();
    for writer in 0..WRITERS {
        let conversation = format!("c{writer}");
        let stored = store.messages(&owner, &conversation).await.unwrap().unwrap();
        assert!(stored.iter().map(|message| message.position).eq(1..=stored.len() as u64));
        for message in stored {
            messages.entry(message.run_id).or_default().push(message.message.text());
        }
    }
    for (run_id, said) in &messages {
        let run = store.run(&owner, run_id).await.unwrap().unwrap();
        let traces = store.run_traces(&owner, run_id).await.unwrap().unwrap();
        check_calls(told, run_id, run.state, &traces);
        check_messages(told, &run, said, &mut found);
        let waiting = store.waiting_run(run_id).await.unwrap();
        assert_eq!(waiting.is_some(), run.state == RunState::Waiting, "{run_id}");
        if let Some(waiting) = waiting {
            found.waiting += 1;
            assert!(SavedRun::read(&waiting.state).is_ok(), "{run_id}");
            assert_eq!(waiting.approvals.len(), 1, "{run_id}");
            assert_eq!(waiting.approvals[0].state, ApprovalState::Waiting, "{run_id}");
            assert!(!told.resumed.contains(run_id), "{run_id} waits again");
        } else if told.paused.contains(run_id) {
            assert!(told.resuming.contains(run_id), "{run_id} does not wait any more");
        }
    }
    for run_id in &told.begun {
        assert!(messages.contains_key(run_id), "{run_id} is lost");
    }
    store.close().await;
    found
}

fn check_calls(told: &Acknowledged, run_id: &str, state: RunState, traces: &[Trace]) {
    for trace in traces {
        let whole = match trace.status {
            TraceStatus::Success => trace.result_text.is_some(),
            TraceStatus::Error => trace.status_message.as_deref() == Some("interrupted"),
            TraceStatus::Pending => state == RunState::Waiting && trace.order == ASKED,
            _ => false,
        };
        assert!(whole, "{run_id}: {trace:?}");
        let is_told = told.recorded.contains(&(run_id.to_owned(), trace.order));
        assert!(!is_told || trace.status == TraceStatus::Success, "{run_id}: {trace:?}");
    }
    for (_, order) in told.admitted.iter().filter(|(admitted, _)| admitted == run_id) {
        assert!(traces.iter().any(|trace| trace.order == *order), "{run_id} has lost call {order}");
    }
}

/// A run has the question; then, of its rounds, a first one, a second one that waited, and the answer: each whole, in
/// this order and once.
fn check_messages(told: &Acknowledged, run: &RunRecord, said: &[String], found: &mut Found) {
    let run_id = &run.id;
    let mut rest: &[String] = said;
    let mut take = |expected: &[&str]| {
        let is_next = rest.len() >= expected.len()
            && rest.iter().zip(expected).all(|(said, expected)| said == expected);
        if is_next {
            rest = &rest[expected.len()..];
        }
        is_next
    };
    assert!(take(&["a question"]), "{run_id}: {said:?}");
    let first = take(&["I have looked"]);
    let second = first && take(&["I have looked"]);
    // The saved round: what the model said, and two results.
    let kept = first && !second && take(&["I will act."]);
    if kept {
        found.kept += 1;
        rest = &rest[2..];
    }
    let rest: Vec<_> = rest.iter().map(String::as_str).collect();
    let answered = rest == ["thinking", "an answer"];
    assert!(answered || rest.is_empty(), "{run_id}: {said:?}");
    assert_eq!(answered, run.state == RunState::Completed, "{run_id} is {:?}", run.state);
    assert!(!answered || second, "{run_id} has an answer without its rounds");
    for (number, is_there) in [(1, first), (2, second)] {
        assert!(
            is_there || !told.rounds.contains(&(run_id.clone(), number)),
            "{run_id} has lost round {number}"
        );
    }
    if told.resumed.contains(run_id) {
        assert!(second || kept, "{run_id} has lost what it said before it waited");
    }
    assert!(answered || !told.ended.contains(run_id), "{run_id} has lost its end");
    let tokens = run.usage.input_tokens;
    let rounds = if answered { 7 } else { u64::from(first) * 3 };
    // The state that was saved counts nothing, and stands for the run when only it is left.
    assert!(tokens == rounds || (kept && tokens == 0), "{run_id}: {tokens} tokens of {said:?}");
    assert_ne!(run.state, RunState::Running, "{run_id}");
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
        let state: Arc<str> = saved_state(Labels::default()).await.into();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| tokio::spawn(write(store.clone(), round.clone(), writer, Arc::clone(&state))))
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

async fn write(store: SqliteStore, attempt: String, writer: u32, state: Arc<str>) {
    for number in 0_u32.. {
        let run_id = format!("r{attempt}-{writer}-{number}");
        let conversation_id = format!("c{writer}");
        store.begin_run(start(&run_id, &conversation_id)).await.unwrap();
        say(&format!("begun {run_id}"));
        for order in 1..=2 {
            call(&store, &run_id, order).await;
        }
        store.record_round(round(&run_id, 1)).await.unwrap();
        say(&format!("round {run_id} 1"));
        store.pause_run(pause(&run_id, &conversation_id, ASKED, &state)).await.unwrap();
        say(&format!("paused {run_id}"));
        // Some go on waiting.
        if number % 4 == 3 {
            continue;
        }
        say(&format!("resuming {run_id}"));
        store.resume_run(&run_id).await.unwrap();
        say(&format!("resumed {run_id}"));
        call(&store, &run_id, ASKED).await;
        store.record_round(round(&run_id, 2)).await.unwrap();
        say(&format!("round {run_id} 2"));
        store.end_run(end(&run_id)).await.unwrap();
        say(&format!("ended {run_id}"));
    }
}

async fn call(store: &SqliteStore, run_id: &str, order: u32) {
    store.admit_call(run_id, &trace(order, TraceStatus::Pending)).await.unwrap();
    say(&format!("admitted {run_id} {order}"));
    store.record_trace(run_id, &trace(order, TraceStatus::Success)).await.unwrap();
    say(&format!("recorded {run_id} {order}"));
}

/// One write for the whole line, so that a kill cuts it off or leaves it whole.
fn say(line: &str) {
    std::io::stdout().lock().write_all(format!("{line}\n").as_bytes()).unwrap();
}
