//! Clients whose clock moves by what they ask for: what they cost, how long they wait, and how far a search comes.
//!
//! No time is measured: frames, answers and blocks of a search take what a test says, so that a machine which is slow, fast
//! or busy changes nothing.

use super::*;

const FRAME: Duration = Duration::from_micros(16_667);
const BUDGET: Duration = Duration::from_micros(500);
const NONE: Duration = Duration::ZERO;

fn micros(count: u64) -> Duration {
    Duration::from_micros(count)
}

/// Something that is asked for again so long after it was answered.
#[derive(Clone, Copy)]
struct Poll {
    every: Duration,
    cost: Duration,
    due: Instant,
}

/// See the module.
struct Page {
    now: Instant,
    polls: Vec<Poll>,
    /// What calls of a waiting client cost.
    calls: Vec<Duration>,
    searching: bool,
    searched: Duration,
    served: u32,
    longest_wait: Duration,
}

impl Page {
    fn new(polls: &[(u64, u64)], searching: bool) -> Self {
        let now = Instant::now();
        let polls = polls.iter().map(|&(every, cost)| Poll {
            every: Duration::from_millis(every),
            cost: micros(cost),
            due: now,
        });
        let polls = polls.collect();
        Self { now, polls, calls: Vec::new(), searching, searched: NONE, served: 0, longest_wait: NONE }
    }

    fn oldest(&self) -> Option<usize> {
        let due = (0..self.polls.len()).filter(|&at| self.polls[at].due <= self.now);
        due.min_by_key(|&at| self.polls[at].due)
    }

    /// Runs frames, and says what part of their work was done for clients.
    fn run(&mut self, pace: &mut Pace, seconds: u64, work: Duration, frame: Duration) -> f64 {
        let (begin, mut frames, mut spent) = (self.now, 0, NONE);
        while self.now - begin < Duration::from_secs(seconds) {
            let ended = self.now + work;
            self.now = ended;
            pace.earn(work, ended);
            pace.serve(self, BUDGET, false);
            spent += self.now - ended;
            frames += 1;
            self.now = self.now.max(begin + frame * frames);
        }
        spent.as_secs_f64() / (work * frames).as_secs_f64()
    }
}

impl Clients for Page {
    fn now(&self) -> Instant {
        self.now
    }

    fn answer(&mut self, _: Instant) -> bool {
        let call = self.calls.pop();
        self.now += call.unwrap_or_default();
        call.is_some()
    }

    fn waits_since(&self) -> Option<Instant> {
        self.oldest().map(|at| self.polls[at].due)
    }

    fn serve_oldest(&mut self, _: Instant) {
        let at = self.oldest().expect("asked only when something waits");
        let Poll { every, cost, due } = self.polls[at];
        self.longest_wait = self.longest_wait.max(self.now - due);
        self.now += cost;
        self.polls[at].due = self.now + every;
        self.served += 1;
    }

    fn is_searching(&self) -> bool {
        self.searching
    }

    /// A block takes a microsecond and is never cut short, the first one three more.
    fn search(&mut self, until: Instant) {
        let began = self.now;
        self.now += micros(4);
        while self.now < until {
            self.now += micros(1);
        }
        self.searched += self.now - began;
    }
}

/// What the page asks for while a search goes on: the search, an entity, the stream, the components.
const SEARCH: &[(u64, u64)] = &[(100, 40), (250, 40), (100, 30), (5000, 60)];

#[test]
fn a_page_and_its_search_take_a_hundredth_of_the_work_on_any_machine() {
    for (work, frame) in [
        (800, FRAME),
        (1000, FRAME),
        (1700, FRAME),
        (4000, FRAME),
        (15_000, FRAME),
        (770, NONE),
        (3000, NONE),
    ] {
        let mut page = Page::new(SEARCH, true);
        let share = page.run(&mut Pace::default(), 20, micros(work), frame);
        assert!((0.0095..0.0115).contains(&share), "{share} of {work} us");
        let searched = page.searched.as_secs_f64() / (share * page_work(work, frame, 20));
        assert!(searched > 0.6, "{searched} of it is the search, {work} us");
        assert!(page.longest_wait < PATIENCE, "{:?} of {work} us", page.longest_wait);
    }
}

