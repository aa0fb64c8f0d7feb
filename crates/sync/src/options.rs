//! What a user can choose about a synchronization.

use isochrone_clock::{Model, published::Method};
use isochrone_matching::Matched;
use isochrone_matching::capture::DeclaredVantage;
use isochrone_net::protocol;

use crate::steering::ClockChoice;

/// What to do differently.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The host whose clock is the reference, instead of the one that makes the worst uncertainty least.
    pub reference: Option<String>,
    /// What is believed of clocks and links.
    pub model: Model,
    /// Groups of hosts that already share a clock: their Unix times are taken to be equal.
    pub trusted: Vec<Vec<String>>,
    /// What is declared of the clock of a host, or of all clocks, instead of what the traces show of who
    /// steers it.
    pub clocks: Vec<(Option<String>, ClockChoice)>,
    /// What the stamps of a host resolve, or those of all hosts, ns, instead of what they show.
    pub resolution: Vec<(Option<String>, u64)>,
    /// Where captures were taken, by the names of their hosts, instead of what the captures show.
    pub vantage: Vec<(String, DeclaredVantage)>,
    /// A method of others to choose the estimate by, and with how many digits its formulas are written,
    /// instead of the usual one.
    pub published: Option<(Method, u32)>,
    /// Datagrams that do not count, so that what they are good for can be seen.
    pub without: Option<Datagrams>,
}

/// Datagrams of UDP by their ports and their size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datagrams {
    /// The port of one end.
    pub ports: Vec<u16>,
    /// Bytes, with the header of UDP.
    pub bytes: u32,
}

impl Datagrams {
    fn have(&self, message: &Matched) -> bool {
        let key = &message.sent.key;
        key.protocol == protocol::UDP
            && key.size == self.bytes
            && [key.ports.0, key.ports.1].iter().any(|port| self.ports.contains(port))
    }
}

impl Options {
    /// Whether a message counts.
    pub(crate) fn has(&self, message: &Matched) -> bool {
        !self.without.as_ref().is_some_and(|without| without.have(message))
    }

    /// Whether exchanges are of use.
    pub(crate) fn wants_exchanges(&self) -> bool {
        matches!(self.published, Some((Method::Linreg, _)))
    }
}
