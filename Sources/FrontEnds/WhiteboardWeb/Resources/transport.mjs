/**
 * The two ways to carry the bytes of a web link (web.md). Both call `events.onBytes(bytes)` for the bytes that
 * arrive, and `events.onEnd(violation)` once at the end; `violation` is a text if the gateway broke a rule.
 */

const MAXIMUM_BODY = 262_144;
const POST_ATTEMPTS = 4;
const POST_WAIT = 200;
const CLOSING = 2_000;

export const openTransport = (kind, origin, events) =>
  kind === "post" ? new PostTransport(origin, events) : new WebSocketTransport(origin, events);

class WebSocketTransport {
  #socket;
  #end;

  constructor(origin, events) {
    this.#end = (violation) => {
      this.#end = () => {};
      this.#socket.onmessage = null;
      this.#socket.close();
      events.onEnd(violation);
    };
    const socket = this.#socket = new WebSocket(`${origin.replace(/^http/, "ws")}/link`, "whiteboard-p2p");
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.#end("a text message");
      else events.onBytes(new Uint8Array(data));
    };
    socket.onclose = () => this.#end();
  }

  /**
   * Sends the bytes of one frame, so that no message exceeds the limit of the gateway. After the last frame, call
   * `close`.
   */
  send(bytes) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(bytes);
  }

  get bufferedBytes() { return this.#socket.bufferedAmount; }

  close() { this.#end(); }

  abort() { this.#end(); }
}

class PostTransport {
  #address;
  #events;
  #id = null;
  #waiting = [];
  #position = 0;
  #isSending = false;
  #isClosing = false;
  #isEnded = false;
  #abort = new AbortController();
  bufferedBytes = 0;

  constructor(origin, events) {
    this.#address = `${origin}/link`;
    this.#events = events;
    this.#receive();
  }

  send(bytes, isLast = false) {
    if (this.#isClosing || this.#isEnded) return;
    this.#isClosing = isLast;
    this.#waiting.push(bytes);
    this.bufferedBytes += bytes.length;
    this.#flush();
  }

  close() {
    if (!this.#id) return this.#end();
    this.#isClosing = true;
    this.#flush();
    setTimeout(() => this.#end(), CLOSING);
  }

  abort() { this.#end(); }

  #end() {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#abort.abort();
    this.#events.onEnd();
  }

  #post(path, options) {
    return fetch(this.#address + path, {
      method: "POST", cache: "no-store", credentials: "omit", redirect: "error", signal: this.#abort.signal, ...options,
    });
  }

  async #receive() {
    try {
      const response = await this.#post("");
      const id = response.headers.get("Whiteboard-Link");
      if (response.status === 200 && /^[a-z2-7]{26}$/.test(id)) {
        this.#id = id;
        const reader = response.body.getReader();
        for (let part = await reader.read(); !part.done; part = await reader.read()) this.#events.onBytes(part.value);
      }
    } catch { /* The connection broke, or this side ended it. */ }
    this.#end();
  }

  async #flush() {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#waiting.length && !this.#isEnded) {
      const parts = [];
      let count = 0;
      while (this.#waiting.length && count + this.#waiting[0].length <= MAXIMUM_BODY) {
        count += this.#waiting[0].length;
        parts.push(this.#waiting.shift());
      }
      const body = new Uint8Array(count);
      parts.reduce((position, part) => (body.set(part, position), position + part.length), 0);
      if (!await this.#deliver(body)) this.#end();
      this.bufferedBytes -= count;
    }
    this.#isSending = false;
    if (this.#isClosing) this.#end();
  }

  /** Sends a body until the gateway has received it. Returns false if the link has ended. */
  async #deliver(body) {
    for (let attempt = 0; attempt < POST_ATTEMPTS && !this.#isEnded; attempt++) {
      try {
        const response = await this.#post(`/${this.#id}`, {
          headers: { "Content-Type": "application/octet-stream", "Whiteboard-Position": String(this.#position) }, body,
          // With `keepalive`, the browser sends the last CLOSE even if the user closes the page.
          keepalive: this.#isClosing && body.length < 60_000,
        });
        if (response.status === 204) {
          this.#position += body.length;
          return true;
        }
        if (response.status === 429) {
          // The gateway has an earlier body, and does not read now (WEB-20).
          attempt = 0;
          throw response;
        }
        // An earlier attempt may have arrived, even if its answer was lost.
        const received = Number(response.headers.get("Whiteboard-Position") ?? NaN) - this.#position;
        if (response.status !== 409 || !(received >= 0 && received <= body.length)) return false;
        this.#position += received;
        body = body.subarray(received);
        if (!body.length) return true;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, POST_WAIT));
      }
    }
    return false;
  }
}
