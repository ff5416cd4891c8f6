import {
  FRAME, PAYLOAD, Violation, base64, data, has, id, integer, isEqual, list, malformed, object, parseObject, random,
  text,
} from "./frames.mjs";
import { base32, hex } from "./ids.mjs";
import { Inbox, Outbox, Pace, fromRelay, toRelay } from "./messages.mjs";
import { BulkLinks } from "./resources.mjs";
import { LinkEnded, STEP, codeProof, invitationProof, label } from "./weblink.mjs";

const TICK = 500;
/** The time without a byte after which a link counts as broken (LIV-2), and the shorter time that `check` uses. */
const [SILENCE, CHECK] = [6_000, 2_000];
const MAXIMUM_MEMBERS = 256;
const MAXIMUM_DATAGRAM = 65_536;
/** The maximum number of bytes that wait in the browser; the rest waits in the outbox, so that other frames can overtake it. */
const BUFFERED = 262_144;
const BUFFERED_DATAGRAMS = 65_536;
const MAXIMUM_OUTBOX = 4_194_304;
/** The reasons for the end of a route after which no REACH is sent until the relay lists the member again. */
const FINAL_ENDS = new Set([2, 3, 4, 5, 8]);
/** The end of a route to a member that broke a rule (session.md 11.2). */
const PROTOCOL_ERROR = 8;

function parseMember(value) {
  const member = object(value, "a member");
  list(member, "addresses", 16).forEach((_, index, all) => text(all, index));
  integer(member, "port", 0, 65_535);
  text(member, "role");
  return {
    peer: hex(id(member, "peer", 32)), name: text(member, "name", 1, 64), incarnation: id(member, "incarnation", 8),
  };
}

/** Asks the gateway to admit this guest (session.md 3 and 4.2). */
async function admit(link, { board, codeKey, name, identity }) {
  link.incarnation = random(8);
  link.send(FRAME.hello, {
    protocol: [1, 2], session: base32(board), name, incarnation: base32(link.incarnation), port: 0, addresses: [],
    role: "member", links: 0, invitation: {},
  });
  const hello = parseObject(await link.expect(FRAME.hello, STEP));
  const [lowest, highest] = list(hello, "protocol", 2).map((_, index, versions) => integer(versions, index));
  if (!(lowest <= highest)) throw malformed("protocol is not a range");
  if (lowest > 2 || highest < 1) throw new Violation("version-mismatch", "the gateway has another version");
  if (!isEqual(id(hello, "session", 16), board)) throw malformed("another session");
  const { name: gatewayName } = parseMember({ ...hello, peer: base32(link.gateway) });
  integer(hello, "links");
  const passes = { copies: 5_000, bytes: 67_108_864 };
  if (has(hello, "passes")) {
    for (const key of Object.keys(passes)) passes[key] = integer(object(hello.passes, "passes"), key, 1);
  }
  const admission = text(hello, "admission");
  const parts = {
    binding: await link.exporter(label.binding), board, guest: identity.id, gateway: link.gateway,
  };
  // Without the proof of the code, this could be any gateway.
  if (admission !== "code") throw new Violation("not-verified", "the gateway does not ask for the code");
  link.send(FRAME.codeProof, { proof: base64(await codeProof(codeKey, "joiner", parts)) });
  const accept = parseObject(await link.expect(FRAME.accept, STEP));
  const proof = has(accept, "proof") ? data(accept, "proof", 32) : new Uint8Array();
  if (!isEqual(proof, await codeProof(codeKey, "host", parts))) {
    throw new Violation("not-verified", "the gateway's proof of the code is wrong");
  }
  integer(accept, "maximum", 1);
  const host = hex(id(accept, "host", 32));
  const sessionName = has(accept, "name") ? text(accept, "name", 0, 128) : "";
  return { name: gatewayName, sessionName, isRelay: hello.role === "relay", passes, host, members: list(accept, "members", 256) };
}

