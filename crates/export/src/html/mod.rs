//! Reports as HTML pages that need nothing but themselves, with pictures drawn as SVG.
//!
//! | module | concept |
//! |---|---|
//! | `sync_page` | the report of a synchronization |
//! | `page` | what all pages begin and end with, and their style |
//! | `link`, `graph`, `arrows` | the pictures |
//! | `scale`, `svg` | axes; shapes as text |
//!
//! What is drawn comes as plain values: nothing here knows traces, clocks or how anything was found.

mod arrows;
mod graph;
mod link;
mod page;
mod scale;
mod svg;
mod sync_page;

pub use arrows::Arrow;
pub use graph::{Edge, Node};
pub use link::{Dot, Latencies, LinkPicture};
pub use page::Table;
pub use sync_page::{LinkSection, SyncPage};
