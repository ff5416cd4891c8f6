/** Files: adds and decodes photos, and saves the board as a picture. */

import { boundsOf } from "./canvas.mjs";
import { CanvasPainter, drawObject, measured, Palette } from "./draw.mjs";
import { trace } from "./forms.mjs";
import { Grounds } from "./grounds.mjs";
import { GRID_OPACITY, gridLines, gridSpacing, inkLines, isRightToLeft, LETTER, number, PathData, union, widened } from "./geometry.mjs";

/** The longest side of a photo that is added, in pixels, and the largest file that is opened, in bytes. */
const SIDE = 2048;
const FILE_LIMIT = 100 << 20;
/** The number of pixels above which a photo that cannot be opened counts as too large, and not as damaged. */
const MANY = 60_000_000;
/** The maximum number of pixels of all decoded photos, which take four bytes each; and the smallest size that is decoded. */
const DECODED = 32 << 20;
const LEAST = 256;
/** The time without a change of the view after which removed photos are loaded again, in milliseconds. */
const REST = 200;

/** Scales a photo down to a JPEG, or to a PNG if it is transparent. This also removes the location where it was taken. */
export async function prepared(file) {
  if (file.size > FILE_LIMIT) throw new Error("This photo is larger than 100 MB. Choose a smaller one, or add a screenshot of it.");
  let bitmap, orientation;
  try {
    orientation = await orientationOf(file);
    bitmap = await (file.type === "image/svg+xml" || /\.svg$/i.test(file.name ?? "") ? rendered(file) : createImageBitmap(file, { imageOrientation: orientation ? "none" : "from-image" }));
  } catch {
    const pixels = await pixelCount(file);
    throw new Error(pixels > MANY
      ? `This photo has too many pixels for this browser (${Math.round(pixels / 1e6).toLocaleString("en")} megapixels). Choose a smaller one, or add a screenshot of it.`
      : "This browser cannot open the photo. It may be damaged. Choose a JPEG, PNG or WebP file.");
  }
  const blob = await scaled(bitmap, file.type !== "image/jpeg", orientation).catch(() => null);
  bitmap.close();
  if (!blob) throw new Error("There is not enough memory for this photo. Close other tabs and try again, or choose a smaller photo.");
  return blob;
}

/** Returns the picture of an SVG file, at least 1,024 pixels wide or high. As an image, it runs no scripts and loads nothing. */
async function rendered(file) {
  const address = URL.createObjectURL(new Blob([file], { type: "image/svg+xml" })), image = new Image();
  try {
    image.src = address;
    await image.decode();
    const [width, height] = [image.naturalWidth || 300, image.naturalHeight || 150], factor = Math.max(1, SIDE / 2 / Math.max(width, height));
    return await createImageBitmap(image, { resizeWidth: Math.round(width * factor), resizeHeight: Math.round(height * factor) });
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Returns the orientation (2 to 8) in the EXIF data of a WebP, which some browsers ignore; 0 if there is none, or for another format. */
async function orientationOf(file) {
  const view = new DataView(await file.arrayBuffer());
  try {
    if (view.getUint32(0) !== 0x52494646 || view.getUint32(8) !== 0x57454250) return 0;
    let at = 12;
    while (view.getUint32(at) !== 0x45584946) at += 8 + view.getUint32(at + 4, true) + view.getUint32(at + 4, true) % 2;
    const start = at + (view.getUint32(at + 8) === 0x45786966 ? 14 : 8), isLittle = view.getUint16(start) === 0x4949;
    const list = start + view.getUint32(start + 4, isLittle), count = view.getUint16(list, isLittle);
    const entry = Array.from({ length: count }, (_, index) => list + 2 + 12 * index).find((one) => view.getUint16(one, isLittle) === 0x112);
    const value = entry ? view.getUint16(entry + 8, isLittle) : 0;
    return value > 1 && value < 9 ? value : 0;
  } catch {
    return 0;
  }
}

/** Returns the photo as a file whose sides are at most `SIDE`; null or an error if there is not enough memory. */
async function scaled(bitmap, canBeTransparent, orientation) {
  const factor = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
  const sides = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * factor)));
  const [width, height] = orientation > 4 ? [...sides].reverse() : sides;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  const [x, y] = [width, height], turns = [[-1, 0, 0, 1, x, 0], [-1, 0, 0, -1, x, y], [1, 0, 0, -1, 0, y], [0, 1, 1, 0, 0, 0], [0, 1, -1, 0, x, 0], [0, -1, -1, 0, x, y], [0, -1, 1, 0, 0, y]];
  if (orientation) context.setTransform(...turns[orientation - 2]);
  context.drawImage(bitmap, 0, 0, ...sides);
  const isTransparent = canBeTransparent && context.getImageData(0, 0, width, height).data.some((value, index) => index % 4 === 3 && value < 255);
  return new Promise((done) => canvas.toBlob(done, isTransparent ? "image/png" : "image/jpeg", 0.85));
}

