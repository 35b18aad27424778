// Playouts a second of the page's program in V8, which Chromium and Node share: an analysis of the start position.
//
//     node wasm/measure.mjs FOLDER [RULES] [SECONDS]
//
// FOLDER is a folder that scripts/build-site.sh has made. `cargo run --release --example measure` in wasm/ measures the
// same searches by the same code in a native program.

import { readFileSync } from "node:fs";

const [folder, rules = "copenhagen", seconds = "10"] = process.argv.slice(2);
const outside = { env: { now: () => performance.now() } };
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

program.begin(1);
const { id } = ask("POST", "/api/games", { rules, attackers: {}, defenders: {} });
put(id);
program.listen();
ask("POST", `/api/games/${id}/analysis`, { on: true });
let report = null;
const end = performance.now() + Number(seconds) * 1000;
while (performance.now() < end) {
  program.step();
  while (program.wanted()) {
    const name = output();
    put(name, readFileSync(`${folder}/networks/${name}.safetensors`));
    program.network(Buffer.byteLength(name), 1);
  }
  while (program.news()) {
    const told = output();
    if (told.startsWith("search\n")) report = JSON.parse(told.slice(7));
  }
}
console.log(`${rules}: ${Math.round(report.playouts / report.seconds)} playouts/s (${report.playouts} in ${report.seconds.toFixed(1)} s)`);
