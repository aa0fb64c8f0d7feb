//! A consumer that keeps all that it is told, of every kind and with all fields: what two models have told is the same when
//! their bytes are.

use isochrone_analysis::{Asked, Kind, Options, When};
use isochrone_kernel::{Recorder, Renames, Span, Spans, span_kinds};
use serde::{Deserialize, Serialize};

/// Puts spans in the order of their bytes.
pub fn sort(spans: &mut [Span]) {
    spans.sort_by_cached_key(|span| postcard::to_stdvec(span).unwrap());
}

/// One that keeps all and one that asks for all analyses.
#[derive(Debug, Serialize, Deserialize)]
pub struct Both {
    pub heard: Recorder,
    pub asked: Asked,
}

impl Default for Both {
    fn default() -> Self {
        let asked = Asked::new(Kind::ALL, &Options::default(), When::default());
        Self { heard: Recorder::default(), asked }
    }
}

macro_rules! pass_on {
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Kept:ty;)*) => {
        impl Spans for Both {
            $(fn $method(&mut self, it: &$Type) {
                self.heard.$method(it);
                self.asked.$method(it);
            })*

            fn rename(&mut self, renames: &Renames) {
                self.heard.rename(renames);
                self.asked.rename(renames);
            }

            fn absorb(&mut self, right: Self) {
                self.heard.absorb(right.heard);
                self.asked.absorb(right.asked);
            }
        }
    };
}

span_kinds!(pass_on);
