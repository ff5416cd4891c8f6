/** Draws objects on the screen and in exported files. */

import { drawGame } from "./games.mjs";
import { GRID_OPACITY, gridLines, gridSpacing, inkLines, isRightToLeft, LETTER, shapeOf, touches, widened } from "./geometry.mjs";

/** The colors of the board, adapted to be visible on the background (`PageInk`). */
export class Palette {
  constructor(paper) {
    this.paper = paper;
    this.plain = luminance(paper) > 0.179 ? "#000000" : "#ffffff";
  }

  /** Returns the color and opacity for a board color `#rrggbbaa`; null is the default color. */
  color(rgba) {
    if (!rgba) return { rgb: this.plain, opacity: 1 };
    const rgb = rgba.slice(0, 7).toLowerCase();
    const isPlain = rgb === "#000000" || contrast(rgb, this.paper) < 1.2;
    return { rgb: isPlain ? this.plain : rgb, opacity: parseInt(rgba.slice(7) || "ff", 16) / 255 };
  }
}

function luminance(rgb) {
  const [red, green, blue] = [1, 3, 5].map((index) => (parseInt(rgb.slice(index, index + 2), 16) / 255) ** 2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const paths = new WeakMap();
const ruler = document.createElement("canvas").getContext("2d");
const font = (size, family, isBold) => `${isBold ? "bold " : ""}${size}px ${family}`;

/** Returns the size of a line of text as this browser draws it. */
export function measured(text, size, family, isBold) {
  ruler.font = font(size, family, isBold);
  return ruler.measureText(text);
}

/** The canvas on which lines that overlap are drawn, before they become transparent together. */
let scratch = null;

/** Returns a context like another one, with its transform, on an empty canvas of the same size. */
function emptyLike(context, canvas) {
  const { width, height } = context.canvas;
  if (canvas.width < width || canvas.height < height) [canvas.width, canvas.height] = [width, height];
  const copy = canvas.getContext("2d");
  copy.setTransform(1, 0, 0, 1, 0, 0);
  copy.clearRect(0, 0, width, height);
  copy.setTransform(context.getTransform());
  copy.lineCap = copy.lineJoin = "round";
  return copy;
}

/** Returns the paths of a drawing. */
export function linesOf(object) {
  let lines = paths.get(object);
  if (!lines) paths.set(object, lines = inkLines(object));
  return lines;
}

/** Paints on a canvas whose transform maps board units to pixels. */
export class CanvasPainter {
  /** `most` is the maximum number of paths of ink; when it is reached, drawings are simplified to boxes. */
  constructor(context, pixelsPerUnit, most = Infinity) {
    this.context = context;
    this.leastWidth = 0.7 / pixelsPerUnit;
    this.most = most;
    context.lineCap = context.lineJoin = "round";
  }

  place(placement, body) {
    this.enter(placement);
    body();
    this.context.restore();
  }

  /** Sets the coordinates of an object, until the context is restored. */
  enter({ centerPosition: [x, y], angle, scale }) {
    const context = this.context;
    context.save();
    context.translate(x, y);
    if (angle) context.rotate(angle);
    if (scale !== 1) context.scale(scale, scale);
  }

  ink(object, color, scale) {
    const lines = linesOf(object), { size: [width, height] } = object;
    this.most -= lines.length;
    if (this.most < 0) this.box(-width / 2, -height / 2, width, height, { stroke: color.rgb, lineWidth: 2 * this.leastWidth / scale });
    else this.lines(lines, color, this.leastWidth / scale);
  }

  lines(lines, { rgb, opacity }, leastWidth = this.leastWidth) {
    const isGroup = opacity < 1 && lines.length > 1, { context } = this;
    const target = isGroup ? emptyLike(context, scratch ??= document.createElement("canvas")) : context;
    if (!isGroup) context.globalAlpha = opacity;
    for (const line of lines) this.line(target, line, rgb, leastWidth);
    if (isGroup) this.#add(target, opacity);
    context.globalAlpha = 1;
  }

  line(context, { path, width }, rgb, leastWidth) {
    context.strokeStyle = rgb;
    context.lineWidth = Math.max(width, leastWidth);
    context.stroke(path);
  }

  /** Adds what was drawn on another canvas. */
  #add({ canvas }, opacity) {
    const { context } = this, { width, height } = context.canvas;
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = opacity;
    context.drawImage(canvas, 0, 0, width, height, 0, 0, width, height);
    context.restore();
  }

  /** Draws the ink of an object in steps, one for each path that touches an area of the board. */
  *inkInSteps(object, { rgb, opacity }, area) {
    const lines = linesOf(object), { scale } = object, leastWidth = this.leastWidth / scale;
    // Most drawings of many paths are upright.
    const near = object.angle ? lines : lines.filter((line) => touches(widened(placed(line.area, object), scale * (line.width / 2 + leastWidth)), area));
    this.enter(object);
    const isGroup = opacity < 1 && near.length > 1;
    const target = isGroup ? emptyLike(this.context, document.createElement("canvas")) : this.context;
    this.context.globalAlpha = isGroup ? 1 : opacity;
    for (const line of near) {
      this.line(target, line, rgb, leastWidth);
      yield;
    }
    if (isGroup) this.#add(target, opacity);
    this.context.restore();
  }

  /** Draws the lines of the grid in an area of the board; each line is one pixel wide. */
  grid(grid, { left, top, right, bottom }, zoom, plain) {
    if (!grid) return;
    const { context } = this, spacing = gridSpacing(grid, zoom), transform = context.getTransform();
    const pixel = ([x, y]) => [Math.floor(transform.a * x + transform.e), Math.floor(transform.d * y + transform.f)];
    const [[startX, startY], [endX, endY]] = [pixel([left, top]), pixel([right, bottom])];
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = GRID_OPACITY;
    context.fillStyle = plain;
    context.beginPath();
    for (const x of gridLines(spacing, left, right)) context.rect(pixel([x, 0])[0], startY, 1, endY - startY);
    for (const y of gridLines(spacing, top, bottom)) context.rect(startX, pixel([0, y])[1], endX - startX, 1);
    context.fill();
    context.restore();
  }

  growing(ink, color) {
    this.lines([...ink.paths, ...ink.tail], color);
  }

  box(x, y, width, height, { fill, stroke, radius = 0, lineWidth = 1 }) {
    const context = this.context;
    context.beginPath();
    if (radius && context.roundRect) context.roundRect(x, y, width, height, radius);
    else context.rect(x, y, width, height);
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      context.strokeStyle = stroke;
      context.lineWidth = lineWidth;
      context.stroke();
    }
  }

  /** Draws a line of text; letters are narrower if the line would be wider than `most`. */
  words(text, x, y, { size, color, align = "left", isBold = false, family = LETTER.family, most }) {
    const context = this.context;
    context.font = font(size, family, isBold);
    context.fillStyle = color.rgb;
    context.globalAlpha = color.opacity;
    context.textAlign = align;
    context.direction = isRightToLeft(text) ? "rtl" : "ltr";
    context.fillText(text, x, y, most);
    context.globalAlpha = 1;
  }

  image(bitmap, width, height) { this.context.drawImage(bitmap, -width / 2, -height / 2, width, height); }
}

