/**
 * A session with one other member, whose board runs in a worker of the same page.
 *
 * The test server sends this file instead of the real `session.mjs`, so that the page needs no host.
 */
export class GuestSession {
  bufferedBytes = 0;
  #options;
  #worker = null;
  /** The number of calls of `connect`. */
  dials = 0;
  /** The functions that wait for the results of calls, in order. */
  #calls = [];

  constructor(options) {
    this.#options = options;
    globalThis.otherMember = this;
  }

  async connect() {
    this.dials += 1;
    if (this.#worker) return;
    const { board, keys, onEvent } = this.#options;
    onEvent({ kind: "state", state: "connecting" });
    const key = await crypto.subtle.exportKey("spki", keys.publicKey);
    const id = Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", key)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.#worker = new Worker("member.mjs", { type: "module" });
    this.#worker.onmessage = ({ data }) => {
      if (data.kind === "called") return this.#calls.shift()(data);
      if (data.kind === "joined") onEvent({ kind: "state", state: "open" });
      onEvent(data);
    };
    const [strokes, forms] = ["strokes", "forms"].map((name) => Number(sessionStorage.getItem(name) ?? 0));
    this.#worker.postMessage({ start: { board, id, strokes, forms } });
  }

  /** Passes an event to the board as if the session had reported it. */
  report(event) { this.#options.onEvent(event); }

  /** Starts or stops the drawing of the other member. */
  draw(isDrawing) { this.#worker.postMessage({ isDrawing }); }

  /** Changes a text as the other member. */
  setText(id, text) { this.#worker.postMessage({ id, text }); }

  /** Calls a method of the other member's board; returns `{result, digest, error?}`, with the digest after the call. */
  call(method, ...values) {
    return new Promise((done) => {
      this.#calls.push(done);
      this.#worker.postMessage({ call: [method, ...values] });
    });
  }

  /** The members that the board rejected. */
  rejected = [];
  reject(member) {
    this.rejected.push(member);
    this.report({ kind: "left", member });
  }

  leave() {}
  close() { this.#worker?.terminate(); }
  send(_, bytes) { this.#worker.postMessage({ kind: "message", bytes, isReliable: true }); }
  sendDatagram(_, bytes) { this.#worker.postMessage({ kind: "message", bytes, isReliable: false }); }
  async sendResource(_, name, bytes) { this.#worker.postMessage({ kind: "resource", name, bytes }); }
}
