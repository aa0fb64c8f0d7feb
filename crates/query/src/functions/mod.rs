//! Functions for SQL: clocks ([`clocks`]), and numbers and addresses as people read them ([`text`]).

mod clocks;
mod text;

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

use crate::traced::Traced;

/// All functions.
pub(crate) fn all(traced: &Arc<Traced>) -> Vec<ScalarUDF> {
    let mut all = clocks::functions(traced);
    all.extend(text::functions());
    all
}

/// A function of values of a row.
fn function(
    name: &str,
    takes: Vec<DataType>,
    gives: DataType,
    values: impl Fn(&[ArrayRef]) -> Result<ArrayRef> + Send + Sync + 'static,
) -> ScalarUDF {
    let call = move |arguments: &[ColumnarValue]| -> Result<ColumnarValue> {
        let is_constant = arguments.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let result = values(&ColumnarValue::values_to_arrays(arguments)?)?;
        Ok(match is_constant {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?),
            false => ColumnarValue::Array(result),
        })
    };
    create_udf(name, takes, gives, Volatility::Immutable, Arc::new(call))
}
