//! A run in a bucket of an object store on a network.
//!
//! The store must create objects that do not exist yet, list, get and remove. Failed requests are repeated with growing
//! pauses (`retry.rs`). A creation that failed may have succeeded all the same; if the next attempt finds the object,
//! its bytes show whether it is ours.
//!
//! The rest of the program is not asynchronous, so requests block on a small runtime of the bucket.

mod attempts;
mod client;

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use hnefi_inference::file;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use self::attempts::Attempts;
use self::client::PendingCredentials;
use super::layout::largest;
use super::watch::{FaultAction, Operation};
use super::{Place, RetryPolicy, StoreError, limit};

const AT_ONCE: usize = 32;

/// Time between two questions to the watch whether to stop.
const ATTENTION: Duration = Duration::from_millis(100);

/// Time for a request to finish after a stop.
const GRACE: Duration = Duration::from_secs(5);

/// The object by which a store shows that it has create-only writes. No key of a run begins with a dot.
const PROBE: &str = ".create-only";

const PROBE_TEXT: &[u8] = b"A store must refuse to create this object again.\n";

#[derive(Debug)]
pub(super) struct Bucket {
    /// `s3://bucket/prefix`.
    url: String,
    root: Path,
    client: Box<dyn ObjectStore>,
    runtime: Runtime,
    retry: RetryPolicy,
    /// Whether the store has ever answered; from then on refused credentials count as a temporary failure.
    answered: AtomicBool,
    /// Whether the store was seen to refuse the creation of an object that is there.
    creates_only: AtomicBool,
    /// Local copies of folders.
    fetched: OnceLock<TempDir>,
}

enum Answer<T> {
    Done(T),
    /// There is no such object.
    NotFound,
    /// The object exists. `maybe_ours` if an earlier attempt may have created it.
    AlreadyThere {
        maybe_ours: bool,
    },
}

enum Failure {
    /// The object to be created exists.
    AlreadyThere,
    /// A temporary failure, with its text.
    Passing(String),
}

