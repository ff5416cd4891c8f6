/** The outlines and end marks of forms (`Outline`, BRD-51), relative to the center, before scale and rotation. */

/** The distance of the control points of a quarter of an ellipse from its ends, relative to the radius. */
const QUARTER = 0.5522847498307936;
const CORNER = 32;

/** The lengths of the dashes and gaps of lines with round ends, in line widths (`LineStyle.dashes`). */
export const DASHES = { solid: [], dashed: [3, 4], dotted: [0, 2] };

export const hasPoints = ({ form }) => form === "line" || form === "arrow";

/** The marks at the first and the last point of a line or arrow. */
export const endsOf = ({ form, lineStart = "none", lineEnd = form === "arrow" ? "arrow" : "none" }) => [lineStart, lineEnd];

/** The color inside a form or behind a text, `#rrggbbaa`; null if there is none. */
export const fillOf = ({ form, fill }) => fill ?? (form === "note" ? "#ffec99ff" : null);

const corners = ([start, ...more]) => ({ start, pieces: [...more, start], isClosed: true });

function roundedBox(x, y, [across, down]) {
  const [u, v] = [x - across, y - down], [a, b] = [u + across * QUARTER, v + down * QUARTER];
  const sides = [
    [[u, -y]], [[a, -y], [x, -b], [x, -v]], [[x, v]], [[x, b], [a, y], [u, y]],
    [[-u, y]], [[-a, y], [-x, b], [-x, v]], [[-x, -v]], [[-x, -b], [-a, -y], [-u, -y]],
  ];
  const pieces = [];
  let last = [-u, -y];
  for (const side of sides) {
    const end = side.at(-1);
    if (side.length > 1 || end[0] !== last[0] || end[1] !== last[1]) pieces.push(side.flat());
    last = end;
  }
  return { start: [-u, -y], pieces, isClosed: true };
}

/** Returns the line through points; a curve is a Catmull-Rom spline. */
function through(points, isCurved) {
  const [first, ...more] = points, last = points.at(-1);
  const isClosed = points.length > 2 && first[0] === last[0] && first[1] === last[1];
  if (!isCurved || points.length < 3) return { start: first, pieces: more, isClosed };
  const pieces = more.map((to, index) => {
    const from = points[index];
    const before = points[index - 1] ?? (isClosed ? points.at(-2) : from), after = points[index + 2] ?? (isClosed ? points[1] : to);
    return [from[0] + (to[0] - before[0]) / 6, from[1] + (to[1] - before[1]) / 6, to[0] - (after[0] - from[0]) / 6, to[1] - (after[1] - from[1]) / 6, ...to];
  });
  return { start: first, pieces, isClosed };
}

/**
 * Returns the outline of a form with a width and height: `start`, `pieces` and `isClosed`. A piece has the coordinates of its end,
 * or of two control points of a curve and its end. Null for a line without points.
 */
export function outlineOf(object, width, height) {
  const { form, points = [], isCurved } = object, [x, y] = [width / 2, height / 2];
  if (hasPoints(object)) return points.length ? through(points, isCurved) : null;
  if (form === "ellipse") return roundedBox(x, y, [x, y]);
  if (form === "rounded") return roundedBox(x, y, Array(2).fill(Math.min(CORNER, Math.min(x, y) / 2)));
  return corners(form === "diamond" ? [[0, -y], [x, 0], [0, y], [-x, 0]] : [[-x, -y], [x, -y], [x, y], [-x, y]]);
}

/** Adds an outline to a path. */
export function trace({ start, pieces, isClosed }, path) {
  path.moveTo(...start);
  for (const piece of pieces) piece.length > 2 ? path.bezierCurveTo(...piece) : path.lineTo(...piece);
  if (isClosed) path.closePath();
}

/** Returns an outline as the points of straight lines; each curve becomes 16 lines. */
export function flattened({ start, pieces }) {
  const points = [start], steps = 16;
  for (const [a, b, c, d, x, y] of pieces) {
    const [u, v] = points.at(-1);
    if (c === undefined) points.push([a, b]);
    else for (let step = 1; step <= steps; step += 1) {
      const t = step / steps, s = 1 - t, [p, q, r, o] = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
      points.push([u * p + a * q + c * r + x * o, v * p + b * q + d * r + y * o]);
    }
  }
  return points;
}

