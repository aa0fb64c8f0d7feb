//! Expressions on states: `openat`, `duration > 10ms`, `thread == 12 && state matches wait.*`.
//!
//! The grammar is that of the filter box of viewers: comparisons joined by `&&` and `||`, `!` and
//! parentheses. A text alone is searched in all facts of a state. For viewers, what is not an expression is
//! such a text; for the page it is an error. Used by: `matching.rs`, and the time graphs of `tsp/`.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};

/// The tags of states that do not fulfil an expression, by its key in the request.
pub(crate) const DIMMED: i32 = 1;
pub(crate) const EXCLUDED: i32 = 4;

/// Bytes that a pattern may take when it is compiled.
const MAX_PATTERN: usize = 1 << 20;

/// Depth of parentheses.
const MAX_NESTED: usize = 50;

/// Expressions of one request, and bytes of one of them.
const MAX_EXPRESSIONS: usize = 64;
const MAX_EXPRESSION: usize = 4096;

/// The facts of a state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    /// Names and values: `state`, `label`, `host`, `process`, `thread` …
    pub(crate) texts: &'a [(&'a str, &'a str)],
    /// ns.
    pub(crate) duration: i64,
}

#[derive(Debug, Clone)]
enum Expression {
    Any(Vec<Expression>),
    All(Vec<Expression>),
    Not(Box<Expression>),
    /// Some text contains this one.
    Text(String),
    /// A field, and the test of its value.
    Field(String, Test),
}

#[derive(Debug, Clone)]
enum Test {
    Is(String),
    IsNot(String),
    Contains(String),
    Matches(Regex),
    Present,
    /// A comparison with a number.
    Number(fn(&i64, &i64) -> bool, i64),
}

/// The expressions of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Tags of states that do not fulfil them, expressions.
    expressions: Vec<(i32, Expression)>,
}

impl Filter {
    /// By the keys of a request: `1` dims states that do not fulfil it, `4` leaves them out.
    pub(crate) fn of(map: &BTreeMap<String, Vec<String>>) -> Self {
        let mut expressions = Vec::new();
        for (key, texts) in map {
            let Ok(tag @ (DIMMED | EXCLUDED)) = key.parse() else { continue };
            for text in texts.iter().filter(|text| !text.trim().is_empty() && text.len() <= MAX_EXPRESSION) {
                expressions.push((tag, parse(text)));
            }
        }
        expressions.truncate(MAX_EXPRESSIONS);
        Self { expressions }
    }

    /// One expression; `None` if the text is not one.
    pub(crate) fn expression(text: &str) -> Option<Self> {
        let parsed = if text.len() <= MAX_EXPRESSION { parsed(text) } else { None };
        Some(Self { expressions: vec![(EXCLUDED, parsed?)] })
    }

    /// Whether it asks how long states are.
    pub(crate) fn asks_duration(&self) -> bool {
        self.expressions.iter().any(|(_, it)| it.asks_duration())
    }

    /// Whether it asks for what only the states themselves have, and not the levels of zoom: their labels.
    pub(crate) fn asks_label(&self) -> bool {
        self.expressions.iter().any(|(_, it)| it.asks_label(false))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    /// The tags of a state: 0 if it fulfils all.
    pub(crate) fn tags(&self, facts: Facts<'_>) -> i32 {
        self.expressions.iter().filter(|(_, it)| !it.holds(facts)).fold(0, |tags, (tag, _)| tags | tag)
    }
}

impl Expression {
    fn asks_duration(&self) -> bool {
        match self {
            Self::Any(of) | Self::All(of) => of.iter().any(Self::asks_duration),
            Self::Not(it) => it.asks_duration(),
            Self::Text(_) => false,
            Self::Field(name, _) => name.eq_ignore_ascii_case("duration"),
        }
    }

