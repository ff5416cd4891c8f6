import { Violation } from "./frames.mjs";
import { Connection } from "./connection.mjs";
import { LinkEnded, WebLink, makeIdentity } from "./weblink.mjs";

/** The codes after which the guest never dials again by itself (session.md 3.6). */
const FINAL = new Set([
  "kicked", "declined", "self", "withdrawn", "version-mismatch", "not-carried", "wrong-code", "not-known",
  "not-verified", "disconnected",
]);
/** The codes that are final as long as the guest was never in the session. */
const FINAL_AT_FIRST = new Set(["full", "no-such-session", "protocol-error", "unknown-frame", "too-large"]);
/** The codes after which the gateway may serve the board again much later. The guest learns of that only by dialing. */
const SLOW = new Set(["full", "left", "protocol-error", "unknown-frame", "too-large"]);
/** The first wait after some codes, in ms. `replaced` means that another page has the same key. */
const FIRST_WAITS = {
  "shutting-down": 1_000, "too-slow": 5_000, "too-fast": 5_000, replaced: 5_000, "locked-out": 60_000,
};
/** The waits of LIV-3. After a minute the slow waits follow: 30 s, doubling up to 5 min. */
const WAITS = [200, 500, 1_000, 2_000, 5_000];
const PATIENCE = 60_000;
const SLOW_WAIT = 30_000;
const MAXIMUM_WAIT = 300_000;
/** How long a WebSocket may take if POST can be tried instead. */
const WEBSOCKET_PATIENCE = 5_000;

/**
 * A guest in a session (web.md): it dials the gateway, and dials again when the link breaks.
 *
 * Each link begins a new incarnation (RSM-3): what was not acknowledged is lost, all members leave, and they join
 * again. The board then catches up. Ids of members are hexadecimal digits. `onEvent(event)` receives events by `kind`:
 *
 * - `state`: `state` is "connecting", "open", "offline" (with `retryAt`, in ms as of `Date.now`), "refused" (final;
 *   `code` is the code of CLOSE), or "removed" (final: the host removed this guest). `message` is for the user.
 * - `joined` (`member`, `name`) and `left` (`member`). The first member that joins is the gateway.
 * - `message` (`member`, `bytes`, `isReliable`) and `resource` (`member`, `name`, `bytes`; complete and verified).
 * - `progress` (`member`, `name`, `received`, `size`), at most four times a second while a resource arrives.
 * - `delivered`: the gateway, and each member behind it that is still there, has everything that was sent.
 */
export class GuestSession {
  #options;
  #onEvent;
  #transport;
  #identity;
  /** The `PeerID` of the gateway that proved that it knows the code. */
  #proved = null;
  #connection = null;
  #link = null;
  #isRunning = false;
  #isClosed = true;
  #wasOpen = false;
  #wake = () => {};
  #listeners = null;

  /**
   * @param {string} options.origin - The origin of the page, such as `https://192.168.1.5:26443`.
   * @param {Uint8Array} options.board - The id of the board.
   * @param {CryptoKeyPair} options.keys - The guest's key pair, ECDSA P-256.
   * @param {CryptoKey} options.codeKey - K; an HMAC key that may sign.
   * @param {string} options.name - The display name, 1 to 64 bytes.
   * @param {"auto" | "websocket" | "post"} options.transport
   * @param {(member: string, name: string, size: number) => boolean | Promise<boolean>} options.accepts - Decides
   *   whether an offered resource is received.
   */
  constructor({ transport = "auto", onEvent = () => {}, accepts = () => false, ...options }) {
    this.#onEvent = onEvent;
    this.#transport = transport;
    this.#options = { ...options, accepts };
  }

