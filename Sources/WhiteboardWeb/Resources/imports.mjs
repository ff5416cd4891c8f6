/** Returns the imports of a WebAssembly that `Sources/WhiteboardWasm/build` makes; `memory()` returns its memory. */
export const imports = (memory) => ({
  whiteboard: {
    random: (start, count) => crypto.getRandomValues(new Uint8Array(memory().buffer, start >>> 0, count)),
  },
});
