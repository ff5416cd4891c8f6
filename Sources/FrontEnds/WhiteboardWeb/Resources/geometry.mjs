/** The positions and outlines of objects, by the same rules as `Whiteboard` and `WhiteboardRendering`. */

import { contains, endsOf, flattened, hasPoints, marksOf, middleOf, outlineOf, fillOf } from "./forms.mjs";

/** The size of a letter on the board (`BoardPicture.letter`), and the font in which letters have this width. */
export const LETTER = { width: 8, height: 16, font: 13.3, family: '"DejaVu Sans Mono", Menlo, Consolas, monospace' };

/** The distance of a copy from its original (`ObjectDefaults.copyOffset`). */
export const COPY_OFFSET = [20, 20];
export const moved = ([x, y], [dx, dy]) => [x + dx, y + dy];

// Rectangles: {left, top, right, bottom}

export const rectangle = ([x, y], [u, v]) =>
  ({ left: Math.min(x, u), top: Math.min(y, v), right: Math.max(x, u), bottom: Math.max(y, v) });
export const touches = (a, b) => a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom;
export const widened = (a, margin) =>
  ({ left: a.left - margin, top: a.top - margin, right: a.right + margin, bottom: a.bottom + margin });
export const union = (a, b) => !a ? b : !b ? a : {
  left: Math.min(a.left, b.left), top: Math.min(a.top, b.top),
  right: Math.max(a.right, b.right), bottom: Math.max(a.bottom, b.bottom),
};

/** Returns the board position of a point that is relative to the center of an object. */
export function shown({ centerPosition: [x, y], scale, angle }, [dx, dy]) {
  if (!angle) return [x + dx * scale, y + dy * scale];
  const [sine, cosine] = [Math.sin(angle) * scale, Math.cos(angle) * scale];
  return [x + dx * cosine - dy * sine, y + dx * sine + dy * cosine];
}

export function local({ centerPosition: [x, y], scale, angle }, [px, py]) {
  if (!angle) return [(px - x) / scale, (py - y) / scale];
  const [sine, cosine] = [Math.sin(angle) / scale, Math.cos(angle) / scale];
  return [(px - x) * cosine + (py - y) * sine, (py - y) * cosine - (px - x) * sine];
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}(?=\ufe0f)|\p{Emoji_Presentation}/u;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter(undefined, { granularity: "grapheme" });
const graphemes = (text) => segmenter ? Array.from(segmenter.segment(text), (part) => part.segment) : [...text];
const columnsOf = (letter) => letter < "\u0300" ? 1 : ZERO.test(letter) ? 0 : WIDE.test(letter) ? 2 : 1;
export const columns = (text) => graphemes(text).reduce((sum, letter) => sum + columnsOf(letter), 0);

/** Breaks text into lines of at most `limit` columns, at spaces if possible (`TextLines.wrapped`). */
export function wrapped(text, limit) {
  const lines = [];
  for (const paragraph of text.split("\n")) {
    let line = [], width = 0, space = -1;
    for (const letter of graphemes(paragraph)) {
      const size = Math.max(columnsOf(letter), 1);
      if (width + size > limit && line.length) {
        const rest = space >= 0 && letter !== " " ? line.slice(space + 1) : [];
        lines.push((rest.length || (space >= 0 && letter !== " ") ? line.slice(0, space) : line).join(""));
        line = rest;
        width = columns(line.join(""));
        space = -1;
        if (letter === " " && !line.length) continue;
      }
      line.push(letter);
      width += size;
      if (letter === " ") space = line.length - 1;
    }
    lines.push(line.join(""));
    if (lines.length > 2000) break;
  }
  return lines.slice(0, 2000);
}

const FAMILIES = {
  plain: LETTER.family, code: LETTER.family, hand: '"Comic Neue", "Comic Sans MS", "Chalkboard SE", "Segoe Print", cursive',
};
/** The text size of an object that states none. */
const TEXT_SIZE = 16;

