//! Who is let in: requests that name this machine, from pages that may ask, with the token where one is needed.
//!
//! A page of somebody else in the same browser can send requests to this server. Two checks keep it from reading traces: `Host` must be a
//! name that an attacker's name server cannot make point here (DNS rebinding), and `Origin`, if there is one, must be of this server.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

/// The cookie that has the token.
const COOKIE: &str = "isochrone-token";

/// Who is let in.
#[derive(Debug)]
pub(crate) struct Door {
    listens: SocketAddr,
    /// What others than this machine's own programs have to know.
    token: Option<String>,
}

impl Door {
    pub(crate) fn new(listens: SocketAddr) -> Self {
        let token = (!listens.ip().is_loopback()).then(|| uuid::Uuid::new_v4().simple().to_string());
        Self { listens, token }
    }

    /// The token, where one is needed.
    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Whether a `Host` is a name of this server: of one that listens on this machine alone a loopback name, else any address, which no
    /// name server has given.
    fn is_host(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map_or(rest, |(name, _)| name),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        let address = name.parse::<IpAddr>().ok();
        match (address, self.listens.ip().is_loopback()) {
            (Some(address), true) => address.is_loopback(),
            (Some(_), false) => true,
            (None, _) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Whether a page of an origin may ask: only the page of this server itself.
    fn is_origin(origin: &str, host: &str) -> bool {
        origin.strip_prefix("http://").is_some_and(|rest| rest.eq_ignore_ascii_case(host))
    }

    fn has_token(&self, headers: &HeaderMap, query: Option<&str>) -> bool {
        let Some(token) = &self.token else { return true };
        let in_query = query.and_then(|query| value(query.split('&'), "token"));
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let in_cookie =
            text(header::COOKIE).and_then(|cookies| value(cookies.split(';').map(str::trim), COOKIE));
        let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        [in_query, in_cookie, bearer].into_iter().flatten().any(|given| is_same(given, token))
    }
}

/// The value of a name among `name=value`s.
fn value<'t>(mut pairs: impl Iterator<Item = &'t str>, name: &str) -> Option<&'t str> {
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// Whether two texts are the same, in a time that does not say where they differ.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// Lets requests in, or says why not; adds what browsers need to know.
pub(crate) async fn check(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default().to_owned();
    let refuse = |status, why: &str| ApiError { status, why: why.to_owned() }.into_response();
    if !door.is_host(&host) {
        return refuse(
            StatusCode::FORBIDDEN,
            "this name is not one of this server; use its address or localhost",
        );
    }
    if let Some(origin) = headers.get(header::ORIGIN)
        && !origin.to_str().is_ok_and(|origin| Door::is_origin(origin, &host))
    {
        return refuse(StatusCode::FORBIDDEN, "pages of other origins are not let in");
    }
    if !door.has_token(headers, request.uri().query()) {
        return refuse(
            StatusCode::UNAUTHORIZED,
            "the token is missing or wrong: use the address that was printed",
        );
    }
    // The page's own requests need not carry the token in their addresses, which end up in histories.
    let is_page = request.uri().path() == "/";
    let mut response = next.run(request).await;
    if let Some(token) = door.token().filter(|_| is_page) {
        let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
    }
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(listens: &str) -> Door {
        Door::new(listens.parse().unwrap())
    }

    #[test]
    fn names_that_others_can_point_here_are_refused() {
        let check = |listens: &str, host: &str, expect: bool| {
            assert_eq!(door(listens).is_host(host), expect, "{listens} {host}");
        };
        let local = "127.0.0.1:8080";
        for host in ["localhost:8080", "LocalHost", "127.0.0.1:8080", "[::1]:8080"] {
            check(local, host, true);
        }
        for host in
            ["", "evil.example", "localhost.evil.example:8080", "10.0.0.1:8080", "127.0.0.1.evil.example"]
        {
            check(local, host, false);
        }
        check("0.0.0.0:8080", "10.0.0.1:8080", true);
        check("0.0.0.0:8080", "evil.example:8080", false);
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let check = |origin: &str, expect: bool| {
            assert_eq!(Door::is_origin(origin, "localhost:8080"), expect, "{origin}");
        };
        check("http://localhost:8080", true);
        for origin in ["null", "http://localhost:3000", "http://evil.example", "https://localhost:8080.evil"]
        {
            check(origin, false);
        }
    }

    #[test]
    fn tokens_are_needed_where_others_can_ask() {
        assert!(door("127.0.0.1:1").token().is_none());
        let door = door("0.0.0.0:1");
        let token = door.token().unwrap().to_owned();
        assert!(token.len() >= 32);
        let none = HeaderMap::new();
        assert!(!door.has_token(&none, None) && !door.has_token(&none, Some("token=")));
        assert!(door.has_token(&none, Some(&format!("a=b&token={token}"))));
        let mut with_cookie = HeaderMap::new();
        with_cookie.insert(header::COOKIE, format!("x=y; {COOKIE}={token}").parse().unwrap());
        assert!(door.has_token(&with_cookie, None));
    }
}
