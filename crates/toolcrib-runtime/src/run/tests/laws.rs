//! What holds for every run, whatever the model does.

use proptest::prelude::*;

use super::*;
use crate::caller::Components;

/// What a model may do in one round.
#[derive(Debug, Clone)]
struct Round {
    text: String,
    /// Tool, argument, milliseconds that the call takes.
    calls: Vec<(&'static str, u8, u64)>,
}

const TOOLS: [&str; 4] = ["plain", "private", "page", "gone"];

fn any_round() -> impl Strategy<Value = Round> {
    let call = (prop::sample::select(TOOLS.to_vec()), 0u8..4, 0u64..50);
    ("[a-z]{0,6}", prop::collection::vec(call, 0..5)).prop_map(|(text, calls)| Round { text, calls })
}

fn script(rounds: &[Round]) -> ScriptedModel {
    let mut position = 0;
    let answers: Vec<Vec<ModelEvent>> = rounds
        .iter()
        .map(|round| {
            let mut events = vec![ModelEvent::Text(round.text.clone())];
            let made: Vec<_> = round
                .calls
                .iter()
                .map(|(tool, argument, wait)| {
                    position += 1;
                    (format!("c{position}"), *tool, format!(r#"{{"q":"{argument}/{wait}"}}"#))
                })
                .collect();
            let made: Vec<_> =
                made.iter().map(|(id, tool, text)| (id.as_str(), *tool, text.as_str())).collect();
            events.extend(calls(&made));
            events
        })
        .collect();
    let ends = std::iter::repeat_n(says("end"), 2);
    ScriptedModel::new(answers.into_iter().chain(ends))
}

/// A tool that sleeps as its argument says and answers with it.
struct Slow(&'static str, ToolOutput);

#[async_trait]
impl Tool for Slow {
    fn implementation_key(&self) -> &str {
        self.0
    }

    fn display(&self, _: &str) -> crate::tool::Display {
        crate::tool::Display { name: self.0.into(), description: "Slow.".into(), icon: "🐌".into() }
    }

    async fn call(&self, arguments: Value, _: &crate::tool::ToolContext) -> Result<ToolOutput, ToolError> {
        let argument = arguments["q"].as_str().unwrap_or_default();
        let (text, wait) = argument.split_once('/').unwrap_or((argument, "0"));
        tokio::time::sleep(Duration::from_millis(wait.parse().unwrap_or_default())).await;
        Ok(ToolOutput { content: crate::tool::Content::Text(text.to_owned()), ..self.1.clone() })
    }
}

/// Plays a script; `waits` says whether the tools take the time that they are told, `side_by_side` whether calls may
/// overlap.
async fn play(rounds: &[Round], waits: bool, side_by_side: bool) -> (Outcome, Vec<Circumstances>) {
    let mut rounds = rounds.to_vec();
    if !waits {
        rounds.iter_mut().flat_map(|round| &mut round.calls).for_each(|call| call.2 = 0);
    }
    let mut scene = Scene::new(script(&rounds), vec![]);
    scene.limits.calls = 8;
    let (run, mut services) = scene.run();
    let watched = Arc::new(Watched::default());
    services.circumstances = Arc::clone(&watched) as _;
    let mut high = ToolOutput::text("");
    high.required_confidence = Confidence::High;
    let implementations: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Slow("plain", ToolOutput::text(""))),
        Arc::new(Slow("private", high)),
        Arc::new(Slow("page", ToolOutput::text(""))),
        Arc::new(Slow("gone", ToolOutput::text(""))),
    ];
    let files = TOOLS.iter().map(|id| {
        let mut definition = definition(id);
        definition["concurrency"] = json!(if side_by_side { "parallel" } else { "sequential" });
        definition["returnsUntrustedContent"] = json!(*id == "page");
        DefinitionFile::added(format!("{id}.json"), definition.to_string())
    });
    let (catalog, problems) =
        Catalog::build(&files.collect::<Vec<_>>(), &implementations, &Components::default());
    assert_eq!(problems, []);
    let now = Watched::now(0);
    let standing = run.offering.model().clone();
    let offering = offer(&Arc::new(catalog), &now.caller, OfferRequest::default(), &now.policy, standing);
    let run = Run { offering, ..run };
    let (sender, mut receiver) = mpsc::channel(16);
    let driver = tokio::spawn(drive(run, services, sender, CancellationToken::new()));
    let mut events = Vec::new();
    while let Some(event) = receiver.recv().await {
        events.push(event);
    }
    driver.await.expect("the driver does not panic");
    let outcome = Outcome { events, journal: scene.journal, model: scene.model };
    let seen = std::mem::take(&mut *watched.seen.lock().expect("not poisoned"));
    (outcome, seen)
}

/// Circumstances that change while the run goes on: after some readings, `gone` is disabled.
#[derive(Default)]
struct Watched {
    seen: std::sync::Mutex<Vec<Circumstances>>,
}

impl Watched {
    fn now(readings: usize) -> Circumstances {
        let mut policy = Policy::default();
        if readings > 3 {
            policy.disabled.insert("gone".to_owned());
        }
        Circumstances::new(Arc::new(caller()), Arc::new(policy))
    }
}

#[async_trait]
impl crate::policy::CircumstancesReader for Watched {
    async fn read(&self) -> Result<Circumstances, crate::policy::CircumstancesError> {
        let mut seen = self.seen.lock().expect("not poisoned");
        let now = Self::now(seen.len());
        seen.push(now.clone());
        Ok(now)
    }
}

fn run_paused<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_fold_of_the_events_is_the_stored_transcript(rounds in prop::collection::vec(any_round(), 1..5)) {
        let (outcome, _) = run_paused(play(&rounds, true, true));
        let stored = outcome.journal.transcript();
        let said: Vec<String> = stored.iter().filter(|message| matches!(message, Message::Assistant(_)))
            .map(Message::text).filter(|text| !text.is_empty()).collect();
        prop_assert_eq!(outcome.streamed_text(), said.join("\n\n"));
        let streamed: Vec<_> = outcome.events.iter().filter_map(|event| match event {
            RunEvent::CallEnded(trace) => Some((**trace).clone()),
            _ => None,
        }).collect();
        let mut in_order = streamed;
        in_order.sort_by_key(|trace| trace.order);
        let mut kept = outcome.journal.traces();
        kept.sort_by_key(|trace| trace.order);
        prop_assert_eq!(in_order, kept);
    }

    #[test]
    fn every_call_has_its_result_and_any_interleaving_gives_the_same_history(
        rounds in prop::collection::vec(any_round(), 1..5)
    ) {
        let masked = |outcome: &Outcome| -> Vec<(String, String)> {
            let results = outcome.journal.transcript().into_iter().filter_map(|message| match message {
                Message::ToolResult(result) => Some((result.call_id, result.text)),
                _ => None,
            });
            results.collect()
        };
        let (slow, _) = run_paused(play(&rounds, true, true));
        let (fast, _) = run_paused(play(&rounds, false, true));
        let ids: Vec<_> = masked(&slow).into_iter().map(|(id, _)| id).collect();
        let mut expected = ids.clone();
        expected.sort_by_key(|id| id[1..].parse::<u32>().unwrap_or_default());
        prop_assert_eq!(&ids, &expected, "results stand in the order of the calls");
        // Repetition looks at arguments, which hold the waiting time: only runs without it can be compared.
        let repeats = |outcome: &Outcome| masked(outcome).iter().any(|(_, text)| text.contains("made before"));
        let closed = |outcome: &Outcome| outcome.journal.ended()[0].state != RunState::Completed;
        if !repeats(&slow) && !repeats(&fast) && !closed(&slow) && !closed(&fast) {
            // When `gone` goes depends on which call reads first; all else is the same.
            let stable = |outcome: &Outcome| -> Vec<(String, String)> {
                let gone: Vec<_> = outcome.journal.traces().iter().filter(|trace| trace.tool_id == "gone")
                    .map(|trace| trace.call_id.clone()).collect();
                masked(outcome).into_iter().filter(|(id, _)| !gone.contains(id)).collect()
            };
            prop_assert_eq!(stable(&slow), stable(&fast));
        }
    }

    #[test]
    fn what_ran_was_let_through_by_what_held_at_that_moment(rounds in prop::collection::vec(any_round(), 1..5)) {
        let (outcome, seen) = run_paused(play(&rounds, true, false));
        // One reading at the beginning, then one for each call, in the order of the calls.
        let mut traces = outcome.journal.traces();
        traces.sort_by_key(|trace| trace.order);
        prop_assert_eq!(seen.len(), traces.len() + 1);
        for (trace, now) in traces.iter().zip(&seen[1..]) {
            let allowed = !now.policy.disabled.contains(&trace.tool_id);
            prop_assert_eq!(trace.executed, allowed, "{:?}", trace);
        }
    }

    #[test]
    fn labels_never_drop(rounds in prop::collection::vec(any_round(), 1..5)) {
        let (outcome, _) = run_paused(play(&rounds, true, true));
        let mut before = Labels::default();
        for round in outcome.journal.rounds() {
            prop_assert_eq!(round.labels.raised_by(before), round.labels);
            before = round.labels;
        }
        let end = outcome.journal.ended()[0].labels;
        prop_assert_eq!(end.raised_by(before), end);
        let demanded = outcome.journal.traces().iter().fold(Labels::default(), |sum, trace| sum.raised_by(trace.labels()));
        prop_assert_eq!(end, demanded);
    }
}
