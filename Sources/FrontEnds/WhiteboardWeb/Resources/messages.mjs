import { Violation, decodeVint, join, malformed, parseObject, vint } from "./frames.mjs";
import { fromHex } from "./ids.mjs";

const FIRST = 1, LAST = 2, AT_ONCE = 4, RELAYED = 8;
const MAXIMUM_MESSAGE = 16_777_216;
const MAXIMUM_RELAYED = MAXIMUM_MESSAGE + 64;
const PART = 60_000;

/** Splits messages into numbered parts, and counts the parts that are not acknowledged (session.md 6). */
export class Outbox {
  byteCount = 0;
  #waiting = [];
  /** The message that is being sent, and the number of its bytes that were sent. */
  #current = null;
  #position = 0;
  #sequence = 0;
  #unacknowledged = [];
  #pace;

  constructor(pace) { this.#pace = pace; }

  /** Adds a message. `copies` is the number of members to which a relay forwards it; 0 if it is for the gateway. */
  push(bytes, { isRelayed = false, copies = 0 } = {}) {
    if (bytes.length > (isRelayed ? MAXIMUM_RELAYED : MAXIMUM_MESSAGE)) throw new RangeError("the message is too long");
    this.#waiting.push({ bytes, isRelayed, copies });
    this.byteCount += bytes.length;
  }

  /** Returns the payload of the next part, or null if there is none or if the pace does not allow it yet. */
  next(now) {
    if (!this.#current) {
      if (!this.#waiting.length || this.#waiting[0].copies && !this.#pace.allows(now)) return null;
      this.#current = this.#waiting.shift();
      this.#position = 0;
      const { bytes, copies } = this.#current;
      if (copies) this.#pace.use(copies, bytes.length * copies);
    }
    const { bytes, isRelayed } = this.#current;
    const start = this.#position;
    const end = Math.min(start + PART, bytes.length);
    const isFirst = start === 0, isLast = end === bytes.length;
    const flags = (isFirst ? FIRST | (isRelayed ? RELAYED : 0) : 0) | (isLast ? LAST : 0);
    this.#sequence++;
    this.#unacknowledged.push(end - start);
    this.#position = end;
    if (isLast) this.#current = null;
    const total = isFirst && !isLast ? vint(bytes.length) : new Uint8Array();
    return join(vint(this.#sequence), flags, total, bytes.subarray(start, end));
  }

  get isWaiting() { return this.#waiting.length > 0 || this.#current !== null; }

  get isEmpty() { return !this.isWaiting && !this.#unacknowledged.length; }

  /** Handles the payload of an ACK (MSG-4). */
  acknowledge(payload) {
    const number = decodeVint(payload);
    if (number?.end !== payload.length || number.value > this.#sequence) throw malformed("an ACK that is not valid");
    while (this.#sequence - this.#unacknowledged.length < number.value) this.byteCount -= this.#unacknowledged.shift();
  }
}

/** Limits the data that a relay forwards for this member to 90 % of the relay's limits (RLY-14). */
export class Pace {
  #passes;
  #copies;
  #bytes;
  #time = 0;

  constructor({ copies, bytes }) {
    this.#passes = { copies: copies * 0.9, bytes: bytes * 0.9 };
    this.#copies = this.#passes.copies;
    this.#bytes = this.#passes.bytes;
  }

  allows(now) {
    const seconds = Math.max(0, now - this.#time) / 1000;
    this.#time = now;
    this.#copies = Math.min(this.#passes.copies, this.#copies + seconds * this.#passes.copies);
    this.#bytes = Math.min(this.#passes.bytes, this.#bytes + seconds * this.#passes.bytes);
    // A message may exceed the remaining amounts; the next message then waits longer.
    return this.#copies > 0 && this.#bytes > 0;
  }

  use(copies, bytes) {
    this.#copies -= copies;
    this.#bytes -= bytes + 64 * copies;
  }
}

/** Assembles messages from their parts (session.md 6). */
export class Inbox {
  received = 0;
  #parts = null;
  #missing = 0;
  #isRelayed = false;
  #acknowledged = 0;
  #unacknowledgedBytes = 0;

  /**
   * Handles the payload of a MESSAGE.
   *
   * @returns {{message: Uint8Array | null, isRelayed: boolean, isUrgent: boolean}} The message, if it is now complete,
   *   and whether the ACK must be sent immediately (MSG-4).
   */
  receive(payload) {
    const number = decodeVint(payload);
    if (!number?.value || number.end >= payload.length) throw malformed("a MESSAGE that is not valid");
    const flags = payload[number.end];
    const isFirst = (flags & FIRST) !== 0, isLast = (flags & LAST) !== 0;
    let start = number.end + 1;
    if (flags >= 16 || flags & RELAYED && !isFirst) throw malformed("a MESSAGE with unknown flags");
    const isRelayed = isFirst ? (flags & RELAYED) !== 0 : this.#isRelayed;
    const limit = isRelayed ? MAXIMUM_RELAYED : MAXIMUM_MESSAGE;
    let total = payload.length - start;
    if (isFirst && !isLast) {
      const read = decodeVint(payload, start);
      if (!read) throw malformed("a MESSAGE without its length");
      if (read.value > limit) throw new Violation("too-large", `a message of ${read.value} bytes`);
      total = read.value;
      start = read.end;
    }
    const bytes = payload.slice(start);
    if (!bytes.length && !isFirst && !isLast) throw malformed("an empty part");
    // A part that arrived before is dropped (MSG-3).
    if (number.value <= this.received) return { message: null, isRelayed, isUrgent: (flags & AT_ONCE) !== 0 };
    if (number.value !== this.received + 1) throw malformed("a part is missing");
    if (isFirst !== !this.#parts) throw malformed("a first part within a message, or none at its beginning");
    if (isFirst) [this.#parts, this.#missing, this.#isRelayed] = [[], total, isRelayed];
    this.#missing -= bytes.length;
    if (this.#missing < 0 || isLast && this.#missing > 0) throw malformed("a message of the wrong length");
    this.#parts.push(bytes);
    this.received = number.value;
    this.#unacknowledgedBytes += bytes.length;
    const isUrgent = (flags & AT_ONCE) !== 0 || this.received - this.#acknowledged >= 256
      || this.#unacknowledgedBytes >= 262_144;
    if (!isLast) return { message: null, isRelayed, isUrgent };
    const message = this.#parts.length === 1 ? bytes : join(...this.#parts);
    this.#parts = null;
    return { message, isRelayed, isUrgent };
  }

  acknowledgement() {
    this.#acknowledged = this.received;
    this.#unacknowledgedBytes = 0;
    return vint(this.received);
  }
}

// Messages between a member and a relay (session.md 11.2)

const MAXIMUM_ROUTE = 255;

function bitmap(routes) {
  const bytes = new Uint8Array(Math.floor(Math.max(...routes) / 8) + 1);
  for (const route of routes) bytes[route >> 3] |= 1 << (route & 7);
  return join(bytes.length, bytes);
}

/** Encodes the messages of a member. Ids of peers are hexadecimal digits. */
export const toRelay = {
  reach: (peer, incarnation) => join(1, fromHex(peer), incarnation),
  unreach: (peer, end) => join(2, fromHex(peer), end),
  free: (route) => join(3, vint(route)),
  send: (routes, bytes) => join(4, bitmap(routes), bytes),
  confirm: (routes, token) => join(5, bitmap(routes), vint(token)),
  confirmed: (route, token) => join(6, vint(route), vint(token)),
};

/** Decodes a message from a relay: its `kind`, its `route`, and `member`, `end`, `bytes` or `token`. */
export function fromRelay(message) {
  const number = (offset, maximum) => {
    const read = decodeVint(message, offset);
    if (!read || read.value > maximum) throw malformed("a message of a relay with a number out of range");
    return read;
  };
  const kind = { 16: "route", 17: "unroute", 18: "from", 19: "confirming", 20: "confirmation" }[message[0]];
  if (!kind) throw malformed(`a message of a relay of kind ${message[0]}`);
  const { value: route, end: start } = number(1, MAXIMUM_ROUTE);
  if (kind === "route") return { kind, route, member: parseObject(message.subarray(start)) };
  if (kind === "from") return { kind, route, bytes: message.slice(start) };
  if (kind === "unroute") {
    if (message.length !== start + 1) throw malformed("an UNROUTE of the wrong length");
    return { kind, route, end: message[start] };
  }
  const token = number(start, Number.MAX_SAFE_INTEGER);
  if (token.end !== message.length) throw malformed("bytes after a token");
  return { kind, route, token: token.value };
}
