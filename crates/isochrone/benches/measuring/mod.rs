//! What the benches that compare programs share: CPU time and memory of children, and the document with the tables.

mod document;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

pub use document::rewrite;

/// CPU time of a child that succeeds, and the most anonymous memory it was seen to hold (KiB).
#[allow(dead_code)] // Not every bench asks for success.
pub fn watch(child: Child) -> (Duration, u64) {
    let (cpu, memory, status) = watch_any(child);
    assert!(status.success());
    (cpu, memory)
}

/// CPU time of a child, the most anonymous memory it was seen to hold (KiB), and how it ended.
pub fn watch_any(mut child: Child) -> (Duration, u64, ExitStatus) {
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let before = children_cpu();
    let mut memory = 0;
    loop {
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let field = |name| status.lines().find_map(|line: &str| line.strip_prefix(name)).map(str::trim);
        let kib = field("RssAnon:").and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        memory = memory.max(kib.unwrap_or(0));
        // Until it is waited for, a child that has ended is a zombie.
        if field("State:").is_none_or(|state| state.starts_with('Z')) {
            let status = child.wait().unwrap();
            return (children_cpu().saturating_sub(before), memory, status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// CPU time of all children that were waited for.
pub fn children_cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let [user, system] = [usage.user_time(), usage.system_time()]
        .map(|time| Duration::new(time.tv_sec() as u64, time.tv_usec() as u32 * 1000));
    user + system
}
