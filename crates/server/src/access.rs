//! Access control: requests must name this machine, come from pages of allowed origins, and have the token
//! where one is needed.
//!
//! Another page in the same browser can send requests to this server. Two checks keep it from reading traces:
//! `Host` must be a name that an attacker's name server cannot make point here (DNS rebinding), and `Origin`,
//! if there is one, must be of this server. Viewers of VS Code and Theia are pages of other origins: those of
//! this machine may use the Trace Server Protocol, others if they were named.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

/// A token that this process has made: 128 random bits.
///
/// ```
/// let token = isochrone_server::Token::default();
/// assert!(token.is(token.text()) && !token.is("") && !token.is(isochrone_server::Token::default().text()));
/// ```
#[derive(Debug, Clone)]
pub struct Token(String);

impl Default for Token {
    fn default() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string())
    }
}

impl Token {
    /// Its text as it is sent: 32 hexadecimal digits.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text is the token. Its time does not depend on where they differ.
    pub fn is(&self, given: &str) -> bool {
        let differs = self.0.bytes().zip(given.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
        given.len() == self.0.len() && differs == 0
    }
}

/// Which requests are allowed.
#[derive(Debug)]
pub(crate) struct Access {
    listen: SocketAddr,
    /// Origins of pages that may use the Trace Server Protocol, besides those of this machine.
    origins: Vec<String>,
    /// The token that requests must have; `None` where this machine's own programs alone can send them, and
    /// need none.
    token: Option<Token>,
    /// The cookie that has the token. Browsers keep cookies by host names, whatever the port: of two servers,
    /// each has its own.
    cookie: String,
}

impl Access {
    /// `needs_token`: whether this machine's own programs need one, too.
    pub(crate) fn new(listen: SocketAddr, origins: Vec<String>, needs_token: bool) -> Self {
        let needs_token = needs_token || !listen.ip().is_loopback();
        let token = needs_token.then(Token::default);
        Self { listen, origins, token, cookie: format!("isochrone-token-{}", listen.port()) }
    }

    /// The token, where one is needed.
    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_ref().map(Token::text)
    }