/** Returns the look of the letters of an object; `unit` is their size relative to letters of the default size. */
export function lettersOf({ textSize = TEXT_SIZE, typeface = "plain", alignment, isBold = false, isItalic = false, form }) {
  return { unit: textSize / TEXT_SIZE, family: FAMILIES[typeface], alignment: alignment ?? (form ? "center" : "left"), isBold, isItalic };
}

/**
 * Breaks a text into lines that fit into a width, and returns them with the size of its box. `least` is the minimum width
 * in columns.
 */
export function layout(text, boxWidth, { unit = 1, least = 4 } = {}) {
  const lines = text ? wrapped(text, Math.floor(Math.min(Math.max(boxWidth / (LETTER.width * unit), least), 4096))) : [];
  const width = lines.reduce((most, line) => Math.max(most, columns(line)), 1) * LETTER.width * unit;
  return { lines, width, height: Math.max(lines.length, 1) * LETTER.height * unit };
}

/** Returns an object with changes that may change the layout of its text. The layout that the board made is removed. */
export const altered = (object, change) => ({ ...object, ...change, rows: undefined, shownSize: undefined });

/**
 * Returns the text of a text object or the label of a form as `layout` does. The board has laid out its texts (BRD-53);
 * only text that is being edited is laid out here.
 */
export function textOf(object, text = object.text ?? "") {
  const { unit } = lettersOf(object), [width] = object.size, { rows: lines } = object;
  if (lines && text === object.text) {
    const [across, down] = object.shownSize ?? object.size, { width: letters, height } = LETTER;
    if (object.type === "text") return { lines, width: across, height: down };
    return { lines, width: Math.max(...lines.map(columns), 1) * letters * unit, height: lines.length * height * unit };
  }
  if (object.type === "text") return layout(text, object.isAutoWidth ? Infinity : width, { unit });
  if (hasPoints(object) || object.form === "frame") return layout(text, Infinity, { unit });
  return layout(text, inner(object, width), { unit, least: 1 });
}

/** Returns the part of a form's width or height that its label can use. */
export const inner = ({ form }, side) => form === "ellipse" ? side * 0.7 : form === "diamond" ? side / 2 : side - 16;
/** Returns the width or height of a form for a label of this width or height. */
const outer = ({ form }, side) => form === "ellipse" ? side / 0.7 : form === "diamond" ? side * 2 : side + 16;

export const isRightToLeft = (text) => /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u.test(text);

/** A path as SVG data, with the calls of `Path2D` that ink and forms need. */
export class PathData {
  data = "";
  moveTo(x, y) { this.data += `M${number(x)} ${number(y)}`; }
  lineTo(x, y) { this.data += `L${number(x)} ${number(y)}`; }
  bezierCurveTo(...numbers) { this.data += `C${numbers.map(number).join(" ")}`; }
  closePath() { this.data += "Z"; }
  quadraticCurveTo(a, b, x, y) { this.data += `Q${number(a)} ${number(b)} ${number(x)} ${number(y)}`; }
}

export const number = (value) => String(Math.round(value * 100) / 100);

/** The largest distance between points of a curve drawn by hand, and the number of turns that make a staircase (`InkTurn`). */
const STRETCH = 18, WINDOW = 3;

const isAlongAxis = (x, y) => Math.min(Math.abs(x), Math.abs(y)) <= 0.01 * Math.max(Math.abs(x), Math.abs(y));

