//! Names of calls without an event class: the tracer records their number (`syscall_entry_unknown`).
//!
//! From 424 on the numbers are the same on all machines. Below, they are those of x86: of its 64-bit calls,
//! or of its 32-bit calls for 32-bit programs and machines.

use compact_str::format_compact;

use crate::id::Name;

/// Calls of 64-bit programs on x86.
const WIDE: [(i32, &str); 44] = [
    (15, "rt_sigreturn"),
    (57, "fork"),
    (58, "vfork"),
    (131, "sigaltstack"),
    (154, "modify_ldt"),
    (158, "arch_prctl"),
    (172, "iopl"),
    (173, "ioperm"),
    (205, "set_thread_area"),
    (211, "get_thread_area"),
    (302, "prlimit64"),
    (303, "name_to_handle_at"),
    (304, "open_by_handle_at"),
    (305, "clock_adjtime"),
    (306, "syncfs"),
    (307, "sendmmsg"),
    (308, "setns"),
    (309, "getcpu"),
    (310, "process_vm_readv"),
    (311, "process_vm_writev"),
    (312, "kcmp"),
    (313, "finit_module"),
    (314, "sched_setattr"),
    (315, "sched_getattr"),
    (316, "renameat2"),
    (317, "seccomp"),
    (318, "getrandom"),
    (319, "memfd_create"),
    (320, "kexec_file_load"),
    (321, "bpf"),
    (322, "execveat"),
    (323, "userfaultfd"),
    (324, "membarrier"),
    (325, "mlock2"),
    (326, "copy_file_range"),
    (327, "preadv2"),
    (328, "pwritev2"),
    (329, "pkey_mprotect"),
    (330, "pkey_alloc"),
    (331, "pkey_free"),
    (332, "statx"),
    (333, "io_pgetevents"),
    (334, "rseq"),
    (335, "uretprobe"),
];

/// Calls of 32-bit programs on x86.
const NARROW: [(i32, &str); 28] = [
    (2, "fork"),
    (119, "sigreturn"),
    (173, "rt_sigreturn"),
    (190, "vfork"),
    (243, "set_thread_area"),
    (345, "sendmmsg"),
    (346, "setns"),
    (351, "sched_setattr"),
    (352, "sched_getattr"),
    (353, "renameat2"),
    (354, "seccomp"),
    (355, "getrandom"),
    (356, "memfd_create"),
    (357, "bpf"),
    (358, "execveat"),
    (374, "userfaultfd"),
    (375, "membarrier"),
    (376, "mlock2"),
    (377, "copy_file_range"),
    (378, "preadv2"),
    (379, "pwritev2"),
    (383, "statx"),
    (384, "arch_prctl"),
    (386, "rseq"),
    (403, "clock_gettime64"),
    (407, "clock_nanosleep_time64"),
    (414, "ppoll_time64"),
    (422, "futex_time64"),
];

/// Calls from 424 on, without a gap.
const COMMON: [&str; 39] = [
    "pidfd_send_signal",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "pidfd_open",
    "clone3",
    "close_range",
    "openat2",
    "pidfd_getfd",
    "faccessat2",
    "process_madvise",
    "epoll_pwait2",
    "mount_setattr",
    "quotactl_fd",
    "landlock_create_ruleset",
    "landlock_add_rule",
    "landlock_restrict_self",
    "memfd_secret",
    "process_mrelease",
    "futex_waitv",
    "set_mempolicy_home_node",
    "cachestat",
    "fchmodat2",
    "map_shadow_stack",
    "futex_wake",
    "futex_wait",
    "futex_requeue",
    "statmount",
    "listmount",
    "lsm_get_self_attr",
    "lsm_set_self_attr",
    "lsm_list_modules",
    "mseal",
];
/// Number of the first of them.
const FIRST_COMMON: i32 = 424;

/// The name of a call by its number, `syscall_1234` for unknown ones. `narrow`: of a 32-bit program.
pub(super) fn name(number: i32, narrow: bool) -> Name {
    match known(number, narrow) {
        Some(name) => Name::const_new(name),
        None => format_compact!("syscall_{number}"),
    }
}

fn known(number: i32, narrow: bool) -> Option<&'static str> {
    if let Some(index) = number.checked_sub(FIRST_COMMON).and_then(|index| usize::try_from(index).ok()) {
        return COMMON.get(index).copied();
    }
    let table: &[(i32, &str)] = if narrow { &NARROW } else { &WIDE };
    let index = table.binary_search_by_key(&number, |row| row.0).ok()?;
    table.get(index).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names() {
        let check = |number, narrow, expect: &str| assert_eq!(name(number, narrow), expect);
        check(319, false, "memfd_create");
        check(356, true, "memfd_create");
        check(435, false, "clone3");
        check(436, true, "close_range");
        check(441, false, "epoll_pwait2");
        check(462, false, "mseal");
        check(1234, false, "syscall_1234");
        check(-1, false, "syscall_-1");
        check(i32::MIN, false, "syscall_-2147483648");
    }

    #[test]
    fn tables_are_sorted() {
        assert!(WIDE.is_sorted_by_key(|row| row.0) && NARROW.is_sorted_by_key(|row| row.0));
    }
}
