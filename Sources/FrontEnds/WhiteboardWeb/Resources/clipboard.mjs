/** Copying, cutting and pasting, and the files that are dropped on the board. */

import { element, toast } from "./dom.mjs";
import { embedded, fromExcalidraw, toElements } from "./excalidraw.mjs";
import { picture, prepared } from "./files.mjs";
import { fromMermaid } from "./mermaid.mjs";
import { COPY_OFFSET, layout, moved, shapeOf, union, visibleParts } from "./geometry.mjs";

/** The maximum size of a drawing or text that is read, in bytes. */
const FILE_LIMIT = 64 << 20;
/** The width to which long lines of pasted text are wrapped. */
const WIDE = 480;
/** The attribute that marks the objects of a board in copied HTML. */
const HTML = /data-whiteboard="([^"]*)"/;

const isOther = ({ target }) => target.closest?.("input, textarea, dialog") || getSelection().toString();
const decoded = (data) => Uint8Array.from(atob(data), (character) => character.charCodeAt(0));

/** Returns the style properties of an object, except its color and line width. */
const styleOf = ({ fill, lineStyle, opacity, lineStart, lineEnd, isCurved, textSize, typeface, alignment, isBold, isItalic, textColor, isAutoWidth }) =>
  ({ fill, lineStyle, opacity, lineStart, lineEnd, isCurved, textSize, typeface, alignment, isBold, isItalic, textColor, isAutoWidth });

export class Clipboard {
  /** The objects that were copied as text only, and this text. */
  #copied = null;
  #style = null;

