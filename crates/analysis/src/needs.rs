//! What has to be traced for an analysis, and how to record it.

use isochrone_kernel::calls::call_of_entry;

use crate::report::Note;

/// What to type on each host before a recording that is enough for all commands; between `lttng create` and `lttng start`.
pub const RECIPE: [&str; 5] = [
    "lttng enable-event --kernel 'sched_*','irq_*','timer_hrtimer_expire_*'",
    "lttng enable-event --kernel net_dev_queue,net_dev_xmit,net_if_receive_skb",
    "lttng enable-event --kernel 'block_rq_*','kmem_mm_page_*','lttng_statedump_*'",
    "lttng enable-event --kernel --syscall --all",
    "lttng add-context --kernel --type tid --type pid --type procname",
];

/// A kind of events that analyses are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Who runs on which CPU.
    Switches,
    /// Who wakes whom.
    Wakeups,
    /// Who wakes whom, on the CPU where that is decided.
    Decisions,
    /// Wake-ups where they are decided and where they are done, as the begins of waits for a CPU.
    Waking,
    /// Begins, programs and ends of threads.
    Lives,
    /// The dump of what was there before the trace began.
    Dump,
    /// System calls.
    Calls,
    /// All system calls: what else is a call is no other.
    EveryCall,
    /// The system calls that open, use and close files.
    FileCalls,
    /// Of these, those that say what the number of a descriptor stands for.
    Descriptors,
    /// Of these, those that close descriptors.
    Closes,
    /// Moves of threads between CPUs.
    Migrations,
    /// Interrupts: of either sort.
    Interrupts,
    /// Interrupts of devices.
    HardInterrupts,
    /// Softirqs.
    Softirqs,
    /// Timers that expire.
    Timers,
    /// Softirqs that are raised.
    Raises,
    /// Requests to disks.
    Disks,
    /// Who asks for requests to disks.
    Askers,
    /// Packets of the network.
    Packets,
    /// Packets that are received.
    Received,
    /// Packets that are sent.
    Sent,
    /// Memory pages.
    Pages,
    /// Memory pages that are freed.
    Frees,
    /// Which thread an event of a program is of: the context `vtid`, or switches.
    Threads,
}

impl Need {
    /// All of them.
    pub const ALL: [Self; 25] = [
        Self::Switches,
        Self::Wakeups,
        Self::Decisions,
        Self::Waking,
        Self::Lives,
        Self::Dump,
        Self::Calls,
        Self::EveryCall,
        Self::FileCalls,
        Self::Descriptors,
        Self::Closes,
        Self::Migrations,
        Self::Interrupts,
        Self::HardInterrupts,
        Self::Softirqs,
        Self::Timers,
        Self::Raises,
        Self::Disks,
        Self::Askers,
        Self::Packets,
        Self::Received,
        Self::Sent,
        Self::Pages,
        Self::Frees,
        Self::Threads,
    ];

    /// What lives are made of: all of them are needed.
    const LIVES: [&str; 3] = ["sched_process_fork", "sched_process_exec", "sched_process_exit"];
    /// Calls that every program makes: where one is not recorded, calls were chosen.
    const FILE_CALLS: [&str; 4] = ["read", "write", "openat", "close"];
    /// Calls that threads make most, on all architectures: where one is not recorded, calls were chosen.
    const MOST_CALLS: [&str; 17] = [
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
    /// Calls beside those that open files that give the number of a descriptor another meaning.
    const MAKERS: [&str; 4] = ["dup3", "fcntl", "socket", "pipe2"];

    /// What is missing without it, in words.
    pub fn what(self) -> &'static str {
        match self {
            Self::Switches => "no switches between threads were recorded",
            Self::Wakeups => "no wake-ups of threads were recorded",
            Self::Decisions => "`sched_waking` was not recorded: which thread ended a wait is unknown",
            Self::Waking => {
                "`sched_waking` and `sched_wakeup` were not both recorded: waits for a CPU may begin later than they did, or be missing"
            }
            Self::Lives => {
                "begins, ends and programs of threads were not all recorded: these, and which descriptors they ended, are unknown"
            }
            Self::Dump => {
                "what was there before the trace began was not recorded: processes, names of threads, files"
            }
            Self::Calls => "no system calls were recorded, or only their entries or exits",
            Self::EveryCall => {
                "not all system calls were recorded: whether a thread that runs is in user mode is unknown"
            }
            Self::Descriptors => {
                "system calls that open, copy or make descriptors were not all recorded: what their numbers stand for is unknown"
            }
            Self::Closes => {
                "system calls that close files were not recorded: which descriptors a thread inherits is unknown"
            }
            Self::Migrations => "moves of threads between CPUs were not recorded",
            Self::FileCalls => {
                "not all system calls that open, copy, use and close files and sockets were recorded: what is counted, named and closed lacks these"
            }
            Self::Interrupts => "no interrupts were recorded",
            Self::HardInterrupts => {
                "no interrupts of devices were recorded: it is unknown whether a thread ended a wait or a device"
            }
            Self::Softirqs => {
                "no softirqs were recorded: it is unknown which waits packets ended, who sent a packet, and which thread ended a wait"
            }
            Self::Timers => "no timers were recorded: it is unknown whether a thread ended a wait or a timer",
            Self::Raises => "raised softirqs were not recorded: how long they waited is unknown",
            Self::Disks => "no requests to disks were recorded, or not how they ended",
            Self::Askers => {
                "`block_rq_insert` was not recorded: a request to a disk is of the thread that issued it, and of none where the kernel's own threads did"
            }
            Self::Packets => "no packets of the network were recorded",
            Self::Received => {
                "packets of the network were recorded when they are sent, and not when they are received"
            }
            Self::Sent => {
                "packets of the network were recorded when they are received, and not when they are sent"
            }
            Self::Frees => "memory pages were recorded when they are allocated, and not when they are freed",
            Self::Pages => "no allocations of memory pages were recorded",
            Self::Threads => {
                "events of programs were recorded without the context `vtid`: which begins and ends are of one thread is unknown"
            }
        }
    }

