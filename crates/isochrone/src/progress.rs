//! Progress bars on stderr, where that is a terminal and nobody asked for quiet.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use isochrone_sync::Inputs;

/// A bar over the bytes of the traces; hidden where nobody would see it.
pub(crate) fn over_bytes(inputs: &Inputs, what: &'static str, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let packets = inputs.traces.iter().flat_map(|i| i.trace.streams()).flat_map(|s| &s.packets);
    let bar = ProgressBar::new(packets.map(|p| p.total_bits / 8).sum());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
