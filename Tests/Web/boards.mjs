// Tests of boards in this page (board.mjs): edits, merges, photos, games, storage, and bad input.
//
// The test calls run(), which returns whether each check holds.

import { Board } from "./board.mjs";
import { Network } from "./network.mjs";
import { newKey } from "./replica.mjs";
import { openStorage } from "./storage.mjs";

const module = await WebAssembly.compileStreaming(fetch("whiteboard.wasm"));
const id = new Uint8Array(16).fill(9);
const pause = (time = 5) => new Promise((resume) => setTimeout(resume, time));

/** Waits until a condition holds; returns false if this takes too long. */
async function until(condition, time = 20_000) {
  const end = performance.now() + time;
  while (performance.now() < end) {
    if (await condition()) return true;
    await pause();
  }
  return false;
}

const equal = (...boards) => until(() => boards.every((board) => board.digest === boards[0].digest));

/** Returns the code of the error that a function throws; null if it throws none. */
async function code(body) {
  try {
    await body();
    return null;
  } catch (error) {
    return error.code ?? String(error);
  }
}

/** Opens a board with a new member, or with the member that has the given key. */
async function open({ network = null, keys = null, name = "", storage = null, board = id } = {}) {
  keys ??= await newKey();
  let makeSession = null;
  const der = await crypto.subtle.exportKey("spki", keys.publicKey);
  const member = Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", der)))
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (network) makeSession = network.session(member);
  const opened = await Board.open({ board, keys, name, module, storage, makeSession });
  opened.keys = keys;
  return opened;
}

async function picture(type, color = "red", width = 40, height = 20) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  context.fillStyle = color;
  context.fillRect(0, 0, width, height);
  return new Uint8Array(await (await canvas.convertToBlob({ type })).arrayBuffer());
}

const JPEG = await picture("image/jpeg");

const points = (x, y, count = 20) => Array.from({ length: count }, (_, step) => [x + 5 * step, y + step]);
const has = (board, id, change = () => true) => until(() => board.objects.has(id) && change(board.objects.get(id)));

