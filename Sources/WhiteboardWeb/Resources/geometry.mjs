/** The positions and outlines of objects, by the same rules as `Whiteboard` and `WhiteboardRendering`. */

/** The size of a letter on the board (`BoardPicture.letter`), and the font in which letters have this width. */
export const LETTER = { width: 8, height: 16, font: 13.3, family: '"DejaVu Sans Mono", Menlo, Consolas, monospace' };

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
  const [sine, cosine] = [Math.sin(angle) * scale, Math.cos(angle) * scale];
  return [x + dx * cosine - dy * sine, y + dx * sine + dy * cosine];
}

export function local({ centerPosition: [x, y], scale, angle }, [px, py]) {
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

export function layout(text, boxWidth) {
  const lines = text ? wrapped(text, Math.floor(Math.min(Math.max(boxWidth / LETTER.width, 4), 4096))) : [];
  const width = lines.reduce((most, line) => Math.max(most, columns(line)), 1) * LETTER.width;
  return { lines, width, height: Math.max(lines.length, 1) * LETTER.height };
}

export const isRightToLeft = (text) => /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u.test(text);

/** A path as SVG data, with the calls of `Path2D` that ink needs. */
export class PathData {
  data = "";
  moveTo(x, y) { this.data += `M${number(x)} ${number(y)}`; }
  lineTo(x, y) { this.data += `L${number(x)} ${number(y)}`; }
  quadraticCurveTo(a, b, x, y) { this.data += `Q${number(a)} ${number(b)} ${number(x)} ${number(y)}`; }
}

export const number = (value) => String(Math.round(value * 100) / 100);

/** The largest distance between points of a curve drawn by hand (`InkCurve.stretch`). */
const STRETCH = 18;

/** Whether a line bends at a point; otherwise it has a corner there (`InkCurve.isBend`). */
function isBend(x, y, nextX, nextY) {
  const [length, nextLength, along] = [x * x + y * y, nextX * nextX + nextY * nextY, x * nextX + y * nextY];
  const [square, whole] = [along * along, length * nextLength];
  if (!(whole > 0)) return false;
  if (along > 0 && square > 0.75 * whole) return true;
  return (along > 0 || square < 0.04 * whole) && Math.max(length, nextLength) <= STRETCH * STRETCH;
}

/** A smooth line that grows point by point. A line whose pressure changes consists of several paths. */
export class Ink {
  paths = [];
  points = [];
  #makePath;
  #width;
  #level = null;
  #tip;
  #isBetween = false;

  constructor(width, makePath = () => new Path2D()) {
    this.#width = width;
    this.#makePath = makePath;
  }

  /** Adds `[x, y]` or `[x, y, pressure]`. Until `end` is called, the line ends at the previous point. */
  add(point) {
    const points = this.points;
    points.push(point);
    if (points.length === 1) this.#tip = point;
    if (points.length < 3) return;
    const [before, at, next] = points.slice(-3);
    if (isBend(at[0] - before[0], at[1] - before[1], next[0] - at[0], next[1] - at[1])) {
      if (!this.#isBetween) this.#line(middle(before, at), at);
      const end = middle(at, next);
      this.#path(at).quadraticCurveTo(at[0], at[1], end[0], end[1]);
      this.#tip = end;
      this.#isBetween = true;
    } else {
      this.#line(at, at);
      this.#isBetween = false;
    }
  }

  /** The last piece of a line that still grows; draw it after `paths`. */
  get tail() {
    const last = this.points.at(-1);
    return last && { from: this.#tip, to: visibleEnd(this.#tip, last), width: this.#width * breadth(last[2]) };
  }

  end() {
    const last = this.points.at(-1);
    if (last) this.#line(visibleEnd(this.#tip, last), last);
    return this;
  }

  #line(end, target) {
    this.#path(target).lineTo(end[0], end[1]);
    this.#tip = end;
  }

  #path([, , pressure = 0]) {
    const level = pressure ? Math.max(1, Math.floor(pressure / 12) * 12) : 0;
    if (level !== this.#level) {
      this.#level = level;
      const path = this.#makePath();
      path.moveTo(this.#tip[0], this.#tip[1]);
      this.paths.push({ path, width: this.#width * breadth(level) });
    }
    return this.paths.at(-1).path;
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

export function inkLines(object, makePath) {
  return visibleParts(object).flatMap((part) => {
    const ink = new Ink(object.lineWidth ?? 5, makePath);
    for (const point of part) ink.add(point);
    return ink.end().paths;
  });
}

/** Returns the points of a shape that is dragged from one point to another (`Tool.outline`). */
export function outline(kind, [x, y], [u, v]) {
  if (kind === "rectangle") return [[x, y], [u, y], [u, v], [x, v], [x, y]];
  if (kind === "ellipse") {
    return Array.from({ length: 65 }, (_, step) => {
      const turn = step / 32 * Math.PI;
      return [(x + u) / 2 + (u - x) / 2 * Math.cos(turn), (y + v) / 2 + (v - y) / 2 * Math.sin(turn)];
    });
  }
  const length = Math.hypot(u - x, v - y);
  if (kind !== "arrow" || !length) return [[x, y], [u, v]];
  const head = Math.min(length * 0.4, 24) / length;
  const [dx, dy] = [(u - x) * head, (v - y) * head];
  return [[x, y], [u, v], [u - dx - dy / 2, v - dy + dx / 2], [u, v], [u - dx + dy / 2, v - dy - dx / 2]];
}

const shapes = new WeakMap();

/** Returns the size of an object before scaling, its bounds on the board, and the lines of a text. */
export function shapeOf(object) {
  let shape = shapes.get(object);
  if (shape) return shape;
  const [width, height] = object.size;
  shape = { width, height };
  if (object.type === "text") shape = layout(object.text, width);
  const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]];
  shape.corners = corners.map(([x, y]) => shown(object, [x * shape.width / 2, y * shape.height / 2]));
  shape.bounds = shape.corners.map((corner) => rectangle(corner, corner)).reduce(union);
  shapes.set(object, shape);
  return shape;
}

function distance([x, y], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const share = Math.min(Math.max(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1), 0), 1);
  return Math.hypot(x - ax - share * dx, y - ay - share * dy);
}

/** Returns whether an object covers a position; a drawing covers only its line. */
export function covers(object, place, tolerance) {
  const shape = shapeOf(object);
  if (!touches(widened(shape.bounds, tolerance), rectangle(place, place))) return false;
  const [x, y] = local(object, place);
  const reach = tolerance / object.scale;
  if (object.type !== "drawing") return Math.abs(x) <= shape.width / 2 + reach && Math.abs(y) <= shape.height / 2 + reach;
  return visibleParts(object).some((part) => part.some((point, index) =>
    distance([x, y], part[Math.max(index - 1, 0)], point) <= reach + (object.lineWidth ?? 5) / 2));
}

export function isInside(object, area) {
  const { bounds, corners } = shapeOf(object);
  if (!touches(bounds, area)) return false;
  if (object.type !== "drawing") return true;
  const contains = ([x, y]) => x >= area.left && x <= area.right && y >= area.top && y <= area.bottom;
  if (corners.every(contains)) return true;
  // A long straight line may have no point in the area, so also check the middles of its segments.
  return visibleParts(object).some((part) => part.some((point, index) => {
    const before = part[Math.max(index - 1, 0)];
    return [0, 0.25, 0.5, 0.75].some((share) =>
      contains(shown(object, [point[0] + (before[0] - point[0]) * share, point[1] + (before[1] - point[1]) * share])));
  }));
}
