import { Violation, utf8 } from "./frames.mjs";
import { Connection } from "./connection.mjs";
import { LinkEnded, WebLink, makeIdentity } from "./weblink.mjs";

/** The codes after which the guest does not dial again (session.md 3.6). */
const FINAL = new Set([
  "kicked", "declined", "self", "withdrawn", "version-mismatch", "not-carried", "wrong-code", "not-known",
  "not-verified", "disconnected",
]);
/** The codes that are also final if the guest was never in the session. */
const FINAL_AT_FIRST = new Set(["full", "no-such-session", "protocol-error", "unknown-frame", "too-large"]);
/** The codes after which the guest dials again with the slow waits, because the gateway may admit it much later. */
const SLOW = new Set(["full", "left", "protocol-error", "unknown-frame", "too-large"]);
/** The wait after some codes, in ms. `replaced` means that another page has the same key. A code can be any text. */
const CODE_WAITS = { __proto__: null, "too-slow": 5_000, "too-fast": 5_000, replaced: 5_000, "locked-out": 60_000 };
/** The first wait after these codes (WEB-42), in ms. */
const FIRST_WAITS = { __proto__: null, "shutting-down": 1_000, "no-such-session": 1_000 };
/** The waits of LIV-3. After the time of fast retries, slow waits follow: 30 s, doubling up to 5 min. */
const WAITS = [200, 500, 1_000, 2_000, 5_000];
const FAST_RETRY_TIME = 60_000;
const SLOW_WAIT = 30_000;
const MAXIMUM_WAIT = 300_000;
/** The timeout of a WebSocket, if POST can be tried instead. */
const WEBSOCKET_TIMEOUT = 5_000;
const STABLE_TIME = 5_000;
/** The time without an answer after which an attempt to dial is ended, if the network or the page was suspended. */
const STALE = 1_000;
const MAXIMUM_NAME = 64;

/**
 * A guest in a session (web.md): it dials the gateway, and dials again when the link breaks.
 *
 * Each link begins a new incarnation (RSM-3): messages that were not acknowledged are lost, and all members leave and join
 * again. The board then catches up. Ids of members are hexadecimal digits. `onEvent(event)` receives events by `kind`:
 *
 * - `state`: `state` is "connecting", "open" (with the `name` of the session), "offline" (with `retryAt`, in ms as
 *   of `Date.now`; `code` is null or "timed-out" if the gateway cannot be reached, and "shutting-down" stays until the next
 *   connection), "refused" (final; `code` is the code of CLOSE), or "removed" (final: the host removed this guest).
 *   `message` is for the user.
 * - `joined` (`member`, `name`) and `left` (`member`). The first member that joins is the gateway.
 * - `message` (`member`, `bytes`, `isReliable`) and `resource` (`member`, `name`, `bytes`; complete and verified).
 * - `progress` (`member`, `name`, `received`, `size`), at most four times a second while a resource arrives.
 */
export class GuestSession {
  #options;
  #onEvent;
  #transport;
  #identity;
  #connection = null;
  #link = null;
  /** An `AbortController` that identifies the latest call of `connect`. Work for an earlier call ends without an event. */
  #run = null;
  #wasOpen = false;
  #isWoken = false;
  #wake = () => {};

  /**
   * `board` is the id in bytes, `codeKey` is K, `transport` is "auto", "websocket" or "post", and
   * `accepts(member, name, size)` decides whether an offered resource is received.
   */
  constructor({ transport = "auto", onEvent = () => {}, accepts = () => false, ...options }) {
    this.#onEvent = onEvent;
    this.#transport = transport;
    this.#options = { ...options, accepts };
    this.name = options.name ?? "";
  }