async function editing(check) {
  const network = new Network();
  const [anna, bert] = [await open({ network, name: "Anna" }), await open({ network, name: "Bert" })];
  check("members see names and colors", await until(() =>
    bert.members.get(anna.me.id)?.name === "Anna" && bert.members.get(anna.me.id)?.color === anna.me.color
      && bert.members.get(anna.me.id)?.role === "editor"));
  const events = [];
  for (const type of ["objects", "previews", "members", "chat", "state", "photo", "selectionLost"]) {
    bert.addEventListener(type, ({ detail }) => events.push({ type, detail }));
  }

  // Strokes
  const stroke = anna.beginStroke({ lineWidth: 4, color: "#3366cc" });
  anna.extendStroke(stroke, [[0, 0, 0.5], [10, 10, 1]]);
  check("a stroke is previewed", await until(() => bert.previews.get(stroke)?.points.length === 2));
  anna.extendStroke(stroke, [[20, 10, 0.2]]);
  anna.endStroke(stroke);
  check("a stroke arrives with pressure", await has(bert, stroke, (object) =>
    object.isFinished && object.points.length === 3 && object.color === "#3366ccff" && object.pressure?.[1] === 255));
  check("the preview ends", !bert.previews.has(stroke) && bert.objects.get(stroke).author === anna.me.id);
  anna.undo();
  check("a stroke is one step", !anna.objects.has(stroke) && anna.canRedo && !anna.canUndo);
  anna.redo();
  const cancelled = anna.beginStroke();
  anna.extendStroke(cancelled, [[1, 1]]);
  anna.cancelStroke(cancelled);
  const emptyStroke = anna.beginStroke();
  anna.endStroke(emptyStroke);
  check("a cancelled or empty stroke is deleted", !anna.objects.has(cancelled) && !anna.objects.has(emptyStroke));

  // Shapes, texts, and arranging
  const shapes = ["line", "rectangle", "ellipse", "arrow"].map((shape, index) =>
    anna.createShape(shape, [100 * index, 200], [100 * index + 50, 260], { lineWidth: 3, color: 0x00FF00FF }));
  const text = anna.createText("hello 漢字 🙂", [50, 50], { color: "#ff0000" });
  check("shapes and texts arrive", await equal(anna, bert) && await has(bert, text, (object) =>
    object.text === "hello 漢字 🙂") && shapes.every((shape) => bert.objects.has(shape)));
  anna.move([text, shapes[0]], [10, -5]);
  check("objects move", anna.objects.get(text).centerPosition.join() === "60,45");
  anna.scale(text, 2);
  anna.scale(shapes, 0.5, { keepsLineWidth: true });
  anna.rotate(text, Math.PI / 2);
  anna.rotate([shapes[1], shapes[2]], 1, { pivot: [0, 0] });
  anna.restyle([text, shapes[1]], { color: null, lineWidth: 12 });
  check("objects change", anna.objects.get(text).scale === 2 && Math.abs(anna.objects.get(text).angle - Math.PI / 2) < 0.01
    && anna.objects.get(text).color === undefined && anna.objects.get(shapes[1]).lineWidth === 12);
  const copies = anna.duplicate([text, shapes[0]], [7, 7]);
  check("objects are copied", copies.length === 2 && anna.objects.get(copies[0]).text === "hello 漢字 🙂");
  anna.bringToFront(shapes[0]);
  check("an object goes to the front", anna.order.at(-1) === shapes[0]);
  anna.sendToBack(shapes[0]);
  anna.bringForward(shapes[0]);
  anna.sendBackward(shapes[0]);
  check("an object goes to the back", anna.order[0] === shapes[0] && anna.order.length === anna.objects.size);
  anna.remove(copies);
  check("objects are removed", !anna.objects.has(copies[0]));
  anna.undo();
  check("a removal is undone", anna.objects.has(copies[0]));
  anna.beginStep("move");
  for (let step = 0; step < 5; step += 1) anna.move(text, [1, 0]);
  anna.endStep();
  const { centerPosition: [x] } = anna.objects.get(text);
  anna.undo();
  check("a drag is one step", anna.objects.get(text).centerPosition[0] === x - 5);
  const line = anna.createDrawing(points(0, 500), { lineWidth: 4 });
  check("an eraser erases", anna.erase([[50, 510]], 10).join() === line && anna.objects.get(line).erased.length === 1);
  check("the same board after edits", await equal(anna, bert)
    && anna.order.join() === bert.order.join());

  // Forms, their labels and styles
  const box = anna.createForm("rounded", [400, 400], { size: [160, 80], text: "one", fill: "#a5d8ff80", lineStyle: "dashed", color: "#e8601c" });
  const note = anna.createForm("note", [600, 400]);
  const arrow = anna.createForm("arrow", [400, 600], { points: [[-50, 0], [50, 0]], lineStart: "dot", isCurved: true });
  check("forms arrive", await equal(anna, bert) && await has(bert, box, (object) => object.form === "rounded" && object.size.join() === "160,80"
    && object.text === "one" && object.fill === "#a5d8ff80" && object.lineStyle === "dashed" && object.lineWidth === 2 && object.color === "#e8601cff")
    && bert.objects.get(note).size.join() === "200,200" && bert.objects.get(arrow).lineStart === "dot" && bert.objects.get(arrow).points.join() === "-50,0,50,0");
  anna.resize(box, [100, 120], [410, 390]);
  check("a form has another size", anna.objects.get(box).size.join() === "100,120" && anna.objects.get(box).centerPosition.join() === "410,390" && anna.objects.get(box).lineWidth === 2);
  anna.undo();
  check("a new size is one step", anna.objects.get(box).size.join() === "160,80" && anna.objects.get(box).centerPosition.join() === "400,400");
  anna.setPoints(arrow, [[350, 600], [400, 550], [450, 600]]);
  check("a line has other points", anna.objects.get(arrow).points.length === 3 && await equal(anna, bert));
  anna.undo();
  check("new points are one step", anna.objects.get(arrow).points.length === 2);
  anna.setText(box, "one two");
  await equal(anna, bert);
  bert.setText(box, "zero one two", "one two");
  anna.setText(box, "one two three", "one two");
  check("two members write one label", await equal(anna, bert) && bert.objects.get(box).text === "zero one two three");
  const styles = { fill: null, lineStyle: "dotted", opacity: 0.5, textSize: 24, typeface: "code", alignment: "right", isBold: true, isItalic: true, textColor: "#ff0000ff", form: "diamond" };
  anna.restyle([box, note, text], styles);
  const { fill, opacity, ...others } = anna.objects.get(box);
  check("styles change", fill === undefined && Math.abs(opacity - 0.5) < 0.01 && Object.entries(styles).slice(3).every(([key, value]) => others[key] === value)
    && anna.objects.get(note).form === "diamond" && anna.objects.get(text).isBold === true && anna.objects.get(text).lineStyle === undefined);
  anna.undo();
  check("new styles are one step", anna.objects.get(box).fill === "#a5d8ff80" && anna.objects.get(box).form === "rounded" && !anna.objects.get(text).isBold);
  anna.restyle(arrow, { lineEnd: "none", lineStart: "bar", isCurved: false });
  check("ends change", anna.objects.get(arrow).lineEnd === "none" && anna.objects.get(arrow).lineStart === "bar" && !anna.objects.get(arrow).isCurved && await equal(anna, bert));
  check("a wrong style is refused", await code(() => anna.restyle(box, { lineStyle: "wavy" })) === "out-of-range" && await code(() => anna.resize(line, [1, 1])) === "wrong-kind");
  anna.restyle(note, { lineStyle: "dashed", lineWidth: 3, fill: "#b2f2bb" });
  anna.remove([box, note, arrow]);

  // Selections
  anna.select(text);
  check("a selection holds an object", await has(bert, text, (object) => object.selectedBy === anna.me.id)
    && await code(() => bert.move(text, [1, 1])) === "held");
  anna.deselect(text);
  check("a selection ends", await has(bert, text, (object) => object.selectedBy === null));
  anna.select(shapes[2]);
  bert.select(shapes[2]);
  check("one of two selections wins", await until(() =>
    anna.objects.get(shapes[2]).selectedBy === bert.objects.get(shapes[2]).selectedBy));
  anna.deselect();
  bert.deselect();
  check("all selections end", await equal(anna, bert));
  anna.setLocked(shapes[3], true);
  check("a locked object stays", await code(() => anna.move(shapes[3], [1, 0])) === "locked");
  anna.setLocked(shapes[3], false);
  const group = anna.group([shapes[0], shapes[1]]);
  anna.move(group, [1, 1]);
  check("a group moves", anna.objects.get(shapes[0]).groups.join() === group);
  anna.ungroup(group);

  // Texts merge by character.
  const shared = anna.createText("one three", [0, 0]);
  await has(bert, shared);
  bert.setText(shared, "one three four");
  await has(anna, shared, (object) => object.text === "one three four");
  anna.setText(shared, "one two three", "one three");
  check("setting a text keeps later changes by others", anna.objects.get(shared).text === "one two three four");
  check("a member that changes a text is typing", await until(() => bert.members.get(anna.me.id).isTyping));
  anna.setText(shared, "");
  anna.undo();
  check("typing is undone", await equal(anna, bert));

  // Presence, names and chat
  anna.showPresence({ cursor: [12.5, 7], pointer: "laser", viewport: { center: [0, 0], width: 800, height: 600 } });
  check("a pointer and a view are shown", await until(() => {
    const { cursor, pointer, viewport } = bert.members.get(anna.me.id);
    return cursor?.join() === "12.5,7" && pointer === "laser" && viewport?.width === 800;
  }));
  anna.showPresence({});
  check("a pointer is hidden", await until(() => bert.members.get(anna.me.id).cursor === null));
  anna.setProfile("Anna B.", "👻");
  check("a name changes", await until(() => bert.members.get(anna.me.id).name === "Anna B."));
  for (const line of ["hello", "second"]) anna.sendChat(line);
  bert.sendChat("at the same time");
  await until(() => bert.chat.length === 3);
  bert.sendChat("answer");
  const lines = (board) => board.chat.map(({ text, author }) => `${author} ${text}`).join();
  check("chat", await until(() => anna.chat.length === 4) && lines(anna) === lines(bert)
    && anna.chat[3].text === "answer" && anna.chat[3].author === bert.me.id);

  // Games
  const four = anna.createGame("connect-four", [0, 0]);
  await has(bert, four);
  anna.play(four, "4");
  await has(bert, four, (object) => object.view.players.length === 1);
  bert.play(four, "4");
  check("Connect Four", await has(anna, four, (object) => object.view.grid.at(-2)[3] === "Y"
    && object.view.turn === anna.me.id) && await code(() => bert.play(four, "1")) === "not-your-turn");
  const wordle = bert.createGame("wordle", [300, 0]);
  await has(anna, wordle);
  anna.play(wordle, "crane");
  check("Wordle", await has(bert, wordle, (object) => object.view.players[0]?.member === anna.me.id)
    && anna.objects.get(wordle).view.players[0].rows[0].word === "crane"
    && await code(() => anna.play(wordle, "xxxxx")) === "unknown-word");

  // Photos in both directions
  const jpeg = await anna.createPhoto(await picture("image/jpeg"), [0, 0]);
  const png = await bert.createPhoto(await picture("image/png", "blue"), [100, 0]);
  const same = await anna.createPhoto(await picture("image/jpeg"), [50, 50]);
  check("photos arrive in both directions", await has(bert, jpeg, (object) => object.isAssetAvailable)
    && await has(anna, png, (object) => object.isAssetAvailable) && await has(bert, same, (object) => object.isAssetAvailable));
  const { sha256, size, pixelSize, format } = bert.objects.get(jpeg);
  const received = await bert.photo(sha256);
  check("a photo has its size and type", size.join() === "200,100" && pixelSize.join() === "40,20" && format === "jpeg"
    && received.type === "image/jpeg" && bert.objects.get(png).format === "png");
  check("a photo has an event", events.some(({ type, detail }) => type === "photo" && detail.sha256 === sha256));
  const webp = await picture("image/webp");
  check("other files are refused", [
    await code(() => anna.createPhoto(webp, [0, 0])),
    await code(() => anna.createPhoto(new Uint8Array(100), [0, 0])),
    await code(() => anna.createPhoto(new Uint8Array(0), [0, 0])),
    await code(() => anna.createPhoto(JPEG.slice(0, -10), [0, 0])),
  ].join() === "photo-format,photo-format,photo-bytes,photo-truncated");

  check("synced, with nothing pending", await until(() => anna.state.isSynced && bert.state.isSynced && !anna.state.pending
    && !bert.state.pending));
  check("all events arrived", ["objects", "previews", "members", "chat", "state"].every((kind) =>
    events.some(({ type }) => type === kind)));
  check("no failure", !anna.state.failure && !bert.state.failure);
  await Promise.all([anna.close(), bert.close()]);
  check("a closed board refuses edits", await code(() => anna.createText("x", [0, 0])) === "closed");
}

