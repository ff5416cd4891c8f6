/** Converts objects to a drawing of Excalidraw, and back, by the rules of `ExcalidrawFile` and `ExcalidrawReader`. */

import { endsOf, fillOf, flattened, hasPoints, outlineOf } from "./forms.mjs";
import { columns, inner, lettersOf, rectangle, shapeOf, shown, union, visibleParts } from "./geometry.mjs";

/** The color of elements without a color of their own. */
const PLAIN = "#1e1e1e";
/** The ratio between the visible width of a freehand line and its `strokeWidth`, and the height of a line relative to the size of its font. */
const BREADTH = 4.25, LINE = 1.25;
const FONTS = { plain: 2, hand: 5, code: 3 };
const TYPEFACES = { 1: "hand", 2: "plain", 3: "code", 5: "hand", 6: "plain", 8: "code", 9: "plain", 10: "plain" };
const HEADS = { dot: "circle", arrow: "arrow", triangle: "triangle", bar: "bar" };
/** The ends for arrowheads, and whether they only look similar. */
const ENDS = {
  __proto__: null, arrow: ["arrow"], triangle: ["triangle"], bar: ["bar"], dot: ["dot"], circle: ["dot"], circle_outline: ["dot", true],
  triangle_outline: ["triangle", true], diamond: ["triangle", true], diamond_outline: ["triangle", true],
  crowfoot_one: ["bar", true], cardinality_one: ["bar", true], cardinality_exactly_one: ["bar", true],
};
/** Excalidraw closes a filled line whose ends are closer than this. */
const CLOSING = 8;
/** The smallest factor by which letters are made smaller. Letters that would need a smaller factor keep their size. */
const LEAST = 0.6;
/** The maximum number of points of a line (`BoardLimits.pointCells`). */
const MOST = 4096;
const LIMIT = 1 << 25;

const round = (value) => Math.round(value * 1024) / 1024;
const boundsOf = (points) => points.map((point) => rectangle(point, point)).reduce(union);
const middleOf = ({ left, top, right, bottom }) => [(left + right) / 2, (top + bottom) / 2];

/** Returns the part of a photo that is shown, in its pixels. */
function cropOf({ crop, pixelSize: [naturalWidth, naturalHeight] }) {
  if (!crop) return null;
  const [left, top, right, bottom] = crop;
  return { x: left * naturalWidth, y: top * naturalHeight, width: (right - left) * naturalWidth, height: (bottom - top) * naturalHeight, naturalWidth, naturalHeight };
}

// To Excalidraw

