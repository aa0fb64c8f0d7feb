//! Definitions of periods: `NAME(PARENT) : BEGIN : END`, and what is captured of their events.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use crate::candidate::Scopes;
use crate::expr::{Expr, Operand, Whose};
use crate::field::Fields;
use crate::parse::{Parser, SyntaxError};
use crate::value::Value;

/// At most this many periods are defined: an event says in 64 bits which of them it concerns.
pub const MAX_DEFINITIONS: usize = 64;

/// A definition of periods.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    name: Option<CompactString>,
    label: CompactString,
    parent: Option<usize>,
    pub(crate) begin: Expr,
    pub(crate) end: Expr,
    begin_captures: Vec<Capture>,
    end_captures: Vec<Capture>,
    /// The fields that an event needs to begin one, and to end one, sorted.
    pub(crate) begin_fields: Vec<usize>,
    pub(crate) end_fields: Vec<usize>,
}

/// A field of an event that is shown with a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// What it is called.
    pub name: CompactString,
    whose: Whose,
    field: usize,
}

impl Definition {
    /// Its name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its name, or its number among the definitions: `#2`.
    pub fn label(&self) -> &CompactString {
        &self.label
    }

    /// The number of the definition that its periods lie within.
    pub fn parent(&self) -> Option<usize> {
        self.parent
    }

    /// Whether a period of it begins.
    pub fn begins(&self, scopes: Scopes<'_>) -> bool {
        self.begin.truth(&|whose, field| scopes.found(whose, field)).holds()
    }

    /// Whether a period of it ends.
    pub fn ends(&self, scopes: Scopes<'_>) -> bool {
        self.end.truth(&|whose, field| scopes.found(whose, field)).holds()
    }

    /// What is captured when one begins: names and values, without those that the events do not have.
    pub fn begin_captures(&self, scopes: Scopes<'_>) -> Vec<(CompactString, Value)> {
        captured(&self.begin_captures, scopes)
    }

    /// What is captured when one ends.
    pub fn end_captures(&self, scopes: Scopes<'_>) -> Vec<(CompactString, Value)> {
        captured(&self.end_captures, scopes)
    }

    fn visit_begin(&self, to: &mut impl FnMut(Whose, usize)) {
        self.begin.visit(to);
        self.begin_captures.iter().for_each(|capture| to(capture.whose, capture.field));
    }

    fn visit_end(&self, to: &mut impl FnMut(Whose, usize)) {
        self.end.visit(to);
        self.end_captures.iter().for_each(|capture| to(capture.whose, capture.field));
    }

    fn visit(&self, to: &mut impl FnMut(Whose, usize)) {
        self.visit_begin(to);
        self.visit_end(to);
    }
}

fn captured(captures: &[Capture], scopes: Scopes<'_>) -> Vec<(CompactString, Value)> {
    let one =
        |capture: &Capture| Some((capture.name.clone(), scopes.value(capture.whose, capture.field)?.clone()));
    captures.iter().filter_map(one).collect()
}

/// The definitions that are asked for together. A parent comes before its children.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(into = "Source", try_from = "Source")]
pub struct Definitions {
    source: Source,
    all: Vec<Definition>,
    fields: Fields,
}

/// What definitions are made of: their text is their serialized form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Source {
    periods: Vec<String>,
    captures: Vec<String>,
}

/// All else follows from the text.
impl PartialEq for Definitions {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Definitions {}

impl From<Definitions> for Source {
    fn from(definitions: Definitions) -> Self {
        definitions.source
    }
}

impl TryFrom<Source> for Definitions {
    type Error = SyntaxError;

    fn try_from(source: Source) -> Result<Self, SyntaxError> {
        Self::parse(&source.periods, &source.captures)
    }
}

impl Definitions {
    /// Reads definitions of periods, `[NAME[(PARENT)]] : BEGIN [: END]`, and of captures, `NAME : LIST [:
    /// LIST]`. A period without an end is ended by the next event that would begin one.
    ///
    /// # Errors
    /// The first that is none, or that names a period which is not defined before it.
    pub fn parse<T: AsRef<str>>(periods: &[T], captures: &[T]) -> Result<Self, SyntaxError> {
        let own = |texts: &[T]| texts.iter().map(|text| text.as_ref().to_owned()).collect();
        let mut all =
            Self { source: Source { periods: own(periods), captures: own(captures) }, ..Self::default() };
        periods.iter().try_for_each(|text| all.define(text.as_ref()))?;
        captures.iter().try_for_each(|text| all.capture(text.as_ref()))?;
        all.find_needs();
        Ok(all)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All of them, in the order in which they were given.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Definition> + ExactSizeIterator {
        self.all.iter()
    }

    /// A definition by its number.
    pub fn get(&self, number: usize) -> Option<&Definition> {
        self.all.get(number)
    }

    /// The fields that they name.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    fn index(&self, name: &str) -> Result<usize, SyntaxError> {
        let index = self.all.iter().position(|it| it.name() == Some(name));
        index.ok_or_else(|| SyntaxError::UnknownPeriod(name.to_owned()))
    }

