//! The page, in one piece: markup, style and program are embedded, and nothing is fetched from elsewhere.
//!
//! The browser is told to run this program alone (a nonce, new for each answer) and to connect to this server alone, so
//! that markup in the name of an entity could do nothing even if it became a part of the page, which it does not.

use crate::http::Response;
use crate::shared::random_token;

const HTML: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/style.css");
const PROGRAM: &[&str] = &[
    include_str!("../page/base.js"),
    include_str!("../page/entities.js"),
    include_str!("../page/tree.js"),
    include_str!("../page/compare.js"),
    include_str!("../page/tables.js"),
    include_str!("../page/systems.js"),
    include_str!("../page/why.js"),
    include_str!("../page/map.js"),
    include_str!("../page/main.js"),
];

/// The page as an answer.
pub fn page() -> Response {
    let nonce = random_token();
    let program = PROGRAM.concat();
    let html = HTML
        .replace("{{style}}", &format!("<style nonce=\"{nonce}\">\n{STYLE}</style>"))
        .replace("{{program}}", &format!("<script nonce=\"{nonce}\">\n\"use strict\";\n{program}</script>"));
    let mut response = Response::ok("text/html; charset=utf-8", html);
    response.headers = format!(
        "Content-Security-Policy: default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
         connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    );
    response
}
