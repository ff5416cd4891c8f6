// Tests of the storage of boards, with errors of IndexedDB and with two tabs. Other tests check bulk links and the last
// frame of a link.
//
// `Tests/Web/page` calls run(), which returns whether each check holds.

import { Board } from "./board.mjs";
import { FRAME, encodeFrame, utf8 } from "./frames.mjs";
import { Network } from "./network.mjs";
import { newKey } from "./replica.mjs";
import { BulkLinks } from "./resources.mjs";
import { openStorage } from "./storage.mjs";
import { WebLink } from "./weblink.mjs";

const module = await WebAssembly.compileStreaming(fetch("whiteboard.wasm"));
const id = new Uint8Array(16).fill(8);
const DAY = 86_400_000;

async function until(condition, time = 8_000) {
  const end = performance.now() + time;
  while (performance.now() < end) {
    if (await condition()) return true;
    await new Promise((resume) => setTimeout(resume, 5));
  }
  return false;
}

const digits = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

async function open({ keys = null, network = null, ...options } = {}) {
  keys ??= await newKey();
  const key = await crypto.subtle.exportKey("spki", keys.publicKey);
  const makeSession = network?.session(digits(new Uint8Array(await crypto.subtle.digest("SHA-256", key))));
  return Object.assign(await Board.open({ board: id, keys, module, makeSession, ...options }), { keys });
}

async function picture(color) {
  const canvas = new OffscreenCanvas(40, 20);
  const context = canvas.getContext("2d");
  context.fillStyle = color;
  context.fillRect(0, 0, 40, 20);
  return new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
}

/** Runs a request on a store of a database, with a connection of its own, and returns the result. */
const ask = (name, store, body) => new Promise((resolve, reject) => {
  const opening = indexedDB.open(name);
  opening.onerror = () => reject(opening.error);
  // Only the page creates a database.
  opening.onupgradeneeded = () => opening.transaction.abort();
  opening.onsuccess = () => {
    const transaction = opening.result.transaction(store, "readwrite");
    const request = body(transaction.objectStore(store));
    transaction.oncomplete = () => {
      opening.result.close();
      resolve(request.result);
    };
    transaction.onabort = () => reject(transaction.error);
  };
});

const count = (name, store) => ask(name, store, (changes) => changes.count());

/** Replaces a property while a function runs. */
async function replacing(object, key, value, body) {
  const original = object[key];
  object[key] = value(original);
  try {
    return await body();
  } finally {
    object[key] = original;
  }
}

/** Makes the storage try again soon. */
const soon = (body) => replacing(globalThis, "setTimeout", (original) =>
  (use, time, ...values) => original(use, time === 10_000 ? 50 : time, ...values), body);

const isBlob = (value) => value instanceof Blob;

/** An error in reading a photo does not mean that the photo is missing. */
async function reading(check) {
  const name = `reading-${Math.random()}`, network = new Network();
  const anna = await open({ storage: await openStorage(name), network });
  const photo = await anna.createPhoto(await picture("red"), [0, 0]);
  check("a photo is stored", await until(async () => await count(name, "photos") === 1));
  let errors = 0;
  const bert = await replacing(IDBObjectStore.prototype, "get", (get) => function (key) {
    if (this.name !== "photos") return get.call(this, key);
    errors += 1;
    throw new DOMException("The connection was lost.", "UnknownError");
  }, async () => {
    const bert = await open({ network });
    // Both attempts to read the photo have failed.
    await until(() => errors > 1 || !anna.objects.get(photo).isAssetAvailable);
    check("a photo cannot be read", errors > 0);
    return bert;
  });
  check("an error in reading does not make a photo unavailable", anna.objects.get(photo).isAssetAvailable);
  check("the other member requests it again", await until(() => bert.objects.get(photo)?.isAssetAvailable, 20_000));
  await Promise.all([anna.close(), bert.close()]);
}

/** A photo that does not fit is stored later. */
async function full(check) {
  const name = `full-${Math.random()}`;
  const board = await open({ storage: await openStorage(name) });
  let attempts = 0, photo;
  await soon(async () => {
    await replacing(IDBObjectStore.prototype, "put", (put) => function (value, key) {
      if (!isBlob(value)) return put.call(this, value, key);
      attempts += 1;
      throw new DOMException("full", "QuotaExceededError");
    }, async () => {
      photo = await board.createPhoto(await picture("green"), [0, 0]);
      check("a photo that does not fit is reported", await until(() => board.state.storage === "full"));
      const before = await count(name, "changes");
      board.createText("small", [0, 0]);
      check("changes that fit are stored meanwhile", await until(async () => await count(name, "changes") > before));
      const tried = attempts;
      check("the photo is tried again", await until(() => attempts > tried + 1));
      check("the storage is full until then", board.state.storage === "full");
    });
    check("the storage is not full once the photo is stored", await until(() => board.state.storage === "ok")
      && await count(name, "photos") === 1);
  });
  await board.close();
  const again = await open({ storage: await openStorage(name), keys: board.keys });
  check("the photo is there after a reload", again.objects.size === 2 && again.objects.get(photo).isAssetAvailable);
  await again.close();
}

