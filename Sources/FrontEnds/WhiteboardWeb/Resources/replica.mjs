import { join, utf8 } from "./frames.mjs";
import { fromHex, hex } from "./ids.mjs";
import { imports } from "./imports.mjs";

const KINDS = [
  null, "sign", "verifyKey", "verifySignature", "send", "sendDatagram", "record", "sendAnswer", "sendAsset", "data",
  "event", "error", "result",
];
/** The maximum number of bytes in an edit; a longer edit could use up the memory. */
const EDIT_BYTES = 4 << 20;
/** The maximum time in milliseconds by which other work delays work that is not urgent. */
const LATEST = 50;
const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** Calls a function between two frames, or soon in a browser that does not know when the page is idle. */
export const whenIdle = (body) => globalThis.requestIdleCallback ? requestIdleCallback(body, { timeout: LATEST }) : setTimeout(body);

/** Creates the key of an author. Scripts cannot read the private key. */
export const newKey = () => crypto.subtle.generateKey(ECDSA, false, ["sign", "verify"]);

/**
 * A replica of a board, which signs and verifies with WebCrypto.
 *
 * The owner reports events to the replica, and performs its actions: `perform(action)` is called for each, in order. An action
 * has a `kind`: `send` and `sendDatagram` (`members`, `bytes`), `record` (`bytes`, which `restore` takes, and `isOwn` for
 * a local batch), `sendAnswer` (`member`, `name`, `bytes`), `sendAsset` (`member`, `name`, `sha256`), `data`, `event`
 * (`value`, JSON for the user), `failed` (`error`; the replica has stopped), or `done` at the end of each call.
 * Ids of members are hexadecimal digits.
 */
export class BoardReplica {
  #exports;
  #perform;
  #timer;
  /** Performing an action can cause more calls, whose actions follow. */
  #actions = [];
  #isPerforming = false;
  #isClosed = false;
  /** Whether a tick follows as soon as the page is idle. */
  #isWaiting = false;
  #pending = new Set();
  failure = null;
  /** Whether reports may be late, because the page shows moved lines without them. */
  isPatient = false;

  constructor(exports, key, perform) {
    this.#exports = exports;
    this.key = key;
    this.#perform = perform;
  }