  constructor(ui) {
    this.ui = ui;
    addEventListener("copy", (event) => this.#copy(event));
    addEventListener("cut", (event) => this.#cut(event));
    addEventListener("paste", (event) => this.#pasted(event));
    ui.boardElement.addEventListener("dragover", (event) => {
      event.preventDefault();
      if (ui.isViewer) event.dataTransfer.dropEffect = "none";
    });
    ui.boardElement.addEventListener("drop", (event) => this.#dropped(event));
  }

  /** Returns the selected objects, from back to front. A copied frame includes its objects; a cut frame does not. */
  #selected(isCut) {
    const { order, objects } = this.ui.board, { selection } = this.ui.tools.select;
    return order.filter((id) => selection.has(id) || (!isCut && selection.has(objects.get(id).frame))).map((id) => objects.get(id));
  }

  // Copying

  /**
   * Returns objects as the types of the clipboard: the words of texts, or a drawing of Excalidraw that also contains
   * the objects as JSON.
   */
  #content(objects, files = {}) {
    const whiteboard = objects.map(({ selectedBy, author, view, ...object }) => object);
    if (objects.every(({ type }) => type === "text")) {
      const text = objects.map((object) => object.text).filter(Boolean).join("\n");
      const html = element("pre", { "data-whiteboard": encodeURIComponent(JSON.stringify(whiteboard)) }, text).outerHTML;
      return { "text/plain": text, "text/html": html };
    }
    return { "text/plain": JSON.stringify({ type: "excalidraw/clipboard", elements: toElements(objects), files, whiteboard }) };
  }

  /** Copies the selection, and afterwards its photos, which take longer to read. Returns false if nothing is selected. */
  #copy(event, isCut = false) {
    const objects = this.#selected(isCut);
    if (!objects.length || isOther(event)) return false;
    const content = this.#content(objects);
    this.#copied = { objects, text: content["text/plain"].trim() };
    for (const [type, text] of Object.entries(content)) event.clipboardData.setData(type, text);
    event.preventDefault();
    if (objects.some(({ type }) => type === "photo")) this.#write(objects).catch(() => {});
    return true;
  }

  /** Writes objects with the files of their photos to the clipboard. */
  async #write(objects) {
    const photos = objects.filter(({ type }) => type === "photo");
    const text = Promise.all(photos.map(async ({ sha256 }) => [sha256, await this.ui.board.photo(sha256)])).then(async (read) => {
      const files = {};
      for (const [id, blob] of read.filter(([, blob]) => blob)) files[id] = { id, mimeType: blob.type, dataURL: await dataURL(blob), created: 1 };
      const content = this.#content(objects, files);
      this.#copied = { objects, text: content["text/plain"].trim() };
      return content;
    });
    const blob = (type) => text.then((content) => new Blob([content[type]], { type })), types = Object.keys(this.#content(objects));
    // Safari accepts only promises, because the text is not ready during the key press.
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(types.map((type) => [type, blob(type)])))]);
  }

  #cut(event) {
    if (this.ui.isViewer || isOther(event) || this.#hasGame) return;
    if (this.#copy(event, true)) this.ui.removeSelection();
  }

  /** Whether a game is selected. If a game is selected, also shows a message. */
  get #hasGame() {
    const hasGame = this.ui.tools.select.objects.some(({ type }) => type === "game");
    if (hasGame) toast("A game cannot be cut. Delete it, or cut the other objects.");
    return hasGame;
  }

  /** Copies or cuts the selection without a key press. */
  async copySelection(isCut = false) {
    const objects = this.#selected(isCut);
    if (isCut && this.#hasGame) return;
    try {
      await this.#write(objects);
      if (isCut) this.ui.removeSelection();
    } catch {
      toast(`The browser did not allow this. Press Ctrl+${isCut ? "X" : "C"} instead.`);
    }
  }

  /** Copies a picture of the selection, or of the board, to the clipboard. */
  async copyPicture() {
    try {
      if (!navigator.clipboard?.write) throw new Error("This browser cannot copy pictures. Save the picture with the menu.");
      const blob = picture(this.ui, "png", this.ui.chosen);
      await Promise.all([blob, navigator.clipboard.write([new ClipboardItem({ "image/png": blob })])]);
      toast("Copied as a picture.");
    } catch (error) {
      toast(error.message);
    }
  }

  copyStyle() {
    const [object] = this.ui.tools.select.objects;
    this.#style = { color: object.color, lineWidth: object.lineWidth, ...styleOf(object) };
  }

  pasteStyle() {
    if (this.#style) this.ui.attempt(() => this.ui.board.restyle([...this.ui.tools.select.selection], this.#style));
  }

  // Pasting

  #pasted(event) {
    const { clipboardData } = event;
    if (this.ui.isViewer || event.target.closest?.("input, textarea, dialog")) return;
    const files = [...clipboardData.files], text = clipboardData.getData("text/plain"), html = clipboardData.getData("text/html");
    if (!files.length && !text.trim() && !html.trim()) return;
    event.preventDefault();
    if (files.length) this.addFiles(files);
    else this.#addText(text, html);
  }

  /** Pastes the contents of the clipboard around a point on the board, without a key press. */
  async paste(at) {
    try {
      const items = await navigator.clipboard.read(), types = new Map(items.flatMap((item) => item.types.map((type) => [type, item])));
      const read = async (type) => types.has(type) ? (await types.get(type).getType(type)).text() : "", image = [...types.keys()].find((type) => type.startsWith("image/"));
      if (image) await this.addFiles([new File([await types.get(image).getType(image)], "picture", { type: image })], at);
      else await this.#addText(await read("text/plain"), await read("text/html"), at);
    } catch {
      toast("The browser did not allow this. Press Ctrl+V instead.");
    }
  }

  #dropped(event) {
    event.preventDefault();
    if (this.ui.isViewer) return;
    const { left, top } = this.ui.boardElement.getBoundingClientRect(), at = this.ui.camera.toBoard([event.clientX - left, event.clientY - top]);
    const { files } = event.dataTransfer, [text, html] = ["text/plain", "text/html"].map((type) => event.dataTransfer.getData(type));
    if (files.length) this.addFiles([...files], at);
    else if (text.trim() || html.trim()) this.#addText(text, html, at);
  }

  /** Adds files of any kind; a message says what was added, and what was not. */
  async addFiles(files, at = this.ui.camera.center) {
    for (const file of files) {
      const name = `“${file.name.slice(0, 64)}”`, ending = /\.(\w+)$/.exec(file.name)?.[1].toLowerCase() ?? "";
      try {
        // A damaged drawing in a picture is not a reason to refuse the picture.
        const scene = ["png", "svg"].includes(ending) && file.size < FILE_LIMIT ? await embedded(file).catch(() => null) : null;
        if (scene && await this.#addDrawing(scene, at, name)) continue;
        if (file.type.startsWith("image/") || ["heic", "heif", "avif", "svg"].includes(ending)) {
          if (await this.ui.addPhotos([file], at)) toast(`${name} was added as a picture.`);
        } else if (file.type === "application/pdf" || ending === "pdf") toast(`${name} was not added, because the page cannot open PDF files. Ask the host to import it, or add pictures of its pages.`);
        else if (file.size > FILE_LIMIT) toast(`${name} was not added, because it is larger than 64 MB.`);
        else {
          const bytes = new Uint8Array(await file.arrayBuffer()), isText = !bytes.subarray(0, 4096).includes(0);
          const text = isText ? new TextDecoder().decode(bytes) : "";
          const isDrawing = ["excalidraw", "excalidrawlib", "json"].includes(ending);
          if (!text.trim() || !(isDrawing || file.type.startsWith("text/") || ["txt", "md", "mmd", "mermaid", ""].includes(ending))) {
            toast(`${name} was not added. The page can add pictures, drawings (.excalidraw, .json), flowcharts (.mmd) and texts.`);
          } else if (!await this.#addDrawing(text, at, name)) {
            if (isDrawing) toast(`${name} was not added. It is not a drawing of Excalidraw or of this program, or it is damaged.`);
            else if (this.#addWords(text, at)) toast(`${name} was added as a text.`);
          }
        }
      } catch (error) {
        toast(`${name} was not added. ${error.message}`);
      }
      at = moved(at, COPY_OFFSET);
    }
  }

  async #addText(given, html, at = this.ui.camera.center) {
    // Windows has its own line ends.
    const text = given.trim() ? given.replaceAll("\r\n", "\n") : wordsOf(html), own = HTML.exec(html);
    try {
      if (!text && !own) return await this.#addPictures(html, at);
      if (own) return await this.#create(JSON.parse(decodeURIComponent(own[1])), new Map(), at);
      if (text.trim() && this.#copied?.text === text.trim()) return await this.#create(this.#copied.objects, new Map(), at);
      if (/^\s*<svg[\s>]/.test(text)) return await this.ui.addPhotos([new File([text], "picture.svg", { type: "image/svg+xml" })], at);
      if (!await this.#addDrawing(text, at)) this.#addWords(text, at);
    } catch (error) {
      toast(error.message);
    }
  }

  /** Adds the pictures that HTML contains. The page cannot load pictures from other addresses. */
  async #addPictures(html, at) {
    const addresses = [...parsed(html).querySelectorAll("img[src]")].map((image) => image.getAttribute("src")), files = addresses.map(fileOf).filter(Boolean);
    if (files.length) await this.ui.addPhotos(files, at);
    if (files.length < addresses.length) toast("The page cannot load a picture from another address. Copy the picture itself, or save it and drop the file here.");
  }

  /** Adds a text; returns whether the board accepted it. */
  #addWords(text, at) {
    const { ui } = this, words = text.replaceAll("\r\n", "\n").trim(), textSize = ui.newTextSize, unit = textSize / 16, { width, height } = layout(words, Infinity, { unit });
    const isWide = width > WIDE * unit;
    ui.board.beginStep("paste");
    try {
      const id = ui.board.createText(words, isWide ? at : [at[0] - width / 2, at[1] - height / 2], { color: ui.style.color, isAutoWidth: !isWide, ...ui.newLetters });
      if (isWide) ui.board.resize(id, [WIDE * unit, height], at);
      ui.selectNew([id]);
      return true;
    } catch (error) {
      toast(error.code === "too-long" ? "The text is longer than one object can be. Paste it in parts of at most 8,000 characters." : error.message);
      return false;
    } finally {
      ui.board.endStep();
    }
  }

  /**
   * If a text is a drawing of Excalidraw or of this program, or a flowchart of Mermaid, adds its objects. Returns
   * whether the text is a drawing or a flowchart.
   */
  async #addDrawing(text, at, name = "the clipboard") {
    const json = /^\s*[{[]/.test(text) ? text : /^```json\n([\s\S]*?)\n```/m.exec(text)?.[1], chart = fromMermaid(text);
    let tree = null;
    try {
      if (!chart) tree = JSON.parse(json);
    } catch {
      return false;
    }
    const own = tree?.whiteboard ?? (tree?.format === "whiteboard-board" ? tree.objects : null);
    const read = chart ?? (Array.isArray(own) ? { objects: own.filter(isObject), photos: ownPhotos(tree), losses: new Map() } : fromExcalidraw(tree));
    if (!read) return false;
    const { objects, photos, losses } = read, count = await this.#create(objects, photos, at);
    const lost = [...losses].map(([what, number]) => `${what} (${number})`).join(", ");
    const isOwnCopy = name === "the clipboard" && tree?.whiteboard;
    if (!isOwnCopy || lost || count < objects.length) {
      const left = objects.length - count;
      toast([`${count === 1 ? "1 object was" : `${count} objects were`} added from ${name}.`, left > 0 && `${left} could not be added.`, lost && `${lost[0].toUpperCase()}${lost.slice(1)}.`].filter(Boolean).join(" "));
    }
    return true;
  }

  /**
   * Adds objects around a point, in one undo step; each photo is an undo step of its own. Objects that are still on
   * this board are copied a little beside their originals. Returns the number of objects that were added.
   */
  async #create(objects, photos, at) {
    const { board } = this.ui, isHere = ({ id }) => board.objects.has(id), isOwn = objects.some(({ id }) => this.#copied?.objects.some((one) => one.id === id));
    const bounds = objects.map((object) => shapeOf({ size: [0, 0], ...object }).bounds).reduce(union, null);
    if (!bounds) return 0;
    const by = isOwn || objects.some(isHere) ? COPY_OFFSET : [at[0] - (bounds.left + bounds.right) / 2, at[1] - (bounds.top + bounds.bottom) / 2];
    const made = new Map(), place = ({ centerPosition }) => moved(centerPosition, by);
    for (const object of objects.filter((one) => one.type === "photo" && !isHere(one))) {
      const blob = await board.photo(object.sha256) ?? photos.get(object.sha256);
      if (blob) made.set(object, [await board.createPhoto(await prepared(blob), place(object))]);
    }
    const pasted = [];
    this.ui.attempt(() => {
      board.beginStep("paste");
      try {
        const kept = objects.filter(isHere), copies = kept.length ? board.duplicate(kept.map(({ id }) => id)) : [];
        kept.forEach((object, index) => made.set(object, [copies[index]]));
        for (const object of objects) {
          if (isHere(object)) continue;
          if (!made.has(object)) made.set(object, this.#made(object, place(object)));
          const ids = made.get(object);
          if (ids.length) this.#arrange(object, ids, place(object));
        }
        this.#group(objects.filter((object) => !isHere(object)), made);
        this.#bind(objects.filter((object) => !isHere(object)), made);
        const locked = objects.filter(({ isLocked }) => isLocked).flatMap((object) => isHere(object) ? [] : made.get(object));
        if (locked.length) board.setLocked(locked, true);
      } finally {
        board.endStep();
        for (const object of objects) pasted.push(...made.get(object) ?? []);
      }
    });
    if (pasted.length) {
      this.ui.selectNew(pasted);
      this.#show(pasted);
    }
    return objects.filter((object) => made.get(object)?.length).length;
  }

  /** Shows all of the added objects if the screen is too small for them. */
  #show(ids) {
    const { board, camera } = this.ui, objects = ids.map((id) => board.objects.get(id)).filter(Boolean);
    if (!objects.length) return;
    const { left, top, right, bottom } = objects.map((object) => shapeOf(object).bounds).reduce(union);
    if ((right - left) * camera.zoom > camera.width || (bottom - top) * camera.zoom > camera.height) this.ui.fit(ids);
  }

  /** Creates an object, without its scale and rotation; returns the ids of its parts. */
  #made(object, [x, y]) {
    const { board } = this.ui, { type, form, text = "", color, lineWidth, size, points } = object;
    if (type === "text") return [board.createText(text, object.isAutoWidth ? [x - size[0] / 2, y - size[1] / 2] : [x, y], { color, ...styleOf(object) })];
    if (form) return [board.createForm(form, [x, y], { size: points ? undefined : size, points, text, color, lineWidth, ...styleOf(object) })];
    if (type !== "drawing" || !points) return [];
    const ids = visibleParts({ ...object, pressure: object.pressure ?? object.pressures })
      .map((part) => board.createDrawing(part.map(([u, v, pressure = 0]) => [u + x, v + y, pressure / 255]), { color, lineWidth }));
    if (ids.length && (object.opacity ?? 1) < 1) board.restyle(ids, { opacity: object.opacity });
    return ids;
  }

  #arrange({ type, size, scale = 1, angle = 0, isAutoWidth, link, crop, isFlippedHorizontally, isFlippedVertically }, ids, pivot) {
    const { board } = this.ui, [id] = ids, now = board.objects.get(id);
    if (link) board.setLink(ids, link);
    if (crop) board.crop(id, crop);
    if (isFlippedHorizontally) board.flip(ids, "horizontally");
    if (isFlippedVertically) board.flip(ids, "vertically");
    if ((type === "text" && !isAutoWidth) || type === "photo") if (size?.join() !== now?.size.join()) board.resize(id, size, pivot);
    if (scale !== 1) board.scale(ids, scale, { pivot });
    if (angle) board.rotate(ids, angle, { pivot });
  }

  /** Groups new objects like their originals, inner groups first. The parts of an erased stroke also become a group. */
  #group(objects, made) {
    const groups = new Map(), outermost = new Map();
    const group = (ids) => {
      const members = new Set(ids.map((id) => outermost.get(id) ?? id));
      if (members.size < 2) return;
      const name = this.ui.board.group([...members]);
      for (const id of ids) outermost.set(id, name);
    };
    for (const object of objects) {
      const names = object.groups ?? [], ids = made.get(object);
      group(ids);
      names.forEach((name, level) => {
        const known = groups.get(name) ?? { ids: [], level: 0 };
        groups.set(name, { ids: [...known.ids, ...ids], level: Math.max(known.level, level) });
      });
    }
    for (const { ids } of [...groups.values()].sort((one, other) => one.level - other.level)) group(ids);
  }

  #bind(objects, made) {
    const ids = new Map([...made].map(([{ id }, [first]]) => [id, first]));
    for (const object of objects) {
      for (const [binding, isEnd] of [[object.startBinding, false], [object.endBinding, true]]) {
        if (binding && ids.get(binding.id) && made.get(object)[0]) this.ui.board.bind(made.get(object)[0], isEnd, { ...binding, id: ids.get(binding.id) });
      }
    }
  }
}

