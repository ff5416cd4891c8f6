/** The tools that draw and erase. The select tool is in `select.mjs`. */

import { covers, Ink, outline, rectangle, union, widened } from "./geometry.mjs";
import { SelectTool, Tool } from "./select.mjs";

/** A pen without pressure is smoothed: each point moves this share of the way to the pointer. */
const SMOOTHING = 0.6;
export const TRAIL = 700;

/** The tool that gets the input: `down`, `move`, `up` and `cancel`, with places in CSS pixels. */
export class Tools {
  constructor(ui) {
    this.ui = ui;
    const shape = new ShapeTool(ui);
    this.all = {
      select: new SelectTool(ui), pen: new PenTool(ui), line: shape, rectangle: shape, ellipse: shape, arrow: shape,
      eraser: new EraserTool(ui), text: new TextTool(ui), laser: new LaserTool(ui), hand: new Tool(ui),
    };
  }

  get current() { return this.all[this.ui.tool]; }
  get select() { return this.all.select; }

  down(place, event) {
    this.ui.stopTyping();
    this.active = this.current;
    this.active.down(place, event);
    this.hover(place);
  }
  move(places, event) {
    this.active?.move(places, event);
    this.hover(places.at(-1));
  }
  up(place, event) {
    this.active?.up(place, event);
    this.active = null;
    if (event.pointerType === "touch") this.hover(null);
  }
  cancel() {
    this.active?.cancel();
    this.active = null;
  }
  doubleTap(place, event) { this.current.doubleTap(place, event); }
  hover(place) {
    this.current.hover(place);
    const cursor = place && this.ui.camera.toBoard(place);
    this.ui.showPresence({ cursor, pointer: this.ui.tool === "laser" ? "laser" : "cursor" });
  }

  /** Draws what the current gesture shows; returns the area on the board. */
  draw(painter, now) {
    return [this.all.select, this.active, this.all.laser].filter((tool, index, all) => tool && all.indexOf(tool) === index)
      .reduce((area, tool) => union(area, tool.draw(painter, now)), null);
  }
}

class PenTool extends Tool {
  #id = null;
  #ink = null;
  #last = null;

