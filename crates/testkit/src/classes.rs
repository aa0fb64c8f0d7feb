//! The event classes that every kernel trace here has: their fields as LTTng-modules declare them, in TSDL.
//!
//! [`crate::metadata`] puts them into a trace. All is written packed (`align = 8`); traces of tracers with natural
//! alignment rewrite the text.

use std::fmt::Write as _;

use crate::net;

/// Which versions of LTTng-modules wrote the network events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NetLayout {
    /// 2.9 and 2.10: the transport header is chosen by `protocol` or `nexthdr` themselves.
    V2_9,
    /// 2.11 and 2.12: a field of its own chooses it; only TCP is known.
    V2_11,
    /// 2.13: a field of its own chooses it; UDP and ICMP are known.
    #[default]
    V2_13,
}

/// Names of the event classes that kernel traces have from the begin, in the order of their ids.
pub const KERNEL_CLASSES: [&str; 10] = [
    "sched_switch",
    "sched_waking",
    "irq_handler_entry",
    "irq_handler_exit",
    "syscall_entry_read",
    "syscall_exit_read",
    "net_dev_queue",
    "net_if_receive_skb",
    "inet_sock_local_out",
    "inet_sock_local_in",
];

/// The fields of a kernel event class.
pub(crate) fn fields(name: &str, layout: NetLayout) -> Option<String> {
    let fields = match name {
        "sched_switch" => Fields::default()
            .comm("prev_comm")
            .signed(32, "prev_tid")
            .signed(32, "prev_prio")
            .signed(64, "prev_state")
            .comm("next_comm")
            .signed(32, "next_tid")
            .signed(32, "next_prio"),
        "sched_waking" => {
            Fields::default().comm("comm").signed(32, "tid").signed(32, "prio").signed(32, "target_cpu")
        }
        "irq_handler_entry" => Fields::default().signed(32, "irq").string("name"),
        "irq_handler_exit" => Fields::default().signed(32, "irq").signed(32, "ret"),
        "syscall_entry_read" => Fields::default().unsigned(32, "fd").unsigned(64, "count"),
        "syscall_exit_read" => Fields::default().signed(64, "ret").unsigned(64, "buf"),
        "net_dev_queue" | "net_if_receive_skb" => return Some(net::fields(layout)),
        "inet_sock_local_out" | "inet_sock_local_in" => Fields::default()
            .hex(64, "sk")
            .network_hex(32, "seq")
            .network_hex(32, "ack_seq")
            .network_hex(16, "check")
            .network_hex(16, "window")
            .network_hex(16, "flags"),
        _ => return None,
    };
    Some(fields.text)
}

/// Builds TSDL for the members of a structure, in the words of LTTng.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) text: String,
}

impl Fields {
    /// Any text.
    pub(crate) fn line(mut self, line: &str) -> Self {
        self.text.push_str(line);
        self.text.push('\n');
        self
    }

    pub(crate) fn signed(self, size: u32, name: &str) -> Self {
        self.integer(size, 1, "none", 10, "", name)
    }

    pub(crate) fn unsigned(self, size: u32, name: &str) -> Self {
        self.integer(size, 0, "none", 10, "", name)
    }

    pub(crate) fn hex(self, size: u32, name: &str) -> Self {
        self.integer(size, 0, "none", 16, "", name)
    }

    /// A number in network byte order.
    pub(crate) fn network(self, size: u32, name: &str) -> Self {
        self.integer(size, 0, "none", 10, " byte_order = be;", name)
    }

    /// A number in network byte order, shown in base 16.
    pub(crate) fn network_hex(self, size: u32, name: &str) -> Self {
        self.integer(size, 0, "none", 16, " byte_order = be;", name)
    }

    /// The name of a task.
    fn comm(self, name: &str) -> Self {
        self.integer(8, 1, "UTF8", 10, "", &format!("{name}[16]"))
    }

    pub(crate) fn string(self, name: &str) -> Self {
        self.line(&format!("\t\tstring _{name};"))
    }

    pub(crate) fn integer(
        mut self,
        size: u32,
        signed: u32,
        encoding: &str,
        base: u32,
        rest: &str,
        name: &str,
    ) -> Self {
        // Bit fields of the headers are aligned to themselves or not at all, all else to bytes.
        let align = match size {
            3 | 9 => 1,
            4 => 4,
            _ => 8,
        };
        let written = writeln!(
            self.text,
            "\t\tinteger {{ size = {size}; align = {align}; signed = {signed}; encoding = {encoding}; \
             base = {base};{rest} }} _{name};"
        );
        debug_assert!(written.is_ok(), "a string takes every write");
        self
    }
}

/// The text for a tracer that aligns numbers to their size.
pub(crate) fn naturally_aligned(text: &str) -> String {
    [16, 32, 64].iter().fold(text.to_owned(), |text, size| {
        text.replace(&format!("size = {size}; align = 8;"), &format!("size = {size}; align = {size};"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_fields() {
        for name in KERNEL_CLASSES {
            assert!(fields(name, NetLayout::V2_13).is_some_and(|text| text.contains("size = ")), "{name}");
        }
        assert_eq!(fields("sched_nothing", NetLayout::V2_13), None);
    }

    #[test]
    fn alignment_follows_size() {
        let text = fields("syscall_entry_read", NetLayout::V2_13).map(|text| naturally_aligned(&text));
        let expect = "\t\tinteger { size = 32; align = 32; signed = 0; encoding = none; base = 10; } _fd;\n\
                      \t\tinteger { size = 64; align = 64; signed = 0; encoding = none; base = 10; } _count;\n";
        assert_eq!(text.as_deref(), Some(expect));
    }
}
