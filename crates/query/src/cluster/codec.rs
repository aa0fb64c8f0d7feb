//! Tables, plans and functions of this crate as bytes that another process of the same program understands: a
//! table is its name and the origin of its traces, which the other process opens and keeps open ([`Known`]).

use std::sync::{Arc, Mutex, PoisonError};

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, Result, TableReference, internal_datafusion_err};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, LogicalPlan, ScalarUDF, WindowUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use isochrone_experiment::chunks::Located;
use isochrone_experiment::pieces::Mapping;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::functions::{self, Function};
use crate::origin::Origin;
use crate::scan::{Provider, ScanExec, Scanned, Selection};
use crate::tables::{Machine, Named, TableName, TableSource};
use crate::traced::Traced;

/// What bytes of this crate begin with.
const MARK: &[u8] = b"isochrone 1\n";

/// Maximum number of experiments that are kept open for the next query.
const MAX_OPEN: usize = 4;

/// The experiments that this process has opened, and what it is as an executor.
#[derive(Debug, Default)]
pub(super) struct Known {
    opened: Mutex<Vec<(Origin, Arc<Traced>)>>,
    machine: Option<Machine>,
}

impl Known {
    /// With one that is open.
    ///
    /// # Errors
    /// Other processes cannot open it.
    pub(super) fn with(traced: &Arc<Traced>) -> Result<Self> {
        let opened = Mutex::new(vec![(traced.origin()?.clone(), Arc::clone(traced))]);
        Ok(Self { opened, machine: None })
    }

    /// Of an executor.
    pub(super) fn on(machine: Machine) -> Self {
        Self { machine: Some(machine), ..Self::default() }
    }

    /// An experiment, opened if it is not.
    fn traced(&self, origin: &Origin) -> Result<Arc<Traced>> {
        let mut known = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = known.iter().position(|(there, traced)| there == origin && traced.is_fresh()) {
            known[..=index].rotate_right(1);
            return Ok(Arc::clone(&known[0].1));
        }
        let traced = Traced::open(origin).map_err(|error| DataFusionError::External(error.into()))?;
        let traced = Arc::new(traced);
        known.retain(|(there, _)| there != origin);
        known.truncate(MAX_OPEN - 1);
        known.insert(0, (origin.clone(), Arc::clone(&traced)));
        Ok(traced)
    }
}

/// A table.
#[derive(Serialize, Deserialize)]
enum TableBytes {
    /// Of traces and their store.
    Traced(Origin, TableName),
    /// Of mapped pieces.
    Mapping(Box<Mapping>),
    /// Of what lies on one machine.
    Located(Box<Located>),
}

impl TableBytes {
    fn of(table: &Named) -> Result<Self> {
        Ok(match &table.source {
            TableSource::Traced(traced, name) => Self::Traced(traced.origin()?.clone(), name.clone()),
            TableSource::Mapping(mapping) => Self::Mapping(Box::new(Mapping::clone(mapping))),
            TableSource::Located(located) => Self::Located(Box::new(Located::clone(located))),
        })
    }

    fn table(self, known: &Known) -> Result<Named> {
        match self {
            Self::Traced(origin, name) => Named::new(&known.traced(&origin)?, name),
            Self::Mapping(mapping) => Ok(Named::mapped(&Arc::from(mapping))),
            Self::Located(located) => Ok(Named::located(&Arc::from(located), known.machine.as_ref())),
        }
    }
}

/// What is read of a table.
#[derive(Serialize, Deserialize)]
struct ScanBytes {
    table: TableBytes,
    selection: Selection,
    columns: Vec<usize>,
    all: u64,
}

fn put(value: &impl Serialize, to: &mut Vec<u8>) -> Result<()> {
    to.extend_from_slice(MARK);
    serde_json::to_writer(to, value).map_err(|error| internal_datafusion_err!("cannot be sent: {error}"))
}

/// Bytes of this crate; `None`: they are not.
fn get<T: DeserializeOwned>(bytes: &[u8]) -> Option<Result<T>> {
    let bytes = bytes.strip_prefix(MARK)?;
    Some(serde_json::from_slice(bytes).map_err(|error| {
        internal_datafusion_err!(
            "cannot be understood; all machines of a cluster need the same version: {error}"
        )
    }))
}

/// A function is its name and the origin of the traces whose clocks it knows, if any.
fn put_function(function: &ScalarUDF, to: &mut Vec<u8>) -> Result<()> {
    match (function.inner().as_ref() as &dyn std::any::Any).downcast_ref::<Function>() {
        Some(own) => put(&own.traced().map(|traced| traced.origin()).transpose()?, to),
        None => Ok(()),
    }
}

