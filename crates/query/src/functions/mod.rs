//! Functions for SQL: clocks ([`clocks`]), what ran and what was open ([`model`]), and numbers and addresses
//! as text ([`text`]).

mod clocks;
mod model;
mod text;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::traced::Traced;

/// All functions.
pub(crate) fn all(traced: &Arc<Traced>) -> Vec<ScalarUDF> {
    functions(Some(traced)).map(ScalarUDF::from).collect()
}

/// Those that need no clocks.
pub(crate) fn without_clocks() -> Vec<ScalarUDF> {
    text::functions().into_iter().map(ScalarUDF::from).collect()
}

/// The function of a name, if there is one. `traced`: whose clocks it knows, if it needs any.
pub(crate) fn named(name: &str, traced: Option<&Arc<Traced>>) -> Option<ScalarUDF> {
    functions(traced).find(|function| function.name == name).map(ScalarUDF::from)
}

fn functions(traced: Option<&Arc<Traced>>) -> impl Iterator<Item = Function> {
    clocks::functions(traced).into_iter().chain(model::functions(traced)).chain(text::functions())
}

/// A function of values of a row.
pub(crate) struct Function {
    name: &'static str,
    signature: Signature,
    gives: DataType,
    /// The traces whose clocks and store it knows.
    traced: Option<Arc<Traced>>,
    values: Values,
}

/// What a function makes of columns.
#[derive(Clone, Copy)]
enum Values {
    OfValues(fn(&[ArrayRef]) -> Result<ArrayRef>),
    OfClocks(fn(&Traced, &[ArrayRef]) -> Result<ArrayRef>),
}

impl Function {
    fn of_values(
        name: &'static str,
        takes: Vec<DataType>,
        gives: DataType,
        values: fn(&[ArrayRef]) -> Result<ArrayRef>,
    ) -> Self {
        let signature = Signature::exact(takes, Volatility::Immutable);
        Self { name, signature, gives, traced: None, values: Values::OfValues(values) }
    }

    fn of_clocks(
        name: &'static str,
        takes: Vec<DataType>,
        gives: DataType,
        traced: Option<&Arc<Traced>>,
        values: fn(&Traced, &[ArrayRef]) -> Result<ArrayRef>,
    ) -> Self {
        let signature = Signature::exact(takes, Volatility::Immutable);
        Self { name, signature, gives, traced: traced.cloned(), values: Values::OfClocks(values) }
    }

    /// The traces whose clocks it knows; `None`: it needs none.
    pub(crate) fn traced(&self) -> Option<&Arc<Traced>> {
        self.traced.as_ref()
    }

    fn values(&self, columns: &[ArrayRef]) -> Result<ArrayRef> {
        match (self.values, &self.traced) {
            (Values::OfValues(values), _) => values(columns),
            (Values::OfClocks(values), Some(traced)) => values(traced, columns),
            (Values::OfClocks(_), None) => internal_err!("{} knows no clocks", self.name),
        }
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.gives.clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arguments = arguments.args;
        let is_constant = arguments.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let result = self.values(&ColumnarValue::values_to_arrays(&arguments)?)?;
        Ok(match is_constant {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?),
            false => ColumnarValue::Array(result),
        })
    }
}

/// Functions of one name are the same if they know the clocks of the same traces.
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        let address = |function: &Self| function.traced.as_ref().map(Arc::as_ptr);
        self.name == other.name && address(self) == address(other)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.name.hash(to);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("name", &self.name).finish_non_exhaustive()
    }
}
