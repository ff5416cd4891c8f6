import {
  FRAME, PAYLOAD, Violation, base64, id, integer, join, malformed, parseObject, random, sha256, text,
} from "./frames.mjs";
import { base32, fromHex, hex } from "./ids.mjs";
import { LinkEnded, STEP, attachProof, label } from "./weblink.mjs";

const MAXIMUM_LINKS = 8;
const MAXIMUM_POST_LINKS = 1;
/**
 * The maximum number of bulk links over POST for all pages together. With the control links of three pages, one of the
 * six connections that a browser opens to a host is then left for requests.
 */
const ALL_POST_LINKS = 2;
/** The maximum number of resources sent to or received from a member at a time (RES-6). */
const MAXIMUM_TRANSFERS = 8;
const MAXIMUM_SIZE = 268_435_456;
const MAXIMUM_NAME = 16_384;
const BUFFERED = 1_048_576;
const IDLE = 10_000;
const PROGRESS = 250;
const ATTEMPTS = 6;
/** The times of BLK-4, RES-7 and RES-8. */
const ATTACHING = 10_000;
const CHUNK_TIMEOUT = 60_000;
const ANSWER_TIMEOUT = 130_000;
const PACE_BYTES = 16_384;

/** The error of a transfer that failed; `code` is a code of session.md 8.2, or `lost`. */
export class TransferEnded extends Error {
  constructor(code, message = code) {
    super(message);
    this.code = code;
  }
}

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits until fewer than the maximum number of bulk links over POST are open. Returns a function that lets another link open. */
async function postTurn() {
  for (;;) {
    for (let number = 0; number < ALL_POST_LINKS; number++) {
      const end = await new Promise((resolve) => {
        const hold = (lock) => lock ? new Promise((end) => resolve(end)) : resolve(null);
        navigator.locks.request(`whiteboard-post-${number}`, { ifAvailable: true }, hold);
      });
      if (end) return end;
    }
    await wait(200);
  }
}

/** The bulk links of a control link (session.md 8). They end with the control link. */
export class BulkLinks {
  #options;
  #isClosed = false;
  #links = new Set();
  #idle = new Set();
  /** The number of links that are opening or open, by opener, and the callers that wait for their turn. */
  #counts = { dialler: 0, listener: 0 };
  #queue = [];
  #transfers = new Map();

  /** @param options - `control`, `board`, `gateway`, `openLink()`, `isPost`, `accepts`, `emit`, `isJoined(member)`. */
  constructor(options) { this.#options = options; }

  async send(member, name, content) {
    const id = base32(random(16));
    const release = await this.#turn(`to ${member}`, member);
    try {
      for (let attempt = 0; ; attempt++) {
        this.#checkIsJoined(member);
        try {
          const link = await this.#acquire(member);
          try {
            // Read the content only now, because a member can request many photos at the same time.
            const bytes = content instanceof Uint8Array ? content : new Uint8Array(await content.arrayBuffer());
            await offer(link, { id, name, bytes, sha256: await sha256(bytes) });
            this.#rest(link);
            return;
          } catch (error) {
            if (error instanceof TransferEnded) this.#rest(link);
            else this.#drop(link, error);
            throw error;
          }
        } catch (error) {
          // If the link broke, offer the same resource again (RES-5).
          if (error instanceof TransferEnded || error instanceof Violation && error.code !== "timed-out") throw error;
          this.#checkIsJoined(member);
          if (attempt + 1 === ATTEMPTS) throw new TransferEnded("io-error", error.message);
          await wait(Math.min(500 * 2 ** attempt, STEP) * (1 + Math.random()));
        }
      }
    } finally {
      release();
    }
  }

  requested(count, member) {
    for (let index = 0; index < count; index++) this.#serve(member);
  }

  left(member) {
    for (const link of this.#links) if (link.member === member) link.abort();
    this.#wakeAll();
  }

  close() {
    this.#isClosed = true;
    for (const link of this.#links) link.close("left");
    this.#wakeAll();
  }


  #checkIsJoined(member) {
    if (this.#isClosed || !this.#options.isJoined(member)) throw new TransferEnded("lost", "the member left");
  }

  #wakeAll() {
    const queue = this.#queue;
    this.#queue = [];
    for (const resolve of queue) resolve();
  }

  /** Waits until a transfer may begin. Returns a function to call when it has ended. */
  async #turn(kind, member) {
    while ((this.#transfers.get(kind) ?? 0) >= MAXIMUM_TRANSFERS) {
      this.#checkIsJoined(member);
      await new Promise((resolve) => this.#queue.push(resolve));
    }
    return this.#begin(kind);
  }

  #begin(kind) {
    this.#transfers.set(kind, (this.#transfers.get(kind) ?? 0) + 1);
    return () => {
      this.#transfers.set(kind, this.#transfers.get(kind) - 1);
      this.#wakeAll();
    };
  }

  async #acquire(member) {
    for (const link of this.#idle) {
      if (link.member !== member || link.opener !== "dialler") continue;
      this.#idle.delete(link);
      link.interrupt(USED);
      // Wait until the reader of the idle link has ended.
      await link.idling;
      if (link.isOpen) return link;
    }
    return this.#attach(member, "dialler");
  }

  #rest(link) {
    this.#idle.add(link);
    link.idling = this.#idleUntilUsed(link);
    this.#wakeAll();
  }

