//! What has to be traced on each host for what is asked across hosts.

use isochrone_analysis::Need;

/// Who ended a wait, and whether it was a thread at all.
const WAITS: [Need; 6] =
    [Need::Switches, Need::Decisions, Need::Calls, Need::HardInterrupts, Need::Softirqs, Need::Timers];

/// What the report of a name is made of; nothing for names of other reports.
pub fn needs(report: &str) -> Vec<Need> {
    let more: &[Need] = match report {
        "critical-path" | "blocking" | "bottleneck" => {
            &[Need::Packets, Need::Received, Need::Sent, Need::Disks]
        }
        "ipc" => &[Need::Packets, Need::Received, Need::Sent],
        "accounting" => &[Need::Packets, Need::Received, Need::Sent, Need::Disks, Need::Pages],
        "messages" => return vec![Need::Calls, Need::Softirqs, Need::Packets, Need::Received, Need::Sent],
        _ => return Vec::new(),
    };
    [&WAITS, &[Need::Waking, Need::Lives, Need::FileCalls, Need::Dump][..], more].concat()
}