impl Bucket {
    /// Opens the bucket of a [`super::Location`]. Credentials and endpoints come from the usual environment variables
    /// (`AWS_...`, `GOOGLE_...`, `AZURE_...`). Makes no request to the bucket, but looks for credentials, because
    /// retrying does not help without them.
    pub(super) fn open(url: &str, retry: RetryPolicy) -> Result<Bucket, StoreError> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let refuse = |problem: String| StoreError::Bucket {
            place: place(url),
            problem: format!("{problem}; expected {} in the environment", client::expected(scheme)),
        };
        let (client, asked) = client::build(scheme, name, &retry).map_err(|error| refuse(error_chain(&error)))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| refuse(format!("no runtime for its requests: {error}")))?;
        let bucket = Bucket {
            url: url.to_owned(),
            root: Path::from(prefix),
            client,
            runtime,
            retry,
            answered: AtomicBool::new(false),
            creates_only: AtomicBool::new(false),
            fetched: OnceLock::new(),
        };
        bucket.find_credentials(asked).map_err(|problem| match problem {
            Some(problem) => refuse(problem),
            None => bucket.interrupted("credentials"),
        })?;
        Ok(bucket)
    }

    /// Looks for credentials; the error is `None` if the watch stopped it.
    fn find_credentials(&self, asked: Option<PendingCredentials>) -> Result<(), Option<String>> {
        let Some(asked) = asked else { return Ok(()) };
        let answer = async { tokio::time::timeout(self.retry.request, asked).await };
        let problem = match self.wait("credentials", Duration::ZERO, answer) {
            Ok(Ok(Ok(()))) => return Ok(()),
            Ok(Ok(Err(error))) => error_chain(&error),
            Ok(Err(_)) => format!("no answer within {} s", self.retry.request.as_secs_f64()),
            Err(_) => return Err(None),
        };
        Err(Some(format!("no credentials, neither in the environment nor as a role of this machine ({problem})")))
    }

    fn put_new(&self, what: &str, key: &str, bytes: &[u8]) -> Result<Answer<()>, StoreError> {
        let path = self.path(key);
        let payload = PutPayload::from(bytes.to_vec());
        self.ask(what, || {
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            let (path, payload) = (path.clone(), payload.clone());
            async move { self.client.put_opts(&path, payload, options).await.map(|_| ()) }
        })
    }

    /// Fetches an object; the inner error, without its bytes, if there are more than `most`.
    async fn bytes(&self, path: Path, most: u64) -> Result<io::Result<Vec<u8>>, Error> {
        let found = self.client.get(&path).await?;
        match file::check_length(found.meta.size, most) {
            Ok(()) => Ok(Ok(found.bytes().await?.to_vec())),
            Err(error) => Ok(Err(error)),
        }
    }

    /// What was fetched, or the error of an object that is missing or too large.
    fn fit(&self, key: &str, found: Option<io::Result<Vec<u8>>>) -> Result<Vec<u8>, StoreError> {
        let (place, key) = (self.place(), key.to_owned());
        match found {
            Some(Ok(bytes)) => Ok(bytes),
            Some(Err(error)) => Err(StoreError::Unfit { place, key, problem: error.to_string() }),
            None => Err(StoreError::Missing { place, key }),
        }
    }

    /// Repeats a request until it succeeds or fails for good.
    fn ask<T, F>(&self, what: &str, request: impl Fn() -> F) -> Result<Answer<T>, StoreError>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut attempts = Attempts::new(&self.retry);
        loop {
            let one = self.attempt(what, request());
            let outcome = self.wait(what, GRACE, async { tokio::time::timeout(self.retry.request, one).await })?;
            match self.judge(what, outcome)? {
                Ok(Some(value)) => return Ok(Answer::Done(value)),
                Ok(None) => return Ok(Answer::NotFound),
                Err(Failure::AlreadyThere) => {
                    return Ok(Answer::AlreadyThere { maybe_ours: attempts.failures > 0 });
                }
                Err(Failure::Passing(problem)) => self.pause(what, &mut attempts, problem)?,
            }
        }
    }

    /// Makes a request for each object, several concurrently, and repeats failed ones; `None` for missing objects.
    fn ask_many<T, F>(
        &self,
        what: &str,
        keys: &[String],
        request: impl Fn(Path) -> F,
    ) -> Result<Vec<Option<T>>, StoreError>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut answers: Vec<Option<T>> = keys.iter().map(|_| None).collect();
        let mut open: Vec<usize> = (0..keys.len()).collect();
        let mut attempts = Attempts::new(&self.retry);
        while !open.is_empty() {
            let requests: Vec<_> = open
                .iter()
                .map(|&index| (index, self.attempt(what, request(self.path(&keys[index])))))
                .map(|(index, one)| async move { (index, tokio::time::timeout(self.retry.request, one).await) })
                .collect();
            let all = futures_util::stream::iter(requests).buffer_unordered(AT_ONCE).collect::<Vec<_>>();
            let before = open.len();
            let mut last = None;
            open.clear();
            for (index, outcome) in self.wait(what, GRACE, all)? {
                match self.judge(what, outcome)? {
                    Ok(answer) => answers[index] = answer,
                    Err(Failure::Passing(problem)) => {
                        open.push(index);
                        last = Some(problem);
                    }
                    Err(Failure::AlreadyThere) => {}
                }
            }
            if open.len() < before {
                attempts = Attempts::new(&self.retry);
            }
            if let Some(problem) = last {
                self.pause(what, &mut attempts, problem)?;
            }
        }
        Ok(answers)
    }

    /// Makes a request unless the watch comes in its way.
    async fn attempt<T>(&self, what: &str, request: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let failed = |error| Err(Error::Generic { store: "watch", source: Box::new(error) });
        match self.retry.watch.attempt(&Operation::Request(what)) {
            FaultAction::Fail(error) => failed(error),
            FaultAction::FailAfterwards(error) => request.await.and_then(|_| failed(error)),
            FaultAction::Proceed | FaultAction::Short(_) => request.await,
        }
    }

    /// Sorts the outcome of a request: an answer (`None` for a missing object), a temporary failure, or a final error.
    fn judge<T>(
        &self,
        what: &str,
        outcome: Result<Result<T, Error>, tokio::time::error::Elapsed>,
    ) -> Result<Result<Option<T>, Failure>, StoreError> {
        Ok(match outcome {
            Ok(Ok(value)) => {
                self.answered.store(true, Ordering::Relaxed);
                Ok(Some(value))
            }
            Ok(Err(error)) if status(&error) == Some(404) => Ok(None),
            Ok(Err(Error::AlreadyExists { .. })) => Err(Failure::AlreadyThere),
            Ok(Err(error)) if self.is_final(&error) => {
                let problem = self.said(&error);
                let status = status(&error);
                return Err(StoreError::Refused { place: self.place(), what: what.to_owned(), status, problem });
            }
            Ok(Err(error)) => Err(Failure::Passing(self.said(&error))),
            Err(_) => Err(Failure::Passing(format!("no answer within {} s", self.retry.request.as_secs_f64()))),
        })
    }

    fn pause(&self, what: &str, attempts: &mut Attempts<'_>, problem: String) -> Result<(), StoreError> {
        match attempts.failed(&format!("{}: {what} failed: {problem}", self.place())) {
            Some(pause) => self.wait(what, Duration::ZERO, async { tokio::time::sleep(pause).await }),
            None => Err(self.failed(format!(
                "{what} did not succeed for {} s, everything written earlier is unharmed; the last answer was: \
                 {problem}",
                attempts.began.elapsed().as_secs()
            ))),
        }
    }

    /// Waits for a future; after a stop, at most for `grace`.
    fn wait<T>(&self, what: &str, grace: Duration, future: impl Future<Output = T>) -> Result<T, StoreError> {
        self.runtime.block_on(async {
            let mut future = std::pin::pin!(future);
            let mut stopped = None;
            loop {
                if let Ok(value) = tokio::time::timeout(ATTENTION, future.as_mut()).await {
                    return Ok(value);
                }
                if self.retry.watch.should_stop() && stopped.get_or_insert_with(Instant::now).elapsed() >= grace {
                    return Err(self.interrupted(what));
                }
            }
        })
    }

    fn is_final(&self, error: &Error) -> bool {
        let answered = self.answered.load(Ordering::Relaxed);
        matches!(error, Error::NotSupported { .. } | Error::InvalidPath { .. })
            || status(error) == Some(501)
            || !answered && is_refusal(error)
    }

    /// The server's own words for an error, where it has some.
    fn said(&self, error: &Error) -> String {
        let text = error_chain(error);
        let between = |before: &str, after: &str| {
            text.split_once(before)?.1.split_once(after).map(|(part, _)| part.trim().to_owned())
        };
        if let Some(code) = between("<Code>", "</Code>") {
            let message = between("<Message>", "</Message>").unwrap_or_default();
            let status = between(STATUS, ":").unwrap_or_else(|| "an error".to_owned());
            return format!("{code}: {message} ({status})");
        }
        if text.contains("URL scheme is not allowed") {
            let variable = client::allow_http(&self.url);
            return format!("{text}; an endpoint without TLS (http://) is spoken to with {variable}=true alone");
        }
        text
    }

    fn failed(&self, problem: String) -> StoreError {
        StoreError::Bucket { place: self.place(), problem }
    }

    fn interrupted(&self, what: &str) -> StoreError {
        self.failed(format!("stopped while {what} was waited for"))
    }

    fn no_bucket(&self, what: &str) -> StoreError {
        let problem = "there is no such bucket".to_owned();
        StoreError::Refused { place: self.place(), what: what.to_owned(), status: Some(404), problem }
    }

    fn path(&self, key: &str) -> Path {
        key.split('/').fold(self.root.clone(), |path, part| path.join(part))
    }

    fn key(&self, path: &Path) -> Option<String> {
        let parts: Vec<_> = path.prefix_match(&self.root)?.collect();
        Some(parts.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join("/"))
    }
}

