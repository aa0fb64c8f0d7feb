//! Addresses of sockets, as `connect` and `accept` record them.

use std::fmt;
use std::net::IpAddr;

use isochrone_strace::family_name;
use serde::{Deserialize, Serialize};

/// The address of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Address {
    /// Of IPv4 or IPv6.
    Ip {
        /// The host.
        ip: IpAddr,
        /// The port, in host byte order.
        port: u16,
    },
    /// Of another family (`AF_UNIX` is 1), whose address the tracer does not record.
    Family(u16),
}

impl Address {
    /// Host and port; an IPv4 address that is mapped into IPv6 as IPv4.
    pub(crate) fn canonical(self) -> Option<(IpAddr, u16)> {
        match self {
            Self::Ip { ip, port } => Some((ip.to_canonical(), port)),
            Self::Family(_) => None,
        }
    }
}

/// `10.0.0.1:80`, `[::1]:80`, `AF_UNIX`.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ip { ip: IpAddr::V4(ip), port } => write!(f, "{ip}:{port}"),
            Self::Ip { ip: IpAddr::V6(ip), port } => write!(f, "[{ip}]:{port}"),
            Self::Family(family) => match family_name(family.into()) {
                Some(name) => f.write_str(name),
                None => write!(f, "AF_{family}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown() {
        let check = |address: Address, expect: &str| assert_eq!(address.to_string(), expect);
        check(Address::Ip { ip: [10, 0, 0, 1].into(), port: 80 }, "10.0.0.1:80");
        check(Address::Ip { ip: [0, 0, 0, 0, 0, 0, 0, 1_u16].into(), port: 80 }, "[::1]:80");
        check(Address::Family(1), "AF_UNIX");
        check(Address::Family(777), "AF_777");
    }
}
