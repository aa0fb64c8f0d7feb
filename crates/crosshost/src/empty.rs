//! Reports of questions about no hosts: which tables and columns they have.

use isochrone_analysis::Report;
use isochrone_store::StoreError;

use crate::{Cluster, ThreadRef, accounting, blocking, bottleneck, critical_path, ipc, messages, wait_tree};

/// The reports of a question, by its name on the command line, with all tables and without rows. Empty:
/// there is no such question.
pub fn empty_reports(question: &str) -> Vec<Report> {
    let cluster = Cluster::of_no_hosts();
    let cluster = &cluster;
    let none = |_: ThreadRef| false;
    let reports: Vec<Result<Report, StoreError>> = match question {
        "critical-path" => vec![Ok(critical_path(cluster, &[], true, false))],
        "bottleneck" => vec![bottleneck(cluster, None, &[], 1, false)],
        "accounting" => vec![accounting(cluster, None, false)],
        "blocking" => {
            vec![blocking(cluster, None, none, true, false), wait_tree(cluster, None, none, false)]
        }
        "ipc" => vec![ipc(cluster, None, false)],
        "messages" => vec![messages(cluster, None, true, false)],
        _ => Vec::new(),
    };
    // Nothing is read, so that nothing can fail.
    reports.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_has_tables_without_rows() {
        for question in ["critical-path", "bottleneck", "accounting", "blocking", "ipc", "messages"] {
            let tables: Vec<_> = empty_reports(question).into_iter().flat_map(|it| it.tables).collect();
            assert!(!tables.is_empty() && tables.iter().all(|it| !it.columns.is_empty()), "{question}");
            assert!(tables.iter().all(|table| table.rows.is_empty()), "{question}");
        }
        assert!(empty_reports("view").is_empty());
    }
}
