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
#[cfg(test)]
mod tests;

pub use driver::{Run, Services, drive};
pub use event::{Answer, Incomplete, RunError, RunErrorKind, RunEvent};
pub use limits::Limits;
pub use machine::{Machine, Plan, Step};
