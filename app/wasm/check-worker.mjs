// Holds the page's worker to one message to itself at a time, however many requests come while the program searches.
//
//     node app/wasm/check-worker.mjs

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setImmediate as rest } from "node:timers/promises";
import { createContext, runInContext } from "node:vm";

let underWay = 0;
let most = 0;
class Channel {
  port1 = {};
  port2 = {
    postMessage: () => {
      most = Math.max(most, ++underWay);
      setImmediate(() => {
        underWay--;
        this.port1.onmessage();
      });
    },
  };
}

// A program that has something to search until it is told to end.
let steps = 0;
let ended = false;
const nothing = () => 0;
const step = () => {
  steps++;
  return ended ? -1 : 0;
};
const memory = new WebAssembly.Memory({ initial: 1 });
const texts = { memory, input: nothing, output_at: nothing, output_length: nothing };
const program = { ...texts, ask: () => 200, news: nothing, wanted: nothing, step };

let answers = 0;
const worker = createContext({
  MessageChannel: Channel,
  TextDecoder,
  TextEncoder,
  WebAssembly: { instantiateStreaming: async () => ({ instance: { exports: program } }) },
  clearTimeout,
  fetch: nothing,
  performance,
  postMessage: ({ status }) => (answers += Number(status === 200)),
});
runInContext(readFileSync(new URL("page/worker.js", import.meta.url), "utf8"), worker);

const requests = 20;
for (let number = 1; number <= requests; number++) {
  worker.onmessage({ data: { number, ask: { method: "GET", path: "/api/setup" } } });
  await rest();
}
const before = steps;
for (let turn = 0; turn < 10; turn++) await rest();
assert.equal(answers, requests);
assert.ok(steps >= before + 5, `the search goes on: ${steps - before} slices in ten turns`);
assert.equal(most, 1, "messages of the worker to itself at once");
ended = true;
