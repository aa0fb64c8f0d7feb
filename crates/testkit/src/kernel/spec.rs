//! A short notation for the fields of event classes: `i32 dfd, str filename, x32 fmode, n8 v4addr[_v4addr_length]`.
//!
//! The tables of [`super::events`] and [`super::calls`] are written in it; it becomes TSDL through
//! [`crate::classes::Fields`]. Names are those that people see. What comes before them:
//!
//! * `i32`, `u16` …: a number; `x64`: unsigned, shown in base 16; `h32`: signed, in base 16; `o32`: unsigned, in base 8
//! * `n16`: unsigned in network byte order; `m32`: the same in base 16
//! * `long`, `ulong`, `ptr`: a number of the size of the machine's words; `ptr` is shown in base 16
//! * `str`: text that ends with zero; `comm`: the name of a task, 16 bytes
//! * `pollfd`, `epollfd`, `epollevent`, `epollop`: what calls for waiting record of file descriptors

use crate::classes::Fields;

/// What the same notation means on different machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Size of `long` in bits.
    pub(crate) long_bits: u32,
    /// Whether the bytes of names of tasks are signed numbers.
    pub(crate) signed_chars: bool,
}

/// A field of an event class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field<'s> {
    kind: &'s str,
    /// Name as people see it.
    pub(crate) name: &'s str,
    /// Elements of an array: a number, or the name of the field that holds it.
    length: Option<&'s str>,
}

/// The fields of a class in their order.
pub(crate) fn fields(spec: &str) -> impl Iterator<Item = Field<'_>> {
    spec.split(", ").filter_map(|member| {
        let (kind, name) = member.split_once(' ')?;
        let (name, length) = match name.split_once('[') {
            Some((name, length)) => (name, length.strip_suffix(']')),
            None => (name, None),
        };
        Some(Field { kind, name, length })
    })
}

/// The fields of a class in TSDL.
pub(crate) fn tsdl(spec: &str, dialect: Dialect) -> String {
    fields(spec).fold(Fields::default(), |text, field| field.append(text, dialect)).text
}

impl Field<'_> {
    /// Bits of an unsigned number: negative ones are written modulo their range, as C converts them.
    pub(crate) fn unsigned_bits(self, dialect: Dialect) -> Option<u32> {
        let number = number(self.kind, dialect)?;
        (!number.signed).then_some(number.bits)
    }

    fn append(self, fields: Fields, dialect: Dialect) -> Fields {
        let name = match self.length {
            None => self.name.to_owned(),
            Some(length) if length.parse::<u32>().is_ok() => format!("{}[{length}]", self.name),
            Some(length) => format!("{}[ _{length} ]", self.name),
        };
        match self.kind {
            "str" => fields.string(&name),
            "comm" => fields.integer(8, dialect.signed_chars.into(), "UTF8", 10, "", &format!("{name}[16]")),
            "pollfd" => fields.line(&format!("\t\t{} _{name};", flags(POLL_FD, &POLL_FLAGS, 3))),
            "epollfd" | "epollevent" => {
                fields.line(&format!("\t\t{} _{name};", flags(EPOLL_FD, &EPOLL_FLAGS, 4)))
            }
            "epollop" => fields.line(&format!("\t\t{EPOLL_OP} _{name};")),
            kind => match number(kind, dialect) {
                Some(Number { bits, signed, base, network }) => {
                    let order = if network { " byte_order = be;" } else { "" };
                    fields.integer(bits, signed.into(), "none", base, order, &name)
                }
                // A slip in a table: the metadata will not parse, and the first test fails.
                None => fields.line(&format!("\t\t{kind} _{name};")),
            },
        }
    }
}

struct Number {
    bits: u32,
    signed: bool,
    base: u32,
    network: bool,
}

