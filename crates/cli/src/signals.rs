//! Ctrl-C, SIGTERM and SIGHUP ask the run to stop, and make sure that it does.

use std::time::Duration;

use hatir_pipeline::Cancel;

use crate::exit::Exit;

/// How long the work may take to stop before the process ends without it. An ordinary stop takes no longer than the
/// pipeline's own grace; this is for a stage or a reader of our output that blocks.
const LAST_RESORT: Duration = Duration::from_millis(190);

/// Sets `cancel` at the first signal, and ends the process at the second one or when the work does not stop.
///
/// The signals have a thread of their own: one that blocks on writing its output must not make the process deaf.
pub(crate) fn cancel_on_signal(cancel: &Cancel) {
    let cancel = cancel.clone();
    let (ready, listening) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // Without a runtime the default action of the system ends the process, which is what was asked for.
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let mut signals = Signals::listen();
            drop(ready);
            signals.next().await;
            cancel.cancel();
            let _ = tokio::time::timeout(LAST_RESORT, signals.next()).await;
            std::process::exit(i32::from(Exit::Interrupted.number()));
        });
    });
    // From here on no signal is missed: the other end is dropped once the handlers are in place, or cannot be.
    let _ = listening.recv() as Result<(), _>;
}

#[cfg(unix)]
struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        // A signal without a handler keeps its default action, which ends the process.
        Signals(kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect())
    }

    async fn next(&mut self) {
        std::future::poll_fn(|context| {
            let any = self.0.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if any { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> Self {
        Signals
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