  /**
   * Creates the replica of an empty board.
   * `board` is the id in bytes, and `key` is from `newKey`.
   */
  static async create(module, board, key, perform) {
    let memory;
    const instance = await WebAssembly.instantiate(module, imports(() => memory));
    memory = instance.exports.memory;
    instance.exports._initialize();
    const replica = new BoardReplica(instance.exports, key, perform);
    // The id is the hash of the key in its DER form (AUT-3).
    const der = await crypto.subtle.exportKey("spki", key.publicKey);
    replica.member = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", der)));
    const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", key.publicKey));
    const input = new Uint8Array([...board, ...publicKey]);
    if (!replica.#call("start", input, input.length)) throw new Error("the board id or the key is not valid");
    return replica;
  }

  memberJoined(member) { this.#call("memberChanged", fromHex(member), 1); }
  memberLeft(member) { this.#call("memberChanged", fromHex(member), 0); }
  received(member, bytes, isReliable = true) {
    const input = join(fromHex(member), bytes);
    this.#call("received", input, input.length, isReliable ? 1 : 0);
  }
  receivedAnswer(member, request, bytes) {
    const input = join(fromHex(member), bytes);
    this.#call("receivedAnswer", input, input.length, request);
  }
  answerFailed(member, request) { this.edit({ do: "answerFailed", member, request }); }
  answerSent(member, request) { this.#call("answerSent", fromHex(member), request); }

  accepts(member, name, size) {
    const input = join(fromHex(member), utf8(name));
    return Boolean(this.#call("accepts", input, input.length, size));
  }
  progressed(member, name) {
    const input = join(fromHex(member), utf8(name));
    this.#call("progressed", input, input.length);
  }

  /**
   * Restores the stored changes that are not damaged, in the order in which they were recorded, before the first member
   * joins.
   */
  restore(changes) {
    for (const change of changes) this.#call("restore", change, change.length, 0);
    this.#call("restore", EMPTY, 0, 1);
  }

  readAll() { this.#call("readAll", EMPTY); }

  /** Returns the board as one stored change; null while a signature is being made. */
  keyframe() {
    if (this.#isClosed || this.#isPerforming) return null;
    this.#exports.keyframe();
    return parse(this.#output())[0]?.bytes ?? null;
  }

  /**
   * Makes an edit; `Editing.swift` has the commands.
   *
   * @returns {object|null} `{ids}`, or `{code}` if the edit was refused; null if the replica has stopped.
   */
  edit(command) {
    const input = utf8(JSON.stringify(command));
    if (input.length > EDIT_BYTES) return { code: "too-long" };
    return this.#call("edit", input, input.length);
  }

  /** Creates a photo from its bytes and their SHA-256; returns the same as `edit`. */
  createPhoto(hash, bytes, x, y) {
    const input = join(bytes, hash);
    return this.#call("createPhoto", input, input.length, x, y);
  }

  isExpectedPhoto(member, sha256, bytes) {
    const input = join(bytes, fromHex(member), fromHex(sha256));
    return Boolean(this.#call("isExpectedPhoto", input, input.length));
  }

  assetStored(sha256, byteCount = -1) { this.edit({ do: "assetStored", sha256, byteCount }); }
  assetLost(sha256) { this.edit({ do: "assetLost", sha256 }); }
  assetSent(member, sha256) { this.edit({ do: "assetSent", member, sha256 }); }
  assetFailed(member, sha256) { this.edit({ do: "assetFailed", member, sha256 }); }
  assetUnavailable(member, sha256) { this.edit({ do: "assetUnavailable", member, sha256 }); }
  purge() { this.edit({ do: "purge" }); }
  /** Prepares to leave: signs the changes that other members have received. */
  leave() { this.edit({ do: "leave" }); }

  get undoState() {
    if (this.#isClosed) return null;
    const bits = this.#exports.undoState();
    return { canUndo: Boolean(bits & 1), canRedo: Boolean(bits & 2) };
  }

  /** Whether the replica has more changes to report. */
  get isReporting() { return !this.#isClosed && this.#exports.nextDeadline() === 0; }

  /**
   * `{isConfirmed, isSynced}`: whether one other member has the same changes, and whether all members have the same changes
   * and photos. Null if the replica has stopped. This takes longer than a change, so do not call it after each change.
   */
  get syncState() {
    if (this.#isClosed) return null;
    const bits = this.#exports.syncState(Date.now(), performance.now());
    return { isConfirmed: Boolean(bits & 1), isSynced: Boolean(bits & 2) };
  }

  get digest() {
    this.#exports.digest();
    return hex(this.#output());
  }

  async settled() {
    while (this.#pending.size) await Promise.all(this.#pending);
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #output() {
    const { memory, output, outputCount } = this.#exports;
    return new Uint8Array(memory.buffer, output() >>> 0, outputCount()).slice();
  }

  /**
   * Calls an export with an input, the values, and both clocks, and performs the actions.
   *
   * Returns the result of an edit, or the result of the export if there is none.
   */
  #call(name, input, ...values) {
    if (this.#isClosed) return null;
    let result, actions;
    try {
      const address = this.#exports.input(input.length) >>> 0;
      new Uint8Array(this.#exports.memory.buffer, address, input.length).set(input);
      result = this.#exports[name](...values, Date.now(), performance.now());
      actions = parse(this.#output());
    } catch (error) {
      this.#fail(error);
      return null;
    }
    if (["result", "error"].includes(actions[0]?.kind)) result = actions.shift().value;
    this.#actions.push(...actions);
    if (this.#isPerforming) return result;
    this.#isPerforming = true;
    try {
      while (this.#actions.length) this.#handle(this.#actions.shift());
    } finally {
      this.#isPerforming = false;
    }
    this.#schedule();
    this.#perform({ kind: "done" });
    return result;
  }

  #fail(error) {
    this.failure = error;
    this.close();
    this.#perform({ kind: "failed", error });
  }

  #schedule() {
    clearTimeout(this.#timer);
    const due = this.#exports.nextDeadline(), tick = () => this.#call("tick", EMPTY);
    if (due < 0 || this.#isClosed || this.#isWaiting) return;
    // The replica has more changes to report, which must not delay frames.
    if (due === 0) {
      this.#isWaiting = true;
      const continued = () => whenIdle(() => {
        this.#isWaiting = false;
        tick();
      });
      return this.isPatient ? setTimeout(continued, LATEST) : continued();
    }
    // Timers in browsers cannot wait longer than 2^31 ms.
    const wait = Math.min(Math.max(0, due - performance.now()), 1e9);
    this.#timer = setTimeout(tick, wait);
  }

  #handle(action) {
    const bytes = action.bytes;
    switch (action.kind) {
      case "sign":
        this.#answer(
          crypto.subtle.sign(ECDSA, this.key.privateKey, bytes),
          (signature) => this.#call("signed", new Uint8Array(signature), action.request),
        );
        break;
      case "verifyKey":
        this.#answer(
          importKey(bytes).then(() => true, () => false),
          (isValid) => this.#call("verified", EMPTY, action.request, isValid ? 1 : 0),
        );
        break;
      case "verifySignature": {
        const [signature, key, signed] = [bytes.slice(0, 64), bytes.slice(64, 129), bytes.slice(129)];
        this.#answer(
          importKey(key).then((key) => crypto.subtle.verify(ECDSA, key, signature, signed), () => false),
          (isValid) => this.#call("verified", EMPTY, action.request, isValid ? 1 : 0),
        );
        break;
      }
      default: this.#perform(action);
    }
  }

  #answer(promise, use) {
    const pending = promise.then(use)
      // Without the answer, the replica would wait forever.
      .catch((error) => this.#fail(error))
      .finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
  }
}

const importKey = (bytes) => crypto.subtle.importKey("raw", bytes, ECDSA, false, ["verify"]);

const EMPTY = new Uint8Array();
const JSON_KINDS = new Set(["event", "error", "result"]);

function parse(bytes) {
  const view = new DataView(bytes.buffer);
  const text = new TextDecoder();
  const actions = [];
  let position = 0;
  while (position < bytes.length) {
    const kind = KINDS[bytes[position]];
    const count = view.getUint32(position + 1, true);
    const start = position + 5;
    position = start + count;
    // These actions are frequent, so their bytes are not copied.
    if (JSON_KINDS.has(kind)) {
      actions.push({ kind, value: JSON.parse(text.decode(bytes.subarray(start, position))) });
      continue;
    }
    const content = bytes.slice(start, position);
    const member = () => hex(content.slice(0, 32));
    switch (kind) {
      case "sign": case "verifyKey": case "verifySignature":
        actions.push({ kind, request: view.getInt32(start, true), bytes: content.slice(4) });
        break;
      case "send": case "sendDatagram": {
        const end = 4 + 32 * view.getUint32(start, true);
        const members = [];
        for (let at = 4; at < end; at += 32) members.push(hex(content.slice(at, at + 32)));
        actions.push({ kind, members, bytes: content.slice(end) });
        break;
      }
      case "sendAnswer": {
        const end = 36 + view.getUint32(start + 32, true);
        const name = JSON.parse(text.decode(content.slice(36, end)));
        actions.push({ kind, member: member(), name, bytes: content.slice(end) });
        break;
      }
      case "sendAsset":
        actions.push({
          kind, member: member(), sha256: hex(content.slice(32, 64)), name: JSON.parse(text.decode(content.slice(64))),
        });
        break;
      case "data":
        actions.push({ kind, member: member(), isReliable: content[32] === 1, bytes: content.slice(33) });
        break;
      // The number in a record says whether a batch is local; StoredChange.swift has the kinds.
      case "record":
        actions.push({ kind, bytes: content, isOwn: content[0] === 1 && content[16] === 1 });
        break;
      default: actions.push({ kind, bytes: content });
    }
  }
  return actions;
}