/** Returns the elements for objects, from bottom to top. Games become their box, and erased strokes their remaining lines. */
export function toElements(objects) {
  const elements = [], ids = new Set(objects.map(({ id }) => id)), bound = new Map(objects.map(({ id }) => [id, []]));
  for (const { id, startBinding, endBinding } of objects) for (const binding of [startBinding, endBinding]) bound.get(binding?.id)?.push({ type: "arrow", id });
  const color = (rgba) => rgba?.replace(/ff$/, "") ?? PLAIN;
  const used = new Set(), idOf = ({ id }) => used.has(id) ? `${id}-${elements.length}` : (used.add(id), id);
  const add = (type, object, { left, top, right, bottom }, more, own) => elements.push({
    id: idOf(object), type, x: round(left), y: round(top), width: round(right - left), height: round(bottom - top),
    angle: object.angle, strokeColor: color(object.color), backgroundColor: "transparent", fillStyle: "solid", strokeWidth: 1, strokeStyle: object.lineStyle ?? "solid", roughness: 0,
    opacity: Math.round((object.opacity ?? 1) * 100), groupIds: object.groups ?? [], frameId: ids.has(object.frame) ? object.frame : null, roundness: null, seed: elements.length + 1, version: 1, versionNonce: elements.length + 1,
    isDeleted: false, boundElements: null, updated: 1, link: object.link ?? null, locked: Boolean(object.isLocked), ...(own && { customData: { whiteboard: own } }), ...more,
  });
  const boxAround = ([x, y], width, height) => ({ left: x - width / 2, top: y - height / 2, right: x + width / 2, bottom: y + height / 2 });
  const words = (object, { lines, width, height }, center, more) => {
    const { alignment, unit } = lettersOf(object), { scale, isBold, isItalic, typeface = "plain" } = object;
    add("text", object, boxAround(center, width * scale, height * scale), {
      fontSize: unit * 16 * scale / LINE, fontFamily: FONTS[typeface], text: lines.join("\n"), originalText: object.text, lineHeight: LINE, textAlign: alignment, verticalAlign: "top",
      containerId: null, autoResize: true, ...more,
    }, (isBold || isItalic) && { isBold, isItalic });
  };
  const binding = (end) => end && ids.has(end.id)
    ? { elementId: end.id, focus: 0, gap: end.isExact ? 1 : 4, fixedPoint: end.anchor.map((value) => value + 0.5), mode: end.isExact ? "inside" : "orbit" } : null;
  for (const object of objects) {
    const { id, type, form, scale, centerPosition: center, text, isCurved } = object, shape = shapeOf(object);
    const list = [...(form && form !== "frame" && text ? [{ type: "text", id: `${id}-label` }] : []), ...bound.get(id)], boundElements = list.length ? list : null;
    const lineOf = (points) => ({ points: points.map(([x, y]) => [round(x - points[0][0]), round(y - points[0][1])]), lastCommittedPoint: null, angle: 0 });
    const [width, height] = type === "text" ? [shape.width, shape.height] : object.size, box = boxAround(center, width * scale, height * scale), strokeWidth = (object.lineWidth ?? 5) * scale;
    if (type === "text") words(object, shape, center, { boundElements, autoResize: Boolean(object.isAutoWidth) });
    else if (type === "photo") add("image", object, box, {
      boundElements, status: "saved", fileId: object.sha256, scale: [object.isFlippedHorizontally ? -1 : 1, object.isFlippedVertically ? -1 : 1], crop: cropOf(object),
    });
    else if (form === "frame") add("frame", object, box, { name: text ?? null });
    else if (hasPoints(object)) {
      const points = object.points.map((point) => shown(object, point)), [start, end] = endsOf(object);
      const isPlain = form === "line" && start === "none" && end === "none" && !text && !object.startBinding && !object.endBinding;
      add(isPlain ? "line" : "arrow", object, { ...boundsOf(points), left: points[0][0], top: points[0][1] }, {
        ...lineOf(points), boundElements, strokeWidth, backgroundColor: color(fillOf(object) ?? "transparent"), roundness: isCurved ? { type: 2 } : null,
        startBinding: binding(object.startBinding), endBinding: binding(object.endBinding), startArrowhead: HEADS[start] ?? null, endArrowhead: HEADS[end] ?? null,
        ...(isPlain ? {} : { elbowed: false }),
      }, form === "line" && !isPlain && { form });
    } else if (form) {
      add(form === "ellipse" || form === "diamond" ? form : "rectangle", object, box, {
        boundElements, strokeWidth, backgroundColor: color(fillOf(object) ?? "transparent"), roundness: form === "rounded" ? { type: 3 } : null,
        ...(form === "note" && { strokeColor: "transparent" }),
      }, form === "note" && { form });
    } else if (type === "drawing") {
      for (const part of visibleParts(object)) {
        const points = part.map((point) => shown(object, point));
        add("freedraw", object, { ...boundsOf(points), left: points[0][0], top: points[0][1] }, {
          ...lineOf(points), boundElements, strokeWidth: strokeWidth / BREADTH, pressures: part.map(([, , pressure = 0]) => round(pressure / 255)).filter(Boolean), simulatePressure: false,
        });
      }
    } else add("rectangle", object, box, { boundElements });
    if (form && form !== "frame" && text) words(object, shape.label, shown(object, shape.label.center), {
      id: `${id}-label`, angle: hasPoints(object) ? 0 : object.angle, strokeColor: color(object.textColor), containerId: id, verticalAlign: "middle",
    });
  }
  // The width and height of a line are those of its points. Its position is the first point.
  for (const element of elements) if (element.points) {
    const { left, top, right, bottom } = boundsOf(element.points);
    Object.assign(element, { width: right - left, height: bottom - top });
  }
  return elements;
}

