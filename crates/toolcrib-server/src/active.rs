//! Runs that are going on in this process: how they are watched, picked up again and stopped.
//!
//! A run that goes on without its client keeps its events in a feed, numbered from 1; its size is bounded by the
//! limits of a run. Other runs hand their events to their one client and keep nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use toolcrib_runtime::run::RunEvent;
use toolcrib_storage::record::Owner;

/// How long the events of a run that has ended can still be picked up; later the stored run tells what happened.
const KEPT: Duration = Duration::from_mins(1);

/// The runs of this process, by id.
#[derive(Default)]
pub(crate) struct Active(Mutex<HashMap<String, Arc<Going>>>);

/// One run that is going on.
pub(crate) struct Going {
    owner: Owner,
    cancellation: CancellationToken,
    /// Cancelled when nothing more happens: the run has ended, or it waits.
    over: CancellationToken,
    feed: Option<Arc<Feed>>,
}

/// The events of a run, for any number of watchers.
pub(crate) struct Feed {
    events: Mutex<Vec<RunEvent>>,
    /// How many events there are, and whether more can come.
    state: watch::Sender<(usize, bool)>,
}

/// Takes the events of a feed from some place on.
pub(crate) struct Watcher {
    feed: Arc<Feed>,
    state: watch::Receiver<(usize, bool)>,
    /// The number of the last event that was taken.
    taken: usize,
}

/// The events of a run as its first client takes them.
pub(crate) enum Events {
    /// The run goes on only as long as these are taken.
    Own(mpsc::Receiver<RunEvent>),
    /// The run goes on by itself.
    Watched(Watcher),
}

impl Active {
    /// Notes a run that begins. With `keep`, its events can be picked up by others.
    pub(crate) fn begin(
        &self,
        run_id: &str,
        owner: &Owner,
        cancellation: CancellationToken,
        keep: bool,
    ) -> Arc<Going> {
        let going = Arc::new(Going::new(owner, cancellation, keep));
        self.lock().insert(run_id.to_owned(), Arc::clone(&going));
        going
    }

    /// Notes a run that goes on after it waited; `None` when somebody is at it already.
    pub(crate) fn go_on(
        &self,
        run_id: &str,
        owner: &Owner,
        cancellation: CancellationToken,
    ) -> Option<Arc<Going>> {
        let mut runs = self.lock();
        if runs.get(run_id).is_some_and(|before| !before.over.is_cancelled()) {
            return None;
        }
        let going = Arc::new(Going::new(owner, cancellation, true));
        runs.insert(run_id.to_owned(), Arc::clone(&going));
        Some(going)
    }

    /// Forgets what a run did before it waited: its events up to there must not be taken for those to come.
    pub(crate) fn set_aside(&self, run_id: &str) -> Option<Arc<Going>> {
        self.lock().remove(run_id)
    }

    /// Forgets a run that has ended.
    pub(crate) fn end(&self, run_id: &str, going: &Arc<Going>) {
        let mut runs = self.lock();
        // A run that waited may have been carried on under the same id by now.
        if runs.get(run_id).is_some_and(|current| Arc::ptr_eq(current, going)) {
            runs.remove(run_id);
        }
    }

