/** Selecting, moving, scaling and rotating objects. */

import { isInside, local, outline, rectangle, shapeOf, shown, union, widened } from "./geometry.mjs";

/** The distance of the frame from the objects, and of the rotation handle from the frame, in CSS pixels. */
const [MARGIN, ARM] = [6, 26];
const SNAP = Math.PI / 12;
/** The time between two changes of the board while objects are dragged, in milliseconds. */
const INTERVAL = 60;

/** A tool that does nothing; the other tools replace some of its methods. Places are in CSS pixels. */
export class Tool {
  constructor(ui) { this.ui = ui; }
  down() {}
  move() {}
  up() {}
  cancel() {}
  doubleTap() {}
  hover() {}
  draw() { return null; }
  board([x, y, ...rest]) { return [...this.ui.camera.toBoard([x, y]), ...rest]; }
}

/** A change of the selected objects: they are scaled and rotated around a pivot, then moved. */
const UNCHANGED = { move: [0, 0], factor: 1, turn: 0, pivot: [0, 0] };

export class SelectTool extends Tool {
  selection = new Set();
  /** The gesture: `band`, `drag` (with `change`), or null. */
  #gesture = null;

  get objects() { return [...this.selection].map((id) => this.ui.board.objects.get(id)).filter(Boolean); }


  /** Selects exactly these objects. Others cannot change them meanwhile. */
  set(ids) {
    const { ui } = this;
    const next = new Set(ids);
    const left = [...this.selection].filter((id) => !next.has(id) && ui.board.objects.has(id));
    const added = [...next].filter((id) => !this.selection.has(id));
    if (!left.length && !added.length && next.size === this.selection.size) return;
    this.selection = next;
    if (!ui.isViewer) {
      if (left.length) ui.attempt(() => ui.board.deselect(left));
      if (added.length && ui.attempt(() => ui.board.select(added))) for (const id of added) next.delete(id);
    }
    ui.selectionChanged();
  }

  /** Forgets objects that are gone, or that another member got. */
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

