use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde_json::{Map, json};

use super::*;
use crate::caller::Components;
use crate::message::ToolCall;
use crate::model::{ModelCapabilities, ModelIdentity};
use crate::offering::{Admission, ModelStanding, OfferRequest, Offering, offer};
use crate::registry::{Catalog, DefinitionFile};
use crate::testing::{MemoryJournal, MemoryLedger, caller, circumstances, definition};
use crate::tool::{Display, Tool};

/// A clock on tokio's paused time.
struct PausedClock(tokio::time::Instant);

#[async_trait]
impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

type Work = dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;

/// What is written down, and what is charged.
type Books = (Arc<MemoryJournal>, Arc<MemoryLedger>);

/// A tool that does what a test says, with its context.
struct Probe(Box<Work>);

impl Probe {
    fn new<F: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static>(
        work: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(move |arguments, context| Box::pin(work(arguments, context))))
    }

    fn ending(result: impl Fn() -> Result<ToolOutput, ToolError> + Send + Sync + 'static) -> Self {
        Self::new(move |_, _| std::future::ready(result()))
    }
}

#[async_trait]
impl Tool for Probe {
    fn implementation_key(&self) -> &'static str {
        "probe"
    }
    fn display(&self, _locale: &str) -> Display {
        Display::new("🧪", "Probe", "A tool for tests.")
    }
    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        (self.0)(arguments, context.clone()).await
    }
}

/// One tool and everything that its calls need.
struct Bench {
    offering: Offering,
    executor: Executor,
    journal: Arc<MemoryJournal>,
    ledger: Arc<MemoryLedger>,
    scope: CallScope,
}

impl Bench {
    /// A call may cost 1,000, of 5,000.
    fn new(probe: Probe, change: &Value) -> Self {
        let mut definition = definition("probe");
        definition["cost"] = json!({ "perCall": 10, "maximum": 1_000 });
        for (name, value) in change.as_object().into_iter().flatten() {
            definition[name] = value.clone();
        }
        let file = DefinitionFile::added("probe.json", definition.to_string());
        let (catalog, problems) = Catalog::build(&[file], &[Arc::new(probe)], &Components::default());
        assert_eq!(problems, []);
        let identity = ModelIdentity {
            provider_id: "p".to_owned(),
            model: "m".to_owned(),
            confidence: Confidence::Medium,
            trusted: false,
        };
        let capabilities = ModelCapabilities { functions: true, images: false };
        let standing = ModelStanding { identity: identity.clone(), capabilities };
        let offering = offer(
            &Arc::new(catalog),
            &Arc::new(caller()),
            OfferRequest::default(),
            &Arc::default(),
            standing,
        );
        let (journal, ledger) = (Arc::new(MemoryJournal::default()), Arc::new(MemoryLedger::with(5_000)));
        let clock = Arc::new(PausedClock(tokio::time::Instant::now()));
        let executor = Executor::new(Arc::clone(&journal) as _, Arc::clone(&ledger) as _, clock);
        Self { offering, executor, journal, ledger, scope: CallScope::single("run", &identity) }
    }

    async fn try_call(&self, name: &str, arguments: &str) -> Result<Outcome, JournalError> {
        let call = ToolCall {
            id: "c".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            opaque: Map::new(),
        };
        match self.offering.admit(call.clone(), &circumstances()) {
            Admission::Admitted(admitted) => self.executor.execute(admitted, &self.scope).await,
            Admission::Refused(refusal) => self.executor.refuse(None, &call, refusal, &self.scope).await,
            Admission::Held(held) => panic!("held: {held:?}"),
        }
    }

    async fn call(&self, arguments: &str) -> Outcome {
        self.try_call("probe", arguments).await.expect("it can be written down")
    }
}

fn text() -> ToolOutput {
    ToolOutput::text("done")
}

fn failure(cost: i64) -> ToolError {
    ToolError::Failed {
        for_model: "no answer".to_owned(),
        for_operator: "connection to 10.0.0.1 refused".to_owned(),
        retryable: true,
        cost,
    }
}

/// Name, tool, function name and arguments of the call; status, executed, the result's beginning, and the cost.
type Row = (&'static str, Probe, (&'static str, &'static str), (TraceStatus, bool, &'static str, i64));

