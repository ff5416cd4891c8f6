/** Guides that appear while objects are moved or resized: edges and centers snap to those of near objects, and to the grid. */

import { gridSpacing, shapeOf, touches, union, widened } from "./geometry.mjs";

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
