//! Which requests are allowed: the token, `Host` and `Origin`.
//!
//! A page of another site can make a browser send requests to loopback, and by changing its own name's address can even
//! call that "same origin". So the name asked for must be ours, the asking page must be ours, and the token must be known.
//! All three are checked for every request, whatever it asks for.

use crate::http::{Refused, Request};

/// Lets a request pass, or says why not.
///
/// # Errors
/// 403 for a wrong name, site or token.
pub fn check(request: &Request, port: u16, token: &str) -> Result<(), Refused> {
    let names = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let host = request.header("host")?.ok_or(Refused(403, "the request names no host"))?;
    if !names.iter().any(|name| name == host) {
        return Err(Refused(403, "the request names another host"));
    }
    if let Some(origin) = request.header("origin")?
        && !names.iter().any(|name| origin.strip_prefix("http://") == Some(name))
    {
        return Err(Refused(403, "the request comes from another site"));
    }
    if let Some(site) = request.header("sec-fetch-site")?
        && !matches!(site, "same-origin" | "none")
    {
        return Err(Refused(403, "the request comes from another site"));
    }
    let bearer = request.header("authorization")?.and_then(|value| value.strip_prefix("Bearer "));
    let given = bearer.or_else(|| request.parameter("token")).unwrap_or_default();
    if !same(given.as_bytes(), token.as_bytes()) {
        return Err(Refused(403, "the token is missing or wrong"));
    }
    Ok(())
}

/// Compares without telling by its time how much was right.
fn same(given: &[u8], token: &[u8]) -> bool {
    let differs = given.iter().zip(token).fold(0, |differs, (a, b)| differs | (a ^ b));
    given.len() == token.len() && differs == 0
}