/** Returns the number of pixels that the header of a PNG or JPEG states; 0 if there is no such header. */
async function pixelCount(file) {
  try {
    const view = new DataView(await file.slice(0, 1 << 18).arrayBuffer());
    if (view.getUint32(0) === 0x89504e47) return view.getUint32(16) * view.getUint32(20);
    if (view.getUint16(0) !== 0xffd8) return 0;
    // The segments before the frame header have other markers; the end of the data is a RangeError.
    for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
      const marker = view.getUint8(at + 1);
      if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return view.getUint16(at + 5) * view.getUint16(at + 7);
    }
  } catch {
    return 0;
  }
}

export class Photos {
  /**
   * The photos by SHA-256, the least recently used first. `picture` is null until it is decoded, or if it cannot be
   * decoded. `side` is the longest side for which it is decoded.
   */
  #decoded = new Map();
  /**
   * The photos that were removed since the view changed, and whether they were needed since then. Loading these photos
   * immediately would remove other visible photos, and so on without end.
   */
  #removed = new Map();
  #resting;
  /** Photos are decoded one after the other, because decoding takes much memory. */
  #last = Promise.resolve();

  /** `onDecoded(sha256)` is called when a photo can be drawn; `scale()` returns the number of pixels per board unit. */
  constructor(board, onDecoded, scale) {
    Object.assign(this, { board, onDecoded, scale });
    board.addEventListener("photo", ({ detail }) => {
      this.#decoded.delete(detail.sha256);
      onDecoded(detail.sha256);
    });
  }

  /** Loads removed photos again as soon as the view rests. */
  viewChanged() {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      const needed = [...this.#removed].filter(([, isNeeded]) => isNeeded);
      this.#removed.clear();
      for (const [sha256] of needed) this.onDecoded(sha256);
    }, REST);
  }

  /** Returns the picture of a photo object; null if it is not decoded yet, or is damaged. */
  get({ sha256, pixelSize = [0, 0], size, scale }) {
    if (this.#removed.has(sha256)) {
      this.#removed.set(sha256, true);
      return null;
    }
    const shown = Math.max(...size) * scale * this.scale();
    let side = LEAST;
    while (side < shown && side < SIDE) side *= 2;
    side = Math.min(side, Math.max(...pixelSize) || SIDE);
    let entry = this.#decoded.get(sha256);
    if (!entry || entry.side < side) {
      entry = { picture: entry?.picture ?? null, side };
      this.#last = this.#last.then(() => this.#load(sha256, entry, pixelSize));
    }
    this.#use(sha256, entry);
    return entry.picture;
  }

  #use(sha256, entry) {
    this.#decoded.delete(sha256);
    this.#decoded.set(sha256, entry);
  }

  async #load(sha256, entry, [width, height]) {
    if (this.#decoded.get(sha256) !== entry) return;
    const { side } = entry, factor = side / Math.max(width, height);
    const options = factor < 1 ? { resizeWidth: Math.round(width * factor) || 1, resizeHeight: Math.round(height * factor) || 1, resizeQuality: "high" } : undefined;
    let picture;
    try {
      const blob = await this.board.photo(sha256);
      if (!blob) return;
      picture = await createImageBitmap(blob, options);
    } catch {
      return;
    }
    // Meanwhile, the photo was removed, or is needed in a larger size.
    if (this.#decoded.get(sha256) !== entry) return picture.close();
    entry.picture?.close();
    entry.picture = picture;
    this.#use(sha256, entry);
    this.#removeOld();
    this.onDecoded(sha256);
  }

  #removeOld() {
    let pixels = 0;
    for (const [sha256, { picture }] of [...this.#decoded].reverse()) {
      pixels += picture ? picture.width * picture.height : 0;
      if (!picture || pixels <= DECODED) continue;
      picture.close();
      this.#decoded.delete(sha256);
      this.#removed.set(sha256, false);
    }
  }
}

