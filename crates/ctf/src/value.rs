//! Values as a tree: for headers that are changed before they are written again, and for writing from
//! scratch.

use crate::plan::{Name, Text, Visitor, variable};
use crate::schema::{FloatClass, IntegerClass, Role};

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A number of more than 64 bits as its bytes, the most significant one first, filled up with its sign:
    /// an integer, or the bits of a floating point number.
    Wide(Vec<u8>),
    /// An integer of variable length (its 64 bits, sign-extended) that takes more bytes than it needs, and
    /// how many. Of the time in an event header they say how many bits it has.
    Padded(u64, u32),
    /// A floating point number.
    Float(f64),
    /// All bytes of a text field; of a string, without its NUL.
    Text(Vec<u8>),
    /// The members of a structure in order.
    Struct(Vec<Value>),
    /// The elements of an array.
    Array(Vec<Value>),
    /// The number of a variant's option and its value.
    Variant(usize, Box<Value>),
    /// A field that may be missing.
    Optional(Option<Box<Value>>),
    /// Bytes.
    Blob(Vec<u8>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.as_bytes().to_vec())
    }
}

/// Builds a [`Value`] from a visit.
#[derive(Debug, Default)]
pub struct ValueVisitor {
    /// Containers that are being filled; the first one holds the result.
    open: Vec<Container>,
    result: Option<Value>,
}

#[derive(Debug)]
enum Container {
    Struct(Vec<Value>),
    Array(Vec<Value>),
    Variant(usize),
    Optional,
}

impl ValueVisitor {
    /// The value visited, if the visit was complete.
    pub fn into_value(self) -> Option<Value> {
        self.result.filter(|_| self.open.is_empty())
    }

    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            None => self.result = Some(value),
            Some(Container::Struct(values) | Container::Array(values)) => values.push(value),
            Some(Container::Variant(option)) => {
                let value = Value::Variant(*option, Box::new(value));
                self.open.pop();
                self.put(value);
            }
            Some(Container::Optional) => {
                self.open.pop();
                self.put(Value::Optional(Some(Box::new(value))));
            }
        }
    }
}

impl Visitor for ValueVisitor {
    fn unsigned(&mut self, _: &IntegerClass, value: u64) {
        self.put(Value::Unsigned(value));
    }
    fn signed(&mut self, _: &IntegerClass, value: i64) {
        self.put(Value::Signed(value));
    }
    fn variable_unsigned(&mut self, class: &IntegerClass, value: u64, bits: u32) {
        match bits / 7 {
            bytes if bytes > variable::write(value, false).len() as u32 => {
                self.put(Value::Padded(value, bytes));
            }
            _ => self.unsigned(class, value),
        }
    }
    fn variable_signed(&mut self, class: &IntegerClass, value: i64, bits: u32) {
        match bits / 7 {
            bytes if bytes > variable::write(value as u64, true).len() as u32 => {
                self.put(Value::Padded(value as u64, bytes));
            }
            _ => self.signed(class, value),
        }
    }
    fn wide(&mut self, _: &IntegerClass, bytes: &[u8]) {
        self.put(Value::Wide(bytes.to_vec()));
    }
    fn wide_float(&mut self, _: &FloatClass, bytes: &[u8]) {
        self.put(Value::Wide(bytes.to_vec()));
    }
    fn float(&mut self, _: &FloatClass, value: f64) {
        self.put(Value::Float(value));
    }
    fn text(&mut self, text: Text<'_>) {
        self.put(Value::Text(text.field.to_vec()));
    }
    fn blob(&mut self, _: Option<Role>, bytes: &[u8]) {
        self.put(Value::Blob(bytes.to_vec()));
    }
    fn begin_optional(&mut self, present: bool) {
        if present {
            self.open.push(Container::Optional);
        } else {
            self.put(Value::Optional(None));
        }
    }
    fn begin_struct(&mut self) {
        self.open.push(Container::Struct(Vec::new()));
    }
    fn end_struct(&mut self) {
        if let Some(Container::Struct(values)) = self.open.pop() {
            self.put(Value::Struct(values));
        }
    }
    fn begin_array(&mut self, _: u64) {
        self.open.push(Container::Array(Vec::new()));
    }
    fn end_array(&mut self) {
        if let Some(Container::Array(values)) = self.open.pop() {
            self.put(Value::Array(values));
        }
    }
    fn begin_variant(&mut self, index: usize, _: &Name) {
        self.open.push(Container::Variant(index));
    }
}
