//! The requests of a client of Flight SQL, and their answers.
//!
//! A question comes twice: once for the types of its answer and a ticket, and once with the ticket for the
//! rows. The ticket is the statement itself: nothing runs before the rows are fetched, and nothing is kept if
//! they never are.

use std::sync::Arc;

use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::encode::{DictionaryHandling, FlightDataEncoderBuilder};
use arrow_flight::error::FlightError;
use arrow_flight::flight_service_server::FlightService;
use arrow_flight::sql::metadata::SqlInfoData;
use arrow_flight::sql::server::{FlightSqlService, PeekableFlightDataStream};
use arrow_flight::sql::{
    ActionClosePreparedStatementRequest, ActionCreatePreparedStatementRequest,
    ActionCreatePreparedStatementResult, CommandGetCatalogs, CommandGetDbSchemas, CommandGetSqlInfo,
    CommandGetTableTypes, CommandGetTables, CommandPreparedStatementQuery, CommandStatementQuery,
    DoPutPreparedStatementResult, ProstMessageExt, SqlInfo, TicketStatementQuery,
};
use arrow_flight::{Action, FlightDescriptor, FlightEndpoint, FlightInfo, IpcMessage, SchemaAsIpc, Ticket};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::ipc::writer::IpcWriteOptions;
use datafusion::error::DataFusionError;
use datafusion::execution::context::{SQLOptions, SessionContext};
use datafusion::logical_expr::LogicalPlan;
use futures::{StreamExt, TryStreamExt};
use isochrone::shared;
use prost::Message;
use tonic::{Request, Response, Status};

use super::catalog;
use super::prepared::{self, Prepared};
use crate::program::explain;
use crate::traced::Traced;

type Rows = <Service as FlightService>::DoGetStream;

/// Answers for one set of traces.
pub(super) struct Service {
    context: SessionContext,
    /// The traces, unless a directory of Parquet is queried.
    traced: Option<Arc<Traced>>,
    server: SqlInfoData,
    quiet: bool,
}

impl Service {
    /// `quiet`: what was lost of the traces is not said.
    ///
    /// # Errors
    /// None in practice.
    pub(super) fn new(
        context: SessionContext,
        traced: Option<Arc<Traced>>,
        quiet: bool,
    ) -> Result<Self, FlightError> {
        Ok(Self { context, traced, server: catalog::server()?, quiet })
    }

    /// The plan of a statement. It may only read: what makes tables, writes files or changes options is
    /// refused.
    async fn plan(&self, sql: &str) -> Result<LogicalPlan, Status> {
        let only_read =
            SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        let plan = self.context.state().create_logical_plan(sql).await.map_err(|error| self.wrong(&error))?;
        only_read.verify_plan(&plan).map_err(|error| self.wrong(&error))?;
        Ok(plan)
    }

    /// The statement of a handle, with the parameters that it was given.
    async fn plan_prepared(&self, handle: &[u8]) -> Result<LogicalPlan, Status> {
        let prepared = Prepared::of_handle(handle)?;
        let plan = self.plan(&prepared.sql).await?;
        match prepared.values()? {
            Some(values) => plan.with_param_values(values).map_err(|error| self.wrong(&error)),
            None => Ok(plan),
        }
    }

    /// The rows of an answer, batch by batch as they come.
    async fn rows(&self, plan: LogicalPlan) -> Result<Response<Rows>, Status> {
        // Nullable are the columns that the plan has as such; execution may know better, but drivers insist
        // on the plan.
        let schema = Arc::clone(plan.schema().inner());
        let frame = self.context.execute_logical_plan(plan).await.map_err(|error| self.wrong(&error))?;
        let batches = frame.execute_stream().await.map_err(|error| self.wrong(&error))?;
        let (context, traced, quiet) = (self.context.clone(), self.traced.clone(), self.quiet);
        let batches = batches.map_err(move |error| FlightError::from(status(&error, &context)));
        let batches = batches.chain(
            futures::stream::once(async move {
                let lost = traced.map(|traced| traced.take_complaints()).unwrap_or_default();
                shared::show_lost(&lost, quiet);
            })
            .filter_map(|()| std::future::ready(None)),
        );
        Ok(encode(schema, batches))
    }

    /// An error as clients show it.
    fn wrong(&self, error: &DataFusionError) -> Status {
        status(error, &self.context)
    }
}

fn status(error: &DataFusionError, context: &SessionContext) -> Status {
    let text = format!("{:#}", explain(error, context));
    match error.find_root() {
        DataFusionError::External(_) | DataFusionError::IoError(_) | DataFusionError::Execution(_) => {
            Status::internal(text)
        }
        _ => Status::invalid_argument(text),
    }
}

fn internal(error: impl std::fmt::Display) -> Status {
    Status::internal(error.to_string())
}

/// Batches on their way to a client, no message larger than 2 MiB.
fn encode(
    schema: SchemaRef,
    batches: impl futures::Stream<Item = Result<RecordBatch, FlightError>> + Send + 'static,
) -> Response<Rows> {
    let encoded = FlightDataEncoderBuilder::new()
        .with_schema(schema)
        .with_dictionary_handling(DictionaryHandling::Resend)
        .build(batches);
    Response::new(encoded.map_err(Status::from).boxed())
}

/// One batch for a client.
fn one(batch: Result<RecordBatch, FlightError>) -> Result<Response<Rows>, Status> {
    let batch = batch.map_err(Status::from)?;
    Ok(encode(batch.schema(), futures::stream::iter([Ok(batch)])))
}