    /// What to type before the next recording.
    pub fn command(self) -> &'static str {
        match self {
            Self::Switches => "lttng enable-event --kernel sched_switch",
            Self::Lives => "lttng enable-event --kernel 'sched_process_*'",
            Self::Dump => "lttng enable-event --kernel 'lttng_statedump_*'",
            Self::Wakeups | Self::Decisions | Self::Waking => {
                "lttng enable-event --kernel 'sched_switch,sched_wak*'"
            }
            Self::Migrations => "lttng enable-event --kernel sched_migrate_task",
            Self::Calls | Self::EveryCall | Self::FileCalls | Self::Descriptors | Self::Closes => {
                "lttng enable-event --kernel --syscall --all"
            }
            Self::Interrupts | Self::HardInterrupts | Self::Softirqs | Self::Raises => {
                "lttng enable-event --kernel 'irq_*'"
            }
            Self::Timers => "lttng enable-event --kernel 'timer_hrtimer_expire_*'",
            Self::Disks | Self::Askers => {
                "lttng enable-event --kernel 'block_rq_*,lttng_statedump_block_device'"
            }
            Self::Packets | Self::Received | Self::Sent => {
                "lttng enable-event --kernel net_dev_queue,net_if_receive_skb"
            }
            Self::Pages | Self::Frees => "lttng enable-event --kernel 'kmem_mm_page_*'",
            Self::Threads => "lttng add-context --userspace --type vtid --type vpid --type procname",
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
            // The thread that runs on the event's CPU.
            Self::Switches | Self::Threads => event == "sched_switch",
            Self::Wakeups => matches!(event, "sched_wakeup" | "sched_waking" | "sched_wakeup_new"),
            Self::Decisions | Self::Waking => event == "sched_waking",
            Self::Lives => Self::LIVES.contains(&event),
            Self::Dump => event == "lttng_statedump_process_state",
            // Where calls of 32-bit programs alone are there, those of all others were left out.
            Self::Calls => call_of_entry(event).is_some() && !event.starts_with("compat_"),
            Self::EveryCall => call_of_entry(event).is_some_and(|(call, _)| Self::MOST_CALLS.contains(&call)),
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
            Self::Pages => matches!(event, "mm_page_alloc" | "kmem_mm_page_alloc"),
        }
    }
}

/// What timelines are made of: states of threads, what CPUs and disks do, packets.
pub const TIMELINE: [Need; 6] =
    [Need::Switches, Need::Wakeups, Need::Calls, Need::Interrupts, Need::Disks, Need::Packets];

/// Hosts that a note names; the rest is counted.
const MOST_HOSTS: usize = 8;

/// A host, and what its traces can have.
#[derive(Debug, Clone)]
pub struct Recorded<'h> {
    /// Its name.
    pub name: &'h str,
    /// Names of events.
    pub events: Vec<&'h str>,
    /// Whether programs recorded events without saying which thread they are of.
    pub has_nameless_programs: bool,
}

impl Recorded<'_> {
    /// What the host did not record. Linear in the names of events.
    pub fn lacking(&self) -> Vec<Need> {
        Need::ALL.into_iter().filter(|&need| self.lacks(need)).collect()
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
                let ends = |name: &&str| name.starts_with("syscall_exit_") || *name == "exit_syscall";
                !self.events.iter().any(|name| need.is_met_by(name)) || !self.events.iter().any(ends)
            }
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
                // Where closes are there and these are not, somebody has left them out.
                let makes = || !has_call(&"close") || Need::MAKERS.iter().all(has_call);
                let opens = self.events.iter().any(|name| need.is_met_by(name));
                !(self.lacks(Need::Calls) || opens && makes())
            }
            Need::EveryCall => {
                let calls = || Need::FILE_CALLS.iter().chain(&Need::MAKERS).chain(&Need::MOST_CALLS);
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
    };
    let note = |need: &Need| {
        let lacks = |host: &&Recorded<'_>| host.lacks(*need) && !is_said(host, *need);
        let names: Vec<&str> = hosts.iter().filter(lacks).map(|host| host.name).collect();
        let shown = names[..names.len().min(MOST_HOSTS)].join(", ");
        let names = match names.len().saturating_sub(MOST_HOSTS) {
            0 if names.is_empty() => return None,
            0 => shown,
            more => format!("{shown} and {more} more"),
        };
        let text = format!("{names}: {}; before the next recording, type: {}", need.what(), need.command());
        Some(Note::default().text(&text))
    };
    needs.iter().filter_map(note).collect()
}
