//! How large the numbers of a calculation can get, told before it runs.
//!
//! The evaluator compares fractions without a way to stop it, in a time that grows with the square of their size;
//! so what could grow beyond [`BITS`] is not begun. The walk is cheap and works on estimates: what it does not
//! understand is left to the evaluator, whose steps and time are bounded as well.

use std::iter::Peekable;
use std::str::Chars;

/// The largest numerator and denominator together, in bits: about 30,000 digits.
const BITS: f64 = 100_000.0;

/// A number on the way: about its value, when that can be told, and at most how many bits it takes.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    value: Option<f64>,
    bits: f64,
}

/// A number is larger than [`BITS`], or nobody can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(String),
    Word(String),
    Sign(char),
}

/// Binding powers, from loose to tight.
const CONVERSION: u8 = 1;
const COMPARISON: u8 = 2;
const BITWISE: u8 = 3;
const SUM: u8 = 5;
const PRODUCT: u8 = 7;
const POWER: u8 = 11;

/// Walks over an expression that [`super::prepare::prepare`] accepted.
pub(super) fn check(prepared: &str) -> Result<(), TooLarge> {
    let mut walk = Walk { tokens: tokens(prepared).into_iter().peekable() };
    loop {
        walk.expression(0)?;
        // A stray token makes no expression; the evaluator says so, and what follows is looked at all the same.
        if walk.tokens.next().is_none() {
            return Ok(());
        }
    }
}

fn tokens(prepared: &str) -> Vec<Token> {
    let mut rest = prepared.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(next) = rest.next() {
        if next.is_ascii_digit() {
            tokens.push(Token::Number(number(next, &mut rest)));
        } else if next.is_alphabetic() || next == '_' {
            let mut word = String::from(next);
            while let Some(next) = rest.next_if(|next| next.is_alphanumeric() || *next == '_') {
                word.push(next);
            }
            tokens.push(Token::Word(word));
        } else if !next.is_whitespace() {
            tokens.push(Token::Sign(next));
        }
    }
    tokens
}

fn number(first: char, rest: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::from(first);
    while let Some(next) = rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '.') {
        text.push(next);
        if matches!(next, 'e' | 'E') && !text.starts_with("0x") {
            text.extend(rest.next_if_eq(&'-'));
        }
    }
    text
}

struct Walk {
    tokens: Peekable<std::vec::IntoIter<Token>>,
}

impl Walk {
    fn expression(&mut self, least: u8) -> Result<Estimate, TooLarge> {
        let mut left = self.operand()?;
        loop {
            let Some(next) = self.tokens.peek().cloned() else { return Ok(left) };
            if next == Token::Sign('!') {
                self.tokens.next();
                if self.tokens.next_if_eq(&Token::Sign('=')).is_none() {
                    left = left.factorial()?;
                    continue;
                }
                if COMPARISON < least {
                    return Ok(left);
                }
                self.expression(COMPARISON + 1)?;
                continue;
            }
            let Some((power, written)) = binding(&next) else { return Ok(left) };
            if power < least {
                return Ok(left);
            }
            if written {
                self.tokens.next();
            }
            let right = self.expression(if power == POWER { power } else { power + 1 })?;
            left = left.with(&next, right)?;
        }
    }

    fn operand(&mut self) -> Result<Estimate, TooLarge> {
        let mut negative = false;
        let mut signed = false;
        while let Some(sign) = self.tokens.next_if(|next| matches!(next, Token::Sign('-' | '+' | '/'))) {
            negative ^= sign == Token::Sign('-');
            signed = true;
        }
        if signed {
            let operand = self.expression(POWER)?;
            return Ok(if negative { operand.map(|value| -value) } else { operand });
        }
        match self.tokens.next() {
            Some(Token::Number(text)) => Estimate::literal(&text),
            Some(Token::Word(word)) => self.word(&word),
            Some(Token::Sign('(')) => {
                let inner = self.expression(0)?;
                self.tokens.next_if_eq(&Token::Sign(')'));
                Ok(inner)
            }
            _ => Ok(Estimate::UNKNOWN),
        }
    }

    fn word(&mut self, word: &str) -> Result<Estimate, TooLarge> {
        if let Some(constant) = constant(word) {
            return Ok(Estimate { value: Some(constant), bits: 128.0 });
        }
        let Some(function) = function(word) else { return Ok(Estimate::UNKNOWN) };
        let argument = self.expression(POWER)?;
        match word {
            "fib" | "fibonacci" => argument.grown(argument.magnitude(), function),
            "exp" => argument.grown(argument.magnitude() * 64.0, function),
            "square" => argument.grown(argument.bits * 2.0, function),
            "cubic" => argument.grown(argument.bits * 3.0, function),
            _ => argument.grown(argument.bits + 1_100.0, function),
        }
    }
}

/// How tight a token binds what stands on its sides, and whether it is written; a missing sign is a product.
fn binding(token: &Token) -> Option<(u8, bool)> {
    match token {
        Token::Sign('^') => Some((POWER, true)),
        Token::Sign('*' | '/' | '%') => Some((PRODUCT, true)),
        Token::Sign('+' | '-') => Some((SUM, true)),
        Token::Sign('&' | '|') => Some((BITWISE, true)),
        Token::Sign('=') => Some((COMPARISON, true)),
        Token::Word(word) => match word.as_str() {
            "to" | "in" | "as" => Some((CONVERSION, true)),
            "mod" | "per" | "of" => Some((PRODUCT, true)),
            "and" | "AND" | "or" | "OR" | "xor" | "XOR" | "choose" | "nCr" | "permute" | "nPr" => {
                Some((BITWISE, true))
            }
            _ => Some((PRODUCT, false)),
        },
        Token::Number(_) | Token::Sign('(') => Some((PRODUCT, false)),
        Token::Sign(_) => None,
    }
}

