//! The form of calls and answers, and which methods there are.
//!
//! What each method takes and gives stands in `PROTOCOL.md`, which is the documentation of this module.

use crate::json::Json;

/// All methods.
pub(crate) const METHODS: &[&str] = &[
    "world.query",
    "world.get",
    "world.set",
    "world.spawn",
    "world.despawn",
    "world.insert",
    "world.remove",
    "world.components",
    "world.tables",
    "world.stats",
    "world.points",
    "world.difference",
    "app.schedule",
    "app.timeline",
    "app.trace",
    "app.pause",
    "app.resume",
    "app.step",
    "app.step_system",
    "app.rewind",
    "why",
    "rpc.discover",
];

/// The methods that change something.
pub(crate) const CHANGING: &[&str] = &[
    "world.set",
    "world.spawn",
    "world.despawn",
    "world.insert",
    "world.remove",
    "app.pause",
    "app.resume",
    "app.step",
    "app.step_system",
    "app.rewind",
];

/// Why a call has no result: a code and a reason.
#[derive(Clone, Debug)]
pub(crate) struct Failure(pub i32, pub String);

impl Failure {
    /// The parameters are wrong.
    #[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub fn params(reason: impl ToString) -> Self {
        Self(-32602, reason.to_string())
    }
}

/// The answer to a call that has a result.
pub(crate) fn success(id: &Json, result: Json) -> Json {
    Json::object([("jsonrpc", "2.0".into()), ("id", id.clone()), ("result", result)])
}

/// The answer to a call that has none.
pub(crate) fn failure(id: &Json, code: i32, message: &str) -> Json {
    let error = Json::object([("code", Json::Int(code.into())), ("message", message.into())]);
    Json::object([("jsonrpc", "2.0".into()), ("id", id.clone()), ("error", error)])
}
