//! What a bevy program writes about ctrl-C. Compiled with `app_run`, which is built with the feature in any case.

use phalanx::prelude::*;

#[test]
fn app_terminal_ctrl_c() {
    let mut app = App::new();
    app.add_plugins(phalanx::app::TerminalCtrlCHandlerPlugin);
    app.update();
    assert_eq!(app.should_exit(), None);
}
