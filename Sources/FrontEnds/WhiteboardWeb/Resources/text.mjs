/** Editing texts and labels in place: a text field above the board, so that every input method of the system works. */

import { element, isComposing, toast } from "./dom.mjs";
import { labelColor, measured, textColor } from "./draw.mjs";
import { hasPoints } from "./forms.mjs";
import { altered, lettersOf, LETTER, shapeOf, shown, textOf } from "./geometry.mjs";

/** The font size of the field in CSS pixels. Below 16, phones zoom into the page, so the field is scaled with a transform. */
const FONT = 16;

/** The shape of a new text, which grows from its upper left corner. */
const NEW = { type: "text", centerPosition: [0, 0], scale: 1, angle: 0, size: [8, 16], isAutoWidth: true };
/** The directions of the arrow keys. */
export const ARROWS = { __proto__: null, ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** The time between two changes of the board while the user types, in milliseconds. */
const INTERVAL = 250;

/** Returns the upper left corner of the box that the text of an object would have with these words. */
function corner(object, text) {
  const { width, height } = textOf(object, text), [x, y] = object.form ? labelCenter(object, text) : [0, 0];
  return shown(object, [x - width / 2, y - height / 2]);
}

/** A line without a label has no center of its label, so use a space as the label. */
const labelCenter = (object, text) => shapeOf(altered(object, { text: text || " " })).label?.center ?? [0, 0];

export class TextEditor {
  #field = null;
  #id = null;
  /** The last text on the board that was equal to the text in the field. */
  #base = "";
  /**
   * The object as it was before the last write, while the event of that write is missing; undefined if the object is new.
   * The event can arrive after the write, because the replica first waits for a signature. Null if no event is missing.
   */
  #before = null;
  #place;
  #timer;
  /** Whether an input method is composing a word. A new value of the field would end this composition. */
  #isComposing = false;
  /** Whether the undo step of the edit is open. */
  #hasStep = false;

  constructor(ui) { this.ui = ui; }

  #isLabel = false;

  get isOpen() { return this.#field !== null; }

  /**
   * Edits an object, or a new text whose top left corner is near `place` on the board. The whole edit is one undo step.
   * The text is not selected, because other members can type in it at the same time.
   */
  open(id, place) {
    this.close();
    if (this.#field) return;
    const { ui } = this, object = ui.board.objects.get(id);
    if (ui.isViewer || (id && !object) || object?.isLocked) return;
    this.#isLabel = Boolean(object?.form);
    ui.tools.select.set([]);
    if (ui.attempt(() => ui.board.beginStep("text"))) return;
    this.#hasStep = true;
    this.#id = id;
    this.#before = null;
    this.#base = object?.text ?? "";
    this.#place = object ? null : [place[0], place[1] - ui.newTextSize / 2];
    const field = element("textarea.text", {
      value: this.#base, dir: "auto", spellcheck: false, autocapitalize: "sentences", ariaLabel: this.#isLabel ? `Label of the ${object.form}` : "Text on the board",
      oninput: () => this.#changed(),
      onblur: () => this.close(),
      onkeydown: (event) => {
        event.stopPropagation();
        const way = this.#isLabel && event.altKey && ARROWS[event.key];
        const isDone = way || event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey));
        if (!isDone || isComposing(event)) return;
        event.preventDefault();
        const edited = this.#isLabel && this.#id;
        this.close();
        ui.boardElement.focus({ preventScroll: true, focusVisible: false });
        if (edited && !this.isOpen) ui.tools.select.set([edited]);
        if (way) ui.grow(way);
      },
    });
    this.#field = field;
    field.addEventListener("compositionstart", () => { this.#isComposing = true; });
    field.addEventListener("compositionend", () => this.#composed());
    ui.boardElement.append(field);
    ui.hideObjects(id ? [id] : []);
    this.place();
    field.focus({ preventScroll: true });
    field.setSelectionRange(field.value.length, field.value.length);
    this.#reveal();
  }

  /** Puts the field over its text; called when the view or the text changes. */
  place() {
    const field = this.#field;
    if (!field) return;
    const { ui } = this, { camera } = ui;
    const object = ui.board.objects.get(this.#id), shape = object ?? { ...NEW, textSize: ui.newTextSize };
    const scale = shape.scale * camera.zoom, size = textOf(shape, field.value), { unit: factor, alignment, ...letters } = lettersOf(shape);
    // The field is as large as the text, so that lines in both directions begin at the same places as on the board.
    // Both sides of the field have room for the caret.
    const font = LETTER.font * factor, unit = FONT / font, room = LETTER.width * factor * unit;
    const width = Math.max(size.width, ...size.lines.map((line) => measured(line, font, letters).width));
    const { looks } = ui, color = this.#isLabel ? labelColor(shape, looks) : object ? textColor(object, looks) : looks.at(this.#place).color(ui.style.color);
    Object.assign(field.style, {
      width: `${width * unit + 2 * room + 1}px`, padding: `0 ${room}px`, height: `${size.height * unit + 2}px`, fontSize: `${FONT}px`,
      lineHeight: `${LETTER.height * factor * unit}px`, color: color.rgb, textAlign: alignment === "left" ? "" : alignment, fontFamily: letters.family,
      fontWeight: letters.isBold ? "bold" : "", fontStyle: letters.isItalic ? "italic" : "",
      background: object && this.#isLabel && hasPoints(object) ? looks.palette.paper : "",
    });
    // A label stays in the middle of its form while the user types.
    const [x, y] = camera.toScreen(object ? corner(object, this.#isLabel ? field.value : object.text) : this.#place);
    const spread = alignment === "left" ? room : alignment === "right" ? width * unit - size.width * unit + room : (width - size.width) * unit / 2 + room;
    field.style.transform = `translate(${x}px,${y}px) rotate(${shape.angle}rad) scale(${scale / unit}) translate(${-spread}px)`;
    ui.drawLive();
  }

  /** Draws a form while its label is edited, as high as the label needs. */
  draw(painter) {
    const object = this.#field && this.#isLabel && this.ui.board.objects.get(this.#id);
    if (!object) return null;
    const { width, height } = shapeOf(altered(object, { text: this.#field.value }));
    return this.ui.drawObject(painter, { ...object, text: undefined, size: [width, height] });
  }

  /** Moves the board so that the keyboard of a phone does not cover the field. */
  #reveal() {
    setTimeout(() => {
      if (!this.#field) return;
      const view = visualViewport;
      const bottom = this.#field.getBoundingClientRect().bottom + 24;
      const limit = view.offsetTop + view.height;
      if (bottom > limit) this.ui.panBy(0, limit - bottom);
    }, 350);
  }

  #changed() {
    this.place();
    // Other members see the text while the user types.
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      if (!this.#isComposing) this.#write();
    }, INTERVAL);
  }

  /** Writes the composed word. The input method still moves the caret, so changes by other members are shown afterwards. */
  #composed() {
    if (!this.#field) return;
    this.#write();
    this.#isComposing = false;
    setTimeout(() => this.refresh());
  }

  /** Shows changes that other members made to the object, unless the user composes a word or has typed since the last write. */
  refresh() {
    const object = this.ui.board.objects.get(this.#id);
    if (!this.#field || !this.#id || object === this.#before) return;
    this.#before = null;
    if (!object) return this.close();
    if (this.#isComposing || this.#field.value !== this.#base || (object.text ?? "") === this.#base) return;
    this.#show(object.text ?? "");
    this.place();
  }

  /** Shows the text on the board; the caret stays at the same letter. */
  #show(text) {
    const { value, selectionStart, selectionEnd } = this.#field;
    let same = 0;
    while (same < value.length && value[same] === text[same]) same += 1;
    const moved = (at) => at > same ? Math.max(same, at + text.length - value.length) : at;
    this.#field.value = this.#base = text;
    this.#field.setSelectionRange(moved(selectionStart), moved(selectionEnd));
  }

  /**
   * Writes the text of the field to the object, whose upper left corner stays where it is. The first letters create the
   * object.
   */
  #write() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const { ui } = this, { board } = ui, text = this.#field.value;
    if (!this.#id) {
      if (!text.trim()) return;
      ui.attempt(() => {
        this.#id = board.createText(text, this.#place, { color: ui.style.color, isAutoWidth: true, ...ui.newLetters });
        this.#before = undefined;
        this.#base = text;
        ui.hideObjects([this.#id]);
      });
      return;
    }
    if (!this.#exists || text === this.#base) return;
    const object = board.objects.get(this.#id);
    ui.attempt(() => {
      const old = this.#base, isChanged = board.setText(this.#id, text, old);
      this.#base = text;
      const after = board.objects.get(this.#id), isLate = after === object && (isChanged || !object);
      if (isLate) this.#before = object;
      // A label stays in the middle of its form, and the board keeps the place of a text with an automatic width.
      if (this.#isLabel || (object ?? NEW).isAutoWidth) return this.refresh();
      const [one, other] = isLate ? [old, text].map((text) => corner(object ?? NEW, text))
        : [object, after].map((object) => corner(object, object.text));
      const move = [one[0] - other[0], one[1] - other[1]];
      if (text && (move[0] || move[1])) board.move([this.#id], move);
      // If other members typed too, the field shows the merged text.
      this.refresh();
    });
  }

  /** Whether the object is on the board; other members can delete it. */
  get #exists() { return this.#id && (this.#before === undefined || this.ui.board.objects.has(this.#id)); }

  /** Whether the board has refused the text in the field. */
  get #isRefused() {
    const { value } = this.#field;
    return value.trim() && value !== this.#base && (!this.#id || this.#exists);
  }

  /** Adds the text in the field as a new text next to the object, because another member has selected or locked the object. */
  #writeCopy() {
    const id = this.#id, object = this.ui.board.objects.get(id);
    const [x, y] = object ? corner(object, object.text ?? "") : this.#place;
    this.#isLabel = false;
    [this.#id, this.#place] = [null, [x + LETTER.height, y + LETTER.height]];
    this.#write();
    if (this.#id) toast("Your text was added as a separate object.");
    else this.#id = id;
  }

  /**
   * Ends editing, and stores the text. An object without text is deleted. If the board refuses even a new text with these
   * words, such as a text that is too long, the field stays open.
   */
  close() {
    const field = this.#field;
    if (!field) return;
    const { ui } = this, { board } = ui;
    this.#isComposing = false;
    this.#write();
    if (this.#id && this.#isRefused) this.#writeCopy();
    if (!field.value.trim() && !this.#isLabel && this.#exists) ui.attempt(() => board.remove([this.#id]));
    if (this.#hasStep) ui.attempt(() => board.endStep());
    this.#hasStep = false;
    if (this.#isRefused && !ui.isViewer) return;
    this.#field = this.#id = null;
    field.onblur = null;
    field.remove();
    ui.hideObjects([]);
    ui.setTool("select");
  }
}