/** How a line turns at a point (`InkTurn`): `step` is -1 or 1 for a step along an axis to the left or right. */
function turn(points, index) {
  const before = points[index - 1], here = points[index], after = points[index + 1];
  const [x, y, nextX, nextY] = [here[0] - before[0], here[1] - before[1], after[0] - here[0], after[1] - here[1]];
  const [length, nextLength, along] = [x * x + y * y, nextX * nextX + nextY * nextY, x * nextX + y * nextY];
  const [square, whole, limit] = [along * along, length * nextLength, STRETCH * STRETCH];
  const isShort = Math.max(length, nextLength) <= limit;
  if (along > 0 && square > 0.75 * whole) return { isBend: true };
  if (!(whole > 0) || (along <= 0 && square >= 0.04 * whole)) return {};
  if (along > 0 && square > 0.18 * whole && isShort && Math.min(length, nextLength) <= limit / 4) return { isBend: true };
  return isAlongAxis(x, y) || isAlongAxis(nextX, nextY) ? { step: x * nextY > y * nextX ? 1 : -1, isShort } : {};
}

/** Returns whether a line bends at a point; otherwise it has a corner there (`InkTurn.isBend`). */
export function isBend(points, index) {
  const { isBend, step, isShort } = turn(points, index);
  if (!step || !isShort) return Boolean(isBend);
  let hasOthers = false;
  for (const direction of [-1, 1]) {
    let last = step;
    for (let distance = 1; distance <= WINDOW; distance += 1) {
      const place = index + direction * distance;
      const next = place > 0 && place < points.length - 1 && turn(points, place).step;
      if (!next) break;
      if (next === last) return false;
      [last, hasOthers] = [next, true];
    }
  }
  return hasOthers;
}

/** The paths of a smooth line: each path is a run of points with the same pressure, and has at most `most` pieces. */
class Trace {
  #hasBegun = false;

  constructor(width, makePath, most, paths, tip, isBetween = false) {
    Object.assign(this, { width, makePath, most, paths, tip, isBetween });
  }

  /** Draws the part of the line around a point, as far as the middle of the next segment if the line bends there. */
  turn(points, index) {
    const [before, at, next] = [points[index - 1], points[index], points[index + 1]];
    if (isBend(points, index)) {
      if (!this.isBetween) this.line(middle(before, at), at);
      const end = middle(at, next);
      this.#path(at, end).quadraticCurveTo(at[0], at[1], end[0], end[1]);
      this.tip = end;
      this.isBetween = true;
    } else {
      this.line(at, at);
      this.isBetween = false;
    }
  }

  line(end, target) {
    this.#path(target, end).lineTo(end[0], end[1]);
    this.tip = end;
  }

  /** Returns the path for the next piece, which is drawn towards `target`. */
  #path(target, end) {
    const pressure = target[2] ?? 0, level = pressure ? Math.max(1, Math.floor(pressure / 12) * 12) : 0;
    let last = this.paths.at(-1);
    const isNew = last?.level !== level || last.count === this.most;
    if (isNew) this.paths.push(last = { path: this.makePath(), width: this.width * breadth(level), level, count: 0, area: rectangle(this.tip, this.tip) });
    if (isNew || !this.#hasBegun) last.path.moveTo(this.tip[0], this.tip[1]);
    this.#hasBegun = true;
    last.count += 1;
    const { area } = last;
    for (const [x, y] of [this.tip, target, end]) {
      if (x < area.left) area.left = x;
      if (x > area.right) area.right = x;
      if (y < area.top) area.top = y;
      if (y > area.bottom) area.bottom = y;
    }
    return last.path;
  }
}

/** The maximum number of pieces in one path on a canvas, because the time for a path grows faster than its length. */
const PIECES = 64;

/**
 * A smooth line that grows point by point. A long line, or a line with changing pressure, consists of several paths.
 */
export class Ink {
  points = [];
  #trace;
  /** The index of the first point whose turn is not drawn, because points after it can still change the turn. */
  #next = 1;

  /** The line is added to `paths`. */
  constructor(width, makePath = () => new Path2D(), most = PIECES, paths = []) {
    this.#trace = new Trace(width, makePath, most, paths);
  }

