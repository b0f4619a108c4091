//! A browser inspector for a running Phalanx world.
//!
//! ```no_run
//! use phalanx::prelude::*;
//! use phalanx_inspect::Inspector;
//!
//! let mut app = App::new();
//! app.add_plugins(Inspector::default().allow_edits());
//! loop {
//!     app.update();
//! }
//! ```
//!
//! The plugin prints an address such as `http://127.0.0.1:41999/?token=5f..`. The page behind it shows entities, tables
//! and systems, answers *why* an entity is not visited by a system, and pauses and steps the app. The same is there as a
//! JSON interface for scripts: see [`protocol`].
//!
//! - **It costs nothing while no client is connected**: one atomic load before and after each frame. Threads of the
//!   server never touch the world; they leave requests in a bounded queue, which is answered between frames within a
//!   budget.
//! - **It is closed to others**: loopback only, a token of 128 bits, `Host` and `Origin` checked, no CORS. It is read-only
//!   unless [`Inspector::allow_edits`] says otherwise, and off in release builds unless [`Inspector::in_release`] does.

#![forbid(unsafe_code)]

use std::io;
use std::sync::Arc;
use std::time::Duration;

use phalanx::prelude::{App, Plugin, Resource};

use shared::Shared;

mod advisor;
mod answer;
mod difference;
mod find;
mod guard;
mod http;
mod json;
mod methods;
mod pace;
mod page;
#[doc = include_str!("../PROTOCOL.md")]
pub mod protocol;
mod query_text;
mod search;
mod server;
mod shared;
mod timeline;
mod tool;
mod values;
mod waits;
mod why;

/// The program of the package's README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct PackageReadme;

/// The program of the page of the guide, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/inspector.md")]
pub struct Guide;

/// The plugin that serves the inspector.
#[derive(Clone, Debug)]
pub struct Inspector {
    port: u16,
    edits: bool,
    in_release: bool,
    quiet: bool,
    budget: Duration,
    map: Option<[String; 3]>,
    history: usize,
}

impl Default for Inspector {
    fn default() -> Self {
        Self {
            port: 0,
            edits: false,
            in_release: false,
            quiet: false,
            budget: Duration::from_micros(500),
            map: None,
            history: 0,
        }
    }
}

impl Inspector {
    /// Serves on this port instead of one that is free.
    #[must_use]
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Lets the page change the world, and pause and step the app. Without it everything is read-only.
    #[must_use]
    pub fn allow_edits(self) -> Self {
        Self { edits: true, ..self }
    }

    /// Serves in release builds, too.
    #[must_use]
    pub fn in_release(self, serve: bool) -> Self {
        Self { in_release: serve, ..self }
    }

    /// Prints no address; it is in the resource [`InspectorAddress`].
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { quiet: true, ..self }
    }

    /// The time that answers may take per frame: 500 µs unless it is set; at least one request is answered in each. What
    /// the page asks for again and again, and searches that go on, keep to a hundredth of the time that frames work.
    #[must_use]
    pub fn budget(self, budget: Duration) -> Self {
        Self { budget, ..self }
    }

    /// What the map of the page draws: fields for x and y, and a component or field that chooses the colour.
    ///
    /// `.map("Position.x", "Position.y", "Team.0")`
    #[must_use]
    pub fn map(self, x: &str, y: &str, colour: &str) -> Self {
        Self { map: Some([x, y, colour].map(str::to_owned)), ..self }
    }

    /// Keeps so many frames to go back to, as [`App::keep_history`] does, so that the page can rewind. Every component
    /// and resource must be one that can be copied; each frame then costs what it takes to keep it.
    #[must_use]
    pub fn history(self, frames: usize) -> Self {
        Self { history: frames, ..self }
    }

    fn start(&self, app: &mut App) -> io::Result<String> {
        let shared = Arc::new(Shared::new()?);
        let server = server::Server::start(self.port, Arc::clone(&shared))?;
        let address = format!("http://127.0.0.1:{}/?token={}", server.port(), shared.token());
        if self.history > 0 {
            app.keep_history(self.history);
        }
        app.add_frame_tool(tool::Tool::new(shared, server, self.clone()));
        Ok(address)
    }
}

impl Plugin for Inspector {
    fn build(&self, app: &mut App) {
        if !cfg!(debug_assertions) && !self.in_release {
            return;
        }
        match self.start(app) {
            Ok(address) => {
                if !self.quiet {
                    println!("inspector: {address}");
                }
                app.insert_resource(InspectorAddress(address));
            }
            // A tool that cannot start is no reason for the app not to.
            Err(error) => eprintln!("the inspector cannot serve on port {}: {error}", self.port),
        }
    }
}

/// Where the inspector is, token included; there while one serves.
#[derive(Resource, Clone, Debug)]
pub struct InspectorAddress(pub String);
