//! The loop: one user message to one final answer, over any number of rounds.
//!
//! [`Machine`] decides and does no I/O; [`drive`] awaits the model, the tools and the journal. Streaming or not, in
//! every dialect, in the web page and on the command line, it is this loop that runs.

mod driver;
mod event;
mod history;
mod limits;
mod machine;
mod repeat;
mod round;
mod saved;
#[cfg(test)]
mod tests;

pub use driver::{Asking, ResumedRun, Run, Services, drive, resume};
pub use event::{Answer, Incomplete, Pause, RunError, RunErrorKind, RunEvent};
pub use limits::Limits;
pub use machine::{Machine, Plan, Step};
pub use saved::{SavedRun, SavedRunError};
