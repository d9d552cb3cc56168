//! From what people write to what the evaluator understands, and a refusal of what it must not be given.
//!
//! What passes is arithmetic: no definitions, no text, no dice, no dates. Commas are only ever thousands
//! separators, and parentheses are balanced and nested at most [`DEPTH`] deep, since the evaluator's parser tries
//! some of them several times over.

use std::iter::Peekable;
use std::str::Chars;

/// The longest expression, in characters.
const LENGTH: usize = 1_000;
/// Parentheses within parentheses.
pub(super) const DEPTH: usize = 12;

/// Names that the evaluator knows and that are no arithmetic.
const NOT_ARITHMETIC: [&str; 9] =
    ["today", "tomorrow", "yesterday", "roll", "sample", "print", "println", "version", "trans"];

/// Why an expression is not evaluated, in words for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Rejected {
    #[error("the expression is empty: write one such as 2 * (3 + 4)")]
    Empty,
    #[error("the expression has more than {LENGTH} characters: calculate it in parts")]
    TooLong,
    #[error("parentheses are nested more than {DEPTH} deep: calculate the expression in parts")]
    TooDeep,
    #[error("a parenthesis is {0}: count opening and closing ones")]
    Unbalanced(&'static str),
    #[error(
        "{0:?} is no number: a point separates decimals, a comma only groups thousands by three digits, as in 1,234.5, and a function takes one argument"
    )]
    Number(String),
    #[error("a comma stands outside a number: a function takes one argument only")]
    Comma,
    #[error(
        "{0:?} is not supported: there are no equations, comparisons or definitions of variables and functions, only expressions and =="
    )]
    Definition(char),
    #[error("{0:?} is not supported: dates, dice, random numbers and output are no arithmetic")]
    NotArithmetic(String),
    #[error("the character {0:?} is not understood in an expression")]
    Character(char),
}

/// The expression as the evaluator reads it.
pub(super) fn prepare(expression: &str) -> Result<String, Rejected> {
    let expression = expression.trim();
    if expression.chars().nth(LENGTH).is_some() {
        return Err(Rejected::TooLong);
    }
    let mut writer =
        Writer { rest: expression.chars().peekable(), out: String::new(), last: Last::Nothing, begin: 0 };
    let mut open: Vec<(char, usize)> = Vec::new();
    while let Some(next) = writer.rest.next() {
        match next {
            '(' | '[' | '{' => {
                open.push((next, writer.open()));
                if open.len() > DEPTH {
                    return Err(Rejected::TooDeep);
                }
            }
            ')' | ']' | '}' => {
                let (opened, begin) =
                    open.pop().ok_or(Rejected::Unbalanced("closed that was never opened"))?;
                if closing(opened) != next {
                    return Err(Rejected::Unbalanced("closed by one of another kind"));
                }
                writer.put(")", Last::Value);
                writer.begin = begin;
            }
            _ => writer.symbol(next)?,
        }
    }
    if !open.is_empty() {
        return Err(Rejected::Unbalanced("not closed"));
    }
    if writer.out.trim().is_empty() { Err(Rejected::Empty) } else { Ok(writer.out) }
}

fn closing(opened: char) -> char {
    match opened {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// What stands before the place in question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Number,
    /// A closing parenthesis, a factorial.
    Value,
    Word,
    Operator,
}

struct Writer<'e> {
    rest: Peekable<Chars<'e>>,
    out: String,
    last: Last,
    /// Where in `out` the operand begins that `last` ended.
    begin: usize,
}

