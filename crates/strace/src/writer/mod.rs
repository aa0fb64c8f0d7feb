//! The visitor that keeps arguments while it walks the fields of an event: numbers as they are, all else as
//! text. `visit` follows the walk, this has the numbers.

mod visit;

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use isochrone_ctf::schema::IntegerClass;

use crate::number::Number;
use crate::show::Show;
use crate::values::{ArgumentValues, ValueWriter};

/// Flags of `open` that make files: `O_CREAT` and `O_TMPFILE`.
const CREATES: u64 = 0o2000_0100;

/// Writes the arguments that it visits.
pub(crate) struct Writer<'s> {
    shows: &'s [(Show, Option<u8>)],
    out: ValueWriter,
    show: Show,
    /// The index of that among the ways to show a value that is kept.
    index: Option<u8>,
    /// Whether this is what a call filled in: sets have their names before them, and empty arrays are not
    /// shown.
    is_exit: bool,
    /// Name of the set that comes.
    set: String,
    /// Structures and arrays that the walk is in; the payload itself is the first.
    depth: usize,
    /// Whether nothing was written since the last opening bracket.
    first: bool,
    /// At which depth single bits are shown by their names, and how many were.
    bits: Option<(usize, usize)>,
    /// Whether the value that comes is shown, if that which it lies in is.
    inner: Inner,
    /// Whether a union comes, which has no brackets of its own; then the depth of the one that the walk is
    /// in.
    in_union: bool,
    union_depth: Option<usize>,
    /// Name of the bit that comes.
    bit: String,
    /// Number of the array's element that comes.
    element: u64,
    opened: u64,
    /// The address that is put together: port, and bytes or words.
    address: Option<AddressParts>,
    part: Part,
}

#[derive(Default)]
struct AddressParts {
    port: u64,
    v4: Vec<u8>,
    v6: Vec<u16>,
}

/// Whether a value within an argument is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inner {
    Shown,
    /// It is another view of what is shown, or empty.
    Skipped,
    /// The array that it is in is long.
    Cut,
}

/// Which part of an address comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    None,
    Family,
    Port,
    V4,
    V6,
}

impl<'s> Writer<'s> {
    pub(crate) fn new(shows: &'s [(Show, Option<u8>)], is_exit: bool) -> Self {
        Self {
            shows,
            is_exit,
            set: String::new(),
            out: ValueWriter::default(),
            show: Show::Plain,
            index: None,
            depth: 0,
            first: true,
            bits: None,
            inner: Inner::Shown,
            in_union: false,
            union_depth: None,
            bit: String::new(),
            element: 0,
            opened: 0,
            address: None,
            part: Part::None,
        }
    }

    pub(crate) fn finish(mut self) -> ArgumentValues {
        self.end_address();
        self.out.finish()
    }

    fn skips(&self) -> bool {
        self.inner != Inner::Shown || matches!(self.show, Show::Skip)
    }

    /// What comes before a value.
    fn separate(&mut self) {
        if !self.first {
            self.out.text.push_str(", ");
        }
        self.first = false;
    }

    fn put(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        self.out.text.write_fmt(arguments).unwrap_or_default();
    }

    /// Ends the address, if one is being put together: `10.0.0.1:80` in place of the family.
    fn end_address(&mut self) {
        let Some(parts) = self.address.take() else { return };
        let v4 = <[u8; 4]>::try_from(parts.v4.as_slice()).map(Ipv4Addr::from);
        let v6 = <[u16; 8]>::try_from(parts.v6.as_slice()).map(Ipv6Addr::from);
        let port = parts.port;
        match (v4, v6) {
            (Ok(ip), _) => self.put(format_args!(" {ip}:{port}")),
            (_, Ok(ip)) => self.put(format_args!(" [{ip}]:{port}")),
            _ => {}
        }
    }

    /// A part of an address, which is kept.
    fn keep_part(&mut self, value: u64) -> bool {
        let Some(parts) = &mut self.address else { return false };
        match self.part {
            Part::Port => parts.port = value,
            Part::V4 if parts.v4.len() < 4 => parts.v4.push(value as u8),
            Part::V6 if parts.v6.len() < 8 => parts.v6.push(value as u16),
            _ => return false,
        }
        true
    }

    fn number(&mut self, class: &IntegerClass, value: i64) {
        if self.keep_part(value as u64) {
            return;
        }
        if let Some((depth, count)) = self.bits
            && self.depth > depth
        {
            if class.size == 1 && value != 0 && self.bit != "padding" {
                if count > 0 {
                    self.out.text.push('|');
                }
                self.out.text.push_str(&self.bit);
                self.bits = Some((depth, count + 1));
            }
            return;
        }
        if self.skips() {
            return;
        }
        if self.depth == 1 && self.part == Part::Family && value == 0 {
            // There was no address.
            self.address = None;
            return;
        }
        let number = Number::of(class, value);
        match self.show {
            Show::FdSet => return self.fd_set(class, value),
            Show::OctalIfCreated if self.opened & CREATES == 0 => return,
            Show::Open => self.opened = number.raw(),
            _ => {}
        }
        if !self.put_value(class, number) {
            self.separate();
            self.put_number(class, number);
        }
        if self.part == Part::Family && self.depth == 1 {
            self.address = Some(AddressParts::default());
        }
    }