// From Excalidraw

const ruler = document.createElement("canvas").getContext("2d");

/** Returns a color of CSS as `#rrggbbaa`; null if it is not known. */
export function colorOf(text) {
  const read = (before) => {
    ruler.fillStyle = before;
    ruler.fillStyle = text;
    return ruler.fillStyle;
  };
  if (typeof text !== "string" || read("#000000") !== read("#ffffff")) return null;
  const color = read("#000000"), parts = /^rgba\((\d+), (\d+), (\d+), ([\d.]+)\)$/.exec(color);
  return parts ? `#${parts.slice(1).map((part, index) => Math.round(index > 2 ? part * 255 : Number(part)).toString(16).padStart(2, "0")).join("")}` : `${color}ff`;
}

const isNumber = (value) => Number.isFinite(value) && Math.abs(value) < LIMIT;
const bytesOf = (latin) => Uint8Array.from(latin, (letter) => letter.charCodeAt(0));
const word = (value) => typeof value === "string" ? value : undefined;

class Reader {
  objects = [];
  photos = new Map();
  /** The number of elements for each kind of loss or change. */
  losses = new Map();
  #labels = new Map();
  /**
   * The ids of shapes with a text at their top or bottom. Such a text becomes an object of its own in a group with the
   * shape.
   */
  #titled = new Set();
  #files;

