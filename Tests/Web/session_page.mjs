// Runs the vectors of Protocol/Vectors/session.json and web.json through the scripts of the session.

import {
  FRAME, FrameDecoder, Violation, decodeVint, encodeFrame, id, integer, parseObject, text, vint,
} from "./frames.mjs";
import { base32, fromBase32, fromHex, hex } from "./ids.mjs";
import { Inbox, Outbox, Pace, fromRelay, toRelay } from "./messages.mjs";
import { GuestSession } from "./session.mjs";
import {
  attachProof, codeKeyBytes, codeProof, exporter, exporterSecret, invitationProof, makeIdentity, parseFragment, proofInput,
} from "./weblink.mjs";

const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const checks = [];

function check(what, holds) {
  checks.push([what, Boolean(holds)]);
}

/** Returns the result of `body`, or the close code of the violation that it throws. */
function outcome(body) {
  try {
    return body();
  } catch (error) {
    if (error instanceof Violation) return error.code;
    throw error;
  }
}

function checkNumbers({ vint: numbers, base32: texts }) {
  for (const { value, hex: digits } of numbers.valid) {
    const read = decodeVint(fromHex(digits));
    check(`the vint ${value}`, read.value === Number(value) && read.end === digits.length / 2);
    if (Number(value) > Number.MAX_SAFE_INTEGER) continue;
    check(`the vint ${value}, encoded`, hex(vint(Number(value))) === digits);
  }
  for (const { name, hex: digits, error } of numbers.invalid) {
    const expected = error === "truncated" ? null : "protocol-error";
    check(`not a vint: ${name}`, outcome(() => decodeVint(fromHex(digits))) === expected);
  }
  for (const { hex: digits, text } of texts.valid) {
    check(`the base32 ${text}`, base32(fromHex(digits)) === text && hex(fromBase32(text)) === digits);
    check(`the id ${text}`, hex(id({ key: text }, "key", digits.length / 2)) === digits);
  }
  for (const { name, text } of texts.invalid) {
    const counts = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    const isRefused = (count) => outcome(() => id({ key: text }, "key", count)) === "protocol-error";
    check(`not base32: ${name}`, counts.every(isRefused));
  }
}

function decode(limit, digits, size) {
  const decoder = new FrameDecoder();
  decoder.limit = limit;
  const bytes = fromHex(digits);
  const frames = [];
  for (let at = 0; at < bytes.length; at += size) {
    decoder.push(bytes.subarray(at, at + size));
    const code = outcome(() => {
      for (let frame = decoder.next(); frame; frame = decoder.next()) frames.push(frame);
    });
    if (code) return { frames, code };
  }
  return { frames };
}

function checkFrames({ types, heads, streams }) {
  // A page skips frames from 0x80 up, which it does not know (FRM-3, WEB-3).
  const numbers = new Map(types.filter(({ number }) => number < 0x80).map(({ type, number }) => [type, number]));
  check("the types of frames", [...numbers.values()].every((number) => Object.values(FRAME).includes(number)));
  for (const { name, limit, hex: digits, type, length } of heads.valid) {
    const payload = new Uint8Array(Number(length));
    const { frames, code } = decode(limit, digits + hex(payload), 1 << 20);
    const isSkipped = !numbers.has(type);
    check(`a frame: ${name}`, !code && frames.length === (isSkipped ? 0 : 1));
    if (isSkipped) continue;
    check(`a frame, encoded: ${name}`, hex(encodeFrame(numbers.get(type), payload)) === digits + hex(payload));
  }
  for (const { name, limit, hex: digits, close } of heads.invalid) {
    // Type 8 is WEB-CHALLENGE here.
    if (digits === "08") continue;
    check(`not a frame: ${name}`, decode(limit, digits, 1).code === close);
  }
  for (const { name, limit, hex: digits, frames: all, close } of streams) {
    const frames = all.filter(({ type }) => type !== null);
    for (const size of [1, 2, 7, 1 << 20]) {
      const read = decode(limit, digits, size);
      const isEqual = read.frames.length === frames.length && read.frames.every(({ type, payload }, index) =>
        type === numbers.get(frames[index].type) && hex(payload) === frames[index].payload);
      check(`${name}, cut every ${size} bytes`, isEqual && read.code === close);
    }
  }
}

