//! Reports as HTML pages that need nothing but themselves, with pictures drawn as SVG.
//!
//! | module | concept |
//! |---|---|
//! | `summary_page` | the page of an experiment as a whole |
//! | `synchronization` | the report of a synchronization: a page, or a part of one |
//! | `page` | what all pages begin and end with; `style.css` |
//! | `link`, `graph`, `arrows` | pictures of a synchronization |
//! | `strips`, `requests` | pictures of what hosts did |
//! | `scale`, `svg` | axes; shapes as text |
//!
//! What is drawn comes as plain values: nothing here knows traces, clocks or how anything was found. How large a page can be does not depend on how
//! much there is.

mod arrows;
mod graph;
mod link;
mod page;
mod requests;
mod scale;
mod strips;
mod summary_page;
mod svg;
mod synchronization;

pub use arrows::Arrow;
pub use graph::{Edge, Node};
pub use link::{Dot, Latencies, LinkPicture};
pub use page::Table;
pub use requests::{Bar, Carried, RequestPicture, RequestStep};
pub use strips::{Step, Strip};
pub use summary_page::{Part, Section, SummaryPage};
pub use synchronization::{LinkSection, MOST_BYTES, Synchronization};
