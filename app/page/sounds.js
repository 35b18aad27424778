// Sounds of wood, made here and off until somebody wants them.

import { flag, read, write } from "./store.js";

const box = document.getElementById("sound");
let context = null;

box.checked = read("sound", flag, false);
box.addEventListener("change", () => {
  write("sound", box.checked);
  if (box.checked) knock(0);
});

/** A tone that dies away: pitch in hertz, when it begins and how long it lasts in seconds. */
function tone(pitch, begins, lasts, loudness, kind = "triangle") {
  context ??= new AudioContext();
  const at = context.currentTime + begins;
  const [source, volume] = [context.createOscillator(), context.createGain()];
  source.type = kind;
  source.frequency.setValueAtTime(pitch, at);
  source.frequency.exponentialRampToValueAtTime(pitch / 2, at + lasts);
  volume.gain.setValueAtTime(loudness, at);
  volume.gain.exponentialRampToValueAtTime(0.001, at + lasts);
  source.connect(volume).connect(context.destination);
  source.start(at);
  source.stop(at + lasts);
}

/** A piece put down. */
function knock(begins, pitch = 240) {
  tone(pitch, begins, 0.09, 0.5);
  tone(pitch * 3.1, begins, 0.03, 0.2, "square");
}

/** What is heard when a state follows another of the same game. */
export function hear(old, state) {
  if (!box.checked || old?.id !== state.id || old.ply === state.ply) return;
  if (state.ending && !old.ending)
    [220, 277, 330].forEach((pitch, index) => tone(pitch, 0.15 + index * 0.12, 0.7, 0.3));
  knock(0);
  if (state.ply > old.ply) state.last?.captured.forEach((_, index) => knock(0.11 + index * 0.07, 150));
}

/** A second of the last ones. */
export function tick() {
  if (box.checked) tone(900, 0, 0.03, 0.15, "square");
}
