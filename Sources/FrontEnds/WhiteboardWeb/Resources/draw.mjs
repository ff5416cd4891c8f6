/** Draws objects on the screen and in exported files. */

import { drawGame } from "./games.mjs";
import { DASHES, fillOf, hasPoints, marksOf, shortened, trace } from "./forms.mjs";
import {
  GRID_OPACITY, gridLines, gridSpacing, inkLines, isRightToLeft, LETTER, lettersOf, rectangle, shapeOf, touches, widened,
} from "./geometry.mjs";

/** The colors of the board, adapted to be visible on the fills below an object (`PageInk`). */
export class Palette {
  /** If `isOnPhoto`, a photo is below the object, so that its contrast is not known. */
  constructor(paper, isOnPhoto = false) {
    this.paper = paper;
    this.isOnPhoto = isOnPhoto;
    this.plain = luminance(paper) > 0.179 ? "#000000" : "#ffffff";
  }

  /** Returns the color and opacity for a board color `#rrggbbaa`; null is the default color. */
  color(rgba) {
    if (!rgba) return { rgb: this.plain, opacity: 1 };
    const rgb = rgba.slice(0, 7).toLowerCase(), isPlain = !this.isOnPhoto && (rgb === "#000000" || !this.#shows(rgb));
    return { rgb: isPlain ? this.plain : rgb, opacity: opacityOf(rgba) };
  }

  /** Returns the color of the line around a fill; a light line stays light if it or the fill can be seen. */
  lineColor(rgba, fill) {
    if (!rgba || !fill) return this.color(rgba);
    const rgb = rgba.slice(0, 7).toLowerCase(), inside = this.over(fill);
    const isSeen = rgb !== "#000000" && (this.#shows(inside.paper) || inside.#shows(rgb));
    return isSeen ? { rgb, opacity: opacityOf(rgba) } : this.color(rgba);
  }

  /** Returns the palette on a fill `#rrggbbaa`, which may be translucent. */
  over(fill) {
    if (!fill) return this;
    const opacity = opacityOf(fill);
    const mixed = [1, 3, 5].map((at) => [fill, this.paper].map((rgb) => parseInt(rgb.slice(at, at + 2), 16)))
      .map(([over, under]) => Math.round(over * opacity + under * (1 - opacity)).toString(16).padStart(2, "0"));
    return new Palette(`#${mixed.join("")}`);
  }

  get onPhoto() { return new Palette(this.paper, true); }

  #shows(rgb) { return contrast(rgb, this.paper) >= 1.2; }
}

const opacityOf = (rgba) => parseInt(rgba.slice(7) || "ff", 16) / 255;

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
const font = (size, { family, isBold, isItalic }) => `${isItalic ? "italic " : ""}${isBold ? "bold " : ""}${size}px ${family}`;

/** Returns the size of a line of text as this browser draws it; `letters` have a `family`, and may be `isBold` and `isItalic`. */
export function measured(text, size, letters) {
  ruler.font = font(size, letters);
  return ruler.measureText(text);
}

/** The canvases for overlapping parts that must become transparent together; one canvas for each level. */
const scratch = [];

/**
 * Clears a canvas, which becomes at least as large as that of `context`, and returns a context for it with the same
 * transform.
 */
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

const outlinePaths = new WeakMap();

/** Returns the path of outlines. The path of a single outline is cached, because an object is drawn on several tiles. */
function pathOf(outlines) {
  const [only, ...others] = outlines;
  let path = others.length ? null : outlinePaths.get(only);
  if (path) return path;
  path = new Path2D();
  for (const outline of outlines) trace(outline, path);
  if (only && !others.length) outlinePaths.set(only, path);
  return path;
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
    if (opacity < 1 && lines.length > 1) return this.together(opacity, () => this.lines(lines, { rgb, opacity: 1 }, leastWidth));
    this.context.globalAlpha = opacity;
    for (const line of lines) this.line(this.context, line, rgb, leastWidth);
    this.context.globalAlpha = 1;
  }

  #level = 0;

  /** Draws everything that `body` draws as one picture with an opacity, so that overlaps of its parts are not visible. */
  together(opacity, body) {
    if (opacity === 1) return body();
    const { context } = this;
    this.context = emptyLike(context, scratch[this.#level] ??= document.createElement("canvas"));
    this.#level += 1;
    body();
    this.#level -= 1;
    const drawn = this.context;
    this.context = context;
    this.#add(drawn, opacity);
  }

  /** Draws outlines: `fill` and `stroke` are colors with an opacity, or null; `dashes` are in line widths. */
  outlines(outlines, { fill = null, stroke = null, width = 0, dashes = [], scale = 1 }) {
    const { context } = this, path = pathOf(outlines);
    if (fill) {
      context.fillStyle = fill.rgb;
      context.globalAlpha = fill.opacity;
      context.fill(path);
    }
    if (stroke) {
      context.strokeStyle = stroke.rgb;
      context.globalAlpha = stroke.opacity;
      context.lineWidth = Math.max(width, this.leastWidth / scale);
      if (dashes.length) context.setLineDash(dashes.map((length) => Math.max(length * width, 0.01)));
      context.stroke(path);
      if (dashes.length) context.setLineDash([]);
    }
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

  /** Draws the ink of an object in steps, one step for each path that touches an area of the board. */
  *inkInSteps(object, { rgb, opacity }, area) {
    const lines = linesOf(object), { scale } = object, leastWidth = this.leastWidth / scale;
    // Only upright drawings are filtered, because most drawings of many paths are upright.
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
  words(text, x, y, { size, color, align = "left", isBold = false, isItalic = false, family = LETTER.family, most }) {
    const context = this.context;
    context.font = font(size, { family, isBold, isItalic });
    context.fillStyle = color.rgb;
    context.globalAlpha = color.opacity;
    context.textAlign = align;
    context.direction = isRightToLeft(text) ? "rtl" : "ltr";
    context.fillText(text, x, y, most);
    context.globalAlpha = 1;
  }

  /** Draws a photo, or the part `crop` of it, which may be mirrored. */
  image(bitmap, width, height, { crop: [left, top, right, bottom] = [0, 0, 1, 1], isFlippedHorizontally, isFlippedVertically }) {
    const { context } = this, { width: across, height: down } = bitmap;
    context.save();
    context.scale(isFlippedHorizontally ? -1 : 1, isFlippedVertically ? -1 : 1);
    context.drawImage(bitmap, left * across, top * down, (right - left) * across, (bottom - top) * down, -width / 2, -height / 2, width, height);
    context.restore();
  }
}

/**
 * Draws an object.
 *
 * `looks` has the `palette`, the palette for the ground below an object (`on(object)`), the decoded photos (`photo(object)`, or null)
 * and the names of members (`name(member)`).
 * `placement` replaces the center, scale and angle, such as while the object is dragged.
 */
export function drawObject(painter, object, looks, placement = object) {
  painter.place(placement, () => {
    const { type, form, opacity = 1, size: [width, height] } = object;
    if (form) return painter.together(opacity, () => drawForm(painter, object, looks, placement.scale));
    if (type === "drawing") return painter.ink(object, inkColor(object, looks), placement.scale);
    painter.together(opacity, () => {
      if (type === "text") drawText(painter, object, looks);
      else if (type === "game") drawGame(painter, object, looks);
      else if (type === "photo") {
        const photo = looks.photo(object);
        if (photo) painter.image(photo, width, height, object);
        else drawPlaceholder(painter, object, "Photo", looks);
      } else drawPlaceholder(painter, object, "?", looks);
    });
  });
}

/** Returns the color of ink, with the opacity of the object. */
export function inkColor(object, looks) {
  const { color, opacity = 1 } = object, own = looks.on(object).color(color);
  return { rgb: own.rgb, opacity: own.opacity * opacity };
}

const fillColor = (fill) => fill && { rgb: fill.slice(0, 7), opacity: opacityOf(fill) };

/**
 * The color of the line and the name of a frame without a color of its own. The line of a frame is half as wide as the
 * lines of other forms.
 */
const FRAME_COLOR = "#7f7f7fff", FORM_WIDTH = 2;

function drawForm(painter, object, looks, scale) {
  const { outline, marks, label } = shapeOf(object), { lineStyle = "solid" } = object, fill = fillOf(object);
  if (!outline) return;
  const isLine = hasPoints(object), isFrame = object.form === "frame", { lineWidth = 5 } = object;
  const width = isFrame && lineWidth === FORM_WIDTH ? lineWidth / 2 : lineWidth;
  const color = looks.on(object).lineColor(object.color ?? (isFrame ? FRAME_COLOR : null), outline.isClosed ? fill : null);
  if (fill && outline.isClosed) painter.outlines([outline], { fill: fillColor(fill) });
  const dashes = DASHES[lineStyle] ?? [];
  // The marks overlap the line, so both are transparent together.
  if (marks.length) {
    painter.together(color.opacity, () => {
      const stroke = { rgb: color.rgb, opacity: 1 };
      painter.outlines([shortened(object, outline, marks)], { stroke, width, dashes, scale });
      painter.outlines(marks.filter(({ isClosed }) => !isClosed), { stroke, width, scale });
      painter.outlines(marks.filter(({ isClosed }) => isClosed), { fill: stroke });
    });
  } else if (isFrame) painter.outlines([around(object, Math.max(width, (painter.leastWidth ?? 0) / scale))], { stroke: color, width, dashes, scale });
  else if (object.form !== "note") painter.outlines([outline], { stroke: color, width, dashes, scale });
  if (!label) return;
  const paper = { rgb: looks.palette.paper, opacity: 1 };
  if (isLine) painter.outlines([boxAround(label)], { fill: paper });
  drawLetters(painter, object, label, label.center, labelColor(object, looks));
}

/**
 * Draws a straight line between two positions on the board as one path, because hundreds of such lines can follow a moved object. Returns
 * its area; null if it must be drawn as an object.
 */
export function drawStraight({ context, leastWidth }, object, [start, end], looks) {
  const { points, text, scale, opacity, lineStyle, lineWidth } = object;
  if (!start || !end || points.length > 2 || text || scale !== 1 || opacity || lineStyle) return null;
  const outline = { start, pieces: [end], isClosed: false }, marks = marksOf(object, outline);
  if (marks.some(({ isClosed }) => isClosed)) return null;
  const color = looks.on(object).color(object.color);
  Object.assign(context, { strokeStyle: color.rgb, globalAlpha: color.opacity, lineWidth: Math.max(lineWidth, leastWidth) });
  context.beginPath();
  for (const part of [outline, ...marks]) trace(part, context);
  context.stroke();
  context.globalAlpha = 1;
  return widened(rectangle(start, end), 8 + 5 * lineWidth);
}

/** Returns the line of a frame, which is outside of its area, so that a picture of the same size does not hide it. */
const around = ({ size: [width, height] }, lineWidth) => boxAround({ center: [0, 0], width: width + lineWidth, height: height + lineWidth });

/** Returns the color of the label of a form: its own, or else black or white, whichever can be read; frames have gray names. */
export function labelColor(object, looks) {
  if (object.form === "frame") return looks.on(object).color(object.textColor ?? FRAME_COLOR);
  return (hasPoints(object) ? looks.palette : looks.on(object).over(fillOf(object))).color(object.textColor);
}

const boxAround = ({ center: [x, y], width, height }) => ({
  start: [x - width / 2, y - height / 2], isClosed: true,
  pieces: [[x + width / 2, y - height / 2], [x + width / 2, y + height / 2], [x - width / 2, y + height / 2]],
});

/** Converts an area relative to the center of an upright object to an area on the board. */
const placed = ({ left, top, right, bottom }, { centerPosition: [x, y], scale }) =>
  ({ left: x + scale * left, top: y + scale * top, right: x + scale * right, bottom: y + scale * bottom });

/** The position of a line's letters below its upper edge. */
const BASE = 12;

/** Returns how far the letters of a text or label reach beyond its box, because this browser's fonts have wider or higher letters. */
export function overhang(object) {
  const shape = shapeOf(object), letters = lettersOf(object), { unit } = letters, { lines, width } = shape.label ?? shape;
  return shape.overhang ??= lines.reduce((most, line) => {
    const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right, actualBoundingBoxAscent: up, actualBoundingBoxDescent: down } = measured(line, LETTER.font * unit, letters);
    return Math.max(most, left + right - width, up - BASE * unit, down - (LETTER.height - BASE) * unit);
  }, 0);
}

export const textColor = (object, looks) => looks.on(object).over(object.fill).color(object.color);

function drawText(painter, object, looks) {
  const shape = shapeOf(object);
  if (object.fill) painter.outlines([boxAround({ ...shape, center: [0, 0] })], { fill: fillColor(object.fill) });
  drawLetters(painter, object, shape, [0, 0], textColor(object, looks));
}

/** Draws lines of text around a point. A right-to-left line is on the right, unless the object has another alignment. */
function drawLetters(painter, object, { lines, width, height }, [x, y], color) {
  const { unit, alignment, ...letters } = lettersOf(object);
  lines.forEach((line, row) => {
    const align = alignment !== "left" ? alignment : isRightToLeft(line) ? "right" : "left";
    const side = { left: -width / 2, center: 0, right: width / 2 }[align];
    painter.words(line, x + side, y + (row * LETTER.height + BASE) * unit - height / 2, { size: LETTER.font * unit, color, align, ...letters });
  });
}

function drawPlaceholder(painter, { size: [width, height] }, words, { palette }) {
  painter.box(-width / 2, -height / 2, width, height, { fill: "#80808026", stroke: "#80808066", radius: 6 });
  const color = { rgb: palette.plain, opacity: 0.5 };
  if (height >= 16) painter.words(words, 0, 4, { size: 12, color, align: "center", family: "sans-serif" });
}
