// Two replicas with keys of WebCrypto, which exchange messages in this page.

import { BoardReplica, newKey } from "./replica.mjs";

const board = new Uint8Array(16).fill(7);
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const module = await WebAssembly.compileStreaming(fetch("whiteboard.wasm"));

/** A replica, and the link to the other replica. */
class Side {
  stored = [];
  events = [];
  errors = [];
  /** The messages that were sent, in hexadecimal digits. */
  sent = [];
  isConnected = false;
  #queue = [];

  static async create(key = null) {
    const side = new Side();
    side.key = key ?? await newKey();
    side.replica = await BoardReplica.create(module, board, side.key, (action) => side.#perform(action));
    return side;
  }

  #perform(action) {
    switch (action.kind) {
      case "record": this.stored.push(action.bytes); break;
      case "event":
        this.events.push(action.value);
        if (action.value.event === "violation") this.errors.push(action.value.message);
        break;
      case "failed": this.errors.push(String(action.error)); break;
      case "done": break;
      case "send":
        this.sent.push(hex(action.bytes));
        this.#queue.push((other) => other.received(this.replica.member, action.bytes));
        break;
      case "sendDatagram":
        this.#queue.push((other) => other.received(this.replica.member, action.bytes, false));
        break;
      case "sendAnswer":
        this.#queue.push((other) => {
          other.receivedAnswer(this.replica.member, action.name.request, action.bytes);
          this.replica.answerSent(action.member, action.name.request);
        });
        break;
      default: this.errors.push(`unexpected: ${action.kind}`);
    }
  }

  /** Delivers the queued messages; returns whether there were any. */
  deliver(other) {
    const queue = this.#queue.splice(0);
    if (this.isConnected) for (const use of queue) use(other.replica);
    return queue.length > 0;
  }
}

function connect(one, other, isConnected) {
  for (const [side, peer] of [[one, other], [other, one]]) {
    side.isConnected = isConnected;
    if (isConnected) side.replica.memberJoined(peer.replica.member);
    else side.replica.memberLeft(peer.replica.member);
  }
}

/** Delivers messages until both boards are equal, for at most 20 s. */
async function settle(one, other) {
  const end = performance.now() + 20_000;
  while (performance.now() < end) {
    await one.replica.settled();
    await other.replica.settled();
    const isBusy = [one.deliver(other), other.deliver(one)].some((was) => was);
    if (!isBusy && one.replica.digest === other.replica.digest) return true;
    await new Promise((resume) => setTimeout(resume, 5));
  }
  return false;
}

function draw(side, count, offset) {
  for (let number = 0; number < count; number += 1) {
    const ink = Array.from({ length: 20 }, (_, step) => [offset + 3 * step, 10 * number + step, 0]).flat();
    side.replica.edit({ do: "createDrawing", ink, lineWidth: 4, color: 0x3366CC });
  }
}

/** Draws on both sides, even while they are not connected, and returns what a test checks. */
window.run = async () => {
  const [anna, bert] = [await Side.create(), await Side.create()];
  const result = { members: [anna.replica.member, bert.replica.member], board: hex(board) };
  connect(anna, bert, true);
  draw(anna, 20, 0);
  anna.replica.edit({ do: "createText", text: "hello 漢字", at: [100, 50] });
  result.live = await settle(anna, bert);
  // A native replica will receive the same messages.
  result.messages = [...anna.sent];
  result.digest = anna.replica.digest;

  // Input that is refused changes nothing, and the next input is handled.
  const refused = [
    { do: "createDrawing", ink: [], lineWidth: 5 }, { do: "createDrawing", ink: [1e12, 0, 0], lineWidth: 5 },
    { do: "createText", text: "x".repeat(100_000), at: [0, 0] },
  ];
  result.refused = refused.map((edit) => anna.replica.edit(edit).code).join();
  bert.replica.receivedAnswer(anna.replica.member, NaN, new Uint8Array(3));
  bert.replica.receivedAnswer(anna.replica.member, 1e300, new Uint8Array(3));
  bert.replica.received("00", new Uint8Array(0));
  anna.replica.edit({ do: "createDrawing", ink: [1, 2, 0, 3, 4, 0], lineWidth: 4, color: 0xFF0000FF });
  result.color = anna.events.some((event) => event.object?.color?.toLowerCase().endsWith("ff0000ff"));

  const text = anna.events.find((event) => event.object?.type === "text");
  result.text = text?.object;
  bert.replica.edit({ do: "move", ids: [text.object.id], by: [12, -8] });
  draw(bert, 10, 200);
  result.both = await settle(anna, bert);

  connect(anna, bert, false);
  draw(anna, 15, 400);
  bert.replica.edit({ do: "remove", ids: [text.object.id] });
  bert.replica.edit({ do: "createText", text: "while apart", at: [0, 0] });
  await Promise.all([anna.replica.settled(), bert.replica.settled()]);
  result.apart = anna.replica.digest !== bert.replica.digest;
  connect(anna, bert, true);
  result.again = await settle(anna, bert);

  // A reload: a new replica restores what was stored.
  const again = await Side.create(anna.key);
  again.replica.restore(anna.stored);
  await again.replica.settled();
  result.restored = again.replica.digest === anna.replica.digest;
  result.objects = new Set(anna.events.filter((event) => event.event === "object").map((event) => event.object.id)).size;
  result.errors = [...anna.errors, ...bert.errors, ...again.errors];
  result.failures = [anna, bert, again].map((side) => side.replica.failure).filter(Boolean).map(String);
  for (const side of [anna, bert, again]) side.replica.close();
  return result;
};
document.title = "ready";