/** Returns the point in the middle of the length of a line. */
export function middleOf(points) {
  const lengths = points.slice(1).map(([x, y], index) => Math.hypot(x - points[index][0], y - points[index][1]));
  let rest = lengths.reduce((sum, length) => sum + length, 0) / 2;
  for (const [index, length] of lengths.entries()) {
    if (rest <= length && length) {
      const [[x, y], [u, v]] = [points[index], points[index + 1]];
      return [x + (u - x) * rest / length, y + (v - y) * rest / length];
    }
    rest -= length;
  }
  return points[0];
}

function mark(end, [x, y], [u, v], room, lineWidth) {
  const length = Math.hypot(x - u, y - v);
  if (end === "none" || !length) return null;
  const reach = Math.min(8 + 4 * lineWidth, room), [dx, dy] = [(x - u) * reach / length, (y - v) * reach / length], [sx, sy] = [-dy / 2, dx / 2];
  const [left, right] = [[x - dx + sx, y - dy + sy], [x - dx - sx, y - dy - sy]];
  if (end === "arrow") return { start: left, pieces: [[x, y], right], isClosed: false };
  if (end === "triangle") return corners([[x, y], left, right]);
  if (end === "bar") return { start: [x + sx, y + sy], pieces: [[x - sx, y - sy]], isClosed: false };
  const { start, pieces } = roundedBox(reach / 4, reach / 4, [reach / 4, reach / 4]);
  const moved = (piece) => piece.map((value, index) => value + (index % 2 ? y : x));
  return { start: moved(start), pieces: pieces.map(moved), isClosed: true };
}

/** Returns the marks at the ends of a line or arrow; a closed mark is filled. */
export function marksOf(object, outline) {
  if (!hasPoints(object) || !outline?.pieces.length) return [];
  const { lineWidth = 5 } = object, { start, pieces } = outline, last = pieces.at(-1), tip = last.slice(-2), [first, end] = endsOf(object);
  const before = pieces.length > 1 ? pieces.at(-2).slice(-2) : start, after = pieces[0].slice(-2);
  const isOther = (one, other) => one[0] !== other[0] || one[1] !== other[1];
  const towards = (piece, at, control, other) => piece.length > 2 && isOther(control, at) ? control : other;
  const room = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]) / 2;
  return [
    mark(first, start, towards(pieces[0], start, pieces[0].slice(0, 2), after), room(start, after), lineWidth),
    mark(end, tip, towards(last, tip, last.slice(2, 4), before), room(tip, before), lineWidth),
  ].filter(Boolean);
}

/**
 * Returns a line, shortened to the middle of its triangles. Otherwise, the round ends would extend beyond the tips of
 * the triangles (`Outline.shortened`).
 */
export function shortened(object, outline, marks) {
  const [first, end] = endsOf(object), isAt = ([x, y]) => ({ start: [u, v], isClosed }) => isClosed && x === u && y === v;
  const middle = ({ start: [x, y], pieces: [[a, b], [c, d]] }) => [x / 2 + (a + c) / 4, y / 2 + (b + d) / 4];
  const last = outline.pieces.at(-1), start = first === "triangle" && marks.find(isAt(outline.start)), tip = end === "triangle" && marks.findLast(isAt(last.slice(-2)));
  if (!start && !tip) return outline;
  return {
    ...outline, start: start ? middle(start) : outline.start,
    pieces: tip ? [...outline.pieces.slice(0, -1), [...last.slice(0, -2), ...middle(tip)]] : outline.pieces,
  };
}

/** Returns whether a point is inside a closed line, by the even-odd rule. */
export function contains(points, [x, y]) {
  let isIn = false;
  points.forEach(([u, v], index) => {
    const [a, b] = points[Math.max(index - 1, 0)];
    if ((b > y) !== (v > y) && x < a + (u - a) * (y - b) / (v - b)) isIn = !isIn;
  });
  return isIn;
}
