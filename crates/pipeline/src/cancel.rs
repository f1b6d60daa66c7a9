//! A signal that asks work to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Asks work to stop; cloned into whoever works and whoever may ask.
///
/// A child is cancelled with its parent, but not the other way round.
///
/// ```
/// use hatir_pipeline::Cancel;
///
/// let run = Cancel::new();
/// let stage = run.child();
/// stage.cancel();
/// assert!(stage.is_cancelled() && !run.is_cancelled());
/// let other = run.child();
/// run.cancel();
/// assert!(other.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    set: AtomicBool,
    children: Mutex<Vec<std::sync::Weak<Inner>>>,
    lock: Mutex<()>,
    blocking: Condvar,
    notify: Notify,
}

impl Inner {
    fn cancel(&self) {
        if self.set.swap(true, Ordering::SeqCst) {
            return;
        }
        // The lock is taken between setting the flag and waking, so that a waiter either sees the flag or is asleep.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.blocking.notify_all();
        self.notify.notify_waiters();
        let children = std::mem::take(&mut *self.children.lock().unwrap_or_else(PoisonError::into_inner));
        for child in children.iter().filter_map(std::sync::Weak::upgrade) {
            child.cancel();
        }
    }
}

impl Cancel {
    /// A signal that is not set.
    pub fn new() -> Self {
        Cancel::default()
    }

    /// A signal that is set when this one is, and can be set on its own.
    pub fn child(&self) -> Self {
        let child = Cancel::new();
        let mut children = self.inner.children.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_cancelled() {
            drop(children);
            child.cancel();
        } else {
            // Those that are gone are swept out when the list has grown, so that a long batch does not collect them.
            if children.len() == children.capacity() {
                children.retain(|child| child.strong_count() > 0);
            }
            children.push(Arc::downgrade(&child.inner));
        }
        child
    }

    /// Asks to stop. Asking again changes nothing.
    pub fn cancel(&self) {
        self.inner.cancel();
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.inner.set.load(Ordering::SeqCst)
    }

    /// Waits until somebody asks to stop.
    pub async fn cancelled(&self) {
        loop {
            let notified = self.inner.notify.notified();
            tokio::pin!(notified);
            // Registered before the flag is read, so that a signal between the two is not lost.
            notified.as_mut().enable();
            if self.is_cancelled() {
                return;
            }
            notified.await;
        }
    }

    /// Sleeps for `time`, or less when somebody asks to stop. Returns whether somebody did. Blocks the thread.
    pub fn sleep(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut guard = self.inner.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.is_cancelled() {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            guard = self.inner.blocking.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleeper_is_woken() {
        let cancel = Cancel::new();
        let sleeper = cancel.child();
        let thread = std::thread::spawn(move || sleeper.sleep(Duration::from_mins(1)));
        cancel.cancel();
        assert!(thread.join().unwrap());
        assert!(!Cancel::new().sleep(Duration::from_millis(1)));
    }

    #[tokio::test]
    async fn an_async_waiter_is_woken_and_a_late_one_returns_at_once() {
        let cancel = Cancel::new();
        let waiter = cancel.child();
        let task = tokio::spawn(async move { waiter.cancelled().await });
        tokio::task::yield_now().await;
        cancel.cancel();
        task.await.unwrap();
        cancel.cancelled().await;
        assert!(cancel.child().is_cancelled());
    }

    #[test]
    fn children_that_are_gone_are_forgotten() {
        let cancel = Cancel::new();
        for _ in 0..10_000 {
            drop(cancel.child());
        }
        assert!(cancel.inner.children.lock().unwrap().len() < 16);
    }
}