  down(place) {
    const { ui } = this;
    const problem = ui.attempt(() => { this.#id = ui.board.beginStroke(ui.pen); });
    if (problem) return;
    this.#ink = new Ink(ui.pen.lineWidth);
    this.#last = null;
    ui.hideStroke(this.#id);
    this.#add([place]);
  }

  move(places) { this.#add(places); }

  #add(places) {
    if (!this.#ink) return;
    const points = [];
    for (const place of places) {
      const [x, y, pressure] = place;
      const last = this.#last;
      if (last && Math.hypot(x - last[0], y - last[1]) < 1.5) continue;
      this.#last = last ? [last[0] + (x - last[0]) * SMOOTHING, last[1] + (y - last[1]) * SMOOTHING, pressure] : [x, y, pressure];
      points.push(this.#point(this.#last));
    }
    this.#extend(points);
  }

  #point(place) {
    const [x, y, pressure] = this.board(place);
    return pressure ? [x, y, pressure] : [x, y];
  }

  #extend(points) {
    if (!points.length) return;
    for (const [x, y, pressure = 0] of points) this.#ink.add([x, y, Math.round(pressure * 255)]);
    const problem = this.ui.attempt(() => this.ui.board.extendStroke(this.#id, points));
    if (problem) this.cancel();
    this.ui.drawLive();
  }

  up(place) {
    if (!this.#ink) return;
    const end = this.#last;
    const isLate = end && Math.hypot(place[0] - end[0], place[1] - end[1]) >= 0.5;
    // A pen that is lifted reports no pressure, so the last pressure is used.
    if (isLate) this.#extend([this.#point([place[0], place[1], end[2]])]);
    if (!this.#ink) return;
    this.ui.attempt(() => this.ui.board.endStroke(this.#id));
    this.#finish();
  }

  cancel() {
    if (this.#ink) this.ui.attempt(() => this.ui.board.cancelStroke(this.#id));
    this.#finish();
  }

  #finish() {
    this.#ink = null;
    this.ui.hideStroke(null);
    this.ui.drawLive();
  }

  draw(painter) {
    if (!this.#ink) return null;
    painter.growing(this.#ink, this.ui.penColor);
    return areaOf(this.#ink.points, this.ui.pen.lineWidth);
  }
}

const areaOf = (points, margin) => widened(points.reduce((area, point) => union(area, rectangle(point, point)), null), margin);

class ShapeTool extends Tool {
  #from = null;
  #to = null;

  down(place) {
    this.#from = place;
    this.#to = null;
  }

  move(places, event) {
    const [x, y] = this.#from;
    let [u, v] = places.at(-1);
    if (event.shiftKey) {
      const isLine = ["line", "arrow"].includes(this.ui.tool);
      if (isLine) {
        const turn = Math.round(Math.atan2(v - y, u - x) / (Math.PI / 12)) * (Math.PI / 12), length = Math.hypot(u - x, v - y);
        [u, v] = [x + Math.cos(turn) * length, y + Math.sin(turn) * length];
      } else {
        const side = Math.max(Math.abs(u - x), Math.abs(v - y));
        [u, v] = [x + Math.sign(u - x) * side, y + Math.sign(v - y) * side];
      }
    }
    this.#to = [u, v];
    this.ui.drawLive();
  }

  up() {
    const { ui } = this, [from, to] = [this.#from, this.#to];
    this.cancel();
    if (!to || Math.hypot(from[0] - to[0], from[1] - to[1]) < 4) return;
    let id;
    const problem = ui.attempt(() => { id = ui.board.createShape(ui.tool, this.board(from), this.board(to), ui.pen); });
    if (!problem) ui.finishTool([id]);
  }

  cancel() {
    this.#to = null;
    this.ui.drawLive();
  }

  draw(painter) {
    if (!this.#to) return null;
    const ink = new Ink(this.ui.pen.lineWidth);
    for (const point of outline(this.ui.tool, this.board(this.#from), this.board(this.#to))) ink.add(point);
    painter.lines(ink.end().paths, this.ui.penColor);
    return areaOf(ink.points, this.ui.pen.lineWidth);
  }
}

/** Erases whole objects, or only the parts of lines under the eraser. */
class EraserTool extends Tool {
  #path = null;
  #touched = new Set();

  get #radius() { return 10 / this.ui.camera.zoom; }

  down(place) {
    this.#path = [this.board(place).slice(0, 2)];
    this.#touch();
  }

  move(places) {
    if (!this.#path) return;
    for (const place of places) {
      this.#path.push(this.board(place).slice(0, 2));
      this.#touch();
    }
  }

  /** Marks the objects at the end of the path, and everything between the last two points. */
  #touch() {
    const { ui } = this;
    ui.drawLive();
    if (ui.erasesParts) return;
    const [from, to] = [this.#path.at(-2) ?? this.#path.at(-1), this.#path.at(-1)];
    const steps = Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / this.#radius) || 1;
    const before = this.#touched.size;
    for (let step = 1; step <= steps; step += 1) {
      const place = [from[0] + (to[0] - from[0]) * step / steps, from[1] + (to[1] - from[1]) * step / steps];
      for (const { object } of ui.scene.items) {
        if (!this.#touched.has(object.id) && !object.isLocked && covers(object, place, this.#radius)) this.#touched.add(object.id);
      }
    }
    if (this.#touched.size > before) ui.hideObjects(this.#touched);
  }

  up() {
    const { ui } = this;
    if (ui.erasesParts) ui.attempt(() => ui.board.erase(this.#path, this.#radius));
    else if (this.#touched.size) ui.attempt(() => ui.board.remove([...this.#touched].filter((id) => ui.board.objects.has(id))));
    this.cancel();
  }

  cancel() {
    this.#path = null;
    this.#touched.clear();
    this.ui.hideObjects([]);
    this.ui.drawLive();
  }

  draw(painter) {
    const { ui } = this;
    if (!this.#path) return null;
    const { context } = painter;
    let area = null;
    context.globalAlpha = 0.25;
    for (const id of this.#touched) area = union(area, ui.drawObject(painter, ui.board.objects.get(id)));
    const recent = ui.erasesParts ? this.#path : this.#path.slice(-12);
    const ink = new Ink(2 * this.#radius);
    for (const point of recent) ink.add(point);
    const color = ui.erasesParts ? { rgb: ui.looks.palette.paper, opacity: 1 } : { rgb: "#888888", opacity: 0.35 };
    painter.lines(ink.end().paths, color);
    return union(area, areaOf(recent, this.#radius));
  }
}

class TextTool extends Tool {
  up(place) {
    const { ui } = this;
    const under = ui.objectAt(place, (object) => object.type === "text");
    ui.editText(under ? under.id : null, ui.camera.toBoard(place));
  }
}

class LaserTool extends Tool {
  #trail = [];

  down(place) { this.move([place]); }
  move(places) {
    const time = performance.now();
    for (const place of places) this.#trail.push({ place: this.board(place), time });
    this.ui.drawLive();
  }
  hover(place) { if (place && this.ui.tool === "laser") this.move([place]); }
  draw(painter, now) {
    this.#trail = this.#trail.filter(({ time }) => now - time < TRAIL);
    if (this.#trail.length) this.ui.drawLive();
    return drawTrail(painter, this.#trail, this.ui.camera.zoom, now);
  }
}

/** Draws the trail of a laser pointer, which becomes thinner with its age; returns its area on the board. */
export function drawTrail(painter, trail, zoom, now, rgb = "#ff2d46") {
  let area = null;
  trail.forEach(({ place, time }, index) => {
    const age = Math.min(Math.max((now - time) / TRAIL, 0), 1), width = (6 - 5 * age) / zoom;
    const ink = new Ink(width);
    ink.add(trail[Math.max(index - 1, 0)].place);
    ink.add(place);
    painter.lines(ink.end().paths, { rgb, opacity: 1 - age });
    area = union(area, widened(rectangle(place, place), 8 / zoom));
  });
  return area;
}
