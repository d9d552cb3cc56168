//! Evaluates a prepared expression with `fend-core`, under bounds.
//!
//! Three bounds hold, each for what the others cannot see: the size of numbers, told before; the number of steps,
//! the same on every machine; and the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fend_core::{Context, Interrupt, evaluate_with_interrupt};
use toolcrib_runtime::clock::Clock;

use super::size;

/// Steps of one calculation, as `fend-core` counts them: one per piece of work on a few thousand bits.
const STEPS: u64 = 100_000;
/// Steps between two looks at the clock.
const STEPS_PER_LOOK: u64 = 16;
/// The longest result, in characters.
pub(super) const RESULT_CHARACTERS: usize = 5_000;

/// Functions that work in floating point, whatever the library says of their results.
const FLOATING: [&str; 21] = [
    "floor", "ceil", "round", "ln", "log", "log2", "log10", "exp", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "arg",
];

/// A result as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) result: String,
    /// Whether `result` is the value itself, neither rounded nor from floating point.
    pub(super) exact: bool,
}

/// Why there is no result, in words for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    #[error(
        "the calculation is too big: numbers of more than some ten thousand digits, or too many steps. Use smaller numbers"
    )]
    TooBig,
    #[error(
        "the result has {0} characters, {RESULT_CHARACTERS} are allowed. Ask for fewer digits by adding \"to 20 sf\""
    )]
    TooLong(usize),
    #[error("division by zero: there is no result, check the expression")]
    DivisionByZero,
    #[error("the expression has no value: write one expression such as 2 * (3 + 4)")]
    NoValue,
    #[error("currencies cannot be converted: leave the currency out and calculate with plain numbers")]
    Currency,
    #[error(
        "{0}. Only names of functions, constants and units are known; there are no variables, and a function takes one argument"
    )]
    UnknownName(String),
    #[error(
        "the expression cannot be evaluated: {0}. Check operators and parentheses, and write no spaces inside numbers"
    )]
    Invalid(String),
}

/// What a calculation may use.
pub(super) struct Bounds {
    clock: Arc<dyn Clock>,
    deadline: Duration,
    stop: Arc<AtomicBool>,
    steps: AtomicU64,
}

impl Bounds {
    /// From now on for `time`, and until `stop` is set.
    pub(super) fn new(clock: Arc<dyn Clock>, time: Duration, stop: Arc<AtomicBool>) -> Self {
        let deadline = clock.elapsed().saturating_add(time);
        Self { clock, deadline, stop, steps: AtomicU64::new(0) }
    }
}

impl Interrupt for Bounds {
    fn should_interrupt(&self) -> bool {
        let steps = self.steps.fetch_add(1, Ordering::Relaxed);
        steps >= STEPS
            || self.stop.load(Ordering::Relaxed)
            || (steps.is_multiple_of(STEPS_PER_LOOK) && self.clock.elapsed() >= self.deadline)
    }
}

/// The value of an expression that [`super::prepare::prepare`] accepted.
pub(super) fn evaluate(prepared: &str, bounds: &Bounds) -> Result<Outcome, Failure> {
    size::check(prepared).map_err(|size::TooLarge| Failure::TooBig)?;
    let mut context = Context::new();
    let value = evaluate_with_interrupt(prepared, &mut context, bounds).map_err(|cause| failure(&cause))?;
    if value.output_is_empty() {
        return Err(Failure::NoValue);
    }
    let text = value.get_main_result();
    let (text, exact) = match text.strip_prefix("approx. ") {
        Some(rounded) => (rounded, false),
        None => (text, !uses_floating_point(prepared)),
    };
    let characters = text.chars().count();
    if characters > RESULT_CHARACTERS {
        return Err(Failure::TooLong(characters));
    }
    Ok(Outcome { result: text.to_owned(), exact })
}

fn uses_floating_point(prepared: &str) -> bool {
    let mut words = prepared.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| FLOATING.contains(&word))
}

fn failure(cause: &str) -> Failure {
    match cause {
        "interrupted" | "exponent too large" | "value is too large" => Failure::TooBig,
        "division by zero" | "modulo by zero" => Failure::DivisionByZero,
        "exchange rates are not available" => Failure::Currency,
        _ if cause.starts_with("unknown identifier") => {
            Failure::UnknownName(cause.replace("identifier", "name"))
        }
        _ => Failure::Invalid(cause.to_owned()),
    }
}
