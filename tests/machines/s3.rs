//! A real S3 server (moto), and a proxy before it that loses, stalls and refuses requests on purpose.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The bucket that every server has.
pub const BUCKET: &str = "games";

/// Where `moto_server` is: named by `HNEFI_MOTO`, where the check with Python installs it, or on the path.
fn moto() -> Option<PathBuf> {
    let installed = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/python/bin/moto_server"));
    let on_path =
        std::env::var_os("PATH").into_iter().flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    std::env::var_os("HNEFI_MOTO")
        .map(PathBuf::from)
        .into_iter()
        .chain([installed])
        .chain(on_path.map(|folder| folder.join("moto_server")))
        .find(|path| path.is_file())
}

/// How often requests go wrong, in percent each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// The connection breaks before the server sees the request.
    pub lost: u64,
    /// The connection breaks after the server carried it out.
    pub unanswered: u64,
    /// The server is too busy.
    pub refused: u64,
    /// No answer for longer than anybody waits; the server may carry it out late.
    pub stalled: u64,
}

/// What becomes of the condition that an object is created only where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// It holds.
    #[default]
    Kept,
    /// The server passes over it, and overwrites.
    PassedOver,
    /// The server does not know it, and says so.
    Unknown,
}

/// What a stalled request waits for.
const STALL: Duration = Duration::from_millis(2500);

/// A server with its proxy; stopped when dropped.
pub struct S3 {
    server: Child,
    endpoint: String,
    shared: Arc<Shared>,
}

struct Shared {
    backend: u16,
    faults: Mutex<Faults>,
    condition: Mutex<Condition>,
    requests: AtomicU64,
    faulty: AtomicU64,
    /// Paths and bodies of all objects that were created.
    created: Mutex<Vec<(String, Vec<u8>)>>,
    /// The server looks for an object and then creates it; real ones do both in one step.
    one_at_a_time: Mutex<()>,
}

impl S3 {
    /// Starts a server with an empty bucket; without moto the test fails.
    pub fn start() -> S3 {
        let moto = moto().expect("moto_server: pip install 'moto[server]', HNEFI_MOTO names it");
        let backend = free_port();
        let server = Command::new(moto)
            .args(["-H", "127.0.0.1", "-p", &backend.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("moto starts");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let shared = Arc::new(Shared {
            backend,
            faults: Mutex::default(),
            condition: Mutex::default(),
            requests: AtomicU64::new(0),
            faulty: AtomicU64::new(0),
            created: Mutex::default(),
            one_at_a_time: Mutex::new(()),
        });
        let s3 = S3 { server, endpoint, shared: Arc::clone(&shared) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        s3.make_bucket();
        s3
    }

    fn make_bucket(&self) {
        let until = Instant::now() + Duration::from_secs(30);
        let request = format!("PUT /{BUCKET} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        loop {
            match forward(self.shared.backend, request.as_bytes()) {
                Ok(answer) if answer.starts_with(b"HTTP/1.1 200") => return,
                _ if Instant::now() > until => panic!("moto does not answer"),
                _ => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// The environment of a process that speaks to this server.
    pub fn environment(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT", self.endpoint.clone()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", "key".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }

    /// From now on requests go wrong this often.
    pub fn set_faults(&self, faults: Faults) {
        *self.shared.faults.lock().expect("whole") = faults;
    }

    /// From now on the server treats create-only writes like this.
    pub fn set_condition(&self, condition: Condition) {
        *self.shared.condition.lock().expect("whole") = condition;
    }

    /// Requests so far, and failed requests.
    pub fn requests(&self) -> (u64, u64) {
        (self.shared.requests.load(Ordering::SeqCst), self.shared.faulty.load(Ordering::SeqCst))
    }

    /// Puts other bytes in the place of an object, as no honest program does, and gives those that the program had
    /// created there.
    pub fn replace(&self, path: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let created = self.shared.created.lock().expect("whole");
        let before = created.iter().find(|(created, _)| created == path).map(|(_, body)| body.clone())?;
        // The server wants to see credentials, and takes any.
        let key = "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
        let head = format!(
            "PUT {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {key}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            bytes.len()
        );
        let answer = forward(self.shared.backend, &[head.as_bytes(), bytes].concat()).expect("an answer");
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        Some(before)
    }

    /// All objects created under a prefix of the bucket, whether or not they are still there.
    pub fn created(&self, prefix: &str) -> Vec<Vec<u8>> {
        let begins = format!("/{BUCKET}/{prefix}");
        let created = self.shared.created.lock().expect("whole");
        created.iter().filter(|(path, _)| path.starts_with(&begins)).map(|(_, body)| body.clone()).collect()
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

/// Serves the requests of one connection, each over a connection of its own to the server.
fn serve(mut client: TcpStream, shared: &Shared) {
    while let Some((mut head, body)) = read_request(&mut client) {
        let number = shared.requests.fetch_add(1, Ordering::SeqCst);
        let faults = *shared.faults.lock().expect("whole");
        // A fixed sequence over the requests as they come.
        let mut draw = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        draw = ((draw ^ (draw >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 33) % 100;
        let [lost, unanswered, refused, stalled] = [faults.lost, faults.unanswered, faults.refused, faults.stalled]
            .map(|share| {
                let hit = draw < share;
                draw = draw.wrapping_sub(share);
                hit
            });
        if lost || unanswered || refused || stalled {
            shared.faulty.fetch_add(1, Ordering::SeqCst);
        }
        if lost {
            return;
        }
        if refused {
            let _ = client.write_all(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n");
            continue;
        }
        if stalled {
            std::thread::sleep(STALL);
        }
        let condition = *shared.condition.lock().expect("whole");
        let is_condition = |line: &str| line.to_ascii_lowercase().starts_with("if-none-match:");
        if condition == Condition::Unknown && head.lines().any(is_condition) {
            let _ = client.write_all(b"HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\n\r\n");
            continue;
        }
        if condition == Condition::PassedOver {
            let lines: Vec<&str> = head.split("\r\n").filter(|line| !is_condition(line)).collect();
            head = lines.join("\r\n");
        }
        let answer = {
            let _turn = shared.one_at_a_time.lock().expect("whole");
            let request = [head.as_bytes(), &body].concat();
            let Ok(answer) = forward(shared.backend, &request) else { return };
            if head.starts_with("PUT ") && answer.starts_with(b"HTTP/1.1 200") {
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                shared.created.lock().expect("whole").push((path, body));
            }
            answer
        };
        if unanswered || client.write_all(&answer).is_err() {
            return;
        }
        // The server closes after its answer and says so in it.
        return;
    }
}

/// One request with its body; `None` at the end of the connection.
fn read_request(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 65_536];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        match client.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
        }
    };
    let mut body = bytes.split_off(end);
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    while body.len() < length.unwrap_or(0) {
        match client.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(read) => body.extend_from_slice(&chunk[..read]),
        }
    }
    let lines: Vec<&str> = head
        .trim_end()
        .lines()
        .filter(|line| !line.to_ascii_lowercase().starts_with("connection:"))
        .chain(["Connection: close", "", ""])
        .collect();
    Some((lines.join("\r\n"), body))
}

/// A request to the server, and all it answers.
fn forward(port: u16, request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    server.write_all(request)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    if answer.is_empty() { Err(std::io::ErrorKind::UnexpectedEof.into()) } else { Ok(answer) }
}