  get paths() { return this.#trace.paths; }

  /** Adds `[x, y]` or `[x, y, pressure]`. The end of the line is only in `tail`, until `end` is called. */
  add(point) {
    this.points.push(point);
    this.#trace.tip ??= point;
    for (; this.#next + WINDOW + 1 < this.points.length; this.#next += 1) this.#trace.turn(this.points, this.#next);
  }

  /** The paths of the end of a line that still grows; draw them after `paths`. */
  get tail() {
    const { width, makePath, most, tip, isBetween } = this.#trace;
    return this.#finish(new Trace(width, makePath, most, [], tip, isBetween)).paths;
  }

  end() {
    this.#finish(this.#trace);
    return this;
  }

  #finish(trace) {
    const last = this.points.at(-1);
    if (!last) return trace;
    for (let index = this.#next; index < this.points.length - 1; index += 1) trace.turn(this.points, index);
    trace.line(visibleEnd(trace.tip, last), last);
    return trace;
  }
}

/** Browsers do not draw lines without a length on a canvas, so a dot is a very short line. */
const visibleEnd = ([x, y], to) => x === to[0] && y === to[1] ? [x + 0.01, y] : to;
const middle = (a, b) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
const breadth = (pressure) => pressure ? 0.3 + 0.7 * pressure / 255 : 1;

/** Returns the parts of a drawing that are not erased, as lists of points relative to its center. */
export function visibleParts({ points, pressure, erased = [] }) {
  const end = points.length - 1;
  if (end < 0) return [];
  const point = (index) => pressure ? [...points[index], pressure[index]] : points[index];
  const at = (place) => {
    const index = Math.min(Math.floor(place), end), share = place - index;
    if (!share || index === end) return point(index);
    const [from, to] = [point(index), points[index + 1]];
    return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share, from[2]];
  };
  const parts = [];
  const add = (from, to) => {
    const part = [at(from)];
    for (let index = Math.floor(from) + 1; index < to; index += 1) part.push(point(index));
    if (to > from) part.push(at(to));
    parts.push(part);
  };
  let start = 0;
  for (const [from, to] of erased) {
    if (start === null || from > end) break;
    if (start < from) add(start, from);
    start = to < end ? to : null;
  }
  if (start !== null) add(start, end);
  return parts;
}

/**
 * The limits above which parts of a stroke are left out, because they are on top of much other ink (`DenseInk`): the number of
 * points, the ink as a multiple of the covered area, and the least line width. `DIVISIONS` is the number of columns and of
 * rows that divide the area.
 */
const SIMPLE = 1024, DENSE = 8, LEAST_WIDTH = 1, DIVISIONS = 32;

/** Returns the parts of a line to draw: the whole line, unless it is dense. */
function drawnParts(points, lineWidth) {
  if (points.length <= SIMPLE) return [points];
  const width = Math.max(lineWidth, LEAST_WIDTH);
  let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity, total = 0, last = points[0];
  for (const point of points) {
    const x = point[0], y = point[1], dx = x - last[0], dy = y - last[1];
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
    total += Math.sqrt(dx * dx + dy * dy);
    last = point;
  }
  const [across, down] = [right - left + width, bottom - top + width].map((side) => side / DIVISIONS);
  if (total * width <= DENSE * across * down * DIVISIONS * DIVISIONS) return [points];
  const room = DENSE * across * down / width, lengths = new Float64Array(DIVISIONS * DIVISIONS), places = new Int32Array(DIVISIONS + 1);
  const column = (point) => (point[0] - left + width / 2) / across, row = (point) => (point[1] - top + width / 2) / down;
  const parts = [];
  let part = [points[0]];
  for (let next = 1; next < points.length; next += 1) {
    const from = points[next - 1], to = points[next], x = column(from), y = row(from), dx = column(to) - x, dy = row(to) - y;
    const count = Math.floor(Math.max(Math.abs(dx), Math.abs(dy))) + 1;
    let full = 0;
    for (let step = 0; step < count; step += 1) {
      const share = (step + 0.5) / count;
      places[step] = Math.floor(y + dy * share) * DIVISIONS + Math.floor(x + dx * share);
      if (lengths[places[step]] > room) full += 1;
    }
    if (4 * full <= 3 * count) {
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]) / count;
      for (let step = 0; step < count; step += 1) lengths[places[step]] += length;
      part.push(to);
    } else {
      if (part.length > 1) parts.push(part);
      part = [to];
    }
  }
  if (part.length > 1) parts.push(part);
  return parts;
}

