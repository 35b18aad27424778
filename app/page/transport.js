// Where the board is: at the server that sent this page. The page without a server has another file of this name
// (app/wasm/page/transport.js) with the same functions.

import { t } from "./texts.js";

/** What the page says where games could be opened from folders and there are none; null where a file is asked for. */
export const withoutFolders = "hnefi play --web --run runs/quick --games FOLDER";

/** Whether other people can reach the board, too. */
export const isServed = true;

/** Sends a request: its status, and its content as text. */
export async function send(method, path, body) {
  const options = { method };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = body;
  }
  try {
    const response = await fetch(path.slice(1), options);
    return { status: response.status, text: await response.text() };
  } catch {
    throw new Error(t("frame.silent"));
  }
}

/**
 * A stream of events while somebody sees the page, or `isNeeded()`: all tabs of a browser together have six connections
 * to a server, and every stream holds one. `connect(stream)` is called for each that is opened. Returns a function that
 * ends it, and one that looks whether it is still needed. The page without a server has no such streams.
 */
export function streamWhileSeen(path, connect, isNeeded = () => false) {
  let stream = null;
  let ended = false;
  const look = () => {
    if (!ended && (!document.hidden || isNeeded())) {
      // A stream that was refused does not come back by itself.
      if (!stream || stream.readyState === EventSource.CLOSED) connect((stream = new EventSource(path)));
    } else {
      stream?.close();
      stream = null;
    }
  };
  document.addEventListener("visibilitychange", look);
  look();
  const end = () => {
    ended = true;
    document.removeEventListener("visibilitychange", look);
    look();
  };
  return [end, look];
}

/**
 * Listens to a game: `told(name, data)` for every event, `lost(false)` while the connection stands and `lost(true)`
 * while it is interrupted, `gone()` when the game is not known any more. A page that nobody sees listens only where
 * `isNeeded()`. Returns a function that ends it.
 */
export function listen(id, { told, lost, gone, isNeeded }) {
  const connect = (stream) => {
    for (const name of ["state", "search"]) {
      stream.addEventListener(name, (event) => {
        lost(false);
        told(name, event.data);
        look();
      });
    }
    stream.addEventListener("error", () => {
      if (stream.readyState === EventSource.CLOSED) gone();
      else lost(true);
    });
  };
  const [end, look] = streamWhileSeen(`api/games/${id}/events`, connect, isNeeded);
  return end;
}
