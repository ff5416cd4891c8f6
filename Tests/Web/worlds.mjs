// Runs the simulated worlds of board-worlds in a WebAssembly, and passes bytes to its decoders.
//
// The page offers two functions to the test, worlds(kind, first, count) and decode(lines), which return lines of text.

let instance;
const memory = () => new Uint8Array(instance.exports.memory.buffer);

/** The functions of WASI that the C library refers to. */
const wasi = {
  random_get(address, count) {
    crypto.getRandomValues(memory().subarray(address, address + count));
    return 0;
  },
  // The text of a fatal error.
  fd_write(_, vectors, count, written) {
    const view = new DataView(instance.exports.memory.buffer);
    let total = 0;
    for (let index = 0; index < count; index += 1) {
      const start = view.getUint32(vectors + 8 * index, true);
      const length = view.getUint32(vectors + 8 * index + 4, true);
      console.error(new TextDecoder().decode(memory().slice(start, start + length)));
      total += length;
    }
    view.setUint32(written, total, true);
    return 0;
  },
  fd_close: () => 0,
  fd_seek: () => 0,
};

const line = (address) => new TextDecoder().decode(memory().slice(address, address + instance.exports.length()));

window.worlds = (kind, first, count) => {
  const lines = [];
  for (let seed = first; seed < first + count; seed += 1) lines.push(line(instance.exports.world(BigInt(seed), kind)));
  return lines;
};

window.decode = (all) => all.map((digits) => {
  const bytes = Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const address = instance.exports.input(bytes.length);
  memory().set(bytes, address);
  return line(instance.exports.decode(bytes.length));
});

const loaded = await WebAssembly.instantiateStreaming(fetch("worlds.wasm"), { wasi_snapshot_preview1: wasi });
instance = loaded.instance;
instance.exports._initialize();
document.title = "ready";
