//! Statistics, frequency distributions, and lengths of intervals.

pub(crate) mod buckets;
pub(crate) mod histogram;
pub(crate) mod intervals;
pub(crate) mod stats;
