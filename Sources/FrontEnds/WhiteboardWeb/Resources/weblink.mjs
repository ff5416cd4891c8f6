import {
  FRAME, FrameDecoder, Violation, base64, data, encodeFrame, id, isEqual, join, malformed, parseObject, random, sha256,
  text,
} from "./frames.mjs";
import { base32, fromBase32 } from "./ids.mjs";
import { openTransport } from "./transport.mjs";

const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const HMAC = { name: "HMAC", hash: "SHA-256" };
/** The timeout for a step of the other side (session.md 3.2). */
export const STEP = 5_000;
const MAXIMUM_TEXT = 512;

export const label = {
  binding: "EXPORTER-whiteboard-p2p binding",
  attach: "EXPORTER-whiteboard-p2p attach",
};

const hmac = async (key, ...parts) => new Uint8Array(await crypto.subtle.sign("HMAC", key, join(...parts)));

const importHMAC = (bytes) => crypto.subtle.importKey("raw", bytes, HMAC, false, ["sign"]);

/** Parses the fragment of a link, `#SESSION.SECRET` (`board` is the session id). Returns null for any other text. */
export function parseFragment(fragment) {
  const [, ...texts] = /^#([a-z2-7]{26})\.([a-z2-7]{26})$/.exec(fragment) ?? [];
  const [board, secret] = texts.map(fromBase32);
  // Accept only the canonical form.
  return board && `#${base32(board)}.${base32(secret)}` === fragment ? { board, secret } : null;
}

export const codeKeyBytes = (secret, board) => sha256(join("whiteboard-p2p web key 1", 0, secret, board));

export const proofInput = ({ gatewayNonce, guestNonce, gateway, guest, origin }) =>
  join("whiteboard-p2p web proof 1", 0, gatewayNonce, guestNonce, gateway, guest, origin);

/** Returns the bytes of E, from which the exporters of a link derive. */
export const exporterSecret = ({ gatewayNonce, guestNonce, gateway, guest }) =>
  sha256(join("whiteboard-p2p web exporter 1", 0, gatewayNonce, guestNonce, gateway, guest));

export const exporter = async (secret, label) => hmac(await importHMAC(secret), label);

/** Returns the proof of the code (4.2); `side` is "joiner" or "host". */
export const codeProof = (codeKey, side, { binding, board, guest, gateway }) =>
  hmac(codeKey, "whiteboard-p2p code 1 ", side, 0, binding, board, guest, gateway);

/** Returns the proof in a request for a link to show to others (WEB-58). */
export const invitationProof = (codeKey, binding, role) => hmac(codeKey, "whiteboard-p2p web invite 1", 0, binding, role);

export const attachProof = async (control, bulk) => hmac(await importHMAC(control), "whiteboard-p2p attach 1", 0, bulk);

export async function makeIdentity(keys) {
  const key = new Uint8Array(await crypto.subtle.exportKey("spki", keys.publicKey));
  return { keys, key, id: await sha256(key) };
}

/** The error if the link ended. `code` is the code of CLOSE, or null if the connection broke. */
export class LinkEnded extends Error {
  constructor(code = null, message = "") {
    super(message);
    this.code = code;
  }
}

/** A link to the gateway: frames over a transport. `read` returns the frames in order. */
export class WebLink {
  #transport;
  #decoder = new FrameDecoder();
  #wake = () => {};
  /** The error that ended the link; null while the link is open. */
  #end = null;
  #interruption = null;
  #exporterSecret;
  hasBytes = false;
  /** The times of the last byte that arrived and of the last frame that was sent. */
  readAt = performance.now();
  sentAt = performance.now();
  gateway;

  constructor(kind, origin) {
    this.#transport = openTransport(kind, origin, {
      onBytes: (bytes) => {
        this.hasBytes = true;
        this.readAt = performance.now();
        this.#decoder.push(bytes);
        this.#wake();
      },
      onEnd: (violation) => {
        this.#end ??= violation ? malformed(violation) : new LinkEnded();
        this.#wake();
      },
    });
  }

  /** Proves the guest's key to the gateway. The first frame may take longer, because the connection opens first. */
  async open({ origin, identity }, patience = 2 * STEP) {
    const challenge = parseObject(await this.expect(FRAME.webChallenge, patience));
    const proof = {
      gatewayNonce: data(challenge, "nonce", 32), guestNonce: random(32), gateway: id(challenge, "peer", 32),
      guest: identity.id, origin,
    };
    if (isEqual(proof.gateway, identity.id)) throw new Violation("self", "the gateway has the key of this guest");
    this.gateway = proof.gateway;
    this.#exporterSecret = await exporterSecret(proof);
    const signature = await crypto.subtle.sign(ECDSA, identity.keys.privateKey, proofInput(proof));
    this.send(FRAME.webProof, {
      key: base64(identity.key), nonce: base64(proof.guestNonce), signature: base64(new Uint8Array(signature)),
    });
  }

  exporter(label) { return exporter(this.#exporterSecret, label); }

  set limit(limit) { this.#decoder.limit = limit; }

  get isOpen() { return !this.#end; }

  get bufferedBytes() { return this.#transport.bufferedBytes; }

  send(type, payload, isLast = false) {
    if (this.#end) return;
    this.sentAt = performance.now();
    this.#transport.send(encodeFrame(type, payload), isLast);
  }

  /**
   * Returns the next frame.
   *
   * @throws {LinkEnded} The link ended, or the other side closed it.
   * @throws {Violation} The other side broke a rule, or no frame arrived in time; `fail` closes the link then.
   */
  async read(patience = Infinity) {
    let isLate = false;
    const timer = patience < Infinity && setTimeout(() => {
      isLate = true;
      this.#wake();
    }, patience);
    try {
      for (;;) {
        const frame = this.poll();
        if (frame) return frame;
        if (this.#end ?? this.#interruption) throw this.#end ?? this.#interruption;
        if (isLate) throw new Violation("timed-out", "a step took too long");
        await new Promise((resolve) => this.#wake = resolve);
      }
    } finally {
      clearTimeout(timer);
      this.#interruption = null;
    }
  }

  /** Returns the next frame if it has arrived, or null. */
  poll() {
    const frame = this.#decoder.next();
    if (frame?.type !== FRAME.close) return frame;
    const close = parseObject(frame.payload);
    throw new LinkEnded(text(close, "code"), text(close, "message", 0, MAXIMUM_TEXT));
  }

  interrupt(error) {
    this.#interruption = error;
    this.#wake();
  }

  /** Returns the payload of the next frame, which must have the given type. */
  async expect(type, patience) {
    const frame = await this.read(patience);
    if (frame.type !== type) throw malformed(`frame ${frame.type} instead of ${type}`);
    return frame.payload;
  }

  async drained(count) {
    while (this.isOpen && this.bufferedBytes > count) await new Promise((resolve) => setTimeout(resolve, 20));
    if (this.#end) throw this.#end;
  }

  /** Sends CLOSE and ends the link. The frames that arrived before can still be read. */
  close(code, message = "") {
    if (this.#end) return;
    this.send(FRAME.close, { code, message }, true);
    this.#end = new LinkEnded(code, message);
    this.#transport.close();
    this.#wake();
  }

  /** Ends the link without CLOSE, unless CLOSE is already being sent. */
  abort() {
    if (!this.#end) this.#transport.abort();
  }

  fail(error) {
    if (error instanceof Violation) this.close(error.code, error.message);
    else this.abort();
  }
}
