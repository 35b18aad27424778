//! An invitation to a game between two people: a link that the other one can reach, and its QR code.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use axum::http::Uri;
use hnefi_board::Refusal;
use qrcodegen::{QrCode, QrCodeEcc};
use serde::Serialize;

use crate::error::refused;

/// The longest address of a page, in bytes.
const LONGEST: usize = 300;

/// Empty squares around a code, as readers want it.
const MARGIN: i32 = 4;

/// What the page shows.
#[derive(Debug, Serialize)]
pub(crate) struct Invitation {
    link: String,
    /// Whether others can reach it: not where the server listens to this machine alone.
    reachable: bool,
    /// Squares of a side of the code, with its margin.
    side: i32,
    /// The dark squares, as a path of SVG.
    code: String,
}

impl Invitation {
    /// The invitation to the game `id` for somebody who sees it at `page`, at a server that listens to `address`.
    ///
    /// # Errors
    /// When `page` is no address of a page.
    pub(crate) fn new(id: &str, page: &str, address: SocketAddr) -> Result<Invitation, Refusal> {
        let is_page = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https"));
        let uri = page.parse::<Uri>().ok().filter(|uri| page.len() <= LONGEST && is_page(uri));
        let host = uri.as_ref().and_then(|uri| uri.host()).ok_or_else(|| {
            Refusal::bad(refused(format!("page {page:?}: expected an address of at most {LONGEST} bytes")))
        })?;
        let (place, reachable) = match (is_here(host), outward(address.ip())) {
            (false, _) => (page.to_owned(), true),
            (true, Some(ip)) => (format!("http://{}/", SocketAddr::new(ip, address.port())), true),
            (true, None) => (page.to_owned(), false),
        };
        let link = format!("{place}#{id}");
        // The longest link has room in the largest code.
        let code = QrCode::encode_text(&link, QrCodeEcc::Medium).map_err(Refusal::fault)?;
        Ok(Invitation { reachable, side: code.size() + 2 * MARGIN, code: path(&code), link })
    }
}

/// Whether a host's name means whatever machine it is said on.
fn is_here(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The address by which others reach a server that listens to `ip`: where that means all addresses of this machine, the
/// one that leads out of it. None where it listens to this machine alone, or there is no way out.
pub(crate) fn outward(ip: IpAddr) -> Option<IpAddr> {
    if !ip.is_unspecified() {
        return Some(ip).filter(|ip| !ip.is_loopback());
    }
    // Nothing is sent: a datagram's socket only looks up the way. The destinations are addresses for documents.
    let there = match ip {
        IpAddr::V4(_) => IpAddr::from([192, 0, 2, 1]),
        IpAddr::V6(_) => IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]),
    };
    let socket = UdpSocket::bind((ip, 0)).ok()?;
    socket.connect((there, 9)).ok()?;
    socket.local_addr().ok().map(|here| here.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

/// The dark squares, a row's neighbours together.
fn path(code: &QrCode) -> String {
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let run = (x..code.size()).take_while(|&x| code.get_module(x, y)).count() as i32;
            if run > 0 {
                path.push_str(&format!("M{} {}h{run}v1h-{run}z", x + MARGIN, y + MARGIN));
            }
            x += run.max(1);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn invitation(page: &str, address: &str) -> Invitation {
        Invitation::new(ID, page, address.parse().expect("an address")).expect("an invitation")
    }

    #[test]
    fn the_link_is_one_that_others_can_reach() {
        for (page, address, link, reachable) in [
            ("http://192.168.1.5:8037/", "0.0.0.0:8037", "http://192.168.1.5:8037/#", true),
            ("https://board.example/tafl/", "127.0.0.1:8037", "https://board.example/tafl/#", true),
            ("http://localhost:8037/", "192.168.1.5:8037", "http://192.168.1.5:8037/#", true),
            ("http://[::1]:8037/", "[::1]:8037", "http://[::1]:8037/#", false),
            ("http://127.0.0.1:8037/", "127.0.0.1:8037", "http://127.0.0.1:8037/#", false),
        ] {
            let found = invitation(page, address);
            assert_eq!((found.link, found.reachable), (format!("{link}{ID}"), reachable), "{page} {address}");
        }
        for bad in ["", "javascript:alert(1)", "http:", &format!("http://{}/", "x".repeat(LONGEST))] {
            assert!(Invitation::new(ID, bad, SocketAddr::from(([0, 0, 0, 0], 1))).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_code_has_its_three_finders_within_its_margin() {
        let found = invitation("http://192.168.1.5:8037/", "0.0.0.0:8037");
        // A finder begins with a row of seven; two of them stand in the first row and one at the foot.
        let last = found.side - MARGIN - 7;
        for at in ["M4 4h7v".to_owned(), format!("M{last} 4h7v"), format!("M4 {last}h7v")] {
            assert!(found.code.contains(&at), "{at}: {}", found.code);
        }
        assert!(!found.code.contains("M3 ") && !found.code.contains(" 3h"));
    }
}
