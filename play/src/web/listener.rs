//! Connections: so many and no more, of one address fewer still, and none that does not say what it wants.
//!
//! A connection that owes us the head of a request has little time for it. When there are too many, the one that has
//! been silent for longest makes room for the next, so nobody keeps others out by opening connections and asking
//! nothing.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::serve::Listener;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep};

/// How long an answer may stand still. Streams of events say something more often.
const SILENCE: Duration = Duration::from_secs(60);

/// How many connections there may be, and how long each may take to ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Connections at once.
    pub(super) most: usize,
    /// Connections of one address.
    pub(super) most_each: usize,
    /// How long the head of a request may take.
    pub(super) patience: Duration,
}

/// Answers whoever connects, as long as the program runs.
pub(super) async fn serve(mut listener: TcpListener, bounds: Bounds, router: Router) {
    let door = Arc::new(Door { bounds, inside: Mutex::default() });
    loop {
        let (stream, address): (TcpStream, SocketAddr) = Listener::accept(&mut listener).await;
        // Without a place the stream is dropped, which closes it.
        let Some(guest) = door.admit(address.ip()) else { continue };
        // Small answers should not wait for more; a socket that refuses the option works all the same.
        let _ = stream.set_nodelay(true);
        tokio::spawn(converse(stream, guest, bounds.patience, router.clone()));
    }
}

/// One connection, until either side ends it or its place is needed.
async fn converse(stream: TcpStream, guest: Arc<Guest>, patience: Duration, router: Router) {
    let leave = guest.leave.clone();
    let routes = TowerToHyperService::new(router);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let answering = Answering::new(&guest);
        let response = routes.call(request);
        async move {
            // The connection is busy until the last of the body has gone.
            let busy = move |error| {
                let _ = &answering;
                error
            };
            Ok::<_, Infallible>(response.await?.map(|body| Body::new(body.map_err(busy))))
        }
    });
    let io = TokioIo::new(Connection { stream, silence: Box::pin(sleep(SILENCE)) });
    let conversation =
        http1::Builder::new().timer(TokioTimer::new()).header_read_timeout(patience).serve_connection(io, service);
    // How it ends concerns nobody: the other side has gone, was too slow, or spoke nonsense and has been told.
    tokio::select! {
        _ = conversation => {}
        () = leave.notified() => {}
    }
}

/// Who is connected.
struct Door {
    bounds: Bounds,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    admitted: u64,
    entries: Vec<Entry>,
}

/// A connection.
struct Entry {
    number: u64,
    address: IpAddr,
    /// When it was last answered, or came; `None` while it is being answered.
    idle_since: Option<Instant>,
    leave: Arc<Notify>,
}

impl Door {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a connection from there, if need be the place of a connection which asks nothing; `None` when all
    /// are being answered.
    fn admit(self: &Arc<Door>, address: IpAddr) -> Option<Arc<Guest>> {
        let mut inside = self.inside();
        let entries = &mut inside.entries;
        let of = |address: IpAddr| entries.iter().filter(|entry| entry.address == address).count();
        let crowded = of(address) >= self.bounds.most_each;
        if crowded || entries.len() >= self.bounds.most {
            // Where all are too many, the address that has the most of them gives way.
            let idle = |(index, entry): (usize, &Entry)| {
                let movable = !crowded || entry.address == address;
                entry.idle_since.filter(|_| movable).map(|since| (Reverse(of(entry.address)), since, index))
            };
            let (_, _, index) = entries.iter().enumerate().filter_map(idle).min()?;
            entries.remove(index).leave.notify_one();
        }
        inside.admitted += 1;
        let (number, leave) = (inside.admitted, Arc::new(Notify::new()));
        inside.entries.push(Entry { number, address, idle_since: Some(Instant::now()), leave: leave.clone() });
        Some(Arc::new(Guest { door: self.clone(), number, leave }))
    }
}

/// A place among the connections, which is given back when the connection ends.
struct Guest {
    door: Arc<Door>,
    number: u64,
    leave: Arc<Notify>,
}

impl Guest {
    fn set_idle_since(&self, moment: Option<Instant>) {
        let mut inside = self.door.inside();
        if let Some(entry) = inside.entries.iter_mut().find(|entry| entry.number == self.number) {
            entry.idle_since = moment;
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.door.inside().entries.retain(|entry| entry.number != self.number);
    }
}

/// As long as this lives the connection is being answered.
struct Answering(Arc<Guest>);

impl Answering {
    fn new(guest: &Arc<Guest>) -> Answering {
        guest.set_idle_since(None);
        Answering(guest.clone())
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.set_idle_since(Some(Instant::now()));
    }
}

/// A connection and the clock of its silence.
struct Connection {
    stream: TcpStream,
    silence: Pin<Box<Sleep>>,
}

impl Connection {
    /// Starts the clock anew after something happened, and ends the connection when nothing did for too long.
    fn watched<T>(&mut self, context: &mut Context<'_>, happened: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if happened.is_ready() {
            self.silence.as_mut().reset(Instant::now() + SILENCE);
            return happened;
        }
        match self.silence.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        self.watched(context, read)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watched(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

    fn door(most: usize, most_each: usize) -> Arc<Door> {
        let bounds = Bounds { most, most_each, patience: Duration::from_secs(1) };
        Arc::new(Door { bounds, inside: Mutex::default() })
    }

    fn addresses(door: &Door) -> Vec<IpAddr> {
        door.inside().entries.iter().map(|entry| entry.address).collect()
    }

    #[test]
    fn the_longest_silent_of_a_crowded_address_makes_room_and_others_stay() {
        let door = door(9, 2);
        let _other = door.admit(THERE).expect("a place");
        let first = door.admit(HERE).expect("a place");
        let second = door.admit(HERE).expect("a place");
        let third = door.admit(HERE).expect("the place of the first");
        assert_eq!(addresses(&door), [THERE, HERE, HERE]);
        drop(first);
        let numbers: Vec<u64> = door.inside().entries.iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, [1, second.number, third.number], "who was shown out gives back no place twice");
    }

    #[test]
    fn nobody_is_shown_out_who_is_being_answered() {
        let door = door(9, 2);
        let (first, second) = (door.admit(HERE).expect("a place"), door.admit(HERE).expect("a place"));
        let (answering, _also) = (Answering::new(&first), Answering::new(&second));
        assert!(door.admit(HERE).is_none(), "both are busy");
        assert!(door.admit(THERE).is_some(), "which concerns no other address");
        drop(answering);
        let _third = door.admit(HERE).expect("the place of the first, which is idle");
        assert!(!door.inside().entries.iter().any(|entry| entry.number == first.number));
    }

    #[test]
    fn all_addresses_together_are_bounded_too() {
        let door = door(3, 3);
        let _guests: Vec<_> = [HERE, THERE, THERE].map(|address| door.admit(address).expect("a place")).into();
        let _fourth = door.admit(THERE).expect("a place");
        assert_eq!(addresses(&door), [HERE, THERE, THERE], "the address with the most gives way");
    }
}
