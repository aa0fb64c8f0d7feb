//! Where the parts of a packet lie among the fields of an event class: found by their names once a class, so
//! that no name is looked at while events are read.
//!
//! The families whose events hold whole headers in variants share it; [`super::headers`] walks along it.

use isochrone_ctf::plan::{Name, Node, NodeKind, OptionNode};

/// How deep fields may lie in each other: LTTng's lie six deep. A class that goes deeper is none of a known
/// tracer.
pub(super) const MAX_DEPTH: usize = 16;

/// What a field is to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Nothing, or what holds parts.
    Other,
    /// An option of a variant that holds a header.
    Header(Header),
    /// The name of the network device.
    Device,
    /// A source or destination address, or the elements of one.
    Source,
    Destination,
    /// An integer of a header.
    Number(Number),
}

/// The headers that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    Ipv4,
    Ipv6,
    Tcp,
    Udp,
    Icmp,
}

/// The integers of headers that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// Words of the IPv4 header.
    Ihl,
    /// Bytes of an IPv4 packet.
    TotalLength,
    /// Bytes after the IPv6 header.
    PayloadLength,
    /// Identification of IPv4.
    Id,
    /// Fragment offset of IPv4 and its flags.
    Fragment,
    SourcePort,
    DestinationPort,
    Seq,
    Ack,
    /// Words of the TCP header.
    DataOffset,
    Flags,
    /// Bytes of a UDP datagram.
    DatagramLength,
    /// Type of an ICMP message.
    Kind,
    /// The word after type, code and sum of an ICMP message.
    Rest,
}

impl Number {
    /// Number of there are.
    pub(super) const COUNT: usize = Self::Rest as usize + 1;
}

impl Header {
    /// By the name of an option: its last word, as in `thtype_tcp`.
    fn of_option(name: &str) -> Option<Self> {
        match name.rsplit('_').next()? {
            "ipv4" => Some(Self::Ipv4),
            "ipv6" => Some(Self::Ipv6),
            "tcp" => Some(Self::Tcp),
            "udp" => Some(Self::Udp),
            "icmp" => Some(Self::Icmp),
            _ => None,
        }
    }
}

impl Part {
    /// What a member of this name is inside a header, or outside of all.
    fn of_member(inside: Option<Header>, name: &str) -> Self {
        let number = match (name, inside) {
            ("name", None) => return Self::Device,
            ("saddr", _) => return Self::Source,
            ("daddr", _) => return Self::Destination,
            ("ihl", _) => Number::Ihl,
            ("tot_len", _) => Number::TotalLength,
            ("payload_len", _) => Number::PayloadLength,
            ("id", Some(Header::Ipv4)) => Number::Id,
            ("frag_off", _) => Number::Fragment,
            ("source_port" | "source" | "sport", _) => Number::SourcePort,
            ("dest_port" | "dest" | "dport", _) => Number::DestinationPort,
            ("seq", _) => Number::Seq,
            ("ack_seq", _) => Number::Ack,
            ("data_offset" | "doff", _) => Number::DataOffset,
            ("flags", Some(Header::Tcp)) => Number::Flags,
            ("len", Some(Header::Udp)) => Number::DatagramLength,
            ("type", Some(Header::Icmp)) => Number::Kind,
            ("gateway", Some(Header::Icmp)) => Number::Rest,
            _ => return Self::Other,
        };
        Self::Number(number)
    }
}

/// The fields of a class. Those that lie in one field (members of a structure, options of a variant, the
/// element of an array) have numbers that follow each other; the payload is number 0.
#[derive(Debug)]
pub(super) struct Shapes(Vec<Shape>);

/// A field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) part: Part,
    /// Number of the first field in it.
    pub(super) first: u16,
}

/// A field that is to be looked into.
struct Inner<'n> {
    node: &'n Node,
    part: Part,
    /// The header that it lies in.
    header: Option<Header>,
}

impl Shapes {
    /// Of the payload of a class; linear in its fields. `None` where they lie too deep or are too many.
    pub(super) fn of(payload: &Node) -> Option<Self> {
        let mut shapes = Self(vec![Shape { part: Part::Other, first: 0 }]);
        shapes.add_inside(0, &Inner { node: payload, part: Part::Other, header: None }, 0)?;
        Some(shapes)
    }

    #[inline]
    pub(super) fn get(&self, number: u16) -> Shape {
        self.0.get(usize::from(number)).copied().unwrap_or(Shape { part: Part::Other, first: 0 })
    }

    /// Whether some field is this part.
    pub(super) fn have(&self, part: Part) -> bool {
        self.0.iter().any(|shape| shape.part == part)
    }

    fn add_inside(&mut self, number: usize, outer: &Inner<'_>, depth: usize) -> Option<()> {
        if depth >= MAX_DEPTH {
            return None;
        }
        let inside = inside(outer);
        let first = self.0.len();
        self.0.get_mut(number)?.first = u16::try_from(first).ok()?;
        self.0.extend(inside.iter().map(|inner| Shape { part: inner.part, first: 0 }));
        let mut numbered = (first..).zip(&inside);
        numbered.try_for_each(|(number, inner)| self.add_inside(number, inner, depth + 1))
    }
}

/// The fields in a field.
fn inside<'n>(outer: &Inner<'n>) -> Vec<Inner<'n>> {
    let Inner { part, header, .. } = *outer;
    match &outer.node.kind {
        NodeKind::Struct(members) => {
            let member = |(name, node): &'n (Name, Node)| Inner {
                node,
                part: Part::of_member(header, name.shown()),
                header,
            };
            members.iter().map(member).collect()
        }
        NodeKind::Variant(_, options) => {
            let option = |option: &'n OptionNode| {
                let own = Header::of_option(option.name.shown());
                let part = own.map_or(Part::Other, Part::Header);
                Inner { node: &option.node, part, header: own.or(header) }
            };
            options.iter().map(option).collect()
        }
        NodeKind::Array(_, node) | NodeKind::Optional(_, node) => vec![Inner { node, part, header }],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_what_their_header_says() {
        let check = |inside, name, expect| assert_eq!(Part::of_member(inside, name), expect, "{name}");
        check(None, "name", Part::Device);
        check(Some(Header::Ipv4), "name", Part::Other);
        check(Some(Header::Ipv4), "id", Part::Number(Number::Id));
        check(None, "id", Part::Other);
        check(None, "len", Part::Other);
        check(Some(Header::Udp), "len", Part::Number(Number::DatagramLength));
        check(Some(Header::Tcp), "source", Part::Number(Number::SourcePort));
        check(Some(Header::Icmp), "type", Part::Number(Number::Kind));
        let check = |name, expect| assert_eq!(Header::of_option(name), expect, "{name}");
        check("tcp", Some(Header::Tcp));
        check("thtype_tcp", Some(Header::Tcp));
        check("unknown", None);
    }
}
