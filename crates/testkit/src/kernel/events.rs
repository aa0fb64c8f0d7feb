//! The event classes of the kernel tracer that are no system calls, by generation.
//!
//! Fields are those that the metadata of real traces declare: 2.1 on Linux 3.6 and 2.13 on Linux 6.1 on x86-64, 2.5 on
//! Linux 3.10 on ARM, 2.8 and 2.10 on Linux 4. The notation is that of [`super::spec`].

use super::generation::Generation::{self, V2_1, V2_5, V2_8, V2_13, V2_14};

/// Name, first and last generation, fields.
type Row = (&'static str, Generation, Generation, &'static str);

// Events of a request on its way to a disk share their fields, and so do those of its ways back.
const RQ_2_1: &str = "u32 dev, u64 sector, u32 nr_sector, u32 bytes, u32 rwbs, comm comm, u32 _cmd_length, x8 cmd[_cmd_length]";
const RQ_2_5: &str = "u32 dev, u64 sector, u32 nr_sector, u32 bytes, u32 rwbs, i32 tid, comm comm, u32 _cmd_length, \
         x8 cmd[_cmd_length]";
const RQ_2_8: &str = "u32 dev, u64 sector, u32 nr_sector, u32 bytes, i32 tid, u32 rwbs, u64 _cmd_length, x8 cmd[_cmd_length], \
         comm comm";
const RQ_2_13: &str = "u32 dev, u64 sector, u32 nr_sector, u32 bytes, i32 tid, u32 rwbs, comm comm";
const RQ_END_2_1: &str =
    "u32 dev, u64 sector, u32 nr_sector, i32 errors, u32 rwbs, u32 _cmd_length, x8 cmd[_cmd_length]";

