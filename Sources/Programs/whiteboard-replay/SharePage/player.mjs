// Plays a recording without a network: the replica in WebAssembly applies the changes, and a canvas shows the board.

import { withMembers } from "board.mjs";
import { boundsOf } from "canvas.mjs";
import { CanvasPainter, drawObject, Palette } from "draw.mjs";
import { rectangle, union, widened } from "geometry.mjs";
import { Grounds } from "grounds.mjs";
import { memberID, sortKey, visible } from "ids.mjs";
import { imports } from "imports.mjs";

/** The length of the shortest pause that is skipped, and the time that is left of it, in milliseconds. */
const PAUSE = 2000, REST = 300;
/** The largest zoom, and the smallest, unless the whole board needs a smaller one. */
const LARGEST = 16, SMALLEST = 0.02;
/** The number of pixels by which thin lines and the edges of letters can extend beyond the bounds of an object. */
const OVERHANG = 4;
const EVERYWHERE = rectangle([-Infinity, -Infinity], [Infinity, Infinity]);
/** The kind of an action that describes a change for the user (`ActionWriter.swift`). */
const EVENT = 10;
/** An edit that ends a step, although none has begun (`Editing.swift`). */
const FLUSH = new TextEncoder().encode('{"do":"endStep"}');
/** The time between two reports of large objects, in milliseconds (`ChangeReporter.swift`). */
const REPORT_INTERVAL = 250;
/** The smallest number of steps between two copies of the board. */
const COPY_DISTANCE = 500;
/** A valid public key: the base point of P-256. The replica never signs. */
const KEY = "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

const $ = (id) => document.getElementById(id);
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** Returns the bytes in an element of the page, which are compressed and in base64. */
async function content(id) {
  const bytes = fromBase64($(id).textContent.trim());
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());
}

/** The board at a position of the recording. */
class Replica {
  #exports;
  #recording;
  /** The number of steps that are applied; null before the beginning. */
  #place = null;
  /** Copies of the board at some positions, in order, so that a jump back does not read the whole board again. */
  #copies = [{ place: 0, objects: new Map(), settings: { background: null, grid: null } }];
  /** A virtual clock in milliseconds, for reports that the replica puts off. */
  #uptime = 0;
  objects;
  settings;
  /** The ids of the objects that changed since the owner cleared the set; null if all may have changed. */
  changed = null;

  static async create(module, recording) {
    let memory;
    const replica = new Replica(), instance = await WebAssembly.instantiate(module, imports(() => memory));
    ({ memory } = instance.exports);
    instance.exports._initialize();
    replica.#exports = instance.exports;
    replica.#recording = recording;
    return replica;
  }

  #call(name, input, ...values) {
    const exports = this.#exports, address = exports.input(input.length) >>> 0;
    new Uint8Array(exports.memory.buffer, address, input.length).set(input);
    return exports[name](...values, Date.now(), this.#uptime);
  }

  /** Moves to the position where `target` steps are applied. Returns whether the board may have changed. */
  seek(target) {
    if (target === this.#place) return false;
    if (this.#place === null || target < this.#place) this.#goBack(target);
    this.#restore(target);
    this.#report();
    const index = this.#copies.findLastIndex(({ place }) => place <= target);
    // A copy has an entry for each object, so the copies of a large board are far apart.
    if (target - this.#copies[index].place >= Math.max(COPY_DISTANCE, this.objects.size)) {
      this.#copies.splice(index + 1, 0, { place: target, objects: new Map(this.objects), settings: this.settings });
    }
    return true;
  }

  #goBack(target) {
    const { board } = this.#recording, start = new Uint8Array([...fromHex(board), ...fromHex(KEY)]);
    const copy = this.#copies.findLast(({ place }) => place <= target);
    if (!this.#call("start", start, start.length)) throw new Error("the id of the board is not valid");
    this.#place = 0;
    this.#restoreRecords();
    if (copy.place > 0) {
      this.#restore(copy.place);
      // The end of restoring discards the changes, and the records of authors whose batches follow.
      this.#call("restore", new Uint8Array(), 0, 1);
      this.#restoreRecords();
    }
    this.objects = new Map(copy.objects);
    this.settings = copy.settings;
    this.changed = null;
  }

  #restoreRecords() { for (const record of this.#recording.records) this.#call("restore", record, record.length, 0); }

  #restore(target) {
    for (; this.#place < target; this.#place += 1) {
      const { change } = this.#recording.steps[this.#place];
      this.#call("restore", change, change.length, 0);
    }
  }

  /** Reads the objects that the restored steps changed. */
  #report() {
    // An edit that changes nothing also reports the changes before it.
    this.#call("edit", FLUSH, FLUSH.length);
    // Ticks report large objects, and lines that are bound to a moved object.
    while (this.#read()) {
      this.#uptime += REPORT_INTERVAL;
      this.#call("tick", new Uint8Array());
    }
  }

