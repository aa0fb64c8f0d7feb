//! The synchronization artefact, `sync.json` version 2: its values here, its text in `file`; written and read
//! there and nowhere else.
//!
//! All times are integers in ns. *Raw* is a clock's own value without any offset; Unix time on the common
//! clock is the reference's raw time plus the reference's `clock_offset_ns`. `docs/sync-json.md` describes
//! every field for other tools.

mod file;

use std::collections::HashMap;
use std::fmt;

use isochrone_clock::{Rate, published};
use serde::{Deserialize, Serialize};

pub use file::{ArtefactError, Formula, TimesOf};

/// The version written.
pub const VERSION: u32 = 2;
/// The oldest version read. Version 1 has no [`LinkEntry::interval`].
pub const OLDEST_VERSION: u32 = 1;

/// A row of an interval: raw ns of a clock, and for that instant the lowest, the highest time of another one
/// and the likely error of the estimate, ns.
pub type Row = (i64, i64, i64, i64);

/// A whole `sync.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artefact {
    /// [`VERSION`], or that of the file that was read.
    pub version: u32,
    /// Reference host of the largest island, or the reference that the user chose.
    pub reference: String,
    /// What the guarantees are conditional on.
    pub model: Model,
    /// The published method that chose the estimates (`--method`). Estimates may then be outside of their
    /// intervals, which are those of the messages.
    #[serde(default)]
    pub method: Option<MethodEntry>,
    /// Groups of hosts that messages tie together.
    pub islands: Vec<IslandEntry>,
    /// Every clock, by host name.
    pub clocks: Vec<ClockEntry>,
    /// Pairs of clocks, by names. A pair that is not there has no messages.
    pub links: Vec<LinkEntry>,
    /// Messages that look wrong and were left out.
    pub suspects: Vec<SuspectEntry>,
    /// What was not used.
    pub refused: Vec<Refused>,
    /// Loops of hosts whose links contradict each other.
    pub contradictions: Vec<Vec<String>>,
}

impl Artefact {
    /// By clock: whether it is a reference, or a chain of links that contradict nothing ties it to the
    /// reference of its island. Linear in the links.
    pub fn tied_to_reference(&self) -> Vec<bool> {
        // Messages that all go one way tie nothing.
        let ties = |link: &&LinkEntry| link.min_rtt_ns.is_some() || link.method == Method::Trusted;
        let mut neighbours: HashMap<&str, Vec<&str>> = HashMap::new();
        for link in self.links.iter().filter(|link| link.is_sound()).filter(ties) {
            neighbours.entry(&link.a).or_default().push(&link.b);
            neighbours.entry(&link.b).or_default().push(&link.a);
        }
        // By host: the number of its chain.
        let mut chains: HashMap<&str, usize> = HashMap::new();
        for (number, &host) in neighbours.keys().enumerate() {
            let mut next = vec![host];
            while let Some(host) = next.pop() {
                if !chains.contains_key(host) {
                    chains.insert(host, number);
                    next.extend(&neighbours[host]);
                }
            }
        }
        let chain = |host: &str| chains.get(host).copied();
        let is_tied = |entry: &ClockEntry| {
            let Some(island) = self.islands.iter().find(|island| island.id == entry.island) else {
                return false;
            };
            let own = chain(&entry.host);
            island.reference == entry.host || own.is_some() && own == chain(&island.reference)
        };
        self.clocks.iter().map(is_tied).collect()
    }
}

/// A published method of another project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodEntry {
    /// Which.
    pub name: Method,
    /// What it is.
    pub title: String,
    /// What its original does that was not done.
    pub left_out: Vec<String>,
}

/// The clock model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// How far a clock's rate may be from constant between breaks, ppm. 0: clocks are straight lines.
    pub wander_ppm: f64,
    /// How far apart the rates of two clocks may be where messages leave it open, ppm.
    pub rate_prior_ppm: u32,
    /// Difference of the least delays of two directions, as a share of their sum, that `e95` allows for.
    pub asymmetry: f64,
}

/// Hosts tied together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IslandEntry {
    /// Number.
    pub id: usize,
    /// Whose time the corrections of the island give.
    pub reference: String,
    /// Members.
    pub hosts: Vec<String>,
}

