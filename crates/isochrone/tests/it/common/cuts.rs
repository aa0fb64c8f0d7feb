//! What may be missing of a trace: groups of event classes, streams, packets; and the recordings that are cut so.

use std::path::{Path, PathBuf};

/// Groups of events that somebody may leave out.
pub(crate) const GROUPS: [&str; 24] = [
    "sched_switch",
    "sched_wak*",
    "sched_waking",
    "sched_wakeup",
    "sched_process_*",
    "sched_migrate_task",
    "sched_pi_setprio",
    "irq_*",
    "irq_handler_*",
    "irq_softirq_*",
    "irq_softirq_raise",
    "timer_*",
    "block_*",
    "block_rq_insert",
    "kmem_*",
    "net_*",
    "net_dev_xmit",
    "lttng_statedump_*",
    "*syscall_*",
    "*syscall_*_read",
    "*syscall_*_openat",
    "*syscall_*_close",
    "*syscall_*_dup*",
    "*syscall_*_socket",
];

/// Whether a name is of a pattern in which `*` stands for anything.
pub(crate) fn is_of(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((head, rest)) => name.strip_prefix(head).is_some_and(|name| {
            (0..=name.len()).any(|at| name.is_char_boundary(at) && is_of(rest, &name[at..]))
        }),
        None => name == pattern,
    }
}

/// The traces of the hosts of a scenario, by name.
pub(crate) fn hosts(directory: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("kernel").is_dir() || path.join("metadata").is_file())
        .collect();
    all.sort();
    all
}

/// The files of streams of hosts that have several, below a directory.
pub(crate) fn streams(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for kernel in hosts(directory).iter().map(|host| host.join("kernel")) {
        let names = std::fs::read_dir(&kernel).into_iter().flatten().map(|it| it.unwrap().path());
        let of_host: Vec<PathBuf> =
            names.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("ch_")).collect();
        if of_host.len() > 1 {
            all.extend(of_host.iter().map(|path| path.strip_prefix(directory).unwrap().to_owned()));
        }
    }
    all.sort();
    all
}

/// The recordings that are cut: all of the corpus where `ISOCHRONE_ALL` is set, else a few, which takes a minute.
pub(crate) fn chosen(shared: &Path) -> Vec<PathBuf> {
    let vm = shared.join("data/vm");
    if std::env::var_os("ISOCHRONE_ALL").is_none() {
        return ["ipc1", "web2"].map(|name| vm.join(name)).to_vec();
    }
    let mut all: Vec<PathBuf> = std::fs::read_dir(&vm).unwrap().map(|it| it.unwrap().path()).collect();
    all.retain(|path| !hosts(path).is_empty());
    all.sort();
    all
}

/// Nothing was found wrong.
pub(crate) fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
