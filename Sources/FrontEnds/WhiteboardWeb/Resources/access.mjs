/** Using the board with the keyboard and a screen reader: descriptions of objects, and moving from one object to the next. */

import { $ } from "./dom.mjs";
import { hasPoints } from "./forms.mjs";
import { gameName } from "./games.mjs";
import { shapeOf } from "./geometry.mjs";

const KINDS = {
  __proto__: null, rectangle: "rectangle", rounded: "rounded rectangle", ellipse: "ellipse", diamond: "diamond", note: "note", line: "line", arrow: "arrow", frame: "frame",
  text: "text", drawing: "drawing", photo: "photo", game: "game",
};
const SHORT = 80;
const shortened = (text) => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > SHORT ? `${line.slice(0, SHORT)}…` : line;
};

/** Lets a screen reader say a text, after any text that it is already saying. */
export function say(text) {
  const host = $("said");
  // A screen reader does not read out a text that has not changed.
  host.textContent = host.textContent === text ? `${text}\u00a0` : text;
}

const kindOf = ({ type, form }) => KINDS[form] ?? KINDS[type] ?? "object";
const nameOf = (object) => !object ? "an object that was deleted" : object.text ? shortened(object.text) : object.type === "game" ? gameName(object) : `${/^[aeiou]/.test(kindOf(object)) ? "an" : "a"} ${kindOf(object)}`;

/** Returns a description such as "rectangle labeled Login server, connected to Database". */
export function described(object, board) {
  const { id, type, text, groups, isLocked, startBinding, endBinding } = object, target = (binding) => nameOf(board.objects.get(binding.id));
  const words = type === "text" ? ` ${shortened(text ?? "")}` : type === "game" ? ` ${gameName(object)}` : text ? ` labeled ${shortened(text)}` : "";
  const facts = [];
  if (hasPoints(object)) {
    if (startBinding) facts.push(`from ${target(startBinding)}`);
    if (endBinding) facts.push(`to ${target(endBinding)}`);
  } else {
    const ends = (one) => [one.startBinding?.id, one.endBinding?.id];
    const lines = [...board.objects.values()].filter((one) => ends(one).includes(id)), others = lines.flatMap(ends).filter((other) => other && other !== id);
    if (others.length) facts.push(`connected to ${[...new Set(others)].slice(0, 5).map((other) => nameOf(board.objects.get(other))).join(", ")}`);
  }
  if (groups?.length) facts.push("in a group");
  if (isLocked) facts.push("locked");
  return [`${kindOf(object)}${words}`, ...facts].join(", ");
}

/** Returns a description of the selected objects. */
export const describedAll = (objects, board) => objects.length === 1 ? described(objects[0], board) : `${objects.length} objects selected`;

/**
 * Returns the object before or after a selected object, row by row from the top; null at the end. If nothing is
 * selected, returns the first object in the view.
 */
export function neighbor(ui, id, step) {
  const rows = ui.scene.items.map(({ object }) => ({ id: object.id, bounds: shapeOf(object).bounds }))
    .sort(({ bounds: one }, { bounds: other }) => one.top - other.top || one.left - other.left);
  const at = rows.findIndex((row) => row.id === id);
  if (at >= 0) return rows[at + step]?.id ?? null;
  const { left, top, right, bottom } = ui.camera.area;
  return (rows.find(({ bounds }) => bounds.right > left && bounds.left < right && bounds.bottom > top && bounds.top < bottom) ?? rows[0])?.id ?? null;
}