  /**
   * `isSkeleton`: whether the elements are those of Excalidraw's programming interface, for example from a program that
   * generates diagrams. They may have no size, and have their text and bound ends in short forms.
   */
  constructor(elements, files, isSkeleton) {
    this.#files = files ?? {};
    const all = (Array.isArray(elements) ? elements : []).filter((element) => element && typeof element === "object" && !element.isDeleted).map((element, index) => ({
      ...(isSkeleton && element.type !== "text" && {
        width: 100, height: /line|arrow/.test(element.type) ? 0 : 100, startBinding: element.start, endBinding: element.end,
      }),
      ...element, type: element.type === "draw" ? "line" : element.type, id: word(element.id) ?? `element ${index}`,
      text: word(element.text), originalText: word(element.originalText), name: word(element.name),
    }));
    const containers = new Map(all.filter(({ type }) => ["rectangle", "diamond", "ellipse", "arrow", "line"].includes(type)).map((element) => [element.id, element]));
    for (const { id, label } of all) if (label?.text) this.#labels.set(id, label);
    for (const element of all) {
      const { type, containerId: id } = element, shape = containers.get(id);
      if (type !== "text" || !shape || this.#labels.has(id) || this.#titled.has(id)) continue;
      const distance = Math.abs(element.y + element.height / 2 - shape.y - shape.height / 2);
      if (["top", "bottom"].includes(element.verticalAlign) && distance > (element.fontSize ?? 20) * LINE / 2) this.#titled.add(id);
      else this.#labels.set(id, element);
    }
    for (const element of all) {
      try {
        this.#read(element);
      } catch {
        this.#lose("damaged elements were left out");
      }
    }
    this.#bind();
  }

  #lose(what) { this.losses.set(what, (this.losses.get(what) ?? 0) + 1); }

  #read(element) {
    const { type, x, y, width: w = 0, height: h = 0, opacity = 100, strokeColor } = element, rgba = colorOf(strokeColor ?? PLAIN), fill = colorOf(element.backgroundColor ?? "transparent");
    if (![x, y, w, h].every(isNumber)) return this.#lose("elements without a position were left out");
    const [width, height] = [Math.abs(w), Math.abs(h)], box = { left: Math.min(x, x + w), top: Math.min(y, y + h), width, height };
    if (!rgba || !fill) this.#lose("colors that are not known were replaced");
    const link = typeof element.link === "string" && element.link.startsWith("https://") ? element.link : undefined;
    if (element.link && !link) this.#lose("links that do not begin with https were left out");
    const isSeen = opacity > 0 && (!/00$/.test(rgba) || !/00$/.test(fill) || this.#labels.has(element.id) || type === "image");
    const known = { text: "text", image: "image", rectangle: "shape", diamond: "shape", ellipse: "shape", line: "line", arrow: "line", freedraw: "ink", frame: "frame", magicframe: "frame" }[type];
    if (!known) return this.#lose(`elements of type “${String(type).slice(0, 32)}” were left out`);
    if (!isSeen) return this.#lose("invisible elements were left out");
    const color = !rgba || rgba === `${PLAIN}ff` ? null : rgba, isFilled = fill && !/00$/.test(fill), isPattern = isFilled && ["shape", "line"].includes(known) && (element.fillStyle ?? "solid") !== "solid";
    // A pattern lets objects behind it show between its lines.
    const share = element.fillStyle === "cross-hatch" ? 3 / 4 : 1 / 2, seen = isPattern ? fill.slice(0, 7) + Math.max(Math.floor(parseInt(fill.slice(7), 16) * share), 1).toString(16).padStart(2, "0") : fill;
    const title = [element.id, element.containerId].find((id) => this.#titled.has(id));
    const base = {
      id: element.id, scale: 1, angle: isNumber(element.angle) ? element.angle : 0, centerPosition: [box.left + width / 2, box.top + height / 2], size: [Math.max(width, 1 / 64), Math.max(height, 1 / 64)], color,
      opacity: opacity < 100 ? opacity / 100 : undefined, isLocked: element.locked === true, groups: [...(title ? [`title of ${title}`] : []), ...(element.groupIds ?? [])], link,
      lineStyle: ["dashed", "dotted"].includes(element.strokeStyle) ? element.strokeStyle : undefined, fill: isFilled ? seen : undefined,
      lineWidth: Math.min(Math.max((+element.strokeWidth || 1) * (type === "freedraw" ? BREADTH : 1), 0.25), 256),
    };
    if (["shape", "line"].includes(known)) {
      if (isPattern) this.#lose("fills with a pattern became translucent");
      if (element.roughness > 0) this.#lose("sketchy lines became plain");
    }
    this[known](element, base, box);
  }

  #isRound({ roundness, strokeSharpness }) { return roundness === undefined ? strokeSharpness === "round" : roundness !== null; }

  shape(element, base) {
    const { type } = element, isRound = this.#isRound(element);
    if (type === "diamond" && isRound) this.#lose("round corners of diamonds became sharp");
    const form = element.customData?.whiteboard?.form === "note" ? "note" : type === "rectangle" ? (isRound ? "rounded" : "rectangle") : type;
    this.objects.push({ ...base, type: "drawing", form, ...this.#label(element, inner({ form }, base.size[0])) });
  }

  /** Returns the points of a line on the board, before its rotation. */
  #points({ type, points, x, y, width = 0, height = 0 }) {
    const list = Array.isArray(points) ? points : type === "freedraw" || points !== undefined ? [] : [[0, 0], [width, height]];
    const places = list.map((point) => [x + point?.[0], y + point?.[1]]);
    return places.length && places.flat().every(isNumber) ? places : null;
  }

  line(element, base) {
    const points = this.#points(element), isArrow = element.type === "arrow", form = isArrow && element.customData?.whiteboard?.form !== "line" ? "arrow" : "line";
    if (!points || points.length < 2) return this.#lose("lines without points were left out");
    const [first, last] = [points[0], points.at(-1)];
    if (base.fill && points.length > 2 && Math.abs(first[0] - last[0]) < CLOSING && Math.abs(first[1] - last[1]) < CLOSING) points[points.length - 1] = first;
    const isCurved = this.#isRound(element), center = middleOf(boundsOf(flattened(outlineOf({ form, points, isCurved }))));
    // In old files, arrows without this key have an arrowhead at their end.
    const head = (key) => {
      const name = element[key] === undefined ? (key === "endArrowhead" && "arrow") : element[key], [end, isChanged] = name ? ENDS[name] ?? ["arrow", true] : ["none"];
      if (isChanged) this.#lose("arrowheads were replaced by similar ones");
      return end;
    };
    this.objects.push({
      ...base, type: "drawing", form, centerPosition: center, points: points.map(([u, v]) => [u - center[0], v - center[1]]), isCurved: isCurved || undefined,
      lineStart: isArrow ? head("startArrowhead") : "none", lineEnd: isArrow ? head("endArrowhead") : "none", ...this.#label(element), element,
    });
  }

  ink(element, base) {
    const points = this.#points(element);
    if (!points) return this.#lose("lines without points were left out");
    const [first, last] = [points[0], points.at(-1)], isClosed = points.length > 2 && Math.abs(first[0] - last[0]) < CLOSING && Math.abs(first[1] - last[1]) < CLOSING;
    if (base.fill && isClosed && points.length <= MOST) {
      this.#lose("freehand lines with a fill became curves");
      return this.line({ ...element, roundness: { type: 2 } }, base);
    }
    const center = middleOf(boundsOf(points)), { pressures } = element;
    const hasPressure = element.simulatePressure !== true && pressures?.length === points.length;
    if (base.fill && isClosed) this.#lose("freehand lines lost their fill");
    this.objects.push({
      ...base, fill: undefined, type: "drawing", centerPosition: center, points: points.map(([u, v]) => [u - center[0], v - center[1]]),
      pressure: hasPressure ? pressures.map((value) => Math.round(Math.min(Math.max(value, 0), 1) * 255)) : undefined,
    });
  }

  #letters(element) {
    const { fontFamily, fontSize, lineHeight, font, customData } = element, old = /^([\d.]+)px (\w*)/.exec(font ?? "");
    const rows = lineHeight >= 1 ? Math.min(lineHeight, LINE) : LINE, size = (+fontSize || +old?.[1] || 20) * rows;
    const typeface = fontFamily === undefined && old ? { Cascadia: "code", Helvetica: "plain" }[old[2]] ?? "hand" : TYPEFACES[fontFamily ?? 1];
    if (!typeface) this.#lose("typefaces were replaced by similar ones");
    return {
      textSize: Math.min(Math.max(Math.round(size * 64) / 64, 1), 1024), typeface: typeface ?? "plain",
      isBold: customData?.whiteboard?.isBold || undefined, isItalic: customData?.whiteboard?.isItalic || undefined,
    };
  }

  /** Makes letters smaller if their rows would not fit, because columns are wider than most letters of Excalidraw. */
  #fitted({ text }, { textSize }, room) {
    const across = Math.max(...(text ?? "").split("\n").map(columns), 1), size = Math.floor(room * 128 / across) / 64;
    if (size >= textSize || size < Math.max(textSize * LEAST, 1)) return textSize;
    this.#lose("letters became a little smaller, so that their rows fit");
    return size;
  }

  #label({ id, type }, room) {
    // Excalidraw breaks the text of a line to fit it. Boards do not.
    const element = this.#labels.get(id), isOnLine = ["line", "arrow"].includes(type), text = isOnLine ? element?.text ?? element?.originalText : element?.originalText ?? element?.text;
    if (!text?.trim()) return {};
    const color = colorOf(element.strokeColor ?? PLAIN), letters = this.#letters(element), textSize = isOnLine ? letters.textSize : this.#fitted(element, letters, room);
    return { text, ...letters, textSize, alignment: ["left", "right"].includes(element.textAlign) ? element.textAlign : "center", textColor: color === `${PLAIN}ff` ? undefined : color ?? undefined };
  }

