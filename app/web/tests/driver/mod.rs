//! A browser driven through `chromedriver`, by the few commands of the WebDriver protocol that are needed here.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::request;

/// The plies that the page lists.
pub const PLIES: &str = "document.querySelectorAll('#moves button.ply').length";

/// Whether the person is to move, or the game is over.
pub const MY_TURN: &str = "document.querySelector('.squares .movable') || document.querySelector('.status.ended')";

/// The name WebDriver gives to the field that holds an element's id.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A headless browser with one page.
pub struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser; without one the test fails.
    pub fn start() -> Browser {
        // On a busy machine Chromium now and then ends before it has begun.
        let started = (0..3).find_map(|_| Browser::try_start());
        started.expect("chromium and chromedriver, such as Debian's packages chromium and chromium-driver")
    }

    fn try_start() -> Option<Browser> {
        let mut driver =
            Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let mut lines = BufReader::new(driver.stdout.take()?).lines();
        let port: u16 = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok())?;
        // The rest of what it says is read away, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let profile = tempfile::tempdir().ok()?;
        let data = format!("--user-data-dir={}", profile.path().display());
        let arguments =
            ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", &data];
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let mut browser = Browser { driver, address, session: String::new(), _profile: profile };
        let reply = request(address, "POST", "/session", &[], Some(&capabilities.to_string()));
        browser.session = reply.json()["value"]["sessionId"].as_str()?.to_owned();
        Some(browser)
    }

    fn command(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        self.attempt(method, path, body).unwrap_or_else(|problem| panic!("{method} {path}: {problem}"))
    }

    /// What the browser answers, or its error in full.
    fn attempt(&self, method: &str, path: &str, body: Option<Value>) -> Result<Value, Value> {
        let path = format!("/session/{}{path}", self.session);
        let reply = request(self.address, method, &path, &[], body.map(|body| body.to_string()).as_deref());
        let answer = reply.json()["value"].take();
        if reply.status == 200 { Ok(answer) } else { Err(answer) }
    }

    fn chrome(&self, command: &str, parameters: Value) {
        self.command("POST", "/goog/cdp/execute", Some(json!({ "cmd": command, "params": parameters })));
    }

    /// Goes to a page.
    pub fn open(&self, url: &str) {
        self.command("POST", "/url", Some(json!({ "url": url })));
    }

    /// The tab in which everything goes on.
    pub fn tab(&self) -> String {
        self.command("GET", "/window", None).as_str().expect("a tab").to_owned()
    }

    /// Goes on in another tab, which is in front of all others then.
    pub fn show_tab(&self, tab: &str) {
        self.command("POST", "/window", Some(json!({ "handle": tab })));
        self.chrome("Page.bringToFront", json!({}));
    }

    /// Goes to a page in a new tab.
    pub fn open_tab(&self, url: &str) {
        let tab = self.command("POST", "/window/new", Some(json!({ "type": "tab" })));
        self.show_tab(tab["handle"].as_str().expect("a tab"));
        self.open(url);
    }

    /// Sets the size of the page, with `scale` dots per pixel.
    pub fn size(&self, width: u32, height: u32, scale: f32) {
        let phone = width.min(height) < 500;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone });
        self.chrome("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Lets everything come slowly, as over a telephone's network.
    pub fn slow(&self) {
        self.chrome("Network.enable", json!({}));
        let network =
            json!({ "offline": false, "latency": 60, "downloadThroughput": 600_000, "uploadThroughput": 300_000 });
        self.chrome("Network.emulateNetworkConditions", network);
    }

    /// Pretends that the person prefers this, such as `prefers-color-scheme` and `dark`.
    pub fn prefer(&self, name: &str, value: &str) {
        self.chrome("Emulation.setEmulatedMedia", json!({ "features": [{ "name": name, "value": value }] }));
    }

    /// What a script returns.
    pub fn run(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", Some(json!({ "script": script, "args": [] })))
    }

    /// What a script returns to its last argument.
    pub fn run_later(&self, script: &str) -> Value {
        self.command("POST", "/execute/async", Some(json!({ "script": script, "args": [] })))
    }

    /// Waits until a script returns something true.
    pub fn until(&self, script: &str) -> Value {
        let patience = Instant::now() + Duration::from_secs(40);
        loop {
            let found = self.run(&format!("return {script};"));
            let is_empty = matches!(&found, Value::String(text) if text.is_empty());
            if !is_empty && !matches!(found, Value::Null | Value::Bool(false)) {
                return found;
            }
            assert!(Instant::now() < patience, "waited in vain for {script}\n{}", self.text("body"));
            std::thread::sleep(Duration::from_millis(60));
        }
    }

    /// The text of the first element that a selector finds.
    pub fn text(&self, selector: &str) -> String {
        let found = self.run(&format!("return document.querySelector({}).innerText;", json!(selector)));
        found.as_str().unwrap_or_default().to_owned()
    }

    /// The first element that a selector finds; one that is not there yet is waited for.
    fn element(&self, selector: &str) -> String {
        let patience = Instant::now() + Duration::from_secs(5);
        loop {
            let query = json!({ "using": "css selector", "value": selector });
            match self.attempt("POST", "/element", Some(query)) {
                Ok(found) => return found[ELEMENT].as_str().expect("an element").to_owned(),
                Err(problem) => assert!(
                    problem["error"] == "no such element" && Instant::now() < patience,
                    "no {selector}: {problem}\n{}",
                    self.text("body")
                ),
            }
            std::thread::sleep(Duration::from_millis(60));
        }
    }

    /// Waits until an element keeps its place from one frame to the next.
    ///
    /// A page that has just changed its size, or opened a panel, moves on for some frames. The driver aims at the
    /// middle of the element and may press what has come there meanwhile, without an error.
    fn rest(&self, selector: &str) {
        let moved = self.run_later(&format!(
            "const done = arguments[arguments.length - 1]; let last = '', same = 0, frames = 0; \
             const look = () => {{ const place = JSON.stringify(document.querySelector({})?.getBoundingClientRect()); \
               same = place === last ? same + 1 : 0; last = place; frames += 1; \
               if (same >= 2 || frames > 300) done(same < 2); else requestAnimationFrame(look); }}; look();",
            json!(selector)
        ));
        assert_eq!(moved, false, "{selector} never rests");
    }

    /// Presses an element with the mouse, as a person would: it must be there and in nothing's shade.
    ///
    /// An answer of the server may move the page between the moment at which the driver looks for the element and the
    /// moment at which it presses. The driver then reports what it would have pressed instead, and a person aims again.
    pub fn click(&self, selector: &str) {
        self.element(selector);
        self.rest(selector);
        let patience = Instant::now() + Duration::from_secs(5);
        while let Err(problem) =
            self.attempt("POST", &format!("/element/{}/click", self.element(selector)), Some(json!({})))
        {
            let moved = ["element click intercepted", "element not interactable", "stale element reference"]
                .iter()
                .any(|kind| problem["error"] == *kind);
            assert!(moved && Instant::now() < patience, "click on {selector}: {problem}\n{}", self.around(selector));
            // What lies below a board that keeps its place is scrolled to.
            let place = format!("document.querySelector({})?.scrollIntoView({{ block: 'center' }});", json!(selector));
            self.run(&place);
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// An element and what it lies in, outermost last: name, whether it is drawn, and where.
    fn around(&self, selector: &str) -> String {
        let lines = self.run(&format!(
            "const lines = []; \
             for (let at = document.querySelector({}); at; at = at.parentElement) {{ \
               const {{ x, y, width, height }} = at.getBoundingClientRect(); \
               const {{ display, visibility, overflow }} = getComputedStyle(at); \
               const names = [at.tagName, at.id, at.className, display, visibility, overflow]; \
               lines.push([...names, x, y, width, height].join(' ')); }} \
             return lines.join('\\n');",
            json!(selector)
        ));
        lines.as_str().unwrap_or_default().to_owned()
    }

    /// Writes a value into a field or chooses it in a list, as a person's hand would.
    pub fn choose(&self, selector: &str, value: &str) {
        self.run(&format!(
            "const field = document.querySelector({}); field.value = {}; \
             for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{ bubbles: true }}));",
            json!(selector),
            json!(value)
        ));
    }

    /// Presses a button until its dialog is open.
    pub fn open_dialog(&self, button: &str, dialog: &str) {
        self.press_until_open(button, dialog);
    }

    /// Presses a panel's head until the panel is open.
    pub fn open_panel(&self, panel: &str) {
        self.press_until_open(&format!("{panel} summary"), panel);
    }

    /// Presses an element until what it opens is open; nothing is pressed where it is open already.
    ///
    /// A press that hits nothing, because the page moved under the mouse, gives no error; a person presses again.
    fn press_until_open(&self, button: &str, opened: &str) {
        let script = format!("return Boolean(document.querySelector('{opened}')?.open);");
        let is_open = || self.run(&script) == true;
        for _ in 0..5 {
            if is_open() {
                return;
            }
            self.click(button);
            let patience = Instant::now() + Duration::from_secs(3);
            while Instant::now() < patience && !is_open() {
                std::thread::sleep(Duration::from_millis(60));
            }
        }
        assert!(is_open(), "{button} does not open {opened}\n{}", self.text("body"));
    }

    /// Types into an element.
    pub fn type_into(&self, selector: &str, text: &str) {
        self.command("POST", &format!("/element/{}/value", self.element(selector)), Some(json!({ "text": text })));
    }

    /// Does what the devices are told: keys, a wheel, a finger, as WebDriver writes it.
    pub fn act(&self, devices: &Value) {
        self.command("POST", "/actions", Some(json!({ "actions": devices })));
    }

    /// Turns the wheel over an element by `pixels`.
    pub fn wheel(&self, selector: &str, pixels: i32) {
        let origin = json!({ ELEMENT: self.element(selector) });
        let turn = json!({
            "type": "scroll", "x": 0, "y": 0, "deltaX": 0, "deltaY": pixels, "duration": 0, "origin": origin
        });
        // A wheel that is turned fast skips: the page lets it rest between two steps.
        let rest = json!({ "type": "pause", "duration": 150 });
        self.act(&json!([{ "type": "wheel", "id": "wheel", "actions": [turn, rest] }]));
    }

    /// Presses an element with a button of the mouse (2 is the right one) or rests a finger on it for so long.
    pub fn press(&self, selector: &str, kind: &str, button: u8, rest: Duration) {
        let origin = json!({ ELEMENT: self.element(selector) });
        let actions = json!([
            { "type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": origin },
            { "type": "pointerDown", "button": button },
            { "type": "pause", "duration": rest.as_millis() as u64 },
            { "type": "pointerUp", "button": button },
        ]);
        self.act(&json!([
            { "type": "pointer", "id": kind, "parameters": { "pointerType": kind }, "actions": actions }
        ]));
    }

    /// Drags the mouse from one element to another.
    pub fn drag(&self, from: &str, to: &str) {
        self.drag_by(from, to, 0);
    }

    /// The same with another button of the mouse: 0 is the left, 2 the right one.
    pub fn drag_by(&self, from: &str, to: &str, button: u8) {
        let at = |selector: &str| json!({ ELEMENT: self.element(selector) });
        let go =
            |selector: &str| json!({ "type": "pointerMove", "duration": 120, "x": 0, "y": 0, "origin": at(selector) });
        let actions = [
            go(from),
            json!({ "type": "pointerDown", "button": button }),
            go(to),
            json!({ "type": "pointerUp", "button": button }),
        ];
        let mouse =
            json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions });
        self.act(&json!([mouse]));
    }

    /// Fails if the page has complained in the console since this was asked last.
    pub fn check_console(&self) {
        self.check_console_but(&[]);
    }

    /// The same, but for messages that hold one of these texts.
    pub fn check_console_but(&self, expected: &[&str]) {
        let entries = self.command("POST", "/se/log", Some(json!({ "type": "browser" })));
        let entries = entries.as_array().cloned().unwrap_or_default();
        let is_bad = |entry: &&Value| {
            let message = entry["message"].as_str().unwrap_or_default();
            let grave = ["SEVERE", "WARNING"].contains(&entry["level"].as_str().unwrap_or_default());
            grave && !expected.iter().any(|text| message.contains(text))
        };
        let bad: Vec<&Value> = entries.iter().filter(is_bad).collect();
        assert!(bad.is_empty(), "the console says {bad:#?}");
    }

    /// What the page keeps under a key; null where it keeps nothing.
    pub fn stored(&self, key: &str) -> Value {
        self.run(&format!("return JSON.parse(localStorage.getItem('hnefi.{key}'));"))
    }

    /// Gives the game up unless it is over, and has it reviewed to the end.
    pub fn end_and_review(&self) {
        const ENDED: &str = "Boolean(document.querySelector('.status.ended'))";
        if self.run(&format!("return {ENDED};")) == false {
            self.click("#resign");
            self.click("#resign-now");
            self.until(ENDED);
        }
        self.click("#review");
        self.until("document.querySelector('#review-body .sides') && !document.querySelector('#review-body progress')");
    }

    /// Waits until the person is to move, or the game is over.
    pub fn my_turn(&self) {
        self.until(MY_TURN);
    }

    /// Moves some piece that can be moved by pressing it and a square it may go to.
    pub fn some_move(&self, number: usize) {
        let plies = self.run(&format!("return {PLIES};"));
        for class in [".squares .movable", ".squares .reachable"] {
            let pick = format!(
                "const all = [...document.querySelectorAll('{class}')]; return all[{number} % all.length].dataset.square;"
            );
            self.click(&format!("[data-square=\"{}\"]", self.run(&pick).as_str().expect("a square")));
        }
        self.until(&format!("{PLIES} > {plies}"));
    }

    /// Keeps a picture of the page in the folder that `HNEFI_PICTURES` names, where it names one.
    pub fn keep_picture(&self, name: &str) {
        if let Some(folder) = std::env::var_os("HNEFI_PICTURES") {
            // Tests run in the crate's folder; the name is meant from the workspace's.
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
            std::fs::create_dir_all(&folder).expect("a folder for pictures");
            // Pieces come to rest.
            std::thread::sleep(Duration::from_millis(700));
            self.picture(&folder.join(name));
        }
    }

    fn picture(&self, path: &Path) {
        let found = self.command("GET", "/screenshot", None);
        std::fs::write(path, base64(found.as_str().expect("a picture"))).expect("written");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            request(self.address, "DELETE", &format!("/session/{}", self.session), &[], None);
        }
        // It may have gone by itself.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Bytes from base 64.
fn base64(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> =
        text.bytes().filter(|letter| letter.is_ascii_alphanumeric() || b"+/".contains(letter)).collect();
    let group = |four: &[u8]| {
        let bits = four
            .iter()
            .enumerate()
            .fold(0_u32, |bits, (place, &letter)| bits | u32::from(value(letter)) << (18 - 6 * place));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    letters.chunks(4).flat_map(group).collect()
}