  /** Handles the output of the last call. Returns whether it had events. */
  #read() {
    const { memory, output, outputCount } = this.#exports, text = new TextDecoder();
    const bytes = new Uint8Array(memory.buffer, output() >>> 0, outputCount()), view = new DataView(bytes.buffer, bytes.byteOffset);
    let hasEvents = false;
    for (let at = 0; at < bytes.length;) {
      const start = at + 5, end = start + view.getUint32(at + 1, true);
      if (bytes[at] === EVENT) {
        this.#handle(JSON.parse(text.decode(bytes.subarray(start, end))));
        hasEvents = true;
      }
      at = end;
    }
    return hasEvents;
  }

  #handle({ event, object, id, author, view = null, pressure = null, background, grid = null }) {
    if (event === "settings") this.settings = { background, grid };
    if (event === "removed") {
      this.objects.delete(id);
      this.changed?.add(id);
    }
    if (event !== "object") return;
    object.author = memberID(author);
    for (const votes of object.votes ?? []) votes.members = votes.members.map(memberID);
    if (view) object.view = withMembers(view);
    if (pressure) object.pressure = pressure;
    this.objects.set(object.id, object);
    this.changed?.add(object.id);
  }
}

class Player {
  #canvas = $("canvas");
  #camera = { x: 0, y: 0, zoom: 1 };
  #isViewChosen = false;
  /** The objects on the board: id to `{id, object, bounds, key, index}`, and the same from back to front. */
  #items = new Map();
  #order = [];
  #palette = new Palette("#ffffff");
  #grounds = new Grounds();
  #pictures = new Map();
  #grid = null;
  /** The part of the board to draw again; null for none. */
  #damage = null;
  /** Whether the page shows the end of the recording, until the user plays it or goes to a time. */
  #isPoster = true;
  #position = 0;
  #isPlaying = false;
  #last = 0;
  #isScheduled = false;
  #isSought = true;

