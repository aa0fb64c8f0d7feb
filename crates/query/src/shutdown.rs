//! How servers end: when the process is told to, after the answers that are under way.

/// Until the process is told to end.
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
