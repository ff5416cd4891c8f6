import { contains, fillOf, hasPoints } from "./forms.mjs";
import { boundEnds, cornersOf, covers, Ink, isInside, local, rectangle, resized, shapeOf, shown, touches, union, visibleParts, widened, withEnds, withPoints } from "./geometry.mjs";
import { drawStraight } from "./draw.mjs";
import { anchorAt, drawAnchor, edgesOf, Guides } from "./guides.mjs";
import { whenIdle } from "./replica.mjs";

/** The smoothing of strokes without pressure: each point moves this share of the way to the pointer. */
const SMOOTHING = 0.6;
export const TRAIL = 700;
/** The maximum number of points in the path of an eraser (`BoardLimits.eraserPoints`). */
const ERASER_POINTS = 4096;

/** The tools that create forms. */
export const FORM_TOOLS = ["rectangle", "ellipse", "diamond", "line", "arrow", "note", "frame"];
/** The width and height of forms that are created without a drag, in board units. */
const SIZES = { line: [160, 0], arrow: [160, 0], note: [200, 200], frame: [800, 600] }, SIZE = [200, 100];

/** The tool that gets the input: `down`, `move`, `up`, `cancel` and `interrupt`, with places in CSS pixels. */
export class Tools {
  constructor(ui) {
    this.ui = ui;
    const shape = new ShapeTool(ui), shapes = Object.fromEntries(FORM_TOOLS.map((name) => [name, shape]));
    this.all = {
      select: new SelectTool(ui), pen: new PenTool(ui), ...shapes,
      eraser: new EraserTool(ui), text: new TextTool(ui), laser: new LaserTool(ui), hand: new Tool(ui),
    };
  }

  get current() { return this.all[this.ui.tool]; }
  get select() { return this.all.select; }

  down(place, event) {
    this.cancel();
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
  /** Ends a gesture whose pointer the system took away. */
  interrupt() {
    this.active?.interrupt();
    this.active = null;
  }
  doubleTap(place, event) { this.current.doubleTap(place, event); }
  hover(place) {
    this.current.hover(place);
    const cursor = place && this.ui.camera.toBoard(place);
    this.ui.showPresence({ cursor, pointer: this.ui.tool === "laser" ? "laser" : "cursor" });
  }

  draw(painter, now) {
    return [this.all.select, this.active ?? this.current, this.all.laser].filter((tool, index, all) => tool && all.indexOf(tool) === index)
      .reduce((area, tool) => union(area, tool.draw(painter, now)), null);
  }
}

/** A tool that does nothing; the other tools replace some of its methods. Places are in CSS pixels. */
export class Tool {
  constructor(ui) { this.ui = ui; }
  down() {}
  move() {}
  up() {}
  cancel() {}
  interrupt() { this.cancel(); }
  doubleTap() {}
  hover() {}
  draw() { return null; }
  board([x, y, ...rest]) { return [...this.ui.camera.toBoard([x, y]), ...rest]; }
}

class PenTool extends Tool {
  #id = null;
  #ink = null;
  #last = null;
  #hasStep = false;

