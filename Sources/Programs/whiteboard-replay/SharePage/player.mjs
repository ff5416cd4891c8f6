// Plays a recording without a network: the replica in WebAssembly applies the changes, and a canvas shows the board.

import { withMembers } from "board.mjs";
import { boundsOf } from "canvas.mjs";
import { CanvasPainter, drawObject, Palette } from "draw.mjs";
import { rectangle } from "geometry.mjs";
import { Grounds } from "grounds.mjs";
import { memberID, sortKey, visible } from "ids.mjs";
import { imports } from "imports.mjs";

/** The length of the shortest pause that is skipped, and the time that is left of it, in milliseconds. */
const PAUSE = 2000, REST = 300;
const ZOOMS = [0.02, 16];
/** The kind of an action that describes a change for the user (`ActionWriter.swift`). */
const EVENT = 10;
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
  objects = new Map();
  settings = { background: null, grid: null };

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
    return exports[name](...values, Date.now(), performance.now());
  }

  #restore(change) { this.#call("restore", change, change.length, 0); }

  /** Moves to the position where `target` steps are applied. Returns whether the board may have changed. */
  seek(target) {
    const { board, records, steps } = this.#recording;
    if (target === this.#place) return false;
    if (this.#place === null || target < this.#place) {
      const start = new Uint8Array([...fromHex(board), ...fromHex(KEY)]);
      if (!this.#call("start", start, start.length)) throw new Error("the id of the board is not valid");
      for (const record of records) this.#restore(record);
      this.#place = 0;
    }
    while (this.#place < target) {
      this.#restore(steps[this.#place].change);
      this.#place += 1;
    }
    this.#read();
    return true;
  }

  #read() {
    this.objects = new Map();
    this.#call("readAll", new Uint8Array());
    const { memory, output, outputCount } = this.#exports;
    const bytes = new Uint8Array(memory.buffer, output() >>> 0, outputCount()), view = new DataView(bytes.buffer, bytes.byteOffset), text = new TextDecoder();
    for (let at = 0; at < bytes.length;) {
      const start = at + 5, end = start + view.getUint32(at + 1, true);
      if (bytes[at] === EVENT) this.#handle(JSON.parse(text.decode(bytes.subarray(start, end))));
      at = end;
    }
  }

  #handle({ event, object, author, view = null, pressure = null, background, grid = null }) {
    if (event === "settings") this.settings = { background, grid };
    if (event !== "object") return;
    object.author = memberID(author);
    for (const votes of object.votes ?? []) votes.members = votes.members.map(memberID);
    if (view) object.view = withMembers(view);
    if (pressure) object.pressure = pressure;
    this.objects.set(object.id, object);
  }

  /** The objects from back to front. */
  get ordered() {
    const places = new Map([...this.objects.values()].map((object) => [object, `${object.zIndex} ${sortKey(object.id)}`]));
    return [...places.keys()].sort((one, other) => places.get(one) < places.get(other) ? -1 : 1);
  }
}

class Player {
  #canvas = $("canvas");
  #camera = { x: 0, y: 0, zoom: 1 };
  #isViewChosen = false;
  #items = [];
  #palette = new Palette("#ffffff");
  #grounds = new Grounds();
  #pictures = new Map();
  #position = 0;
  #isPlaying = false;
  #last = 0;
  #isScheduled = false;
  #isSought = true;

  constructor(recording, replica) {
    Object.assign(this, { recording, replica });
    $("time").max = recording.duration;
    $("play").onclick = () => this.#setPlaying(!this.#isPlaying);
    $("time").oninput = () => this.#seek(Number($("time").value));
    $("in").onclick = () => this.#zoom(1.25);
    $("out").onclick = () => this.#zoom(0.8);
    $("fit").onclick = () => this.#fit();
    addEventListener("keydown", (event) => this.#keyPressed(event));
    new ResizeObserver(() => this.#resized()).observe($("board"));
    this.#attachPointers();
    for (const [sha256, bytes] of Object.entries(recording.photos)) this.#decode(sha256, fromBase64(bytes));
    $("message").hidden = true;
    this.#resized();
    this.#seek(0);
  }

  async #decode(sha256, bytes) {
    this.#pictures.set(sha256, await createImageBitmap(new Blob([bytes])).catch(() => null));
    this.#schedule();
  }

  // Time

  #setPlaying(isPlaying) {
    if (isPlaying && this.#position >= this.recording.duration) this.#seek(0);
    this.#isPlaying = isPlaying;
    this.#last = performance.now();
    Object.assign($("play"), { textContent: isPlaying ? "❚❚" : "▶", ariaLabel: isPlaying ? "Pause" : "Play", title: isPlaying ? "Pause (Space)" : "Play (Space)" });
    this.#schedule();
  }

  #seek(time) {
    this.#position = Math.min(Math.max(time, 0), this.recording.duration);
    this.#isSought = true;
    this.#schedule();
  }