/** Undo keeps what other members have changed, and reports this. */
async function undoing(check) {
  const network = new Network();
  const [anna, bert] = [await open({ network }), await open({ network })];
  const text = anna.createText("first", [0, 200]), box = anna.createForm("rectangle", [0, 0], { size: [100, 60] });
  await has(bert, box);
  bert.setText(box, "by Bert");
  await has(anna, box, (object) => object.text === "by Bert");
  check("undo skips a creation that others have changed since, and undoes an earlier step", anna.undo() === 1 && anna.objects.has(box) && !anna.objects.has(text));
  check("an undo that skips nothing says so", anna.redo() === 0 && anna.objects.has(text) && anna.undo() === 0);
  const other = anna.createForm("ellipse", [0, 0], { size: [100, 60] });
  await has(bert, other);
  bert.setText(other, "by Bert, too");
  await has(anna, other, (object) => object.text === "by Bert, too");
  let error = null;
  try { anna.undo(); } catch (thrown) { error = thrown; }
  check("if all steps are skipped, the error says so", error?.code === "nothing-to-undo" && error.detail.skipped === 1 && error.message.includes("others have changed"));
  check("the boards are equal", await equal(anna, bert));
  for (const board of [anna, bert]) await board.close();
}

async function merging(check) {
  const network = new Network();
  const [anna, bert] = [await open({ network }), await open({ network })];
  const text = anna.createText("shared", [0, 0]);
  await has(bert, text);
  await until(() => !anna.state.pending);
  network.isOpen = false;
  check("offline", anna.state.connection === "offline" && anna.members.size === 0);
  anna.setText(text, "shared by Anna");
  bert.setText(text, "Bert shared");
  bert.move(text, [5, 5]);
  for (let number = 0; number < 30; number += 1) anna.createDrawing(points(10 * number, 0));
  const photo = await bert.createPhoto(await picture("image/png", "green"), [0, 0]);
  check("changes are pending", anna.state.pending === 31 && bert.state.pending === 2);
  check("the boards differ", anna.digest !== bert.digest);
  network.isOpen = true;
  check("the boards merge", await equal(anna, bert) && anna.objects.get(text).text === "Bert shared by Anna"
    && await has(anna, photo, (object) => object.isAssetAvailable));
  check("nothing is pending", await until(() => !anna.state.pending && !bert.state.pending && anna.state.isSynced));

  // A resource that is lost is sent again.
  let dropped = 0;
  network.drops = () => (dropped += 1) < 4;
  network.isOpen = false;
  anna.createText("again", [0, 0]);
  const other = await anna.createPhoto(await picture("image/png", "yellow"), [0, 0]);
  network.isOpen = true;
  check("lost resources are requested again", await equal(anna, bert)
    && await until(() => bert.objects.get(other)?.isAssetAvailable, 60_000));
  await Promise.all([anna.close(), bert.close()]);
}

