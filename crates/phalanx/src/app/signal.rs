//! Ctrl-C as a message: the app ends after the frame in which it comes, and everything is dropped as usual.
//!
//! The process has one handler for the signal, so all apps of the process end. A second ctrl-C ends the process at once,
//! for an app that hangs. With the feature `ctrl_c`.

use std::sync::atomic::{AtomicU8, Ordering};

use super::{App, AppExit, First, Plugin};
use crate::system::MessageWriter;

/// How often the signal came.
static PRESSED: AtomicU8 = AtomicU8::new(0);

/// What a shell expects of a program that was interrupted.
const EXIT_CODE: u8 = 130;

/// Ends the app by [`AppExit`] with code 130 when ctrl-C is pressed in the terminal.
#[derive(Clone, Copy, Debug, Default)]
pub struct TerminalCtrlCHandlerPlugin;

impl TerminalCtrlCHandlerPlugin {
    /// What the handler does: for programs that have a handler of their own, to be called there.
    pub fn gracefully_exit() {
        if PRESSED.fetch_add(1, Ordering::Relaxed) > 0 {
            eprintln!("interrupted again: the process ends at once");
            std::process::exit(i32::from(EXIT_CODE));
        }
    }

    /// Writes the message once the signal came.
    pub fn exit_on_flag(mut exit: MessageWriter<'_, AppExit>) {
        if PRESSED.load(Ordering::Relaxed) > 0 {
            exit.write(AppExit::from_code(EXIT_CODE));
        }
    }
}

impl Plugin for TerminalCtrlCHandlerPlugin {
    fn build(&self, app: &mut App) {
        match ctrlc::try_set_handler(Self::gracefully_exit) {
            Ok(()) | Err(ctrlc::Error::MultipleHandlers) => {}
            Err(error) => eprintln!("warning: ctrl-C will not end the app cleanly: {error}"),
        }
        app.add_systems(First, Self::exit_on_flag);
    }
}
