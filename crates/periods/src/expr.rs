//! Expressions: comparisons put together with and, or, not; and what they come to where not everything is
//! known.

use std::borrow::Cow;
use std::cmp::Ordering;

use wildmatch::WildMatch;

use crate::binding::{Binding, Reading};
use crate::field::{Field, Fields};
use crate::parse::{Parser, SyntaxError};
use crate::value::Value;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// One of them holds.
    Any(Vec<Expr>),
    /// All hold.
    All(Vec<Expr>),
    /// It does not hold.
    Not(Box<Expr>),
    /// A comparison.
    Compare(Operand, Operator, Operand),
}

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// What one of the events has, by its number among the [`Fields`].
    Field(Whose, usize),
    /// A number or a text.
    Literal(Value, WildMatch),
}

/// Which of the events of a period something is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// `$evt`: the event at hand.
    Event,
    /// `$begin.$evt`: the one that the period began with.
    Begin,
    /// `$parent.$begin.$evt`: the one that its parent began with.
    ParentBegin,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `==`; in a text in quotes, `*` stands for anything and `?` for one character.
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// What an expression comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// It does not hold.
    False,
    /// It holds.
    True,
    /// That depends on what is not known yet.
    Open,
}

/// What is known of an operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<'v> {
    /// Its value.
    Value(&'v Value),
    /// The event does not have it.
    Missing,
    /// Not known yet.
    Open,
}

impl Truth {
    fn not(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::True => Self::False,
            Self::Open => Self::Open,
        }
    }

    /// Whether it is certain that it holds.
    pub fn holds(self) -> bool {
        self == Self::True
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

impl Expr {
    /// What it comes to with the values that `of` gives. A comparison with what an event does not have is
    /// false, and so is one of a number with a text.
    pub fn truth<'v>(&self, of: &impl Fn(Whose, usize) -> Found<'v>) -> Truth {
        match self {
            Self::Any(parts) => joined(parts, Truth::True, of),
            Self::All(parts) => joined(parts, Truth::False, of),
            Self::Not(part) => part.truth(of).not(),
            Self::Compare(left, operator, right) => compare(left, *operator, right, of),
        }
    }

    /// Passes all fields that it names to `to`.
    pub fn visit(&self, to: &mut impl FnMut(Whose, usize)) {
        match self {
            Self::Any(parts) | Self::All(parts) => parts.iter().for_each(|part| part.visit(to)),
            Self::Not(part) => part.visit(to),
            Self::Compare(left, _, right) => {
                for operand in [left, right] {
                    if let Operand::Field(whose, number) = operand {
                        to(*whose, *number);
                    }
                }
            }
        }
    }
}

/// What several parts come to of which one alone decides if it is `decided`: the others are not looked at
/// then.
fn joined<'v>(parts: &[Expr], decided: Truth, of: &impl Fn(Whose, usize) -> Found<'v>) -> Truth {
    let mut all = decided.not();
    for part in parts {
        match part.truth(of) {
            truth if truth == decided => return decided,
            Truth::Open => all = Truth::Open,
            _ => {}
        }
    }
    all
}

fn compare<'v>(
    left: &Operand,
    operator: Operator,
    right: &Operand,
    of: &impl Fn(Whose, usize) -> Found<'v>,
) -> Truth {
    let (a, b) = (found(left, of), found(right, of));
    let (a, b) = match (a, b) {
        (Found::Missing, _) | (_, Found::Missing) => return Truth::False,
        (Found::Open, _) | (_, Found::Open) => return Truth::Open,
        (Found::Value(a), Found::Value(b)) => (a, b),
    };
    let is_equality = matches!(operator, Operator::Equal | Operator::Unequal);
    let order = match (left, right, a, b) {
        (Operand::Field(..), Operand::Literal(_, pattern), Value::Text(a), Value::Text(_)) if is_equality => {
            Some(if pattern.matches(a) { Ordering::Equal } else { Ordering::Less })
        }
        _ => a.order(b),
    };
    let Some(order) = order else { return Truth::False };
    let holds = match operator {
        Operator::Equal => order.is_eq(),
        Operator::Unequal => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::GreaterOrEqual => order.is_ge(),
    };
    holds.into()
}

fn found<'a, 'v: 'a>(operand: &'a Operand, of: &impl Fn(Whose, usize) -> Found<'v>) -> Found<'a> {
    match operand {
        Operand::Field(whose, number) => of(*whose, *number),
        Operand::Literal(value, _) => Found::Value(value),
    }
}

