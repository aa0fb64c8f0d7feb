//! `isochrone-sql executor`: requests work from a scheduler, reads pieces, and keeps its results until others
//! have fetched them.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use arrow_flight::flight_service_server::FlightServiceServer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::utils::{GrpcServerConfig, create_grpc_server};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::flight_service::BallistaFlightService;
use ballista_executor::shutdown::Shutdown;

use super::codec::{Known, LogicalCodec, PhysicalCodec};
use super::{Door, MAX_MESSAGE_BYTES, config};
use crate::tables::Machine;

/// Seconds without a change after which the rest of queries that their scheduler has forgotten is deleted.
const KEEP: u64 = 3600;

/// So often it is looked for that, s.
const LOOK_EVERY: u64 = 60;

/// So long a scheduler may take to start, s.
const PATIENCE: u16 = 10;

/// The options of an executor.
pub(crate) struct Executor<'s> {
    /// The host of the scheduler.
    pub(crate) scheduler_host: String,
    /// Its port.
    pub(crate) scheduler_port: u16,
    /// Where others fetch what it has made.
    pub(crate) listen: SocketAddr,
    /// How others reach it; `None`: by the address that it listens on.
    pub(crate) name: Option<String>,
    /// Cores; `None`: all.
    pub(crate) cores: Option<NonZeroUsize>,
    /// Where it keeps what it has made.
    pub(crate) work: &'s Path,
}

/// Works until the process is ended.
///
/// # Errors
/// The scheduler does not answer, or the address cannot be listened on or would let everybody in.
pub(crate) async fn executor(options: Executor<'_>, door: &Door) -> anyhow::Result<()> {
    let Executor { scheduler_host: host, scheduler_port: port, listen, name, cores, work } = options;
    door.guards(listen)?;
    let all = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let machine =
        Machine { name: name.unwrap_or_else(|| listen.ip().to_string()), cores: cores.unwrap_or_else(all) };
    let (name, cores) = (machine.name.clone(), machine.cores);
    let known = Arc::new(Known::on(machine));
    let (of_session, of_clients, of_server) = (Arc::clone(&known), door.clone(), door.clone());
    let serve = move |work: String, listen: SocketAddr, mut ended: Shutdown, settings: GrpcServerConfig| {
        let server = of_server.server(create_grpc_server(&settings));
        tokio::spawn(async move {
            let service = FlightServiceServer::new(BallistaFlightService::new(work))
                .max_decoding_message_size(MAX_MESSAGE_BYTES as usize)
                .max_encoding_message_size(MAX_MESSAGE_BYTES as usize);
            let mut server = server.map_err(|error| BallistaError::Configuration(format!("{error:#}")))?;
            let served = server.add_service(service).serve_with_shutdown(listen, ended.recv()).await;
            served.map_err(BallistaError::TonicError)
        })
    };
    let settings = ExecutorProcessConfig {
        bind_host: listen.ip().to_string(),
        external_host: Some(name),
        port: listen.port(),
        scheduler_host: host.clone(),
        scheduler_port: port,
        scheduler_connect_timeout_seconds: PATIENCE,
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        vcores: cores.get(),
        work_dir: Some(work.to_string_lossy().into_owned()),
        job_data_ttl_seconds: KEEP,
        job_data_clean_up_interval_seconds: LOOK_EVERY,
        grpc_max_decoding_message_size: MAX_MESSAGE_BYTES,
        grpc_max_encoding_message_size: MAX_MESSAGE_BYTES,
        override_config_producer: Some(Arc::new(move || config(&of_session, &of_clients))),
        override_logical_codec: Some(Arc::new(LogicalCodec::new(&known))),
        override_physical_codec: Some(Arc::new(PhysicalCodec::new(&known))),
        override_arrow_flight_service: Some(Arc::new(serve)),
        override_create_grpc_client_endpoint: door.endpoint(),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(settings))
        .await
        .with_context(|| format!("an executor of the scheduler at {host}:{port}"))
}