impl Place for Bucket {
    fn place(&self) -> String {
        place(&self.url)
    }

    fn name(&self, key: &str) -> String {
        format!("{}/{key}", self.url)
    }

    fn is_remote(&self) -> bool {
        true
    }

    /// The objects of a folder as local files, fetched once and kept while the store is open.
    fn folder(&self, key: &str) -> Result<PathBuf, StoreError> {
        let failed = |source| StoreError::Directory { dir: std::env::temp_dir(), source };
        let fetched = match self.fetched.get() {
            Some(fetched) => fetched,
            None => {
                let made = tempfile::Builder::new().prefix("hnefi-").tempdir().map_err(failed)?;
                self.fetched.get_or_init(|| made)
            }
        };
        let folder = fetched.path().join(key.replace('/', "-"));
        if folder.is_dir() {
            return Ok(folder);
        }
        let half = folder.with_extension("half");
        std::fs::create_dir_all(&half).map_err(failed)?;
        let inside = format!("{key}/");
        for object in self.list(&inside, None)?.into_iter().filter(|key| largest(key).is_some()) {
            let bytes = self.get(&object)?;
            std::fs::write(half.join(&object[inside.len()..]), bytes).map_err(failed)?;
        }
        std::fs::rename(&half, &folder).map_err(failed)?;
        Ok(folder)
    }