const MARGIN = 20;
const PIXELS = 16_000_000;

/** Returns a picture of the objects as a blob; `format` is `png` or `svg`. */
export async function picture(ui, format, ids) {
  const objects = ids.map((id) => ui.board.objects.get(id)).filter(Boolean);
  if (!objects.length) throw new Error("There is nothing on the board yet.");
  const area = widened(objects.map((object) => boundsOf(object)).reduce(union), MARGIN);
  const palette = new Palette(ui.board.settings.background?.slice(0, 7) ?? "#ffffff"), grounds = new Grounds(), indexes = new Map();
  for (const [index, object] of objects.entries()) {
    grounds.set({ id: object.id, object, index });
    indexes.set(object.id, index);
  }
  const looks = { ...ui.looks, palette, on: (object) => grounds.palette({ object, index: indexes.get(object.id) }, palette) };
  const photos = new Map();
  for (const { type, sha256 } of objects) {
    if (type === "photo" && !photos.has(sha256)) photos.set(sha256, await ui.board.photo(sha256));
  }
  return format === "svg" ? svg(objects, area, looks, photos) : png(objects, area, looks, photos);
}

/** Saves a picture of the objects as a file. */
export async function exportPicture(ui, format, ids) {
  const blob = await picture(ui, format, ids);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  const title = ui.title.replace(/[^\p{L}\p{N} _-]+/gu, " ").trim() || "whiteboard";
  link.download = `${title}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * Returns the zoom factor that determines the distance of grid lines in a picture: 1, or less if there would be more
 * than 1,000 lines.
 */
const gridZoom = ({ left, top, right, bottom }) => Math.min(1, 8000 / Math.max(right - left, bottom - top));

async function png(objects, area, looks, photos) {
  const [width, height] = [area.right - area.left, area.bottom - area.top];
  const scale = Math.min(2, Math.sqrt(PIXELS / (width * height)), 16_000 / Math.max(width, height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
  const context = canvas.getContext("2d");
  const pictures = new Map();
  for (const [sha256, blob] of photos) if (blob) pictures.set(sha256, await createImageBitmap(blob).catch(() => null));
  context.fillStyle = looks.palette.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(scale, 0, 0, scale, -area.left * scale, -area.top * scale);
  const painter = new CanvasPainter(context, scale);
  painter.grid(looks.grid, area, Math.min(gridZoom(area), scale), looks.palette.plain);
  for (const object of objects) drawObject(painter, object, { ...looks, photo: ({ sha256 }) => pictures.get(sha256) ?? null });
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("There is not enough memory for this picture. Save it as SVG instead.");
  return blob;
}

async function svg(objects, area, looks, photos) {
  const files = new Map();
  for (const [sha256, blob] of photos) if (blob) files.set(sha256, await dataAddress(blob));
  const painter = new SVGPainter();
  painter.grid(looks.grid, area, looks.palette.plain);
  for (const object of objects) drawObject(painter, object, { ...looks, photo: ({ sha256 }) => files.get(sha256) ?? null });
  const box = [area.left, area.top, area.right - area.left, area.bottom - area.top].map(number);
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${box[2]}" height="${box[3]}" viewBox="${box.join(" ")}">\n`
    + `<rect x="${box[0]}" y="${box[1]}" width="${box[2]}" height="${box[3]}" fill="${looks.palette.paper}"/>\n${painter.text}</svg>\n`;
  return new Blob([text], { type: "image/svg+xml" });
}

const dataAddress = (blob) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result);
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(blob);
});

/** Escapes text for XML, and leaves out characters that XML does not allow. */
const escaped = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
  .replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);

/** Writes SVG; has the methods of `CanvasPainter` that `drawObject` calls. */
class SVGPainter {
  text = "";