  /** The handles with their positions on the board, and the point that stays where it is. */
  #handles(frame) {
    const [width, height] = frame.size;
    const corner = (x, y) => ({ place: shown(frame, [x * width / 2, y * height / 2]), pivot: shown(frame, [-x * width / 2, -y * height / 2]) });
    const arm = -height / 2 - ARM / this.ui.camera.zoom;
    return [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1), { place: shown(frame, [0, arm]), pivot: frame.centerPosition, isTurn: true }];
  }

  #handleAt(place, reach) {
    const frame = this.#canChange && this.#frame;
    if (!frame) return null;
    return this.#handles(frame).map((handle) => {
      const [x, y] = this.ui.camera.toScreen(handle.place);
      return { ...handle, distance: Math.hypot(x - place[0], y - place[1]) };
    }).filter(({ distance }) => distance < reach).sort((a, b) => a.distance - b.distance)[0] ?? null;
  }

  get #canChange() { return !this.ui.isViewer && !this.objects.some((object) => object.isLocked); }

  // Gestures

  down(place, event) {
    const { ui } = this;
    const at = this.board(place);
    const handle = this.#handleAt(place, event.pointerType === "touch" ? 22 : 11);
    if (handle) return this.#beginDrag(at, handle);
    const object = ui.objectAt(place);
    if (event.shiftKey && object) {
      const next = new Set(this.selection);
      const isAdded = !next.has(object.id);
      for (const id of ui.withGroup(object)) isAdded ? next.add(id) : next.delete(id);
      return this.set(next);
    }
    const frame = this.selection.size > 1 && this.#frame;
    const isInFrame = frame && local(frame, at).every((value, index) => Math.abs(value) <= frame.size[index] / 2);
    if (object && !this.selection.has(object.id) && !isInFrame) this.set(ui.withGroup(object));
    if (object || isInFrame) {
      const canMove = this.#canChange && this.selection.size;
      this.#gesture = { kind: canMove ? "wait" : "none", from: place, at, tapped: object };
      return;
    }
    this.#gesture = { kind: "band", from: place, to: place, before: event.shiftKey ? [...this.selection] : [] };
    if (!event.shiftKey) this.set([]);
  }

  #beginDrag(at, handle = null) {
    const { ui } = this;
    const ids = [...this.selection];
    this.#gesture = { kind: "drag", at, handle, ids, objects: this.objects, change: UNCHANGED, applied: UNCHANGED, appliedAt: 0 };
    ui.board.beginStep(handle ? (handle.isTurn ? "rotate" : "scale") : "move");
    ui.hideObjects(ids);
  }

  move(places, event) {
    const gesture = this.#gesture;
    if (!gesture) return;
    const place = places.at(-1);
    if (gesture.kind === "wait" && Math.hypot(place[0] - gesture.from[0], place[1] - gesture.from[1]) > 3) {
      if (event.altKey) this.ui.duplicate([0, 0]);
      this.#beginDrag(gesture.at);
    }
    if (gesture.kind === "band") {
      gesture.to = place;
      const area = rectangle(this.board(gesture.from), this.board(place));
      const inside = this.ui.scene.items.filter(({ object }) => isInside(object, area) && !object.isLocked);
      gesture.found = inside.flatMap(({ object }) => this.ui.withGroup(object));
    }
    if (this.#gesture.kind === "drag") this.#drag(this.board(place), event);
    this.ui.drawLive();
  }

  #drag([x, y], event) {
    const gesture = this.#gesture, { handle, at } = gesture;
    if (!handle) {
      const move = [x - at[0], y - at[1]];
      if (event.shiftKey) move[Math.abs(move[0]) > Math.abs(move[1]) ? 1 : 0] = 0;
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
    if (performance.now() - gesture.appliedAt > INTERVAL) this.#apply();
  }

  /** Changes the board, so that others see it. Only the difference to the last change is applied. */
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
    if (gesture?.kind === "band" && (gesture.found?.length || gesture.before.length)) this.set([...gesture.before, ...(gesture.found ?? [])]);
    const tapped = (gesture?.kind === "wait" || gesture?.kind === "none") && gesture.tapped;
    this.cancel();
    if (tapped && !event.shiftKey) {
      this.set(this.ui.withGroup(tapped));
      if (tapped.type === "game") this.ui.open(tapped.id);
    }
  }

  cancel() {
    if (this.#gesture?.kind === "drag") {
      this.#gesture = null;
      this.ui.board.endStep();
      this.ui.hideObjects([]);
    }
    this.#gesture = null;
    this.ui.drawLive();
  }

  doubleTap(place) {
    const object = this.ui.objectAt(place);
    if (object) this.ui.open(object.id);
    else if (!this.ui.isViewer) this.ui.editText(null, this.ui.camera.toBoard(place));
  }

  hover(place) {
    if (this.ui.tool !== "select") return;
    const handle = place && this.#handleAt(place, 11);
    const cursor = !place ? "" : handle ? (handle.isTurn ? "grab" : "nwse-resize") : this.ui.objectAt(place) ? "move" : "";
    this.ui.boardElement.style.cursor = cursor;
  }


  draw(painter) {
    const gesture = this.#gesture;
    let area = null;
    if (gesture?.kind === "drag") {
      for (const object of gesture.objects) area = union(area, this.ui.drawObject(painter, object, changed(object, gesture.change)));
    }
    if (gesture?.kind === "band") area = union(area, this.#drawBand(painter, gesture));
    const frame = gesture?.kind !== "drag" && this.#frame;
    return frame ? union(area, this.#drawFrame(painter, frame)) : area;
  }

  #drawBand(painter, { from, to }) {
    const area = rectangle(this.board(from), this.board(to));
    const { left, top, right, bottom } = area;
    const lineWidth = 1 / this.ui.camera.zoom;
    painter.box(left, top, right - left, bottom - top, { fill: `${this.ui.accent}22`, stroke: this.ui.accent, lineWidth });
    return widened(area, lineWidth);
  }

  #drawFrame(painter, frame) {
    const { accent, camera: { zoom } } = this.ui, unit = 1 / zoom, [width, height] = frame.size;
    const { context } = painter;
    painter.place(frame, () => {
      painter.box(-width / 2, -height / 2, width, height, { stroke: accent, lineWidth: 1.5 * unit, radius: 3 * unit });
    });
    const handles = this.#canChange ? this.#handles(frame) : [];
    for (const { place: [x, y], isTurn } of handles) {
      context.beginPath();
      if (isTurn || !context.roundRect) context.arc(x, y, 6 * unit, 0, 7);
      else context.roundRect(x - 5 * unit, y - 5 * unit, 10 * unit, 10 * unit, 3 * unit);
      context.fillStyle = "#ffffff";
      context.fill();
      context.strokeStyle = accent;
      context.lineWidth = 1.5 * unit;
      context.stroke();
    }
    const corners = outline("rectangle", [-width / 2, -height / 2 - (ARM + 10) * unit], [width / 2, height / 2]).map((corner) => shown(frame, corner));
    return widened(corners.map((corner) => rectangle(corner, corner)).reduce(union), 10 * unit);
  }
}

function changed({ centerPosition: [x, y], scale, angle }, { move, factor, turn, pivot }) {
  const [dx, dy] = shown({ centerPosition: pivot, scale: factor, angle: turn }, [x - pivot[0], y - pivot[1]]);
  return { centerPosition: [dx + move[0], dy + move[1]], scale: scale * factor, angle: angle + turn };
}