    fn define(&mut self, text: &str) -> Result<(), SyntaxError> {
        if self.all.len() >= MAX_DEFINITIONS {
            return Err(SyntaxError::TooMany(MAX_DEFINITIONS));
        }
        let none = || SyntaxError::NoDefinition(text.to_owned());
        let parts = split(text, ':');
        let (head, begin, end) = match parts.as_slice() {
            [head, begin] => (head.trim(), begin, None),
            [head, begin, end] => (head.trim(), begin, Some(end)),
            _ => return Err(none()),
        };
        let (name, parent) = match head.split_once('(') {
            None => (head, None),
            Some((name, rest)) => {
                (name.trim_end(), Some(rest.trim_end().strip_suffix(')').ok_or_else(none)?.trim()))
            }
        };
        let name = if name.is_empty() && parent.is_none() { None } else { Some(identifier(name)?) };
        if name.is_some_and(|name| self.index(name).is_ok()) {
            return Err(SyntaxError::Redefined(name.unwrap_or_default().to_owned()));
        }
        let parent = parent.map(|parent| self.index(parent)).transpose()?;
        let label: CompactString = match name {
            Some(name) => name.into(),
            None => format!("#{}", self.all.len() + 1).into(),
        };
        let inside = |source| SyntaxError::In { name: label.to_string(), source: Box::new(source) };
        let mut begin = Parser::new(begin, &mut self.fields).whole().map_err(inside)?;
        let end = match end {
            Some(end) => Parser::new(end, &mut self.fields).whole().map_err(inside)?,
            None => begin.clone(),
        };
        // When it begins, its first event is the one at hand.
        of_first_event(&mut begin);
        let definition = Definition {
            name: name.map(CompactString::from),
            label: label.clone(),
            parent,
            begin,
            end,
            begin_captures: Vec::new(),
            end_captures: Vec::new(),
            begin_fields: Vec::new(),
            end_fields: Vec::new(),
        };
        check_parent(&definition).map_err(inside)?;
        self.all.push(definition);
        Ok(())
    }

    fn capture(&mut self, text: &str) -> Result<(), SyntaxError> {
        let parts = split(text, ':');
        let (name, begin, end) = match parts.as_slice() {
            [name, begin] => (name.trim(), *begin, ""),
            [name, begin, end] => (name.trim(), *begin, *end),
            _ => return Err(SyntaxError::NoCaptures(text.to_owned())),
        };
        let index = self.index(name)?;
        let mut begin = captures(begin, &mut self.fields)?;
        let end = captures(end, &mut self.fields)?;
        if begin.is_empty() && end.is_empty() {
            return Err(SyntaxError::NoCaptures(text.to_owned()));
        }
        for capture in begin.iter_mut().filter(|capture| capture.whose == Whose::Begin) {
            capture.whose = Whose::Event;
        }
        let definition = &mut self.all[index];
        definition.begin_captures.extend(begin);
        definition.end_captures.extend(end);
        check_parent(definition)
            .map_err(|source| SyntaxError::In { name: name.to_owned(), source: Box::new(source) })
    }

    /// Finds which fields of an event a definition needs: its own, and of a first event those that its end
    /// and its children name.
    fn find_needs(&mut self) {
        for index in 0..self.all.len() {
            let (mut begin, mut end) = (Vec::new(), Vec::new());
            let it = &self.all[index];
            it.visit_begin(&mut |whose, field| {
                if whose == Whose::Event {
                    begin.push(field);
                }
            });
            it.visit_end(&mut |whose, field| match whose {
                Whose::Event => end.push(field),
                Whose::Begin => begin.push(field),
                Whose::ParentBegin => {}
            });
            for child in self.all.iter().filter(|child| child.parent == Some(index)) {
                child.visit(&mut |whose, field| {
                    if whose == Whose::ParentBegin {
                        begin.push(field);
                    }
                });
            }
            for fields in [&mut begin, &mut end] {
                fields.sort_unstable();
                fields.dedup();
            }
            let it = &mut self.all[index];
            (it.begin_fields, it.end_fields) = (begin, end);
        }
    }
}

fn check_parent(definition: &Definition) -> Result<(), SyntaxError> {
    let mut names_parent = false;
    definition.visit(&mut |whose, _| names_parent |= whose == Whose::ParentBegin);
    if names_parent && definition.parent.is_none() { Err(SyntaxError::NoParent) } else { Ok(()) }
}

/// Of a start, `$begin.$evt` is the event at hand.
fn of_first_event(expr: &mut Expr) {
    match expr {
        Expr::Any(parts) | Expr::All(parts) => parts.iter_mut().for_each(of_first_event),
        Expr::Not(part) => of_first_event(part),
        Expr::Compare(left, _, right) => {
            for operand in [left, right] {
                if let Operand::Field(whose @ Whose::Begin, _) = operand {
                    *whose = Whose::Event;
                }
            }
        }
    }
}

/// The parts of a text between separators that are not in quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(|c: char| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match c {
            '"' if !was_escaped => is_quoted = !is_quoted,
            '\\' if is_quoted && !was_escaped => is_escaped = true,
            _ => {}
        }
        c == separator && !is_quoted
    })
    .collect()
}

