//! Connections: a bounded number at once, each with a bounded time to say what it asks.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How many connections there may be, and how long each may take to ask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Connections at once; others wait until one of them ends.
    pub(crate) most: usize,
    /// How long the head of a request may take. A connection that asks nothing for that long is closed.
    pub(crate) head_timeout: Duration,
}

/// Answers all connections, as long as the program runs.
pub(crate) async fn serve(mut listener: TcpListener, bounds: Bounds, router: Router) {
    let places = Arc::new(Semaphore::new(bounds.most));
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(bounds.head_timeout);
    // The semaphore is never closed.
    while let Ok(place) = places.clone().acquire_owned().await {
        let (stream, _) = Listener::accept(&mut listener).await;
        // Small answers should not wait for more; a socket that refuses the option works all the same.
        let _ = stream.set_nodelay(true);
        let connection = protocol.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        tokio::spawn(async move {
            // How it ends concerns nobody: the other side has gone, was too slow, or spoke nonsense and has been told.
            let _ = connection.await;
            drop(place);
        });
    }
}
