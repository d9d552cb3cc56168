//! Whatever is written in whatever order, and whenever the program stops: no demand is ever lowered or lost.

use proptest::prelude::*;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::journal::{Journal, RoundEnd, RunEnd, RunPause, Trace, TraceStatus};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::policy::OutboundRestriction;
use toolcrib_storage::record::Owner;
use toolcrib_storage::sqlite::SqliteStore;
use toolcrib_storage::store::{ConversationStore, LabelStore, RunStore, Store};

use crate::folder::{Folder, conversation, end, pause, round, start, trace};
use crate::waiting::saved_state;

const RUNS: usize = 2;

/// Something that is written about one of the runs of a conversation.
#[derive(Debug, Clone)]
enum Step {
    Trace(Labels),
    Round(Labels),
    Pause(Labels),
    Resume,
    End(Labels),
    Tighten(Labels),
    Rename,
    Restart,
}

fn any_labels() -> impl Strategy<Value = Labels> {
    let outbound = OutboundRestriction::NAMES.map(|(_, restriction)| restriction);
    let parts = (
        prop::sample::select(Confidence::ALL.to_vec()),
        any::<bool>(),
        prop::sample::select(outbound.to_vec()),
    );
    parts.prop_map(|(required_confidence, untrusted, outbound)| Labels {
        required_confidence,
        untrusted,
        outbound,
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => any_labels().prop_map(Step::Trace),
        3 => any_labels().prop_map(Step::Round),
        3 => any_labels().prop_map(Step::Pause),
        3 => Just(Step::Resume),
        1 => any_labels().prop_map(Step::End),
        1 => any_labels().prop_map(Step::Tighten),
        1 => Just(Step::Rename),
        1 => Just(Step::Restart),
    ]
}

/// The writes, with the labels that they have raised so far.
struct Writer {
    store: SqliteStore,
    /// By number and generation: a run that has ended makes room for the next.
    runs: [(usize, Labels); RUNS],
    /// Calls and approvals of any run have numbers of their own.
    order: u32,
    all: Labels,
    states: Vec<(Labels, String)>,
}

impl Writer {
    fn id(&self, run: usize) -> String {
        format!("r{run}-{}", self.runs[run].0)
    }

    /// Notes labels of a write that was done.
    fn raised(&mut self, run: usize, labels: Labels) {
        self.all = self.all.raised_by(labels);
        self.runs[run].1 = self.runs[run].1.raised_by(labels);
    }

    /// The saved state of a run with these labels; they are the same for all that was tried.
    async fn state(&mut self, labels: Labels) -> String {
        if let Some((_, state)) = self.states.iter().find(|(known, _)| *known == labels) {
            return state.clone();
        }
        // The driven run has a model that may see everything.
        let state = saved_state(labels).await;
        self.states.push((labels, state.clone()));
        state
    }

    async fn apply(&mut self, run: usize, step: Step, folder: &Folder) {
        let run_id = self.id(run);
        self.order += 1;
        match step {
            Step::Trace(labels) => {
                // A trace cannot restrict outgoing data.
                let demand = Labels { outbound: OutboundRestriction::Unrestricted, ..labels };
                let trace = Trace {
                    required_confidence: labels.required_confidence,
                    untrusted: labels.untrusted,
                    ..trace(self.order, TraceStatus::Success)
                };
                self.store.record_trace(&run_id, &trace).await.unwrap();
                self.raised(run, demand);
            }
            Step::Round(labels) => {
                if self.store.record_round(RoundEnd { labels, ..round(&run_id, self.order) }).await.is_ok() {
                    self.raised(run, labels);
                }
            }
            Step::Pause(labels) => {
                let state = self.state(labels).await;
                let pause = RunPause { labels, ..pause(&run_id, "c", self.order, &state) };
                if self.store.pause_run(pause).await.is_ok() {
                    self.raised(run, labels);
                }
            }
            Step::Resume => {
                let _ = self.store.resume_run(&run_id).await;
            }
            Step::End(labels) => {
                if self.store.end_run(RunEnd { labels, ..end(&run_id) }).await.is_ok() {
                    self.raised(run, labels);
                    self.check_run(run).await;
                    self.next(run).await;
                }
            }
            Step::Tighten(labels) => {
                assert!(self.store.tighten(&Owner::first(), "c", labels).await.unwrap());
                self.all = self.all.raised_by(labels);
            }
            Step::Rename => {
                assert!(self.store.rename_conversation(&Owner::first(), "c", "new").await.unwrap());
            }
            Step::Restart => {
                self.store.close().await;
                self.store = folder.open().await;
                for run in 0..RUNS {
                    self.check_run(run).await;
                    let record = self.store.run(&Owner::first(), &self.id(run)).await.unwrap().unwrap();
                    if record.ended_at.is_some() {
                        self.next(run).await;
                    }
                }
            }
        }
    }

    async fn next(&mut self, run: usize) {
        self.runs[run] = (self.runs[run].0 + 1, Labels::default());
        self.store.begin_run(start(&self.id(run), "c")).await.unwrap();
    }

    async fn check_run(&self, run: usize) {
        let record = self.store.run(&Owner::first(), &self.id(run)).await.unwrap().unwrap();
        assert_eq!(record.labels, self.runs[run].1, "{}", record.id);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn labels_never_drop(steps in prop::collection::vec((0..RUNS, any_step()), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = Folder::new();
            let store = folder.open().await;
            conversation(&store, "c").await;
            for run in 0..RUNS {
                store.begin_run(start(&format!("r{run}-0"), "c")).await.unwrap();
            }
            let runs = [(0, Labels::default()); RUNS];
            let mut writer = Writer { store, runs, order: 0, all: Labels::default(), states: Vec::new() };
            for (run, step) in steps {
                writer.apply(run, step, &folder).await;
                assert_eq!(writer.store.labels("c").await.unwrap(), writer.all);
            }
            for run in 0..RUNS {
                writer.check_run(run).await;
            }
            writer.store.close().await;
        });
    }
}