/** A tab that was suspended while another tab took its board over. `owesKeyframe`: whether its last write failed. */
async function resuming(check, owesKeyframe) {
  const name = `tabs-${Math.random()}`, label = owesKeyframe ? " (keyframe)" : "";
  const storage = await openStorage(name);
  // This tab does not learn that it has lost the lock.
  const old = await open({ storage: { lock: async () => () => {}, log: (...values) => storage.log(...values) } });
  old.createText("first", [0, 0]);
  await until(async () => await count(name, "changes") > 0);
  await soon(async () => {
    const isFull = await replacing(IDBDatabase.prototype, "transaction", (original) => function (...values) {
      if (owesKeyframe) throw new DOMException("full", "QuotaExceededError");
      return original.apply(this, values);
    }, async () => {
      if (!owesKeyframe) return true;
      old.createText("not stored", [0, 0]);
      return until(() => old.state.storage === "full");
    });
    check(`the old tab is suspended${label}`, isFull);
    const current = await open({ storage: await openStorage(name), keys: old.keys });
    const text = current.createText("second", [0, 0]);
    const { digest } = current;
    const stored = () => ask(name, "changes", (changes) => changes.getAll()).then((changes) => changes.join());
    await until(async () => await count(name, "changes") > 1);
    await current.close();
    const whole = await stored();
    // On a slow machine, the old tab may already have learned that the board is elsewhere.
    if (!owesKeyframe && !old.state.isElsewhere) old.createText("late", [0, 0]);
    check(`the old tab learns that the board is elsewhere${label}`, await until(() => old.state.isElsewhere));
    await old.close();
    check(`the old tab overwrites nothing${label}`, await stored() === whole);
    const again = await open({ storage: await openStorage(name), keys: old.keys });
    check(`what the current tab drew is there after a reload${label}`, again.digest === digest && again.objects.has(text));
    check(`the current tab stores the board${label}`, again.state.storage === "ok" && !again.state.isElsewhere);
    await again.close();
  });
}

/** A database that is deleted while the board is open, as when the user clears the data of the page. */
async function deleting(check) {
  const name = `deleted-${Math.random()}`;
  const board = await open({ storage: await openStorage(name) });
  board.createText("before", [0, 0]);
  await until(async () => await count(name, "changes") > 0);
  await new Promise((resolve) => indexedDB.deleteDatabase(name).onsuccess = resolve);
  await soon(async () => {
    board.createText("after", [0, 0]);
    check("a deleted database is filled again", await until(async () =>
      (await ask(name, "changes", (changes) => changes.getAll()).catch(() => [])).some(([kind]) => kind === 4)));
    await until(() => board.state.storage === "ok");
  });
  await board.close();
  const again = await open({ storage: await openStorage(name), keys: board.keys });
  check("the whole board is in it", again.objects.size === 2 && again.digest === board.digest);
  await again.close();
}