fn constant(word: &str) -> Option<f64> {
    match word {
        "pi" => Some(std::f64::consts::PI),
        "tau" => Some(std::f64::consts::TAU),
        "e" => Some(std::f64::consts::E),
        "phi" => Some(1.618_033_988_749_895),
        _ => None,
    }
}

fn function(word: &str) -> Option<fn(f64) -> f64> {
    Some(match word {
        "sqrt" => f64::sqrt,
        "cbrt" => f64::cbrt,
        "abs" => f64::abs,
        "floor" => f64::floor,
        "ceil" => f64::ceil,
        "round" => f64::round,
        "ln" => f64::ln,
        "log" | "log10" => f64::log10,
        "log2" => f64::log2,
        "exp" => f64::exp,
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "square" => |value| value.powi(2),
        "cubic" => |value| value.powi(3),
        "fib" | "fibonacci" => |value| 1.618_f64.powf(value),
        _ => return None,
    })
}

impl Estimate {
    /// A unit, or what the walk does not know.
    const UNKNOWN: Self = Self { value: None, bits: 256.0 };

    fn literal(text: &str) -> Result<Self, TooLarge> {
        const BITS_PER_DIGIT: f64 = 4.0;
        let digits = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
        let exponent = text.split_once(['e', 'E']).and_then(|(_, exponent)| exponent.parse::<f64>().ok());
        let value = match text.strip_prefix("0x") {
            Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok().map(f64::from),
            None => text.parse().ok(),
        };
        Self { value, bits: 0.0 }.sized((digits + exponent.unwrap_or(0.0).abs()) * BITS_PER_DIGIT)
    }

    fn sized(self, bits: f64) -> Result<Self, TooLarge> {
        // Not a number is too large as well.
        if bits <= BITS { Ok(Self { bits, ..self }) } else { Err(TooLarge) }
    }

    fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self { value: self.value.map(change), ..self }
    }

    fn grown(self, bits: f64, function: fn(f64) -> f64) -> Result<Self, TooLarge> {
        self.map(function).sized(bits)
    }

    /// How far a number can be from zero; without a bound when nobody can tell.
    fn magnitude(self) -> f64 {
        self.value.map_or(f64::INFINITY, f64::abs)
    }

    fn factorial(self) -> Result<Self, TooLarge> {
        let n = self.magnitude();
        let value = (n < 170.0).then(|| (1..=170).map(f64::from).take_while(|factor| *factor <= n).product());
        Self { value: value.or(Some(f64::INFINITY)), bits: 0.0 }.sized(n * n.max(2.0).log2())
    }

    fn with(self, operator: &Token, right: Self) -> Result<Self, TooLarge> {
        let both = |change: fn(f64, f64) -> f64| Self {
            value: self.value.zip(right.value).map(|(left, right)| change(left, right)),
            bits: 0.0,
        };
        let bits = self.bits + right.bits;
        match operator {
            Token::Sign('^') => {
                // Powers of 0, 1 and -1 stay small whatever the exponent is.
                let stays =
                    self.value.is_some_and(|value| [0.0, 1.0, -1.0].contains(&value)) && self.bits <= 64.0;
                let factor = if stays { 1.0 } else { right.magnitude().max(1.0) };
                both(f64::powf).sized(self.bits * factor)
            }
            Token::Sign('+') => both(|left, right| left + right).sized(bits),
            Token::Sign('-') => both(|left, right| left - right).sized(bits),
            Token::Sign('/') => both(|left, right| left / right).sized(bits),
            Token::Sign('%') => both(|left, right| left % right).sized(bits),
            Token::Word(word) => match word.as_str() {
                "to" | "in" | "as" => Ok(self),
                "mod" => both(|left, right| left % right).sized(bits),
                "per" => both(|left, right| left / right).sized(bits),
                "choose" | "nCr" | "permute" | "nPr" => self.factorial(),
                "and" | "AND" | "or" | "OR" | "xor" | "XOR" => both(f64::max).sized(bits),
                _ => both(|left, right| left * right).sized(bits),
            },
            _ => both(|left, right| left * right).sized(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_calculations_pass() {
        for expression in [
            "1+2*3",
            "2^10000",
            "10^5000",
            "2^-3",
            "-2^2",
            "2^0.5",
            "1.05^30",
            "25!",
            "1000!",
            "10 choose 3",
            "e^10",
            "1^(10^9)",
            "2^(3 - 10^9*0)",
            "5 km^2 to m^2",
            "15% of 80",
            "17 % 5",
            "log10(10^5000)",
            "6.02e23*2",
            "2^2^2^2",
            "sqrt(2)^3",
            "0x10",
            "3 != 4",
            "3 == 3",
            "(1+",
            "* 3",
        ] {
            assert_eq!(check(expression), Ok(()), "{expression}");
        }
    }

    #[test]
    fn what_grows_beyond_all_bounds_does_not() {
        for expression in [
            "2^(10^9)",
            "2^10^9",
            "9!!",
            "(10^8)!",
            "1e1000000000",
            "(1/7)^100000",
            "1.0000001^(10^9)",
            "2^(1/(1 - 0.999999999))",
            "fib(10^9)",
            "fib 1000000",
            "exp(10^9)",
            "(10^9) choose 5",
            "2^(1 km / mm)",
            "2^2^2^2^2^2",
            "((10^5000)^5000)^5000",
            "1 + 2*(3 - 2^(10^9))",
            "sqrt(2^(10^8))",
            "3 != 2^(10^9)",
            ") 2^(10^9)",
            "-2^(10^9)",
            "2^-(10^9)",
            "5 to 2^(10^9)",
        ] {
            assert_eq!(check(expression), Err(TooLarge), "{expression}");
        }
    }
}
