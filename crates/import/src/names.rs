//! What LTTng's kernel tracer calls the events and fields that the kernel itself calls otherwise. All others
//! keep their names.

use crate::event_format::{EventFormat, Field};

/// How entries and exits of system calls are called.
const CALLS: [(&str, &str); 2] = [("sys_enter_", "syscall_entry_"), ("sys_exit_", "syscall_exit_")];

/// Groups whose events LTTng gives a prefix: what the names begin with, and the prefix.
const PREFIXES: [(&str, &str, &str); 5] = [
    ("irq", "softirq_", "irq_"),
    ("timer", "hrtimer_", "timer_"),
    ("exceptions", "page_fault_", "x86_exceptions_"),
    ("irq_vectors", "", "x86_irq_vectors_"),
    ("kmem", "mm_page_", "kmem_"),
];

/// The name of an event.
pub(crate) fn event(format: &EventFormat) -> String {
    let name = &*format.name;
    if format.system == "syscalls"
        && let Some((prefix, rest)) = CALLS.iter().find_map(|(from, to)| Some((to, name.strip_prefix(from)?)))
    {
        return format!("{prefix}{rest}");
    }
    let is_it = |it: &&(&str, &str, &str)| it.0 == format.system && name.starts_with(it.1);
    let prefix = PREFIXES.iter().find(is_it).map_or("", |it| it.2);
    format!("{prefix}{name}")
}

/// The name of a field. What the scheduler's events call pid is the number of a thread. All of it can
/// stand in metadata, whatever a damaged recording has.
pub(crate) fn field(format: &EventFormat, field: &Field) -> String {
    let name = match (&*format.system, &*field.name) {
        ("sched", "pid") => "tid",
        ("sched", "old_pid") => "old_tid",
        ("sched", "prev_pid") => "prev_tid",
        ("sched", "next_pid") => "next_tid",
        ("sched", "parent_pid") => "parent_tid",
        ("sched", "child_pid") => "child_tid",
        (_, name) => name,
    };
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// The size of an argument of a system call as its type has it, and whether it is signed: records hold all of
/// them as words. `None`: of the size of a word.
pub(crate) fn argument(kind: &str) -> Option<(usize, bool)> {
    const SIGNED: [&str; 9] =
        ["int", "pid_t", "clockid_t", "mqd_t", "timer_t", "key_t", "key_serial_t", "rwf_t", "s32"];
    const UNSIGNED: [&str; 8] =
        ["unsigned int", "unsigned", "u32", "uid_t", "gid_t", "umode_t", "mode_t", "qid_t"];
    let kind = kind.strip_prefix("const ").unwrap_or(kind);
    let is_signed = SIGNED.contains(&kind);
    (is_signed || UNSIGNED.contains(&kind)).then_some((4, is_signed))
}

/// The letters of an operation of a disk as the bits that LTTng has for them. `F` is a flush where it comes
/// first, and for all of a request (forced unit access) behind another letter.
pub(crate) fn operation(letters: &[u8]) -> u32 {
    const WRITE: u32 = 1;
    const DISCARD: u32 = 1 << 1;
    const READ: u32 = 1 << 2;
    const READ_AHEAD: u32 = 1 << 3;
    const SYNC: u32 = 1 << 5;
    const META: u32 = 1 << 6;
    const SECURE: u32 = 1 << 7;
    const FLUSH: u32 = 1 << 8;
    const FORCED: u32 = 1 << 9;
    let bit = |(index, letter): (usize, &u8)| match letter {
        b'W' => WRITE,
        b'D' => DISCARD,
        b'E' => DISCARD | SECURE,
        b'R' => READ,
        b'F' if index == 0 => FLUSH,
        b'F' => FORCED,
        b'A' => READ_AHEAD,
        b'S' => SYNC,
        b'M' => META,
        _ => 0,
    };
    letters.iter().enumerate().fold(0, |bits, letter| bits | bit(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_events() {
        let check = |system: &str, name: &str, expect: &str| {
            let (system, name) = (system.to_owned(), name.to_owned());
            let format = EventFormat { system, name, id: 1, fields: Vec::new() };
            assert_eq!(event(&format), expect);
        };
        check("syscalls", "sys_enter_read", "syscall_entry_read");
        check("syscalls", "sys_exit_read", "syscall_exit_read");
        check("raw_syscalls", "sys_enter", "sys_enter");
        check("irq", "softirq_entry", "irq_softirq_entry");
        check("irq", "irq_handler_entry", "irq_handler_entry");
        check("timer", "hrtimer_expire_entry", "timer_hrtimer_expire_entry");
        check("sched", "sched_switch", "sched_switch");
        check("exceptions", "page_fault_user", "x86_exceptions_page_fault_user");
        check("irq_vectors", "local_timer_entry", "x86_irq_vectors_local_timer_entry");
    }

    #[test]
    fn operations_of_disks() {
        let check = |letters: &[u8], expect| assert_eq!(operation(letters), expect, "{letters:?}");
        check(b"R", 4);
        check(b"RA", 12);
        check(b"WS", 33);
        check(b"WFSM", 1 | 1 << 9 | 1 << 5 | 1 << 6);
        check(b"FWFS", 1 << 8 | 1 | 1 << 9 | 1 << 5);
        check(b"FF", 1 << 8 | 1 << 9);
        check(b"DE", 2 | 1 << 7);
        check(b"N", 0);
    }

    #[test]
    fn arguments() {
        assert_eq!(argument("int"), Some((4, true)));
        assert_eq!(argument("unsigned int"), Some((4, false)));
        assert_eq!(argument("size_t"), None);
        assert_eq!(argument("const char *"), None);
    }
}
