//! How much time work for clients may take: a share of what frames take themselves.
//!
//! ```text
//!   calls of a waiting client      answered at once, on credit
//!   calls that can wait, streams   when nothing is owed, or have waited for PATIENCE
//!   a search that goes on          with what is left; two thirds of it while others wait, too
//! ```
//!
//! Each frame earns one hundredth of the work that frames do on average, or a two thousandth of the time that passed, if
//! that is more: a frame that hardly works would otherwise never answer. Whatever is done for clients is paid from it, and
//! what was done on credit is paid off by the frames that follow.

use std::time::{Duration, Instant};

/// The share of a frame's own work.
const OF_WORK: f64 = 0.01;
/// The share of the time that passes, for frames that rest most of it.
const OF_TIME: f64 = 0.0005;
/// Over how many frames the work is averaged.
const FRAMES: f64 = 16.0;
/// What so many frames earn can be saved.
const SAVED: f64 = 4.0;
/// What so many frames earn can be owed.
const OWED: f64 = 60.0;
/// No more time than this is counted between two frames: an app may stand still.
const LONGEST: f64 = 0.1;
/// How much a search gets for each second that calls and streams took while it went on.
const SEARCH_PER_CALL: f64 = 2.0;
/// How often a search goes on for what one frame earns, whatever is owed.
const SEARCH_EVERY: Duration = Duration::from_millis(100);
/// How long calls and streams wait that can wait, whatever is owed.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// What clients wait for, and the clock by which it is paid.
pub trait Clients {
    fn now(&self) -> Instant;
    /// Answers a call of a waiting client, within a time if it can be cut short; false when there is none.
    fn answer(&mut self, until: Instant) -> bool;
    /// Since when the oldest of what can wait does so.
    fn waits_since(&self) -> Option<Instant>;
    /// Does the oldest of what can wait.
    fn serve_oldest(&mut self, until: Instant);
    fn is_searching(&self) -> bool;
    /// Goes on with a search.
    fn search(&mut self, until: Instant);
}

/// See the module. All numbers are seconds.
#[derive(Default)]
pub struct Pace {
    work: f64,
    income: f64,
    left: f64,
    /// What the search gets before the next of those that can wait.
    owed_to_search: f64,
    /// When a search went on, or was not there.
    searched: Option<Instant>,
    last: Option<Instant>,
}

impl Pace {
    /// A frame has ended, after so much work of its own.
    pub fn earn(&mut self, work: Duration, now: Instant) {
        let work = work.as_secs_f64();
        // A frame in which another program had the processor tells little.
        let usual = if self.work == 0.0 { work } else { work.min(2.0 * self.work) };
        self.work += (usual - self.work) / if self.work == 0.0 { 1.0 } else { FRAMES };
        let passed = self.last.replace(now).map_or(0.0, |last| now.duration_since(last).as_secs_f64());
        self.income = (self.work * OF_WORK).max(passed.min(LONGEST) * OF_TIME);
        // What was owed when frames earned more does not last longer now.
        self.left = (self.left + self.income).clamp(-OWED * self.income, SAVED * self.income);
    }

    /// Serves clients for what is left, and no longer than the budget; a waiting client is always answered. While the
    /// app is
    /// `paused` there is no hurry.
    pub fn serve(&mut self, clients: &mut impl Clients, budget: Duration, paused: bool) {
        // To see that there is nothing to do is not paid for: of a short frame it takes more than a share.
        let mut now = clients.now();
        let until = now + budget;
        while clients.answer(until) {
            self.pay(clients, &mut now);
            if now >= until {
                break;
            }
        }
        loop {
            let rest = until.saturating_duration_since(now);
            let left = if paused { rest } else { self.left().min(rest) };
            let searching = clients.is_searching() && !budget.is_zero();
            if !searching {
                (self.searched, self.owed_to_search) = (Some(now), 0.0);
            }
            let waits_since = clients.waits_since();
            let turn = !left.is_zero() && (waits_since.is_none() || self.owed_to_search > 0.0);
            let starved = self.searched.is_some_and(|last| now - last >= SEARCH_EVERY);
            if searching && (turn || starved) {
                let slice = if turn { left } else { Duration::from_secs_f64(self.income) };
                clients.search(now + slice.min(rest));
                self.owed_to_search -= self.pay(clients, &mut now);
                self.searched = Some(now);
            } else if waits_since.is_some_and(|since| paused || !left.is_zero() || now - since >= PATIENCE) {
                clients.serve_oldest(now + left);
                self.owed_to_search = self.pay(clients, &mut now) * SEARCH_PER_CALL;
            } else {
                return;
            }
            if rest.is_zero() {
                return;
            }
        }
    }

    /// Something was done for clients since a moment.
    pub fn pay(&mut self, clients: &mut impl Clients, since: &mut Instant) -> f64 {
        let now = clients.now();
        let time = (now - std::mem::replace(since, now)).as_secs_f64();
        self.left = (self.left - time).max(-OWED * self.income);
        time
    }

    /// What is left for work that can wait.
    fn left(&self) -> Duration {
        Duration::from_secs_f64(self.left.max(0.0))
    }
}

#[cfg(test)]
mod tests;
