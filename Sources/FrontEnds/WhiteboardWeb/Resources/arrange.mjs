/** Arranging the selected objects: aligning, distributing and grouping them. */

import { shapeOf, union } from "./geometry.mjs";

/** The alignments: label, name of the icon, key with Alt, axis (0 for x), and where objects meet (-1, 0 or 1). */
export const ALIGNMENTS = [
  ["Align left", "left", "A", 0, -1], ["Align centers", "center", "H", 0, 0], ["Align right", "right", "D", 0, 1],
  ["Align top", "top", "W", 1, -1], ["Align middles", "middle", "V", 1, 0], ["Align bottom", "bottom", "S", 1, 1],
];
/** The distributions: label, name of the icon, key with Shift+Alt, and axis. */
export const DISTRIBUTIONS = [["Distribute horizontally", "across", "H", 0], ["Distribute vertically", "down", "V", 1]];

/** Returns what is arranged as one: groups and single objects, each with its ids and bounds. Connectors follow the objects to which they are bound. */
export function unitsOf(objects) {
  const units = new Map();
  for (const object of objects) {
    if (object.startBinding || object.endBinding) continue;
    const key = object.groups?.at(-1) ?? object.id, { left, top, right, bottom } = shapeOf(object).bounds, unit = units.get(key);
    units.set(key, { ids: [...unit?.ids ?? [], object.id], bounds: union(unit?.bounds ?? null, { left, top, right, bottom }) });
  }
  return [...units.values()];
}

const [STARTS, ENDS] = [["left", "top"], ["right", "bottom"]];
const rangeOf = ({ bounds }, axis) => [bounds[STARTS[axis]], bounds[ENDS[axis]]];

/** Moves each unit by its distance along an axis, in one undo step. */
function moveAll(ui, label, axis, units, distances) {
  ui.attempt(() => {
    ui.board.beginStep(label);
    try {
      units.forEach(({ ids }, index) => {
        if (Math.abs(distances[index]) > 1e-3) ui.board.move(ids, axis ? [0, distances[index]] : [distances[index], 0]);
      });
    } finally {
      ui.board.endStep();
    }
  });
}

export function align(ui, axis, side) {
  const units = unitsOf(ui.tools.select.objects);
  if (units.length < 2) return;
  const at = (unit) => {
    const [start, end] = rangeOf(unit, axis);
    return side < 0 ? start : side > 0 ? end : (start + end) / 2;
  };
  const target = at({ bounds: units.map(({ bounds }) => bounds).reduce(union) });
  moveAll(ui, "align", axis, units, units.map((unit) => target - at(unit)));
}

/** Makes the gaps between units equal; the first and the last one stay where they are. */
export function distribute(ui, axis) {
  const middle = (unit) => rangeOf(unit, axis).reduce((one, other) => one + other);
  const units = unitsOf(ui.tools.select.objects).sort((one, other) => middle(one) - middle(other));
  if (units.length < 3) return;
  const ranges = units.map((unit) => rangeOf(unit, axis)), total = ranges.reduce((sum, [start, end]) => sum + end - start, 0);
  const gap = (ranges.at(-1)[1] - ranges[0][0] - total) / (units.length - 1);
  let next = ranges[0][0];
  moveAll(ui, "distribute", axis, units, ranges.map(([start, end]) => {
    const distance = next - start;
    next += end - start + gap;
    return distance;
  }));
}