const isObject = (object) => object && typeof object.type === "string" && object.centerPosition?.length === 2 && [...object.centerPosition, ...object.size ?? []].every(Number.isFinite);

/** Parses HTML without loading linked resources, and without styles, which the page's policy would report as errors. */
function parsed(html) {
  const parts = html.split("<").map((part, index) => {
    const end = index && part.indexOf(">") + 1;
    return part.slice(0, end).replace(/^(\/?)style\b/i, "$1template").replace(/\sstyle\s{0,9}=\s{0,9}("[^"]*"|'[^']*')/gi, "") + part.slice(end);
  });
  return new DOMParser().parseFromString(parts.join("<"), "text/html").body;
}

function wordsOf(html) {
  const body = parsed(html);
  for (const one of body.querySelectorAll("script, template")) one.remove();
  return body.textContent.trim();
}

/** Returns the picture in a `data:` address as a file; null if it is another address. */
function fileOf(address) {
  const [, type, isBase64, data] = /^data:(image\/[\w.+-]+)[^,]*?(;base64)?,(.*)$/is.exec(address) ?? [];
  return type ? new File([isBase64 ? decoded(data) : decodeURIComponent(data)], "picture", { type }) : null;
}

/** Returns the photos of a copied drawing or of a board in a file, by SHA-256. */
function ownPhotos({ files = {}, assets = {} }) {
  const bytes = [...Object.entries(files).map(([id, file]) => [id, file?.dataURL?.split(",")[1]]), ...Object.entries(assets)];
  return new Map(bytes.filter(([, data]) => data).map(([id, data]) => [id, new Blob([decoded(data)])]));
}

const dataURL = (blob) => new Promise((done) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result);
  reader.readAsDataURL(blob);
});
