//! The thread that analyses. A newer event stops the run for an older one: nobody needs its result.

use super::position::Encoding;
use super::workspace::{Event, Reports, Workspace};
use crate::engine::Interrupt;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What the thread gives back.
#[derive(Debug)]
pub(super) enum News {
    /// The result for all events up to number `generation`.
    Found {
        /// Number of the last event that it knows.
        generation: u64,
        /// All findings.
        reports: Reports,
    },
    /// Something that the user should be told.
    Message(String),
}

/// The way to the thread.
#[derive(Debug)]
pub(super) struct Worker {
    events: Sender<(u64, Event)>,
    /// What the thread gives back.
    pub(super) news: Receiver<News>,
    running: Arc<Mutex<Interrupt>>,
    generation: u64,
}

impl Worker {
    /// Starts the thread. It ends when the worker is dropped.
    pub(super) fn start(encoding: Encoding) -> std::io::Result<Self> {
        let (events, inbox) = unbounded();
        let (outbox, news) = unbounded();
        let running = Arc::new(Mutex::new(Interrupt::default()));
        let current = Arc::clone(&running);
        thread::Builder::new().name("analysis".to_owned()).spawn(move || {
            work(Workspace::new(encoding), &inbox, &outbox, &current);
        })?;
        Ok(Self { events, news, running, generation: 0 })
    }

    /// Hands `event` to the thread and stops what it is at.
    pub(super) fn send(&mut self, event: Event) {
        self.generation += 1;
        // A thread that is gone is replaced by none: requests are then answered with what is known.
        let _ = self.events.send((self.generation, event));
        self.running.lock().unwrap_or_else(PoisonError::into_inner).raise();
    }

    /// Number of the last event.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }
}

fn work(
    mut workspace: Workspace,
    inbox: &Receiver<(u64, Event)>,
    outbox: &Sender<News>,
    running: &Mutex<Interrupt>,
) {
    while let Ok((mut generation, event)) = inbox.recv() {
        guarded(|| workspace.apply(event), outbox);
        let interrupt = Interrupt::default();
        running.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&interrupt);
        for (number, event) in inbox.try_iter() {
            generation = number;
            guarded(|| workspace.apply(event), outbox);
        }
        guarded(|| workspace.analyze(&interrupt), outbox);
        for message in workspace.take_messages() {
            let _ = outbox.send(News::Message(message));
        }
        // An interrupted run is followed by another, whose event waits in the inbox.
        if !(interrupt.is_raised() && workspace.is_stale()) {
            let found = News::Found { generation, reports: workspace.reports() };
            if outbox.send(found).is_err() {
                return;
            }
        }
    }
}

/// Runs `step`; a panic is told, and the thread goes on.
fn guarded(step: impl FnOnce(), outbox: &Sender<News>) {
    if catch_unwind(AssertUnwindSafe(step)).is_err() {
        let message = "this is a fault of rowrace, not of your code: please report it";
        let _ = outbox.send(News::Message(message.to_owned()));
    }
}