const EVENTS: [Row; 77] = [
    (
        "sched_switch",
        V2_1,
        V2_14,
        "comm prev_comm, i32 prev_tid, i32 prev_prio, long prev_state, comm next_comm, i32 next_tid, i32 next_prio",
    ),
    ("sched_waking", V2_8, V2_14, "comm comm, i32 tid, i32 prio, i32 target_cpu"),
    ("sched_wakeup", V2_1, V2_5, "comm comm, i32 tid, i32 prio, i32 success, i32 target_cpu"),
    ("sched_wakeup", V2_8, V2_14, "comm comm, i32 tid, i32 prio, i32 target_cpu"),
    ("sched_wakeup_new", V2_1, V2_5, "comm comm, i32 tid, i32 prio, i32 success, i32 target_cpu"),
    ("sched_wakeup_new", V2_8, V2_14, "comm comm, i32 tid, i32 prio, i32 target_cpu"),
    ("sched_migrate_task", V2_1, V2_14, "comm comm, i32 tid, i32 prio, i32 orig_cpu, i32 dest_cpu"),
    ("sched_pi_setprio", V2_1, V2_14, "comm comm, i32 tid, i32 oldprio, i32 newprio"),
    ("sched_process_fork", V2_1, V2_1, "comm parent_comm, i32 parent_tid, comm child_comm, i32 child_tid"),
    (
        "sched_process_fork",
        V2_5,
        V2_5,
        "comm parent_comm, i32 parent_tid, i32 parent_pid, comm child_comm, i32 child_tid, i32 child_pid",
    ),
    (
        "sched_process_fork",
        V2_8,
        V2_14,
        "comm parent_comm, i32 parent_tid, i32 parent_pid, u32 parent_ns_inum, comm child_comm, i32 child_tid, \
         u8 _vtids_length, i32 vtids[_vtids_length], i32 child_pid, u32 child_ns_inum",
    ),
    ("sched_process_exec", V2_1, V2_1, "str filename, i32 pid, i32 old_pid"),
    ("sched_process_exec", V2_5, V2_14, "str filename, i32 tid, i32 old_tid"),
    ("sched_process_exit", V2_1, V2_14, "comm comm, i32 tid, i32 prio"),
    ("sched_process_free", V2_1, V2_14, "comm comm, i32 tid, i32 prio"),
    ("sched_process_wait", V2_1, V2_14, "comm comm, i32 tid, i32 prio"),
    (
        "signal_generate",
        V2_1,
        V2_14,
        "i32 sig, i32 errno, i32 code, comm comm, i32 pid, i32 group, i32 result",
    ),
    ("signal_deliver", V2_1, V2_14, "i32 sig, i32 errno, i32 code, ulong sa_handler, ulong sa_flags"),
    ("irq_handler_entry", V2_1, V2_14, "i32 irq, str name"),
    ("irq_handler_exit", V2_1, V2_14, "i32 irq, i32 ret"),
    ("softirq_raise", V2_1, V2_5, "u32 vec"),
    ("softirq_entry", V2_1, V2_5, "u32 vec"),
    ("softirq_exit", V2_1, V2_5, "u32 vec"),
    ("irq_softirq_raise", V2_8, V2_14, "u32 vec"),
    ("irq_softirq_entry", V2_8, V2_14, "u32 vec"),
    ("irq_softirq_exit", V2_8, V2_14, "u32 vec"),
    ("block_rq_insert", V2_1, V2_1, RQ_2_1),
    ("block_rq_insert", V2_5, V2_5, RQ_2_5),
    ("block_rq_insert", V2_8, V2_8, RQ_2_8),
    ("block_rq_insert", V2_13, V2_14, RQ_2_13),
    ("block_rq_merge", V2_14, V2_14, RQ_2_13),
    ("block_rq_requeue", V2_1, V2_5, RQ_END_2_1),
    ("block_rq_requeue", V2_13, V2_14, "u32 dev, u64 sector, u32 nr_sector, u32 rwbs"),
    ("hrtimer_expire_entry", V2_1, V2_5, "ptr hrtimer, i64 now, ptr function"),
    ("hrtimer_expire_exit", V2_1, V2_5, "ptr hrtimer"),
    ("timer_hrtimer_expire_entry", V2_8, V2_14, "ptr hrtimer, i64 now, ptr function"),
    ("timer_hrtimer_expire_exit", V2_8, V2_14, "ptr hrtimer"),
    ("timer_expire_entry", V2_1, V2_14, "ptr timer, ulong now, ptr function"),
    ("timer_expire_exit", V2_1, V2_14, "ptr timer"),
    ("x86_irq_vectors_local_timer_entry", V2_8, V2_14, "i32 vector"),
    ("x86_irq_vectors_local_timer_exit", V2_8, V2_14, "i32 vector"),
    ("x86_irq_vectors_reschedule_entry", V2_8, V2_14, "i32 vector"),
    ("x86_irq_vectors_reschedule_exit", V2_8, V2_14, "i32 vector"),
    ("x86_irq_vectors_call_function_single_entry", V2_8, V2_14, "i32 vector"),
    ("x86_irq_vectors_call_function_single_exit", V2_8, V2_14, "i32 vector"),
    ("block_rq_issue", V2_1, V2_1, RQ_2_1),
    ("block_rq_issue", V2_5, V2_5, RQ_2_5),
    ("block_rq_issue", V2_8, V2_8, RQ_2_8),
    ("block_rq_issue", V2_13, V2_14, RQ_2_13),
    ("block_rq_complete", V2_1, V2_5, RQ_END_2_1),
    (
        "block_rq_complete",
        V2_8,
        V2_8,
        "u32 dev, u64 sector, u32 nr_sector, i32 errors, u32 rwbs, u64 _cmd_length, x8 cmd[_cmd_length]",
    ),
    ("block_rq_complete", V2_13, V2_14, "u32 dev, u64 sector, u32 nr_sector, i32 error, u32 rwbs"),
    ("mm_page_alloc", V2_1, V2_5, "ptr page, u32 order, u32 gfp_flags, i32 migratetype"),
    ("mm_page_free", V2_1, V2_5, "ptr page, u32 order"),
    ("kmem_mm_page_alloc", V2_8, V2_14, "ptr page, ulong pfn, u32 order, u32 gfp_flags, i32 migratetype"),
    ("kmem_mm_page_free", V2_8, V2_14, "ptr page, ulong pfn, u32 order"),
    ("kmem_mm_page_free_batched", V2_8, V2_14, "ptr page, ulong pfn"),
    ("x86_exceptions_page_fault_user", V2_8, V2_14, "ptr address, ptr ip, ulong error_code"),
    ("x86_exceptions_page_fault_kernel", V2_8, V2_14, "ptr address, ptr ip, ulong error_code"),
    ("net_dev_xmit", V2_1, V2_5, "ulong skbaddr, u32 len, i32 rc, str name"),
    ("net_dev_xmit", V2_8, V2_14, "ptr skbaddr, i32 rc, u32 len, str name"),
    // From 2.9 on they record headers: [`crate::classes`].
    ("net_dev_queue", V2_1, V2_8, "ulong skbaddr, u32 len, str name"),
    ("netif_receive_skb", V2_1, V2_8, "ulong skbaddr, u32 len, str name"),
    ("lttng_statedump_start", V2_1, V2_14, ""),
    ("lttng_statedump_end", V2_1, V2_14, ""),
    (
        "lttng_statedump_process_state",
        V2_1,
        V2_5,
        "i32 tid, i32 vtid, i32 pid, i32 vpid, i32 ppid, i32 vppid, comm name, i32 type, i32 mode, i32 submode, \
         i32 status, i32 ns_level",
    ),
    (
        "lttng_statedump_process_state",
        V2_8,
        V2_8,
        "i32 tid, i32 vtid, i32 pid, i32 vpid, i32 ppid, i32 vppid, comm name, i32 type, i32 mode, i32 submode, \
         i32 status, i32 ns_level, u32 ns_inum",
    ),
    (
        "lttng_statedump_process_state",
        V2_13,
        V2_14,
        "i32 tid, i32 pid, i32 ppid, comm name, i32 type, i32 mode, i32 submode, i32 status, u32 cpu, \
         ptr file_table_address",
    ),
    (
        "lttng_statedump_process_pid_ns",
        V2_13,
        V2_14,
        "i32 tid, i32 vtid, i32 vpid, i32 vppid, i32 ns_level, u32 ns_inum",
    ),
    ("lttng_statedump_file_descriptor", V2_1, V2_1, "i32 pid, i32 fd, str filename"),
    ("lttng_statedump_file_descriptor", V2_5, V2_8, "i32 pid, i32 fd, o32 flags, x32 fmode, str filename"),
    (
        "lttng_statedump_file_descriptor",
        V2_13,
        V2_14,
        "ptr file_table_address, i32 fd, o32 flags, x32 fmode, str filename",
    ),
    ("lttng_statedump_interrupt", V2_1, V2_8, "u32 irq, str name, str action"),
    ("lttng_statedump_interrupt", V2_13, V2_14, "u32 irq, str name, str action, i32 tid"),
    ("lttng_statedump_block_device", V2_5, V2_14, "u32 dev, str diskname"),
    ("lttng_statedump_network_interface", V2_1, V2_14, "str name, m32 address_ipv4"),
    ("power_cpu_idle", V2_8, V2_14, "u32 state, u32 cpu_id"),
];

/// The event classes of a generation: names and fields.
pub(crate) fn of(generation: Generation) -> impl Iterator<Item = (&'static str, &'static str)> {
    EVENTS
        .iter()
        .filter(move |row| (row.1..=row.2).contains(&generation))
        .map(|&(name, _, _, fields)| (name, fields))
}
