//! A consumer of spans that keeps the threads that have ended.

use std::collections::BTreeMap;
use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::canonical_map::CanonicalMap;
use crate::finished::Finished;
use crate::id::{ThreadAliases, ThreadId};
use crate::scratch::Scratch;
use crate::span::Spans;
use crate::span_kinds;
use crate::thread::Facts;

/// A consumer that passes spans to another consumer and keeps retired threads, if that consumer wants them
/// ([`Spans::wants_threads`]): one record for each of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithThreads<S> {
    /// The other consumer.
    pub inner: S,
    ended: CanonicalMap<ThreadId, Facts>,
}

impl<S> WithThreads<S> {
    /// Wraps a consumer.
    pub fn new(inner: S) -> Self {
        Self { inner, ended: CanonicalMap::default() }
    }

    /// The same threads with another consumer, which `change` makes of this one.
    ///
    /// # Errors
    /// Those of `change`.
    pub fn try_with_inner<T, E>(self, change: impl FnOnce(S) -> Result<T, E>) -> Result<WithThreads<T>, E> {
        Ok(WithThreads { inner: change(self.inner)?, ended: self.ended })
    }
}

impl<S> Finished<WithThreads<S>> {
    /// The model with all threads, including those that have ended. `O(n log n)`.
    pub fn with_threads(self) -> Finished<S> {
        let mut ended = BTreeMap::new();
        let Ok(mut model) = self.try_with_spans(|spans| {
            ended = spans.ended.into_sorted().into_iter().collect();
            Ok::<_, Infallible>(spans.inner)
        });
        model.threads.add(ended);
        model
    }
}

macro_rules! forward {
    (@one retired $Type:ty) => {
        fn retired(&mut self, it: &$Type) {
            self.inner.retired(it);
            if self.inner.wants_threads() {
                self.ended.insert(it.thread, it.facts.clone());
            }
        }
    };
    (@one $method:ident $Type:ty) => {
        #[inline]
        fn $method(&mut self, it: &$Type) {
            self.inner.$method(it);
        }
    };
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
        impl<S: Spans> Spans for WithThreads<S> {
            $(forward!(@one $method $Type);)*

            #[inline]
            fn wants_files(&self) -> bool {
                self.inner.wants_files()
            }

            #[inline]
            fn wants_threads(&self) -> bool {
                self.inner.wants_threads()
            }

            fn scratch(&self) -> Scratch {
                self.inner.scratch()
            }

            fn rename(&mut self, aliases: &ThreadAliases) {
                self.inner.rename(aliases);
            }

            fn absorb(&mut self, right: Self) {
                self.inner.absorb(right.inner);
                self.ended.absorb(right.ended, |left, right| *left = right);
            }
        }
    };
}

span_kinds!(forward);
