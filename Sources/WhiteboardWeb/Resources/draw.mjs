/** Draws objects on the screen and in exported files. */

import { drawGame } from "./games.mjs";
import { inkLines, isRightToLeft, LETTER, shapeOf } from "./geometry.mjs";

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

/** Paints on a canvas whose transform maps board units to pixels. */
export class CanvasPainter {
  constructor(context, pixelsPerUnit) {
    this.context = context;
    this.leastWidth = 0.7 / pixelsPerUnit;
    context.lineCap = context.lineJoin = "round";
  }

  place({ centerPosition: [x, y], angle, scale }, body) {
    const context = this.context;
    context.save();
    context.translate(x, y);
    if (angle) context.rotate(angle);
    if (scale !== 1) context.scale(scale, scale);
    body();
    context.restore();
  }

  ink(object, color, scale) {
    let lines = paths.get(object);
    if (!lines) paths.set(object, lines = inkLines(object));
    this.lines(lines, color, this.leastWidth / scale);
  }

  lines(lines, { rgb, opacity }, leastWidth = this.leastWidth) {
    const context = this.context;
    context.strokeStyle = rgb;
    context.globalAlpha = opacity;
    for (const { path, width } of lines) {
      context.lineWidth = Math.max(width, leastWidth);
      context.stroke(path);
    }
    context.globalAlpha = 1;
  }

  growing(ink, color) {
    this.lines(ink.paths, color);
    const tail = ink.tail;
    if (!tail) return;
    const path = new Path2D();
    path.moveTo(...tail.from);
    path.lineTo(tail.to[0], tail.to[1]);
    this.lines([{ path, width: tail.width }], color);
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