async function storing(check) {
  const name = `boards-${Math.random()}`;
  const storage = await openStorage(name);
  const first = await open({ storage });
  const text = first.createText("stored", [1, 2]);
  for (let number = 0; number < 50; number += 1) first.createDrawing(points(number, number));
  const photo = await first.createPhoto(await picture("image/png", "black"), [0, 0]);
  first.sendChat("kept");
  const { digest } = first;
  check("a board is stored", first.state.storage === "ok" && first.state.pending === 53);

  const second = await open({ storage: await openStorage(name), keys: first.keys });
  check("a second tab is another member without storage", second.state.isSecondTab && second.me.id !== first.me.id
    && second.state.storage === "off" && second.objects.size === 0);
  await second.close();
  await first.close();

  const again = await open({ storage: await openStorage(name), keys: first.keys });
  check("a reload restores the board", again.digest === digest && again.objects.get(text)?.text === "stored"
    && again.chat[0]?.text === "kept" && again.me.id === first.me.id && again.state.pending === 53);
  const { sha256 } = again.objects.get(photo);
  check("a reload restores photos", again.objects.get(photo).isAssetAvailable && (await again.photo(sha256)).size > 0);
  again.createText("after the reload", [0, 0]);

  // Keyframes replace many changes.
  for (let number = 0; number < 2500; number += 1) again.move(text, [number % 2 ? -1 : 1, 0]);
  await until(async () => (await count(name)) < 1000);
  const stored = await count(name);
  check(`a keyframe replaces changes (${stored} stored)`, stored < 1000);
  const last = again.digest;
  const { pending } = again.state;
  await again.close();
  const restored = await open({ storage: await openStorage(name), keys: first.keys });
  check("a keyframe restores the board", restored.digest === last && restored.state.pending === pending);

  // Another member confirms what was stored.
  await restored.close();
  const network = new Network();
  const [anna, bert] = [
    await open({ network, storage: await openStorage(name), keys: first.keys }), await open({ network }),
  ];
  check("a stored board reaches another member", await equal(anna, bert) && await until(() => !anna.state.pending));
  await anna.close();
  const confirmed = await open({ storage: await openStorage(name), keys: first.keys });
  check("a confirmation is stored", confirmed.state.pending === 0);
  await Promise.all([confirmed.close(), bert.close()]);

  // Full storage: writes fail for a time.
  const full = await open({ storage: await openStorage(`full-${name}`) });
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function () { throw new DOMException("full", "QuotaExceededError"); };
  full.createText("not stored", [0, 0]);
  check("full storage is reported, and the board keeps working", await until(() => full.state.storage === "full")
    && full.objects.size === 1);
  full.createText("not stored either", [0, 0]);
  IDBDatabase.prototype.transaction = transaction;
  check("storage is used again", await until(() => full.state.storage === "ok", 30_000));
  full.createText("stored", [0, 0]);
  const whole = full.digest;
  await full.close();
  const filled = await open({ storage: await openStorage(`full-${name}`), keys: full.keys });
  check("nothing is missing afterwards", filled.digest === whole && filled.objects.size === 3);
  await filled.close();

  // A browser without storage
  const { open: openDatabase } = IDBFactory.prototype;
  IDBFactory.prototype.open = () => { throw new DOMException("private", "SecurityError"); };
  const none = await open({ storage: await openStorage("none") });
  IDBFactory.prototype.open = openDatabase;
  none.createText("in memory", [0, 0]);
  check("without storage, the board is in memory", none.state.storage === "off" && none.objects.size === 1);
  await none.close();
}

