//! Trying out a GPU in a process of its own.
//!
//! Drivers are other people's code inside this process. One that meets a kernel it cannot handle while burn tries out
//! which is fastest may end the process by a signal, and nothing here can catch that. So the first use of a device is
//! made by another process, whose end is seen in every case.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hnefi_inference::DeviceChoice;

/// A command that ends well where the device does, and says on standard error what is wrong otherwise.
type Trial = fn(DeviceChoice) -> Option<Command>;

/// The trials of a program: how it makes one, and the devices with what their trials came to.
#[derive(Debug, Default)]
pub(super) struct Trials {
    command: Option<Trial>,
    tried: Mutex<Vec<(DeviceChoice, Result<(), String>)>>,
}

/// How long a trial may take; a software driver on a busy machine takes a minute.
const LIMIT: Duration = Duration::from_secs(600);

/// How often its end is looked for.
const LOOK: Duration = Duration::from_millis(10);

/// The most of what it says that is repeated, in bytes.
const SAID: usize = 400;

impl Trials {
    /// Trials by this command; `None` from it tries out nothing.
    pub(super) fn by(command: Trial) -> Trials {
        Trials { command: Some(command), tried: Mutex::default() }
    }

    /// Whether the device has passed its trial, made now if it is the first time. A CPU needs none.
    ///
    /// # Errors
    /// How the trial ended and what it said.
    pub(super) fn passed(&self, device: DeviceChoice) -> Result<(), String> {
        if !device.is_gpu() {
            return Ok(());
        }
        // Held during the trial, so that threads that open one device make one trial.
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, result)) = tried.iter().find(|(known, _)| *known == device) {
            return result.clone();
        }
        let Some(command) = self.command.and_then(|command| command(device)) else { return Ok(()) };
        let named = format!("device {device}: ");
        let result = run(command, LIMIT).map_err(|problem| problem.trim_start_matches(&named).to_owned());
        tried.push((device, result.clone()));
        result
    }
}

/// Runs a trial to its end.
fn run(mut command: Command, limit: Duration) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("it could not be tried out: {error}"))?;
    let said = child.stderr.take().map(|pipe| std::thread::spawn(move || last_words(pipe)));
    let ended = end_of(&mut child, limit);
    let said = said.and_then(|thread| thread.join().ok()).unwrap_or_default();
    match ended {
        Ok(Some(status)) if status.success() => Ok(()),
        // Its own words, as they would stand here.
        Ok(Some(status)) if status.code() == Some(1) && !said.is_empty() => Err(said),
        Ok(Some(status)) => Err(format!("its driver failed on trial: {status}{}", after_colon(&said))),
        Ok(None) => {
            Err(format!("its driver was not done with its trial after {} s{}", limit.as_secs(), after_colon(&said)))
        }
        Err(error) => Err(format!("its trial could not be followed: {error}")),
    }
}

fn after_colon(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; the last it said: {said}") }
}

/// How the child ended, `None` when it had to be ended for taking too long.
fn end_of(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

/// The last line that is not empty, without the `error:` of a command.
fn last_words(mut pipe: impl Read) -> String {
    let (mut kept, mut part) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = pipe.read(&mut part) {
        kept.extend_from_slice(&part[..read]);
        // Drivers may say much; the end counts.
        let surplus = kept.len().saturating_sub(part.len());
        kept.drain(..surplus);
    }
    let text = String::from_utf8_lossy(&kept);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.trim_start_matches("error: ").chars().filter(|letter| !letter.is_control()).take(SAID).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn trial(script: &str) -> Result<(), String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, Duration::from_secs(20))
    }

    #[test]
    fn a_driver_that_takes_its_process_along_is_an_error() {
        assert_eq!(trial("echo trying; echo trying >&2"), Ok(()));
        assert_eq!(
            trial("echo 'compiling reduce_kernel' >&2; kill -SEGV $$").unwrap_err().replace(" (core dumped)", ""),
            "its driver failed on trial: signal: 11 (SIGSEGV); the last it said: compiling reduce_kernel"
        );
        assert_eq!(trial("exit 101").unwrap_err(), "its driver failed on trial: exit status: 101");
        assert_eq!(trial("echo 'error: no such device found' >&2; exit 1").unwrap_err(), "no such device found");
    }

    #[test]
    fn a_driver_that_hangs_is_an_error_and_one_that_floods_is_read() {
        let mut command = Command::new("sleep");
        command.arg("60");
        let problem = run(command, Duration::from_millis(50)).unwrap_err();
        assert!(problem.contains("not done with its trial"), "{problem}");
        assert_eq!(
            trial("yes | head -c 1000000 >&2; echo end >&2; exit 3").unwrap_err().split(": ").last(),
            Some("end")
        );
    }

    #[test]
    fn a_program_that_cannot_be_started_is_an_error() {
        let problem = run(Command::new("/nowhere/at/all"), LIMIT).unwrap_err();
        assert!(problem.starts_with("it could not be tried out: "), "{problem}");
    }
}