  text(element, base, { width, height }) {
    if (this.#labels.get(element.containerId) === element) return;
    const text = (element.containerId ? element.text : element.originalText ?? element.text) ?? "";
    if (!text.trim()) return this.#lose("empty texts were left out");
    const letters = this.#letters(element), isAutoWidth = element.autoResize !== false, lines = text.split("\n");
    const alignment = ["center", "right"].includes(element.textAlign) ? element.textAlign : "left";
    // Letters on a board are wider than in most fonts. The side to which the text is aligned stays where it is.
    const wide = Math.max(...lines.map(columns), 1) * letters.textSize / 2, across = isAutoWidth ? wide : Math.max(width, letters.textSize * 2);
    const shift = { left: (across - width) / 2, center: 0, right: (width - across) / 2 }[alignment], [x, y] = base.centerPosition;
    this.objects.push({
      ...base, ...letters, type: "text", text, alignment: alignment === "left" ? undefined : alignment, isAutoWidth, fill: undefined, lineStyle: undefined,
      size: [across, Math.max(height, lines.length * letters.textSize)], centerPosition: shown({ centerPosition: [x, y], scale: 1, angle: base.angle }, [shift, 0]),
    });
  }

  image(element, base) {
    const url = this.#files[element.fileId]?.dataURL, [, type, data] = /^data:(image\/[\w.+-]+)(?:;[^,]*)?;base64,(.*)$/s.exec(url ?? "") ?? [];
    if (!data) return this.#lose("pictures without their file were left out");
    const { crop: part, scale: [across, down] = [1, 1] } = element, sides = part && [part.x, part.y, part.x + part.width, part.y + part.height];
    const cut = sides?.map((side, index) => Math.min(Math.max(side / (index % 2 ? part.naturalHeight : part.naturalWidth), 0), 1)) ?? [];
    const crop = cut.every(isNumber) && cut[2] > cut[0] && cut[3] > cut[1] ? cut : undefined;
    try {
      this.photos.set(element.fileId, new Blob([bytesOf(atob(data))], { type }));
      this.objects.push({ ...base, type: "photo", sha256: element.fileId, crop, isFlippedHorizontally: across < 0 || undefined, isFlippedVertically: down < 0 || undefined });
    } catch {
      this.#lose("damaged pictures were left out");
    }
  }

  /** Adds a frame below the other objects, so that the other objects belong to it when they are created. */
  frame({ name }, base) {
    this.objects.unshift({ ...base, type: "drawing", form: "frame", text: name?.trim() || undefined, color: null, lineWidth: 1, fill: undefined });
  }

  #bind() {
    const targets = new Map(this.objects.filter((object) => !hasPoints(object)).map((object) => [object.id, object]));
    for (const object of this.objects) {
      const { element } = object;
      delete object.element;
      for (const [key, side] of [["startBinding", 0], ["endBinding", -1]]) {
        const binding = element?.[key], target = targets.get(binding?.elementId ?? binding?.id);
        if (!target) {
          if (binding) this.#lose("ends of lines are no longer bound");
          continue;
        }
        const { fixedPoint: fixed, mode } = binding;
        if (fixed?.length === 2 && fixed.every(isNumber) && mode) object[key] = { id: target.id, anchor: fixed.map((value) => value - 0.5), isExact: mode === "inside" };
        else object[key] = { id: target.id, anchor: aim(object, side, target), isExact: false };
      }
    }
  }
}

