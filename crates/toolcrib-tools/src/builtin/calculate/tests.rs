use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_runtime::tool::typed::TypedTool as _;
use toolcrib_runtime::tool::{Content, Tool as _, ToolError};

use super::evaluate::{Bounds, Failure, Outcome, evaluate};
use super::prepare::{DEPTH, Rejected, prepare};
use super::{Calculate, TIME};
use crate::builtin::tests::{TestClock, context, failure};

fn value(expression: &str) -> Result<Outcome, String> {
    let prepared = prepare(expression).map_err(|rejected| rejected.to_string())?;
    let clock = Arc::new(TestClock::new());
    let work = move || evaluate(&prepared, &Bounds::new(clock, TIME, Arc::default()));
    let thread = std::thread::Builder::new().stack_size(super::STACK_BYTES).spawn(work).unwrap();
    thread.join().unwrap().map_err(|failure| failure.to_string())
}

/// The expression has this value, exactly.
#[track_caller]
fn exactly(expression: &str, result: &str) {
    let expected = Outcome { result: result.to_owned(), exact: true };
    assert_eq!(value(expression), Ok(expected), "{expression}");
}

/// The expression has this value, rounded or from floating point.
#[track_caller]
fn about(expression: &str, result: &str) {
    let expected = Outcome { result: result.to_owned(), exact: false };
    assert_eq!(value(expression), Ok(expected), "{expression}");
}

/// The expression is refused with a text that contains `part`.
#[track_caller]
fn fails(expression: &str, part: &str) {
    let text = value(expression).expect_err(expression);
    assert!(text.contains(part), "{expression}: {text}");
    assert!(text.chars().count() < 500, "{text}");
}

#[test]
fn arithmetic_is_exact() {
    exactly("0.1+0.2", "0.3");
    exactly("1.1 * 1.1", "1.21");
    exactly("7/2", "3.5");
    exactly("1/3*3", "1");
    exactly("2^64", "18446744073709551616");
    exactly("2^-3", "0.125");
    exactly("-2^2", "-4");
    exactly("12345678901234567890 * 98765432109876543210", "1219326311370217952237463801111263526900");
    exactly("25!", "15511210043330985984000000");
    exactly("10 choose 3", "120");
    exactly("sqrt(16)", "4");
    exactly("cbrt(27)", "3");
    exactly("0.375 to fraction", "3/8");
    exactly("(1/3 + 1/6) to fraction", "1/2");
    exactly("3 == 3", "true");
}

#[test]
fn rounded_values_say_so() {
    about("1/3", "0.3333333333");
    about("1/3 to 30 dp", "0.333333333333333333333333333333");
    about("sqrt(2)", "1.4142135624");
    about("2π", "6.2831853072");
    about("round(2.5)", "3");
    about("log10(1000)", "3");
    about("sin(30 degrees)", "0.5");
}

#[test]
fn common_writings_are_understood() {
    exactly("3 × 4 ÷ 2 − 1", "5");
    exactly("3 x 4", "12");
    exactly("3x4", "12");
    exactly("2(3+4)", "14");
    exactly("(2)(3)", "6");
    exactly("(2)3", "6");
    exactly("1.5(3)", "4.5");
    exactly("[1 + 2] * {3}", "9");
    exactly("2**10", "1024");
    exactly("2²+3³", "31");
    exactly("10⁻²", "0.01");
    exactly("√16*2", "8");
    exactly("2√9", "6");
    exactly("√(9+16)", "5");
    exactly("½ + 3¼", "3.75");
    exactly("1,234,567.89*2", "2469135.78");
    exactly("1\u{202f}000\u{202f}000 + 1", "1000001");
    exactly("1_000", "1000");
    exactly(".5 + .25", "0.75");
    exactly("6.02e23*2", "1204000000000000000000000");
    exactly("1E-3", "0.001");
    exactly("2+2=", "4");
    exactly("2 + 2 = ?", "4");
    exactly("10 % 3", "1");
    exactly("10%3", "1");
    exactly("17 mod 5", "2");
}

#[test]
fn a_percentage_is_a_number() {
    exactly("15% of 80", "12");
    exactly("(17.5% of 2,480) * 12", "5208");
    exactly("200*15%", "30");
    exactly("100/5%", "2000");
    exactly("80 * (10+5)%", "12");
    exactly("50% to fraction", "1/2");
}

#[test]
fn units_are_converted() {
    exactly("3 GiB to MB", "3221.225472 MB");
    exactly("100 cm to m", "1 m");
    exactly("60 mph to km/h", "96.56064 km / h");
    exactly("3 ft 2 in to cm", "96.52 cm");
    exactly("12 in to cm", "30.48 cm");
    exactly("255 in hex", "ff");
    exactly("1 hour + 30 min to min", "90 mins");
    about("72 °F to °C", "22.2222222222 °C");
}

#[test]
fn large_numbers_are_exact_up_to_a_length() {
    let Outcome { result, exact } = value("2^10000").unwrap();
    assert!(exact);
    assert_eq!(result.len(), 3_011);
    assert!(result.starts_with("19950631168807583848837421626835850838"));
    fails("10^6000", "6001 characters, 5000 are allowed");
    fails("10^6000", "to 20 sf");
}

