//! The thread that reads: every line is understood at once, also while the other thread is busy.

use std::io::{BufRead, Read};
use std::time::Instant;

use super::command::{Command, parse, shown};
use super::output::Output;
use super::queue::CommandQueue;

/// A longer line is no command. The longest games recorded have some hundred moves of six letters at most.
const LINE_BYTES: u64 = 1 << 20;

/// Reads until `quit`, the end, or a failure, which is the end as well.
pub(super) fn read(mut input: impl BufRead, queue: &CommandQueue, output: &Output) {
    let mut line = Vec::new();
    let mut debug = false;
    loop {
        line.clear();
        match input.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return queue.hang_up(),
            Ok(_) => {}
        }
        let received = Instant::now();
        if line.len() as u64 == LINE_BYTES && line.last() != Some(&b'\n') {
            output.info(&format!("a line of more than {LINE_BYTES} bytes is left out"));
            if !skip_line(&mut input) {
                return queue.hang_up();
            }
            continue;
        }
        let text = String::from_utf8_lossy(&line);
        if debug {
            output.info(&format!("received {}", shown(text.trim_end())));
        }
        match parse(&text) {
            Err(problem) => output.info(&problem),
            // An engine that costs nothing passes over what registers it.
            Ok(None | Some(Command::Register)) => {}
            Ok(Some(Command::Debug(on))) => debug = on,
            Ok(Some(Command::Quit)) => return queue.quit(),
            Ok(Some(Command::Stop)) => queue.stop(),
            Ok(Some(Command::PonderHit)) => queue.ponder_hit(),
            // The answer to a client that asks whether we are still there. Without a search it waits for its turn, so
            // that everything asked for before has been done by then.
            Ok(Some(Command::IsReady)) if queue.is_searching() => output.lines(["readyok"]),
            Ok(Some(command)) => {
                if !queue.push(command, line.len(), received) {
                    output.info("too many commands wait for the search to end; this one is left out");
                }
            }
        }
    }
}

/// Reads up to the end of the line without keeping anything; false at the end of the input.
fn skip_line(input: &mut impl BufRead) -> bool {
    loop {
        let (used, found) = match input.fill_buf() {
            Ok([]) | Err(_) => return false,
            Ok(bytes) => match bytes.iter().position(|&byte| byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            },
        };
        input.consume(used);
        if found {
            return true;
        }
    }
}
