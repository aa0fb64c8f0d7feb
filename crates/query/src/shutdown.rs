//! The shutdown of servers: at a signal, after the current answers.

/// Waits until a signal ends the process.
pub(crate) async fn ended() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        // Where signals cannot be waited for, they end the process by themselves.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => (),
        _ = terminate.recv() => (),
    }
}