/** Photos that the board does not know any more, and boards that were not opened for a long time. */
async function cleaning(check) {
  const name = `clean-${Math.random()}`;
  const first = await open({ storage: await openStorage(name) });
  const [purged, deleted, shown] = [
    await first.createPhoto(await picture("red"), [0, 0]), await first.createPhoto(await picture("green"), [0, 0]),
    await first.createPhoto(await picture("blue"), [0, 0]),
  ];
  const hashes = new Map([purged, deleted, shown].map((photo) => [photo, first.objects.get(photo).sha256]));
  first.remove(purged);
  await until(async () => await count(name, "photos") === 3);
  await first.close();

  // After a reload, undo does not restore the photo, so it is purged after some time.
  const purges = [];
  let later = 0;
  await replacing(performance, "now", (now) => () => now.call(performance) + later, async () => {
    const board = await replacing(globalThis, "setInterval", () => (purge) => purges.push(purge), async () =>
      open({ storage: await openStorage(name), keys: first.keys }));
    for (const purge of purges) purge();
    later = 400 * DAY;
    for (const purge of purges) purge();
    later = 0;
    for (let number = 0; number < 2500; number += 1) board.move(shown, [number % 2 ? -1 : 1, 0]);
    board.remove(deleted);
    await until(async () => await count(name, "changes") < 1000);
    const kept = (await ask(name, "photos", (photos) => photos.getAllKeys())).map(([, sha256]) => sha256).sort();
    check("a purged photo is deleted, and one whose deletion can be undone is not",
      kept.join() === [hashes.get(deleted), hashes.get(shown)].sort().join());
    board.undo();
    check("undo brings a photo back", (await board.photo(hashes.get(deleted)))?.size > 0
      && board.objects.get(deleted).isAssetAvailable);
    const again = await board.createPhoto(await picture("red"), [0, 0]);
    check("a deleted photo can be added again", board.objects.get(again).isAssetAvailable
      && await until(async () => await count(name, "photos") === 3));
    await board.close();
  });

  const boards = Object.fromEntries(["old", "pending", "recent", "locked"].map((what, index) => [what, new Uint8Array(16).fill(20 + index)]));
  let release;
  for (const [what, board] of Object.entries(boards)) {
    const opened = await open({ storage: await openStorage(name), board });
    await opened.createPhoto(await picture("black"), [0, 0]);
    await until(async () => await ask(name, "photos", (photos) => photos.count(IDBKeyRange.bound([digits(board)], [digits(board), []]))) === 1);
    await opened.close();
    const entry = await ask(name, "boards", (entries) => entries.get(digits(board)));
    const openedAt = Date.now() - (what === "recent" ? 1 : 40) * DAY;
    await ask(name, "boards", (entries) => entries.put({ ...entry, openedAt, confirmed: { pending: what === "pending" ? 1 : 0 } }, digits(board)));
    if (what === "locked") release = await (await openStorage(name)).lock(board, () => {});
  }
  const last = await open({ storage: await openStorage(name), keys: first.keys });
  const listed = async (store) => new Set((await ask(name, store, (entries) => entries.getAllKeys())).map((found) => [found].flat()[0]));
  check("an old board is deleted", await until(async () => !(await listed("boards")).has(digits(boards.old))));
  const left = await Promise.all(["boards", "changes", "photos"].map(listed));
  check("its changes and photos are deleted", left.every((keys) => !keys.has(digits(boards.old))));
  check("other boards are kept", ["pending", "recent", "locked"].every((what) => left.every((keys) => keys.has(digits(boards[what]))))
    && left.every((keys) => keys.has(digits(id))));
  release();
  await last.close();
}

/** A member that requests many photos at the same time. */
async function requesting(check) {
  let reads = 0, offers = 0;
  const member = "cc".repeat(32);
  const links = new BulkLinks({
    board: id, gateway: member, accepts: () => true, emit: () => {}, isJoined: () => true, isPost: false,
    control: { exporter: async () => new Uint8Array(32), incarnation: new Uint8Array(8) },
    // Links whose receiver never answers.
    openLink: async () => ({
      isOpen: true, exporter: async () => new Uint8Array(32), send: (type) => offers += type === FRAME.offer,
      expect: async () => utf8("{}"), read: () => new Promise(() => {}), close() {}, abort() {}, fail() {},
    }),
  });
  const photo = { arrayBuffer: async () => (reads += 1, new ArrayBuffer(8)) };
  for (let number = 0; number < 64; number += 1) links.send(member, `photo ${number}`, photo).catch(() => {});
  check("photos are offered", await until(() => offers === 8));
  check(`only photos that are being sent are in memory (${reads})`, reads === 8);
  links.close();
}

/** The last frame of a link over POST. */
async function leaving(check) {
  const sent = [];
  await replacing(globalThis, "fetch", () => async (address, { body, keepalive }) => {
    if (body) sent.push({ body, keepalive });
    if (body) return new Response(null, { status: 204 });
    const challenge = encodeFrame(FRAME.webChallenge, { nonce: "", peer: "" });
    const stream = new ReadableStream({ start: (controller) => controller.enqueue(challenge) });
    return new Response(stream, { headers: { "Whiteboard-Link": "a".repeat(26) } });
  }, async () => {
    const link = new WebLink("post", "https://host");
    check("a link over POST opens", await until(() => link.hasBytes));
    link.send(FRAME.webProof, {});
    await until(() => link.bufferedBytes === 0);
    check("a frame is sent without keepalive", sent.length === 1 && !sent[0].keepalive);
    link.close("left");
    check("the browser sends CLOSE even if the page is closed", sent.length === 2 && sent[1].keepalive
      && sent[1].body[0] === FRAME.close);
  });
}

export async function run(parts) {
  const results = [];
  const all = {
    reading, full, resuming: (check) => resuming(check, false), owing: (check) => resuming(check, true), deleting, cleaning,
    requesting, leaving,
  };
  for (const [part, body] of Object.entries(all)) {
    if (parts && !parts.includes(part)) continue;
    const check = (what, holds) => results.push([what, Boolean(holds)]);
    try {
      await body(check);
    } catch (error) {
      check(`${part}: ${error}\n${error.stack}`, false);
    }
  }
  return results;
}