/** Returns the paths of a drawing, each with its width and the area of its points: `{path, width, area}`. */
export function inkLines(object, makePath, most) {
  const width = object.lineWidth ?? 5, paths = [];
  for (const part of visibleParts(object).flatMap((visible) => drawnParts(visible, width))) {
    const ink = new Ink(width, makePath, most, paths);
    for (const point of part) ink.add(point);
    ink.end();
  }
  return paths;
}

/** Returns the distance between the grid lines that are shown at a zoom factor. It is at least 8 pixels (`BoardGrid`). */
export function gridSpacing(grid, zoom) {
  let spacing = grid;
  while (spacing * zoom < 8) spacing *= 2;
  return spacing;
}

/** The opacity of the grid's lines (`BoardGrid.opacity`). */
export const GRID_OPACITY = 0.15;

/** Returns the positions of the grid's lines from `start` to `end`. */
export function gridLines(spacing, start, end) {
  const first = Math.ceil(start / spacing), last = Math.floor(end / spacing);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => (first + index) * spacing);
}

const shapes = new WeakMap();

/** Returns the corners of the box of an object, on the board. */
export const cornersOf = (placement, [width, height]) =>
  [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => shown(placement, [x * width / 2, y * height / 2]));

/**
 * Returns the size of an object before scaling, its bounds on the board, and the lines of a text. A form also has its
 * `outline`, `marks`, `label`, and the `margin` by which its line extends beyond its size.
 */
export function shapeOf(object) {
  let shape = shapes.get(object);
  if (shape) return shape;
  const [width, height] = object.size;
  shape = { width, height, margin: 0 };
  if (object.type === "text") Object.assign(shape, textOf(object));
  if (object.form) Object.assign(shape, formShape(object));
  shape.corners = cornersOf(object, [shape.width, shape.height]);
  shape.bounds = shape.corners.map((corner) => rectangle(corner, corner)).reduce(union);
  shapes.set(object, shape);
  return shape;
}

/** Returns the box around all points and control points of an outline. */
function boxOf({ start, pieces }) {
  const all = [start];
  for (const piece of pieces) for (let at = 0; at < piece.length; at += 2) all.push(piece.slice(at, at + 2));
  return all.map((point) => rectangle(point, point)).reduce(union);
}

