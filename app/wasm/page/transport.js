// Where the board is: in a worker of this page. A server has another file of this name (app/page/transport.js)
// with the same functions.

import { t } from "./texts.js";

export const withoutFolders = null;
export const isServed = false;

const worker = new Worker("assets/worker.js");
const asked = new Map();
const listeners = new Map();
let count = 0;
let broken = null;

/** Gives everybody who waits the reason why there is no answer. */
function breakOff(reason) {
  broken ??= new Error(reason);
  for (const { refuse } of asked.values()) refuse(broken);
  asked.clear();
}

worker.addEventListener("message", ({ data }) => {
  if (data.event) return listeners.get(data.listener)?.(data.event, data.data);
  if (data.broken) return breakOff(t(data.broken, data));
  asked.get(data.number)?.answer(data);
  asked.delete(data.number);
});
worker.addEventListener("error", (event) =>
  breakOff(t("worker.broke", { reason: event.message ?? t("worker.notLoaded") })),
);

function tell(message) {
  if (broken) return Promise.reject(broken);
  return new Promise((answer, refuse) => {
    const number = ++count;
    asked.set(number, { answer, refuse });
    worker.postMessage({ ...message, number });
  });
}

/** Sends a request: its status, and its content as text. */
export function send(method, path, body = "") {
  const [bare, query = ""] = path.split("?");
  return tell({ ask: { method, path: bare, query, body } });
}

/** Listens to a game; see the server's file. Nothing is ever interrupted here. */
export function listen(id, { told, gone }) {
  let listener = null;
  let ended = false;
  tell({ listen: id })
    .then((answer) => {
      if (answer.listener === 0) return gone();
      listener = answer.listener;
      if (ended) worker.postMessage({ leave: listener });
      else listeners.set(listener, told);
    })
    .catch(gone);
  return () => {
    ended = true;
    if (listener === null) return;
    listeners.delete(listener);
    worker.postMessage({ leave: listener });
  };
}

// Once loaded the page works without a network. A newer version waits until the page is opened the next time; then it
// takes over before a game has begun.
if ("serviceWorker" in navigator) {
  const { serviceWorker } = navigator;
  serviceWorker
    .getRegistration()
    .then((known) => {
      if (known?.waiting) {
        serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
        known.waiting.postMessage("take over");
      }
      return serviceWorker.register("service-worker.js");
    })
    .catch(() => {
      /* without it the page works as long as there is a network */
    });
}