fn number(kind: &str, dialect: Dialect) -> Option<Number> {
    let long = |signed, base| Some(Number { bits: dialect.long_bits, signed, base, network: false });
    match kind {
        "long" => return long(true, 10),
        "ulong" => return long(false, 10),
        "ptr" => return long(false, 16),
        _ => {}
    }
    let (letter, bits) = kind.split_at_checked(1)?;
    let (signed, base, network) = match letter {
        "i" => (true, 10, false),
        "u" => (false, 10, false),
        "h" => (true, 16, false),
        "x" => (false, 16, false),
        "o" => (false, 8, false),
        "n" => (false, 10, true),
        "m" => (false, 16, true),
        _ => return None,
    };
    Some(Number { bits: bits.parse().ok()?, signed, base, network })
}

const POLL_FD: &str = "\
    integer { size = 32; align = 8; signed = 1; encoding = none; base = 10; } _fd; \
    integer { size = 16; align = 8; signed = 0; encoding = none; base = 16; } _raw_events;";
const POLL_FLAGS: [&str; 5] = ["POLLIN", "POLLPRI", "POLLOUT", "POLLERR", "POLLHUP"];
const EPOLL_FD: &str = "\
    struct { integer { size = 64; align = 8; signed = 0; encoding = none; base = 16; } _u64; \
    integer { size = 32; align = 8; signed = 1; encoding = none; base = 10; } _fd; } _data_union; \
    integer { size = 32; align = 8; signed = 0; encoding = none; base = 16; } _raw_events;";
const EPOLL_FLAGS: [&str; 4] = ["EPOLLIN", "EPOLLPRI", "EPOLLOUT", "EPOLLERR"];
const EPOLL_OP: &str = "\
    enum : integer { size = 32; align = 8; signed = 1; encoding = none; base = 10; } \
    { \"EPOLL_CTL_ADD\" = 1, \"EPOLL_CTL_DEL\" = 2, \"EPOLL_CTL_MOD\" = 3 }";

/// A structure with single bits for the flags at its end.
fn flags(first: &str, names: &[&str], padding: u32) -> String {
    let bit = |size: u32, name: &str| {
        format!("integer {{ size = {size}; align = 1; signed = 0; encoding = none; base = 10; }} _{name}; ")
    };
    let bits: String = names.iter().map(|name| bit(1, name)).chain([bit(padding, "padding")]).collect();
    format!("struct {{ {first} struct {{ {bits}}} _events; }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_becomes_tsdl() {
        let check = |spec, long_bits, expect: &str| {
            assert_eq!(tsdl(spec, Dialect { long_bits, signed_chars: true }), expect, "{spec}");
        };
        let integer = |size: u32, signed: u32, base: u32, rest: &str, name: &str| {
            format!(
                "\t\tinteger {{ size = {size}; align = 8; signed = {signed}; encoding = none; base = {base};{rest} }} \
                 _{name};\n"
            )
        };
        check("", 64, "");
        check("i32 dfd, str filename", 64, &(integer(32, 1, 10, "", "dfd") + "\t\tstring _filename;\n"));
        check("long ret", 64, &integer(64, 1, 10, "", "ret"));
        check("long ret", 32, &integer(32, 1, 10, "", "ret"));
        check("ptr buf", 32, &integer(32, 0, 16, "", "buf"));
        check("h32 addrlen", 64, &integer(32, 1, 16, "", "addrlen"));
        check("n16 v6addr[_n]", 64, &integer(16, 0, 10, " byte_order = be;", "v6addr[ __n ]"));
        check("i32 fildes[2]", 64, &integer(32, 1, 10, "", "fildes[2]"));
    }

    #[test]
    fn ranges_of_unsigned_numbers_are_known() {
        let dialect = Dialect { long_bits: 32, signed_chars: true };
        let bits: Vec<_> =
            fields("u32 fd, ptr buf, i32 n, str s, x64 p").map(|f| f.unsigned_bits(dialect)).collect();
        assert_eq!(bits, [Some(32), Some(32), None, None, Some(64)]);
    }
}
