//! What has to be traced for an analysis, and how to record it.

use std::collections::HashSet;

use isochrone_kernel::calls::call_of_entry;
use isochrone_kernel::is_page_fault;

use crate::output::note::Note;

/// What to type on each host before a recording that is enough for all commands; between `lttng create` and
/// `lttng start`.
pub const RECIPE: [&str; 6] = [
    "lttng enable-event --kernel 'sched_*','irq_*','timer_hrtimer_expire_*'",
    "lttng enable-event --kernel net_dev_queue,net_dev_xmit,net_if_receive_skb",
    "lttng enable-event --kernel 'block_rq_*','kmem_mm_page_*','lttng_statedump_*'",
    RECORD_FAULTS,
    "lttng enable-event --kernel --syscall --all",
    "lttng add-context --kernel --type tid --type pid --type procname",
];

/// What to type to record the events of several needs.
const RECORD_WAKEUPS: &str = "lttng enable-event --kernel 'sched_switch,sched_wak*'";
const RECORD_CALLS: &str = "lttng enable-event --kernel --syscall --all";
const RECORD_INTERRUPTS: &str = "lttng enable-event --kernel 'irq_*'";
const RECORD_DISKS: &str = "lttng enable-event --kernel 'block_rq_*,lttng_statedump_block_device'";
const RECORD_PACKETS: &str = "lttng enable-event --kernel net_dev_queue,net_if_receive_skb";
const RECORD_FAULTS: &str = "lttng enable-event --kernel 'x86_exceptions_page_fault_*'";
const RECORD_PAGES: &str = "lttng enable-event --kernel 'kmem_mm_page_*'";

/// Makes [`Need`] of a list: its doc, what is missing without it, and what to type before the next recording.
macro_rules! needs {
    ($($(#[$doc:meta])* $Need:ident: $what:expr, $command:expr;)*) => {
        /// A kind of events that analyses are made of.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Need {
            $($(#[$doc])* $Need,)*
        }

        impl Need {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$Need,)*];

            /// What is missing without it, in words.
            pub fn what(self) -> &'static str {
                match self { $(Self::$Need => $what,)* }
            }

            /// What to type before the next recording.
            pub fn command(self) -> &'static str {
                match self { $(Self::$Need => $command,)* }
            }
        }
    };
}

needs! {
    /// Who runs on which CPU.
    Switches: "no switches between threads were recorded", "lttng enable-event --kernel sched_switch";
    /// Who wakes whom.
    Wakeups: "no wake-ups of threads were recorded", RECORD_WAKEUPS;
    /// Who wakes whom, on the CPU where that is decided.
    Decisions: "`sched_waking` was not recorded: which thread ended a wait is unknown", RECORD_WAKEUPS;
    /// Wake-ups where they are decided and where they are done, as the begins of waits for a CPU.
    Waking: "`sched_waking` and `sched_wakeup` were not both recorded: waits for a CPU may begin later than they did, or be missing",
        RECORD_WAKEUPS;
    /// Begins, programs and ends of threads.
    Lives: "begins, ends and programs of threads were not all recorded: these, and which descriptors they ended, are unknown",
        "lttng enable-event --kernel 'sched_process_*'";
    /// The dump of what was there before the trace began.
    Dump: "what was there before was not recorded, or not all: processes, names of threads, files",
        "lttng enable-event --kernel 'lttng_statedump_*'";
    /// System calls.
    Calls: "no system calls were recorded, or only their entries or exits", RECORD_CALLS;
    /// Whose system calls they are.
    Callers: "system calls were recorded without the context `tid` and without switches between threads: \
              which exit is of which entry is unknown",
        "lttng add-context --kernel --type tid --type pid --type procname";
    /// The exits of all system calls whose entries are there.
    Exits: "exits of some system calls were not recorded, though their entries were: these are not counted",
        RECORD_CALLS;
    /// All system calls: what else is a call is no other.
    EveryCall: "not all system calls were recorded: whether a thread that runs is in user mode is unknown",
        RECORD_CALLS;
    /// The system calls that open, use and close files.
    FileCalls: "not all system calls that open, copy, use and close files and sockets were recorded: what is counted, named and closed lacks these",
        RECORD_CALLS;
    /// Of these, those that say what the number of a descriptor stands for.
    Descriptors: "system calls that open, copy or make descriptors were not all recorded: what their numbers stand for is unknown",
        RECORD_CALLS;
    /// Of these, those that close descriptors.
    Closes: "system calls that close files were not recorded: which descriptors a thread inherits is unknown",
        RECORD_CALLS;
    /// Moves of threads between CPUs.
    Migrations: "moves of threads between CPUs were not recorded",
        "lttng enable-event --kernel sched_migrate_task";
    /// Interrupts: of either sort.
    Interrupts: "no interrupts were recorded, or not how they ended", RECORD_INTERRUPTS;
    /// Interrupts of devices.
    HardInterrupts: "no interrupts of devices were recorded, or not how they ended: it is unknown whether a thread \
                     ended a wait or a device",
        RECORD_INTERRUPTS;
    /// Softirqs.
    Softirqs: "no softirqs were recorded, or not how they ended: it is unknown which waits packets ended, who \
               sent a packet, and which thread ended a wait",
        RECORD_INTERRUPTS;
    /// Timers that expire.
    Timers: "no timers were recorded: it is unknown whether a thread ended a wait or a timer",
        "lttng enable-event --kernel 'timer_hrtimer_expire_*'";
    /// Softirqs that are raised.
    Raises: "raised softirqs were not recorded: how long they waited is unknown", RECORD_INTERRUPTS;
    /// Requests to disks.
    Disks: "no requests to disks were recorded, or not how they ended", RECORD_DISKS;
    /// Who asks for requests to disks.
    Askers: "`block_rq_insert` was not recorded: a request to a disk is of the thread that issued it, and of none where the kernel's own threads did",
        RECORD_DISKS;
    /// Packets of the network.
    Packets: "no packets of the network were recorded", RECORD_PACKETS;
    /// Packets that are received.
    Received: "packets of the network were recorded when they are sent, and not when they are received",
        RECORD_PACKETS;
    /// Packets that are sent.
    Sent: "packets of the network were recorded when they are received, and not when they are sent",
        RECORD_PACKETS;
    /// Memory pages.
    Pages: "no allocations of memory pages were recorded", RECORD_PAGES;
    /// Memory pages that are freed.
    Frees: "memory pages were recorded when they are allocated, and not when they are freed", RECORD_PAGES;
    /// Page faults.
    PageFaults: "no page faults were recorded", RECORD_FAULTS;
    /// Which thread an event of a program is of: the context `vtid`, or switches.
    Threads: "events of programs were recorded without the context `vtid`: which begins and ends are of one thread is unknown",
        "lttng add-context --userspace --type vtid --type vpid --type procname";
}

