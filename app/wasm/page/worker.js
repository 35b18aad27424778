// The board's worker: hands requests to the program, lets it search while it has something to search, and tells events.

let program = null;
const early = [];
const text = new TextDecoder();
const bytes = new TextEncoder();
// Messages to itself let requests in between two slices, which a timer would delay.
const again = new MessageChannel();
// Whether such a message is under way: each leads to the next, so a second one would go round for as long.
let posted = false;
let timer = 0;

/** Puts bytes where the program reads them. */
function put(...parts) {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  let at = program.input(length);
  for (const part of parts) {
    new Uint8Array(program.memory.buffer, at, part.length).set(part);
    at += part.length;
  }
}

/** What the program has written. */
function output() {
  return text.decode(new Uint8Array(program.memory.buffer, program.output_at(), program.output_length()));
}

/** Does what a message asks for. */
function take(message) {
  const { number, ask, listen, leave } = message;
  if (ask) {
    put(bytes.encode(JSON.stringify(ask)));
    const status = program.ask();
    postMessage({ number, status, text: output() });
  } else if (listen !== undefined) {
    put(bytes.encode(listen));
    postMessage({ number, listener: program.listen() });
  } else if (leave) program.leave(leave);
}

/** Fetches a network that the program wants. */
async function fetchNetwork(name) {
  let file;
  let fetched = 1;
  try {
    const response = await fetch(`../networks/${name}.safetensors`);
    if (!response.ok) throw new Error(`the host answered ${response.status}`);
    file = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    file = bytes.encode(error.message);
    fetched = 0;
  }
  guarded(() => {
    const written = bytes.encode(name);
    put(written, file);
    program.network(written.length, fetched);
    run();
  });
}

/** Tells what there is to tell, searches for a while, and comes back when there is more to do. */
function run() {
  clearTimeout(timer);
  const pause = program.step();
  for (let listener = program.news(); listener; listener = program.news()) {
    const told = output();
    const end = told.indexOf("\n");
    postMessage({ listener, event: told.slice(0, end), data: told.slice(end + 1) });
  }
  while (program.wanted()) fetchNetwork(output());
  if (pause === 0 && !posted) {
    posted = true;
    again.port2.postMessage(null);
  } else if (pause > 0) timer = setTimeout(() => guarded(run), pause);
}

/** Says it when the program broke off: it cannot go on then. */
function guarded(work) {
  try {
    work();
  } catch (error) {
    program = null;
    postMessage({ broken: "worker.fault", reason: error.message });
    throw error;
  }
}

again.port1.onmessage = () => {
  posted = false;
  if (program) guarded(run);
};
onmessage = ({ data }) => {
  if (!program) return early.push(data);
  guarded(() => {
    take(data);
    run();
  });
};

async function begin() {
  const began = performance.now();
  const random = () => crypto.getRandomValues(new Uint32Array(1))[0];
  const outside = { env: { now: () => performance.now() - began, random } };
  try {
    const loaded = await WebAssembly.instantiateStreaming(fetch("hnefi.wasm"), outside).catch(async (error) => {
      // A host that does not name the file's kind.
      if (!(error instanceof TypeError)) throw error;
      return WebAssembly.instantiate(await (await fetch("hnefi.wasm")).arrayBuffer(), outside);
    });
    program = loaded.instance.exports;
  } catch (error) {
    postMessage({ broken: "worker.old", reason: error.message });
    return;
  }
  guarded(() => {
    for (const message of early.splice(0)) take(message);
    run();
  });
}

begin();
