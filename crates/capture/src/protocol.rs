//! Protocols by the numbers that announce them, and by their names.

use std::fmt;

use etherparse::IpNumber;

/// What a header announces to come after it. Displayed as its usual name, or as its number where it has none
/// here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// By its ether type.
    EtherType(u16),
    /// By its destination access point, in frames of IEEE 802.3 with LLC.
    Llc(u8),
    /// By its number in PPP.
    Ppp(u16),
    /// By its number in IP.
    Ip(u8),
    /// VXLAN, which has a UDP port alone.
    Vxlan,
    /// A link type that is not known.
    Link(u16),
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = match self {
            Self::EtherType(number) => of_ether_type(*number),
            Self::Llc(number) => of_llc(*number),
            Self::Ppp(number) => of_ppp(*number),
            Self::Ip(number) => of_ip(*number),
            Self::Vxlan => Some("VXLAN"),
            Self::Link(_) => None,
        };
        match (known, self) {
            (Some(name), _) => f.write_str(name),
            (None, Self::EtherType(number)) => write!(f, "ether type {number:#06x}"),
            (None, Self::Llc(number)) => write!(f, "LLC {number:#04x}"),
            (None, Self::Ppp(number)) => write!(f, "PPP {number:#06x}"),
            (None, Self::Ip(number)) => write!(f, "IP protocol {number}"),
            (None, Self::Link(number)) => write!(f, "link type {number}"),
            (None, Self::Vxlan) => Ok(()),
        }
    }
}

/// By <https://standards-oui.ieee.org/ethertype/eth.txt>.
fn of_ether_type(number: u16) -> Option<&'static str> {
    Some(match number {
        0x0800 | 0x86dd => "IP",
        0x0806 => "ARP",
        0x22f0 => "AVTP",
        0x6558 => "Ethernet",
        0x8035 => "RARP",
        0x8100 | 0x88a8 | 0x9100 => "VLAN",
        0x8137 => "IPX",
        0x8809 => "slow protocols (LACP)",
        0x8847 | 0x8848 => "MPLS",
        0x8863 => "PPPoE discovery",
        0x8864 => "PPPoE",
        0x8892 => "PROFINET",
        0x888e => "EAPOL",
        0x88a4 => "EtherCAT",
        0x88be | 0x22eb => "ERSPAN",
        0x88ca => "TIPC",
        0x88cc => "LLDP",
        0x88e5 => "MACsec",
        0x88e7 => "PBB",
        0x88f7 => "PTP",
        0x8902 => "CFM",
        0x8906 => "FCoE",
        0x8915 => "RoCE",
        0x894f => "NSH",
        0x9000 => "loopback test",
        _ => return None,
    })
}

fn of_llc(number: u8) -> Option<&'static str> {
    Some(match number {
        0x42 => "STP",
        0xaa => "SNAP",
        0xe0 | 0xff => "IPX",
        0xf0 => "NetBIOS",
        0xfe => "OSI (IS-IS)",
        _ => return None,
    })
}

fn of_ppp(number: u16) -> Option<&'static str> {
    Some(match number {
        0x0021 | 0x0057 => "IP",
        0x003d => "PPP multilink",
        0x00fd => "PPP compressed",
        0x8021 => "PPP IPCP",
        0x8057 => "PPP IPV6CP",
        0x80fd => "PPP CCP",
        0xc021 => "PPP LCP",
        0xc023 => "PPP PAP",
        0xc223 => "PPP CHAP",
        _ => return None,
    })
}

/// By <https://www.iana.org/assignments/protocol-numbers>.
fn of_ip(number: u8) -> Option<&'static str> {
    match number {
        4 | 41 => Some("IP-in-IP"),
        6 => Some("TCP"),
        58 => Some("ICMPv6"),
        97 => Some("EtherIP"),
        132 => Some("SCTP"),
        _ => IpNumber(number).keyword_str(),
    }
}