/** An open control link, and the members that it reaches. It cannot be used after the link has ended. */
export class Connection {
  #link;
  #options;
  #emit;
  #gateway;
  #host;
  #guest;
  #isRelay;
  /**
   * The known members by id: `{name, incarnation, reachAt}`. `reachAt` is the time of the next REACH. If REACH was sent
   * for this incarnation, `isReached` is set, and MEMBERS with this incarnation is ignored. If this page ended the
   * route, `isRejected` is set, and no REACH follows.
   */
  #known = new Map();
  #removed = new Set();
  /** The members by route number, and the route numbers by member. */
  #routes = new Map();
  #numbers = new Map();
  #pace;
  #outbox;
  #inbox = new Inbox();
  #acknowledging;
  #pumping;
  #silence = 0;
  #tickAt = performance.now();

  /** Opens a connection on a link that has proved the guest's key. `options` are those of the session. */
  static async open(link, options) {
    return new Connection(link, options, await admit(link, options));
  }

  constructor(link, options, { name, sessionName, isRelay, passes, host, members }) {
    link.limit = PAYLOAD;
    this.#link = link;
    this.#options = options;
    this.#emit = options.emit;
    this.#gateway = hex(link.gateway);
    this.#guest = hex(options.identity.id);
    this.#host = host;
    this.#isRelay = isRelay;
    this.#pace = new Pace(passes);
    this.#outbox = new Outbox(this.#pace);
    this.gatewayName = name;
    this.sessionName = sessionName;
    this.bulk = new BulkLinks({
      control: link, board: options.board, gateway: this.#gateway, openLink: options.openLink,
      isPost: options.isPost, accepts: options.accepts, emit: options.emit,
      isJoined: (member) => member === this.#gateway || this.#numbers.has(member),
    });
    members.forEach((member) => this.#learn(member));
  }

  /** Handles frames until the link ends. Returns the code and the message of the end; if the link broke, the code is null. */
  async run() {
    this.#emit({ kind: "joined", member: this.#gateway, name: this.gatewayName });
    this.#reach();
    const timer = setInterval(() => this.#tick(), TICK);
    let end;
    try {
      for (;;) this.#handle(await this.#link.read());
    } catch (error) {
      end = error;
      if (!(error instanceof LinkEnded || error instanceof Violation)) {
        console.error(error);
        end = new Violation("internal-error", String(error));
      }
      this.#link.fail(end);
    }
    clearInterval(timer);
    clearTimeout(this.#acknowledging);
    clearTimeout(this.#pumping);
    this.bulk.close();
    for (const member of [...this.#numbers.keys(), this.#gateway]) this.#emit({ kind: "left", member });
    return { code: end.code, message: end.message };
  }

  get hasUnsent() { return !this.#outbox.isEmpty; }

  send(members, bytes) {
    // One message of any size may wait. If more must wait, the link ends, and the members catch up over a new link.
    if (this.#outbox.byteCount && this.#outbox.byteCount + bytes.length > MAXIMUM_OUTBOX) {
      return this.#link.close("too-slow", "too many messages wait");
    }
    const numbers = this.#numbersOf(members);
    if (!numbers.length && !members.includes(this.#gateway)) return;
    if (members.includes(this.#gateway)) this.#outbox.push(bytes);
    if (numbers.length) this.#sendToRelay(toRelay.send(numbers, bytes), numbers.length);
    this.#pump();
  }

  /** Sends a datagram, or drops it if the link is slow (DGM-9). */
  sendDatagram(members, bytes) {
    const numbers = this.#numbersOf(members);
    const mayPass = () => bytes.length <= MAXIMUM_DATAGRAM && this.#link.bufferedBytes <= BUFFERED_DATAGRAMS;
    if (members.includes(this.#gateway) && mayPass()) this.#link.send(FRAME.datagram, bytes);
    if (!numbers.length || !mayPass() || !this.#pace.allows(performance.now())) return;
    const datagram = toRelay.send(numbers, bytes);
    if (datagram.length > PAYLOAD) return;
    this.#pace.use(numbers.length, bytes.length * numbers.length);
    this.#link.send(FRAME.relayDatagram, datagram);
  }

  /** Asks the gateway for a link to show to others (WEB-58); returns its answer. */
  async invitation(role) {
    const { board, codeKey, identity, origin } = this.#options;
    const proof = await invitationProof(codeKey, await this.#link.exporter(label.binding), role);
    const request = { session: base32(board), guest: base32(identity.id), role, proof: base64(proof) };
    return fetch(`${origin}/invite`, { method: "POST", body: JSON.stringify(request) });
  }

  close(code) { this.#link.close(code); }

  /** Disconnects a member that broke a rule of the board. The member has left when the relay ends the route. */
  reject(member, rule) {
    if (member === this.#gateway) return this.#link.close("protocol-error", rule);
    if (!this.#numbers.has(member)) return;
    const known = this.#known.get(member);
    if (known) known.isReached = known.isRejected = true;
    this.#sendToRelay(toRelay.unreach(member, PROTOCOL_ERROR), 0);
  }

  /** Expects an answer soon, because the link may have broken while the page was suspended. */
  check() {
    this.#link.send(FRAME.ping, random(8));
    this.#silence = SILENCE - CHECK;
    this.#tickAt = performance.now();
  }

  #numbersOf(members) { return members.map((member) => this.#numbers.get(member)).filter((number) => number >= 0); }

  #sendToRelay(message, copies = 1) {
    this.#outbox.push(message, { isRelayed: true, copies });
    this.#pump();
  }

  #pump() {
    while (this.#link.isOpen && this.#link.bufferedBytes < BUFFERED) {
      const part = this.#outbox.next(performance.now());
      if (!part) break;
      this.#link.send(FRAME.message, part);
    }
    clearTimeout(this.#pumping);
    if (this.#outbox.isWaiting && this.#link.isOpen) this.#pumping = setTimeout(() => this.#pump(), 20);
  }

  #tick() {
    const now = performance.now();
    // Ignore the time in which the browser suspended the page (LIV-2).
    this.#silence = this.#link.readAt > this.#tickAt ? 0 : this.#silence + Math.min(now - this.#tickAt, 1_000);
    this.#tickAt = now;
    if (this.#silence >= SILENCE) return this.#link.abort();
    if (now - this.#link.sentAt >= 1_000) this.#link.send(FRAME.ping, random(8));
    this.#reach();
    this.#pump();
  }


  #handle({ type, payload }) {
    switch (type) {
      case FRAME.ping: case FRAME.pong:
        if (payload.length !== 8) throw malformed("a PING or PONG of another length");
        if (type === FRAME.ping) this.#link.send(FRAME.pong, payload);
        break;
      case FRAME.message: this.#receive(payload); break;
      case FRAME.acknowledgement:
        this.#outbox.acknowledge(payload);
        this.#pump();
        break;
      case FRAME.datagram:
        this.#emit({ kind: "message", member: this.#gateway, bytes: payload.slice(), isReliable: false });
        break;
      case FRAME.relayDatagram: this.#receiveDatagram(payload); break;
      case FRAME.members:
        list(parseObject(payload), "members", 256).forEach((member) => this.#learn(member));
        this.#reach();
        break;
      case FRAME.kick: this.#kick(parseObject(payload)); break;
      case FRAME.bulkRequest: {
        const request = parseObject(payload);
        const member = has(request, "route") ? hex(id(request, "route", 32)) : this.#gateway;
        this.bulk.requested(integer(request, "count", 1, 8), member);
        break;
      }
      // A guest dials no addresses, and trusts the gateway without a grant, because it served this page.
      case FRAME.addresses: case FRAME.relayGrant: break;
      default: throw malformed(`frame ${type} on an open control link`);
    }
  }

  #receive(payload) {
    const { message, isRelayed, isUrgent } = this.#inbox.receive(payload);
    if (message && isRelayed) this.#receiveFromRelay(message);
    else if (message) this.#emit({ kind: "message", member: this.#gateway, bytes: message, isReliable: true });
    // Timers of a hidden page are too slow.
    if (isUrgent || globalThis.document?.hidden) this.#acknowledge();
    else this.#acknowledging ??= setTimeout(() => this.#acknowledge(), 20);
  }

  #acknowledge() {
    clearTimeout(this.#acknowledging);
    this.#acknowledging = undefined;
    this.#link.send(FRAME.acknowledgement, this.#inbox.acknowledgement());
  }

  #receiveDatagram(payload) {
    let datagram;
    try {
      datagram = fromRelay(payload);
    } catch {
      return; // RLY-10
    }
    const member = this.#routes.get(datagram.route);
    if (datagram.kind !== "from" || !member) return;
    this.#emit({ kind: "message", member, bytes: datagram.bytes, isReliable: false });
  }

  #receiveFromRelay(bytes) {
    if (!this.#isRelay) throw malformed("a message of a relay from another member");
    const message = fromRelay(bytes);
    const { kind, route } = message;
    const member = this.#routes.get(route);
    switch (kind) {
      case "route": {
        const { peer, name, incarnation } = parseMember(message.member);
        if (member || this.#numbers.has(peer) || peer === this.#guest || peer === this.#gateway) {
          throw malformed("a ROUTE that is in use");
        }
        this.#routes.set(route, peer);
        this.#numbers.set(peer, route);
        this.#known.set(peer, { name, incarnation, reachAt: Infinity });
        this.#emit({ kind: "joined", member: peer, name });
        break;
      }
      case "unroute": {
        if (!member) throw malformed("an UNROUTE of a number that is not in use");
        this.#routes.delete(route);
        this.#numbers.delete(member);
        const known = this.#known.get(member);
        if (known) known.reachAt = known.isRejected || FINAL_ENDS.has(message.end) ? Infinity : performance.now() + 2_000;
        this.#sendToRelay(toRelay.free(route), 0);
        this.bulk.left(member);
        this.#emit({ kind: "left", member });
        break;
      }
      case "from":
        // The data may have been sent before the end of the route arrived at the relay (RLY-5).
        if (member) this.#emit({ kind: "message", member, bytes: message.bytes, isReliable: true });
        break;
      case "confirming":
        if (member) this.#sendToRelay(toRelay.confirmed(route, message.token));
    }
  }


  #learn(value) {
    const { peer, name, incarnation } = parseMember(value);
    if (peer === this.#guest || peer === this.#gateway || this.#removed.has(peer)) return;
    const known = this.#known.get(peer);
    if (known && isEqual(known.incarnation, incarnation) && (this.#numbers.has(peer) || known.isReached)) return;
    if (!known && this.#known.size >= MAXIMUM_MEMBERS) {
      const [oldest] = [...this.#known.keys()].filter((peer) => !this.#numbers.has(peer));
      if (!oldest) return;
      this.#known.delete(oldest);
      if (this.#isRelay) this.#sendToRelay(toRelay.unreach(oldest, 0), 0);
    }
    this.#known.set(peer, { name, incarnation, reachAt: performance.now() });
  }

  /** Asks the relay for routes to the members that have none (RLY-6). A guest has no other path, so it does not wait. */
  #reach() {
    if (!this.#isRelay) return;
    const now = performance.now();
    for (const [peer, known] of this.#known) {
      if (known.reachAt > now || this.#numbers.has(peer)) continue;
      known.reachAt = Infinity;
      known.isReached = true;
      this.#sendToRelay(toRelay.reach(peer, known.incarnation), 0);
    }
  }

  /** Handles KICK. The guest trusts its gateway, so it does not check the signature (MEM-3). */
  #kick(kick) {
    const peer = hex(id(kick, "peer", 32));
    const reason = text(kick, "reason", 0, 512);
    if (peer === this.#host) return;
    if (peer === this.#guest) throw new LinkEnded("kicked", reason);
    if (peer === this.#gateway) {
      this.#link.close("kicked", reason);
      throw new LinkEnded("left", "the host removed the gateway");
    }
    this.#removed.add(peer);
    this.#known.delete(peer);
  }
}
