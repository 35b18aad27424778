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
 * Listens to a game: `told(name, data)` for every event, `lost(false)` while the connection stands and `lost(true)`
 * while it is interrupted, `gone()` when the game is not known any more. Returns a function that ends it.
 */
export function listen(id, { told, lost, gone }) {
  const stream = new EventSource(`api/games/${id}/events`);
  for (const name of ["state", "search"]) {
    stream.addEventListener(name, (event) => {
      lost(false);
      told(name, event.data);
    });
  }
  let ended = false;
  stream.addEventListener("error", () => {
    if (ended) return;
    if (stream.readyState === EventSource.CLOSED) gone();
    else lost(true);
  });
  return () => {
    ended = true;
    stream.close();
  };
}