/** The number of stored changes. */
function count(name) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(name);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const counting = opening.result.transaction("changes").objectStore("changes").count();
      counting.onsuccess = () => {
        opening.result.close();
        resolve(counting.result);
      };
    };
  });
}

/** Returns a seeded generator of numbers below a bound. */
function seeded(seed) {
  return (bound) => {
    seed = Math.imul(seed, 1664525) + 1013904223 >>> 0;
    return Math.floor(seed / 2 ** 32 * bound);
  };
}

/** Calls all functions with bad and good arguments; a trap would end the replica. */
async function fuzzing(check, seeds) {
  const network = new Network();
  const [anna, bert] = [await open({ network }), await open({ network })];
  let refused = 0, done = 0, last = "";
  for (let seed = 1; seed <= seeds; seed += 1) {
    const pick = seeded(seed);
    const one = (list) => list[pick(list.length)];
    const ids = () => [...anna.objects.keys()];
    const bad = [NaN, Infinity, -Infinity, 1e300, -1e300, 1e-300, 2 ** 31, -(2 ** 31), 2 ** 53, 33_554_432, -33_554_433, 0.1, 0, -0, "", "x", null,
      undefined, true, {}, [], "\ud800", "0-a", "1-aaaaaaaaaaaaa", "9".repeat(50), "é\u0301\u202e"];
    const number = () => (pick(2) ? one(bad) : pick(2000) - 1000);
    const point = () => one([() => [number(), number()], () => [pick(500), pick(500)], () => []])();
    const object = () => (pick(3) ? one(ids()) : one(bad));
    const objects = () => one([() => [object()], () => [object(), object()], () => [], object, ids])();
    const text = () => one([() => "word", () => one(bad), () => "long ".repeat(pick(40_000)), () => "\u0000\r\n\u2028"])();
    const many = () => Array.from({ length: pick(6) }, point);
    const style = () => ({ lineWidth: number(), color: one([number(), "#123456", "#12", 0x336699FF]), fill: one([number(), "#123456", undefined]),
      lineStyle: one(["dashed", "dotted", text()]), opacity: number(), lineEnd: one(["dot", "bar", number()]), isCurved: one([true, number()]), textSize: number(),
      alignment: one(["left", "right", text()]), isBold: one([true, false, number()]), form: one([undefined, "ellipse", "arrow", text()]) });
    let stroke = null;
    const edits = [
      () => anna.createText(text(), point(), style()), () => anna.createDrawing(many(), style()),
      () => anna.createShape(one(["line", "ellipse", "arrow", "rectangle", "none"]), point(), point(), style()),
      () => anna.createForm(one(["rounded", "note", "line", "diamond", "frame", 3]), point(), { size: point(), points: one([undefined, many()]), text: text(), ...style() }),
      () => anna.resize(object(), point(), one([null, point()])), () => anna.setPoints(object(), many()), () => anna.release(object(), one([true, false, 3])),
      () => anna.bind(object(), one([true, false, 3]), { id: object(), anchor: point() }), () => anna.align(objects(), one(["left", "middle", "x"])), () => anna.distribute(objects(), one(["vertically", ""])),
      () => anna.flip(objects(), one(["horizontally", "vertically", "x"])), () => anna.setLink(objects(), one([null, text(), "https://example.org/", "#1-aaaaaaaaaaaaa"])),
      () => anna.vote(object(), one(["👍", text()]), one([true, false])), () => anna.crop(object(), one([[0, 0, 0.5, 1], [number(), number(), number(), number()], []])),
      () => anna.sendChat(text(), object()), () => anna.resolve(object(), one([true, false])),
      () => anna.setText(object(), text(), text()), () => anna.move(objects(), point()),
      () => anna.scale(objects(), number(), { pivot: one([null, point()]), keepsLineWidth: one([true, false, 3]) }),
      () => anna.rotate(objects(), number(), { pivot: one([null, point()]) }), () => anna.restyle(objects(), style()),
      () => anna.duplicate(objects(), point()), () => anna.bringToFront(objects()), () => anna.sendToBack(objects()),
      () => anna.bringForward(objects()), () => anna.sendBackward(objects()), () => anna.remove(objects()),
      () => anna.erase(many(), number()), () => anna.select(objects()), () => anna.deselect(one([undefined, objects()])),
      () => anna.setLocked(objects(), false), () => anna.group(objects()), () => anna.ungroup(objects()),
      () => anna.undo(), () => anna.redo(), () => anna.beginStep(text()), () => anna.endStep(),
      () => anna.sendChat(text()), () => anna.setProfile(text(), text()),
      () => anna.showPresence({ cursor: one([null, point()]), pointer: one(["laser", "cursor", 5]), viewport: one([null,
        { center: point(), width: number(), height: number() }]) }),
      () => anna.createGame(one(["wordle", "connect-four", "chess", 3]), point(), { opponent: one([null, bert.me.id, text()]) }),
      () => anna.play(object(), one(["1", "7", "8", "resign", "crane", text()])),
      () => stroke = anna.beginStroke(style()), () => anna.extendStroke(one([stroke, object()]), many()),
      () => anna.endStroke(one([stroke, object()])), () => anna.cancelStroke(one([stroke, object()])),
      () => anna.createPhoto(one([new Uint8Array(pick(300)), JPEG.slice(0, pick(800)), JPEG]), point()),
      () => anna.createPhoto(JPEG.map((byte) => (pick(30) ? byte : pick(256))), point()),
      () => anna.photo(text()),
    ];
    for (let step = 0; step < 40; step += 1) {
      const edit = one(edits);
      try {
        last = `seed ${seed}: ${edit}`;
        await edit();
        done += 1;
      } catch (error) {
        refused += 1;
        if (error instanceof WebAssembly.RuntimeError) return check(`no trap (${last}: ${error})`, false);
      }
      if (anna.state.failure) return check(`no failure (${last}: ${anna.state.failure.stack})`, false);
    }
    // Undo steps, selections and games must not pile up.
    if (seed % 10 === 0) anna.remove(ids().filter((id) => !anna.objects.get(id).isLocked).slice(0, 200));
  }
  check(`bad input is refused (${refused}), good input is accepted (${done})`, refused > seeds && done > seeds);
  check("the boards are equal after all of it", await equal(anna, bert) && !bert.state.failure);
  await Promise.all([anna.close(), bert.close()]);
}