  down(place) {
    const { ui } = this;
    // A highlighter stroke goes behind other objects, in the same undo step.
    if (ui.isMarker && ui.attempt(() => ui.board.beginStep("highlight"))) return;
    this.#hasStep = ui.isMarker;
    const problem = ui.attempt(() => { this.#id = ui.board.beginStroke(ui.pen); });
    if (problem) return this.#finish();
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
    if (problem) this.interrupt();
    this.ui.drawLive();
  }

  up(place) {
    if (!this.#ink) return;
    const end = this.#last;
    const isLate = end && Math.hypot(place[0] - end[0], place[1] - end[1]) >= 0.5;
    // A pen that is lifted reports no pressure, so the last pressure is used.
    if (isLate) this.#extend([this.#point([place[0], place[1], end[2]])]);
    this.interrupt();
  }

  /** Ends the stroke, and keeps its points. */
  interrupt() {
    if (this.#ink) this.ui.attempt(() => this.ui.board.endStroke(this.#id));
    if (this.#ink && this.#hasStep) this.#sendBehind();
    this.#finish();
  }

  cancel() {
    if (this.#ink) this.ui.attempt(() => this.ui.board.cancelStroke(this.#id));
    this.#finish();
  }

  /** Sends a highlighter's stroke behind everything, unless a photo or a fill would cover it there. */
  #sendBehind() {
    const { board, scene } = this.ui, id = this.#id, area = areaOf(this.#ink.points, this.ui.pen.lineWidth / 2);
    const isCovered = scene.items.some(({ object }) => object.id !== id && (["photo", "game"].includes(object.type) || fillOf(object)) && touches(shapeOf(object).bounds, area));
    if (!isCovered && board.objects.size > 1) this.ui.attempt(() => board.sendToBack([id]));
  }

  #finish() {
    if (this.#hasStep) this.ui.attempt(() => this.ui.board.endStep());
    this.#hasStep = false;
    this.#ink = null;
    this.ui.hideStroke(null);
    this.ui.drawLive();
  }

  draw(painter) {
    if (!this.#ink) return null;
    const area = areaOf(this.#ink.points, this.ui.pen.lineWidth);
    painter.growing(this.#ink, this.ui.scene.paletteIn(area).color(this.ui.pen.color));
    return area;
  }
}

const areaOf = (points, margin) => widened(points.reduce((area, point) => union(area, rectangle(point, point)), null), margin);

class ShapeTool extends Tool {
  #from = null;
  #to = null;
  /** The place of the mouse while nothing is drawn. */
  #hovered = null;
  /** Whether the ends of an arrow are not bound to objects (Ctrl), and whether they do not snap to objects (Shift). */
  #isFree = false;
  #isStraight = false;

  down(place, event) {
    this.#from = place;
    this.#to = this.#hovered = null;
    this.#setKeys(event);
  }

  #setKeys({ ctrlKey, metaKey, shiftKey }) {
    this.#isFree = ctrlKey || metaKey;
    this.#isStraight = shiftKey;
  }

  hover(place) {
    const isMarked = this.ui.tool === "arrow" && !this.#from;
    if (!isMarked && !this.#hovered) return;
    this.#hovered = isMarked ? place : null;
    this.ui.drawLive();
  }

  /** Returns the anchors of both ends of the arrow. An anchor has an object and a place in it; null if the end will not be bound. */
  get #anchors() {
    if (this.ui.tool !== "arrow" || this.#isFree) return [null, null];
    const [start, end] = [this.#from, this.#to].map((place) => anchorAt(this.ui, this.board(place), { snaps: !this.#isStraight }));
    return [start, start && end?.object.id === start.object.id ? null : end];
  }

  /** The positions on the board between which the form is drawn. */
  get #ends() {
    const anchors = this.#anchors;
    return [this.#from, this.#to].map((place, index) => anchors[index]?.place ?? this.board(place));
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
    this.#setKeys(event);
    this.ui.drawLive();
  }

  up() {
    const [from, to] = [this.#from, this.#to], isNote = ["note", "frame"].includes(this.ui.tool);
    const isTap = !to || Math.hypot(from[0] - to[0], from[1] - to[1]) < 4, ends = isTap ? null : this.#ends;
    this.cancel();
    if (ends) this.#create(...ends, { connects: !this.#isFree });
    else if (isNote) this.add(this.board(from));
  }

  /** Creates a form of the usual size around a point on the board. */
  add([x, y]) {
    // In a small view, notes and their letters are larger.
    const factor = this.ui.newTextSize / 16, [width, height] = (SIZES[this.ui.tool] ?? SIZE).map((side) => side * factor);
    this.#create(...[-1, 1].map((side) => [x + side * width / 2, y + side * height / 2]));
  }

  #create([x, y], [u, v], { connects = true } = {}) {
    const { ui } = this, isNote = ["note", "frame"].includes(ui.tool);
    let id;
    const problem = ui.attempt(() => { id = ui.board.createShape(ui.tool, [x, y], [u, v], { ...ui.formPen, connects }); });
    if (problem) return;
    ui.finishTool([id]);
    if (isNote) ui.editText(id);
  }

  cancel() {
    this.#from = this.#to = this.#hovered = null;
    this.ui.drawLive();
  }

  draw(painter) {
    const { ui } = this, hovered = ui.tool === "arrow" && this.#hovered && anchorAt(ui, this.board(this.#hovered));
    if (!this.#to) return hovered ? drawAnchor(painter, ui, hovered) : null;
    const area = this.#drawForm(painter);
    return this.#anchors.filter(Boolean).reduce((all, anchor) => union(all, drawAnchor(painter, ui, anchor)), area);
  }

  #drawForm(painter) {
    const { ui } = this, { tool: form } = ui, [from, to] = this.#ends;
    const object = { type: "drawing", form, centerPosition: [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2], scale: 1, angle: 0, ...ui.formPen };
    const size = [0, 1].map((axis) => Math.abs(to[axis] - from[axis]));
    if (!hasPoints(object)) return ui.drawObject(painter, { ...object, size });
    return ui.drawObject(painter, withPoints(object, [from, to].map(([x, y]) => [x - object.centerPosition[0], y - object.centerPosition[1]])));
  }
}

class EraserTool extends Tool {
  #path = null;
  #touched = new Set();
  /** The touched objects that other members have selected. */
  #held = new Set();

  get #radius() { return 10 / this.ui.camera.zoom; }

  down(place) {
    this.#path = [this.board(place).slice(0, 2)];
    this.#touch();
  }

  move(places) {
    if (!this.#path) return;
    for (const place of places) {
      const [x, y] = this.board(place), last = this.#path.at(-1);
      if (Math.hypot(x - last[0], y - last[1]) < this.#radius / 4) continue;
      this.#path.push([x, y]);
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
      for (const { id, object } of ui.scene.items) {
        if (this.#touched.has(id) || object.isLocked || !covers(object, place, this.#radius)) continue;
        (ui.board.isHeld(id) ? this.#held : this.#touched).add(id);
      }
    }
    if (this.#touched.size > before) ui.hideObjects(this.#touched);
  }

  /** Erases along the path in pieces that are not too long for the board; neighboring pieces share a point. */
  #eraseParts() {
    const { board } = this.ui, path = this.#path;
    this.ui.attempt(() => {
      board.beginStep("erase");
      try {
        for (let start = 0; start === 0 || start < path.length - 1; start += ERASER_POINTS - 1) board.erase(path.slice(start, start + ERASER_POINTS), this.#radius);
      } finally {
        board.endStep();
      }
    });
  }

  up() {
    const { ui } = this, { board } = ui;
    const ids = board.notHeld([...this.#touched, ...this.#held].filter((id) => board.objects.has(id)));
    if (ui.erasesParts) this.#eraseParts();
    else if (ids.length) ui.attempt(() => board.remove(ids));
    this.cancel();
  }

  cancel() {
    this.#path = null;
    this.#touched.clear();
    this.#held.clear();
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

/** Draws the trail of a laser pointer, whose older parts are thinner; returns its area on the board. */
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

/** The distance of the frame from the objects, and of the rotation handle from the frame, in CSS pixels. */
const [MARGIN, ARM] = [6, 26];
/** The minimum length of a side, or of a piece of a line, with a handle in its middle; in CSS pixels. */
const LEAST_SIDE = 64;
/** The minimum height of the frame around a text with handles at its sides, in CSS pixels. */
const LEAST_TEXT = 28;
/** The distance from its neighbor, in CSS pixels, within which a dropped point of a line is removed. */
const DROP = 8;
const SNAP = Math.PI / 12;
/** The time between two changes of the board while objects are dragged, in milliseconds. */
const INTERVAL = 60;
/** The maximum number of lines that follow the objects to which they are bound in each frame; others follow when the board reports them. */
const LINES = 1000;

const UNCHANGED = { move: [0, 0], factor: 1, turn: 0, pivot: [0, 0] };

class SelectTool extends Tool {
  selection = new Set();
  #gesture = null;
  /** Whether the next drag on the empty board draws a loop around the objects to select. */
  isLasso = false;
  /** Whether the handles of the selected photo change the part of it that is shown. */
  isCropping = false;
  /**
   * The objects that could not be selected, because others have selected them. If the user selects them again, they are
   * taken over.
   */
  #refused = null;

  get objects() { return [...this.selection].map((id) => this.ui.board.objects.get(id)).filter(Boolean); }


  /**
   * Selects exactly these objects, except those that other members have selected. If others have selected all of them,
   * the board refuses the selection. Other members cannot change selected objects.
   */
  set(ids) {
    const { ui } = this, { board } = ui, wanted = new Set(ids), before = [...this.selection];
    const left = before.filter((id) => !wanted.has(id) && board.objects.has(id));
    const more = [...wanted].filter((id) => !this.selection.has(id)), groupOf = (id) => board.objects.get(id)?.groups?.at(-1) ?? id;
    // A group stays together.
    const held = new Set(ui.isViewer ? [] : more.filter((id) => board.isHeld(id)).map(groupOf));
    const free = more.filter((id) => !held.has(groupOf(id))), added = free.length ? free : more;
    const next = new Set([...before.filter((id) => wanted.has(id)), ...added]);
    if (!left.length && !added.length && next.size === this.selection.size) return;
    this.selection = next;
    this.isCropping = false;
    if (!ui.isViewer) {
      if (left.length) ui.attempt(() => ui.board.deselect(left));
      if (added.length) {
        const isTaking = this.#refused === String(added), error = ui.attempt(() => board.select(added, { isTaking }));
        this.#refused = error?.code === "held" ? String(added) : null;
        if (error) for (const id of added) next.delete(id);
      }
    }
    ui.selectionChanged();
  }

  drop(ids) {
    const before = this.selection.size;
    for (const id of ids) this.selection.delete(id);
    if (this.selection.size === before) return;
    if (!this.selection.size) this.cancel();
    this.ui.selectionChanged();
  }


  /** The frame as an upright or rotated rectangle, like an object: center, size, angle. */
  get #frame() {
    const objects = this.objects;
    if (!objects.length) return null;
    const margin = MARGIN / this.ui.camera.zoom;
    if (objects.length === 1) {
      const [{ centerPosition, scale, angle }] = objects, { width, height } = shapeOf(objects[0]);
      return { centerPosition, scale: 1, angle, size: [width * scale + 2 * margin, height * scale + 2 * margin] };
    }
    const { left, top, right, bottom } = widened(objects.map((object) => shapeOf(object).bounds).reduce(union), margin);
    return { centerPosition: [(left + right) / 2, (top + bottom) / 2], scale: 1, angle: 0, size: [right - left, bottom - top] };
  }

  /**
   * The handles with their positions on the board. A handle scales about its `pivot` or turns the objects, moves the `sides` of a form
   * or text, or moves or adds the point of a line with an `index`.
   */
  #handles(frame) {
    const { line, ui: { camera } } = this;
    if (line) return this.#pointHandles(line);
    const [width, height] = frame.size, [object, ...others] = this.objects;
    const at = (x, y) => shown(frame, [x * width / 2, y * height / 2]);
    const isForm = !others.length && (object.form || this.isCropping), isText = !others.length && object.type === "text";
    const corner = (x, y) => ({ place: at(x, y), ...(isForm ? { sides: [x, y] } : { pivot: at(-x, -y) }) });
    // Handles in the middle of short sides would cover the corners. A text of one line is wide.
    const hasRoom = (side, least = LEAST_SIDE) => side * camera.zoom >= least;
    const across = isForm ? hasRoom(height) : isText && hasRoom(height, LEAST_TEXT), down = isForm && hasRoom(width);
    const sides = [[-1, 0, across], [1, 0, across], [0, -1, down], [0, 1, down]].filter(([, , isThere]) => isThere);
    const arm = -height / 2 - ARM / camera.zoom;
    return [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1), ...sides.map(([x, y]) => ({ place: at(x, y), sides: [x, y] })),
      { place: shown(frame, [0, arm]), pivot: frame.centerPosition, isTurn: true }];
  }

  /** The selected line or arrow, if it is the only object and can be changed: its points have handles, instead of a frame. */
  get line() {
    const [object, ...others] = this.objects;
    return object && !others.length && hasPoints(object) && this.#canChange ? object : null;
  }

  #pointHandles(line) {
    const places = line.points.map((point) => shown(line, point)), { zoom } = this.ui.camera;
    const handles = places.map((place, index) => ({ place, index }));
    places.slice(1).forEach(([x, y], index) => {
      const [u, v] = places[index];
      if (Math.hypot(x - u, y - v) * zoom >= LEAST_SIDE) handles.push({ place: [(x + u) / 2, (y + v) / 2], index: index + 1, isNew: true });
    });
    return handles;
  }

  #handleAt(place, reach) {
    const frame = this.#canChange && this.#frame;
    if (!frame) return null;
    return this.#handles(frame).map((handle) => {
      const [x, y] = this.ui.camera.toScreen(handle.place);
      return { ...handle, distance: Math.hypot(x - place[0], y - place[1]) };
    }).filter(({ distance }) => distance < reach).sort((a, b) => a.distance - b.distance)[0] ?? null;
  }

  /** Returns whether a place is on a selected object, or in the frame around several selected objects. */
  covers(place) {
    const frame = this.selection.size > 1 && this.#frame, at = this.board(place);
    if (frame && local(frame, at).every((value, index) => Math.abs(value) <= frame.size[index] / 2)) return true;
    return this.selection.has((this.ui.objectAt(place) ?? this.ui.formAround(place))?.id);
  }

  /** The lower right corner of the selection, in CSS pixels; null if nothing is selected. */
  get corner() {
    const frame = this.#frame;
    return frame && this.ui.camera.toScreen(shown(frame, [frame.size[0] / 2, frame.size[1] / 2]));
  }

  get isLocked() { return this.objects.some((object) => object.isLocked); }
  get #canChange() { return !this.ui.isViewer && !this.isLocked; }

  down(place, event) {
    const { ui } = this;
    const at = this.board(place);
    const handle = this.#handleAt(place, event.pointerType === "touch" ? 22 : 11);
    if (handle?.sides || handle?.index !== undefined) return this.#beginReshape(place, at, handle);
    if (handle) return this.#beginDrag(at, { handle });
    const tapped = ui.objectAt(place);
    if (event.shiftKey && tapped) {
      const next = new Set(this.selection);
      const isAdded = !next.has(tapped.id);
      for (const id of ui.withGroup(tapped)) isAdded ? next.add(id) : next.delete(id);
      return this.set(next);
    }
    const isInFrame = this.selection.size > 1 && this.covers(place);
    // A drag that begins on a locked object, such as a large photo, selects the objects in front of it.
    const object = tapped?.isLocked ? null : tapped;
    const isAdding = object && !this.selection.has(object.id) && !isInFrame;
    if (isAdding) this.set(ui.withGroup(object));
    if (object || isInFrame) {
      const canMove = this.#canChange && this.selection.size;
      this.#gesture = { kind: canMove ? "wait" : "none", from: place, at, tapped, isRefused: isAdding && this.#refused !== null };
      return;
    }
    const loop = event.altKey || this.isLasso ? [at] : null;
    this.isLasso = false;
    this.#gesture = { kind: "band", from: place, to: place, loop, before: event.shiftKey ? [...this.selection] : [], tapped };
    if (!event.shiftKey) this.set([]);
  }

  #beginDrag(at, { handle = null, isCopy = false }) {
    const { ui } = this;
    ui.board.beginStep(handle ? (handle.isTurn ? "rotate" : "scale") : isCopy ? "duplicate" : "move");
    const problem = isCopy && ui.attempt(() => this.set(ui.board.duplicate([...this.selection], [0, 0])));
    const framed = handle ? [] : this.#framed;
    const ids = [...this.selection, ...framed.map(({ id }) => id)];
    const bounds = this.objects.map((object) => shapeOf(object).bounds).reduce(union);
    this.#gesture = { kind: "drag", at, handle, ids, bounds, guides: new Guides(ui, ids, bounds), objects: [...this.objects, ...framed], change: UNCHANGED, applied: UNCHANGED, appliedAt: 0 };
    this.#lift(ids);
    if (problem) this.cancel();
  }

  /** Draws the objects of the gesture, and the lines that are bound to them, on the live layer, from bottom to top. */
  #lift(ids) {
    const { ui } = this, { board } = ui, own = new Set(ids);
    let count = 0;
    const drawn = board.order.filter((id) => {
      const { author, startBinding, endBinding } = board.objects.get(id);
      return own.has(id) || ((own.has(startBinding?.id) || own.has(endBinding?.id)) && !ui.hidden.has(author) && (count += 1) <= LINES);
    });
    Object.assign(this.#gesture, { own, drawn });
    ui.hideObjects(drawn);
    board.isPatient = true;
  }

  /** The objects in the selected frames, which are moved with the frames. */
  get #framed() {
    const frames = new Set(this.objects.filter(({ form }) => form === "frame").map(({ id }) => id));
    if (!frames.size) return [];
    return this.ui.scene.items.map(({ object }) => object).filter(({ id, frame, isLocked }) => frames.has(frame) && !this.selection.has(id) && !isLocked && !this.ui.board.isHeld(id));
  }

  /** Begins to change the size of a form or text, or the points of a line. */
  #beginReshape(from, at, handle) {
    const { ui } = this, [object] = this.objects;
    ui.board.beginStep(this.isCropping ? "crop" : handle.sides ? "resize" : "points");
    this.#gesture = { kind: "reshape", isCrop: this.isCropping, from, at, hasMoved: false, handle, object, guides: new Guides(ui, [object.id], shapeOf(object).bounds), shown: object, appliedAt: 0 };
    this.#lift([object.id]);
  }

  /** Releases a bound end that is dragged; a click does not release it. */
  #release({ object, handle: { index, isNew } }) {
    const isBound = isNew ? [] : [object.startBinding && index === 0, object.endBinding && index === object.points?.length - 1];
    if (isBound.some(Boolean) && this.ui.attempt(() => this.ui.board.release(object.id, Boolean(isBound[1])))) this.cancel();
  }

  #reshape(place, event) {
    const gesture = this.#gesture, { object, at, handle: { sides, index, isNew } } = gesture;
    if (sides && !object.angle) place = this.#snapped(place, event);
    let [to, from] = [local(object, place), local(object, at)];
    if (gesture.isCrop) gesture.shown = cropped(object, sides, [to[0] - from[0], to[1] - from[1]]);
    else if (sides) gesture.shown = resized(object, sides, [to[0] - from[0], to[1] - from[1]], event.shiftKey);
    else {
      const points = object.points.map(([x, y]) => [x, y]), drop = DROP / this.ui.camera.zoom / object.scale;
      gesture.anchor = this.#anchor(gesture, place, event);
      if (gesture.anchor) to = local(object, gesture.anchor.place);
      points.splice(index, isNew ? 0 : 1, to);
      const isOnNeighbor = [points[index - 1], points[index + 1]].some((point) => point && Math.hypot(to[0] - point[0], to[1] - point[1]) < drop);
      if (isOnNeighbor && points.length > 2) points.splice(index, 1);
      gesture.shown = withPoints(object, points);
    }
    if (performance.now() - gesture.appliedAt > INTERVAL) this.#applyShape();
  }

  /** Returns the place of a dragged side or corner of an upright object, moved to a guide if a guide is near. */
  #snapped([x, y], event) {
    const { object, at, handle: { sides: [across, down] }, guides } = this.#gesture, { left, top, right, bottom } = shapeOf(object).bounds;
    guides.clear();
    if (event.ctrlKey || event.metaKey || event.shiftKey) return [x, y];
    const edges = [across ? [(across < 0 ? left : right) + x - at[0]] : [], down ? [(down < 0 ? top : bottom) + y - at[1]] : []];
    const [dx, dy] = guides.snap({ left, top, right, bottom }, edges);
    return [x + dx, y + dy];
  }

  #applyShape() {
    const { shown: after, object, handle, isCrop } = this.#gesture, { board } = this.ui;
    if (after === object) return;
    const problem = this.ui.attempt(() => {
      if (isCrop) return board.crop(after.id, after.crop);
      if (!handle.sides) return board.setPoints(after.id, after.points.map((point) => shown(after, point)));
      if (object.isAutoWidth) board.restyle([after.id], { isAutoWidth: false });
      board.resize(after.id, after.size, after.centerPosition);
    });
    this.#gesture.appliedAt = performance.now();
    if (problem) this.cancel();
  }

  /** Returns where the dragged end of an arrow will be bound; null for other points, and if there is no object. */
  #anchor({ object, handle: { index, isNew } }, place, event) {
    const isEnd = index === object.points.length - 1;
    if (object.form !== "arrow" || isNew || !(index === 0 || isEnd) || event.ctrlKey || event.metaKey) return null;
    const anchor = anchorAt(this.ui, place, { id: object.id });
    return anchor?.object.id === (isEnd ? object.startBinding : object.endBinding)?.id ? null : anchor;
  }

  /** Binds an end of an arrow that was dragged into an object. */
  #connect({ object, shown: { points }, handle: { index, isNew } }) {
    const isEnd = index === object.points?.length - 1;
    if (object.form !== "arrow" || isNew || !(index === 0 || isEnd) || points.length !== object.points.length) return;
    this.ui.attempt(() => this.ui.board.connect(object.id, isEnd));
  }

  move(places, event) {
    const gesture = this.#gesture;
    if (!gesture) return;
    const place = places.at(-1);
    if (gesture.kind === "reshape" && !gesture.hasMoved && Math.hypot(place[0] - gesture.from[0], place[1] - gesture.from[1]) > 2) {
      gesture.hasMoved = true;
      this.#release(gesture);
    }
    if (gesture.hasMoved && this.#gesture === gesture) this.#reshape(this.board(place), event);
    if (gesture.kind === "wait" && Math.hypot(place[0] - gesture.from[0], place[1] - gesture.from[1]) > 3) {
      this.#beginDrag(gesture.at, { isCopy: event.altKey });
    }
    if (gesture.kind === "band") {
      gesture.to = place;
      const area = rectangle(this.board(gesture.from), this.board(place)), { loop } = gesture;
      loop?.push(...places.map((one) => this.board(one)));
      const inside = this.ui.scene.items.filter(({ object }) => !object.isLocked && (loop ? isAround(object, loop) : isInside(object, area)));
      gesture.found = inside.flatMap(({ object }) => this.ui.withGroup(object));
    }
    if (this.#gesture?.kind === "drag") this.#drag(this.board(place), event);
    this.ui.drawLive();
  }

  #drag([x, y], event) {
    const gesture = this.#gesture, { handle, at } = gesture;
    if (!handle) {
      const move = [x - at[0], y - at[1]];
      const fixed = event.shiftKey ? (Math.abs(move[0]) > Math.abs(move[1]) ? 1 : 0) : null;
      if (fixed !== null) move[fixed] = 0;
      gesture.guides.clear();
      if (!event.ctrlKey && !event.metaKey) {
        const { left, top, right, bottom } = gesture.bounds, area = { left: left + move[0], top: top + move[1], right: right + move[0], bottom: bottom + move[1] };
        gesture.guides.snap(area, edgesOf(area).map((values, axis) => axis === fixed ? [] : values)).forEach((by, axis) => { move[axis] += by; });
      }
      gesture.change = { ...UNCHANGED, move };
    } else {
      const { pivot, isTurn } = handle;
      const [a, b] = [[at[0] - pivot[0], at[1] - pivot[1]], [x - pivot[0], y - pivot[1]]];
      if (isTurn) {
        let turn = Math.atan2(b[1], b[0]) - Math.atan2(a[1], a[0]);
        const own = gesture.objects.length === 1 ? gesture.objects[0].angle : 0;
        if (event.shiftKey) turn = Math.round((turn + own) / SNAP) * SNAP - own;
        gesture.change = { ...UNCHANGED, turn, pivot };
      } else {
        // The corner follows the pointer along the diagonal.
        const factor = (a[0] * b[0] + a[1] * b[1]) / (a[0] * a[0] + a[1] * a[1] || 1);
        const least = Math.max(...gesture.objects.map(({ scale }) => 1 / 512 / scale), 0.02);
        const most = Math.min(...gesture.objects.map(({ scale }) => 512 / scale));
        gesture.change = { ...UNCHANGED, factor: Math.min(Math.max(factor, least), most), pivot };
      }
    }
    if (performance.now() - gesture.appliedAt < INTERVAL) return;
    // Applying the change must not delay the frame.
    gesture.appliedAt = performance.now();
    whenIdle(() => this.#gesture === gesture && this.#apply());
  }

  /** Makes the changes that the board does not have yet, so that other members see these changes. */
  #apply() {
    const gesture = this.#gesture, { ids, change, applied } = gesture, { board } = this.ui;
    const problem = this.ui.attempt(() => {
      const move = [change.move[0] - applied.move[0], change.move[1] - applied.move[1]];
      if (move[0] || move[1]) board.move(ids, move);
      if (change.factor !== applied.factor) board.scale(ids, change.factor / applied.factor, { pivot: change.pivot });
      if (change.turn !== applied.turn) board.rotate(ids, change.turn - applied.turn, { pivot: change.pivot });
    });
    gesture.applied = change;
    gesture.appliedAt = performance.now();
    if (problem) this.cancel();
  }

  up(place, event) {
    const gesture = this.#gesture;
    if (gesture?.kind === "drag") this.#apply();
    if (gesture?.hasMoved) {
      this.#applyShape();
      if (!event.ctrlKey && !event.metaKey) this.#connect(gesture);
    }
    if (gesture?.kind === "band" && (gesture.found?.length || gesture.before.length)) this.set([...gesture.before, ...(gesture.found ?? [])]);
    const tapped = gesture && !isChange(gesture) && !gesture.found && gesture.tapped;
    this.cancel();
    if (tapped && !event.shiftKey) {
      // The same click must not take objects that it could not select.
      if (!gesture.isRefused) this.set(this.ui.withGroup(tapped));
      if (tapped.type === "game") this.ui.open(tapped.id);
    }
  }

  cancel() {
    const gesture = this.#gesture;
    this.#gesture = null;
    if (isChange(gesture)) {
      const { own, drawn } = gesture, { board } = this.ui;
      board.isPatient = false;
      board.endStep();
      this.#drop(drawn, drawn.filter((id) => !own.has(id)));
    }
    this.ui.drawLive();
  }

  /**
   * What remains on the live layer after a gesture. The tiles do not show the `lines`, because the board has not yet reported the
   * current places of all lines. The objects that are `drawn` are the lines and all other objects that the tiles do not show yet.
   */
  dropped = null;

  #drop(drawn, lines) {
    this.ui.hideObjects(lines);
    this.dropped = { drawn, lines };
  }

  #drawDropped(painter) {
    const { ui, dropped } = this;
    if (ui.isComplete) dropped.drawn = dropped.lines;
    const { drawn, lines } = dropped;
    if (lines.length && !ui.board.isReporting) this.#drop(drawn, []);
    if (drawn.length) ui.drawLive();
    else this.dropped = null;
    return this.#drawMoved(painter, dropped);
  }

  /**
   * Draws the objects of a gesture, and bound lines with the ends that they have now. `moved` has the values and placements that the board
   * does not have yet.
   */
  #drawMoved(painter, { drawn, objects, change }, moved = new Map(objects?.map((object) => [object.id, [object, changed(object, change)]]))) {
    const { ui } = this, known = ui.board.objects;
    const find = (id) => moved.get(id) ?? [known.get(id), known.get(id)];
    return drawn.reduce((area, id) => {
      let [object, placement] = find(id), box = null;
      if (object?.startBinding || object?.endBinding) {
        if (object !== placement) object = { ...object, ...placement };
        const ends = boundEnds(object, find);
        box = drawStraight(painter, object, ends, ui.looks);
        if (!box) object = placement = withEnds(object, ends);
      }
      return union(area, box ?? ui.drawObject(painter, object, placement));
    }, null);
  }