impl Need {
    /// What lives are made of: all of them are needed.
    const LIVES: [&str; 3] = ["sched_process_fork", "sched_process_exec", "sched_process_exit"];
    /// Calls that every program makes: where one is not recorded, calls were chosen.
    const FILE_CALLS: [&str; 4] = ["read", "write", "openat", "close"];
    /// Calls that threads make most, on all architectures: where one is not recorded, calls were chosen.
    const FREQUENT_CALLS: [&str; 17] = [
        "brk",
        "clock_nanosleep",
        "epoll_ctl",
        "epoll_pwait",
        "execve",
        "exit_group",
        "futex",
        "ioctl",
        "mmap",
        "munmap",
        "nanosleep",
        "ppoll",
        "recvfrom",
        "rt_sigaction",
        "sched_yield",
        "sendto",
        "wait4",
    ];
    /// Calls that do not return.
    const NO_EXIT: [&str; 4] = ["exit", "exit_group", "rt_sigreturn", "sigreturn"];
    /// Calls, besides those that open files, that give the number of a descriptor another meaning.
    const MAKERS: [&str; 4] = ["dup3", "fcntl", "socket", "pipe2"];

    /// Whether events of a name are of the kind. Some kinds take several events, as both ends of a pair: see
    /// [`Recorded::lacking`].
    ///
    /// ```
    /// use isochrone_analysis::Need;
    /// assert!(Need::Calls.is_met_by("syscall_entry_openat") && Need::Calls.is_met_by("sys_open"));
    /// assert!(!Need::Wakeups.is_met_by("sched_switch"));
    /// ```
    pub fn is_met_by(self, event: &str) -> bool {
        match self {
            // The thread that runs on the event's CPU.
            Self::Switches | Self::Threads | Self::Callers => event == "sched_switch",
            Self::Wakeups => matches!(event, "sched_wakeup" | "sched_waking" | "sched_wakeup_new"),
            Self::Decisions | Self::Waking => event == "sched_waking",
            Self::Lives => Self::LIVES.contains(&event),
            // Those that list threads alone leave out the files.
            Self::Dump => event == "lttng_statedump_file_descriptor",
            // Where calls of 32-bit programs alone are there, those of all others were left out.
            Self::Calls => call_of_entry(event).is_some() && !event.starts_with("compat_"),
            Self::Exits => event.starts_with("syscall_exit_") || event == "exit_syscall",
            Self::EveryCall => {
                call_of_entry(event).is_some_and(|(call, _)| Self::FREQUENT_CALLS.contains(&call))
            }
            Self::Migrations => event == "sched_migrate_task",
            Self::Descriptors => {
                call_of_entry(event).is_some_and(|(call, _)| matches!(call, "open" | "openat"))
            }
            Self::Closes => call_of_entry(event).is_some_and(|(call, _)| call == "close"),
            Self::FileCalls => call_of_entry(event).is_some_and(|(call, _)| Self::FILE_CALLS.contains(&call)),
            Self::HardInterrupts => event == "irq_handler_entry",
            Self::Softirqs => matches!(event, "softirq_entry" | "irq_softirq_entry"),
            Self::Timers => matches!(event, "hrtimer_expire_entry" | "timer_hrtimer_expire_entry"),
            Self::Interrupts => {
                matches!(event, "irq_handler_entry" | "softirq_entry" | "irq_softirq_entry")
            }
            Self::Raises => matches!(event, "softirq_raise" | "irq_softirq_raise"),
            Self::Disks => event == "block_rq_issue",
            Self::Askers => event == "block_rq_insert",
            Self::Packets => {
                matches!(event, "net_dev_queue" | "net_dev_xmit" | "netif_receive_skb" | "net_if_receive_skb")
            }
            Self::Received => matches!(event, "netif_receive_skb" | "net_if_receive_skb"),
            Self::Sent => matches!(event, "net_dev_queue" | "net_dev_xmit"),
            Self::Frees => matches!(
                event,
                "mm_page_free" | "kmem_mm_page_free" | "mm_page_free_batched" | "kmem_mm_page_free_batched"
            ),
            Self::PageFaults => is_page_fault(event),
            Self::Pages => matches!(event, "mm_page_alloc" | "kmem_mm_page_alloc"),
        }
    }
}