fn rows() -> Vec<Row> {
    let call = ("probe", "{}");
    let never = || Probe::new(|_, _| std::future::pending());
    vec![
        ("success", Probe::ending(|| Ok(text())), call, (TraceStatus::Success, true, "done", 10)),
        (
            "success that says its cost",
            Probe::ending(|| {
                let mut output = ToolOutput::text("done");
                output.cost = Some(700);
                Ok(output)
            }),
            call,
            (TraceStatus::Success, true, "done", 700),
        ),
        (
            "bad arguments",
            Probe::ending(|| Ok(text())),
            ("probe", r#"{"x":1}"#),
            (TraceStatus::Error, false, "Not executed. The arguments do not fit the tool:", 0),
        ),
        (
            "unknown",
            Probe::ending(|| Ok(text())),
            ("prob", "{}"),
            (TraceStatus::Blocked, false, "There is no tool named \"prob\". Available tools: probe.", 0),
        ),
        (
            "policy block by the tool",
            Probe::ending(|| Err(ToolError::blocked("not allowed"))),
            call,
            (TraceStatus::Blocked, true, "not allowed", 0),
        ),
        (
            "failed",
            Probe::ending(|| Err(failure(0))),
            call,
            (TraceStatus::Error, true, "Tool execution failed: no answer", 0),
        ),
        (
            "failed after it had cost something",
            Probe::ending(|| Err(failure(300))),
            call,
            (TraceStatus::Error, true, "Tool execution failed: no answer", 300),
        ),
        (
            "timed out",
            never(),
            call,
            (TraceStatus::Error, true, "Tool execution failed: the call took longer", 0),
        ),
        (
            "panicked",
            Probe::new(|_, _| async { panic!("on purpose") }),
            call,
            (TraceStatus::Error, true, "Tool execution failed: an internal error", 0),
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn each_row_of_the_outcome_table() {
    for (row, probe, (name, arguments), (status, executed, begins, cost)) in rows() {
        let bench = Bench::new(probe, &json!({}));
        let outcome = bench.try_call(name, arguments).await.expect("it can be written down");
        assert_eq!(
            (outcome.trace.status, outcome.trace.executed, outcome.trace.cost),
            (status, executed, cost),
            "{row}"
        );
        assert!(outcome.for_model.starts_with(begins), "{row}: {}", outcome.for_model);
        assert!(
            !format!("{outcome:?}").contains("10.0.0.1"),
            "{row}: the operator's words stay with the operator"
        );
        assert_eq!(
            bench.journal.traces(),
            [outcome.trace],
            "{row}: what is returned is what is written down"
        );
        assert_eq!(bench.ledger.balance(), (5_000 - cost, 0), "{row}: settled, and nothing held");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_at_once_and_settles_nothing() {
    let bench = Bench::new(Probe::new(|_, _| std::future::pending()), &json!({}));
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        bench.scope.cancellation.cancel();
    };
    let (outcome, ()) = tokio::join!(bench.call("{}"), cancel);
    assert_eq!((outcome.trace.status, outcome.trace.executed), (TraceStatus::Cancelled, true));
    assert_eq!(outcome.trace.duration_ms, 1_000);
    assert_eq!(bench.ledger.balance(), (5_000, 0));
}

#[tokio::test(start_paused = true)]
async fn whatever_ends_a_call_cancels_the_token_of_its_tool() {
    for (what, hangs, cancelled) in
        [("end", false, false), ("time", true, false), ("cancellation", true, true)]
    {
        let seen = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&seen);
        let probe = Probe::new(move |_, context: ToolContext| {
            let flag = Arc::clone(&flag);
            async move {
                // Work that the tool left behind, as a child process would be.
                tokio::spawn(async move {
                    context.cancellation.cancelled().await;
                    flag.store(true, Ordering::SeqCst);
                });
                if hangs {
                    std::future::pending::<()>().await;
                }
                Ok(text())
            }
        });
        let bench = Bench::new(probe, &json!({}));
        let cancel = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if cancelled {
                bench.scope.cancellation.cancel();
            }
        };
        let _ = tokio::join!(bench.call("{}"), cancel);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(seen.load(Ordering::SeqCst), "{what}");
        assert_eq!(
            bench.scope.cancellation.is_cancelled(),
            cancelled,
            "{what}: the run's own token is left alone"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_never_has_more_time_than_its_run() {
    let seconds = Duration::from_secs;
    for (own, run_left, expected) in [
        (None, None, 120),
        (None, Some(600), 120),
        (None, Some(7), 7),
        (Some(30), Some(600), 30),
        (Some(30), Some(7), 7),
        (Some(500), None, 120),
        (None, Some(0), 0),
    ] {
        let told = Arc::new(Mutex::new(None));
        let sink = Arc::clone(&told);
        let probe = Probe::new(move |_, context: ToolContext| {
            *sink.lock().expect("not poisoned") = Some(context.time_left);
            std::future::ready(Ok(text()))
        });
        let change = own.map_or(json!({}), |own| json!({ "timeoutSeconds": own }));
        let mut bench = Bench::new(probe, &change);
        tokio::time::sleep(seconds(100)).await;
        bench.scope.run_ends = run_left.map(|left: u64| seconds(100 + left));
        bench.call("{}").await;
        let told = told.lock().expect("not poisoned").expect("called");
        assert_eq!(told, seconds(expected), "{own:?} {run_left:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn admission_and_hold_are_durable_before_the_tool_runs() {
    let seen = Arc::new(Mutex::new(None));
    let parts: Arc<Mutex<Option<Books>>> = Arc::default();
    let (sink, source) = (Arc::clone(&seen), Arc::clone(&parts));
    let probe = Probe::new(move |_, _| {
        let (journal, ledger) = source.lock().expect("not poisoned").clone().expect("set");
        *sink.lock().expect("not poisoned") = Some((journal.traces()[0].status, ledger.balance()));
        std::future::ready(Ok(text()))
    });
    let bench = Bench::new(probe, &json!({}));
    *parts.lock().expect("not poisoned") = Some((Arc::clone(&bench.journal), Arc::clone(&bench.ledger)));
    bench.call("{}").await;
    assert_eq!(*seen.lock().expect("not poisoned"), Some((TraceStatus::Pending, (4_000, 1_000))));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_written_down_does_not_run() {
    let ran = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ran);
    let bench = Bench::new(
        Probe::ending(move || {
            flag.store(true, Ordering::SeqCst);
            Ok(text())
        }),
        &json!({}),
    );
    bench.journal.break_down();
    assert!(bench.try_call("probe", "{}").await.is_err());
    assert!(!ran.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn a_result_stays_within_the_strictest_limit_and_says_what_is_missing() {
    let long = || "0123456789\n".repeat(1_000);
    let output = move || {
        let mut output = ToolOutput::json(json!({ "text": long() }));
        output.truncation = Some("by the tool".to_owned());
        Ok(output)
    };
    for (own, one_result, left, most) in [
        (None, 500, 9_000, 500),
        (Some(300), 500, 9_000, 300),
        (Some(800), 500, 9_000, 500),
        (None, 500, 200, 200),
    ] {
        for untrusted in [false, true] {
            let mut change = json!({ "returnsUntrustedContent": untrusted });
            if let Some(own) = own {
                change["maxResultCharacters"] = json!(own);
            }
            let mut bench = Bench::new(Probe::ending(output), &change);
            bench.scope.limits.one_result = one_result;
            bench.scope.result_characters_left = left;
            let outcome = bench.call("{}").await;
            let row = format!("{own:?} {left} {untrusted}");
            assert!(outcome.for_model.chars().count() <= most, "{row}: {}", outcome.for_model);
            assert!(outcome.for_model.contains("[Result cut"), "{row}: {}", outcome.for_model);
            assert!(outcome.trace.truncation.is_some(), "{row}");
            assert_eq!(outcome.trace.result_json, None, "{row}: a cut text is no JSON");
        }
    }
    // Errors and refusals are results, too.
    let mut bench = Bench::new(Probe::ending(|| Err(ToolError::failed("x".repeat(50_000)))), &json!({}));
    bench.scope.limits.one_result = 500;
    assert!(bench.call("{}").await.for_model.chars().count() <= 500);
    assert!(
        bench.try_call(&"y".repeat(50_000), "{}").await.expect("written").for_model.chars().count() <= 500
    );
}

#[tokio::test(start_paused = true)]
async fn the_trace_says_what_was_repaired_and_hides_what_is_sensitive() {
    let got = Arc::new(Mutex::new(Value::Null));
    let sink = Arc::clone(&got);
    let probe = Probe::new(move |arguments, _| {
        *sink.lock().expect("not poisoned") = arguments;
        std::future::ready(Ok(text()))
    });
    let mut function = definition("probe")["function"].clone();
    function["parameters"] = json!({
        "type": "object",
        "properties": {
            "days": { "type": "integer", "description": "Days." },
            "tags": { "type": "array", "items": { "type": "string" }, "description": "Tags." },
            "token": { "type": "string", "description": "A secret." }
        },
        "additionalProperties": false
    });
    let bench = Bench::new(probe, &json!({ "function": function, "sensitiveArguments": ["token"] }));
    let outcome = bench.call(r#"{"days":"5","tags":"one","token":"canary"}"#).await;
    assert_eq!(*got.lock().expect("not poisoned"), json!({ "days": 5, "tags": ["one"], "token": "canary" }));
    assert_eq!(outcome.trace.arguments, json!({ "days": 5, "tags": ["one"], "token": MASK }));
    assert_eq!(outcome.trace.repairs, ["/days: text became a number", "/tags: a single value became a list"]);
    for empty in ["", "  ", "{}", "null"] {
        assert_eq!(bench.call(empty).await.trace.status, TraceStatus::Success, "{empty:?}");
        assert_eq!(*got.lock().expect("not poisoned"), json!({}), "{empty:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_its_call_and_nothing_more() {
    let bench = Bench::new(Probe::new(|_, _| async { panic!("first") }), &json!({}));
    assert_eq!(bench.call("{}").await.trace.status, TraceStatus::Error);
    assert_eq!(bench.call("{}").await.trace.status, TraceStatus::Error, "the executor goes on after a panic");
}