    /// Puts an argument as its value, if all of how it is shown follows from that. Says whether it did.
    fn put_value(&mut self, class: &IntegerClass, number: Number) -> bool {
        let Some(index) = self.index.filter(|_| self.depth == 1 && class.mappings.is_none()) else {
            return false;
        };
        let is_put = self.out.number(index, !self.first, number);
        self.first &= !is_put;
        is_put
    }

    /// Puts a number as text.
    fn put_number(&mut self, class: &IntegerClass, number: Number) {
        let labels = |value: i64| class.mappings.as_ref().and_then(|_| class.labels(value.into()).next());
        let show = if self.show == Show::OctalIfCreated { Show::Octal } else { self.show };
        // Writing to a string cannot fail.
        number.show(show, &labels, &mut self.out.text).unwrap_or_default();
    }

    /// A byte of a set of descriptors.
    fn fd_set(&mut self, class: &IntegerClass, value: i64) {
        let size = u64::from(class.size);
        for bit in (0..size.min(64)).filter(|bit| value as u64 >> bit & 1 == 1) {
            if !self.first {
                self.out.text.push(' ');
            }
            self.first = false;
            let fd = self.element.saturating_mul(size) + bit;
            self.put(format_args!("{fd}"));
        }
    }

    fn open(&mut self, bracket: char) {
        if std::mem::take(&mut self.in_union) {
            self.union_depth = Some(self.depth);
        } else if self.bits.is_none() && !self.skips() && self.part == Part::None {
            self.separate();
            self.out.text.push(bracket);
            self.first = true;
        }
        self.depth += 1;
    }

    fn close(&mut self, bracket: char) {
        self.depth = self.depth.saturating_sub(1);
        if self.union_depth == Some(self.depth) {
            self.union_depth = None;
            return;
        }
        match self.bits {
            Some((depth, count)) if depth == self.depth => {
                self.bits = None;
                if count == 0 {
                    self.out.text.push('0');
                }
            }
            None if !self.skips() && self.part == Part::None => {
                self.out.text.push(bracket);
                self.first = false;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use isochrone_ctf::Visitor;
    use isochrone_ctf::plan::Name;
    use isochrone_ctf::schema::ByteOrder;

    use super::*;

    #[test]
    fn long_arrays_are_cut() {
        let class = IntegerClass::unsigned(32, 8, ByteOrder::Little);
        let mut writer = Writer::new(&[(Show::Plain, Some(0)), (Show::Plain, Some(0))], false);
        writer.begin_struct();
        writer.member(0, &Name::new("_all"));
        writer.begin_array(40);
        for element in 0..40 {
            writer.element(element);
            writer.begin_struct();
            writer.member(0, &Name::new("_n"));
            writer.unsigned(&class, element);
            writer.end_struct();
        }
        writer.end_array();
        writer.member(1, &Name::new("_next"));
        writer.unsigned(&class, 5);
        writer.end_struct();
        let line = writer.finish().to_string();
        assert!(line.starts_with("[{n=0}, {n=1}, "), "{line}");
        assert!(line.ends_with(", {n=31}, ...], 5"), "{line}");
    }

    /// An event of `epoll_wait` as the tracer writes it.
    #[test]
    fn what_epoll_shows_is_short() {
        let class = |bits| IntegerClass::unsigned(bits, 8, ByteOrder::Little);
        let shows = [(Show::Plain, Some(0))];
        let mut writer = Writer::new(&shows, true);
        let member = |writer: &mut Writer<'_>, index, name| writer.member(index, &Name::new(name));
        writer.begin_struct();
        member(&mut writer, 0, "_fds");
        writer.begin_array(2);
        for element in 0..2 {
            writer.element(element);
            writer.begin_struct();
            member(&mut writer, 0, "_data_union");
            writer.begin_struct();
            member(&mut writer, 0, "_u64");
            writer.unsigned(&class(64), 7);
            member(&mut writer, 1, "_fd");
            writer.unsigned(&class(32), 7);
            writer.end_struct();
            member(&mut writer, 1, "_raw_events");
            writer.unsigned(&class(32), 5);
            member(&mut writer, 2, "_events");
            writer.begin_struct();
            for (index, name) in ["_EPOLLIN", "_EPOLLPRI", "_EPOLLOUT", "_EPOLLERR"].into_iter().enumerate() {
                member(&mut writer, index, name);
                writer.unsigned(&class(1), u64::from(element == 0 && index % 2 == 0));
            }
            member(&mut writer, 4, "_padding");
            writer.unsigned(&class(4), 0);
            writer.end_struct();
            writer.end_struct();
        }
        writer.end_array();
        writer.end_struct();
        assert_eq!(writer.finish().to_string(), "[{fd=7, events=EPOLLIN|EPOLLOUT}, {fd=7, events=0}]");
    }
}