/**
 * Returns the place in a target at which the end of a line aims: the point on the extended line that is nearest to the
 * center of the target.
 */
function aim(line, side, { centerPosition: [cx, cy], angle, size: [width, height] }) {
  const [[u, v], [x, y]] = (side ? line.points.slice(-2) : line.points.slice(0, 2).reverse()).map((point) => shown(line, point));
  const [dx, dy] = [x - u, y - v], square = dx * dx + dy * dy || 1, ahead = Math.max(((cx - x) * dx + (cy - y) * dy) / square, 0);
  const [px, py] = [x + ahead * dx - cx, y + ahead * dy - cy], [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const share = [(px * cosine + py * sine) / width, (py * cosine - px * sine) / height];
  return share.every((value) => Math.abs(value) < 0.45) ? share : [0, 0];
}

const TYPE = "application/vnd.excalidraw+json";

/** Returns the drawing as text that Excalidraw, or an export of this program, has stored in a PNG or SVG; null if there is none (`EmbeddedDrawing`). */
export async function embedded(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const latin = (part) => Array.from({ length: Math.ceil(part.length / 8192) }, (_, index) => String.fromCharCode(...part.subarray(index * 8192, (index + 1) * 8192))).join("");
  let text = null;
  if (bytes[0] === 0x89) {
    const view = new DataView(bytes.buffer), start = `${TYPE}\0`;
    for (let at = 8; at + 12 <= bytes.length; at += 12 + view.getUint32(at)) {
      const data = bytes.subarray(at + 8, at + 8 + view.getUint32(at));
      if (latin(bytes.subarray(at + 4, at + 8)) === "tEXt" && latin(data.subarray(0, start.length)) === start) text = latin(data.subarray(start.length));
    }
  } else {
    const svg = new TextDecoder().decode(bytes), [, data] = svg.includes(`payload-type:${TYPE}`) ? /<!-- payload-start -->([\s\S]*?)<!-- payload-end -->/.exec(svg) ?? [] : [];
    if (data) text = svg.includes("payload-version:2") ? atob(data) : new TextDecoder().decode(bytesOf(atob(data)));
  }
  if (text === null) return null;
  const { encoded, compressed } = JSON.parse(text);
  if (typeof encoded !== "string") return text;
  const document = new Blob([bytesOf(encoded)]);
  return compressed ? new Response(document.stream().pipeThrough(new DecompressionStream("deflate"))).text() : document.text();
}

/**
 * Returns what a drawing or library of Excalidraw contains: `objects` as on a board, `photos` by the `sha256` of their objects, and
 * `losses`, the number for each kind of loss. Null if the value is no such drawing.
 */
export function fromExcalidraw(tree) {
  const isBare = Array.isArray(tree), { library, libraryItems: items = library } = tree ?? {};
  if (Array.isArray(items)) {
    let right = 0;
    const read = items.map((item) => new Reader(item?.elements ?? item, tree.files)).filter(({ objects }) => objects.length);
    // The items are side by side; ids are unique only within an item.
    read.forEach((reader, index) => {
      const { left, top, right: end } = reader.objects.map((object) => shapeOf(object).bounds).reduce(union), named = (id) => `${index} ${id}`;
      const moved = (binding) => binding && { ...binding, id: named(binding.id) };
      reader.objects = reader.objects.map(({ id, centerPosition: [x, y], groups, startBinding, endBinding, ...more }) => ({
        ...more, id: named(id), centerPosition: [x + right - left, y - top], groups: [...groups.map(named), named("item")], startBinding: moved(startBinding), endBinding: moved(endBinding),
      }));
      right += end - left + 40;
    });
    const losses = new Map();
    for (const one of read) for (const [what, count] of one.losses) losses.set(what, (losses.get(what) ?? 0) + count);
    return { objects: read.flatMap(({ objects }) => objects), photos: new Map(read.flatMap(({ photos }) => [...photos])), losses };
  }
  const isDrawing = /^excalidraw(-api)?(\/clipboard)?$/.test(tree?.type) && Array.isArray(tree.elements);
  const isList = isBare && tree.length && tree.every((element) => word(element?.type) && "x" in element && "y" in element);
  if (!isDrawing && !isList) return null;
  return new Reader(isBare ? tree : tree.elements, tree.files, /-api/.test(tree.type));
}
