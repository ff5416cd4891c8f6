/** The pointers and names of other members, and their laser pointers. */

import { element, icon } from "./dom.mjs";
import { union } from "./geometry.mjs";
import { isolated } from "./ids.mjs";
import { drawTrail, TRAIL } from "./tools.mjs";

/** The time after which an idle pointer fades, in milliseconds. */
const IDLE = 10_000;

export class Pointers {
  #shown = new Map();

  constructor(host, ui) { Object.assign(this, { host, ui }); }

  update() {
    const { board, hidden } = this.ui, members = new Map([...board.members].filter(([id, { cursor }]) => cursor && !hidden.has(id)));
    for (const [id, pointer] of this.#shown) {
      if (members.has(id)) continue;
      pointer.root.remove();
      this.#shown.delete(id);
    }
    for (const [id, member] of members) this.#move(id, member);
  }

  #move(id, { cursor, color, pointer: kind, isTyping }) {
    let pointer = this.#shown.get(id);
    if (!pointer) {
      const label = element("span");
      pointer = { root: element("div.pointer", { ariaHidden: "true" }, icon("pointer"), label), label, trail: [], place: null };
      this.#shown.set(id, pointer);
      this.host.append(pointer.root);
    }
    const name = this.ui.name(id), text = isTyping ? `${isolated(name)} is typing…` : name;
    if (pointer.label.textContent !== text) pointer.label.textContent = text;
    pointer.root.style.setProperty("--color", color);
    pointer.root.classList.toggle("laser", kind === "laser");
    const now = performance.now();
    if (pointer.place?.[0] === cursor[0] && pointer.place?.[1] === cursor[1]) return;
    pointer.place = cursor;
    pointer.root.classList.remove("idle");
    clearTimeout(pointer.timer);
    pointer.timer = setTimeout(() => pointer.root.classList.add("idle"), IDLE);
    if (kind === "laser") {
      pointer.trail.push({ place: cursor, time: now });
      this.ui.drawLive();
    } else pointer.trail = [];
    this.#put(pointer);
  }

  #put({ root, place }) {
    const [x, y] = this.ui.camera.toScreen(place);
    root.style.transform = `translate(${x}px,${y}px)`;
  }

  place() {
    for (const pointer of this.#shown.values()) this.#put(pointer);
  }

  draw(painter, now) {
    let area = null;
    for (const pointer of this.#shown.values()) {
      pointer.trail = pointer.trail.filter(({ time }) => now - time < TRAIL);
      if (!pointer.trail.length) continue;
      area = union(area, drawTrail(painter, pointer.trail, this.ui.camera.zoom, now));
      this.ui.drawLive();
    }
    return area;
  }
}