    /// Whether a `Host` is a name of this server: a loopback name if it listens on this machine alone, else
    /// any address, which no name server has resolved.
    fn is_host(&self, host: &str) -> bool {
        let name = name_of(host);
        let address = name.parse::<IpAddr>().ok();
        match (address, self.listen.ip().is_loopback()) {
            (Some(address), true) => address.is_loopback(),
            (Some(_), false) => true,
            (None, _) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Whether an origin is that of the page of this server itself.
    fn is_origin(origin: &str, host: &str) -> bool {
        origin.strip_prefix("http://").is_some_and(|rest| rest.eq_ignore_ascii_case(host))
    }

    /// Whether an origin is of a viewer that may use the Trace Server Protocol.
    fn is_viewer(&self, origin: &str) -> bool {
        if origin.starts_with("vscode-webview://")
            || self.origins.iter().any(|it| it.eq_ignore_ascii_case(origin))
        {
            return true;
        }
        let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let Some(name) = rest.map(name_of) else { return false };
        // Theia gives each of its views a name below localhost, which browsers never look up elsewhere.
        let is_local =
            name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost");
        is_local || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    fn has_token(&self, headers: &HeaderMap, path: &str, query: Option<&str>) -> bool {
        let Some(token) = &self.token else { return true };
        let in_query = query.and_then(|query| value(query.split('&'), "token"));
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let in_cookie =
            text(header::COOKIE).and_then(|cookies| value(cookies.split(';').map(str::trim), &self.cookie));
        let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        // Viewers of the protocol take one address, which may have a path, but no query.
        let in_path = path.trim_start_matches('/').split('/').next();
        [in_query, in_cookie, bearer, in_path].into_iter().flatten().any(|given| token.is(given))
    }
}

/// The name in a name and a port.
fn name_of(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(name, _)| name),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

/// Whether a path is of the Trace Server Protocol.
fn is_of_protocol(path: &str) -> bool {
    let path = path.trim_start_matches('/');
    path.starts_with("tsp/") || path.split_once('/').is_some_and(|(_, rest)| rest.starts_with("tsp/"))
}

/// Lets a browser pass the answer to a page of an origin.
fn allow_origin(origin: &HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

/// The answer to what a browser sends before a request of a page of another origin.
fn preflight(origin: &HeaderValue) -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type, accept, authorization"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    let mut response = (StatusCode::NO_CONTENT, headers).into_response();
    allow_origin(origin, response.headers_mut());
    response
}

/// The value of a name among `name=value`s.
fn value<'t>(mut pairs: impl Iterator<Item = &'t str>, name: &str) -> Option<&'t str> {
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// Passes a request on if it is allowed, and adds headers for browsers to the answer.
pub(crate) async fn check(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default().to_owned();
    let refuse = |status, why: &str| ApiError::new(status, why).into_response();
    if !access.is_host(&host) {
        return refuse(
            StatusCode::FORBIDDEN,
            "this name is not one of this server; use its address or localhost",
        );
    }
    if request.method() == Method::CONNECT {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "CONNECT is not supported");
    }
    let path = request.uri().path();
    let origin = headers.get(header::ORIGIN).cloned();
    let mut viewer = None;
    if let Some(origin) = &origin {
        let text = origin.to_str().unwrap_or_default();
        let is_viewer = is_of_protocol(path) && access.is_viewer(text);
        if !is_viewer && !Access::is_origin(text, &host) {
            let why = "pages of other origins are not allowed; viewers of traces are, by --allow-origin";
            return refuse(StatusCode::FORBIDDEN, why);
        }
        viewer = is_viewer.then(|| origin.clone());
    }
    if let Some(viewer) = &viewer
        && request.method() == Method::OPTIONS
    {
        return preflight(viewer);
    }
    if !access.has_token(headers, path, request.uri().query()) {
        return refuse(
            StatusCode::UNAUTHORIZED,
            "the token is missing or wrong: use the address that was printed",
        );
    }
    // The page's own requests need not carry the token in their addresses, which end up in histories.
    let is_page = request.uri().path() == "/";
    let mut response = next.run(request).await;
    if let Some(token) = access.token().filter(|_| is_page) {
        let cookie = format!("{}={token}; HttpOnly; SameSite=Strict; Path=/", access.cookie);
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
    }
    let headers = response.headers_mut();
    if let Some(viewer) = &viewer {
        allow_origin(viewer, headers);
    }
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

    fn access(listen: &str) -> Access {
        Access::new(listen.parse().unwrap(), vec!["https://traces.example".to_owned()], false)
    }

    #[test]
    fn names_that_others_can_point_here_are_refused() {
        let check = |listen: &str, host: &str, expect: bool| {
            assert_eq!(access(listen).is_host(host), expect, "{listen} {host}");
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
            assert_eq!(Access::is_origin(origin, "localhost:8080"), expect, "{origin}");
        };
        check("http://localhost:8080", true);
        for origin in ["null", "http://localhost:3000", "http://evil.example", "https://localhost:8080.evil"]
        {
            check(origin, false);
        }
    }

    #[test]
    fn tokens_are_needed_where_others_can_ask() {
        assert!(access("127.0.0.1:1").token().is_none());
        assert!(Access::new("127.0.0.1:1".parse().unwrap(), Vec::new(), true).token().is_some());
        let access = access("0.0.0.0:1");
        let token = access.token().unwrap().to_owned();
        assert!(token.len() >= 32);
        let none = HeaderMap::new();
        assert!(!access.has_token(&none, "/", None) && !access.has_token(&none, "/tsp/api", Some("token=")));
        assert!(access.has_token(&none, "/", Some(&format!("a=b&token={token}"))));
        assert!(access.has_token(&none, &format!("/{token}/tsp/api/health"), None));
        let mut with_cookie = HeaderMap::new();
        with_cookie.insert(header::COOKIE, format!("x=y; isochrone-token-1={token}").parse().unwrap());
        assert!(access.has_token(&with_cookie, "/", None));
        // That of a server on another port.
        with_cookie.insert(header::COOKIE, format!("isochrone-token-2={token}").parse().unwrap());
        assert!(!access.has_token(&with_cookie, "/", None));
    }

    #[test]
    fn viewers_of_this_machine_may_use_the_protocol() {
        let check = |origin: &str, expect: bool| {
            assert_eq!(access("127.0.0.1:8080").is_viewer(origin), expect, "{origin}");
        };
        for origin in [
            "vscode-webview://0abc",
            "http://localhost:3000",
            "http://127.0.0.1:3000",
            "http://[::1]:3000",
            "http://a1b2.webview.localhost:3000",
            "https://traces.example",
        ] {
            check(origin, true);
        }
        for origin in [
            "null",
            "",
            "http://evil.example",
            "http://localhost.evil.example",
            "http://evillocalhost",
            "https://traces.example.evil",
            "http://10.0.0.1:3000",
        ] {
            check(origin, false);
        }
        for (path, expect) in
            [("/tsp/api/health", true), ("/0123/tsp/api/health", true), ("/api/rows", false), ("/", false)]
        {
            assert_eq!(is_of_protocol(path), expect, "{path}");
        }
    }
}