/// One clock. In the file, its rates are decimals and there is a [`Formula`] after them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ClockEntry {
    /// Clock uuid, else host name.
    pub id: String,
    /// Host.
    pub host: String,
    /// All names of the host in its traces.
    pub hostnames: Vec<String>,
    /// Number of its island.
    pub island: usize,
    /// Unix time of the clock's zero in its earliest trace.
    pub clock_offset_ns: i64,
    /// Its traces.
    pub traces: Vec<TraceEntry>,
    /// `[raw, reference raw]`; linear between.
    pub knots: Vec<(i64, i64)>,
    /// Rate before the first knot.
    #[serde(deserialize_with = "file::rate")]
    pub rate_before: Rate,
    /// Rate after the last knot.
    #[serde(deserialize_with = "file::rate")]
    pub rate_after: Rate,
    /// Bounds of the reference's raw time; linear between.
    pub interval: Vec<Row>,
    /// Whether these are guaranteed under what is assumed of the clocks. True in files of versions that did
    /// not say it.
    #[serde(default = "file::yes")]
    pub proven: bool,
    /// Why they are not, a clause.
    #[serde(default)]
    pub doubt: Option<String>,
    /// Where the clock was set or slewed.
    pub breaks: Vec<BreakEntry>,
    /// What is assumed of the clock, and why: by time, over its span. Empty in files of versions that assumed
    /// the same of all.
    #[serde(default)]
    pub assumptions: Vec<AssumptionEntry>,
    /// What its stamps resolve; nothing in files of versions that did not look.
    #[serde(default)]
    pub resolution: Option<ResolutionEntry>,
    /// The formula as a method of others states it.
    #[serde(default, rename = "formula", deserialize_with = "file::stated")]
    pub stated: Option<Formula>,
}

/// How coarse the stamps of a clock are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolutionEntry {
    /// How far apart two different stamps are at least, ns: an event took place up to one less than that
    /// after its stamp.
    pub tick_ns: u64,
    /// How that is known.
    pub source: ResolutionSource,
}

/// The tick, exactly: `15.625 ms`.
impl fmt::Display for ResolutionEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name, places) = match self.tick_ns {
            0..1_000 => return write!(f, "{} ns", self.tick_ns),
            1_000..1_000_000 => (1_000, "µs", 3),
            1_000_000..1_000_000_000 => (1_000_000, "ms", 6),
            _ => (1_000_000_000, "s", 9),
        };
        let digits = format!("{}.{:0places$}", self.tick_ns / unit, self.tick_ns % unit);
        write!(f, "{} {name}", digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// How it is known what the stamps of a clock resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResolutionSource {
    /// The trace or capture declares it, or the format of the list.
    Declared,
    /// All stamps are whole multiples of it apart.
    Stamps,
    /// `--resolution` says so.
    User,
}

/// What is assumed of a clock in a span of its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssumptionEntry {
    /// From when to when, on the clock itself.
    pub raw_ns: (i64, i64),
    /// `free`, `stepwise`, `steered` or `unknown`.
    pub kind: String,
    /// How far the rate may be from the usual one, ppm; nothing where it is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ppm: Option<f64>,
    /// Times at which the rate may have been changed; of `stepwise` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<u64>,
    /// The reason, a clause.
    pub why: String,
    /// Whether messages contradict what the evidence said, so that more is allowed for.
    #[serde(default)]
    pub contradicted: bool,
}

/// A trace and its own clock offset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// As the user named it.
    pub path: String,
    /// Unix time of the clock's zero as this trace states it.
    pub offset_ns: i64,
    /// Of a capture: where it was taken, and what is believed of its stamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<CapturedEntry>,
}

/// Where a capture was taken, and what is believed of its stamps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedEntry {
    /// In words, and why that is believed.
    pub place: String,
    /// Messages that rest on its stamps of frames that were sent: guarantees are conditional on these stamps,
    /// if there are any.
    pub sent: u64,
    /// By how much at most such a stamp is later than its frame left, ns.
    pub late_ns: i64,
    /// Whether such frames were sent on by it, after their stamps; else they were sent by its host.
    pub inline: bool,
}

/// A clock that was set or slewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BreakEntry {
    /// When, on the clock itself: the middle of the range.
    pub raw_ns: i64,
    /// Not before and not after these times of the clock.
    #[serde(default)]
    pub raw_range_ns: (i64, i64),
    /// What happened to it.
    pub kind: BreakKind,
    /// Change of rate.
    pub size_ppm: f64,
    /// Size of a step.
    pub size_ns: i64,
}

/// What happened to a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BreakKind {
    /// Its rate changed.
    Slew,
    /// It was set or stopped.
    Step,
}

/// How the estimate of a link was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By its messages: see `docs/SYNC.md`.
    Default,
    /// There is nothing to choose: the two hosts are trusted to share a clock.
    Trusted,
    /// The line of greatest margin.
    Margin,
    /// LTTV's convex hulls.
    Hull,
    /// Trace Compass's incremental algorithm.
    Tracecompass,
    /// LTTV's linear regression.
    Linreg,
}

impl From<published::Method> for Method {
    fn from(method: published::Method) -> Self {
        match method {
            published::Method::Margin => Self::Margin,
            published::Method::Hull => Self::Hull,
            published::Method::TraceCompass => Self::Tracecompass,
            published::Method::Linreg => Self::Linreg,
        }
    }
}

/// The result of a published method for a pair of clocks: the Unix time of `y` by that of `x`, each by its
/// own clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactorsEntry {
    /// The host whose time goes in.
    pub x: String,
    /// The host whose time comes out.
    pub y: String,
    /// What the method calls it.
    pub outcome: OutcomeEntry,
    /// The line that it chose.
    pub line: Option<Formula>,
    /// The flattest line that no message contradicts.
    pub min: Option<Formula>,
    /// The steepest line that no message contradicts.
    pub max: Option<Formula>,
    /// What it compares pairs by, less is better.
    pub accuracy: Option<f64>,
    /// Points of the half hulls: messages from x to y, and from y to x.
    pub hull_points: (usize, usize),
    /// Exchanges that x began, and those that y began.
    pub exchanges: (u64, u64),
}

