//! `isochrone-sql scheduler`: plans questions, and gives executors their parts when they ask for work.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_core::utils::{GrpcServerConfig, create_grpc_server};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::create_scheduler;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;

use super::codec::{Known, LogicalCodec, PhysicalCodec};
use super::placement::Placement;
use super::{Door, MAX_MESSAGE_BYTES, config};
use crate::shutdown::ended;

/// Seconds without a request for work after which an executor is gone: its work is given to others. A busy
/// one requests every five seconds.
const GONE_AFTER: u64 = 8;

/// So often it is looked, s.
const LOOK_EVERY: u64 = 1;

/// Serves until the process is ended. `name`: how others reach it. `keep`: the results of executors for a
/// query are deleted that many seconds after it was answered, within which the answer has to be fetched.
/// `ready` is called when executors and questions can come.
///
/// # Errors
/// The address cannot be listened on, or would let everybody in.
pub(crate) async fn scheduler(
    listen: SocketAddr,
    name: Option<String>,
    keep: u64,
    door: &Door,
    ready: impl FnOnce(SocketAddr) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    door.guards(listen)?;
    let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot listen on {listen}"))?;
    let listen = listener.local_addr()?;
    let known = Arc::new(Known::default());
    let (of_session, of_clients) = (Arc::clone(&known), door.clone());
    let session = move |config: SessionConfig| {
        Ok(SessionStateBuilder::new().with_config(config).with_default_features().build())
    };
    let settings = SchedulerConfig {
        bind_host: listen.ip().to_string(),
        bind_port: listen.port(),
        external_host: name.unwrap_or_else(|| listen.ip().to_string()),
        // Executors ask for work: they need no door of their own for it.
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        executor_timeout_seconds: GONE_AFTER,
        expire_dead_executor_interval_seconds: LOOK_EVERY,
        no_executors_grace_period_seconds: GONE_AFTER,
        finished_job_data_clean_up_interval_seconds: keep,
        finished_job_state_clean_up_interval_seconds: keep,
        grpc_server_max_decoding_message_size: MAX_MESSAGE_BYTES,
        grpc_server_max_encoding_message_size: MAX_MESSAGE_BYTES,
        grpc_client_max_message_size: MAX_MESSAGE_BYTES,
        override_config_producer: Some(Arc::new(move || config(&of_session, &of_clients))),
        override_session_builder: Some(Arc::new(session)),
        override_logical_codec: Some(Arc::new(LogicalCodec::new(&known))),
        override_physical_codec: Some(Arc::new(PhysicalCodec::new(&known))),
        override_create_grpc_client_endpoint: door.endpoint(),
        use_tls: door.is_locked(),
        ..SchedulerConfig::default()
    };
    settings.validate()?;
    let cluster = BallistaCluster::new_from_config(&settings).await?;
    let placement = Arc::new(Placement::new(cluster.cluster_state()));
    let settings =
        SchedulerConfig { task_distribution: TaskDistributionPolicy::Custom(placement), ..settings };
    let scheduler =
        create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(settings)).await?;
    let service = SchedulerGrpcServer::new(scheduler)
        .max_encoding_message_size(MAX_MESSAGE_BYTES as usize)
        .max_decoding_message_size(MAX_MESSAGE_BYTES as usize);
    ready(listen)?;
    door.server(create_grpc_server(&GrpcServerConfig::default()))?
        .add_service(service)
        .serve_with_incoming_shutdown(TcpIncoming::from(listener).with_nodelay(Some(true)), ended())
        .await
        .with_context(|| format!("cannot serve on {listen}"))
}