  #add(tag, attributes, content = null) {
    const list = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => ` ${name}="${typeof value === "number" ? number(value) : escaped(String(value))}"`).join("");
    this.text += content === null ? `<${tag}${list}/>\n` : `<${tag}${list}>${content}</${tag}>\n`;
  }

  place({ centerPosition: [x, y], angle, scale }, body) {
    const turn = angle ? ` rotate(${number(angle * 180 / Math.PI)})` : "";
    this.text += `<g transform="translate(${number(x)} ${number(y)})${turn}${scale === 1 ? "" : ` scale(${scale.toFixed(6)})`}">\n`;
    body();
    this.text += "</g>\n";
  }

  ink(object, { rgb, opacity }) {
    // The lines overlap, so they are transparent together.
    this.together(opacity, () => {
      for (const { path, width } of inkLines(object, () => new PathData(), Infinity)) {
        this.#add("path", { d: path.data, fill: "none", stroke: rgb, "stroke-width": width, "stroke-linecap": "round", "stroke-linejoin": "round" });
      }
    });
  }

  together(opacity, body) {
    if (opacity < 1) this.text += `<g opacity="${number(opacity)}">\n`;
    body();
    if (opacity < 1) this.text += "</g>\n";
  }

  outlines(outlines, { fill = null, stroke = null, width = 0, dashes = [] }) {
    if (!outlines.length) return;
    const path = new PathData();
    for (const outline of outlines) trace(outline, path);
    this.#add("path", {
      d: path.data, fill: fill?.rgb ?? "none", "fill-opacity": fill && fill.opacity < 1 ? fill.opacity : null, stroke: stroke?.rgb,
      "stroke-opacity": stroke && stroke.opacity < 1 ? stroke.opacity : null, "stroke-width": stroke && width, "stroke-linecap": stroke && "round",
      "stroke-linejoin": stroke && "round", "stroke-dasharray": stroke && dashes.length ? dashes.map((length) => number(length * width)).join(" ") : null,
    });
  }

  grid(grid, area, plain) {
    if (!grid) return;
    const { left, top, right, bottom } = area, spacing = gridSpacing(grid, gridZoom(area));
    const columns = gridLines(spacing, left, right).map((x) => `M${number(x)} ${number(top)}V${number(bottom)}`);
    const rows = gridLines(spacing, top, bottom).map((y) => `M${number(left)} ${number(y)}H${number(right)}`);
    this.#add("path", { d: [...columns, ...rows].join(""), fill: "none", stroke: plain, opacity: GRID_OPACITY });
  }

  box(x, y, width, height, { fill = "none", stroke, radius, lineWidth = 1 }) {
    this.#add("rect", { x, y, width, height, rx: radius || null, fill, stroke, "stroke-width": stroke ? lineWidth : null });
  }

  words(text, x, y, { size, color, align = "left", isBold, isItalic, family = LETTER.family, most }) {
    const isTooWide = most && measured(text, size, { family, isBold, isItalic }).width > most;
    const isRTL = isRightToLeft(text);
    const anchor = align === "center" ? "middle" : (align === "right") === isRTL ? null : "end";
    this.#add("text", {
      x, y, "font-family": family.replaceAll('"', "'"), "font-size": size, "font-weight": isBold ? "bold" : null, "font-style": isItalic ? "italic" : null, fill: color.rgb,
      opacity: color.opacity < 1 ? color.opacity : null, "text-anchor": anchor, direction: isRTL ? "rtl" : null, "xml:space": "preserve",
      textLength: isTooWide ? most : null, lengthAdjust: isTooWide ? "spacingAndGlyphs" : null,
    }, escaped(text));
  }

  image(address, width, height, { crop = [0, 0, 1, 1], isFlippedHorizontally, isFlippedVertically }) {
    const [left, top, right, bottom] = crop.map((part) => part * 1000), isFlipped = isFlippedHorizontally || isFlippedVertically;
    if (isFlipped) this.text += `<g transform="scale(${isFlippedHorizontally ? -1 : 1} ${isFlippedVertically ? -1 : 1})">\n`;
    this.#add("svg", { x: -width / 2, y: -height / 2, width, height, viewBox: [left, top, right - left, bottom - top].map(number).join(" "), preserveAspectRatio: "none" },
      `<image width="1000" height="1000" preserveAspectRatio="none" href="${escaped(address)}"/>`);
    if (isFlipped) this.text += "</g>\n";
  }
}