/** Returns a line or arrow with other points, relative to its center; the center of the result is the center of these points. */
export function withPoints(object, points) {
  const { left, top, right, bottom } = boxOf(outlineOf({ ...object, points })), [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const { lineWidth } = object, size = [right - left + lineWidth, bottom - top + lineWidth];
  return { ...object, centerPosition: shown(object, [x, y]), size, points: points.map(([u, v]) => [u - x, v - y]) };
}

/** The visible gap between an outline and a line that ends at it, in board units; half of each line's width is added (BRD-52). */
const SPACE = 4;

/**
 * Returns the positions on the board of the ends of a line or arrow, if they are bound (`BoardState.shown`, BRD-52); null for other ends.
 * `find(id)` returns the object to which an end is bound and its placement, or nothing.
 */
export function boundEnds(line, find) {
  const { points, lineWidth, scale, startBinding, endBinding } = line, last = points.length - 1;
  if (last < 1) return [];
  const aims = [startBinding, endBinding].map((binding) => {
    const [object, placement] = (binding && find(binding.id)) ?? [];
    if (!object || hasPoints(object)) return null;
    const { width, height } = shapeOf(object), { anchor: [x, y], isExact } = binding, { form, lineWidth: border } = object, at = [x * width, y * height], place = shown(placement, at);
    const outside = !form || form === "note" ? 0 : border / 2, gap = outside + (SPACE + lineWidth * scale / 2) / placement.scale;
    return { place, meet: (from) => isExact ? place : shown(placement, crossing(local(placement, from), at, [width / 2 + gap, height / 2 + gap], form)) };
  });
  // The line comes from the neighboring point, or from the point at which the other end aims.
  return aims.map((aim, index) => aim && aim.meet((last < 2 && aims[1 - index]?.place) || shown(line, points[index ? last - 1 : 1])));
}

/** Returns a line or arrow with other ends, which are positions on the board or null. */
export function withEnds(line, [start, end]) {
  const points = [...line.points];
  if (start) points[0] = local(line, start);
  if (end) points[points.length - 1] = local(line, end);
  return start || end ? withPoints(line, points) : line;
}

/**
 * Returns the point between two points at which a form with half of this width and height is reached. Returns the second point if the
 * first point is inside the form, or the second point is outside.
 */
function crossing(from, to, [x, y], form) {
  let [a, b, u, v] = [from[0] / x, from[1] / y, to[0] / x, to[1] / y], share = -1;
  if (form === "ellipse") {
    const [p, q] = [u - a, v - b], square = p * p + q * q, half = a * p + b * q, rest = a * a + b * b - 1;
    if (rest > 0 && u * u + v * v < 1) share = (-half - Math.sqrt(half * half - square * rest)) / square;
  } else {
    if (form === "diamond") [a, b, u, v] = [a + b, a - b, u + v, u - v];
    for (const [outside, inside] of [[a, u], [-a, -u], [b, v], [-b, -v]]) {
      if (!(inside < 1)) return to;
      if (outside > 1) share = Math.max(share, (outside - 1) / (outside - inside));
    }
  }
  return share < 0 ? to : [0, 1].map((axis) => from[axis] + (to[axis] - from[axis]) * share);
}

/**
 * Returns a form or text whose side or corner was moved by `[dx, dy]`, in its own coordinates; `sides` has -1, 0 or 1 for each
 * direction. The opposite side stays where it is.
 */
export function resized(object, [across, down], [dx, dy], keepsProportions = false) {
  const { width: w, height: h } = shapeOf(object), least = 4;
  let [width, height] = [Math.max(w + across * dx, least), Math.max(h + down * dy, least)];
  if (keepsProportions) {
    const factor = across && down ? Math.max(width / w, height / h) : across ? width / w : height / h;
    [width, height] = [w * factor, h * factor];
  }
  const isText = object.type === "text", after = altered(object, { size: isText ? [width, object.size[1]] : [width, height] });
  if (isText) delete after.isAutoWidth;
  const { width: u, height: v } = shapeOf(after);
  return { ...after, centerPosition: shown(object, [across * (u - w) / 2, (isText ? 1 : down) * (v - h) / 2]) };
}

function formShape(object) {
  const { lineWidth = 5 } = object;
  let [width, height] = object.size;
  const label = object.text ? { ...textOf(object), center: [0, 0] } : null;
  if (label && !hasPoints(object) && object.form !== "frame") {
    const room = Math.max(inner(object, width) - label.width, 0) / 2;
    label.center = [{ left: -room, center: 0, right: room }[lettersOf(object).alignment], 0];
    height = Math.max(height, outer(object, label.height));
  }
  if (label && object.form === "frame") label.center = [(label.width - width) / 2, -(height + label.height) / 2 - 4];
  const outline = outlineOf(object, width, height), marks = marksOf(object, outline);
  if (object.form === "frame") return { width, height, outline, marks, label, margin: Math.max(lineWidth, label ? label.height + 4 : 0, label ? label.width - width : 0) };
  let margin = Math.max(object.form === "note" ? 0 : lineWidth / 2, label ? (label.width - width) / 2 : 0);
  if (label && hasPoints(object) && outline) {
    const [x, y] = label.center = lineLabelCenter(object, outline, label);
    margin = Math.max(margin, Math.abs(x) + (label.width - width) / 2, Math.abs(y) + (label.height - height) / 2);
  }
  if (marks.length) margin = Math.max(margin, 4 + 2.5 * lineWidth);
  return { width, height, outline, marks, label, margin };
}

/**
 * Returns the center of the label of a line: the middle of the line, or a point beside the line if the line is so short that a
 * label around the middle would touch an end, or the mark at an end (BRD-53).
 */
function lineLabelCenter(object, outline, label) {
  const [x, y] = middleOf(flattened(outline)), { start, pieces } = outline, { lineWidth = 5 } = object;
  const [first, last] = endsOf(object).map((end) => end === "none" ? lineWidth : 8 + 4 * lineWidth);
  const ends = [[start, first], [pieces.at(-1)?.slice(-2) ?? start, last]];
  if (!ends.some(([[u, v], room]) => Math.abs(u - x) < label.width / 2 + room && Math.abs(v - y) < label.height / 2 + room)) return [x, y];
  const { left, top, right, bottom } = boxOf(outline), distance = 4 + Math.max(first, last) / 2;
  return right - left > bottom - top ? [x, top - distance - label.height / 2] : [right + distance + label.width / 2, y];
}

function distance([x, y], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const share = Math.min(Math.max(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1), 0), 1);
  return Math.hypot(x - ax - share * dx, y - ay - share * dy);
}

