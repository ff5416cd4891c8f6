import { base32, fromBase32 } from "./ids.mjs";

/** The types of frames (session.md 2). */
export const FRAME = {
  hello: 0x01, close: 0x02, accept: 0x03, codeProof: 0x04, sasCommit: 0x05, sasNonce: 0x06, sasReveal: 0x07,
  webChallenge: 0x08, webProof: 0x09, members: 0x10, kick: 0x11, addresses: 0x12, bulkRequest: 0x13, relayGrant: 0x14,
  attach: 0x20, attached: 0x21, offer: 0x22, accepted: 0x23, start: 0x24, end: 0x25, done: 0x26, cancel: 0x27,
  streamOpen: 0x28, streamReset: 0x29, message: 0x40, acknowledgement: 0x41, ping: 0x42, pong: 0x43, datagram: 0x44,
  relayDatagram: 0x45, chunk: 0x50, streamData: 0x51, streamFin: 0x52,
};
const KNOWN = new Set(Object.values(FRAME));

/** The limits of a payload before and after ACCEPT or ATTACHED (FRM-1). */
export const EARLY_PAYLOAD = 8_192;
export const PAYLOAD = 65_536;

const MAXIMUM_LEVELS = 16;

/** The error if the other side broke a rule. `code` is the code for CLOSE. */
export class Violation extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

export const malformed = (message) => new Violation("protocol-error", message);

const ENCODER = new TextEncoder();
// A byte order mark stays in the text, so that the text is not valid JSON.
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const utf8 = (text) => ENCODER.encode(text);

/** Joins byte arrays, numbers (one byte each) and texts (in UTF-8). */
export function join(...parts) {
  const arrays = parts.map((part) =>
    typeof part === "number" ? Uint8Array.of(part) : typeof part === "string" ? utf8(part) : part);
  const all = new Uint8Array(arrays.reduce((count, part) => count + part.length, 0));
  let position = 0;
  for (const part of arrays) {
    all.set(part, position);
    position += part.length;
  }
  return all;
}

export const isEqual = (one, other) => one.length === other.length && one.every((byte, index) => byte === other[index]);

export const random = (count) => crypto.getRandomValues(new Uint8Array(count));

export const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

export const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** Decodes base64 with padding. Only the canonical form is accepted. */
export function fromBase64(text) {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    if (base64(bytes) === text) return bytes;
  } catch { /* The text has other characters. */ }
  throw malformed("not base64");
}

/** Encodes an integer below 2^53 as a vint. */
export function vint(value) {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
  return Uint8Array.from([...bytes, value]);
}

/**
 * Decodes a vint (FRM-2). Values of 2^53 or more are rounded; they exceed every limit of the protocol.
 *
 * @returns {{value: number, end: number} | null} The value and the offset after it, or null if bytes are missing.
 */
export function decodeVint(bytes, offset = 0) {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    if (offset + index >= bytes.length) return null;
    const byte = bytes[offset + index];
    if (index === 9 && byte > 1) break;
    value += (byte & 127) * 2 ** (7 * index);
    if (byte >= 128) continue;
    if (byte === 0 && index > 0) throw malformed("a vint that is not in its shortest form");
    return { value, end: offset + index + 1 };
  }
  throw malformed("a vint of more than 64 bits");
}

/** Encodes a frame. The payload is bytes, or an object for JSON. */
export function encodeFrame(type, payload = new Uint8Array()) {
  const bytes = payload instanceof Uint8Array ? payload : utf8(JSON.stringify(payload));
  return join(type, vint(bytes.length), bytes);
}

/** Cuts the bytes of a link into frames. */
export class FrameDecoder {
  limit = EARLY_PAYLOAD;
  #bytes = new Uint8Array();
  #position = 0;
  /** Bytes that arrived and are not yet part of `#bytes`. */
  #later = [];

  push(bytes) { this.#later.push(bytes); }

  /** Returns the next known frame, `{type, payload}`, or null if bytes are missing. */
  next() {
    for (;;) {
      const frame = this.#read();
      if (frame && KNOWN.has(frame.type)) return frame;
      if (frame) continue;
      if (!this.#later.length) return null;
      this.#bytes = join(this.#bytes.subarray(this.#position), ...this.#later);
      this.#position = 0;
      this.#later = [];
    }
  }

  #read() {
    const start = this.#position;
    if (start === this.#bytes.length) return null;
    const type = this.#bytes[start];
    if (type < 0x80 && !KNOWN.has(type)) throw new Violation("unknown-frame", `unknown frame type ${type}`);
    const length = decodeVint(this.#bytes, start + 1);
    if (!length) return null;
    if (length.value > this.limit) throw new Violation("too-large", `a payload of ${length.value} bytes`);
    const end = length.end + length.value;
    if (end > this.#bytes.length) return null;
    this.#position = end;
    return { type, payload: this.#bytes.subarray(length.end, end) };
  }
}

/** Decodes a control payload: one JSON object (FRM-5). */
export function parseObject(bytes) {
  try {
    const json = DECODER.decode(bytes);
    const value = JSON.parse(json);
    checkKeys(json);
    return object(value, "the payload");
  } catch (error) {
    throw error instanceof Violation ? error : malformed("not JSON in UTF-8");
  }
}

/** Rejects JSON that `JSON.parse` accepts and FRM-5 does not: duplicate keys, too many levels, lone surrogates. */
function checkKeys(json) {
  const keys = [];
  for (const [mark, string, isKey] of json.matchAll(/[{}[\]]|("(?:[^"\\]|\\.)*")\s*(:?)/g)) {
    if (mark === "{" || mark === "[") keys.push(new Set());
    else if (!string) keys.pop();
    if (keys.length > MAXIMUM_LEVELS) throw malformed("JSON with too many levels");
    const text = string && JSON.parse(string);
    if (/\p{Surrogate}/u.test(text)) throw malformed("a lone surrogate");
    if (isKey && keys.at(-1).has(text)) throw malformed("a duplicate key");
    if (isKey) keys.at(-1).add(text);
  }
}

export const has = (object, key) => object[key] !== undefined && object[key] !== null;

/** Returns a text whose UTF-8 bytes are within the limits. */
export function text(object, key, minimum = 0, maximum = PAYLOAD) {
  const value = object[key];
  if (typeof value === "string" && !value.includes("\0")) {
    const count = utf8(value).length;
    if (count >= minimum && count <= maximum) return value;
  }
  throw malformed(`${key} is not a text of ${minimum} to ${maximum} bytes`);
}

export function integer(object, key, minimum = 0, maximum = Number.MAX_SAFE_INTEGER) {
  const value = object[key];
  if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) return value;
  throw malformed(`${key} is not an integer of ${minimum} to ${maximum}`);
}

export function list(object, key, maximum) {
  const value = object[key];
  if (Array.isArray(value) && value.length <= maximum) return value;
  throw malformed(`${key} is not an array of at most ${maximum} elements`);
}

export function object(value, name) {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  throw malformed(`${name} is not an object`);
}

/** Returns `count` bytes that are written in base32. */
export function id(object, key, count) {
  const value = text(object, key);
  const bytes = fromBase32(value);
  // Only the canonical form is allowed.
  if (bytes?.length === count && base32(bytes) === value) return bytes;
  throw malformed(`${key} does not have ${count} bytes`);
}

/** Returns bytes that are written in base64; at least `minimum`, at most `maximum`. */
export function data(object, key, minimum, maximum = minimum) {
  const bytes = fromBase64(text(object, key));
  if (bytes.length >= minimum && bytes.length <= maximum) return bytes;
  throw malformed(`${key} does not have ${minimum} to ${maximum} bytes`);
}
