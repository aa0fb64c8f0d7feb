//! Prepared statements. All that the server knows of one is in the handle that its client keeps, so that
//! nothing has to be remembered, and a server that was restarted answers as before.

use std::io::Cursor;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::common::ParamValues;
use datafusion::logical_expr::LogicalPlan;
use datafusion::scalar::ScalarValue;
use serde::{Deserialize, Serialize};
use tonic::Status;

/// A statement, and the values of its parameters `$1`, `$2` ….
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prepared {
    pub(super) sql: String,
    /// A stream of Arrow IPC with one row; empty: none are given yet.
    parameters: Vec<u8>,
}

impl Prepared {
    pub(super) fn new(sql: String) -> Self {
        Self { sql, parameters: Vec::new() }
    }

    /// Of a handle.
    ///
    /// # Errors
    /// No server of this version has made it.
    pub(super) fn of_handle(handle: &[u8]) -> Result<Self, Status> {
        serde_json::from_slice(handle).map_err(|_| {
            Status::invalid_argument("the handle of the prepared statement is not one of this server")
        })
    }

    /// What the client keeps.
    ///
    /// # Errors
    /// None in practice.
    pub(super) fn handle(&self) -> Result<Vec<u8>, Status> {
        serde_json::to_vec(self).map_err(|error| Status::internal(error.to_string()))
    }

    /// The same statement with values for its parameters, one row.
    ///
    /// # Errors
    /// There is not exactly one row.
    pub(super) fn bind(self, batches: &[RecordBatch]) -> Result<Self, Status> {
        let mut rows = batches.iter().filter(|batch| batch.num_rows() > 0);
        let (Some(row), None) = (rows.next(), rows.next()) else {
            return Err(one_row());
        };
        if row.num_rows() != 1 {
            return Err(one_row());
        }
        let written = StreamWriter::try_new(Vec::new(), &row.schema()).and_then(|mut writer| {
            writer.write(row)?;
            writer.into_inner()
        });
        let parameters = written.map_err(|error| Status::invalid_argument(error.to_string()))?;
        Ok(Self { parameters, ..self })
    }

    /// The values of the parameters in their order, whatever their columns are called; `None`: none were
    /// given.
    ///
    /// # Errors
    /// The handle was damaged.
    pub(super) fn values(&self) -> Result<Option<ParamValues>, Status> {
        if self.parameters.is_empty() {
            return Ok(None);
        }
        let damaged = |error: String| Status::invalid_argument(format!("parameters cannot be read: {error}"));
        let mut reader = StreamReader::try_new(Cursor::new(&self.parameters), None)
            .map_err(|error| damaged(error.to_string()))?;
        let row = reader.next().ok_or_else(one_row)?.map_err(|error| damaged(error.to_string()))?;
        let values: Result<Vec<ScalarValue>, _> =
            row.columns().iter().map(|column| ScalarValue::try_from_array(column, 0)).collect();
        Ok(Some(values.map_err(|error| damaged(error.message().into_owned()))?.into()))
    }
}

fn one_row() -> Status {
    Status::invalid_argument("parameters are one row of values")
}

/// What parameters a statement has: their names as in `$1`, in their order, and the types where the statement
/// has them.
///
/// # Errors
/// A parameter is used as two types.
pub(super) fn parameters(plan: &LogicalPlan) -> datafusion::common::Result<Schema> {
    let mut types: Vec<(String, Option<DataType>)> = plan.get_parameter_types()?.into_iter().collect();
    // `$10` comes after `$9`.
    types.sort_by_key(|(name, _)| (name.len(), name.clone()));
    let fields = types.into_iter().map(|(name, kind)| Field::new(name, kind.unwrap_or(DataType::Null), true));
    Ok(Schema::new(fields.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::Int64Array;

    use super::*;

    fn rows(values: Vec<i64>) -> RecordBatch {
        RecordBatch::try_from_iter([("any", Arc::new(Int64Array::from(values)) as _)]).expect("one column")
    }

    #[test]
    fn a_handle_is_all_that_is_known_of_a_statement() {
        let statement = Prepared::new("SELECT $1".to_owned()).bind(&[rows(vec![7])]).expect("one row");
        let again = Prepared::of_handle(&statement.handle().expect("a handle")).expect("the same");
        assert_eq!(again, statement);
        let Some(ParamValues::List(values)) = again.values().expect("values") else { panic!("no list") };
        assert_eq!(values.len(), 1);
        assert_eq!(values[0].value, ScalarValue::Int64(Some(7)));
        assert!(Prepared::new(String::new()).values().expect("none").is_none());
    }

    #[test]
    fn what_is_no_handle_and_what_is_not_one_row_is_refused() {
        assert!(Prepared::of_handle(b"7f3a").is_err());
        for batches in
            [vec![], vec![rows(vec![])], vec![rows(vec![1, 2])], vec![rows(vec![1]), rows(vec![2])]]
        {
            assert!(Prepared::new(String::new()).bind(&batches).is_err(), "{batches:?}");
        }
    }
}
