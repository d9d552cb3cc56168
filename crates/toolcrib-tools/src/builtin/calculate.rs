//! `calculate`: one arithmetic expression, evaluated exactly and within bounds.
//!
//! Every call begins with nothing: no variables, no random numbers, no exchange rates, no clock. A calculation ends
//! after a bounded number of steps and a bounded time, on a thread of its own, so that no expression can hold up
//! anything else.
//!
//! # Limits and errors
//! - An expression has at most 1,000 characters and is nested at most 12 levels deep.
//! - A calculation takes at most 2 seconds and 100,000 steps; numbers that would grow too big end it at once.
//! - A result has at most 5,000 characters. The error of a longer one says how to round it.
//! - Division by zero, unknown names, currencies and unbalanced parentheses are errors that say what to write instead.
//!
//! # Example
//! ```sh
//! toolcrib call calculate '{"expression": "(17.5% of 2,480) * 12"}'
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use toolcrib_runtime::clock::Clock;
use toolcrib_runtime::tool::definition::Annotations;
use toolcrib_runtime::tool::typed::{Json, JsonSchema, NoSettings, Rules, TypedTool, schemars};
use toolcrib_runtime::tool::{Display, ToolContext, ToolError, language};

mod evaluate;
mod prepare;
mod size;
#[cfg(test)]
mod tests;

use evaluate::{Bounds, Failure, Outcome};

/// The implementation behind `calculate`.
#[derive(Debug, Clone)]
pub struct Calculate {
    turns: Arc<Semaphore>,
}

/// Calculations that are under way at once; further ones wait.
const AT_ONCE: usize = 4;
/// How long one calculation may take.
const TIME: Duration = Duration::from_secs(2);
/// A parser that descends recursively, one level per operator, needs more than a thread's usual stack.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// What the model sends.
#[derive(Deserialize, JsonSchema)]
pub struct Arguments {
    /// The expression, for example "(17.5% of 2,480) * 12" or "2^64 - 1". A point separates decimals, commas may group
    /// thousands. At most 1,000 characters.
    expression: String,
}

/// What the model reads.
#[derive(Serialize)]
pub struct Answer {
    expression: String,
    result: String,
    exact: bool,
}

/// Tells a calculation to end when whoever asked is gone.
struct StopOnDrop(Arc<AtomicBool>);

impl Default for Calculate {
    fn default() -> Self {
        Self::new()
    }
}

impl Calculate {
    /// A calculator; clones share its limit of calculations at once.
    pub fn new() -> Self {
        Self { turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl TypedTool for Calculate {
    type Arguments = Arguments;
    type Settings = NoSettings;
    type Output = Json<Answer>;

    const KEY: &'static str = "calculate";
    const DESCRIPTION: &'static str = "Evaluates one arithmetic expression with exact numbers and returns the result. \
        Use it for every calculation whose result matters: sums, percentages, powers, roots, fractions, unit \
        conversions. It is always right where mental arithmetic is not. Returns JSON with expression, result (text) \
        and exact (false when the result was rounded or computed in floating point).\n\
        Understood: + - * / ^ ! mod, parentheses, 15% of 80, sqrt(2), ln, log10, log2, sin, cos, tan (radians; write \
        sin(30 degrees) for degrees), abs, floor, ceil, round, 10 choose 3, pi, e, scientific notation (6.02e23), \
        units and conversions (5 km/h to m/s, 72 °F to °C, 3 GiB to MB), and \"to\" for formats (1/3 to 30 dp, 255 to \
        hex, 0.375 to fraction).\n\
        Not understood: variables, equations, several arguments of one function, currencies, dates.";

    fn display(&self, locale: &str) -> Display {
        match language(locale).as_str() {
            "de" => Display::new("🧮", "Rechner", "Rechnet exakt, auch mit Einheiten."),
            _ => Display::new("🧮", "Calculator", "Calculates exactly, with units."),
        }
    }

    fn rules(&self) -> Rules {
        Rules {
            annotations: Annotations { read_only: true, idempotent: true, ..Annotations::default() },
            timeout: Some(Duration::from_secs(10)),
            ..Rules::read_only()
        }
    }

    async fn call(
        &self,
        Arguments { expression }: Arguments,
        _settings: NoSettings,
        context: &ToolContext,
    ) -> Result<Json<Answer>, ToolError> {
        let prepared =
            prepare::prepare(&expression).map_err(|rejected| ToolError::failed(rejected.to_string()))?;
        let time = TIME.min(context.time_left);
        let work = self.begin(prepared, Arc::clone(&context.clock), time);
        let outcome = tokio::select! {
            biased;
            () = context.cancellation.cancelled() => return Err(ToolError::failed("the calculation was cancelled")),
            outcome = work => outcome?,
            () = context.clock.sleep(time) => Err(Failure::TooBig),
        };
        let Outcome { result, exact } = outcome.map_err(|failure| ToolError::failed(failure.to_string()))?;
        Ok(Json(Answer { expression: expression.trim().to_owned(), result, exact }))
    }
}

impl Calculate {
    /// Waits for a turn and evaluates on a thread of its own; dropping the future stops the calculation.
    async fn begin(
        &self,
        prepared: String,
        clock: Arc<dyn Clock>,
        time: Duration,
    ) -> Result<Result<Outcome, Failure>, ToolError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| internal("no turn"))?;
        let stop = StopOnDrop(Arc::default());
        let bounds = Bounds::new(clock, time, Arc::clone(&stop.0));
        let (done, outcome) = oneshot::channel();
        thread::Builder::new()
            .name("calculate".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || run(&prepared, &bounds, turn, done))
            .map_err(|error| internal(&format!("no thread: {error}")))?;
        // The channel closes without a value only when the thread panicked.
        outcome.await.map_err(|_| internal("the evaluation panicked"))
    }
}

fn run(
    prepared: &str,
    bounds: &Bounds,
    turn: OwnedSemaphorePermit,
    done: oneshot::Sender<Result<Outcome, Failure>>,
) {
    let outcome = evaluate::evaluate(prepared, bounds);
    drop(turn);
    // Nobody waits any more when the call was cancelled.
    let _ = done.send(outcome);
}

fn internal(cause: &str) -> ToolError {
    ToolError::Failed {
        for_model:
            "the calculator could not evaluate this expression: write it differently or in smaller steps"
                .to_owned(),
        for_operator: format!("evaluating an expression: {cause}"),
        retryable: true,
        cost: 0,
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
