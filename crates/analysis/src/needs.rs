//! What has to be traced for an analysis, and how to record it.

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
}

impl Need {
    /// What is missing without it, in words.
    pub fn what(self) -> &'static str {
        match self {
            Self::Switches => "no switches between threads were recorded",
            Self::Wakeups => "no wake-ups of threads were recorded",
            Self::Calls => "no system calls were recorded",
            Self::Interrupts => "no interrupts were recorded",
        }
    }

    /// What to type before the next recording.
    pub fn command(self) -> &'static str {
        match self {
            Self::Switches => "lttng enable-event --kernel sched_switch",
            Self::Wakeups => "lttng enable-event --kernel 'sched_switch,sched_wak*'",
            Self::Calls => "lttng enable-event --kernel --syscall --all",
            Self::Interrupts => "lttng enable-event --kernel 'irq_*'",
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
            Self::Calls => ["syscall_entry_", "compat_syscall_entry_", "sys_", "compat_sys_"]
                .iter()
                .any(|prefix| event.starts_with(prefix)),
            Self::Interrupts => {
                matches!(event, "irq_handler_entry" | "softirq_entry" | "irq_softirq_entry")
            }
        }
    }
}