/** Damages the messages of a member, and checks that the receiver keeps working. */
async function damaging(check, seeds) {
  const network = new Network();
  const [anna, bert] = [await open({ network, name: "Anna" }), await open({ network })];
  const text = anna.createText("text", [0, 0]);
  const stroke = anna.beginStroke();
  for (let step = 0; step < 20; step += 1) anna.extendStroke(stroke, [[step, step]]);
  anna.endStroke(stroke);
  for (const board of [anna, bert]) board.showPresence({ cursor: [1, 1], viewport: { center: [0, 0], width: 9, height: 9 } });
  await anna.createPhoto(JPEG, [0, 0]);
  anna.createGame("wordle", [0, 0]);
  anna.sendChat("hello");
  await equal(anna, bert);
  network.isOpen = false;
  anna.move(text, [1, 1]);
  bert.move(text, [2, 2]);
  network.isOpen = true;
  await equal(anna, bert);
  const { sent } = network;
  const from = anna.me.id;
  await Promise.all([anna.close(), bert.close()]);

  let receive, violations = 0;
  const makeSession = (options) => {
    receive = options.onEvent;
    return { connect() {}, close() {}, reject() {}, send() {}, sendDatagram() {}, sendResource: async () => {} };
  };
  const keys = await newKey();
  const carl = await Board.open({ board: id, keys, module, makeSession });
  carl.addEventListener("notice", ({ detail }) => violations += detail.code === "violation");
  receive({ kind: "state", state: "open" });
  for (let seed = 1; seed <= seeds * 20; seed += 1) {
    const pick = seeded(seed);
    if (pick(3) === 0) {
      receive({ kind: "left", member: from });
      receive({ kind: "joined", member: from });
    }
    const event = sent[pick(sent.length)];
    let bytes = new Uint8Array(event.bytes instanceof Blob ? await event.bytes.arrayBuffer() : event.bytes);
    for (let count = pick(4); count > 0; count -= 1) bytes[pick(bytes.length)] = pick(256);
    if (pick(4) === 0) bytes = bytes.slice(0, pick(bytes.length));
    if (pick(8) === 0) bytes = Uint8Array.from({ length: pick(200) }, () => pick(256));
    const name = event.name && (pick(2) ? event.name : event.name.replace(/\d/, () => String(pick(10))));
    receive({ ...event, bytes, name, member: from });
    if (seed % 50 === 0) await pause(0);
    if (carl.state.failure) return check(`no failure (seed ${seed}: ${carl.state.failure.stack})`, false);
  }
  await pause(200);
  carl.createText("still works", [0, 0]);
  check(`a board survives damaged messages (${violations} violations)`, !carl.state.failure && carl.objects.size > 0
    && violations > seeds);
  await carl.close();
}

window.run = async (seeds) => {
  const results = [];
  const parts = {
    editing, undoing, merging, storing, fuzzing: (check) => fuzzing(check, seeds), damaging: (check) => damaging(check, seeds),
  };
  for (const [part, body] of Object.entries(parts)) {
    const check = (what, holds) => results.push([`${part}: ${what}`, Boolean(holds)]);
    try {
      await body(check);
    } catch (error) {
      check(`${error}\n${error.stack}`, false);
    }
  }
  return results;
};
document.title = "ready";