  /** Returns the number of steps up to a time. */
  #place(time) {
    const { steps } = this.recording;
    let [low, high] = [0, steps.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle].time <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #advance(now) {
    const { steps, duration } = this.recording;
    // A page in the background gets no frames.
    this.#position += Math.min(now - this.#last, 1000) * Number($("speed").value);
    this.#last = now;
    if ($("skip").checked) {
      const next = steps[this.#place(this.#position)]?.time ?? duration;
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
    // At the beginning, no step is applied, except if all have the time 0.
    const { steps, duration } = this.recording, place = this.#position || !duration ? this.#place(this.#position) : 0;
    if (this.replica.seek(Math.min(place, steps.length))) {
      this.#palette = new Palette(this.replica.settings.background?.slice(0, 7) ?? "#ffffff");
      this.#grounds = new Grounds();
      this.#items = this.replica.ordered.map((object, index) => ({ id: object.id, object, index, bounds: boundsOf(object) }));
      for (const item of this.#items) this.#grounds.set(item);
    }
    $("time").value = this.#position;
    $("clock").textContent = `${clock(this.#position)} / ${clock(duration)}`;
    $("time").setAttribute("aria-valuetext", clock(this.#position));
  }

  #draw() {
    const canvas = this.#canvas, { x, y, zoom } = this.#camera, scale = zoom * (devicePixelRatio || 1), context = canvas.getContext("2d");
    const area = rectangle([x, y], [x + canvas.width / scale, y + canvas.height / scale]), indexes = new Map(this.#items.map(({ object, index }) => [object, index]));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.#palette.paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.setTransform(scale, 0, 0, scale, -x * scale, -y * scale);
    const painter = new CanvasPainter(context, scale), palette = this.#palette;
    painter.grid(this.replica.settings.grid, area, zoom, palette.plain);
    const looks = {
      palette, at: () => palette, on: (object) => this.#grounds.palette({ object, index: indexes.get(object) ?? Infinity }, palette),
      photo: ({ sha256 }) => this.#pictures.get(sha256) ?? null, name: (id) => visible(this.recording.names[id] ?? "") || `Guest ${id.slice(0, 4)}`,
    };
    for (const { object, bounds } of this.#items) {
      if (bounds.left <= area.right && bounds.right >= area.left && bounds.top <= area.bottom && bounds.bottom >= area.top) drawObject(painter, object, looks);
    }
  }

  // The view

  #resized() {
    const canvas = this.#canvas, scale = devicePixelRatio || 1, { clientWidth, clientHeight } = $("board");
    Object.assign(canvas, { width: Math.max(1, Math.round(clientWidth * scale)), height: Math.max(1, Math.round(clientHeight * scale)) });
    if (!this.#isViewChosen) this.#fit();
    this.#schedule();
  }

  /** Shows the region that contains all objects at all times. */
  #fit() {
    const [left, top, right, bottom] = this.recording.region, { clientWidth: width, clientHeight: height } = $("board");
    const zoom = Math.min(Math.max(Math.min(width / (right - left), height / (bottom - top), 2), ZOOMS[0]), ZOOMS[1]);
    this.#camera = { x: (left + right - width / zoom) / 2, y: (top + bottom - height / zoom) / 2, zoom };
    this.#isViewChosen = false;
    this.#schedule();
  }

  #pan(dx, dy) {
    const { zoom } = this.#camera;
    this.#camera.x -= dx / zoom;
    this.#camera.y -= dy / zoom;
    this.#isViewChosen = true;
    this.#schedule();
  }

  #zoom(factor, [x, y] = [$("board").clientWidth / 2, $("board").clientHeight / 2]) {
    const camera = this.#camera, zoom = Math.min(Math.max(camera.zoom * factor, ZOOMS[0]), ZOOMS[1]);
    this.#camera = { x: camera.x + x / camera.zoom - x / zoom, y: camera.y + y / camera.zoom - y / zoom, zoom };
    this.#isViewChosen = true;
    this.#schedule();
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
    if (event.ctrlKey || event.metaKey || event.altKey || ["SELECT", "INPUT"].includes(event.target.tagName) && event.key !== " ") return;
    const jump = event.shiftKey ? 60_000 : 5_000;
    const actions = {
      " ": () => this.#setPlaying(!this.#isPlaying), ArrowLeft: () => this.#seek(this.#position - jump), ArrowRight: () => this.#seek(this.#position + jump),
      Home: () => this.#seek(0), End: () => this.#seek(Infinity), "+": () => this.#zoom(1.25), "=": () => this.#zoom(1.25), "-": () => this.#zoom(0.8), 0: () => this.#fit(),
    };
    if (!actions[event.key] || event.key === " " && event.target.id !== "" && event.target.tagName !== "BODY") return;
    event.preventDefault();
    actions[event.key]();
  }
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
  recording.steps = recording.steps.map(([time, change]) => ({ time, change: fromBase64(change) }));
  new Player(recording, await Replica.create(module, recording));
} catch (error) {
  console.error(error);
  $("message").textContent = `This browser cannot show the recording (${error.message}). Try the newest version of Chrome, Firefox or Safari.`;
}