/// What timelines are made of: states of threads, what CPUs and disks do, packets.
pub const TIMELINE: [Need; 6] =
    [Need::Switches, Need::Wakeups, Need::Calls, Need::Interrupts, Need::Disks, Need::Packets];

/// Maximum number of hosts that a note names; the rest is counted.
const MAX_HOSTS: usize = 8;

/// A host, and what its traces can have.
#[derive(Debug, Clone)]
pub struct Recorded<'h> {
    /// Its name.
    pub name: &'h str,
    /// Names of events.
    pub events: Vec<&'h str>,
    /// Whether programs recorded events without saying which thread they are of.
    pub has_nameless_programs: bool,
    /// Whether system calls were recorded without saying which thread they are of.
    pub has_nameless_calls: bool,
    /// What is not there of what was recorded: lost events, CPUs without a stream and the like, in words.
    pub absent: Vec<String>,
}

impl Recorded<'_> {
    /// What is not there of what was recorded.
    pub fn notes(&self) -> impl Iterator<Item = Note> {
        self.absent.iter().map(|absent| Note::default().text(&format!("{}: {absent}", self.name)))
    }

    /// What the host did not record. Linear in the names of events.
    pub fn lacking(&self) -> Vec<Need> {
        Need::ALL.iter().copied().filter(|&need| self.lacks(need)).collect()
    }

    fn lacks(&self, need: Need) -> bool {
        let has = |name: &str| self.events.contains(&name);
        let has_call = |call: &&str| {
            let is_it = |event: &str| call_of_entry(event) == Some((*call, false));
            self.events.iter().any(|event| is_it(event))
        };
        match need {
            Need::Threads if !self.has_nameless_programs => false,
            // Both halves of a pair: a request that nothing completes, a call that nothing ends.
            Need::Calls => {
                !self.events.iter().any(|name| need.is_met_by(name))
                    || !self.events.iter().any(|name| Need::Exits.is_met_by(name))
                    || self.lacks(Need::Callers)
            }
            Need::Exits => {
                let exits: HashSet<&str> =
                    self.events.iter().filter_map(|name| name.strip_prefix("syscall_exit_")).collect();
                let mut entries = self.events.iter().filter_map(|name| name.strip_prefix("syscall_entry_"));
                let is_open = |call: &str| !Need::NO_EXIT.contains(&call) && !exits.contains(call);
                !self.lacks(Need::Calls) && !has("exit_syscall") && entries.any(is_open)
            }
            Need::Interrupts => self.lacks(Need::HardInterrupts) && self.lacks(Need::Softirqs),
            Need::HardInterrupts => !["irq_handler_entry", "irq_handler_exit"].into_iter().all(has),
            Need::Softirqs => {
                let are_there =
                    |prefix: &str| ["entry", "exit"].iter().all(|end| has(&format!("{prefix}_{end}")));
                !["softirq", "irq_softirq"].into_iter().any(are_there)
            }
            Need::Callers => self.has_nameless_calls && !has("sched_switch"),
            Need::Disks => !["block_rq_issue", "block_rq_complete"].into_iter().all(has),
            // Where there are none at all, that is said.
            Need::Frees => !self.lacks(Need::Pages) && !self.events.iter().any(|name| need.is_met_by(name)),
            Need::Received | Need::Sent => {
                !self.lacks(Need::Packets) && !self.events.iter().any(|name| need.is_met_by(name))
            }
            Need::Lives => !Need::LIVES.into_iter().all(has),
            // Where none was recorded at all, that is said.
            Need::Askers => !self.lacks(Need::Disks) && !has("block_rq_insert"),
            Need::Raises => {
                !self.lacks(Need::Softirqs) && !self.events.iter().any(|name| need.is_met_by(name))
            }
            Need::Waking => {
                !self.lacks(Need::Wakeups) && !["sched_waking", "sched_wakeup"].into_iter().all(has)
            }
            Need::Descriptors => {
                // Where closes are recorded and these are not, they were left out.
                let makes = || !has_call(&"close") || Need::MAKERS.iter().all(has_call);
                let opens = self.events.iter().any(|name| need.is_met_by(name));
                !(self.lacks(Need::Calls) || opens && makes())
            }
            Need::EveryCall => {
                let calls = || Need::FILE_CALLS.iter().chain(&Need::MAKERS).chain(&Need::FREQUENT_CALLS);
                !self.lacks(Need::Calls) && !calls().all(has_call)
            }
            Need::Closes => !self.lacks(Need::Calls) && !has_call(&"close"),
            Need::FileCalls => {
                !self.lacks(Need::Calls) && !Need::FILE_CALLS.iter().chain(&Need::MAKERS).all(has_call)
            }
            _ => !self.events.iter().any(|name| need.is_met_by(name)),
        }
    }
}