  doubleTap(place) {
    const { ui } = this, object = ui.objectAt(place) ?? ui.formAround(place);
    if (object) ui.open(object.id);
    else if (!this.ui.isViewer) this.ui.editText(null, this.ui.camera.toBoard(place));
  }

  hover(place) {
    if (this.ui.tool !== "select" || isChange(this.#gesture)) return;
    const handle = place && this.#handleAt(place, 11);
    const object = place && !this.ui.isViewer && this.ui.objectAt(place);
    this.ui.boardElement.style.cursor = handle ? cursorOf(handle) : object && !object.isLocked ? "move" : "";
  }


  draw(painter) {
    const gesture = this.#gesture;
    let area = null;
    if (gesture?.kind === "drag") area = this.#drawMoved(painter, gesture);
    if (this.dropped) area = this.#drawDropped(painter);
    if (gesture?.kind === "band") area = union(area, this.#drawBand(painter, gesture));
    if (isChange(gesture)) area = union(area, gesture.guides.draw(painter));
    if (gesture?.kind === "reshape") {
      const { object, shown } = gesture;
      area = union(area, hasPoints(shown) ? this.ui.drawObject(painter, shown) : this.#drawMoved(painter, gesture, new Map([[object.id, [shown, shown]]])));
      return gesture.anchor ? union(area, drawAnchor(painter, this.ui, gesture.anchor)) : area;
    }
    const frame = !isChange(gesture) && this.#frame;
    return frame ? union(area, this.#drawFrame(painter, frame)) : area;
  }

  #drawBand(painter, { from, to, loop }) {
    if (loop) return this.#drawLoop(painter, loop);
    const area = rectangle(this.board(from), this.board(to));
    const { left, top, right, bottom } = area;
    const lineWidth = 1 / this.ui.camera.zoom;
    painter.box(left, top, right - left, bottom - top, { fill: `${this.ui.accent}22`, stroke: this.ui.accent, lineWidth });
    return widened(area, lineWidth);
  }

  #drawLoop(painter, [start, ...pieces]) {
    const lineWidth = 1 / this.ui.camera.zoom, rgb = this.ui.accent;
    painter.outlines([{ start, pieces, isClosed: true }], { fill: { rgb, opacity: 0.13 }, stroke: { rgb, opacity: 1 }, width: lineWidth });
    return areaOf([start, ...pieces], 2 * lineWidth);
  }

  #drawFrame(painter, frame) {
    const { accent, camera: { zoom } } = this.ui, unit = 1 / zoom, [width, height] = frame.size;
    const { context } = painter, { isLocked, line } = this;
    if (!line) painter.place(frame, () => {
      if (isLocked || this.isCropping) context.setLineDash([5 * unit, 5 * unit]);
      painter.box(-width / 2, -height / 2, width, height, { stroke: accent, lineWidth: 1.5 * unit, radius: 3 * unit });
    });
    const handles = this.#canChange ? this.#handles(frame) : [];
    for (const { place: [x, y], isTurn, index, isNew } of handles) {
      context.beginPath();
      if (isTurn || index !== undefined || !context.roundRect) context.arc(x, y, (isNew ? 4 : 6) * unit, 0, 7);
      else context.roundRect(x - 5 * unit, y - 5 * unit, 10 * unit, 10 * unit, 3 * unit);
      context.globalAlpha = isNew ? 0.6 : 1;
      context.fillStyle = isNew ? accent : "#ffffff";
      context.fill();
      context.strokeStyle = accent;
      context.lineWidth = 1.5 * unit;
      context.stroke();
      context.globalAlpha = 1;
    }
    if (isLocked) this.#drawLock(context, shown(frame, [width / 2, -height / 2]), unit);
    const corners = cornersOf(frame, [width, height + 2 * (ARM + 10) * unit]), places = [...corners, ...handles.map(({ place }) => place)];
    return widened(places.map((place) => rectangle(place, place)).reduce(union), 10 * unit);
  }

  #drawLock(context, [x, y], unit) {
    context.save();
    context.translate(x, y);
    context.scale(0.8 * unit, 0.8 * unit);
    context.translate(-12, -12);
    const lock = new Path2D("M5 10.5h14v9.5H5zM8 10.5V8a4 4 0 018 0v2.5");
    Object.assign(context, { fillStyle: "#ffffff", strokeStyle: this.ui.accent, lineWidth: 2 });
    context.fill(lock);
    context.stroke(lock);
    context.restore();
  }
}

/** Returns a photo whose side or corner was moved, so that another part of it is shown. */
function cropped(object, sides, by) {
  const { crop = [0, 0, 1, 1], size, isFlippedHorizontally, isFlippedVertically } = object, part = [...crop], middle = [0, 0], least = 1 / 32;
  [isFlippedHorizontally, isFlippedVertically].forEach((isFlipped, axis) => {
    const [start, end] = [crop[axis], crop[axis + 2]], unit = (end - start) / size[axis], sign = isFlipped ? -1 : 1, side = sides[axis] * sign, move = by[axis] * sign * unit;
    if (side < 0) part[axis] = Math.min(Math.max(start + move, 0), end - least);
    if (side > 0) part[axis + 2] = Math.max(Math.min(end + move, 1), start + least);
    middle[axis] = sign * (part[axis] + part[axis + 2] - start - end) / 2 / unit;
  });
  return { ...object, crop: part, size: size.map((length, axis) => length * (part[axis + 2] - part[axis]) / (crop[axis + 2] - crop[axis])), centerPosition: shown(object, middle) };
}

/** Returns whether most of an object is inside a loop. */
function isAround(object, loop) {
  const { corners, bounds } = shapeOf(object), points = object.points && !object.form ? visibleParts(object).flat() : object.points;
  if (!touches(bounds, areaOf(loop, 0))) return false;
  // A few points of a long line are enough.
  const step = Math.ceil((points?.length ?? 1) / 64), places = points?.filter((_, index) => index % step === 0).map((point) => shown(object, point));
  const all = places ?? [...corners, object.centerPosition], closed = [...loop, loop[0]];
  return all.filter((place) => contains(closed, place)).length > all.length / 2;
}

/** Whether a gesture changes objects on the board, as one undo step. */
const isChange = (gesture) => gesture?.kind === "drag" || gesture?.kind === "reshape";

function cursorOf({ isTurn, index, sides }) {
  if (isTurn) return "grab";
  if (index !== undefined) return "crosshair";
  const [across, down] = sides ?? [1, 1];
  return !down ? "ew-resize" : !across ? "ns-resize" : sides && across !== down ? "nesw-resize" : "nwse-resize";
}

function changed({ centerPosition: [x, y], scale, angle }, { move, factor, turn, pivot }) {
  const [dx, dy] = shown({ centerPosition: pivot, scale: factor, angle: turn }, [x - pivot[0], y - pivot[1]]);
  return { centerPosition: [dx + move[0], dy + move[1]], scale: scale * factor, angle: angle + turn };
}
