// Playouts a second of the page's program in V8, which Chromium and Node share: an analysis of the start position.
//
//     node wasm/measure.mjs FOLDER [RULES] [SECONDS]
//
// FOLDER is a folder that scripts/build-site.sh has made. `cargo run --release --example measure` in wasm/ measures the
// same searches by the same code in a native program.

import { readFileSync } from "node:fs";

const [folder, rules = "copenhagen", seconds = "10"] = process.argv.slice(2);
// Processor time, so that a busy machine does not count; Node's compiler of WebAssembly is in it. The program is shown
// a clock of its own, by which a slice has a hundred playouts: a busy machine would give it a few.
const used = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
let clock = 0;
const outside = { env: { now: () => (clock += 0.4), random: () => 1 } };
const { instance } = await WebAssembly.instantiate(readFileSync(`${folder}/assets/hnefi.wasm`), outside);
const program = instance.exports;

const put = (...parts) => {
  const whole = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const at = program.input(whole.length);
  new Uint8Array(program.memory.buffer, at, whole.length).set(whole);
};
const output = () => Buffer.from(program.memory.buffer, program.output_at(), program.output_length()).toString();
const ask = (method, path, body) => {
  put(JSON.stringify({ method, path, body: JSON.stringify(body ?? {}) }));
  const status = program.ask();
  if (status !== 200) throw new Error(`${path}: ${output()}`);
  return JSON.parse(output());
};

const { id } = ask("POST", "/api/games", { rules, attackers: {}, defenders: {} });
put(id);
program.listen();
ask("POST", `/api/games/${id}/analysis`, { on: true });
let report = null;
let warm = null;
const end = used() + Number(seconds);
while (used() < end) {
  program.step();
  while (program.wanted()) {
    const name = output();
    put(name, readFileSync(`${folder}/networks/${name}.safetensors`));
    program.network(Buffer.byteLength(name), 1);
  }
  while (program.news()) {
    const told = output();
    if (told.startsWith("search\n")) report = JSON.parse(told.slice(7));
    // By then the program is compiled for speed.
    if (report?.playouts < 1000) warm = { playouts: report.playouts, used: used() };
  }
}
const playouts = report.playouts - warm.playouts;
const busy = used() - warm.used;
console.log(`${rules}: ${Math.round(playouts / busy)} playouts a second (${playouts} in ${busy.toFixed(1)} s)`);