/** Returns whether an object covers a position; a drawing covers only its line, unless it is a form with a fill or a label. */
export function covers(object, place, tolerance) {
  const shape = shapeOf(object), { type, scale, lineWidth = 5 } = object;
  if (!touches(widened(shape.bounds, tolerance + shape.margin * scale), rectangle(place, place))) return false;
  const [x, y] = local(object, place), reach = tolerance / scale;
  const isInBox = ([u, v], { width, height }) => Math.abs(x - u) <= width / 2 + reach && Math.abs(y - v) <= height / 2 + reach;
  if (type !== "drawing") return isInBox([0, 0], shape);
  const { label, outline } = shape, isNear = (part) => part.some((point, index) =>
    distance([x, y], part[Math.max(index - 1, 0)], point) <= reach + lineWidth / 2);
  if (!object.form) return visibleParts(object).some(isNear);
  const points = outline ? flattened(outline) : [];
  const isFrame = object.form === "frame";
  if (outline?.isClosed && (fillOf(object) || (label && !isFrame)) && contains(points, [x, y])) return true;
  return isNear(points) || Boolean(label && (isFrame || hasPoints(object)) && isInBox(label.center, label));
}

export function isInside(object, area) {
  const { bounds, corners, outline, margin } = shapeOf(object);
  if (!touches(widened(bounds, margin * object.scale), area)) return false;
  const contains = ([x, y]) => x >= area.left && x <= area.right && y >= area.top && y <= area.bottom;
  // Only a rectangle around a whole frame selects it; inside a frame, it selects the objects of the frame.
  if (object.form === "frame") return corners.every(contains);
  if (object.type !== "drawing" || (outline?.isClosed && touches(bounds, area))) return true;
  if (corners.every(contains)) return true;
  // A long straight line may have no point in the area, so also check the middles of its segments.
  return (outline ? [flattened(outline)] : object.form ? [] : visibleParts(object)).some((part) => part.some((point, index) => {
    const before = part[Math.max(index - 1, 0)];
    return [0, 0.25, 0.5, 0.75].some((share) =>
      contains(shown(object, [point[0] + (before[0] - point[0]) * share, point[1] + (before[1] - point[1]) * share])));
  }));
}