impl Writer<'_> {
    fn put(&mut self, text: &str, last: Last) {
        self.out.push_str(text);
        self.last = last;
    }

    /// A number before a parenthesis is a product; the evaluator would read `1.5(3)` as a recurring decimal.
    /// Returns where the operand begins that the parenthesis will end, a function's name included.
    fn open(&mut self) -> usize {
        let begin = match self.last {
            Last::Number | Last::Value => {
                self.out.push('*');
                self.out.len()
            }
            Last::Word => self.begin,
            Last::Nothing | Last::Operator => self.out.len(),
        };
        self.put("(", Last::Operator);
        begin
    }

    /// Puts an operand that begins here.
    fn operand(&mut self, text: &str, last: Last) {
        self.begin = self.out.len();
        self.put(text, last);
    }

    fn symbol(&mut self, symbol: char) -> Result<(), Rejected> {
        match symbol {
            _ if symbol.is_whitespace() => self.out.push(' '),
            '0'..='9' => return self.number(symbol),
            '.' if self.rest.peek().is_some_and(char::is_ascii_digit) => return self.number(symbol),
            '*' if self.rest.next_if_eq(&'*').is_some() => self.put("^", Last::Operator),
            '*' | '×' | '·' | '⋅' | '∗' | '✕' => self.put("*", Last::Operator),
            '/' | '÷' | '∕' | '⁄' => self.put("/", Last::Operator),
            '-' | '−' | '–' | '—' => self.put("-", Last::Operator),
            '+' | '^' | '&' | '|' => self.put(symbol.encode_utf8(&mut [0; 4]), Last::Operator),
            '!' if self.rest.next_if_eq(&'=').is_some() => self.put(" != ", Last::Operator),
            '≠' => self.put(" != ", Last::Operator),
            '!' => self.put("!", Last::Value),
            '=' if self.rest.next_if_eq(&'=').is_some() => self.put(" == ", Last::Operator),
            '=' => return self.end_of_question(),
            '%' => self.percent(),
            '½' | '⅓' | '⅔' | '¼' | '¾' | '⅛' | '⅜' | '⅝' | '⅞' => self.fraction(symbol),
            '√' => return self.root("sqrt"),
            '∛' => return self.root("cbrt"),
            '⁻' => return self.superscript(symbol),
            _ if superscript_digit(symbol).is_some() => return self.superscript(symbol),
            ',' => return Err(Rejected::Comma),
            ':' | '\\' | 'λ' | ';' | '<' | '>' | '≤' | '≥' => return Err(Rejected::Definition(symbol)),
            _ if is_word(symbol) => return self.word(symbol),
            _ => return Err(Rejected::Character(symbol)),
        }
        Ok(())
    }

    /// `2 + 2 =` and `2 + 2 = ?` are questions; anything else with an equals sign is an equation.
    fn end_of_question(&mut self) -> Result<(), Rejected> {
        if self.rest.by_ref().all(|rest| rest.is_whitespace() || rest == '?') {
            Ok(())
        } else {
            Err(Rejected::Definition('='))
        }
    }

    fn number(&mut self, first: char) -> Result<(), Rejected> {
        if self.last == Last::Value {
            // `(2)3`: the evaluator knows no product of a parenthesis and a number behind it.
            self.out.push('*');
        }
        let text = self.number_text(first)?;
        self.operand(&text, Last::Number);
        Ok(())
    }

    /// `15% of 80` and `17 % 5` are the evaluator's own; every other per cent sign divides what stands before it.
    fn percent(&mut self) {
        let mut ahead = self.rest.clone().skip_while(|next| next.is_whitespace()).peekable();
        let word: String = std::iter::from_fn(|| ahead.next_if(|next| next.is_alphabetic())).collect();
        let is_modulo =
            ahead.peek().is_some_and(|next| word.is_empty() && (next.is_ascii_digit() || *next == '('));
        let follows_operand = matches!(self.last, Last::Number | Last::Value);
        if word == "of" || is_modulo || !follows_operand {
            self.put("% ", Last::Operator);
        } else {
            self.out.insert(self.begin, '(');
            self.put("/100)", Last::Value);
        }
    }

    /// `½`, and `3½` as one number.
    fn fraction(&mut self, symbol: char) {
        let fraction = match symbol {
            '½' => "1/2",
            '⅓' => "1/3",
            '⅔' => "2/3",
            '¼' => "1/4",
            '¾' => "3/4",
            '⅛' => "1/8",
            '⅜' => "3/8",
            '⅝' => "5/8",
            _ => "7/8",
        };
        if self.last == Last::Number && !self.out.ends_with(' ') {
            self.out.insert(self.begin, '(');
            self.put(&format!("+{fraction})"), Last::Value);
        } else {
            self.operand(&format!("({fraction})"), Last::Value);
        }
    }

    fn number_text(&mut self, first: char) -> Result<String, Rejected> {
        let mut text = String::from(first);
        if first == '0' && self.rest.peek().is_some_and(|next| matches!(next, 'x' | 'b' | 'o')) {
            while let Some(digit) = self.rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '_') {
                text.push(digit);
            }
            return Ok(text);
        }
        loop {
            self.skip_narrow_space(&text);
            match self.rest.next_if(|next| next.is_ascii_digit() || matches!(next, ',' | '.' | '_')) {
                Some(next) => text.push(next),
                None => break,
            }
        }
        let plain = grouped(&text).ok_or_else(|| Rejected::Number(text.clone()))?;
        let mut number = if plain.starts_with('.') { format!("0{plain}") } else { plain };
        self.exponent(&mut number);
        if self.rest.peek() == Some(&'d') && self.peek_second().is_some_and(|next| next.is_ascii_digit()) {
            return Err(Rejected::NotArithmetic(format!("{text}d")));
        }
        Ok(number)
    }

    /// Spaces that typesetters put between groups of three digits.
    fn skip_narrow_space(&mut self, before: &str) {
        let narrow = |c: char| matches!(c, '\u{a0}' | '\u{2009}' | '\u{202f}');
        let mut ahead = self.rest.clone();
        let is_group = ahead.next().is_some_and(narrow)
            && (0..3).all(|_| ahead.next().is_some_and(|next| next.is_ascii_digit()))
            && !ahead.next().is_some_and(|next| next.is_ascii_digit());
        if is_group && before.ends_with(|last: char| last.is_ascii_digit()) {
            self.rest.next();
        }
    }

    fn exponent(&mut self, number: &mut String) {
        let mut ahead = self.rest.clone();
        if !ahead.next().is_some_and(|next| matches!(next, 'e' | 'E')) {
            return;
        }
        let sign = ahead.next_if(|next| matches!(next, '+' | '-' | '−'));
        let mut digits = String::new();
        while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        if digits.is_empty() {
            return;
        }
        let sign = if matches!(sign, Some('-' | '−')) { "-" } else { "" };
        number.push('e');
        number.push_str(sign);
        number.push_str(&digits);
        self.rest = ahead;
    }

    fn word(&mut self, first: char) -> Result<(), Rejected> {
        if matches!(first, 'x' | 'X') && self.is_times_sign() {
            self.put("*", Last::Operator);
            return Ok(());
        }
        if first == 'π' {
            self.operand(" pi ", Last::Word);
            return Ok(());
        }
        let mut word = String::from(first);
        if !stands_alone(first) {
            while let Some(next) =
                self.rest.next_if(|next| next.is_alphanumeric() && *next != 'π' || *next == '_')
            {
                word.push(next);
            }
        }
        let lower = word.to_lowercase();
        let is_die =
            lower.strip_prefix('d').is_some_and(|faces| faces.starts_with(|c: char| c.is_ascii_digit()));
        if is_die || NOT_ARITHMETIC.contains(&lower.as_str()) {
            return Err(Rejected::NotArithmetic(word));
        }
        let is_inch = word == "in" && self.last == Last::Number && self.ends_a_quantity();
        self.operand(if is_inch { "inches" } else { &word }, Last::Word);
        Ok(())
    }

    /// Whether a unit may stand here: nothing follows, an operator, or a conversion.
    fn ends_a_quantity(&self) -> bool {
        let mut ahead = self.rest.clone().skip_while(|next| next.is_whitespace()).peekable();
        let word: String = std::iter::from_fn(|| ahead.next_if(|next| next.is_alphabetic())).collect();
        match word.as_str() {
            "" => !ahead.peek().is_some_and(|next| next.is_alphanumeric() || matches!(next, '°' | '%')),
            "to" | "in" | "as" => true,
            _ => false,
        }
    }

    /// An x between two factors: `3 x 4`, `3x(4)`.
    fn is_times_sign(&self) -> bool {
        let next = self.rest.clone().find(|next| !next.is_whitespace());
        matches!(self.last, Last::Number | Last::Value)
            && next.is_some_and(|next| next.is_ascii_digit() || matches!(next, '(' | '.'))
    }

    /// A root sign with the number, name or parenthesis behind it.
    fn root(&mut self, function: &str) -> Result<(), Rejected> {
        if matches!(self.last, Last::Number | Last::Value) {
            self.out.push('*');
        }
        self.operand(function, Last::Word);
        let begin = self.begin;
        while self.rest.next_if(|next| next.is_whitespace()).is_some() {}
        if let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            let operand = self.number_text(digit)?;
            self.put(&format!("({operand})"), Last::Value);
            self.begin = begin;
        } else {
            self.out.push(' ');
        }
        Ok(())
    }

    fn superscript(&mut self, first: char) -> Result<(), Rejected> {
        let mut power = String::new();
        let mut next = Some(first);
        while let Some(symbol) = next {
            match superscript_digit(symbol) {
                Some(digit) => power.push(digit),
                None if power.is_empty() => power.push('-'),
                None => return Err(Rejected::Character(symbol)),
            }
            next = self.rest.next_if(|next| *next == '⁻' || superscript_digit(*next).is_some());
        }
        if power == "-" {
            return Err(Rejected::Character(first));
        }
        self.put(&format!("^({power})"), Last::Value);
        Ok(())
    }

    fn peek_second(&self) -> Option<char> {
        self.rest.clone().nth(1)
    }
}

/// The digits without their separators, or `None` when a separator is not one of thousands.
fn grouped(text: &str) -> Option<String> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let fraction_is_plain = fraction.is_none_or(|fraction| {
        !fraction.is_empty() && !fraction.contains(['.', ',']) && !fraction.ends_with('_')
    });
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let has_groups = whole.contains(',');
    let groups_fit = groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()));
    let first_fits = !has_groups || (1..=3).contains(&first.len());
    let separators_between_digits = !text.starts_with('_') && !whole.ends_with('_') && !text.contains("__");
    (fraction_is_plain && groups_fit && first_fits && separators_between_digits)
        .then(|| text.chars().filter(|c| !matches!(c, ',' | '_')).collect())
}

fn superscript_digit(symbol: char) -> Option<char> {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = digits.iter().position(|digit| *digit == symbol)?;
    char::from_digit(u32::try_from(digit).ok()?, 10)
}

fn is_word(symbol: char) -> bool {
    symbol.is_alphabetic() || stands_alone(symbol) || matches!(symbol, '_' | '°' | '℃' | '℉')
}

/// Signs that are names by themselves.
fn stands_alone(symbol: char) -> bool {
    matches!(symbol, '‰' | '$' | '€' | '£' | '¥')
}