    fn size(&self, key: &str) -> Result<Option<u64>, StoreError> {
        let path = self.path(key);
        let head = || {
            let path = path.clone();
            async move {
                match self.client.head(&path).await {
                    // The answer to HEAD says that it was refused and not why.
                    Err(error) if is_refusal(&error) => self.client.get(&path).await.map(|found| found.meta.size),
                    found => found.map(|found| found.size),
                }
            }
        };
        match self.ask(&format!("looking for {key}"), head)? {
            Answer::Done(size) => Ok(Some(size)),
            _ => Ok(None),
        }
    }

    fn list(&self, prefix: &str, after: Option<&str>) -> Result<Vec<String>, StoreError> {
        // Stores list whole folders, so list the folder before the last slash.
        let folder = prefix.rfind('/').map_or("", |slash| &prefix[..slash]);
        let folder = if folder.is_empty() { self.root.clone() } else { self.path(folder) };
        let after = after.map(|key| self.path(key));
        let list = || {
            let (folder, after) = (folder.clone(), after.clone());
            async move {
                let mut found = match &after {
                    Some(after) => self.client.list_with_offset(Some(&folder), after),
                    None => self.client.list(Some(&folder)),
                };
                let mut paths = Vec::new();
                while let Some(object) = found.next().await {
                    paths.push(object?.location);
                }
                Ok::<_, Error>(paths)
            }
        };
        let Answer::Done(paths) = self.ask(&format!("listing {prefix:?}"), list)? else {
            return Err(self.no_bucket("listing"));
        };
        let mut keys: Vec<String> = paths.iter().filter_map(|path| self.key(path)).collect();
        keys.retain(|key| key.starts_with(prefix) && super::is_key(key));
        keys.sort_unstable();
        Ok(keys)
    }

    fn get(&self, key: &str) -> Result<Vec<u8>, StoreError> {
        let path = self.path(key);
        let get = || self.bytes(path.clone(), limit(key));
        match self.ask(&format!("reading {key}"), get)? {
            Answer::Done(found) => self.fit(key, Some(found)),
            _ => self.fit(key, None),
        }
    }

    /// Fetches several objects concurrently; an error for each that is missing or too large.
    fn get_all(&self, keys: &[String]) -> Result<Vec<Result<Vec<u8>, StoreError>>, StoreError> {
        let get = |path: Path| {
            let most = self.key(&path).map_or(0, |key| limit(&key));
            self.bytes(path, most)
        };
        let found = self.ask_many(&format!("reading {} objects", keys.len()), keys, get)?;
        Ok(keys.iter().zip(found).map(|(key, found)| self.fit(key, found)).collect())
    }