/**
 * Draws an object.
 *
 * `looks` has the `palette`, the decoded photos (`photo(object)`, or null) and the names of members (`name(member)`).
 * `placement` replaces the center, scale and angle, such as while the object is dragged.
 */
export function drawObject(painter, object, looks, placement = object) {
  painter.place(placement, () => {
    const { type, size: [width, height] } = object;
    const color = looks.palette.color(object.color);
    if (type === "drawing") painter.ink(object, color, placement.scale);
    else if (type === "text") drawText(painter, object, color);
    else if (type === "game") drawGame(painter, object, looks);
    else if (type === "photo") {
      const photo = looks.photo(object);
      if (photo) painter.image(photo, width, height);
      else drawPlaceholder(painter, object, "Photo", looks);
    } else drawPlaceholder(painter, object, "?", looks);
  });
}

/** Returns the area on the board of an area relative to the center of an upright object. */
const placed = ({ left, top, right, bottom }, { centerPosition: [x, y], scale }) =>
  ({ left: x + scale * left, top: y + scale * top, right: x + scale * right, bottom: y + scale * bottom });

/** The position of a line's letters below its upper edge. */
const BASE = 12;

/** Returns how far the letters of a text reach beyond its box, because this browser's fonts have wider or higher letters. */
export function overhang(object) {
  const shape = shapeOf(object);
  return shape.overhang ??= shape.lines.reduce((most, line) => {
    const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right, actualBoundingBoxAscent: up, actualBoundingBoxDescent: down } = measured(line, LETTER.font, LETTER.family);
    return Math.max(most, left + right - shape.width, up - BASE, down - LETTER.height + BASE);
  }, 0);
}

function drawText(painter, object, color) {
  const { lines, width, height } = shapeOf(object);
  lines.forEach((line, row) => {
    const align = isRightToLeft(line) ? "right" : "left";
    const x = align === "right" ? width / 2 : -width / 2;
    painter.words(line, x, row * LETTER.height + BASE - height / 2, { size: LETTER.font, color, align });
  });
}

function drawPlaceholder(painter, { size: [width, height] }, words, { palette }) {
  painter.box(-width / 2, -height / 2, width, height, { fill: "#80808026", stroke: "#80808066", radius: 6 });
  const color = { rgb: palette.plain, opacity: 0.5 };
  if (height >= 16) painter.words(words, 0, 4, { size: 12, color, align: "center", family: "sans-serif" });
}
