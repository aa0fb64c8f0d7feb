//! Which pieces of a table a query needs: those whose least and greatest values its conditions do not
//! exclude.
//!
//! What a condition says of a range of values is decided by DataFusion ([`PruningPredicate`]), which
//! understands comparisons, `BETWEEN`, `IN`, `LIKE`, `AND`, `OR` and casts; where it does not, the piece is
//! read.

use std::collections::{HashMap, HashSet};

use datafusion::arrow::array::{ArrayRef, BooleanArray};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::utils::conjunction;
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};

/// The conditions of a query on one table.
#[derive(Debug)]
pub(crate) struct Pruner {
    predicate: Option<PruningPredicate>,
}

/// The least and the greatest values of columns, by container.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    containers: usize,
    columns: HashMap<&'static str, (ArrayRef, ArrayRef)>,
}

impl Ranges {
    /// Containers without known values. `containers`: their number.
    pub(crate) fn of(containers: usize) -> Self {
        Self { containers, columns: HashMap::new() }
    }

    /// With the least and the greatest values of a column, one each for each container.
    pub(crate) fn with(mut self, column: &'static str, least: ArrayRef, greatest: ArrayRef) -> Self {
        self.columns.insert(column, (least, greatest));
        self
    }
}

impl PruningStatistics for Ranges {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.columns.get(column.name()).map(|(least, _)| least.clone())
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.columns.get(column.name()).map(|(_, greatest)| greatest.clone())
    }

    fn num_containers(&self) -> usize {
        self.containers
    }

    fn null_counts(&self, _: &Column) -> Option<ArrayRef> {
        None
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        None
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}

impl Pruner {
    /// The conditions of a query on a table with these columns.
    pub(crate) fn new(state: &dyn Session, schema: &SchemaRef, filters: &[Expr]) -> Result<Self> {
        let Some(all) = conjunction(filters.iter().cloned()) else { return Ok(Self { predicate: None }) };
        let columns = DFSchema::try_from(SchemaRef::clone(schema))?;
        let condition = state.create_physical_expr(all, &columns)?;
        // What it cannot express excludes nothing.
        Ok(Self {
            predicate: PruningPredicateBuilder::new()
                .with_file_schema(SchemaRef::clone(schema))
                .try_build(condition)
                .ok(),
        })
    }

    /// By container: whether it may hold rows that are wanted.
    pub(crate) fn kept(&self, ranges: &Ranges) -> Vec<bool> {
        let kept = self.predicate.as_ref().and_then(|predicate| predicate.prune(ranges).ok());
        kept.unwrap_or_else(|| vec![true; ranges.containers])
    }
}
