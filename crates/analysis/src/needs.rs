//! What has to be traced for an analysis, and how to record it.

use isochrone_kernel::calls::call_of_entry;

/// A kind of events that analyses are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Who runs on which CPU.
    Switches,
    /// Who wakes whom.
    Wakeups,
    /// System calls.
    Calls,
    /// Interrupts: of either sort.
    Interrupts,
    /// Requests to disks.
    Disks,
    /// Packets of the network.
    Packets,
    /// Memory pages.
    Pages,
}

impl Need {
    /// What is missing without it, in words.
    pub fn what(self) -> &'static str {
        match self {
            Self::Switches => "no switches between threads were recorded",
            Self::Wakeups => "no wake-ups of threads were recorded",
            Self::Calls => "no system calls were recorded",
            Self::Interrupts => "no interrupts were recorded",
            Self::Disks => "no requests to disks were recorded",
            Self::Packets => "no packets of the network were recorded",
            Self::Pages => "no allocations of memory pages were recorded",
        }
    }

    /// What to type before the next recording.
    pub fn command(self) -> &'static str {
        match self {
            Self::Switches => "lttng enable-event --kernel sched_switch",
            Self::Wakeups => "lttng enable-event --kernel 'sched_switch,sched_wak*'",
            Self::Calls => "lttng enable-event --kernel --syscall --all",
            Self::Interrupts => "lttng enable-event --kernel 'irq_*'",
            Self::Disks => "lttng enable-event --kernel 'block_rq_*,lttng_statedump_block_device'",
            Self::Packets => "lttng enable-event --kernel net_dev_queue,net_if_receive_skb",
            Self::Pages => "lttng enable-event --kernel 'kmem_mm_page_*'",
        }
    }

    /// Whether events of a name are of the kind.
    ///
    /// ```
    /// use isochrone_analysis::Need;
    /// assert!(Need::Calls.is_met_by("syscall_entry_openat") && Need::Calls.is_met_by("sys_open"));
    /// assert!(!Need::Wakeups.is_met_by("sched_switch"));
    /// ```
    pub fn is_met_by(self, event: &str) -> bool {
        match self {
            Self::Switches => event == "sched_switch",
            Self::Wakeups => matches!(event, "sched_wakeup" | "sched_waking" | "sched_wakeup_new"),
            Self::Calls => call_of_entry(event).is_some(),
            Self::Interrupts => {
                matches!(event, "irq_handler_entry" | "softirq_entry" | "irq_softirq_entry")
            }
            Self::Disks => event == "block_rq_issue",
            Self::Packets => {
                matches!(event, "net_dev_queue" | "net_dev_xmit" | "netif_receive_skb" | "net_if_receive_skb")
            }
            Self::Pages => matches!(event, "mm_page_alloc" | "kmem_mm_page_alloc"),
        }
    }
}