  async #idleUntilUsed(link) {
    try {
      for (;;) {
        const frame = await link.read(this.#options.isPost ? 1_000 : IDLE);
        // A CANCEL can arrive after the end of its transfer (RES-4).
        if (frame.type !== FRAME.cancel) throw malformed(`frame ${frame.type} on an idle bulk link`);
      }
    } catch (error) {
      if (error === USED) return;
      this.#drop(link, error.code === "timed-out" ? new TransferEnded("left") : error);
    }
  }

  async #attach(member, opener) {
    const { control, board, gateway, openLink, isPost } = this.#options;
    while (this.#counts[opener] >= (isPost ? MAXIMUM_POST_LINKS : MAXIMUM_LINKS)) {
      this.#checkIsJoined(member);
      const idle = [...this.#idle].find((link) => link.opener === opener);
      this.#idle.delete(idle);
      idle?.close("left");
      await new Promise((resolve) => this.#queue.push(resolve));
    }
    this.#checkIsJoined(member);
    this.#counts[opener]++;
    let link, endTurn = () => {};
    try {
      if (isPost) endTurn = await postTurn();
      this.#checkIsJoined(member);
      link = await openLink();
      Object.assign(link, { member, opener, endTurn });
      this.#links.add(link);
      const proof = await attachProof(await control.exporter(label.attach), await link.exporter(label.attach));
      link.send(FRAME.attach, {
        session: base32(board), incarnation: base32(control.incarnation), opener, proof: base64(proof),
        ...member === gateway ? {} : { route: base32(fromHex(member)) },
      });
      parseObject(await link.expect(FRAME.attached, ATTACHING + STEP));
      link.limit = PAYLOAD;
      this.#checkIsJoined(member);
      return link;
    } catch (error) {
      if (link) {
        this.#drop(link, error);
      } else {
        endTurn();
        this.#uncount(opener);
      }
      throw error;
    }
  }

  #drop(link, error) {
    this.#idle.delete(link);
    if (error instanceof TransferEnded) link.close("left");
    // Break a link that made no progress, so that the sender offers the resource again (RES-7).
    else if (error.code === "timed-out") link.abort();
    else link.fail(error);
    if (!this.#links.delete(link)) return;
    link.endTurn();
    this.#uncount(link.opener);
  }

  #uncount(opener) {
    this.#counts[opener]--;
    this.#wakeAll();
  }


  async #serve(member) {
    let link;
    try {
      link = await this.#attach(member, "listener");
      for (;;) {
        const { type, payload } = await link.read(CHUNK_TIMEOUT);
        this.#idle.delete(link);
        if (type === FRAME.offer) await this.#receive(link, member, parseObject(payload));
        else if (type === FRAME.streamOpen) this.#refuseStream(link, parseObject(payload));
        else if (type !== FRAME.cancel) throw malformed(`frame ${type} on an idle bulk link`);
        this.#idle.add(link);
        this.#wakeAll();
      }
    } catch (error) {
      if (!(error instanceof LinkEnded || error instanceof Violation || error instanceof TransferEnded)) {
        console.error(error);
      }
      if (link) this.#drop(link, error);
    }
  }

  /** Refuses a stream, because a guest does not use streams. */
  #refuseStream(link, open) {
    link.send(FRAME.streamReset, {
      id: base32(id(open, "id", 16)), code: 1, message: "A browser guest does not accept streams.",
    });
    throw new TransferEnded("refused");
  }

  async #receive(link, member, fields) {
    const name = text(fields, "name", 0, MAXIMUM_NAME), size = integer(fields, "size");
    const resource = { id: base32(id(fields, "id", 16)), size };
    const kind = `from ${member}`;
    if ((this.#transfers.get(kind) ?? 0) >= MAXIMUM_TRANSFERS) return cancel(link, resource, "busy");
    const release = this.#begin(kind);
    try {
      const { accepts, emit } = this.#options;
      if (size > MAXIMUM_SIZE) return await cancel(link, resource, "quota");
      if (!await accepts(member, name, size)) return await cancel(link, resource, "refused");
      let reportedAt = 0;
      const bytes = await accept(link, resource, (received) => {
        if (performance.now() - reportedAt < PROGRESS) return;
        reportedAt = performance.now();
        emit({ kind: "progress", member, name, received, size });
      });
      if (bytes) emit({ kind: "resource", member, name, bytes });
    } finally {
      release();
    }
  }
}

