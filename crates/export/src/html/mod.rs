//! Reports as HTML pages that need nothing but themselves, with pictures drawn as SVG.
//!
//! | module | concept |
//! |---|---|
//! | `summary_page` | the page of an experiment as a whole |
//! | `synchronization` | the report of a synchronization: a page, or a part of one |
//! | `page` | head and foot of all pages; `style.css` |
//! | `link`, `graph`, `arrows` | pictures of a synchronization |
//! | `strips`, `lives`, `accesses`, `requests` | pictures of what hosts did |
//! | `scale`, `svg` | axes; shapes as text |
//!
//! What is drawn comes as plain values: nothing here knows traces or clocks. The size of a page is bounded.

mod accesses;
mod arrows;
mod graph;
mod link;
mod lives;
mod page;
mod requests;
mod scale;
mod strips;
mod summary_page;
pub(crate) mod svg;
mod synchronization;

pub use accesses::{Access, AccessPicture, MAX_ACCESSES};
pub use arrows::Arrow;
pub use graph::{Edge, Node};
pub use link::{Dot, Latencies, LinkPicture};
pub use lives::{Life, MAX_LIVES};
pub use page::Table;
pub use requests::{Bar, Packet, RequestPicture, RequestStep};
pub use strips::{Step, Strip};
pub use summary_page::{Block, Section, SummaryPage};
pub use synchronization::{LinkSection, MAX_BYTES, Synchronization};
