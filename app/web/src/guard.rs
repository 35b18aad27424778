//! Who may talk to the server: requests that were meant for it, and no others.
//!
//! A browser lets any page send requests to this machine. Two checks keep foreign pages out: `Host` must name this
//! machine (a page that points its own name at 127.0.0.1 still says its own name there), and `Origin`, where there is
//! one, must be the page this server sent. Every answer carries a policy under which a page loads nothing from anywhere
//! else.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::Server;
use crate::error::ApiError;

/// What a page may do: run our scripts and styles, talk to us, draw pictures it made itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The names this server answers to.
#[derive(Debug)]
pub(crate) struct Hosts {
    names: Vec<String>,
    /// Whether any address will do, because the server listens to more than this machine.
    any_address: bool,
}

impl Hosts {
    /// The names of a server at `address`, and those its user added.
    pub(crate) fn new(address: SocketAddr, names: &[String]) -> Hosts {
        let mut names: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        names.push("localhost".to_owned());
        Hosts { names, any_address: !address.ip().is_loopback() }
    }

    /// Whether a `Host` header such as `localhost:8037` means this server. An address cannot be pointed elsewhere, as a
    /// name can; so names must be known.
    fn knows(&self, host: &str) -> bool {
        let Some(name) = name_of(host) else { return false };
        match name.parse::<IpAddr>() {
            Ok(address) => self.any_address || address.is_loopback(),
            Err(_) => self.names.iter().any(|known| name.eq_ignore_ascii_case(known)),
        }
    }
}

/// The name in `NAME[:PORT]`, without brackets; `None` for anything else, such as `user@name`.
fn name_of(host: &str) -> Option<String> {
    let authority: Authority = host.parse().ok()?;
    let name = authority.host();
    let rest = host.strip_prefix(name)?;
    let sound = rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    let bare = name.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(name);
    sound.then(|| bare.to_owned())
}

/// Lets a request pass or refuses it, and sets the headers of every answer.
pub(crate) async fn check(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let mut response = match refusal(&server.hosts, request.uri(), request.headers()) {
        Some(error) => error.into_response(),
        None => next.run(request).await,
    };
    harden(response.headers_mut());
    response
}

fn refusal(hosts: &Hosts, uri: &Uri, headers: &HeaderMap) -> Option<ApiError> {
    let forbidden = |message: String| Some(ApiError::new(StatusCode::FORBIDDEN, message));
    let site_name = HeaderName::from_static("sec-fetch-site");
    // A request that says one of these twice may be understood in one way here and in another way elsewhere.
    for name in [header::HOST, header::ORIGIN, site_name.clone()] {
        let count = headers.get_all(&name).iter().count();
        if count > 1 {
            return Some(ApiError::bad(format!("{count} headers {name}; expected one")));
        }
    }
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let Some(host) = text(header::HOST) else {
        return Some(ApiError::bad("the request names no host"));
    };
    let named = uri.authority().map_or(host, |authority| authority.as_str());
    if !hosts.knows(host) || !hosts.knows(named) {
        return forbidden(format!(
            "host {host:?} is not this server; open it by its address, or start it with --host NAME"
        ));
    }
    if let Some(origin) = text(header::ORIGIN) {
        let own = ["http://", "https://"].iter().any(|scheme| origin.eq_ignore_ascii_case(&format!("{scheme}{host}")));
        if !own {
            return forbidden(format!("origin {origin:?}: only this server's own page may ask"));
        }
    }
    let site = text(site_name).unwrap_or("none");
    if uri.path().starts_with("/api/") && !["same-origin", "none"].contains(&site) {
        return forbidden(format!("a {site} page asked; only this server's own page may"));
    }
    None
}

fn harden(headers: &mut HeaderMap) {
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(address: &str, names: &[&str]) -> Hosts {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Hosts::new(address.parse().expect("an address"), &names)
    }

    #[test]
    fn on_loopback_only_this_machine_is_known() {
        let hosts = hosts("127.0.0.1:8037", &["board.example"]);
        for good in ["127.0.0.1:8037", "localhost", "LocalHost:9", "[::1]:8037", "127.0.0.2", "Board.Example:80"] {
            assert!(hosts.knows(good), "{good}");
        }
        for bad in
            ["", "evil.example:8037", "192.168.1.7:8037", "localhost.evil.example", "[", "127.0.0.1.evil.example"]
        {
            assert!(!hosts.knows(bad), "{bad}");
        }
        for bad in [
            "127.0.0.1:8137@evil.example",
            "localhost@evil.example",
            "evil.example@localhost",
            "@localhost",
            "localhost:port",
            "localhost:99999",
            "localhost:",
            "localhost:80:80",
            "localhost/",
            "localhost, evil.example",
            "[::1",
            "[::1]x",
        ] {
            assert!(!hosts.knows(bad), "{bad}");
        }
    }

    #[test]
    fn elsewhere_addresses_are_known_and_names_are_not() {
        let hosts = hosts("0.0.0.0:8037", &[]);
        assert!(hosts.knows("192.168.1.7:8037") && hosts.knows("[fe80::1]:8037") && hosts.knows("localhost:8037"));
        assert!(!hosts.knows("evil.example:8037"));
    }

    fn verdict(headers: &[(&'static str, &'static str)], path: &'static str) -> bool {
        let mut map = HeaderMap::new();
        for &(name, value) in headers {
            map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        refusal(&hosts("127.0.0.1:8037", &[]), &Uri::from_static(path), &map).is_none()
    }

    #[test]
    fn foreign_origins_and_sites_are_refused() {
        let host = ("host", "localhost:8037");
        assert!(verdict(&[host], "/api/setup"));
        assert!(verdict(&[host, ("origin", "http://localhost:8037"), ("sec-fetch-site", "same-origin")], "/api/setup"));
        assert!(!verdict(&[host, ("origin", "http://evil.example")], "/api/setup"));
        assert!(!verdict(&[host, ("origin", "null")], "/api/setup"));
        assert!(!verdict(&[host, ("origin", "http://localhost:9999")], "/api/setup"));
        assert!(!verdict(&[host, ("sec-fetch-site", "cross-site")], "/api/setup"));
        assert!(verdict(&[host, ("sec-fetch-site", "cross-site")], "/"), "a link to the page");
        assert!(!verdict(&[("host", "evil.example")], "/"));
        assert!(!verdict(&[host, host], "/"), "two hosts, were they equal");
        assert!(!verdict(&[host, ("host", "evil.example")], "/") && !verdict(&[("host", "evil.example"), host], "/"));
        let own = ("origin", "http://localhost:8037");
        assert!(!verdict(&[host, own, ("origin", "http://evil.example")], "/api/setup"));
        assert!(!verdict(&[host, ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")], "/api/setup"));
        assert!(!verdict(&[], "/"));
    }
}