    /// The run with this id, when it is the owner's and goes on here.
    pub(crate) fn of(&self, owner: &Owner, run_id: &str) -> Option<Arc<Going>> {
        self.lock().get(run_id).filter(|going| going.owner == *owner).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Going>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Going {
    fn new(owner: &Owner, cancellation: CancellationToken, keep: bool) -> Self {
        let feed = keep.then(|| Arc::new(Feed::new()));
        Self { owner: owner.clone(), cancellation, over: CancellationToken::new(), feed }
    }

    /// Notes that nothing more happens.
    pub(crate) fn end(&self) {
        self.over.cancel();
    }

    /// Whether something can still happen.
    pub(crate) fn goes_on(&self) -> bool {
        !self.over.is_cancelled()
    }

    /// Waits until nothing more happens.
    pub(crate) async fn ended(&self) {
        self.over.cancelled().await;
    }

    /// Stops the run; what it did until then is written down.
    pub(crate) fn stop(&self) {
        self.cancellation.cancel();
    }

    /// The events behind the one with this number; `None` when they are not kept.
    pub(crate) fn watch(&self, after: usize) -> Option<Watcher> {
        self.feed.as_ref().map(|feed| feed.watch(after))
    }

    /// The events as the run's first client takes them. Those of a feed are taken over for as long as the run goes on.
    pub(crate) fn events(&self, receiver: mpsc::Receiver<RunEvent>) -> Events {
        match &self.feed {
            None => Events::Own(receiver),
            Some(feed) => {
                tokio::spawn(Arc::clone(feed).take_over(receiver));
                Events::Watched(feed.watch(0))
            }
        }
    }

    /// How long the run has to be remembered after its end.
    pub(crate) fn kept(&self) -> Duration {
        if self.feed.is_some() { KEPT } else { Duration::ZERO }
    }
}

impl Feed {
    fn new() -> Self {
        Self { events: Mutex::default(), state: watch::Sender::new((0, true)) }
    }

    fn watch(self: &Arc<Self>, after: usize) -> Watcher {
        Watcher { feed: Arc::clone(self), state: self.state.subscribe(), taken: after }
    }

    async fn take_over(self: Arc<Self>, mut receiver: mpsc::Receiver<RunEvent>) {
        while let Some(event) = receiver.recv().await {
            let count = {
                let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
                events.push(event);
                events.len()
            };
            self.state.send_replace((count, true));
        }
        self.state.send_modify(|(_, open)| *open = false);
    }
}

impl Watcher {
    /// The next event with its number; `None` when there will be no more.
    pub(crate) async fn next(&mut self) -> Option<(usize, RunEvent)> {
        loop {
            let event = {
                let events = self.feed.events.lock().unwrap_or_else(PoisonError::into_inner);
                events.get(self.taken).cloned()
            };
            if let Some(event) = event {
                self.taken += 1;
                return Some((self.taken, event));
            }
            let (count, open) = *self.state.borrow_and_update();
            if count > self.taken {
                continue;
            }
            if !open || self.state.changed().await.is_err() {
                return None;
            }
        }
    }
}

impl Events {
    /// The next event; `None` when there will be no more.
    pub(crate) async fn recv(&mut self) -> Option<RunEvent> {
        match self {
            Self::Own(receiver) => receiver.recv().await,
            Self::Watched(watcher) => watcher.next().await.map(|(_, event)| event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(event: Option<(usize, RunEvent)>) -> Option<(usize, String)> {
        event.map(|(number, event)| match event {
            RunEvent::Text(text) => (number, text),
            other => panic!("no text: {other:?}"),
        })
    }

    #[tokio::test]
    async fn events_can_be_picked_up_from_any_place_while_and_after_they_come() {
        let active = Active::default();
        let owner = Owner::first();
        let going = active.begin("run_1", &owner, CancellationToken::new(), true);
        let (sender, receiver) = mpsc::channel(4);
        let mut first = going.events(receiver);
        sender.send(RunEvent::Text("a".into())).await.expect("taken");
        assert!(first.recv().await.is_some());
        let mut late = active.of(&owner, "run_1").and_then(|going| going.watch(1)).expect("kept");
        sender.send(RunEvent::Text("b".into())).await.expect("taken");
        assert_eq!(text(late.next().await), Some((2, "b".to_owned())));
        drop(sender);
        assert!(late.next().await.is_none());
        let mut again = going.watch(0).expect("kept");
        assert_eq!(text(again.next().await), Some((1, "a".to_owned())));
        active.end("run_1", &going);
        assert!(active.of(&owner, "run_1").is_none());
    }

    #[tokio::test]
    async fn a_run_that_waited_is_carried_on_by_one_alone() {
        let (active, owner) = (Active::default(), Owner::first());
        let before = active.begin("run_1", &owner, CancellationToken::new(), true);
        assert!(active.go_on("run_1", &owner, CancellationToken::new()).is_none(), "it has not come to rest");
        before.end();
        before.ended().await;
        let after = active.go_on("run_1", &owner, CancellationToken::new()).expect("nobody is at it");
        assert!(active.go_on("run_1", &owner, CancellationToken::new()).is_none());
        active.end("run_1", &before);
        assert!(active.of(&owner, "run_1").is_some_and(|going| Arc::ptr_eq(&going, &after)));
    }

    #[tokio::test]
    async fn runs_of_others_are_not_found_and_plain_runs_keep_nothing() {
        let active = Active::default();
        let going = active.begin("run_1", &Owner::first(), CancellationToken::new(), false);
        assert!(active.of(&Owner::new("other".to_owned(), "user".to_owned()), "run_1").is_none());
        assert!(going.watch(0).is_none());
    }
}
