//! A consumer that keeps all spans, of every kind and with all fields: what two models have emitted is the same when
//! their bytes are.

use isochrone_analysis::{AnalysisKind, AnalysisSet, Options, When};
use isochrone_kernel::{Recorder, Span, Spans, ThreadAliases, span_kinds};
use serde::{Deserialize, Serialize};

/// Puts spans in the order of their bytes.
pub fn sort(spans: &mut [Span]) {
    spans.sort_by_cached_key(|span| postcard::to_stdvec(span).unwrap());
}

/// One that keeps all and one that asks for all analyses.
#[derive(Debug, Serialize, Deserialize)]
pub struct Both {
    pub recorded: Recorder,
    pub asked: AnalysisSet,
}

impl Default for Both {
    fn default() -> Self {
        let asked = AnalysisSet::new(AnalysisKind::ALL, &Options::default(), When::default());
        Self { recorded: Recorder::default(), asked }
    }
}

macro_rules! pass_on {
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
        impl Spans for Both {
            $(fn $method(&mut self, it: &$Type) {
                self.recorded.$method(it);
                self.asked.$method(it);
            })*

            fn rename(&mut self, aliases: &ThreadAliases) {
                self.recorded.rename(aliases);
                self.asked.rename(aliases);
            }

            fn absorb(&mut self, right: Self) {
                self.recorded.absorb(right.recorded);
                self.asked.absorb(right.asked);
            }
        }
    };
}

span_kinds!(pass_on);
