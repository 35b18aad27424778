//! Connections: a bounded number at once, each with a bounded time to say what it asks and to take what it is told.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Sleep;

/// How many connections there may be, and how long each may take to ask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Connections at once; others wait until one of them ends.
    pub(crate) most: usize,
    /// How long the head of a request may take. A connection that asks nothing for that long is closed, and one that
    /// takes nothing of an answer for six times as long.
    pub(crate) patience: Duration,
}

/// A connection that fails when its other side has taken nothing for so long.
struct Impatient {
    stream: TcpStream,
    patience: Duration,
    /// Ends the patience; there is one while a write waits.
    limit: Option<Pin<Box<Sleep>>>,
}

impl AsyncRead for Impatient {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, bytes)
    }
}

impl AsyncWrite for Impatient {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if written.is_ready() {
            self.limit = None;
            return written;
        }
        // Much of the buffer must have left before the system takes more: slow readers are not deaf.
        let patience = 6 * self.patience;
        let limit = self.limit.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        limit.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Answers all connections, as long as the program runs.
pub(crate) async fn serve(mut listener: TcpListener, bounds: Bounds, router: Router) {
    let places = Arc::new(Semaphore::new(bounds.most));
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(bounds.patience);
    // The semaphore is never closed.
    while let Ok(place) = places.clone().acquire_owned().await {
        let (stream, _) = Listener::accept(&mut listener).await;
        // Small answers should not wait for more; a socket that refuses the option works all the same.
        let _ = stream.set_nodelay(true);
        let stream = TokioIo::new(Impatient { stream, patience: bounds.patience, limit: None });
        let connection = protocol.serve_connection(stream, TowerToHyperService::new(router.clone()));
        tokio::spawn(async move {
            // How it ends concerns nobody: the other side has gone, was too slow, or spoke nonsense and has been told.
            let _ = connection.await;
            drop(place);
        });
    }
}
