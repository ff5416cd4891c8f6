/** Returns the imports of the WebAssembly module from `Sources/FrontEnds/WhiteboardWasm/build`; `memory()` returns its memory. */
export const imports = (memory) => ({
  whiteboard: {
    random: (start, count) => crypto.getRandomValues(new Uint8Array(memory().buffer, start >>> 0, count)),
  },
});
