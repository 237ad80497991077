//! Concurrent requests of one process share round trips: what comes meanwhile goes out together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gorl_core::{Decision, StoreErrorKind};
use tokio::sync::oneshot;

use crate::caller::Caller;
use crate::failure::Failure;
use crate::many::{self, Mode};
use crate::question::Question;

/// Sends requests one by one while few are under way, and together when they come faster than they
/// are answered.
///
/// Nothing waits for company: a request is sent at once if few are under way, and otherwise when
/// one of two batches comes back. So there is no timer, and a lone caller is never delayed.
pub(crate) struct Coalescer {
    queue: Arc<Queue>,
}

struct Queue {
    caller: Arc<Caller>,
    /// How many requests may be under way by themselves.
    few: usize,
    waiting: Mutex<Waiting>,
    /// Requests that are under way by themselves: a lone counter, which decides nothing but how a
    /// request travels.
    single: AtomicUsize,
    /// The batches that are under way, as `Waiting` has them, to be read without its lock.
    batches: AtomicUsize,
}

#[derive(Default)]
struct Waiting {
    jobs: Vec<Job>,
    batches: usize,
}

/// A request, and who wants the answer.
struct Job {
    question: Question,
    answer: oneshot::Sender<Result<Decision, Failure>>,
}

/// While fewer requests than this are under way each is sent by itself: the server answers one while
/// the next are on their way. From then on it is what calling a script costs that counts, and 16
/// callers get twice as many answers out of batches (`cargo xtask bench redis`).
pub(crate) const FEW: usize = 4;

/// While one batch is being decided the next is on its way.
const BATCHES: usize = 2;

/// The most requests in a batch. It keeps the server from others for some hundred microseconds.
const MOST: usize = 128;

impl Coalescer {
    pub(crate) fn new(caller: Arc<Caller>, few: usize) -> Self {
        let queue = Queue {
            caller,
            few,
            waiting: Mutex::default(),
            single: AtomicUsize::new(0),
            batches: AtomicUsize::new(0),
        };
        Self { queue: Arc::new(queue) }
    }

    /// The answer to a question, by itself or with others.
    pub(crate) async fn ask(&self, question: Question) -> Result<Decision, Failure> {
        let queue = &self.queue;
        if queue.batches.load(Ordering::Relaxed) == 0
            && let Some(_under_way) = Single::begin(&queue.single, queue.few)
        {
            return question.ask(&queue.caller).await;
        }
        let (answer, waiting) = oneshot::channel();
        queue.join(Job { question, answer });
        // All that wait are for the same connection, so no key is needed to tell which.
        let answer = queue.caller.in_time("", async { Ok(waiting.await) }).await;
        match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => {
                Err(Failure::new(StoreErrorKind::Unavailable, "the runtime of the store has ended"))
            }
            Err(error) => Err(error.naming("")),
        }
    }
}

impl Queue {
    /// Queues a job, and sees to it that a batch will take it.
    fn join(self: &Arc<Self>, job: Job) {
        let mut waiting = self.waiting();
        waiting.jobs.push(job);
        if waiting.batches >= BATCHES {
            return;
        }
        waiting.batches += 1;
        self.batches.store(waiting.batches, Ordering::Relaxed);
        drop(waiting);
        let batches = Batches { queue: Arc::clone(self), has_ended: false };
        drop(self.caller.transport.runtime().spawn(async move { batches.run().await }));
    }

    fn one_less(&self, waiting: &mut Waiting) {
        waiting.batches -= 1;
        self.batches.store(waiting.batches, Ordering::Relaxed);
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing in between can panic, so what it guards is whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One batch after the other, until nothing waits.
struct Batches {
    queue: Arc<Queue>,
    has_ended: bool,
}

impl Batches {
    async fn run(mut self) {
        while let Some(jobs) = self.take() {
            self.queue.caller.answer(jobs).await;
        }
    }

    /// What waits, as far as anybody still wants it and it fits into a batch: requests under one
    /// policy, that of who waits longest. If nothing waits, this ends under the same lock, so that
    /// whoever queues next starts another.
    fn take(&mut self) -> Option<Vec<Job>> {
        let mut waiting = self.queue.waiting();
        waiting.jobs.retain(|job| !job.answer.is_closed());
        let Some(policy) = waiting.jobs.first().map(|job| job.question.policy) else {
            self.has_ended = true;
            self.queue.one_less(&mut waiting);
            return None;
        };
        let mut taken = 0;
        let is_taken = |job: &mut Job| {
            let is_one = taken < MOST && job.question.policy == policy;
            taken += usize::from(is_one);
            is_one
        };
        Some(waiting.jobs.extract_if(.., is_taken).collect())
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        // The runtime ends, and takes with it what would have asked: whoever waits is told so.
        let mut waiting = self.queue.waiting();
        self.queue.one_less(&mut waiting);
        let given_up = std::mem::take(&mut waiting.jobs);
        drop(waiting);
        drop(given_up);
    }
}

impl Caller {
    /// Asks the jobs' questions and hands out the answers.
    async fn answer(&self, jobs: Vec<Job>) {
        let (questions, wanted): (Vec<_>, Vec<_>) =
            jobs.into_iter().map(|job| (job.question, job.answer)).unzip();
        let answers = match &*questions {
            [question] => Ok(vec![question.ask(self).await]),
            questions => many::ask(self, questions, Mode::Each).await,
        };
        match answers {
            Ok(answers) => {
                for (wanted, answer) in wanted.into_iter().zip(answers) {
                    // Whoever has gone away meanwhile wants no answer.
                    let _ = wanted.send(answer);
                }
            }
            Err(failure) => {
                for wanted in wanted {
                    let _ = wanted.send(Err(failure.clone()));
                }
            }
        }
    }
}

/// A request that is under way by itself.
struct Single<'a>(&'a AtomicUsize);

impl<'a> Single<'a> {
    /// One more, unless there are enough.
    fn begin(count: &'a AtomicUsize, few: usize) -> Option<Self> {
        if count.fetch_add(1, Ordering::Relaxed) < few {
            return Some(Self(count));
        }
        count.fetch_sub(1, Ordering::Relaxed);
        None
    }
}

impl Drop for Single<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
