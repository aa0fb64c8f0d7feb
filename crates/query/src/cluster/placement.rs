//! Which executor gets which task: what is to be mapped on one machine goes to the executor there, all other
//! tasks to the first executor that asks for work.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::serde::protobuf::AvailableVcores;
use ballista_core::serde::scheduler::ExecutorData;
use ballista_scheduler::cluster::memory::InMemoryClusterState;
use ballista_scheduler::cluster::{BoundTask, ClusterState, DistributionPolicy};
use ballista_scheduler::config::TaskDistributionPolicy;
use ballista_scheduler::state::task_manager::JobInfoCache;
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_plan::ExecutionPlan;

use crate::scan::ScanExec;
use crate::tables::TableSource;

/// Chooses among the jobs that run for an executor that asks for work.
pub(super) struct Placement {
    /// Who the executors are.
    cluster: Arc<dyn ClusterState>,
}

impl Placement {
    pub(super) fn new(cluster: Arc<dyn ClusterState>) -> Self {
        Self { cluster }
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Placement")
    }
}

#[async_trait]
impl DistributionPolicy for Placement {
    async fn bind_tasks(
        &self,
        budgets: Vec<&mut AvailableVcores>,
        running: Arc<HashMap<JobId, JobInfoCache>>,
    ) -> Result<Vec<BoundTask>> {
        let executors = self.cluster.registered_executor_metadata().await;
        let mut machines: HashMap<JobId, Option<String>> = HashMap::new();
        for (id, job) in running.iter() {
            let plan = job.execution_graph.read().await.physical_plan();
            // Where there is no such executor, any other one says so.
            let machine = machine_of(&plan).filter(|it| executors.iter().any(|one| one.host == *it));
            machines.insert(id.clone(), machine);
        }
        let mut bound = Vec::new();
        for budget in budgets {
            let Some(executor) = executors.iter().find(|it| it.id == budget.executor_id) else { continue };
            let is_for_it = |id: &JobId| machines[id].as_ref().is_none_or(|it| *it == executor.host);
            let jobs: HashMap<JobId, JobInfoCache> = running
                .iter()
                .filter(|(id, _)| is_for_it(id))
                .map(|(id, job)| (id.clone(), job.clone()))
                .collect();
            // Ballista's own choice among these, as if nobody else were there.
            let alone = InMemoryClusterState::default();
            let (total_vcores, available_vcores) = (budget.vcores, budget.vcores);
            let data = ExecutorData { executor_id: executor.id.clone(), total_vcores, available_vcores };
            let external = |error| DataFusionError::External(Box::new(error));
            alone.register_executor(executor.clone(), data).await.map_err(external)?;
            let chosen = alone.bind_schedulable_tasks(TaskDistributionPolicy::Bias, Arc::new(jobs), None);
            let chosen = chosen.await.map_err(external)?;
            budget.vcores -= chosen.iter().map(|(_, task)| task.vcores_consumed).sum::<u32>();
            bound.extend(chosen);
        }
        Ok(bound)
    }

    fn name(&self) -> &'static str {
        "placement"
    }
}

/// The machine that a plan has to be carried out on, if it is one.
fn machine_of(plan: &Arc<dyn ExecutionPlan>) -> Option<String> {
    if let Some(scan) = plan.downcast_ref::<ScanExec>()
        && let TableSource::Located(located) = &scan.scanned.named.source
    {
        return Some(located.machine.clone());
    }
    plan.children().into_iter().find_map(machine_of)
}
