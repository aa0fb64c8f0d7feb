//! Conditions on events as people type them: `prev_tid == 199 && $host == "h2"`.
//!
//! A name is a field of the payload, else of a context, else of the packet's context; `$host`, `$event` and `$cpu` are what they say.
//! Values are integers (decimal or `0x…`) and texts in quotes, in which `*` and `?` are patterns for `==` and `!=`. A comparison with a
//! field that an event does not have is false, and so is one of a number with a text.

use std::cmp::Ordering;
use std::fmt;

use wildmatch::WildMatch;

/// Conditions in parentheses, and `!`, may be nested so deep.
const MAX_DEPTH: usize = 100;

/// A condition.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    /// One of them holds.
    Any(Vec<Condition>),
    /// All hold.
    All(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// A comparison.
    Compare(Operand, Operator, Operand),
}

/// What is compared.
#[derive(Debug, Clone)]
pub(crate) enum Operand {
    /// A field, or `$host`, `$event`, `$cpu`.
    Name(String),
    Number(i128),
    Text(String, WildMatch),
}

/// How.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A value of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Number(i128),
    Text(String),
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

impl Condition {
    /// Reads a condition.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: text, depth: 0 };
        let condition = parser.any()?;
        match parser.skipped() {
            "" => Ok(condition),
            rest => Err(format!("unexpected `{rest}`; {FORMS}")),
        }
    }

    /// The names in it.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Self::Any(parts) | Self::All(parts) => parts.iter().flat_map(Self::names).collect(),
            Self::Not(part) => part.names(),
            Self::Compare(left, _, right) => [left, right]
                .into_iter()
                .filter_map(|operand| match operand {
                    Operand::Name(name) => Some(name.as_str()),
                    Operand::Number(_) | Operand::Text(..) => None,
                })
                .collect(),
        }
    }

    /// Whether it holds for an event, whose values `of` gives by name.
    pub(crate) fn holds(&self, of: &mut dyn FnMut(&str) -> Option<Value>) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.holds(of)),
            Self::All(parts) => parts.iter().all(|part| part.holds(of)),
            Self::Not(part) => !part.holds(of),
            Self::Compare(left, operator, right) => compare(left, *operator, right, of),
        }
    }
}

fn compare(
    left: &Operand,
    operator: Operator,
    right: &Operand,
    of: &mut dyn FnMut(&str) -> Option<Value>,
) -> bool {
    let mut value = |operand: &Operand| match operand {
        Operand::Name(name) => of(name),
        Operand::Number(number) => Some(Value::Number(*number)),
        Operand::Text(text, _) => Some(Value::Text(text.clone())),
    };
    let (Some(a), Some(b)) = (value(left), value(right)) else { return false };
    let order = match (&a, &b) {
        (Value::Number(a), Value::Number(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) => match (operator, left, right) {
            (Operator::Equal | Operator::Unequal, Operand::Name(_), Operand::Text(_, pattern)) => {
                if pattern.matches(a) { Ordering::Equal } else { Ordering::Less }
            }
            _ => a.cmp(b),
        },
        _ => return false,
    };
    match operator {
        Operator::Equal => order.is_eq(),
        Operator::Unequal => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::GreaterOrEqual => order.is_ge(),
    }
}

/// What conditions look like.
const FORMS: &str =
    "a condition looks like `prev_tid == 199 && $host == \"h2\"`, with && || ! ( ) and == != < <= > >=";

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Parser<'t> {
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

    fn any(&mut self) -> Result<Condition, String> {
        let mut parts = vec![self.all()?];
        while self.take("||") {
            parts.push(self.all()?);
        }
        Ok(Condition::Any(parts))
    }

    fn all(&mut self) -> Result<Condition, String> {
        let mut parts = vec![self.one()?];
        while self.take("&&") {
            parts.push(self.one()?);
        }
        Ok(Condition::All(parts))
    }

    fn one(&mut self) -> Result<Condition, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} deep"));
        }
        let one = if self.take("!") {
            Condition::Not(Box::new(self.one()?))
        } else if self.take("(") {
            let inner = self.any()?;
            if !self.take(")") {
                return Err(format!("a `)` is missing; {FORMS}"));
            }
            inner
        } else {
            let left = self.operand()?;
            let operator = OPERATORS.into_iter().find(|(token, _)| self.take(token));
            let (_, operator) =
                operator.ok_or_else(|| format!("a comparison is missing behind {left}; {FORMS}"))?;
            Condition::Compare(left, operator, self.operand()?)
        };
        self.depth -= 1;
        Ok(one)
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let rest = self.skipped();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (text, rest) = quoted.split_once('"').ok_or_else(|| "a `\"` is missing".to_owned())?;
            self.rest = rest;
            return Ok(Operand::Text(text.to_owned(), WildMatch::new(text)));
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':' | '-');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        let hexadecimal = word.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        match (hexadecimal.map(i128::from).or_else(|| word.parse().ok()), word.chars().next()) {
            (Some(number), _) => Ok(Operand::Number(number)),
            (None, Some(first)) if first.is_alphabetic() || matches!(first, '_' | '$') => {
                Ok(Operand::Name(word.to_owned()))
            }
            _ => Err(format!("a field or a value is missing before `{word}{rest}`; {FORMS}")),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Number(number) => write!(f, "`{number}`"),
            Self::Text(text, _) => write!(f, "`\"{text}\"`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Option<Value> {
        match name {
            "tid" => Some(Value::Number(199)),
            "ret" => Some(Value::Number(-11)),
            "address" => Some(Value::Number(0xFF00_0000_0000_0001)),
            "$host" => Some(Value::Text("h2".to_owned())),
            "comm" => Some(Value::Text("appsrv".to_owned())),
            _ => None,
        }
    }

    #[test]
    fn what_holds() {
        let check = |text: &str, expect: bool| {
            let condition = Condition::parse(text).unwrap();
            assert_eq!(condition.holds(&mut of), expect, "{text}");
        };
        check("tid == 199", true);
        check("tid != 199", false);
        check("tid==199&&$host==\"h2\"", true);
        check("tid == 1 || ret < 0", true);
        check("tid == 1 || ret < 0 && tid > 200", false);
        check("(tid == 1 || ret < 0) && tid <= 199", true);
        check("!(ret >= 0)", true);
        check("ret == -11", true);
        check("address == 0xFF00000000000001", true);
        check("comm == \"app*\"", true);
        check("comm != \"app*\"", false);
        check("\"b\" > comm", true);
        // What is not there, or of another kind, compares with nothing.
        check("nothing == 0", false);
        check("nothing != 0", false);
        check("!(nothing == 0)", true);
        check("comm == 5", false);
    }

    #[test]
    fn what_is_no_condition() {
        let check = |text: &str, expect: &str| {
            let error = Condition::parse(text).unwrap_err();
            assert!(error.starts_with(expect), "{text}: {error}");
        };
        check("", "a field or a value is missing before ``");
        check("tid", "a comparison is missing behind `tid`");
        check("tid =", "a comparison is missing behind `tid`");
        check("tid ==", "a field or a value is missing");
        check("(tid == 1", "a `)` is missing");
        check("tid == 1)", "unexpected `)`");
        check("comm == \"x", "a `\"` is missing");
        check("tid == 1 tid == 2", "unexpected `tid == 2`");
        check(&"(".repeat(200), "it is nested more than 100 deep");
        check(&"!".repeat(100_000), "it is nested more than 100 deep");
        assert_eq!(Condition::parse("a == 1 && !(b < $cpu)").unwrap().names(), ["a", "b", "$cpu"]);
    }
}
