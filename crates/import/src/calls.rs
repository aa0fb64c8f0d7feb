//! System calls by their numbers, which the events of `raw_syscalls` have instead of names. Numbers differ
//! between machines.

use syscalls::{aarch64, arm, powerpc64, riscv64, s390x, x86, x86_64};

use crate::event_format::EventFormat;

/// Numbers beyond this are of no table: those that machines add for programs of their own.
const MAX: u32 = 1 << 10;

/// What a call is called that is in no table.
pub(crate) const UNKNOWN: &str = "unknown";

/// Calls whose functions in the kernel, and so LTTng's events, have other names.
const OTHERS: [(&str, &str); 7] = [
    ("stat", "newstat"),
    ("fstat", "newfstat"),
    ("lstat", "newlstat"),
    ("uname", "newuname"),
    ("umount2", "umount"),
    ("sendfile", "sendfile64"),
    ("_sysctl", "sysctl"),
];

/// An end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Entry,
    Exit,
}

impl End {
    /// Which one events of a format are, that have calls by number.
    pub(crate) fn of(format: &EventFormat) -> Option<Self> {
        match (&*format.system, &*format.name) {
            ("raw_syscalls", "sys_enter") => Some(Self::Entry),
            ("raw_syscalls", "sys_exit") => Some(Self::Exit),
            _ => None,
        }
    }

    /// What the name of LTTng's event begins with.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Entry => "syscall_entry_",
            Self::Exit => "syscall_exit_",
        }
    }
}

/// The calls of a machine, as `uname` names it, with their numbers. Nothing of a machine that is not known.
pub(crate) fn of_machine(machine: &str) -> impl Iterator<Item = (u32, &'static str)> {
    let machine = machine.to_owned();
    (0..MAX).filter_map(move |number| Some((number, name(&machine, number as usize)?)))
}

fn name(machine: &str, number: usize) -> Option<&'static str> {
    let name = match machine {
        "x86_64" => x86_64::Sysno::new(number)?.name(),
        "aarch64" => aarch64::Sysno::new(number)?.name(),
        "i386" | "i486" | "i586" | "i686" => x86::Sysno::new(number)?.name(),
        "ppc64" | "ppc64le" => powerpc64::Sysno::new(number)?.name(),
        "riscv64" => riscv64::Sysno::new(number)?.name(),
        "s390x" => s390x::Sysno::new(number)?.name(),
        _ if machine.starts_with("arm") => arm::Sysno::new(number)?.name(),
        _ => return None,
    };
    Some(OTHERS.iter().find(|other| other.0 == name).map_or(name, |other| other.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_machine() {
        let check = |machine: &str, number, expect| assert_eq!(name(machine, number), expect, "{machine}");
        check("x86_64", 0, Some("read"));
        check("x86_64", 5, Some("newfstat"));
        check("x86_64", 230, Some("clock_nanosleep"));
        check("x86_64", 900, None);
        check("aarch64", 63, Some("read"));
        check("armv7l", 3, Some("read"));
        check("vax", 3, None);
        assert!(of_machine("x86_64").count() > 300);
    }
}
