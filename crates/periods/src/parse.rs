//! Reads expressions: recursive descent, one method for each rule.
//!
//! Words are names and numbers; a name may have any letters, digits and `_ $ . : -`, as fields of traces do.

use wildmatch::WildMatch;

use crate::expr::{Expr, Operand, Operator, Whose};
use crate::field::{Field, FieldScope, Fields};
use crate::value::Value;

/// Expressions in parentheses, and `!`, may be nested so deep.
const MAX_DEPTH: usize = 100;

/// An expression has this many comparisons: each event may have to be held against all of them.
const MAX_COMPARISONS: usize = 1000;

/// What expressions look like.
const FORMS: &str =
    "a condition looks like `prev_tid == 199 && $host == \"h2\"`, with && || ! ( ) and == != < <= > >= =*";

/// Why a text is no expression, or no definition of a period.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// Something follows that does not belong there.
    #[error("unexpected `{0}`; {FORMS}")]
    Unexpected(String),
    /// An operand is missing.
    #[error("a field or a value is missing before `{0}`; {FORMS}")]
    NoOperand(String),
    /// An operand stands alone.
    #[error("a comparison is missing behind `{0}`; {FORMS}")]
    NoOperator(String),
    /// A parenthesis is not closed.
    #[error("a `)` is missing; {FORMS}")]
    Unclosed,
    /// A text is not closed.
    #[error("a `\"` is missing")]
    Unquoted,
    /// `=*` with something that is no pattern.
    #[error("`=*` wants a text in quotes behind it, in which `*` and `?` are patterns")]
    NoPattern,
    /// A word with `$` that means nothing.
    #[error(
        "`{0}` is not known; there are $evt.FIELD, $evt.$name, $evt.$payload.FIELD, $evt.$ctx.FIELD, $evt.$stream_ctx.FIELD, $evt.$pkt_ctx.FIELD, the same after $begin. and $parent.$begin., and $host, $event, $cpu"
    )]
    UnknownWord(String),
    /// A scope that is not read.
    #[error(
        "`{0}`: heads of events and packets are not read; there are $payload, $ctx, $stream_ctx and $pkt_ctx"
    )]
    NoHeads(String),
    /// Nested too deep.
    #[error("it is nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// Too many comparisons.
    #[error(
        "it has more than {MAX_COMPARISONS} comparisons: a pattern (`=* \"a*\"`) or a range stands for many"
    )]
    TooLong,
    /// A condition on one event that names another.
    #[error("`$begin` and `$parent` are of periods: here there is one event only")]
    NoPeriod,
    /// A definition without its parts.
    #[error("`{0}`: a period looks like `NAME(PARENT) : BEGIN : END`, or `NAME : BEGIN`")]
    NoDefinition(String),
    /// Captures without their parts.
    #[error("`{0}`: captures look like `NAME : irq = $evt.irq, $evt.$name : ret = $evt.ret`")]
    NoCaptures(String),
    /// A name that is no name.
    #[error("`{0}` is not a name: give letters, digits and `_`, not a digit first")]
    NoName(String),
    /// A period of that name is not defined, or not yet.
    #[error("no period `{0}` is defined before")]
    UnknownPeriod(String),
    /// Two periods of one name.
    #[error("period `{0}` is defined twice")]
    Redefined(String),
    /// `$parent` in a period that has none.
    #[error("`$parent` needs a period with a parent: `NAME(PARENT) : …`")]
    NoParent,
    /// Too many definitions.
    #[error("more than {0} periods")]
    TooMany(usize),
    /// The part of a definition that is wrong.
    #[error("period `{name}`: {source}")]
    In {
        /// The name of the period.
        name: String,
        /// What is wrong.
        source: Box<SyntaxError>,
    },
}

/// In the order in which they are tried: the longer ones first.
const OPERATORS: [(&str, Operator); 6] = [
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// Matches as `==` does, where a pattern is: the word of lttng-analyses.
const PATTERN: &str = "=*";

impl Field {
    /// Reads a field of the event at hand: a name, or one of the words above.
    ///
    /// # Errors
    /// It is none, or of another event than the one at hand.
    ///
    /// ```
    /// use isochrone_periods::{Field, FieldScope};
    ///
    /// assert_eq!(Field::parse("$host"), Ok(Field::Host));
    /// assert_eq!(Field::parse("$ctx.tid"), Ok(Field::Named(FieldScope::Context, "tid".to_owned())));
    /// ```
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut fields = Fields::default();
        match Parser::new(text, &mut fields).whole_field()? {
            (Whose::Event, number) => fields.get(number).cloned().ok_or(SyntaxError::NoPeriod),
            _ => Err(SyntaxError::NoPeriod),
        }
    }
}

/// Reads an expression.
pub(crate) struct Parser<'t, 'f> {
    rest: &'t str,
    depth: usize,
    comparisons: usize,
    fields: &'f mut Fields,
}

impl<'t, 'f> Parser<'t, 'f> {
    pub(crate) fn new(text: &'t str, fields: &'f mut Fields) -> Self {
        Self { rest: text, depth: 0, comparisons: 0, fields }
    }

    /// Reads the whole text as an expression.
    pub(crate) fn whole(mut self) -> Result<Expr, SyntaxError> {
        let expr = self.any()?;
        self.end()?;
        Ok(expr)
    }

