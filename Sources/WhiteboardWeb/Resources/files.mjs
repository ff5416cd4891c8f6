/** Files: adds and decodes photos, and saves the board as a picture. */

import { boundsOf } from "./canvas.mjs";
import { CanvasPainter, drawObject, Palette } from "./draw.mjs";
import { inkLines, isRightToLeft, LETTER, number, PathData, union, widened } from "./geometry.mjs";

/** The longest side of a photo that is added, in pixels, and the largest file that is opened, in bytes. */
const SIDE = 2048;
const FILE_LIMIT = 100 << 20;
/** The number of pixels above which a photo that cannot be opened counts as too large, and not as damaged. */
const MANY = 60_000_000;
const DECODED = 60;

/** Scales a photo down to a JPEG, or to a PNG if it is transparent. This also removes the location where it was taken. */
export async function prepared(file) {
  if (file.size > FILE_LIMIT) throw new Error("This photo is larger than 100 MB. Choose a smaller one, or add a screenshot of it.");
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    const pixels = await pixelCount(file);
    throw new Error(pixels > MANY
      ? `This photo has too many pixels for this browser (${Math.round(pixels / 1e6).toLocaleString("en")} megapixels). Choose a smaller one, or add a screenshot of it.`
      : "This browser cannot open the photo. It may be damaged. Choose a JPEG, PNG or WebP file.");
  }
  const blob = await scaled(bitmap, file.type !== "image/jpeg").catch(() => null);
  bitmap.close();
  if (!blob) throw new Error("There is not enough memory for this photo. Close other tabs and try again, or choose a smaller photo.");
  return blob;
}

/** Returns the photo as a file whose sides are at most `SIDE`; null or an error if there is not enough memory. */
async function scaled(bitmap, canBeTransparent) {
  const factor = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * factor)));
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, width, height);
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
  /** Pictures by SHA-256, the least recently used first; null while a photo is being decoded, or if it cannot be. */
  #decoded = new Map();

  /** `onDecoded(sha256)` is called when a photo can be drawn. */
  constructor(board, onDecoded) {
    this.board = board;
    this.onDecoded = onDecoded;
    board.addEventListener("photo", ({ detail }) => {
      this.#decoded.delete(detail.sha256);
      onDecoded(detail.sha256);
    });
  }

  /** Returns the picture of a photo object; null if it is not decoded yet, or is damaged. */
  get({ sha256, pixelSize }) {
    const known = this.#decoded.get(sha256);
    if (known === undefined) this.#load(sha256, pixelSize);
    else {
      this.#decoded.delete(sha256);
      this.#decoded.set(sha256, known);
    }
    return known ?? null;
  }

  async #load(sha256, [width, height] = [0, 0]) {
    this.#decoded.set(sha256, null);
    const blob = await this.board.photo(sha256);
    if (!blob) return;
    const side = Math.max(width, height);
    const options = side > SIDE ? { resizeWidth: Math.round(width * SIDE / side), resizeHeight: Math.round(height * SIDE / side), resizeQuality: "high" } : undefined;
    try {
      this.#decoded.set(sha256, await createImageBitmap(blob, options));
    } catch {
      return;
    }
    for (const [key, picture] of this.#decoded) {
      if (this.#decoded.size <= DECODED) break;
      picture?.close();
      this.#decoded.delete(key);
    }
    this.onDecoded(sha256);
  }
}

const MARGIN = 20;
const PIXELS = 16_000_000;

/** Returns a picture of the objects as a blob; `format` is `png` or `svg`. */
export async function picture(ui, format, ids) {
  const objects = ids.map((id) => ui.board.objects.get(id)).filter(Boolean);
  if (!objects.length) throw new Error("There is nothing on the board yet.");
  const area = widened(objects.map((object) => boundsOf(object)).reduce(union), MARGIN);
  const looks = { ...ui.looks, palette: new Palette(ui.board.settings.background?.slice(0, 7) ?? "#ffffff") };
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
  for (const object of objects) drawObject(painter, object, { ...looks, photo: ({ sha256 }) => pictures.get(sha256) ?? null });
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("There is not enough memory for this picture. Save it as SVG instead.");
  return blob;
}

async function svg(objects, area, looks, photos) {
  const files = new Map();
  for (const [sha256, blob] of photos) if (blob) files.set(sha256, await dataAddress(blob));
  const painter = new SVGPainter();
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
    for (const { path, width } of inkLines(object, () => new PathData())) {
      this.#add("path", {
        d: path.data, fill: "none", stroke: rgb, "stroke-width": width, "stroke-linecap": "round", "stroke-linejoin": "round",
        opacity: opacity < 1 ? opacity : null,
      });
    }
  }

  box(x, y, width, height, { fill = "none", stroke, radius, lineWidth = 1 }) {
    this.#add("rect", { x, y, width, height, rx: radius || null, fill, stroke, "stroke-width": stroke ? lineWidth : null });
  }

  words(text, x, y, { size, color, align = "left", isBold, family = LETTER.family }) {
    const isRTL = isRightToLeft(text);
    const anchor = align === "center" ? "middle" : (align === "right") === isRTL ? null : "end";
    this.#add("text", {
      x, y, "font-family": family.replaceAll('"', "'"), "font-size": size, "font-weight": isBold ? "bold" : null, fill: color.rgb,
      opacity: color.opacity < 1 ? color.opacity : null, "text-anchor": anchor, direction: isRTL ? "rtl" : null, "xml:space": "preserve",
    }, escaped(text));
  }

  image(address, width, height) {
    this.#add("image", { x: -width / 2, y: -height / 2, width, height, preserveAspectRatio: "none", href: address });
  }
}