#[test]
fn what_cannot_be_calculated_is_said() {
    fails("", "empty");
    fails("  = ", "empty");
    fails("2+", "cannot be evaluated");
    fails("(2+3", "not closed");
    fails("2+3)", "never opened");
    fails("(2+3]", "another kind");
    fails("1/0", "division by zero");
    fails("5 mod 0", "division by zero");
    fails("0^0", "zero to the power of zero");
    fails("()", "no value");
    fails("foo + 1", "unknown name 'foo'");
    fails("1,5 + 1", "\"1,5\" is no number");
    fails("max(1,2)", "one argument");
    fails("max(a, b)", "one argument");
    fails("1.2.3", "is no number");
    fails("5 USD to EUR", "currencies");
    fails("3 m + 2 s", "cannot be evaluated");
    fails("5 # 3", "character '#'");
    fails(&"1+".repeat(600), "1000 characters");
    fails(&format!("{}1{}", "(".repeat(DEPTH + 1), ")".repeat(DEPTH + 1)), "nested");
}

#[test]
fn only_arithmetic_is_evaluated() {
    for definition in ["a = 5", "x: x + 1", "\\x. x", "(λx. x x)(λx. x x)", "1; 2", "3 < 4", "1 << 100"] {
        fails(definition, "is not supported");
    }
    for other in ["today", "Tomorrow", "roll d20", "2d6", "d6", "sample 3", "print 3"] {
        fails(other, "no arithmetic");
    }
    fails("\"text\"", "character");
    fails("@2024-01-01", "character");
}

#[test]
fn what_is_too_big_ends_soon() {
    for big in [
        "2^(10^9)",
        "9!!!!!!",
        "9^9^9^9",
        "1e1000000000",
        "1.0000001^(10^9)",
        "(10^9)!",
        "fib(10^9)",
        "(10^9) choose 5",
        "2^0.00000001 * 3^(2^40)",
        "log2(3^(10^8))",
        "sqrt(2^(10^8) + 1)",
        "(1/7)^100000 + (1/13)^100000",
        "(1/7)^20000 + (1/13)^20000 - (1/11)^20000",
    ] {
        let started = tokio::time::Instant::now();
        fails(big, "too big");
        assert!(started.elapsed() < Duration::from_secs(15), "{big} {:?}", started.elapsed());
    }
}

#[test]
fn nesting_and_long_chains_do_no_harm() {
    exactly(&format!("{}1{}", "(".repeat(DEPTH), ")".repeat(DEPTH)), "1");
    exactly(&vec!["1"; 100].join("+"), "100");
    exactly(&vec!["1"; 100].join("*"), "1");
    exactly(&vec!["1"; 100].join("^"), "1");
    exactly(&format!("{}1", "-".repeat(998)), "1");
    // Forms that the evaluator's parser reads several times over.
    let started = tokio::time::Instant::now();
    for part in ["2 a (", "a(", "-2(", "2 sqrt(", "sqrt sqrt (", "light (", "1 kg (", "%("] {
        let _ = value(&format!("{}1 ^{}", part.repeat(DEPTH), ")".repeat(DEPTH)));
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

async fn call(expression: &str) -> Result<Value, ToolError> {
    match Calculate::new().into_tool().call(json!({ "expression": expression }), &context()).await?.content {
        Content::Json(value) => Ok(value),
        Content::Text(text) => panic!("text instead of JSON: {text}"),
    }
}

#[tokio::test]
async fn the_whole_answer() {
    let answer = json!({ "expression": "0.1 + 0.2", "result": "0.3", "exact": true });
    assert_eq!(call(" 0.1 + 0.2 ").await.unwrap(), answer);
    assert_eq!(failure(call("1/0").await), Failure::DivisionByZero.to_string());
    assert_eq!(failure(call("(").await), Rejected::Unbalanced("not closed").to_string());
}

#[tokio::test]
async fn nothing_remains_between_calls() {
    call("2 + 3").await.unwrap();
    for name in ["ans", "_"] {
        assert!(failure(call(name).await).contains("unknown name"), "{name}");
    }
}

#[tokio::test]
async fn other_work_goes_on_during_a_long_calculation_and_cancelling_ends_it() {
    let context = context();
    let calculator = Calculate::new();
    let tool = calculator.clone().into_tool();
    let long = tool.call(json!({ "expression": "fib(99000)" }), &context);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        context.cancellation.cancel();
    };
    let (ended, ()) = tokio::join!(long, cancel);
    assert_eq!(failure(ended), "the calculation was cancelled");
    // The thread gives its turn back soon after.
    let turns = tokio::time::timeout(Duration::from_secs(5), calculator.turns.acquire_many(4)).await;
    assert!(turns.is_ok_and(|turns| turns.is_ok()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn integers_agree_with_the_machine(a in -1_000_000_i64..1_000_000, b in -1_000_000_i64..1_000_000) {
        exactly(&format!("{a} + ({b})"), &(a + b).to_string());
        exactly(&format!("{a} * ({b}) - {a}"), &(a * b - a).to_string());
    }

    #[test]
    fn decimals_are_added_as_decimals(a in 0_u32..1_000_000, b in 0_u32..1_000_000) {
        let written = |n: u32| format!("{}.{:03}", n / 1_000, n % 1_000);
        let sum = written(a + b);
        let sum = sum.trim_end_matches('0').trim_end_matches('.');
        exactly(&format!("{} + {}", written(a), written(b)), sum);
    }

    #[test]
    fn no_text_breaks_it(text in "[0-9a-z+*/^()!%., √²π°-]{0,40}|\\PC{0,40}") {
        let _ = value(&text);
    }
}