/// The work of all frames of some seconds.
fn page_work(work: u64, frame: Duration, seconds: u64) -> f64 {
    let work = micros(work).as_secs_f64();
    seconds as f64 * work / frame.as_secs_f64().max(work)
}

#[test]
fn short_frames_pay_at_most_two_hundredths_of_their_work() {
    for work in [420, 500, 600, 700] {
        let share = Page::new(SEARCH, true).run(&mut Pace::default(), 20, micros(work), FRAME);
        assert!(share < 0.0205, "{share} of {work} us");
    }
}

#[test]
fn dear_answers_are_paid_off_before_the_next_that_can_wait() {
    // A map, ten times as dear as two frames together earn.
    let mut page = Page::new(&[(200, 200), (250, 40), (100, 30)], false);
    let share = page.run(&mut Pace::default(), 20, micros(1000), FRAME);
    assert!(share < 0.0115, "{share}");
    assert!(page.served > 60, "{} answers in 20 s", page.served);
    assert!(page.longest_wait < PATIENCE, "{:?}", page.longest_wait);
}

#[test]
fn what_can_wait_does_not_wait_for_ever() {
    let mut page = Page::new(&[(100, 30), (100, 3000)], true);
    page.run(&mut Pace::default(), 20, micros(1000), FRAME);
    assert!(page.longest_wait <= PATIENCE + FRAME * 2, "{:?}", page.longest_wait);
    assert!(page.served > 30, "{}", page.served);
    assert!(page.searched > Duration::from_millis(1), "{:?}", page.searched);
}

#[test]
fn frames_that_rest_give_a_two_thousandth_of_their_time() {
    let (work, mut page) = (micros(10), Page::new(SEARCH, true));
    let share = page.run(&mut Pace::default(), 20, work, FRAME) * work.as_secs_f64() / FRAME.as_secs_f64();
    assert!((0.00045..0.00055).contains(&share), "{share}");
    assert!(page.searched > Duration::from_millis(5), "{:?}", page.searched);
}

#[test]
fn a_waiting_client_is_answered_in_the_next_frame_and_paid_off_by_others() {
    let (mut pace, mut page) = (Pace::default(), Page::new(&[], true));
    page.run(&mut pace, 1, micros(4000), FRAME);
    page.calls = vec![micros(390)];
    page.searched = NONE;
    let before = page.now;
    page.run(&mut pace, 0, micros(4000), FRAME);
    assert_eq!((page.now, page.calls.len()), (before, 1), "no frame, no answer");
    // 40 us each: after ten frames it is paid.
    for frame in 1..=12 {
        let ended = page.now + micros(4000);
        page.now = ended;
        pace.earn(micros(4000), ended);
        pace.serve(&mut page, BUDGET, false);
        assert!(page.calls.is_empty(), "at once");
        assert_eq!(page.searched.is_zero(), frame < 10, "frame {frame}");
    }
}

#[test]
fn a_debt_is_not_paid_off_for_ever() {
    let (mut pace, mut page) = (Pace::default(), Page::new(&[], true));
    page.calls = vec![Duration::from_secs(10)];
    page.run(&mut pace, 12, micros(4000), FRAME);
    assert!(page.searched > Duration::from_millis(1), "{:?}", page.searched);
}

#[test]
fn a_debt_of_long_frames_does_not_outlast_short_ones() {
    let (mut pace, mut page) = (Pace::default(), Page::new(&[], true));
    page.calls = vec![Duration::from_secs(1)];
    page.run(&mut pace, 1, Duration::from_millis(500), NONE);
    // The work is an average, so that they are counted as short ones after a while.
    page.run(&mut pace, 6, micros(100), FRAME);
    assert!(page.searched > micros(500), "{:?}", page.searched);
}

#[test]
fn while_the_app_is_paused_there_is_no_hurry() {
    let (mut pace, mut page) = (Pace::default(), Page::new(&[(100, 30), (100, 30)], true));
    let began = page.now;
    pace.serve(&mut page, BUDGET, true);
    assert_eq!(page.served, 2);
    assert!(page.now >= began + BUDGET, "the search has the rest");
}

#[test]
fn one_slow_frame_is_not_the_rule() {
    let mut pace = Pace::default();
    Page::new(&[], true).run(&mut pace, 1, micros(4000), FRAME);
    let before = pace.work;
    pace.earn(Duration::from_secs(4), Instant::now());
    assert!(pace.work < before * 1.1);
}
