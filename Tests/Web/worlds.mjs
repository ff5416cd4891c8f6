// Runs the simulations of board-worlds in a WebAssembly module, and passes bytes to its decoders.
//
// The page offers two functions to the test, worlds(kind, first, count) and decode(lines), which return lines of text.

import { imports } from "./imports.mjs";

let exports;
const { instance } = await WebAssembly.instantiateStreaming(fetch("worlds.wasm"), imports(() => exports.memory));
({ exports } = instance);
exports._initialize();

const memory = () => new Uint8Array(exports.memory.buffer);
const line = (address) => new TextDecoder().decode(memory().slice(address >>> 0, (address >>> 0) + exports.length()));

window.worlds = (kind, first, count) => {
  const lines = [];
  for (let seed = first; seed < first + count; seed += 1) lines.push(line(exports.world(BigInt(seed), kind)));
  return lines;
};

window.decode = (all) => all.map((digits) => {
  const bytes = Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  // The call can grow the memory, so its result is needed before the memory is read.
  const address = exports.input(bytes.length) >>> 0;
  memory().set(bytes, address);
  return line(exports.decode(bytes.length));
});
document.title = "ready";
