/** The background below each object, with the fills and photos on it (`PageGrounds`). */

import { fillOf } from "./forms.mjs";
import { covers, rectangle, shapeOf } from "./geometry.mjs";

/** The side of a square of the board, and the number of squares above which an object counts as large. */
const SIDE = 512, MANY = 256;
const column = (value) => Math.floor(value / SIDE);

/** Returns the color inside a form or behind a text, `#rrggbbaa`, with the opacity of the object; null if there is none. */
function seenFill(object) {
  const fill = object.type === "text" ? object.fill : shapeOf(object).outline?.isClosed ? fillOf(object) : null;
  if (!fill || object.opacity === undefined) return fill;
  const opacity = Math.round(parseInt(fill.slice(7) || "ff", 16) * object.opacity);
  return fill.slice(0, 7) + opacity.toString(16).padStart(2, "0");
}

const isCover = (object) => object.type === "photo" || Boolean(seenFill(object));

const cornersOf = ({ left, top, right, bottom }) => [[left, top], [right, top], [right, bottom], [left, bottom]];

export class Grounds {
  /** The covers in each square, by the position of the square; covers that are in many squares are in `#large`. */
  #squares = new Map();
  #large = new Set();
  /** The sets of which an item is an element, by the id of its object. */
  #places = new Map();

  /** Adds or replaces an item `{id, object, index}`; items with a higher index are in front. */
  set(item) {
    this.delete(item.id);
    if (!isCover(item.object)) return;
    const { left, top, right, bottom } = shapeOf(item.object).bounds, sets = [];
    const [first, last, upper, lower] = [left, right, top, bottom].map(column);
    if (!((last - first + 1) * (lower - upper + 1) <= MANY)) sets.push(this.#large);
    else for (let x = first; x <= last; x += 1) for (let y = upper; y <= lower; y += 1) {
      const key = `${x} ${y}`;
      if (!this.#squares.has(key)) this.#squares.set(key, new Set());
      sets.push(this.#squares.get(key));
    }
    for (const set of sets) set.add(item);
    this.#places.set(item.id, { item, sets });
  }

  delete(id) {
    const { item, sets } = this.#places.get(id) ?? { sets: [] };
    for (const set of sets) set.delete(item);
    this.#places.delete(id);
  }

  has(id) { return this.#places.has(id); }

  /**
   * Returns the palette for the ground of an object: below the center of a text, and below the whole box of a drawing,
   * because its other parts would not be visible.
   */
  palette({ object, index }, palette) {
    const { bounds } = shapeOf(object), isDrawing = object.type === "drawing";
    return this.below(isDrawing ? bounds : rectangle(middle(bounds), middle(bounds)), index, palette);
  }

  /** Returns the palette on top of the items that are before `index` and cover the whole of `area`. */
  below(area, index, palette) {
    const [x, y] = middle(area), square = this.#squares.get(`${column(x)} ${column(y)}`);
    if (!square?.size && !this.#large.size) return palette;
    const isAround = ({ left, top, right, bottom }) => left <= area.left && top <= area.top && right >= area.right && bottom >= area.bottom;
    const places = cornersOf(area), found = [...square ?? [], ...this.#large].filter((item) =>
      item.index < index && isAround(shapeOf(item.object).bounds) && places.every((place) => covers(item.object, place, 0)));
    // Only the frontmost opaque item, and the items in front of it, are visible.
    const fills = [];
    for (const { object } of found.sort((one, other) => other.index - one.index)) {
      const fill = seenFill(object);
      if (!fill) {
        palette = palette.onPhoto;
        break;
      }
      fills.push(fill);
      if (/^.{7}(ff)?$/i.test(fill)) break;
    }
    return fills.reduceRight((under, fill) => under.over(fill), palette);
  }
}

const middle = ({ left, top, right, bottom }) => [(left + right) / 2, (top + bottom) / 2];
