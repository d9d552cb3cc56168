//! How many runs one user may have going on at once; whoever asks for more is told to come back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolcrib_storage::record::Owner;

use crate::error::{ApiError, RATE_LIMITED};

/// When a refused caller should ask again.
const COME_BACK: Duration = Duration::from_secs(1);

/// The places of every user.
pub(crate) struct Places {
    of_each: usize,
    taken: Mutex<HashMap<Owner, Arc<Semaphore>>>,
}

/// A place that is given back when it is dropped.
pub(crate) struct Place(
    #[expect(dead_code, reason = "dropping it gives the place back")] OwnedSemaphorePermit,
);

impl Places {
    pub(crate) fn new(of_each: usize) -> Self {
        Self { of_each, taken: Mutex::default() }
    }

    /// A place for one more run of this user.
    ///
    /// # Errors
    /// All places are taken.
    pub(crate) fn take(&self, owner: &Owner) -> Result<Place, ApiError> {
        let places = {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let fresh = || Arc::new(Semaphore::new(self.of_each));
            Arc::clone(taken.entry(owner.clone()).or_insert_with(fresh))
        };
        places.try_acquire_owned().map(Place).map_err(|_| {
            let message = format!("{} answers are being given to this user already", self.of_each);
            let mut error = ApiError::new(RATE_LIMITED, message);
            error.retry_after = Some(COME_BACK);
            error
        })
    }
}
