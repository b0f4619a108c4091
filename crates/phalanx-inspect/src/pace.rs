//! How much time work for clients may take: a share of what frames take themselves.
//!
//! Each frame earns one hundredth of the work that frames do on average, or a thousandth of the time that passed, if
//! that is more: a frame that hardly works would otherwise never answer. Whatever is done for clients is paid from it. Calls
//! are answered on credit, because somebody waits for them; a search that goes on by itself stops where nothing is left.

use std::time::{Duration, Instant};

/// The share of a frame's own work.
const OF_WORK: f64 = 0.01;
/// The share of the time that passes, for frames that rest most of it.
const OF_TIME: f64 = 0.001;
/// Over how many frames the work is averaged.
const FRAMES: f64 = 16.0;
/// What so many frames earn can be saved.
const SAVED: f64 = 4.0;
/// What so many frames earn can be owed.
const OWED: f64 = 60.0;
/// No more time than this is counted between two frames: an app may stand still.
const LONGEST: f64 = 0.1;

/// See the module. All numbers are seconds.
#[derive(Default)]
pub struct Pace {
    work: f64,
    income: f64,
    left: f64,
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
        self.left = (self.left + self.income).min(SAVED * self.income);
    }

    /// So much was done for clients.
    pub fn pay(&mut self, time: Duration) {
        self.left = (self.left - time.as_secs_f64()).max(-OWED * self.income);
    }

    /// What is left for work that can wait.
    pub fn left(&self) -> Duration {
        Duration::from_secs_f64(self.left.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_micros(16_667);

    /// What is done for clients in some frames, by whoever takes what is left and overshoots a little.
    fn taken(pace: &mut Pace, frames: u32, work: Duration) -> Duration {
        let start = Instant::now();
        (1..=frames).fold(Duration::ZERO, |sum, frame| {
            pace.earn(work, start + FRAME * frame);
            let left = pace.left();
            let used = if left.is_zero() { left } else { left + Duration::from_micros(3) };
            pace.pay(used);
            sum + used
        })
    }

    #[test]
    fn clients_get_a_hundredth_of_the_work_however_far_they_overshoot() {
        let (mut pace, work) = (Pace::default(), Duration::from_millis(4));
        let sum = taken(&mut pace, 1000, work);
        let share = sum.as_secs_f64() / (work * 1000).as_secs_f64();
        assert!((0.0099..0.0101).contains(&share), "{share}");
    }

    #[test]
    fn frames_that_rest_give_a_thousandth_of_their_time() {
        let sum = taken(&mut Pace::default(), 1000, Duration::from_micros(10));
        let share = sum.as_secs_f64() / (FRAME * 1000).as_secs_f64();
        assert!((0.00099..0.00101).contains(&share), "{share}");
    }

    #[test]
    fn a_call_is_paid_off_before_anything_else_and_not_for_ever() {
        let (mut pace, start, work) = (Pace::default(), Instant::now(), Duration::from_millis(4));
        pace.earn(work, start);
        pace.pay(Duration::from_micros(400));
        let rested = (1..).find(|&frame| {
            pace.earn(work, start + FRAME * frame);
            !pace.left().is_zero()
        });
        // 40 us each: ten frames, of which the first had earned its part.
        assert_eq!(rested, Some(10));
        pace.pay(Duration::from_secs(10));
        let rested = (11..).find(|&frame| {
            pace.earn(work, start + FRAME * frame);
            !pace.left().is_zero()
        });
        assert!(rested.is_some_and(|frame| frame <= 72), "{rested:?}");
    }

    #[test]
    fn one_slow_frame_is_not_the_rule() {
        let mut pace = Pace::default();
        taken(&mut pace, 100, Duration::from_millis(4));
        let before = pace.work;
        pace.earn(Duration::from_secs(4), Instant::now());
        assert!(pace.work < before * 1.1);
    }
}
