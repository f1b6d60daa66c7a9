//! Ctrl-C and SIGTERM ask the run to stop, and make sure that it does.

use std::time::Duration;

use hatir_pipeline::Cancel;

use crate::exit::Exit;

/// How long the run may take to stop before the process ends without it. An ordinary stop takes less than the
/// pipeline's own grace; this is for a stage that blocks the conductor.
const LAST_RESORT: Duration = Duration::from_secs(1);

/// Sets `cancel` at the first signal. The second one ends the process at once.
pub(crate) async fn cancel_on_signal(cancel: Cancel) {
    signal().await;
    cancel.cancel();
    std::thread::spawn(|| {
        std::thread::sleep(LAST_RESORT);
        std::process::exit(i32::from(Exit::Interrupted.number()));
    });
    signal().await;
    std::process::exit(i32::from(Exit::Interrupted.number()));
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    // Without a handler the default action ends the process, which is what was asked for.
    match (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup())) {
        (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) => tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        },
        _ => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