/// Says of each need which hosts did not record it, and how to.
pub fn lacking(needs: &[Need], hosts: &[Recorded<'_>]) -> Vec<Note> {
    // Without interrupts of any sort there is one note, not one for each.
    let is_said = |host: &Recorded<'_>, need: Need| {
        matches!(need, Need::HardInterrupts | Need::Softirqs)
            && needs.contains(&Need::Interrupts)
            && host.lacks(Need::Interrupts)
            || need == Need::Calls && host.lacks(Need::Callers)
    };
    // Where calls are of nobody, that is what is missing of them.
    let of_calls: &[Need] = if needs.contains(&Need::Calls) { &[Need::Callers, Need::Exits] } else { &[] };
    let note = |need: &Need| {
        let lacks = |host: &&Recorded<'_>| host.lacks(*need) && !is_said(host, *need);
        let names: Vec<&str> = hosts.iter().filter(lacks).map(|host| host.name).collect();
        let shown = names[..names.len().min(MAX_HOSTS)].join(", ");
        let names = match names.len().saturating_sub(MAX_HOSTS) {
            0 if names.is_empty() => return None,
            0 => shown,
            more => format!("{shown} and {more} more"),
        };
        let text = format!("{names}: {}; before the next recording, type: {}", need.what(), need.command());
        Some(Note::default().text(&text))
    };
    of_calls.iter().chain(needs).filter_map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each half of a pair that is left out is lacking, and the pair is not.
    #[test]
    fn both_halves_are_needed() {
        let all = [
            "sched_switch",
            "irq_handler_entry",
            "irq_handler_exit",
            "irq_softirq_entry",
            "irq_softirq_exit",
            "syscall_entry_read",
            "syscall_exit_read",
            "syscall_entry_futex",
            "syscall_exit_futex",
            "syscall_entry_exit_group",
        ];
        let lacking_without = |left_out: &[&str]| {
            let events = all.into_iter().filter(|name| !left_out.contains(name)).collect();
            let (has_nameless_programs, has_nameless_calls) = (false, false);
            let absent = Vec::new();
            Recorded { name: "h", events, has_nameless_programs, has_nameless_calls, absent }.lacking()
        };
        let pairs = [Need::Interrupts, Need::HardInterrupts, Need::Softirqs, Need::Calls, Need::Exits];
        let check = |left_out: &[&str], expect: &[Need]| {
            let lacking = lacking_without(left_out);
            let found: Vec<Need> = pairs.into_iter().filter(|need| lacking.contains(need)).collect();
            assert_eq!(found, expect, "{left_out:?}");
        };
        check(&[], &[]);
        check(&["irq_handler_exit"], &[Need::HardInterrupts]);
        check(&["irq_softirq_entry"], &[Need::Softirqs]);
        check(&["irq_softirq_exit"], &[Need::Softirqs]);
        let neither = [Need::Interrupts, Need::HardInterrupts, Need::Softirqs];
        check(&["irq_handler_exit", "irq_softirq_exit"], &neither);
        check(&["syscall_exit_read"], &[Need::Exits]);
        check(&["syscall_exit_futex"], &[Need::Exits]);
        check(&["syscall_exit_read", "syscall_exit_futex"], &[Need::Calls]);
    }
}