/// The verdict of a published method on a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeEntry {
    /// Both extreme lines are there.
    Accurate,
    /// A line was chosen although one of them is missing, or although no line satisfies all messages.
    Approximate,
    /// One of them is missing, and no line was chosen.
    Incomplete,
    /// The messages contradict each other, and no line was chosen.
    Failed,
    /// Nothing is known.
    Absent,
}

impl From<published::Outcome> for OutcomeEntry {
    fn from(outcome: published::Outcome) -> Self {
        match outcome {
            published::Outcome::Accurate => Self::Accurate,
            published::Outcome::Approximate => Self::Approximate,
            published::Outcome::Incomplete => Self::Incomplete,
            published::Outcome::Failed => Self::Failed,
            published::Outcome::Absent => Self::Absent,
        }
    }
}

/// Part of the time of a pair in which its least round trip was far longer than usual: if only one direction
/// was slow there, which messages do not show, times are off by half of the difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowEntry {
    /// Share of the time, above 0 and at most 1.
    pub share: f64,
    /// The usual least round trip, ns.
    pub usual_rtt_ns: i64,
    /// The least round trip in that part of the time, ns.
    pub rtt_ns: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none_of_them(count: &u64) -> bool {
    *count == 0
}

/// A pair of clocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkEntry {
    /// One host, the first by name.
    pub a: String,
    /// The other.
    pub b: String,
    /// What the link is worth.
    pub quality: Quality,
    /// How the point inside the corridor was chosen.
    pub method: Method,
    /// Counts.
    pub messages: MessageCounts,
    /// Messages received before they were sent, by the corrections; of links with more than can be listed, of
    /// those that a straight line can touch.
    pub inversions: u64,
    /// Further messages that may be.
    #[serde(default, skip_serializing_if = "is_none_of_them")]
    pub unverified: u64,
    /// Least and greatest (db/da − 1)·10⁶ that the messages allow.
    pub rate_ppm: (Option<f64>, Option<f64>),
    /// Least and greatest b − a, clock offsets included, on a's clock midway between first and last message.
    pub offset_at_middle_ns: (Option<i64>, Option<i64>),
    /// Least sum of the delays there and back that the messages show.
    pub min_rtt_ns: Option<i64>,
    /// Where messages took far longer than usual, if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<SlowEntry>,
    /// How far the rate of either clock may wander by the bounds of this link, ppm: more than the model's
    /// where the messages show that it does.
    #[serde(default)]
    pub wander_ppm: f64,
    /// Bounds of b's raw time by a's, from the messages of this link alone; linear between, outside of the
    /// rows nothing is known. Empty where the messages do not bound it from both sides, and in files of
    /// version 1.
    #[serde(default)]
    pub interval: Vec<Row>,
    /// The result of the published method for it (`--method`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factors: Option<FactorsEntry>,
    /// Why packets that both saw are no messages, where that is so: a sentence without its full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What a link is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quality {
    /// Both half hulls bound the rate and no message is inverted.
    Accurate,
    /// Messages contradict each other, or the corrections, or a trusted clock: the best that can be had,
    /// without a guarantee.
    Approximate,
    /// Rate or offset is unbounded on a side.
    Incomplete,
    /// No message.
    Absent,
    /// The messages contradict each other: not used.
    Refused,
}

/// Numbers of messages of a link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCounts {
    /// Sent by a, received by b.
    pub a_to_b: u64,
    /// Sent by b, received by a.
    pub b_to_a: u64,
    /// Of these messages, segments that were cut up or put together on their way.
    #[serde(default)]
    pub offloaded: u64,
    /// Of these messages, packets whose addresses or ports were translated on their way.
    #[serde(default)]
    pub translated: u64,
    /// Packets seen at both hosts that could not be paired with certainty.
    pub ambiguous: u64,
    /// Left out because they look wrong.
    pub suspect: u64,
    /// Left out because their times are beyond what can be computed with.
    pub dropped: u64,
}

/// A message that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspectEntry {
    /// Sender and receiver.
    pub link: (String, String),
    /// When it was sent.
    pub sent_raw_ns: i64,
    /// When it was received.
    pub received_raw_ns: i64,
    /// What is wrong with it.
    pub why: String,
}

/// Something that was not used, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// What it is.
    pub what: RefusedKind,
    /// Its name.
    pub name: String,
    /// The reason, without the name; it may have several lines.
    pub why: String,
}

/// What can be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusedKind {
    /// A trace, or a capture.
    Trace,
    /// A link between two clocks.
    Link,
    /// A host.
    Host,
    /// Lines of a list of messages.
    List,
}

impl RefusedKind {
    /// Its name in `sync.json` and in messages for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Link => "link",
            Self::Host => "host",
            Self::List => "list",
        }
    }
}
