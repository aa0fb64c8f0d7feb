//! What is recorded: lists of events by purpose, in the words of `lttng`, and for the kernel's own tracer.
//!
//! The full recipe is given by the caller, who has it from where it is documented; smaller ones are its
//! parts.

/// What a recording is for: smaller recordings cost less, and answer less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// All questions.
    #[default]
    All,
    /// Where the time of requests went: all but memory pages and page faults.
    Request,
    /// Who ran, when and why: no system calls, disks or memory.
    Cpu,
    /// Requests to disks, and who asked for them.
    Disk,
    /// Programs alone, by their own tracepoints: needs no root.
    UserSpace,
}

impl Purpose {
    /// Whether an event of the full recipe is part of it, by its pattern; all system calls are `--syscall`.
    fn takes(self, pattern: &str) -> bool {
        let is_any = |heads: &[&str]| heads.iter().any(|head| pattern.starts_with(head));
        // Messages tie hosts together, and the list of processes names threads.
        let always = is_any(&["net_", "lttng_statedump_"]);
        match self {
            Self::All => true,
            Self::Request => !is_any(&["kmem_", "x86_exceptions_"]),
            Self::Cpu => always || is_any(&["sched_", "irq_", "timer_"]),
            Self::Disk => always || is_any(&["sched_", "irq_", "block_", "--syscall"]),
            Self::UserSpace => false,
        }
    }

    /// The systems of events of the kernel's own tracer. `syscalls` has the names of arguments, and
    /// `raw_syscalls` takes its place in kernels without it.
    pub fn systems(self) -> &'static [&'static str] {
        match self {
            Self::All | Self::Request => &["sched", "irq", "timer", "syscalls", "block", "net"],
            Self::Cpu => &["sched", "irq", "timer", "net"],
            Self::Disk => &["sched", "irq", "syscalls", "block", "net"],
            Self::UserSpace => &[],
        }
    }
}

/// What is recorded with LTTng: what stands behind `lttng enable-event` and `lttng add-context`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// For `enable-event`, one list each: `--kernel 'sched_*','irq_*'`.
    pub kernel_events: Vec<String>,
    /// For `add-context`.
    pub kernel_contexts: Vec<String>,
    /// Whether the tracepoints of programs are recorded, with the thread that they are of.
    pub has_user_space: bool,
}

/// What is recorded of programs: all their tracepoints.
pub const USER_EVENTS: &str = "--userspace --all";
/// The thread that an event of a program is of.
pub const USER_CONTEXTS: &str = "--userspace --type vpid --type vtid --type procname";

impl Recipe {
    /// The part of the full recipe that a purpose needs. `lines` is the full one: commands as they are typed,
    /// `lttng enable-event --kernel …` and `lttng add-context --kernel …`; other lines are left out.
    pub fn new(lines: &[&str], purpose: Purpose) -> Self {
        let mut recipe =
            Self { kernel_events: Vec::new(), kernel_contexts: Vec::new(), has_user_space: true };
        for line in lines {
            if let Some(list) = line.strip_prefix("lttng enable-event --kernel ") {
                let taken: Vec<&str> =
                    list.split(',').filter(|pattern| purpose.takes(pattern.trim_matches('\''))).collect();
                if !taken.is_empty() {
                    recipe.kernel_events.push(format!("--kernel {}", taken.join(",")));
                }
            } else if let Some(contexts) = line.strip_prefix("lttng add-context ")
                && purpose != Purpose::UserSpace
            {
                recipe.kernel_contexts.push(contexts.to_owned());
            }
        }
        recipe
    }

    /// Whether the kernel is recorded.
    pub fn has_kernel(&self) -> bool {
        !self.kernel_events.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 4] = [
        "lttng enable-event --kernel 'sched_*','irq_*'",
        "lttng enable-event --kernel 'block_rq_*','kmem_mm_page_*','lttng_statedump_*'",
        "lttng enable-event --kernel --syscall --all",
        "lttng add-context --kernel --type tid",
    ];

    #[test]
    fn purposes_are_parts() {
        let events = |purpose| Recipe::new(&LINES, purpose).kernel_events;
        let [sched, block, calls] =
            ["'sched_*','irq_*'", "'block_rq_*','lttng_statedump_*'", "--syscall --all"]
                .map(|list| format!("--kernel {list}"));
        let all = "--kernel 'block_rq_*','kmem_mm_page_*','lttng_statedump_*'".to_owned();
        assert_eq!(events(Purpose::All), [sched.clone(), all, calls.clone()]);
        assert_eq!(events(Purpose::Request), [sched.clone(), block.clone(), calls.clone()]);
        assert_eq!(events(Purpose::Disk), [sched.clone(), block, calls]);
        assert_eq!(events(Purpose::Cpu), [sched, "--kernel 'lttng_statedump_*'".to_owned()]);
        let user = Recipe::new(&LINES, Purpose::UserSpace);
        assert!(!user.has_kernel() && user.kernel_contexts.is_empty() && user.has_user_space);
    }
}
