//! Compilation on a thread of its own: jobs go there through one queue, versions come back through another.

use super::Tiering;
use super::version::{Asked, Version, VersionKey};
use crossbeam::channel::{Receiver, Sender, unbounded};
use galopvm_kir::{Observed, VerifiedPlan, VerifiedRegion};

/// What is to be compiled.
pub(super) struct Job {
    pub(super) site: u32,
    /// The site, to people.
    pub(super) name: String,
    pub(super) key: VersionKey,
    pub(super) work: u64,
    pub(super) region: VerifiedRegion,
    pub(super) plan: VerifiedPlan,
    pub(super) observed: Observed,
    pub(super) tiering: Tiering,
}

impl Job {
    pub(super) fn compile(self) -> Version {
        let asked = Asked { name: &self.name, region: &self.region, observed: &self.observed };
        Version::compile(self.work, self.key, self.plan, asked, &self.tiering, &self.tiering.backends)
    }
}

/// The thread; it ends when the session does.
pub(super) struct Worker {
    jobs: Sender<Job>,
    done: Receiver<(u32, Version)>,
}

impl Worker {
    pub(super) fn new() -> Worker {
        let (jobs, inbox) = unbounded::<Job>();
        let (outbox, done) = unbounded();
        let work = move || {
            for job in inbox {
                let site = job.site;
                if outbox.send((site, job.compile())).is_err() {
                    return;
                }
            }
        };
        // Without a thread the receiver of jobs is dropped, and sending fails.
        let _ = std::thread::Builder::new().name("galopvm-compile".into()).spawn(work);
        Worker { jobs, done }
    }

    /// Hands a job over; an error if nobody takes jobs.
    pub(super) fn send(&self, job: Job) -> Result<(), ()> {
        self.jobs.send(job).map_err(|_| ())
    }

    /// A finished version, if there is one.
    pub(super) fn receive(&self) -> Option<(u32, Version)> {
        self.done.try_recv().ok()
    }
}