/** Interrupts `read` on an idle link that is used again. */
const USED = new Error("used");

function about(resource, payload) {
  const fields = parseObject(payload);
  if (base32(id(fields, "id", 16)) !== resource.id) throw malformed("a frame about another transfer");
  return fields;
}

// The sender of a resource (8.2)

async function offer(link, resource) {
  const { bytes } = resource;
  link.send(FRAME.offer, { id: resource.id, name: resource.name, size: bytes.length });
  const accepted = await answer(link, resource, FRAME.accepted);
  let offset = integer(accepted, "offset", 0, bytes.length);
  if (offset > 0) {
    const prefix = text(accepted, "prefix", 64, 64);
    if (hex(await sha256(bytes.subarray(0, offset))) !== prefix) offset = 0;
  }
  link.send(FRAME.start, { id: resource.id, offset });
  for (let position = offset; position < bytes.length; position += PAYLOAD) {
    await link.drained(BUFFERED);
    // Only a CANCEL can arrive now.
    const frame = link.poll();
    if (frame) checkAnswer(link, resource, frame);
    link.send(FRAME.chunk, bytes.subarray(position, position + PAYLOAD));
  }
  await link.drained(0);
  link.send(FRAME.end, { id: resource.id, sha256: hex(resource.sha256) });
  await answer(link, resource, FRAME.done);
}

const answer = async (link, resource, type) => checkAnswer(link, resource, await link.read(ANSWER_TIMEOUT), type);

/** Returns the JSON of an answer. If the answer is a CANCEL, answers the CANCEL and ends the transfer. */
function checkAnswer(link, resource, frame, type = null) {
  if (frame.type === type) return about(resource, frame.payload);
  if (frame.type !== FRAME.cancel) throw malformed(`frame ${frame.type} during a transfer`);
  const fields = about(resource, frame.payload);
  link.send(FRAME.cancel, { id: resource.id, code: "cancelled", message: "" });
  throw new TransferEnded(text(fields, "code"), text(fields, "message", 0, 512));
}

// The receiver of a resource (8.2)

/** Cancels a transfer, and drops frames until the sender's CANCEL arrives (RES-4). */
async function cancel(link, resource, code) {
  link.send(FRAME.cancel, { id: resource.id, code, message: "" });
  for (;;) {
    const { type, payload } = await link.read(CHUNK_TIMEOUT);
    if (type === FRAME.cancel) return void about(resource, payload);
    if (type !== FRAME.start && type !== FRAME.chunk && type !== FRAME.end) {
      throw malformed(`frame ${type} during a transfer`);
    }
  }
}

async function accept(link, resource, report) {
  link.send(FRAME.accepted, { id: resource.id, offset: 0 });
  const first = await link.read(CHUNK_TIMEOUT);
  // If the sender cancels before START, it expects no answer.
  if (first.type === FRAME.cancel) return void about(resource, first.payload), null;
  if (first.type !== FRAME.start) throw malformed(`frame ${first.type} instead of RESOURCE-START`);
  integer(about(resource, first.payload), "offset", 0, 0);
  const chunks = [];
  let count = 0, minute = performance.now(), minuteBytes = 0;
  for (;;) {
    const { type, payload } = await link.read(CHUNK_TIMEOUT);
    if (type === FRAME.cancel) {
      about(resource, payload);
      link.send(FRAME.cancel, { id: resource.id, code: "cancelled", message: "" });
      return null;
    }
    if (type === FRAME.end) {
      const expected = text(about(resource, payload), "sha256", 64, 64);
      if (count !== resource.size) return await cancel(link, resource, "size-mismatch"), null;
      const bytes = join(...chunks);
      if (hex(await sha256(bytes)) !== expected) return await cancel(link, resource, "hash-mismatch"), null;
      link.send(FRAME.done, { id: resource.id });
      return bytes;
    }
    if (type !== FRAME.chunk || !payload.length) throw malformed(`frame ${type} during a transfer`);
    count += payload.length;
    minuteBytes += payload.length;
    if (count > resource.size) return await cancel(link, resource, "size-mismatch"), null;
    chunks.push(payload);
    report(count);
    if (performance.now() - minute < CHUNK_TIMEOUT) continue;
    if (minuteBytes < PACE_BYTES) return await cancel(link, resource, "cancelled"), null;
    [minute, minuteBytes] = [performance.now(), 0];
  }
}