    /// Reads the whole text as a field.
    pub(crate) fn whole_field(mut self) -> Result<(Whose, usize), SyntaxError> {
        let text = self.skipped();
        match self.operand()? {
            Operand::Field(whose, number) => {
                self.end()?;
                Ok((whose, number))
            }
            Operand::Literal(..) => Err(SyntaxError::UnknownWord(text.to_owned())),
        }
    }

    fn end(&mut self) -> Result<(), SyntaxError> {
        match self.skipped() {
            "" => Ok(()),
            rest => Err(SyntaxError::Unexpected(rest.to_owned())),
        }
    }

    fn skipped(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        self.rest
    }

    fn take(&mut self, token: &str) -> bool {
        match self.skipped().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn any(&mut self) -> Result<Expr, SyntaxError> {
        let mut parts = vec![self.all()?];
        while self.take("||") {
            parts.push(self.all()?);
        }
        Ok(alone_or(parts, Expr::Any))
    }

    fn all(&mut self) -> Result<Expr, SyntaxError> {
        let mut parts = vec![self.one()?];
        while self.take("&&") {
            parts.push(self.one()?);
        }
        Ok(alone_or(parts, Expr::All))
    }

    fn one(&mut self) -> Result<Expr, SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SyntaxError::TooDeep);
        }
        let one = if self.take("!") {
            Expr::Not(Box::new(self.one()?))
        } else if self.take("(") {
            let inner = self.any()?;
            if !self.take(")") {
                return Err(SyntaxError::Unclosed);
            }
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(one)
    }

    fn comparison(&mut self) -> Result<Expr, SyntaxError> {
        self.comparisons += 1;
        if self.comparisons > MAX_COMPARISONS {
            return Err(SyntaxError::TooLong);
        }
        let before = self.skipped();
        let left = self.operand()?;
        let shown = before.strip_suffix(self.rest).unwrap_or(before);
        if self.take(PATTERN) {
            let right = self.operand()?;
            return match &right {
                Operand::Literal(Value::Text(_), _) => Ok(Expr::Compare(left, Operator::Equal, right)),
                _ => Err(SyntaxError::NoPattern),
            };
        }
        let operator = OPERATORS.into_iter().find(|(token, _)| self.take(token));
        let (_, operator) = operator.ok_or_else(|| SyntaxError::NoOperator(shown.to_owned()))?;
        Ok(Expr::Compare(left, operator, self.operand()?))
    }

    fn operand(&mut self) -> Result<Operand, SyntaxError> {
        let rest = self.skipped();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (text, rest) = quoted_text(quoted)?;
            self.rest = rest;
            let pattern = WildMatch::new(&text);
            return Ok(Operand::Literal(Value::Text(text.into()), pattern));
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':' | '-');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        if let Some(number) = number(word) {
            return Ok(Operand::Literal(number, WildMatch::new("")));
        }
        if !word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')) {
            return Err(SyntaxError::NoOperand(format!("{word}{rest}")));
        }
        let (whose, field) = field(word)?;
        Ok(Operand::Field(whose, self.fields.number(field)))
    }
}

/// A part alone stands for itself.
fn alone_or(mut parts: Vec<Expr>, together: fn(Vec<Expr>) -> Expr) -> Expr {
    match parts.pop() {
        Some(alone) if parts.is_empty() => alone,
        last => {
            parts.extend(last);
            together(parts)
        }
    }
}

/// A text up to its closing quote, and what follows. `\"` and `\\` stand for `"` and `\`.
fn quoted_text(quoted: &str) -> Result<(String, &str), SyntaxError> {
    let mut text = String::new();
    let mut chars = quoted.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((text, &quoted[at + 1..])),
            '\\' => match chars.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => text.push(escaped),
                None => text.push(c),
            },
            _ => text.push(c),
        }
    }
    Err(SyntaxError::Unquoted)
}

/// A word as a number: decimal, hexadecimal, or real.
fn number(word: &str) -> Option<Value> {
    let hexadecimal = word.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let integer = hexadecimal.map(i128::from).or_else(|| word.parse().ok());
    let is_real = word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
    let real = || word.parse::<f64>().ok().filter(|real| is_real && real.is_finite());
    integer.map(Value::Number).or_else(|| real().map(|real| Value::Real(real.into())))
}

/// A word as a field, and of which event.
fn field(word: &str) -> Result<(Whose, Field), SyntaxError> {
    let unknown = || SyntaxError::UnknownWord(word.to_owned());
    let (whose, rest) = if let Some(rest) = word.strip_prefix("$parent.$begin.$evt.") {
        (Whose::ParentBegin, rest)
    } else if let Some(rest) = word.strip_prefix("$begin.$evt.") {
        (Whose::Begin, rest)
    } else {
        (Whose::Event, word.strip_prefix("$evt.").unwrap_or(word))
    };
    let field = match rest {
        "" => return Err(unknown()),
        "$name" | "$event" => Field::Name,
        "$host" => Field::Host,
        "$cpu" => Field::Cpu,
        _ if !rest.starts_with('$') => Field::Named(FieldScope::Any, rest.to_owned()),
        _ => {
            let (scope, name) = rest.split_once('.').ok_or_else(unknown)?;
            if matches!(scope, "$header" | "$pkt_header") {
                return Err(SyntaxError::NoHeads(word.to_owned()));
            }
            let scope = FieldScope::WORDS.into_iter().find(|(known, _)| *known == scope);
            let (_, scope) =
                scope.filter(|_| !name.is_empty() && !name.starts_with('$')).ok_or_else(unknown)?;
            Field::Named(scope, name.to_owned())
        }
    };
    Ok((whose, field))
}