function checkJSON({ valid, invalid }) {
  for (const { name, hex: digits } of valid) {
    check(`JSON: ${name}`, typeof outcome(() => parseObject(fromHex(digits))) === "object");
  }
  for (const { name, hex: digits } of invalid) {
    check(`not JSON: ${name}`, outcome(() => parseObject(fromHex(digits))) === "protocol-error");
  }
  check("a text with NUL", outcome(() => text({ key: "\0" }, "key")) === "protocol-error");
  check("the bytes of a text are counted", outcome(() => text({ key: "ü" }, "key", 0, 1)) === "protocol-error");
  for (const value of [1.5, 2 ** 53, -1, "1", null, true, undefined]) {
    check(`not an integer: ${value}`, outcome(() => integer({ key: value }, "key")) === "protocol-error");
  }
}

function checkMessages({ messageParts: parts, messageSequences: sequences, acknowledgements }) {
  for (const { name, hex: digits, sequence, first, last, bytes } of parts.valid) {
    const inbox = new Inbox();
    inbox.received = Number(sequence) - 1;
    const read = outcome(() => inbox.receive(fromHex(digits)));
    if (!first) check(`a part without a first one: ${name}`, read === "protocol-error");
    else check(`a part: ${name}`, last ? hex(read.message) === bytes : read.message === null);
  }
  for (const { name, hex: digits, close } of parts.invalid) {
    check(`not a part: ${name}`, outcome(() => new Inbox().receive(fromHex(digits))) === close);
  }
  for (const { name, steps } of sequences) {
    const inbox = new Inbox();
    check(`parts: ${name}`, steps.every(({ hex: digits, outcome: expected, message, close }) => {
      const read = outcome(() => inbox.receive(fromHex(digits)));
      if (expected === "error") return read === close;
      return expected === "deliver" ? hex(read.message) === message : read.message === null;
    }));
  }
  for (const { hex: digits, sequence } of acknowledgements.valid) {
    const code = outcome(() => outbox().acknowledge(fromHex(digits)));
    check(`an ACK of ${sequence}, never sent`, code === "protocol-error");
  }
  for (const { name, hex: digits, close } of acknowledgements.invalid) {
    check(`not an ACK: ${name}`, outcome(() => outbox().acknowledge(fromHex(digits))) === close);
  }
}

const outbox = (copies = 1e9) => new Outbox(new Pace({ copies, bytes: 1e12 }));

/** Checks that an inbox assembles the messages that an outbox splits. */
function checkOutbox() {
  const out = outbox(), inbox = new Inbox();
  const sizes = [0, 1, 59_999, 60_000, 60_001, 200_000, 16_777_216];
  for (const size of sizes) out.push(new Uint8Array(size).fill(7), { isRelayed: size === 1 });
  const received = [];
  let longest = 0;
  for (let part = out.next(0); part; part = out.next(0)) {
    longest = Math.max(longest, part.length);
    const { message, isRelayed } = inbox.receive(part);
    if (message) received.push([message.length, isRelayed, message.every((byte) => byte === 7)]);
  }
  check("messages of all sizes", received.every(([size, isRelayed, isEqual], index) =>
    size === sizes[index] && isRelayed === (size === 1) && isEqual) && received.length === sizes.length);
  check("no part is too long", longest <= 60_020);
  const sum = sizes.reduce((sum, size) => sum + size);
  check("the bytes that are not acknowledged", out.byteCount === sum && !out.isEmpty);
  out.acknowledge(vint(2));
  check("an ACK reduces the bytes that are not acknowledged", out.byteCount === sum - 1);
  out.acknowledge(inbox.acknowledgement());
  out.acknowledge(vint(1));
  check("an ACK for all parts leaves none", out.byteCount === 0 && out.isEmpty);
  const paced = outbox(10);
  for (let index = 0; index < 40; index++) paced.push(new Uint8Array(1), { isRelayed: true, copies: 1 });
  const count = (now) => {
    let count = 0;
    while (paced.next(now)) count++;
    return count;
  };
  check("a tenth of a relay's limit is unused (RLY-14)", count(1) === 9 && count(501) === 5 && count(2_501) === 9);
  let isRefused = false;
  try {
    out.push(new Uint8Array(16_777_217));
  } catch {
    isRefused = true;
  }
  check("a message that is too long", isRefused);
}

