//! What systems have to wait for, and what one did wait for in a frame.
//!
//! The schedule says what must come before what, and why ([`ScheduleView::waits`](phalanx::schedule::ScheduleView::waits)).
//! In one frame, of those that a system has to wait for, the one that ended last held it back. Working this out compares
//! all pairs of systems, so it is done again only when a schedule was sorted anew.

use std::time::Duration;

use phalanx::prelude::App;

use crate::timeline::Bar;

/// See the module.
#[derive(Default)]
pub struct Waits {
    /// What the answer depends on: how often each phase was sorted, and how many systems are known.
    key: (Vec<u64>, usize),
    /// For each system, those it waits for, and why.
    before: Vec<Vec<(usize, String)>>,
}

impl Waits {
    /// Asks the schedules anew if they have changed; `systems` has the phase and name of each.
    pub fn learn(&mut self, app: &App, systems: &[(String, String)]) {
        let sorted: Vec<u64> = app.phase_views().map(|(_, view)| view.times_sorted()).collect();
        let key = (sorted, systems.len());
        if key == self.key {
            return;
        }
        self.key = key;
        self.before = vec![Vec::new(); systems.len()];
        for (label, view) in app.phase_views() {
            let phase = label.to_string();
            let place =
                |name: &str| systems.iter().position(|(known, system)| *known == phase && system == name);
            for wait in view.waits().unwrap_or_default() {
                if let (Some(system), Some(earlier)) = (place(&wait.system), place(&wait.waits_for)) {
                    self.before[system].push((earlier, wait.to_string()));
                }
            }
            let views = view.system_views().unwrap_or_default();
            for later in views.iter().filter(|later| later.level > 0) {
                let Some(system) = place(&later.name) else { continue };
                for earlier in views.iter().filter(|earlier| earlier.level < later.level) {
                    let Some(at) = place(&earlier.name) else { continue };
                    if self.before[system].iter().all(|(known, _)| *known != at) {
                        let why = format!(
                            "`{}` waits for the sync point behind `{}`, where commands take effect",
                            later.name, earlier.name
                        );
                        self.before[system].push((at, why));
                    }
                }
            }
        }
    }

    /// When the last of those ended that a system had to wait for in this frame, and why it had to.
    pub fn of(&self, bar: &Bar, frame: &[Bar]) -> Option<(Duration, String)> {
        let before = self.before.get(bar.system)?;
        let ended = frame.iter().filter_map(|other| {
            let (_, why) = before.iter().find(|(system, _)| *system == other.system)?;
            // One that ran later waited for nothing here: it is of another run of the phase.
            (other.end() <= bar.start).then_some((other.end(), why))
        });
        ended.max_by_key(|(end, _)| *end).map(|(end, why)| (end, why.clone()))
    }
}