fn get_function(known: &Known, name: &str, bytes: &[u8]) -> Option<Result<Arc<ScalarUDF>>> {
    let found = get::<Option<Origin>>(bytes)?;
    let function = found.and_then(|origin| {
        let traced = origin.map(|origin| known.traced(&origin)).transpose()?;
        functions::named(name, traced.as_ref())
            .map(Arc::new)
            .ok_or_else(|| internal_datafusion_err!("there is no function {name}"))
    });
    Some(function)
}

/// What is of this crate, and whose the rest is.
#[derive(Debug)]
pub(super) struct Codec<R> {
    known: Arc<Known>,
    rest: R,
}

/// For logical plans: from the client to the scheduler.
pub(super) type LogicalCodec = Codec<BallistaLogicalExtensionCodec>;

/// For plans that are carried out: from the scheduler to executors.
pub(super) type PhysicalCodec = Codec<BallistaPhysicalExtensionCodec>;

impl<R: Default> Codec<R> {
    pub(super) fn new(known: &Arc<Known>) -> Self {
        Self { known: Arc::clone(known), rest: R::default() }
    }
}

impl LogicalExtensionCodec for LogicalCodec {
    fn try_decode(&self, bytes: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> Result<Extension> {
        self.rest.try_decode(bytes, inputs, context)
    }

    fn try_encode(&self, node: &Extension, to: &mut Vec<u8>) -> Result<()> {
        self.rest.try_encode(node, to)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        reference: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        match get::<TableBytes>(bytes) {
            Some(table) => Ok(Arc::new(Provider(table?.table(&self.known)?))),
            None => self.rest.try_decode_table_provider(bytes, reference, schema, context),
        }
    }

    fn try_encode_table_provider(
        &self,
        reference: &TableReference,
        provider: Arc<dyn TableProvider>,
        to: &mut Vec<u8>,
    ) -> Result<()> {
        match provider.downcast_ref::<Provider>() {
            Some(Provider(table)) => put(&TableBytes::of(table)?, to),
            None => self.rest.try_encode_table_provider(reference, provider, to),
        }
    }

    fn try_decode_file_format(
        &self,
        bytes: &[u8],
        context: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.rest.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(&self, to: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.rest.try_encode_file_format(to, format)
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        get_function(&self.known, name, bytes).unwrap_or_else(|| self.rest.try_decode_udf(name, bytes))
    }

    fn try_encode_udf(&self, function: &ScalarUDF, to: &mut Vec<u8>) -> Result<()> {
        put_function(function, to)
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.rest.try_decode_udaf(name, bytes)
    }

    fn try_decode_udwf(&self, name: &str, bytes: &[u8]) -> Result<Arc<WindowUDF>> {
        self.rest.try_decode_udwf(name, bytes)
    }
}

impl PhysicalExtensionCodec for PhysicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(found) = get::<ScanBytes>(bytes) else {
            return self.rest.try_decode(bytes, inputs, context, converter);
        };
        let ScanBytes { table, selection, columns, all } = found?;
        let [input] = inputs else {
            return Err(internal_datafusion_err!(
                "what reads a table has one list of pieces, not {}",
                inputs.len()
            ));
        };
        let named = table.table(&self.known)?;
        let scanned = Scanned { named, selection, columns, all };
        Ok(Arc::new(ScanExec::new(Arc::new(scanned), Arc::clone(input))?))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        to: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(scan) = node.downcast_ref::<ScanExec>() else {
            return self.rest.try_encode(node, to, converter);
        };
        let Scanned { named, selection, columns, all } = scan.scanned.as_ref();
        let bytes = ScanBytes {
            table: TableBytes::of(named)?,
            selection: selection.clone(),
            columns: columns.clone(),
            all: *all,
        };
        put(&bytes, to)
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        get_function(&self.known, name, bytes).unwrap_or_else(|| self.rest.try_decode_udf(name, bytes))
    }

    fn try_encode_udf(&self, function: &ScalarUDF, to: &mut Vec<u8>) -> Result<()> {
        put_function(function, to)
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.rest.try_decode_udaf(name, bytes)
    }

    fn try_decode_udwf(&self, name: &str, bytes: &[u8]) -> Result<Arc<WindowUDF>> {
        self.rest.try_decode_udwf(name, bytes)
    }
}