/// What an answer will look like, and the ticket for it.
fn info(
    ticket: &impl ProstMessageExt,
    schema: &Schema,
    request: Request<FlightDescriptor>,
) -> Result<Response<FlightInfo>, Status> {
    // Without a place of its own: rows are fetched where the question was command.
    let endpoint = FlightEndpoint::new().with_ticket(Ticket::new(ticket.as_any().encode_to_vec()));
    let info = FlightInfo::new().try_with_schema(schema).map_err(internal)?;
    Ok(Response::new(info.with_endpoint(endpoint).with_descriptor(request.into_inner())))
}

/// A schema as actions carry it.
fn message(schema: &Schema) -> Result<IpcMessage, Status> {
    SchemaAsIpc::new(schema, &IpcWriteOptions::default()).try_into().map_err(internal)
}

#[async_trait::async_trait]
impl FlightSqlService for Service {
    type FlightService = Self;

    async fn get_flight_info_statement(
        &self,
        command: CommandStatementQuery,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        let plan = self.plan(&command.query).await?;
        let ticket = TicketStatementQuery { statement_handle: command.query.into_bytes().into() };
        info(&ticket, plan.schema().as_arrow(), request)
    }

    async fn do_get_statement(
        &self,
        ticket: TicketStatementQuery,
        _: Request<Ticket>,
    ) -> Result<Response<Rows>, Status> {
        let sql = std::str::from_utf8(&ticket.statement_handle)
            .map_err(|_| Status::invalid_argument("the ticket is not one of this server"))?;
        self.rows(self.plan(sql).await?).await
    }

    async fn do_action_create_prepared_statement(
        &self,
        command: ActionCreatePreparedStatementRequest,
        _: Request<Action>,
    ) -> Result<ActionCreatePreparedStatementResult, Status> {
        let plan = self.plan(&command.query).await?;
        let parameters = prepared::parameters(&plan).map_err(|error| self.wrong(&error))?;
        let IpcMessage(dataset_schema) = message(plan.schema().as_arrow())?;
        let IpcMessage(parameter_schema) = message(&parameters)?;
        let prepared_statement_handle = Prepared::new(command.query).handle()?.into();
        Ok(ActionCreatePreparedStatementResult {
            prepared_statement_handle,
            dataset_schema,
            parameter_schema,
        })
    }

    async fn do_put_prepared_statement_query(
        &self,
        command: CommandPreparedStatementQuery,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<DoPutPreparedStatementResult, Status> {
        let prepared = Prepared::of_handle(&command.prepared_statement_handle)?;
        let sent = request.into_inner().map_err(FlightError::from);
        let batches: Vec<RecordBatch> =
            FlightRecordBatchStream::new_from_flight_data(sent).try_collect().await.map_err(Status::from)?;
        let bound = prepared.bind(&batches)?;
        Ok(DoPutPreparedStatementResult { prepared_statement_handle: Some(bound.handle()?.into()) })
    }

    async fn get_flight_info_prepared_statement(
        &self,
        command: CommandPreparedStatementQuery,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        let plan = self.plan_prepared(&command.prepared_statement_handle).await?;
        info(&command, plan.schema().as_arrow(), request)
    }

    async fn do_get_prepared_statement(
        &self,
        command: CommandPreparedStatementQuery,
        _: Request<Ticket>,
    ) -> Result<Response<Rows>, Status> {
        self.rows(self.plan_prepared(&command.prepared_statement_handle).await?).await
    }

    async fn do_action_close_prepared_statement(
        &self,
        _: ActionClosePreparedStatementRequest,
        _: Request<Action>,
    ) -> Result<(), Status> {
        // Nothing was kept.
        Ok(())
    }

    async fn get_flight_info_catalogs(
        &self,
        command: CommandGetCatalogs,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        info(&command, &command.into_builder().schema(), request)
    }

    async fn do_get_catalogs(
        &self,
        command: CommandGetCatalogs,
        _: Request<Ticket>,
    ) -> Result<Response<Rows>, Status> {
        one(catalog::catalogs(&self.context, command))
    }

    async fn get_flight_info_schemas(
        &self,
        command: CommandGetDbSchemas,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        info(&command, &command.clone().into_builder().schema(), request)
    }

    async fn do_get_schemas(
        &self,
        command: CommandGetDbSchemas,
        _: Request<Ticket>,
    ) -> Result<Response<Rows>, Status> {
        one(catalog::schemas(&self.context, command))
    }

    async fn get_flight_info_tables(
        &self,
        command: CommandGetTables,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        info(&command, &command.clone().into_builder().schema(), request)
    }

    async fn do_get_tables(
        &self,
        command: CommandGetTables,
        _: Request<Ticket>,
    ) -> Result<Response<Rows>, Status> {
        one(catalog::tables(&self.context, command).await)
    }

    async fn get_flight_info_table_types(
        &self,
        command: CommandGetTableTypes,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        info(&command, &command.into_builder().schema(), request)
    }

    async fn do_get_table_types(
        &self,
        command: CommandGetTableTypes,
        _: Request<Ticket>,
    ) -> Result<Response<Rows>, Status> {
        one(catalog::table_types(command))
    }

    async fn get_flight_info_sql_info(
        &self,
        command: CommandGetSqlInfo,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        info(&command, &command.clone().into_builder(&self.server).schema(), request)
    }

    async fn do_get_sql_info(
        &self,
        command: CommandGetSqlInfo,
        _: Request<Ticket>,
    ) -> Result<Response<Rows>, Status> {
        one(command.into_builder(&self.server).build())
    }

    async fn register_sql_info(&self, _: i32, _: &SqlInfo) {
        // What the server is does not change while it runs.
    }
}