/// An expression on one event alone, with the fields that it names.
///
/// ```
/// use isochrone_periods::{Condition, Found, Truth, Value};
/// let condition = Condition::parse("prev_tid == 199 && $host == \"h2\"")?;
/// let (tid, host) = (Value::Number(199), Value::text(b"h2"));
/// let of = |number: usize| Found::Value(if number == 0 { &tid } else { &host });
/// assert_eq!(condition.truth(&of), Truth::True);
/// # Ok::<(), isochrone_periods::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    expr: Expr,
    fields: Fields,
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// It is none, or names another event than the one at hand.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut fields = Fields::default();
        let expr = Parser::new(text, &mut fields).whole()?;
        let mut is_of_period = false;
        expr.visit(&mut |whose, _| is_of_period |= whose != Whose::Event);
        match is_of_period {
            true => Err(SyntaxError::NoPeriod),
            false => Ok(Self { expr, fields }),
        }
    }

    /// The fields that it names.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// What it comes to; `of` says what is known of a field, by its number.
    pub fn truth<'v>(&self, of: &impl Fn(usize) -> Found<'v>) -> Truth {
        self.expr.truth(&|_, number| of(number))
    }

    /// Whether it holds for an event of a class that its fields are bound to.
    pub fn holds(&self, binding: &Binding, from: Reading<'_, '_>) -> bool {
        // Most events are decided by what is known of their class.
        match self.truth(&|number| binding.of_class(number)) {
            Truth::Open => self.holds_with(|number, _| binding.read(number, from)),
            known => known.holds(),
        }
    }

    fn holds_with<'v>(&self, of: impl Fn(usize, &Field) -> Option<Cow<'v, Value>>) -> bool {
        let values: Vec<Option<Cow<'v, Value>>> =
            self.fields.iter().enumerate().map(|(number, field)| of(number, field)).collect();
        let found = |number: usize| match values.get(number) {
            Some(Some(value)) => Found::Value(value),
            _ => Found::Missing,
        };
        self.truth(&found).holds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(field: &Field) -> Option<Value> {
        match field.to_string().as_str() {
            "tid" | "$ctx.tid" => Some(Value::Number(199)),
            "ret" => Some(Value::Number(-11)),
            "address" => Some(Value::Number(0xFF00_0000_0000_0001)),
            "load" => Some(Value::Real(0.75.into())),
            "$host" => Some(Value::text(b"h2")),
            "$name" => Some(Value::text(b"sched_switch")),
            "comm" => Some(Value::text(b"appsrv")),
            "quote" => Some(Value::text(br#"a"b\c"#)),
            "a.b" => Some(Value::Number(1)),
            "odd:name" => Some(Value::Number(2)),
            _ => None,
        }
    }

    #[test]
    fn what_holds() {
        let check = |text: &str, expect: bool| {
            let condition = Condition::parse(text).unwrap();
            let holds = condition.holds_with(|_, field| of(field).map(Cow::Owned));
            assert_eq!(holds, expect, "{text}");
        };
        check("tid == 199", true);
        check("tid != 199", false);
        check("tid==199&&$host==\"h2\"", true);
        check("tid == 1 || ret < 0", true);
        check("tid == 1 || ret < 0 && tid > 200", false);
        check("(tid == 1 || ret < 0) && tid <= 199", true);
        check("!(ret >= 0)", true);
        check("!ret >= 0", true);
        check("ret == -11", true);
        check("address == 0xFF00000000000001", true);
        check("comm == \"app*\"", true);
        check("comm != \"app*\"", false);
        check("comm =* \"app?rv\"", true);
        check("comm =* \"app?\"", false);
        check("\"b\" > comm", true);
        check("a.b == 1 && odd:name == 2", true);
        // The words of lttng-analyses.
        check("$evt.tid == 199 && $evt.$ctx.tid == 199", true);
        check("$evt.$name == \"sched_switch\" && $event =* \"sched_*\"", true);
        check("$evt.$host == \"h2\"", true);
        check("load < 1 && load > .5 && load == 7.5e-1 && tid < 199.5 && tid > 1e2", true);
        check(r#"quote == "a\"b\\c""#, true);
        // What is not there, or of another kind, compares with nothing.
        check("nothing == 0", false);
        check("nothing != 0", false);
        check("!(nothing == 0)", true);
        check("comm == 5", false);
        check("$payload.tid == 199", false);
    }

    #[test]
    fn what_is_no_condition() {
        let check = |text: &str, expect: &str| {
            let error = Condition::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(expect), "{text}: {error}");
        };
        check("", "a field or a value is missing before ``");
        check("tid", "a comparison is missing behind `tid`");
        check("tid =", "a comparison is missing behind `tid`");
        check("tid ==", "a field or a value is missing");
        check("tid =* 5", "`=*` wants a text in quotes");
        check("(tid == 1", "a `)` is missing");
        check("tid == 1)", "unexpected `)`");
        check("comm == \"x", "a `\"` is missing");
        check("tid == 1 tid == 2", "unexpected `tid == 2`");
        check("$what == 1", "`$what` is not known");
        check("$evt.$what == 1", "`$evt.$what` is not known");
        check("$evt == 1", "`$evt` is not known");
        check("$evt.$header.id == 1", "`$evt.$header.id`: heads of events and packets are not read");
        check("$begin.$evt.tid == tid", "`$begin` and `$parent` are of periods");
        check(&"(".repeat(200), "it is nested more than 100 deep");
        check(&"!".repeat(100_000), "it is nested more than 100 deep");
        // What each event costs has an end.
        let terms = |count: usize| vec!["tid == 1"; count].join(" || ");
        assert!(Condition::parse(&terms(1000)).is_ok());
        check(&terms(1001), "it has more than 1000 comparisons");
        check(&terms(8000), "it has more than 1000 comparisons");
        let condition = Condition::parse("a == 1 && !(b < $cpu) && $evt.a > 0").unwrap();
        let names: Vec<String> = condition.fields().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a", "b", "$cpu"]);
    }

    #[test]
    fn what_is_open() {
        let known = Value::Number(1);
        let check = |text: &str, expect| {
            let condition = Condition::parse(text).unwrap();
            let of = |number| match condition.fields().get(number).map(ToString::to_string).as_deref() {
                Some("one") => Found::Value(&known),
                Some("open") => Found::Open,
                _ => Found::Missing,
            };
            assert_eq!(condition.truth(&of), expect, "{text}");
        };
        check("one == 1 && open == 1", Truth::Open);
        check("one == 2 && open == 1", Truth::False);
        check("open == 1 && one == 2", Truth::False);
        check("one == 1 || open == 1", Truth::True);
        check("open == 1 || one == 1", Truth::True);
        check("open == 1 || one == 2", Truth::Open);
        check("!(open == 1)", Truth::Open);
        // What is missing compares with nothing, whatever the other side turns out to be.
        check("open == missing", Truth::False);
    }
}
