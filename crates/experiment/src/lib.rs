//! Experiments: the traces of all hosts that are looked at together, with their clocks.
//!
//! The way through this crate: [`Opened`] holds what the user named and the [`TimeBase`] that was asked for:
//! every host's own clock, a kept `sync.json`, or a synchronization of these very traces. Of it comes an
//! [`Experiment`], whose hosts know what raw times mean ([`isochrone_timing`]). [`Experiment::select`] takes
//! some of them; [`model()`] reads all of them on one pool of threads, and gives [`ModelledHost`]s, of which
//! the tables of analyses are made ([`Question`]). [`Experiment::traces`] gives traces one by one, for those
//! who want their events in one row; [`mod@pieces`] are models of parts of hosts, apart from their traces;
//! [`Experiment::survey`] counts them; [`sample()`] says what CPUs did now and then, long before all is read.
//! [`order()`] needs no traces, only the corrections.
//!
//! Nothing is printed here: what a person should know is a value or a typed error, progress goes to a
//! callback.
//!
//! ```
//! use isochrone_experiment::{Inputs, Opened, TimeBase};
//! # use isochrone_testkit::{Cluster, Family};
//! # let directory = tempfile::tempdir()?;
//! # Cluster::chain(2).messages(100).seconds(2).write(directory.path(), Family::IPV4)?;
//! # let paths = [directory.path().to_owned()];
//! let base = TimeBase::Synchronize(Box::default());
//! let opened = Opened::new(Inputs::open(&paths), base, &|_bytes| ())?;
//! let experiment = opened.experiment();
//! let host = &experiment.hosts()[1];
//! let (raw, _) = host.traced.extent().ok_or("no events")?;
//! let stamp = host.stamp(raw).ok_or("no correction")?;
//! assert!(stamp.lo.is_none_or(|lo| lo <= stamp.unix) && stamp.hi.is_none_or(|hi| stamp.unix <= hi));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base;
mod bounds;
mod call_stacks;
pub mod chunks;
mod events;
mod experiment;
mod explain;
mod index;
mod live;
mod loaded;
mod model;
mod order;
mod periods;
mod phases;
pub mod pieces;
mod question;
mod sample;
mod sampled_stacks;
mod states;
mod stored;
mod temporary;
mod watch;
mod within;

pub use base::{MAX_ARTEFACT, ReadError, TimeBase, read_clocks, read_corrections};
pub use bounds::{add_bounds, add_bounds_of};
pub use call_stacks::{CallStacks, FUNCTION_EVENTS, Function, MAPPING_EVENTS, StackCounts};
pub use chunks::model;
pub use events::{TimedTrace, TimedTraces, surely_in_order};
pub use experiment::{Experiment, Opened, Selection, Survey, total_bytes};
pub use explain::{
    By, Descriptor, Explainer, Explanation, InCall, PART_ROWS, Relation, TimeSpent, Took, Who, stored_hosts,
};
pub use index::{
    IndexError, Indexed, Indexing, fresh_store, index, index_if_stale, index_of_pieces, sources,
    stored_clocks,
};
pub use isochrone_files::Inputs;
pub use isochrone_hosts::{Progress, Work};
pub use live::{LiveBase, LiveEvent, LiveEvents, Revision, synchronize_growing};
pub use model::{MOST_THREADS, ModelError, ModelledHost, Spread, Wanted};
pub use order::{Instant, LIKELY, MOST_PROBABLE, Order, TimesOf, Unknown, Verdict, order};
pub use periods::{PeriodLog, periods, unfinished};
pub use phases::{PhaseFilter, phases};
pub use question::{Question, reports};
pub use sample::{HostSample, SampledPart, sample};
pub use sampled_stacks::{Frame, Location, MappedFile, Sampled, SampledStacks};
pub use states::{StateFilter, states};
pub use stored::{StoredHost, at_instant, from_store, stored_reports};
pub use temporary::scratch;
pub use watch::{
    Change, ChunkFacts, Entry, FinishedChunk, HostProgress, InPlace, PieceJournal, PieceRecord, Retention,
    Step, StepClock, Steps, Watch, WatchError, Watched, head_of_pieces,
};
pub use within::{ByPeriod, ask_within, reports_within};