    fn create(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let what = format!("writing {key}");
        // Over all attempts: an early one may arrive late.
        let (mut ours, mut conflicts) = (false, Attempts::new(&self.retry));
        loop {
            match self.put_new(&what, key, bytes)? {
                Answer::Done(()) => return Ok(()),
                Answer::NotFound => return Err(self.no_bucket(&what)),
                Answer::AlreadyThere { maybe_ours } => {
                    ours |= maybe_ours;
                    match self.get(key) {
                        Ok(there) if ours && there == bytes => return Ok(()),
                        Ok(_) => return Err(StoreError::Exists { place: self.place(), key: key.to_owned() }),
                        // Two concurrent creations may both report a conflict although no object exists.
                        Err(StoreError::Missing { .. }) => {
                            self.pause(&what, &mut conflicts, "a conflict, and there is no object".to_owned())?;
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
        }
    }

    fn create_folder(&self, key: &str, parts: &[(&str, &[u8])]) -> Result<(), StoreError> {
        parts.iter().try_for_each(|(name, bytes)| self.create(&format!("{key}/{name}"), bytes))
    }

    fn remove_all(&self, keys: &[String]) -> Result<(), StoreError> {
        let what = match keys {
            [key] => format!("removing {key}"),
            _ => format!("removing {} objects", keys.len()),
        };
        self.ask_many(&what, keys, |path| async move { self.client.delete(&path).await }).map(|_| ())
    }

    /// The order of a run rests on that, and a server that passes over the condition overwrites and says nothing.
    fn check_create_only(&self, key: &str) -> Result<(), StoreError> {
        if self.creates_only.load(Ordering::Relaxed) {
            return Ok(());
        }
        let what = format!("writing {key}");
        let refuse = |problem: String| {
            self.failed(format!(
                "its server has no create-only writes (PUT with If-None-Match: *), on which the order of a run rests: \
             {problem}; expected a server that has them (docs/SCALING.md)"
            ))
        };
        // The first of the two creates the object, unless an earlier process did.
        for _ in 0..2 {
            match self.put_new(&what, PROBE, PROBE_TEXT) {
                Ok(Answer::AlreadyThere { .. }) => {
                    self.creates_only.store(true, Ordering::Relaxed);
                    return Ok(());
                }
                Ok(Answer::Done(())) => {}
                Ok(Answer::NotFound) => return Err(self.no_bucket(&what)),
                Err(StoreError::Refused { status: Some(501), problem, .. }) => return Err(refuse(problem)),
                Err(error) => return Err(error),
            }
        }
        Err(refuse(format!("it created {PROBE} twice")))
    }
}

fn place(url: &str) -> String {
    format!("store {url}")
}

/// What precedes the status of an answer in an error's text.
const STATUS: &str = "non-2xx status code: ";

/// The status of the answer: 404 if there is no such object or bucket, 501 if the store lacks what it was asked for.
/// Where the client has no variant for a status it gives it only as text.
fn status(error: &Error) -> Option<u16> {
    match error {
        Error::NotFound { .. } => Some(404),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => Some(403),
        Error::NotImplemented { .. } => Some(501),
        error => error_chain(error).split_once(STATUS)?.1.get(..3)?.parse().ok(),
    }
}

/// Whether the store refused the request, or the client did. Timeouts, rate limits and server errors are temporary.
fn is_refusal(error: &Error) -> bool {
    status(error).is_some_and(|status| (300..500).contains(&status) && ![404, 408, 409, 425, 429].contains(&status))
        // The client's own types put these together with answers that are no HTTP.
        || ["redirect without LOCATION", "builder error"].iter().any(|text| error_chain(error).contains(text))
}

/// An error with its causes, on one line.
fn error_chain(error: &Error) -> String {
    let mut text = String::new();
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    for cause in causes.map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_start_matches(": ").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    use super::*;
    use crate::store::{Access, Location, Store, StoreWatch};

    const KEY: &str = "uploads/0000000000000001-000001.hupload";

    fn place() -> Location {
        Location::Bucket("memory://late/run".to_owned())
    }

    /// Does it on a thread of its own: the watch is asked within the runtime.
    fn elsewhere(work: fn(&Store)) {
        let open = || Store::open(&place(), Access::Write, RetryPolicy::default()).expect("a store");
        std::thread::spawn(move || work(&open())).join().expect("no panic");
    }

    /// The first attempt is not answered, is not there when it is looked for, and arrives before the third.
    #[derive(Default)]
    struct Late {
        writes: AtomicU32,
        reads: AtomicU32,
    }

    impl StoreWatch for Late {
        fn attempt(&self, operation: &Operation<'_>) -> FaultAction {
            let Operation::Request(what) = operation else { return FaultAction::Proceed };
            if what.starts_with("writing") {
                match self.writes.fetch_add(1, Ordering::Relaxed) {
                    0 => return FaultAction::FailAfterwards(std::io::ErrorKind::BrokenPipe.into()),
                    2 => elsewhere(|store| store.create(KEY, b"games").expect("created")),
                    _ => {}
                }
            } else if what.starts_with("reading") && self.reads.fetch_add(1, Ordering::Relaxed) == 0 {
                elsewhere(|store| store.remove(KEY).expect("removed"));
            }
            FaultAction::Proceed
        }
    }

    #[test]
    fn an_attempt_that_arrives_late_is_ours() {
        let retry = RetryPolicy { watch: Arc::new(Late::default()), ..RetryPolicy::default() };
        let store = Store::open(&place(), Access::Add, retry).expect("a store");
        store.create(KEY, b"games").expect("ours");
    }
}