    /// A text that is found elsewhere is found, but one that is nowhere else may be in the label.
    fn asks_label(&self, is_negated: bool) -> bool {
        match self {
            Self::Any(of) | Self::All(of) => of.iter().any(|it| it.asks_label(is_negated)),
            Self::Not(it) => it.asks_label(!is_negated),
            Self::Text(_) => is_negated,
            Self::Field(name, _) => ["label", "name"].iter().any(|it| name.eq_ignore_ascii_case(it)),
        }
    }

    fn holds(&self, facts: Facts<'_>) -> bool {
        match self {
            Self::Any(of) => of.iter().any(|it| it.holds(facts)),
            Self::All(of) => of.iter().all(|it| it.holds(facts)),
            Self::Not(it) => !it.holds(facts),
            Self::Text(text) => facts.texts.iter().any(|(_, value)| contains(value, text)),
            Self::Field(name, test) => {
                if name.eq_ignore_ascii_case("duration") {
                    return test.holds(&facts.duration.to_string(), Some(facts.duration));
                }
                let named = facts.texts.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
                named.is_some_and(|(_, value)| test.holds(value, value.parse().ok()))
            }
        }
    }
}

impl Test {
    fn holds(&self, value: &str, number: Option<i64>) -> bool {
        match self {
            Self::Is(text) => value.eq_ignore_ascii_case(text) || number.is_some() && number == amount(text),
            Self::IsNot(text) => {
                !value.eq_ignore_ascii_case(text) && (number.is_none() || number != amount(text))
            }
            Self::Contains(text) => contains(value, text),
            Self::Matches(pattern) => pattern.is_match(value),
            Self::Present => !value.is_empty(),
            Self::Number(compare, limit) => number.is_some_and(|number| compare(&number, limit)),
        }
    }
}

fn contains(value: &str, text: &str) -> bool {
    value.to_lowercase().contains(&text.to_lowercase())
}

/// A number, or a duration with its unit, ns.
fn amount(text: &str) -> Option<i64> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(text.len());
    let unit = match text[split..].trim() {
        "" | "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let number: f64 = text[..split].parse().ok()?;
    Some((number * unit) as i64)
}

/// A pattern that finds text anywhere, whatever the case; what is not a regular expression is searched as it
/// is.
pub(crate) fn pattern(text: &str) -> Option<Regex> {
    let build =
        |text: &str| RegexBuilder::new(text).case_insensitive(true).size_limit(MAX_PATTERN).build().ok();
    build(text).or_else(|| build(&regex::escape(text)))
}

fn parse(text: &str) -> Expression {
    parsed(text).unwrap_or_else(|| Expression::Text(text.trim().to_owned()))
}

/// A text as an expression, if it is one.
fn parsed(text: &str) -> Option<Expression> {
    let mut words = Words { rest: text };
    any(&mut words, 0).filter(|_| words.rest.trim().is_empty())
}

fn any(words: &mut Words<'_>, depth: usize) -> Option<Expression> {
    joined(
        words,
        "||",
        |words| joined(words, "&&", |words| one(words, depth), Expression::All),
        Expression::Any,
    )
}

/// One expression, or several with a sign between them.
fn joined(
    words: &mut Words<'_>,
    sign: &str,
    part: impl Fn(&mut Words<'_>) -> Option<Expression>,
    join: fn(Vec<Expression>) -> Expression,
) -> Option<Expression> {
    let mut parts = vec![part(words)?];
    while words.takes(sign) {
        parts.push(part(words)?);
    }
    Some(if parts.len() == 1 { parts.remove(0) } else { join(parts) })
}

fn one(words: &mut Words<'_>, depth: usize) -> Option<Expression> {
    if depth > MAX_NESTED {
        return None;
    }
    if words.takes("!") {
        return Some(Expression::Not(Box::new(one(words, depth + 1)?)));
    }
    if words.takes("(") {
        let inside = any(words, depth + 1)?;
        return words.takes(")").then_some(inside);
    }
    let name = words.word()?;
    for (sign, test) in SIGNS {
        if words.takes(sign) {
            let value = words.word()?;
            return test(value).map(|test| Expression::Field(name, test));
        }
    }
    if words.takes_word("present") {
        return Some(Expression::Field(name, Test::Present));
    }
    if words.takes_word("contains") {
        return words.word().map(|value| Expression::Field(name, Test::Contains(value)));
    }
    if words.takes_word("matches") {
        return pattern(&words.word()?).map(|it| Expression::Field(name, Test::Matches(it)));
    }
    Some(Expression::Text(name))
}

type MakeTest = fn(String) -> Option<Test>;

/// Signs of comparisons, longer ones first.
const SIGNS: [(&str, MakeTest); 7] = [
    ("==", |text| Some(Test::Is(text))),
    ("!=", |text| Some(Test::IsNot(text))),
    ("<=", |text| amount(&text).map(|limit| Test::Number(i64::le, limit))),
    (">=", |text| amount(&text).map(|limit| Test::Number(i64::ge, limit))),
    ("=", |text| Some(Test::Is(text))),
    ("<", |text| amount(&text).map(|limit| Test::Number(i64::lt, limit))),
    (">", |text| amount(&text).map(|limit| Test::Number(i64::gt, limit))),
];

/// The rest of an expression, taken word by word.
struct Words<'t> {
    rest: &'t str,
}

impl Words<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start();
        let taken = rest.strip_prefix(sign);
        self.rest = taken.unwrap_or(rest);
        taken.is_some()
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let before = self.rest;
        let is_it = self.word().is_some_and(|it| it == word);
        if !is_it {
            self.rest = before;
        }
        is_it
    }

    /// A word, or the text in quotation marks.
    fn word(&mut self) -> Option<String> {
        let rest = self.rest.trim_start();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (word, rest) = quoted.split_once('"')?;
            self.rest = rest;
            return Some(word.to_owned());
        }
        let is_end = |c: char| c.is_whitespace() || "=!<>&|()\"".contains(c);
        let end = rest.find(is_end).unwrap_or(rest.len());
        let word = &rest[..end];
        self.rest = &rest[end..];
        (!word.is_empty()).then(|| word.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> bool {
        let texts =
            [("state", "syscall"), ("label", "openat"), ("host", "h1"), ("process", "ls"), ("thread", "12")];
        parse(text).holds(Facts { texts: &texts, duration: 12_000_000 })
    }

    #[test]
    fn expressions_of_the_filter_box() {
        for text in [
            "openat",
            "OPENAT",
            "duration>10ms",
            "duration >= 12ms",
            "duration == 12000000",
            "thread=12 && process == ls",
            "thread==1||host==h1",
            "!(state == usermode)",
            "label matches open.*",
            "label contains pen",
            "host present",
            "process != cat",
            "thread < 13",
            "\"openat\"",
            "state == \"syscall\"",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in [
            "read",
            "duration>12ms",
            "thread=1",
            "process=ls && host=h2",
            "!openat",
            "nothing == 1",
            "cpu present",
            "label matches ^pen",
            "((((",
            "duration > much",
        ] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn keys_say_what_becomes_of_the_others() {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, text)| ((*key).to_owned(), vec![(*text).to_owned()])).collect()
        };
        let tags = |pairs: &[(&str, &str)]| {
            let facts = Facts { texts: &[("label", "read")], duration: 1 };
            Filter::of(&map(pairs)).tags(facts)
        };
        assert_eq!(tags(&[]), 0);
        assert_eq!(tags(&[("1", "read")]), 0);
        assert_eq!(tags(&[("1", "write")]), 1);
        assert_eq!(tags(&[("1", "write"), ("4", "open")]), 5);
        assert_eq!(tags(&[("2", "write"), ("x", "write"), ("4", " ")]), 0);
    }

    #[test]
    fn nesting_is_bounded() {
        assert!(!holds(&"(".repeat(4000)));
        assert!(!holds(&"!".repeat(4000)));
    }
}