  constructor(recording, replica) {
    Object.assign(this, { recording, replica });
    $("time").max = recording.duration;
    $("play").onclick = $("start").onclick = () => this.#setPlaying(!this.#isPlaying);
    $("time").oninput = () => this.#seek(Number($("time").value));
    $("in").onclick = () => this.#zoom(1.25);
    $("out").onclick = () => this.#zoom(0.8);
    $("fit").onclick = () => this.#fit();
    addEventListener("keydown", (event) => this.#keyPressed(event));
    new ResizeObserver(() => this.#resized()).observe($("board"));
    this.#attachPointers();
    for (const [sha256, bytes] of Object.entries(recording.photos)) this.#decode(sha256, fromBase64(bytes));
    this.#resized();
  }

  async #decode(sha256, bytes) {
    this.#pictures.set(sha256, await createImageBitmap(new Blob([bytes])).catch(() => null));
    this.#redraw();
  }

  // Time

  #setPlaying(isPlaying) {
    if (isPlaying && (this.#isPoster || this.#position >= this.recording.duration)) this.#seek(0);
    this.#isPlaying = isPlaying;
    this.#last = performance.now();
    Object.assign($("play"), { textContent: isPlaying ? "❚❚" : "▶", ariaLabel: isPlaying ? "Pause" : "Play", title: isPlaying ? "Pause (Space)" : "Play (Space)" });
    // Drawing only a part rounds some colors differently, which is not seen in a moving picture.
    if (!isPlaying) this.#damage = EVERYWHERE;
    this.#schedule();
  }

  #seek(time) {
    this.#position = Math.min(Math.max(time, 0), this.recording.duration);
    this.#isSought = true;
    this.#isPoster = false;
    this.#schedule();
  }

  #advance(now) {
    const { visibleSteps, duration } = this.recording;
    // A page in the background gets no frames.
    this.#position += Math.min(now - this.#last, 1000) * Number($("speed").value);
    this.#last = now;
    if ($("skip").checked) {
      const next = visibleSteps[placeAt(this.#position, visibleSteps)]?.time ?? duration;
      if (next - this.#position > PAUSE) this.#position = next - REST;
    }
    if (this.#position >= duration) {
      this.#position = duration;
      this.#setPlaying(false);
    }
    this.#isSought = true;
  }

  // The board

  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame((now) => {
      this.#isScheduled = false;
      if (this.#isPlaying) this.#advance(now);
      if (this.#isSought) this.#show();
      this.#draw();
      if (this.#isPlaying) this.#schedule();
    });
  }

  #show() {
    this.#isSought = false;
    const { steps, duration } = this.recording, time = this.#isPoster ? duration : this.#position;
    // At the beginning, no step is applied, except if all have the time 0.
    if (this.replica.seek(time || !duration ? placeAt(time, steps) : 0)) this.#update();
    $("message").hidden = true;
    $("start").hidden = !this.#isPoster;
    $("time").value = this.#position;
    $("clock").textContent = `${clock(this.#position)} / ${clock(duration)}`;
    $("time").setAttribute("aria-valuetext", clock(this.#position));
  }

  /** Follows the changes of the replica. */
  #update() {
    const { objects, changed, settings } = this.replica, paper = settings.background?.slice(0, 7) ?? "#ffffff";
    if (!changed || paper !== this.#palette.paper || settings.grid !== this.#grid) this.#damage = EVERYWHERE;
    this.#palette = new Palette(paper);
    this.#grid = settings.grid;
    if (!changed) {
      this.#items.clear();
      this.#grounds = new Grounds();
    }
    let isReordered = !changed;
    for (const id of changed ?? objects.keys()) {
      const old = this.#items.get(id), object = objects.get(id);
      const item = object && { id, object, bounds: boundsOf(object), key: `${object.zIndex} ${sortKey(id)}`, index: old?.index ?? Infinity };
      const isGround = this.#grounds.has(id);
      if (item) {
        this.#items.set(id, item);
        this.#grounds.set(item);
      } else {
        this.#items.delete(id);
        this.#grounds.delete(id);
      }
      isReordered ||= item?.key !== old?.key;
      if (old && item) this.#order[old.index] = item;
      // The colors of the objects on a ground depend on it.
      for (const box of isGround || this.#grounds.has(id) ? [EVERYWHERE] : [old?.bounds, item?.bounds]) {
        if (box) this.#damage = this.#damage ? union(this.#damage, box) : box;
      }
    }
    this.replica.changed = new Set();
    if (!isReordered) return;
    this.#order = [...this.#items.values()].sort((one, other) => one.key < other.key ? -1 : 1);
    for (const [index, item] of this.#order.entries()) item.index = index;
  }

  #redraw() {
    this.#damage = EVERYWHERE;
    this.#schedule();
  }

  #draw() {
    const canvas = this.#canvas, { x, y, zoom } = this.#camera, scale = zoom * (devicePixelRatio || 1), context = canvas.getContext("2d"), damage = this.#damage;
    if (!damage) return;
    this.#damage = null;
    const left = Math.max(Math.floor((damage.left - x) * scale) - OVERHANG, 0), right = Math.min(Math.ceil((damage.right - x) * scale) + OVERHANG, canvas.width);
    const top = Math.max(Math.floor((damage.top - y) * scale) - OVERHANG, 0), bottom = Math.min(Math.ceil((damage.bottom - y) * scale) + OVERHANG, canvas.height);
    if (left >= right || top >= bottom) return;
    const area = widened(rectangle([x + left / scale, y + top / scale], [x + right / scale, y + bottom / scale]), OVERHANG / scale);
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    context.fillStyle = this.#palette.paper;
    context.fillRect(left, top, right - left, bottom - top);
    context.setTransform(scale, 0, 0, scale, -x * scale, -y * scale);
    const painter = new CanvasPainter(context, scale), palette = this.#palette;
    painter.grid(this.#grid, area, zoom, palette.plain);
    const looks = {
      palette, at: () => palette, on: (object) => this.#grounds.palette({ object, index: this.#items.get(object.id)?.index ?? Infinity }, palette),
      photo: ({ sha256 }) => this.#pictures.get(sha256) ?? null, name: (id) => visible(this.recording.names[id] ?? "") || `Guest ${id.slice(0, 4)}`,
    };
    for (const { object, bounds } of this.#order) {
      if (bounds.left <= area.right && bounds.right >= area.left && bounds.top <= area.bottom && bounds.bottom >= area.top) drawObject(painter, object, looks);
    }
    context.restore();
  }

  // The view

  #resized() {
    const canvas = this.#canvas, scale = devicePixelRatio || 1, { clientWidth, clientHeight } = $("board");
    Object.assign(canvas, { width: Math.max(1, Math.round(clientWidth * scale)), height: Math.max(1, Math.round(clientHeight * scale)) });
    if (!this.#isViewChosen) this.#fit();
    this.#redraw();
  }

  /** Shows the region that contains all objects at all times. */
  #fit() {
    const [left, top, right, bottom] = this.recording.region, { clientWidth: width, clientHeight: height } = $("board"), zoom = this.#wholeZoom;
    this.#camera = { x: (left + right - width / zoom) / 2, y: (top + bottom - height / zoom) / 2, zoom };
    this.#isViewChosen = false;
    this.#redraw();
  }

  /** The zoom at which the board shows the region. */
  get #wholeZoom() {
    const [left, top, right, bottom] = this.recording.region, { clientWidth: width, clientHeight: height } = $("board");
    return Math.min(Math.max(width, 1) / (right - left), Math.max(height, 1) / (bottom - top), 2);
  }

  #pan(dx, dy) {
    const { zoom } = this.#camera;
    this.#camera.x -= dx / zoom;
    this.#camera.y -= dy / zoom;
    this.#isViewChosen = true;
    this.#redraw();
  }

  #zoom(factor, [x, y] = [$("board").clientWidth / 2, $("board").clientHeight / 2]) {
    const camera = this.#camera, zoom = Math.min(Math.max(camera.zoom * factor, Math.min(this.#wholeZoom, SMALLEST)), LARGEST);
    this.#camera = { x: camera.x + x / camera.zoom - x / zoom, y: camera.y + y / camera.zoom - y / zoom, zoom };
    this.#isViewChosen = true;
    this.#redraw();
  }

  #attachPointers() {
    const board = $("board"), pointers = new Map(), place = ({ offsetX, offsetY }) => [offsetX, offsetY];
    board.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.#zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), place(event));
    }, { passive: false });
    board.addEventListener("pointerdown", (event) => {
      board.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, place(event));
    });
    board.addEventListener("pointermove", (event) => {
      const old = pointers.get(event.pointerId);
      if (!old) return;
      const now = place(event), other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      pointers.set(event.pointerId, now);
      if (!other) return this.#pan(now[0] - old[0], now[1] - old[1]);
      const distance = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
      this.#pan((now[0] - old[0]) / 2, (now[1] - old[1]) / 2);
      if (distance(old) > 1) this.#zoom(distance(now) / distance(old), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
    });
    for (const name of ["pointerup", "pointercancel"]) board.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }

  #keyPressed(event) {
    const { ctrlKey, metaKey, altKey, shiftKey, key, target } = event, jump = shiftKey ? 60_000 : 5_000;
    const actions = {
      " ": () => this.#setPlaying(!this.#isPlaying), ArrowLeft: () => this.#seek(this.#position - jump), ArrowRight: () => this.#seek(this.#position + jump),
      Home: () => this.#seek(0), End: () => this.#seek(Infinity), "+": () => this.#zoom(1.25), "=": () => this.#zoom(1.25), "-": () => this.#zoom(0.8), 0: () => this.#fit(),
    };
    // A list has its own keys, and the space bar presses buttons.
    const isOwn = target.tagName === "SELECT" || key === " " && (target.tagName === "BUTTON" || target.type === "checkbox");
    if (ctrlKey || metaKey || altKey || isOwn || !actions[key]) return;
    event.preventDefault();
    actions[key]();
  }
}

/** Returns the number of steps up to a time. */
function placeAt(time, steps) {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].time <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function clock(time) {
  const seconds = Math.floor(time / 1000), hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

try {
  const [module, text] = await Promise.all([content("replica").then((bytes) => WebAssembly.compile(bytes)), content("recording")]);
  const recording = JSON.parse(new TextDecoder().decode(text));
  recording.records = recording.records.map(fromBase64);
  recording.steps = recording.steps.map(([time, change, isVisible]) => ({ time, change: fromBase64(change), isVisible }));
  recording.visibleSteps = recording.steps.filter(({ isVisible }) => isVisible);
  new Player(recording, await Replica.create(module, recording));
} catch (error) {
  console.error(error);
  $("message").hidden = false;
  $("message").textContent = `This browser cannot show the recording (${error.message}). Try the newest version of Chrome, Firefox or Safari.`;
}
