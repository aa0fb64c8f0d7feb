//! Who the ends of a link are to each other: addresses, ports, and what a translator between them makes of these.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::cluster::{Cluster, Protocol};
use crate::error::Misuse;
use crate::packets::IpVersion;
use crate::traffic::SimPacket;

/// Source and destination of a packet, as one of its hosts sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoints {
    /// Version 4.
    pub v4: (Ipv4Addr, Ipv4Addr),
    /// Version 6.
    pub v6: (Ipv6Addr, Ipv6Addr),
    /// Ports; an echo has none.
    pub ports: (u16, u16),
    /// Identifier of an echo.
    pub identifier: u16,
}

impl Endpoints {
    /// The addresses of one version.
    pub fn addresses(&self, ip: IpVersion) -> (IpAddr, IpAddr) {
        match ip {
            IpVersion::V4 => (self.v4.0.into(), self.v4.1.into()),
            IpVersion::V6 => (self.v6.0.into(), self.v6.1.into()),
        }
    }
}

/// One end of a link.
struct End {
    v4: Ipv4Addr,
    v6: Ipv6Addr,
    port: u16,
}

impl Cluster {
    /// Source and destination of a packet as its sender or its receiver sees them: each host has the addresses `10.0.x.y`,
    /// from `10.0.0.1` on, and `fd00::x`, each link a pair of ports. Where a link is translated, its second host sees the
    /// first one as `198.18.x.y` and `fd01::x`, with another port and another identifier of echoes.
    ///
    /// # Errors
    /// The packet is of another cluster.
    pub fn endpoints(&self, packet: &SimPacket, viewer: usize) -> Result<Endpoints, Misuse> {
        let link = self.links.get(packet.link).ok_or(Misuse::NoHost(packet.from))?;
        let hidden = link.translated && viewer == link.b && link.a != link.b;
        let end = |host: usize, other: usize| {
            let translated = hidden && host == link.a;
            let [service, client] = [5000, 40_000].map(|first: u16| first + (packet.link % 20_000) as u16);
            // The host with the higher index has opened the connection.
            let own = if host > other { client } else { service };
            let [high, low] = (host as u16 + 1).to_be_bytes();
            End {
                v4: if translated {
                    Ipv4Addr::new(198, 18, high, low)
                } else {
                    Ipv4Addr::new(10, 0, high, low)
                },
                v6: Ipv6Addr::new(0xfd00 + u16::from(translated), 0, 0, 0, 0, 0, 0, host as u16 + 1),
                port: if translated { own ^ 0x2000 } else { own },
            }
        };
        let (source, destination) = (end(packet.from, packet.to), end(packet.to, packet.from));
        let echo = packet.protocol == Protocol::Echo;
        Ok(Endpoints {
            v4: (source.v4, destination.v4),
            v6: (source.v6, destination.v6),
            ports: if echo { (0, 0) } else { (source.port, destination.port) },
            identifier: (packet.link as u16).wrapping_add(if hidden { 0x1000 } else { 1 }),
        })
    }
}