  /** Connects, and reconnects until `close` or a final refusal. Between two attempts, connects immediately. */
  connect() {
    if (this.#run) return this.#resume();
    const run = this.#run = new AbortController();
    const on = (target, name, handler) => target.addEventListener(name, handler, run);
    on(document, "resume", () => this.#resume());
    on(globalThis, "pageshow", ({ persisted }) => persisted && this.#resume());
    on(document, "visibilitychange", () => document.hidden || this.#resume());
    on(globalThis, "online", () => this.#resume());
    this.#dialAgain(run);
  }

  close() {
    this.#run?.abort();
    this.#run = null;
    this.leave();
    this.#connection = this.#link = null;
    this.#wake();
  }

  /** Leaves the session until the page is resumed, so that the other members see immediately that this guest has left. */
  leave() {
    this.#isWoken = false;
    if (this.#connection) this.#connection.close("left");
    else this.#link?.abort();
  }

  /** Dials immediately, or checks whether the open link still works, because the network or the page was suspended. */
  #resume() {
    if (this.#connection) return this.#connection.check();
    this.#isWoken = true;
    // Without a network, an attempt takes a long time to fail.
    if (performance.now() - this.#link?.readAt > STALE) this.#link.abort();
    this.#wake();
  }

  /** Sets the name for the next link; truncates a name that is too long. */
  set name(name) {
    const characters = Array.from(name.replaceAll("\0", ""));
    while (utf8(characters.join("")).length > MAXIMUM_NAME) characters.pop();
    this.#options.name = characters.join("") || "Guest";
  }

  /** Sends a reliable message to connected members. If more than 4 MiB wait, closes the link and dials again. */
  send(members, bytes) { this.#connection?.send(members, bytes); }

  sendDatagram(members, bytes) { this.#connection?.sendDatagram(members, bytes); }

  /** Sends a resource. The promise rejects with the code of session.md 8.2, or with `lost` if the member left. */
  sendResource(member, name, bytes) {
    return this.#connection ? this.#connection.bulk.send(member, name, bytes) : Promise.reject(new LinkEnded("lost"));
  }

  /** Disconnects a member that broke a rule of the board. It can join again with another incarnation. */
  reject(member, rule) { this.#connection?.reject(member, rule); }

  /** Asks for a link to show to others. The promise rejects if there is no connection. */
  async invitation(role) {
    if (!this.#connection) throw new LinkEnded();
    return this.#connection.invitation(role);
  }

  get hasUnsent() { return Boolean(this.#connection?.hasUnsent); }

  /** Reports an event. An error in the handler does not end the session. */
  #emit(event) {
    try {
      this.#onEvent(event);
    } catch (error) {
      reportError(error);
    }
  }

  async #dialAgain(run) {
    let attempts = 0, slowAttempts = 0, since = performance.now();
    let reason = {}, lastCode = null;
    const emit = (event) => this.#run === run && this.#emit(event);
    while (this.#run === run) {
      emit({ kind: "state", state: "connecting" });
      const { code, message, openedAt } = await this.#dial(run, emit);
      if (this.#run !== run) return;
      if (FINAL.has(code) || FINAL_AT_FIRST.has(code) && !this.#wasOpen) {
        // The handler of the event may call `connect` again.
        run.abort();
        this.#run = null;
        const state = code === "kicked" && openedAt ? "removed" : "refused";
        return this.#emit({ kind: "state", state, code, message });
      }
      // A link that breaks repeatedly counts as a failed attempt.
      const wasStable = openedAt && performance.now() - openedAt >= STABLE_TIME;
      if (wasStable) [attempts, slowAttempts, since, lastCode] = [0, 0, performance.now(), null];
      let wait;
      if (SLOW.has(code) || performance.now() - since > FAST_RETRY_TIME) {
        wait = Math.min(SLOW_WAIT * 2 ** slowAttempts++, MAXIMUM_WAIT);
      } else {
        // After an open link broke, the guest dials immediately.
        const first = code === lastCode ? null : FIRST_WAITS[code];
        wait = CODE_WAITS[code] ?? first ?? (wasStable ? 0 : WAITS[Math.min(attempts++, WAITS.length - 1)]);
      }
      lastCode = code;
      wait *= 1 + 0.3 * Math.random();
      // A gateway that has stopped serving browsers accepts no connections (WEB-42), so its reason still holds.
      if (openedAt || code && code !== "timed-out" || reason.code !== "shutting-down") reason = { code, message };
      emit({ kind: "state", state: "offline", ...reason, retryAt: Date.now() + wait });
      if (!this.#isWoken) {
        await new Promise((resolve) => {
          this.#wake = resolve;
          setTimeout(resolve, wait);
        });
      }
      this.#isWoken = false;
    }
  }

  /** Dials once. When the link has ended, returns the reason, and the time at which it opened. */
  async #dial(run, emit) {
    let link;
    try {
      this.#identity ??= await makeIdentity(this.#options.keys);
      link = await this.#openLink((link) => this.#run === run && (this.#link = link));
      const connection = await Connection.open(link, {
        ...this.#options, emit, identity: this.#identity, openLink: () => this.#openLink(),
        isPost: this.#transport === "post",
      });
      if (this.#run !== run) return link.close("left"), {};
      this.#connection = connection;
      this.#wasOpen = true;
      this.#isWoken = false;
      const openedAt = performance.now();
      emit({ kind: "state", state: "open", name: connection.sessionName });
      return { ...await connection.run(), openedAt };
    } catch (error) {
      if (!(error instanceof LinkEnded || error instanceof Violation)) console.error(error);
      link?.fail(error);
      return { code: error.code ?? null, message: error.message };
    } finally {
      if (this.#run === run) this.#connection = this.#link = null;
    }
  }

  /** Opens a link that has proved the guest's key. If a WebSocket fails before its first byte, POST is tried. */
  async #openLink(use = () => {}) {
    for (const kind of this.#transport === "auto" ? ["websocket", "post"] : [this.#transport]) {
      const isLast = kind !== "websocket" || this.#transport !== "auto";
      let link;
      try {
        link = new WebLink(kind, this.#options.origin);
        use(link);
        await link.open({ ...this.#options, identity: this.#identity }, isLast ? undefined : WEBSOCKET_TIMEOUT);
        this.#transport = kind;
        return link;
      } catch (error) {
        link?.fail(error);
        if (link?.hasBytes) this.#transport = kind;
        if (isLast || link?.hasBytes || this.#isWoken) throw error;
      }
    }
  }
}