fn identifier(text: &str) -> Result<&str, SyntaxError> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = text.starts_with(is_first) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name { Ok(text) } else { Err(SyntaxError::NoName(text.to_owned())) }
}

/// A list of captures.
fn captures(list: &str, fields: &mut Fields) -> Result<Vec<Capture>, SyntaxError> {
    if list.trim().is_empty() {
        return Ok(Vec::new());
    }
    let one = |text: &str| {
        let (name, field) = match text.split_once('=') {
            Some((name, field)) => (identifier(name.trim())?, field.trim()),
            None => (text.trim(), text.trim()),
        };
        let (whose, field) = Parser::new(field, fields).whole_field()?;
        Ok(Capture { name: name.into(), whose, field })
    };
    split(list, ',').into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = r#"switch : $evt.$name == "sched_switch" && $evt.next_tid != 0
        : $evt.$name == "sched_switch" && $evt.prev_tid == $begin.$evt.next_tid && $evt.cpu_id == $begin.$evt.cpu_id"#;
    const IRQ: &str = r#"irq(switch) : $evt.$name =* "irq_*_entry" && $evt.cpu_id == $parent.$begin.$evt.cpu_id
        : $evt.$name == "irq_handler_exit" && $evt.cpu_id == $begin.$evt.cpu_id"#;

    #[test]
    fn what_is_defined() {
        let captures = "irq : name = $evt.name, $evt.$name, current = $parent.$begin.$evt.next_comm : ret = $evt.ret, first = $begin.$evt.irq";
        let all = Definitions::parse(&[SWITCH, IRQ, r#" : a == ":" "#], &[captures]).unwrap();
        let shown: Vec<_> = all.iter().map(|it| (it.name(), it.label().as_str(), it.parent())).collect();
        assert_eq!(
            shown,
            [(Some("switch"), "switch", None), (Some("irq"), "irq", Some(0)), (None, "#3", None)]
        );
        let names = |captures: &[Capture]| captures.iter().map(|it| it.name.to_string()).collect::<Vec<_>>();
        let irq = &all.all[1];
        assert_eq!(names(&irq.begin_captures), ["name", "$evt.$name", "current"]);
        assert_eq!(names(&irq.end_captures), ["ret", "first"]);
        // A switch that begins keeps what its end compares, and what its children ask of it.
        let fields = |numbers: &[usize]| {
            let name = |&number: &usize| all.fields.get(number).map(ToString::to_string);
            numbers.iter().filter_map(name).collect::<Vec<_>>()
        };
        assert_eq!(fields(&all.all[0].begin_fields), ["$name", "next_tid", "cpu_id", "next_comm"]);
        assert_eq!(fields(&all.all[0].end_fields), ["$name", "prev_tid", "cpu_id"]);
        assert_eq!(fields(&irq.begin_fields), ["$name", "cpu_id", "name", "irq"]);
        // Without an end, the next begin ends it.
        assert_eq!(all.all[2].begin, all.all[2].end);
        // The text is the serialized form.
        let bytes = postcard::to_stdvec(&all).unwrap();
        assert_eq!(postcard::from_bytes::<Definitions>(&bytes).unwrap(), all);
    }

    #[test]
    fn what_is_no_definition() {
        let check = |periods: &[&str], captures: &[&str], expect: &str| {
            let error = Definitions::parse(periods, captures).unwrap_err().to_string();
            assert!(error.starts_with(expect), "{periods:?} {captures:?}: {error}");
        };
        check(&["a"], &[], "`a`: a period looks like");
        check(&["a : b == 1 : c == 1 : d == 1"], &[], "`a : b == 1");
        check(&["a(b : c == 1"], &[], "`a(b : c == 1`: a period looks like");
        check(&["1a : b == 1"], &[], "`1a` is not a name");
        check(&["(a) : b == 1"], &[], "`` is not a name");
        check(&["a(b) : c == 1"], &[], "no period `b` is defined before");
        check(&["a : b == 1", "a : c == 1"], &[], "period `a` is defined twice");
        check(&["a : b"], &[], "period `a`: a comparison is missing behind `b`");
        check(&["a : b == 1 : c =="], &[], "period `a`: a field or a value is missing");
        check(&["a : b == $parent.$begin.$evt.c"], &[], "period `a`: `$parent` needs a period with a parent");
        check(&["a : b == 1"], &["a : $parent.$begin.$evt.c"], "period `a`: `$parent` needs");
        check(&["a : b == 1"], &["c : $evt.d"], "no period `c` is defined before");
        check(&["a : b == 1"], &["a"], "`a`: captures look like");
        check(&["a : b == 1"], &["a : "], "`a : `: captures look like");
        check(&["a : b == 1"], &["a : x = 5"], "`5` is not known");
        check(&["a : b == 1"], &["a : x y = $evt.d"], "`x y` is not a name");
        let many: Vec<String> = (0..65).map(|number| format!("p{number} : a == 1")).collect();
        assert_eq!(Definitions::parse(&many, &[]).unwrap_err(), SyntaxError::TooMany(64));
    }
}