function checkRelay({ valid, invalid }) {
  const encoders = {
    1: ({ peer, incarnation }) => toRelay.reach(peer, fromHex(incarnation)),
    2: ({ peer, end }) => toRelay.unreach(peer, end),
    3: ({ route }) => toRelay.free(route),
    4: ({ routes, payload }) => toRelay.send(routes, fromHex(payload)),
    5: ({ routes, token }) => toRelay.confirm(routes, Number(token)),
    6: ({ route, token }) => toRelay.confirmed(route, Number(token)),
  };
  for (const vector of valid) {
    if (encoders[vector.kind]) {
      check(`to a relay: ${vector.name}`, hex(encoders[vector.kind](vector)) === vector.hex);
      continue;
    }
    const read = fromRelay(fromHex(vector.hex));
    check(`from a relay: ${vector.name}`, read.route === vector.route && (read.end ?? null) === (vector.end ?? null)
      && String(read.token ?? "") === (vector.token ?? "")
      && (read.kind !== "from" || hex(read.bytes) === vector.payload));
  }
  for (const { name, hex: digits, close } of invalid) {
    check(`not from a relay: ${name}`, outcome(() => fromRelay(fromHex(digits))) === close);
  }
}

async function checkWeb({ peers, links, proof, codeProof: code, invitation, attachProof: attach }) {
  for (const { fragment, board, secret, K } of links.valid) {
    const link = parseFragment(fragment);
    check(`the link ${fragment}`, hex(link.board) === board && hex(link.secret) === secret);
    check(`K of ${fragment}`, hex(await codeKeyBytes(link.secret, link.board)) === K);
  }
  for (const { name, fragment } of links.invalid) check(`not a link: ${name}`, parseFragment(fragment) === null);

  const bytes = (...names) => Object.fromEntries(names.map((name) => [name, fromHex(proof[name])]));
  const parts = { ...bytes("gatewayNonce", "guestNonce", "gateway", "guest"), origin: proof.origin };
  const input = proofInput(parts);
  check("what WEB-PROOF signs", hex(input) === proof.input);
  const publicKey = await crypto.subtle.importKey("spki", fromHex(proof.key), ECDSA, true, ["verify"]);
  check("the signature of WEB-PROOF", await crypto.subtle.verify(ECDSA, publicKey, fromHex(proof.signature), input));
  const identity = await makeIdentity({ publicKey });
  check("the key and the id of a guest", hex(identity.key) === proof.key && hex(identity.id) === peers[0].peerID);
  const secret = await exporterSecret(parts);
  check("E", hex(secret) === proof.E);
  for (const { label, output } of proof.exporter) check(label, hex(await exporter(secret, label)) === output);

  const key = await crypto.subtle.importKey("raw", fromHex(code.K), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const codeParts = {
    binding: fromHex(code.binding), board: fromHex(code.session), guest: fromHex(code.guest),
    gateway: fromHex(code.gateway),
  };
  for (const side of ["joiner", "host"]) {
    check(`the proof of the ${side}`, hex(await codeProof(key, side, codeParts)) === code[side].proof);
  }
  for (const role of ["editor", "viewer"]) {
    check(`the proof for a link of the role ${role}`, hex(await invitationProof(key, fromHex(invitation.binding), role)) === invitation[role].proof);
  }
  check("the proof in ATTACH", hex(await attachProof(fromHex(attach.control), fromHex(attach.bulk))) === attach.proof);
}

/** Checks that a guest waits before it dials again, whatever the code with which the gateway closes the link. */
async function checkCodes() {
  const { WebSocket } = globalThis;
  const keys = await crypto.subtle.generateKey(ECDSA, false, ["sign", "verify"]);
  const ended = async (code, count) => {
    globalThis.WebSocket = class {
      constructor() { setTimeout(() => this.onmessage({ data: encodeFrame(FRAME.close, { code, message: "" }).buffer })); }
      close() {}
    };
    const states = [];
    await new Promise((resolve) => {
      const session = new GuestSession({
        transport: "websocket", origin: "https://host", keys,
        onEvent(event) {
          if (event.state !== "offline") return;
          states.push({ ...event, wait: event.retryAt - Date.now() });
          if (states.length < count) return;
          session.close();
          resolve();
        },
      });
      session.connect();
    });
    return states;
  };
  for (const one of ["busy", "constructor", "__proto__"]) {
    const [{ code, wait }] = await ended(one, 1);
    check(`a wait after the code ${one}`, code === one && wait > 0);
  }
  const waits = (await ended("shutting-down", 2)).map(({ wait }) => wait);
  check("a longer first wait after the code shutting-down", waits[0] > 900 && waits[1] < 500);
  globalThis.WebSocket = WebSocket;
}

/** Runs all vectors. Returns `[what, holds]` for each check. */
window.run = async ({ session, web }) => {
  checkNumbers(session);
  checkFrames(session.frames);
  checkJSON(session.control);
  checkMessages(session);
  checkOutbox();
  checkRelay(session.relayMessages);
  await checkWeb(web);
  await checkCodes();
  return checks;
};
document.title = "ready";
