/** Guides that appear while objects are moved or resized: edges and centers snap to those of near objects, and to the grid. */

import { contains, flattened, hasPoints, outlineOf } from "./forms.mjs";
import { gridSpacing, local, rectangle, shapeOf, shown, touches, union, widened } from "./geometry.mjs";

/** The distance from which edges snap, in CSS pixels, and the number of near objects to which they snap. */
const REACH = 6, NEAR = 60;
const SIDES = [["left", "right"], ["top", "bottom"]];
const middle = ([start, end]) => (start + end) / 2;

export class Guides {
  /** For each axis, the coordinates to which edges snap, each with the range on the other axis. */
  #lines;
  #shown = [];

  /** Finds the objects near the `bounds` of the objects with these ids; bound lines are ignored. */
  constructor(ui, ids, bounds) {
    this.ui = ui;
    const moved = new Set(ids), view = ui.camera.area, center = SIDES.map(([start, end]) => middle([bounds[start], bounds[end]]));
    const near = ui.scene.items.filter(({ id, object }) => !moved.has(id) && !object.startBinding && !object.endBinding).map(({ object }) => shapeOf(object).bounds).filter((one) => touches(one, view));
    const distance = (one) => Math.hypot(...SIDES.map(([start, end], axis) => middle([one[start], one[end]]) - center[axis]));
    const nearest = near.length > NEAR ? near.sort((one, other) => distance(one) - distance(other)).slice(0, NEAR) : near;
    this.#lines = SIDES.map(([start, end], axis) => nearest.flatMap((one) => {
      const range = SIDES[1 - axis].map((side) => one[side]);
      return [one[start], one[end], middle([one[start], one[end]])].map((at) => ({ at, range }));
    }));
  }

  /** Returns the distance by which edges at `[xs, ys]` of an area snap, and stores the guides to show. */
  snap(area, edges) {
    const { camera: { zoom }, looks: { grid } } = this.ui, spacing = grid && gridSpacing(grid, zoom);
    this.#shown = [];
    return edges.map((values, axis) => {
      let best = null;
      const consider = (line, value) => {
        const by = line.at - value;
        if (Math.abs(by) <= REACH / zoom && (!best || Math.abs(by) < Math.abs(best.by) - 1e-6)) best = { ...line, by };
      };
      for (const value of values) for (const line of this.#lines[axis]) consider(line, value);
      if (!best && spacing) for (const value of values.slice(0, 2)) consider({ at: Math.round(value / spacing) * spacing, range: SIDES[1 - axis].map((side) => area[side]) }, value);
      if (!best) return 0;
      const [start, end] = SIDES[1 - axis], lines = [best, ...this.#lines[axis]];
      for (const { at, range: [from, to] } of lines.filter(({ at }) => values.some((value) => Math.abs(value + best.by - at) < 0.01))) {
        this.#shown.push({ axis, at, from: Math.min(area[start], from), to: Math.max(area[end], to) });
      }
      return best.by;
    });
  }

  clear() { this.#shown = []; }

  draw(painter) {
    const { accent, camera: { zoom } } = this.ui;
    return this.#shown.reduce((area, { axis, at, from, to }) => {
      const width = 1.5 / zoom, [x, y, w, h] = axis ? [from, at - width / 2, to - from, width] : [at - width / 2, from, width, to - from];
      painter.box(x, y, w, h, { fill: accent });
      return union(area, widened({ left: x, top: y, right: x + w, bottom: y + h }, width));
    }, null);
  }
}

/** The coordinates of an area that can snap: both edges and the middle, for both axes. */
export const edgesOf = (area) => SIDES.map(([start, end]) => [area[start], area[end], middle([area[start], area[end]])]);

/** The distance from which an end of an arrow snaps to an object, in CSS pixels; a place in the object is a little inside its outline. */
const ANCHOR_REACH = 12, INSIDE = 0.98;

/**
 * Returns the object to which an end of the arrow `id` at a position on the board will be bound, by the rule of `Board.connect`, and
 * the `place` of the end in the object; null if there is no such object. If `snaps`, an end beside an object snaps to it.
 */
export function anchorAt({ scene, board, camera }, at, { id = null, snaps = true } = {}) {
  const reach = snaps ? ANCHOR_REACH / camera.zoom : 0, near = widened(rectangle(at, at), reach);
  for (let index = scene.items.length - 1; index >= 0; index -= 1) {
    const { object, bounds } = scene.items[index], { type, form } = object;
    if (!touches(bounds, near) || object.id === id || !board.objects.has(object.id)) continue;
    if (form === "frame" || hasPoints(object) || (type === "drawing" && !form)) continue;
    const place = placeIn(object, at, reach);
    if (place) return { object, place };
  }
  return null;
}

function placeIn(object, at, reach) {
  const { width, height } = shapeOf(object), [x, y] = local(object, at), points = flattened(edgeOf(object));
  if (contains(points, [x, y])) return at;
  const isInBox = 2 * Math.abs(x) <= width && 2 * Math.abs(y) <= height;
  if (!reach) return isInBox ? at : null;
  let nearest = null, distance = isInBox ? Infinity : reach / object.scale;
  for (let index = 1; index < points.length; index += 1) {
    const [[u, v], [a, b]] = [points[index - 1], points[index]], [across, down] = [a - u, b - v];
    const share = Math.min(Math.max(((x - u) * across + (y - v) * down) / (across * across + down * down || 1), 0), 1);
    const point = [u + share * across, v + share * down], way = Math.hypot(x - point[0], y - point[1]);
    if (way <= distance) [nearest, distance] = [point, way];
  }
  return nearest && shown(object, nearest.map((value) => value * INSIDE));
}

/** Returns the outline of an object; the box of a text, photo or game. */
function edgeOf(object) {
  const { width, height, outline } = shapeOf(object);
  return outline ?? outlineOf({ form: "rectangle" }, width, height);
}

/** Marks the object of an anchor, and the place in it; returns the area that was drawn on. */
export function drawAnchor(painter, { accent, camera: { zoom } }, { object, place: [x, y] }) {
  const stroke = { rgb: accent, opacity: 1 }, { bounds } = shapeOf(object), lineWidth = 3 / zoom, radius = 4 / zoom;
  painter.place(object, () => painter.outlines([edgeOf(object)], { stroke, width: lineWidth / object.scale, scale: object.scale }));
  painter.box(x - radius, y - radius, 2 * radius, 2 * radius, { fill: accent, radius });
  return union(widened(bounds, lineWidth), widened(rectangle([x, y], [x, y]), radius));
}