  /** Connects, and reconnects until `close` or a final refusal. */
  connect() {
    this.#isClosed = false;
    this.#wake();
    if (!this.#isRunning) this.#run();
  }

  /** Leaves the session. No event follows. */
  close() {
    this.#isClosed = true;
    if (this.#connection) this.#connection.close("left");
    else this.#link?.abort();
    this.#wake();
  }

  /** Sets the name that the next link shows. */
  set name(name) { this.#options.name = name; }

  /**
   * Sends a reliable message. Members that are not connected are skipped.
   *
   * If more than 4 MiB wait, the link is closed, and the members catch up over a new one. Look at `bufferedBytes` first.
   */
  send(members, bytes) { this.#connection?.send(members, bytes); }

  /** Sends a message that may get lost, such as the position of a cursor. */
  sendDatagram(members, bytes) { this.#connection?.sendDatagram(members, bytes); }

  /**
   * Sends a resource.
   *
   * @param {Uint8Array | Blob} bytes
   * @returns {Promise<void>} Resolves when the member has the bytes; rejects with an error with a `code` (session.md
   *   8.2), or with the code `lost` if the member left.
   */
  sendResource(member, name, bytes) {
    return this.#connection ? this.#connection.bulk.send(member, name, bytes) : Promise.reject(new LinkEnded("lost"));
  }

  /** The bytes of messages that are not acknowledged. */
  get bufferedBytes() { return this.#connection?.bufferedBytes ?? 0; }

  // Dialing

  #emit(event) {
    if (!this.#isClosed) this.#onEvent(event);
  }

  async #run() {
    this.#isRunning = true;
    this.#listen(true);
    try {
      await this.#dialAgain();
    } finally {
      this.#isRunning = false;
      this.#listen(false);
    }
    // `connect` may have been called after `close`, before the last link had ended.
    if (!this.#isClosed) this.#run();
  }

  async #dialAgain() {
    let attempts = 0, slowAttempts = 0, since = performance.now();
    while (!this.#isClosed) {
      this.#emit({ kind: "state", state: "connecting" });
      const { code, message, wasOpen } = await this.#dial();
      if (this.#isClosed) return;
      if (FINAL.has(code) || FINAL_AT_FIRST.has(code) && !this.#wasOpen) {
        const state = code === "kicked" && wasOpen ? "removed" : "refused";
        // The page may call `connect` again in answer to the event.
        this.#isClosed = true;
        return this.#onEvent({ kind: "state", state, code, message });
      }
      if (wasOpen) [attempts, slowAttempts, since] = [0, 0, performance.now()];
      let wait;
      if (SLOW.has(code) || performance.now() - since > PATIENCE) {
        wait = Math.min(SLOW_WAIT * 2 ** slowAttempts++, MAXIMUM_WAIT);
      } else if (FIRST_WAITS[code]) {
        wait = FIRST_WAITS[code];
      } else {
        // After an open link broke, the guest dials at once.
        wait = wasOpen ? 0 : WAITS[Math.min(attempts++, WAITS.length - 1)];
      }
      wait *= 1 + 0.3 * Math.random();
      this.#emit({ kind: "state", state: "offline", code, message, retryAt: Date.now() + wait });
      await this.#sleep(wait);
    }
  }

  /** Dials once, and returns when the link has ended: why, and whether it was open. */
  async #dial() {
    let wasOpen = false;
    try {
      this.#identity ??= await makeIdentity(this.#options.keys);
      const link = await this.#openLink();
      const options = {
        ...this.#options, identity: this.#identity, emit: (event) => this.#emit(event),
        openLink: () => this.#openLink(false), isPost: this.#transport === "post",
      };
      const isProved = this.#proved !== null && String(link.gateway) === this.#proved;
      let connection;
      try {
        connection = await Connection.open(link, options, isProved);
      } catch (error) {
        link.fail(error);
        throw error;
      }
      if (this.#isClosed) return connection.close("left"), {};
      this.#proved = String(link.gateway);
      this.#connection = connection;
      this.#wasOpen = wasOpen = true;
      this.#emit({ kind: "state", state: "open" });
      return { ...await connection.run(), wasOpen };
    } catch (error) {
      if (!(error instanceof LinkEnded || error instanceof Violation)) console.error(error);
      return { code: error.code ?? null, message: error.message, wasOpen };
    } finally {
      this.#connection = this.#link = null;
    }
  }

  /** Opens a link that has proved the guest's key. If a WebSocket fails before its first byte, POST is tried. */
  async #openLink(isControl = true) {
    for (const kind of this.#transport === "auto" ? ["websocket", "post"] : [this.#transport]) {
      const isLast = kind !== "websocket" || this.#transport !== "auto";
      const link = new WebLink(kind, this.#options.origin);
      if (isControl) this.#link = link;
      try {
        await link.open({ ...this.#options, identity: this.#identity }, isLast ? undefined : WEBSOCKET_PATIENCE);
        this.#transport = kind;
        return link;
      } catch (error) {
        link.fail(error);
        if (link.hasBytes) this.#transport = kind;
        if (isLast || link.hasBytes || this.#isClosed) throw error;
      }
    }
  }

  /** Waits until the time has passed, or until the network or the page is back. */
  #sleep(wait) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#isClosed) this.#wake();
    });
  }

  #listen(isOn) {
    this.#listeners ??= [
      [globalThis, "online", () => this.#wake()],
      [globalThis.document, "visibilitychange", () => document.hidden || this.#wake()],
    ];
    for (const [target, name, listener] of this.#listeners) {
      if (isOn) target?.addEventListener(name, listener);
      else target?.removeEventListener(name, listener);
    }
  }
}
