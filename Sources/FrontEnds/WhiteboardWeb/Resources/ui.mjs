/** The user interface: connects the board with its layers, tools and panels. */

import { describedAll, neighbor, say } from "./access.mjs";
import { ALIGNMENTS, DISTRIBUTIONS } from "./arrange.mjs";
import { askLink, Badges } from "./badges.mjs";
import { boundsOf, Camera, LiveLayer, Scene } from "./canvas.mjs";
import { Clipboard } from "./clipboard.mjs";
import { $, button, element, icon, isComposing, settings, toast } from "./dom.mjs";
import { drawObject, Palette } from "./draw.mjs";
import { CHANGED_SINCE, refusal } from "./errors.mjs";
import { exportPicture, Photos, prepared } from "./files.mjs";
import { Finder } from "./find.mjs";
import { playGame } from "./games.mjs";
import { contains, flattened, hasPoints } from "./forms.mjs";
import { COPY_OFFSET, covers, Ink, LETTER, lettersOf, local, moved, rectangle, resized, shapeOf, touches, union, widened } from "./geometry.mjs";
import { isolated, visible } from "./ids.mjs";
import { Input } from "./input.mjs";
import { ContextMenu } from "./menu.mjs";
import {
  attachPopup, Chat, Members, nameForm, ObjectList, openDialog, Sheet, showConnection, showHelp, showInvitation, showScreen,
} from "./panels.mjs";
import { Presenter } from "./present.mjs";
import { Pointers } from "./pointers.mjs";
import { ARROWS, TextEditor } from "./text.mjs";
import { Toolbar, TOOLS, VIEWER_TOOLS } from "./toolbar.mjs";
import { FORM_TOOLS, Tools } from "./tools.mjs";

const PAPER = { light: "#ffffff", dark: "#17171a" };
/** The time after which the unfinished stroke of another member is drawn like a finished stroke, in milliseconds. */
const ABANDONED = 5000;
/**
 * The maximum number of other members' strokes on the live layer, and of the points of these strokes; tiles show
 * further strokes.
 */
const GROWING = 100, GROWING_POINTS = 20_000;
/** The number of visible objects of one holder above which one frame is drawn around all of them. */
const FRAMES = 200;
/** The color of a highlighter without a color of its own. */
const MARKER = "#f0e442";
/** The distance between a form and another form that is added beside it. */
const GAP = 80;
/** The minimum height of the letters of new texts, in CSS pixels. */
const LEAST_LETTER = 12;
/** The height of the bar of a presentation with its margin, in CSS pixels. */
const BAR = 68;
/**
 * The minimum distance between an object and the edges of the area that panels leave free, in CSS pixels; the object's
 * handles need this room.
 */
const EDGE = 24;
/** The minimum height of letters that can be read, in CSS pixels. */
const READABLE = 10;

export class UI {
  camera = new Camera();
  tool = "pen";
  isMarker = settings.get("isMarker", false);
  erasesParts = settings.get("erasesParts", false);
  /** The color of new objects, the line width of new ink, and the line width of new forms. */
  style = { color: null, lineWidth: 5, formWidth: 2, ...settings.get("style", {}) };
  followed = null;
  /** The members whose objects, messages and pointers this browser does not show. */
  hidden = new Set(settings.get("hidden", []));
  boardElement = $("board");
  sheet = new Sheet();
  #presence = { cursor: null, pointer: "cursor", viewport: null };
  #presenceChanged = false;
  #stroke = null;
  #hiddenObjects = new Set();
  /** The strokes that others are drawing: id to `{object, preview, ink, time}`. */
  #growing = new Map();
  /** The unfinished strokes that changed recently. */
  #unfinished = new Set();
  /** The previews that the live layer no longer draws. */
  #abandoned = new WeakSet();
  /** Whether the tiles showed the whole visible part of the board in the last frame. */
  isComplete = false;
  #isScheduled = false;
  #viewChanged = true;

  constructor(board) {
    this.board = board;
    this.photos = new Photos(board, (sha256) => this.#photoDecoded(sha256), () => this.camera.zoom * (devicePixelRatio || 1));
    this.looks = {
      palette: null, on: (object) => this.scene.paletteOf(object), at: (place) => this.scene.paletteIn(rectangle(place, place)),
      photo: (object) => this.photos.get(object), name: (id) => this.name(id),
    };
    this.#setTheme(settings.get("theme", "system"));
    this.#resize();
    this.scene = new Scene($("tiles"), board, this.camera, this.looks, (object) => !this.hidden.has(object.author), () => this.schedule());
    this.live = new LiveLayer($("live"), this.camera);
    this.pointers = new Pointers($("pointers"), this);
    this.editor = new TextEditor(this);
    this.tools = new Tools(this);
    this.toolbar = new Toolbar(this);
    this.input = new Input(this.boardElement, this, this.tools);
    this.finder = new Finder(this);
    this.presenter = new Presenter(this);
    this.clipboard = new Clipboard(this);
    this.menu = new ContextMenu(this);
    this.panels = { chat: new Chat(this), members: new Members(this), list: new ObjectList(this) };
    this.badges = new Badges($("badges"), this);
    this.#attachButtons();
    this.#attachBoard();
    this.#attachPage();
    this.#objectsChanged([...board.objects.keys()], []);
    this.fit();
    this.#stateChanged();
    this.schedule();
  }

  get isViewer() { return this.board.me.role === "viewer" || ["removed", "refused"].includes(this.board.state.connection); }
  get accent() { return "#6e6ade"; }
  /** The style of new ink. A highlighter is wide and translucent. */
  get pen() {
    const { color, lineWidth } = this.style;
    return this.isMarker ? { color: `${(color ?? MARKER).slice(0, 7)}66`, lineWidth: 4 * lineWidth } : { color, lineWidth };
  }
  get formPen() { return { color: this.style.color ?? undefined, lineWidth: this.style.formWidth, ...this.newLetters }; }
  /** The name in `style` of the line width for the present tool or selection. */
  get widthName() {
    const { objects } = this.tools?.select ?? { objects: [] };
    return (objects.length ? objects.every(({ form }) => form) : FORM_TOOLS.includes(this.tool)) ? "formWidth" : "lineWidth";
  }
  /** The size of new texts: their letters are at least 12 CSS pixels high at this zoom. */
  get newTextSize() {
    const least = LEAST_LETTER * LETTER.height / LETTER.font / this.camera.zoom;
    return least < 1.1 * LETTER.height ? LETTER.height : Math.ceil(least);
  }
  get newLetters() { return this.newTextSize === LETTER.height ? {} : { textSize: this.newTextSize }; }
  get penColor() { return this.looks.palette.color(this.pen.color); }

  name = (id) => id === this.board.me.id ? this.board.me.name || "You" : this.board.members.get(id)?.name || `Guest ${id.slice(0, 4)}`;

  /** Runs an edit. If the edit is refused, shows the reason and returns the error; otherwise returns null. */
  attempt(body) {
    try {
      body();
      return null;
    } catch (error) {
      if (!error.code) throw error;
      toast(error.message);
      return error;
    }
  }

  objectAt(place, isWanted = () => true) {
    const at = this.camera.toBoard(place), tolerance = 8 / this.camera.zoom, near = widened(rectangle(at, at), tolerance);
    // The items are from the last frame, so their objects may have been deleted.
    const item = this.scene.items.findLast(({ id, object, bounds }) => touches(bounds, near) && this.board.objects.has(id) && isWanted(object) && covers(object, at, tolerance));
    return item ? this.board.objects.get(item.id) : null;
  }

  /**
   * Returns the topmost form around a position, even if the form has no fill; a frame only if there is no other form.
   */
  formAround(place) {
    const at = this.camera.toBoard(place), near = rectangle(at, at);
    const found = this.scene.items.filter(({ id, object, bounds }) => {
      if (!touches(bounds, near)) return false;
      const { outline } = shapeOf(object);
      return this.board.objects.has(id) && object.form && !hasPoints(object) && outline && contains(flattened(outline), local(object, at));
    });
    const item = found.findLast(({ object }) => object.form !== "frame") ?? found.at(-1);
    return item ? this.board.objects.get(item.id) : null;
  }

  /** Returns the ids of all objects in the outermost group of an object. */
  withGroup({ id, groups = [] }) {
    const group = groups.at(-1);
    return group ? this.scene.items.filter(({ object }) => object.groups?.includes(group)).map((item) => item.id) : [id];
  }

  drawObject(painter, object, placement = object) {
    if (!object) return null;
    drawObject(painter, object, this.looks, placement);
    return boundsOf(object, placement);
  }

  schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame((now) => this.#frame(now));
  }

  drawLive() { this.schedule(); }

  #frame(now) {
    this.#isScheduled = false;
    if (this.#viewChanged) this.#showView();
    this.isComplete = !this.scene.frame(now);
    if (!this.isComplete) this.schedule();
    this.live.draw((painter) => union(this.#drawGrowing(painter, now), union(this.#drawHolders(painter),
      union(this.editor.draw(painter), union(this.tools.draw(painter, now), this.pointers.draw(painter, now))))));
    if (this.#presenceChanged) {
      this.#presenceChanged = false;
      this.board.showPresence(this.#presence);
    }
  }

  #drawGrowing(painter) {
    let area = null;
    for (const [id, { ink, object, bounds }] of this.#growing) {
      if (this.#hiddenObjects.has(id)) continue;
      painter.growing(ink, (bounds ? this.scene.paletteIn(bounds) : this.looks.palette).color(object?.color));
      area = union(area, bounds);
    }
    return area;
  }

  #drawHolders(painter) {
    let area = null;
    const { board, camera } = this, view = camera.area, margin = 4 / camera.zoom, held = new Map();
    for (const id of this.#held) {
      const object = board.objects.get(id), { selectedBy } = object;
      if (!touches(widened(shapeOf(object).bounds, 2 * margin), view)) continue;
      if (!held.has(selectedBy)) held.set(selectedBy, []);
      held.get(selectedBy).push(object);
    }
    for (const [holder, objects] of held) {
      const color = board.members.get(holder)?.color ?? "#888888";
      for (const frame of objects.length > FRAMES ? [commonFrame(objects)] : objects) {
        const { width, height, bounds } = shapeOf(frame), unit = margin / frame.scale;
        painter.place(frame, () => painter.box(-width / 2 - unit, -height / 2 - unit, width + 2 * unit, height + 2 * unit,
          { stroke: color, lineWidth: unit / 2.5, radius: unit }));
        area = union(area, widened(bounds, 2 * margin));
      }
    }
    return area;
  }

  #held = new Set();

  #objectsChanged(changed, removed) {
    this.scene.objectsChanged(changed);
    this.scene.invalidate(removed);
    for (const id of removed) {
      this.#held.delete(id);
      this.#unfinished.delete(id);
    }
    let hasGrown = false;
    for (const id of changed) {
      const object = this.board.objects.get(id);
      if (!object) continue;
      if (object.selectedBy && object.selectedBy !== this.board.me.id) this.#held.add(id);
      else this.#held.delete(id);
      if (object.isFinished === false) this.#unfinished.add(id);
      hasGrown ||= this.#unfinished.has(id);
      if (object.isFinished) this.#unfinished.delete(id);
    }
    if (hasGrown || removed.size) this.#updateGrowing();
    this.tools.select.drop([...this.tools.select.selection].filter((id) => !this.board.objects.has(id)));
    if (this.tools.select.selection.size) this.toolbar.updateSelection();
    this.editor.refresh();
    this.panels.list.update();
    this.badges?.update([...changed, ...removed]);
    $("welcome").hidden = this.board.objects.size > 0;
    this.#updateHistory();
    this.schedule();
  }

  /** Combines the committed points of unfinished strokes with their previews. Tiles show strokes that do not change any more. */
  #updateGrowing() {
    const { objects, previews } = this.board, now = performance.now();
    const before = this.#growing, next = new Map();
    const ids = new Set(this.#unfinished);
    for (const [id, preview] of previews) if (!this.#abandoned.has(preview)) ids.add(id);
    ids.delete(this.#stroke);
    let points = 0;
    for (const id of ids) {
      const object = objects.get(id), preview = previews.get(id), old = before.get(id);
      if (this.hidden.has(object?.author ?? preview?.member)) continue;
      const isSame = old && old.object === object && old.preview === preview;
      // The live layer cannot draw a stroke that was scaled, rotated or erased meanwhile.
      const isTransformed = object && (object.scale !== 1 || object.angle || object.erased?.length);
      points += object?.points.length ?? 0;
      if (isTransformed || next.size === GROWING || points > GROWING_POINTS || (isSame && now - old.time > ABANDONED)) {
        this.#unfinished.delete(id);
        if (preview) this.#abandoned.add(preview);
      } else next.set(id, isSame ? old : { object, preview, time: now, ...growingInk(object, preview) });
    }
    this.#growing = next;
    const isOther = next.size !== before.size || [...next.keys()].some((id) => !before.has(id));
    if (isOther) this.#hide();
    clearTimeout(this.#abandonTimer);
    if (next.size) this.#abandonTimer = setTimeout(() => this.#updateGrowing(), ABANDONED + 100);
    this.schedule();
  }

  #abandonTimer;

  hideStroke(id) {
    this.#stroke = id;
    this.#hide();
  }

  hideObjects(ids) {
    this.tools.select.dropped = null;
    this.#hiddenObjects = new Set(ids);
    this.#hide();
  }

  #hide() {
    this.scene.hide([...this.#hiddenObjects, ...this.#growing.keys(), ...(this.#stroke ? [this.#stroke] : [])]);
    this.schedule();
  }

  #photoDecoded(sha256) {
    this.scene.invalidate([...this.board.objects.values()].filter((object) => object.sha256 === sha256).map(({ id }) => id));
    this.schedule();
  }

  #resize() {
    const { width, height } = this.boardElement.getBoundingClientRect();
    Object.assign(this.camera, { width, height });
    this.live?.reset();
    this.#viewMoved();
  }

  #viewMoved() {
    this.#viewChanged = true;
    this.schedule();
  }

  #showView() {
    this.#viewChanged = false;
    this.photos.viewChanged();
    this.pointers.place();
    this.badges.place();
    this.presenter.place();
    this.editor.place();
    const { camera } = this;
    $("zoom-level").textContent = `${Math.round(camera.zoom * 100)}%`;
    // Two members who follow each other would enlarge their views without end.
    if (this.followed) return;
    this.showPresence({ viewport: { center: camera.center, width: Math.max(1, camera.width / camera.zoom), height: Math.max(1, camera.height / camera.zoom) } });
  }

  panBy(dx, dy) {
    this.follow(null);
    this.camera.pan(dx, dy);
    this.#viewMoved();
  }

  zoomBy(factor, place) {
    this.follow(null);
    this.camera.zoomTo(this.camera.zoom * factor, place);
    this.#viewMoved();
  }

  fit(ids = this.board.order) {
    this.follow(null);
    const area = ids.map((id) => this.board.objects.get(id)).filter(Boolean).map((object) => boundsOf(object)).reduce(union, null);
    if (area) this.camera.fit(area, 1);
    else this.camera.fit({ left: 0, top: 0, right: 1, bottom: 1 });
    this.#viewMoved();
  }

  /** Moves the view so that an object is in its middle, and large enough to be read. */
  reveal(id) {
    const object = this.board.objects.get(id), { camera } = this, { left, top, right, bottom } = boundsOf(object), { zoom } = camera;
    const isLarge = (right - left) * zoom > 0.8 * camera.width || (bottom - top) * zoom > 0.6 * camera.height;
    if (isLarge || lettersOf(object).unit * LETTER.height * object.scale * zoom < READABLE) this.fit([id]);
    else {
      const [x, y] = camera.toScreen([(left + right) / 2, (top + bottom) / 2]);
      this.panBy(camera.width / 2 - x, camera.height / 2 - y);
    }
    this.uncover([id]);
  }

  /**
   * Moves the view as little as necessary so that open panels do not cover objects. If the objects are larger than the
   * room, shows their middle.
   */
  uncover(ids = [...this.tools.select.selection]) {
    const area = ids.map((id) => this.board.objects.get(id)).filter(Boolean).map((object) => boundsOf(object)).reduce(union, null);
    if (!area) return;
    const { camera } = this, least = [area.left, area.top], greatest = [area.right, area.bottom];
    for (const panel of document.querySelectorAll("#sheet:not([hidden]), .sheet.open")) {
      const cover = panel.getBoundingClientRect(), [start, end] = [camera.toScreen(least), camera.toScreen(greatest)];
      if (!touches(cover, rectangle(start, end))) continue;
      const top = $("top").getBoundingClientRect().bottom, bottom = $("selection").hidden ? camera.height : $("selection").getBoundingClientRect().top;
      const rooms = [[[0, top], [camera.width, cover.top]], [[0, top], [cover.left, bottom]], [[cover.right, top], [camera.width, bottom]]];
      const ways = rooms.map(([from, to]) => {
        const free = [0, 1].map((axis) => to[axis] - from[axis] - 2 * EDGE - (end[axis] - start[axis]));
        const shift = free.map((rest, axis) => rest < 0 ? (from[axis] + to[axis] - start[axis] - end[axis]) / 2
          : Math.min(Math.max(start[axis], from[axis] + EDGE), to[axis] - EDGE - (end[axis] - start[axis])) - start[axis]);
        return { shift, missing: Math.max(0, -free[0]) + Math.max(0, -free[1]), distance: Math.hypot(...shift) };
      });
      const [{ shift }] = ways.sort((one, other) => one.missing - other.missing || one.distance - other.distance);
      this.panBy(...shift);
    }
  }

  /** Shows an area as large as possible, above a bar at the bottom. */
  showArea(area) {
    const { camera } = this, { height } = camera;
    this.follow(null);
    camera.height = Math.max(height - BAR, height / 2);
    camera.fit(area, 16, 8);
    camera.height = height;
    this.#viewMoved();
  }

  vote(id, reaction, isGiven) { this.attempt(() => this.board.vote(id, reaction, isGiven)); }
  flip(direction) { this.attempt(() => this.board.flip([...this.tools.select.selection], direction)); }

  /** Lets the handles of the selected photo change the part of it that is shown, until something else is selected. */
  crop() {
    this.tools.select.isCropping = true;
    toast("Drag the sides of the photo to crop it.");
    this.drawLive();
  }

  /** Draws a frame around the selection. If nothing is selected, chooses the tool for frames. */
  frame() {
    const { objects } = this.tools.select;
    if (!objects.length) return this.setTool("frame");
    const { left, top, right, bottom } = widened(objects.map((object) => shapeOf(object).bounds).reduce(union), 24);
    let id;
    if (this.attempt(() => { id = this.board.createShape("frame", [left, top], [right, bottom], this.formPen); })) return;
    this.finishTool([id]);
    this.editText(id);
  }

  /** Opens the chat for a comment about an object. */
  comment(id) {
    if (this.sheet.name !== "chat") this.sheet.toggle(this.panels.chat);
    this.panels.chat.comment(id);
    this.panels.chat.focus();
    this.uncover([id]);
  }

  /** Shows the first comment about an object that is not resolved. */
  showComments(id) {
    if (this.sheet.name !== "chat") this.sheet.toggle(this.panels.chat);
    const line = this.board.chat.find(({ about, isResolved }) => about === id && !isResolved);
    if (line) this.panels.chat.reveal(line.id);
    if (!this.isViewer) this.panels.chat.comment(id);
    this.uncover([id]);
  }

  goTo(id) {
    this.fit([id]);
    this.setTool("select");
    this.tools.select.set([id]);
    this.uncover([id]);
  }

  /** Shows the view of another member until the user moves the view; null stops this. */
  follow(id) {
    if (this.followed === id) return;
    this.followed = id;
    $("following").hidden = !id;
    if (id) $("following").replaceChildren(`Following ${isolated(this.name(id))}`, button(null, "Stop", () => this.follow(null), { text: "Stop", kind: "button.quiet" }));
    this.panels.members.update();
    this.#viewMoved();
    this.#followView();
  }

  #followView() {
    const view = this.followed && this.board.members.get(this.followed)?.viewport;
    if (this.followed && !this.board.members.has(this.followed)) this.follow(null);
    if (!view) return;
    const { center: [x, y], width, height } = view;
    this.camera.fit({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 }, 16, 0);
    this.#viewMoved();
  }

  hideMember(id, isHidden) {
    if (isHidden) this.hidden.add(id);
    else this.hidden.delete(id);
    settings.set("hidden", [...this.hidden]);
    this.scene.invalidate(this.board.order);
    this.#updateGrowing();
    this.pointers.update();
    this.badges.update(this.board.order);
    this.badges.chatChanged();
    for (const panel of Object.values(this.panels)) panel.update();
    this.schedule();
  }

  showPresence(change) {
    Object.assign(this.#presence, change);
    this.#presenceChanged = true;
    this.schedule();
  }

  /**
   * Selects the object before or after the selected object. Returns false at the end, so that the focus leaves the
   * board.
   */
  selectNeighbor(step) {
    const { select } = this.tools, [selected] = select.objects, id = neighbor(this, selected?.id, step);
    if (!id) {
      select.set([]);
      return false;
    }
    if (this.tool !== "select") this.setTool("select");
    this.reveal(id);
    select.set([id]);
    return true;
  }

  /**
   * Connects two selected objects with an arrow. If only one object is selected, the next call connects it to the
   * object that is then selected.
   */
  connect() {
    const { select } = this.tools, ids = select.objects.filter((object) => !hasPoints(object)).map(({ id }) => id);
    if (ids.length === 1 && this.#from && this.#from !== ids[0] && this.board.objects.has(this.#from)) ids.unshift(this.#from);
    if (ids.length === 1) {
      this.#from = ids[0];
      toast("Select the object at which the arrow ends, and press C again.");
    }
    if (ids.length !== 2) return;
    this.#from = null;
    const [from, to] = ids.map((id) => this.board.objects.get(id).centerPosition);
    let id;
    this.attempt(() => {
      this.board.beginStep("connect");
      id = this.board.createShape("arrow", from, to, this.formPen);
      ids.forEach((target, index) => this.board.bind(id, index === 1, { id: target, anchor: [0, 0] }));
    });
    this.attempt(() => this.board.endStep());
    if (id) select.set([id]);
  }

  #from = null;

  /**
   * Adds a form of the same kind beside the selected form, connects both with an arrow, and edits the label of the new
   * form.
   */
  grow([across, down]) {
    const { board } = this, [object, ...others] = this.tools.select.objects;
    if (!object?.form || others.length || hasPoints(object) || object.form === "frame") return;
    const { bounds: { left, top, right, bottom } } = shapeOf(object), step = [across * (right - left + GAP), down * (bottom - top + GAP)];
    const isFree = ([x, y]) => !this.scene.items.some(({ object: one }) => one.form && !hasPoints(one) && one.form !== "frame" && contains(flattened(shapeOf(one).outline), local(one, [x, y])));
    let at = [object.centerPosition[0] + step[0], object.centerPosition[1] + step[1]];
    // If there is a form at this place already, the new form is placed beside it.
    for (let count = 0; count < 20 && !isFree(at); count += 1) at = [at[0] + Math.abs(down) * (right - left + GAP / 2), at[1] + Math.abs(across) * (bottom - top + GAP / 2)];
    let id;
    const error = this.attempt(() => {
      board.beginStep("grow");
      try {
        [id] = board.duplicate([object.id], [at[0] - object.centerPosition[0], at[1] - object.centerPosition[1]]);
        if (object.text) board.setText(id, "");
        const arrow = board.createShape("arrow", object.centerPosition, at, this.formPen);
        [object.id, id].forEach((target, index) => board.bind(arrow, index === 1, { id: target, anchor: [0, 0] }));
      } finally {
        board.endStep();
      }
    });
    if (error) return;
    this.reveal(id);
    this.finishTool([id]);
    this.editText(id);
  }

  setTool(name) {
    if (this.isViewer && !VIEWER_TOOLS.includes(name)) return;
    this.stopTyping();
    this.tools.cancel();
    if (name !== "select") this.tools.select.set([]);
    this.tool = name;
    this.boardElement.dataset.tool = name;
    this.boardElement.style.cursor = "";
    this.toolbar.update();
    if (document.body.classList.contains("keys")) say(TOOLS[name][0]);
    this.drawLive();
  }

  finishTool(ids) {
    this.setTool("select");
    this.tools.select.set(ids);
  }

  /**
   * Selects new objects, unless the user is drawing or typing, because a selection would end the stroke or the text.
   */
  selectNew(ids) {
    if (!this.tools.active && !this.editor.isOpen) this.finishTool(ids);
  }

  /** Sets the color and line width of new objects, and of the selection. */
  setStyle(change) {
    const { lineWidth, ...others } = change;
    Object.assign(this.style, others, lineWidth && { [this.widthName]: lineWidth });
    settings.set("style", this.style);
    this.restyle(change);
  }

  /** Changes the style of the selection. */
  restyle(change) {
    const ids = [...this.tools.select.selection];
    if (ids.length) this.attempt(() => this.board.restyle(ids, change));
    this.toolbar.update();
  }

  setMarker(value) {
    this.isMarker = value;
    settings.set("isMarker", value);
    this.setTool("pen");
  }

  setErasing(value) {
    this.erasesParts = value;
    settings.set("erasesParts", value);
    this.toolbar.update();
  }

  selectionChanged() {
    this.toolbar.updateSelection();
    const { objects } = this.tools.select;
    if (objects.length && document.body.classList.contains("keys")) say(describedAll(objects, this.board));
    this.drawLive();
  }

  editText(id, place) { this.editor.open(id, place); }
  stopTyping() { this.editor.close(); }

  open(id) {
    const object = this.board.objects.get(id);
    if (object?.type === "text" || object?.form) this.editText(id);
    if (object?.type === "game") playGame(this, id);
  }

  addGame(game) {
    let id;
    if (this.attempt(() => { id = this.board.createGame(game, this.camera.center); })) return;
    this.setTool("select");
    playGame(this, id);
  }

  /** Adds photos around a point; returns the number of photos that could be added. */
  async addPhotos(files, place = this.camera.center) {
    let count = 0;
    for (const file of files) {
      try {
        const id = await this.board.createPhoto(await prepared(file), place);
        this.selectNew([id]);
        place = moved(place, COPY_OFFSET);
        count += 1;
      } catch (error) {
        toast(error.message);
      }
    }
    return count;
  }

  duplicate() {
    let copies = [];
    this.attempt(() => { copies = this.board.duplicate([...this.tools.select.selection]); });
    if (copies.length) this.selectNew(copies);
  }

  selectAll() {
    this.setTool("select");
    this.tools.select.set(this.scene.items.filter(({ object }) => !object.isLocked).map(({ id }) => id));
  }

  /** Groups the selection; groups stay together inside the new group. */
  group() {
    const ids = new Set(this.tools.select.objects.map(({ id, groups }) => groups?.at(-1) ?? id));
    if (ids.size > 1) this.attempt(() => this.board.group([...ids]));
  }
  ungroup() { this.attempt(() => this.board.ungroup([...new Set(this.tools.select.objects.map(({ groups }) => groups?.at(-1)).filter(Boolean))])); }
  arrange({ method, value }) { this.attempt(() => this.board[method]([...this.tools.select.selection], value)); }
  reorder(how) { this.attempt(() => this.board[how]([...this.tools.select.selection])); }
  toggleLock() {
    const { selection, isLocked } = this.tools.select;
    this.attempt(() => this.board.setLocked([...selection], !isLocked));
  }
  removeSelection() { this.attempt(() => this.board.remove([...this.tools.select.selection])); }

  undo(isRedo = false) {
    this.stopTyping();
    this.tools.cancel();
    this.attempt(() => {
      const skipped = isRedo ? this.board.redo() : this.board.undo();
      if (skipped) toast(`${skipped === 1 ? "A later change was" : `${skipped} later changes were`} skipped, because ${CHANGED_SINCE}`);
    });
  }

  askName() {
    const close = openDialog("Your name", nameForm((name) => {
      this.attempt(() => this.board.setName(name));
      close();
    }, "Change"));
  }

  #stateChanged() {
    const { connection, isSynced, pending, storage, isSecondTab, failure } = this.board.state;
    const changes = pending === 1 ? "1 change" : `${pending} changes`;
    const isOpen = connection === "open", isGood = isOpen && isSynced && !pending;
    if (isGood || !isOpen) {
      clearTimeout(this.#syncing);
      this.#syncing = null;
      this.#isLate = !isGood;
    } else this.#syncing ??= setTimeout(() => { this.#isLate = true; this.#stateChanged(); }, 1000);
    // While members type or draw, the board is often not synced for a moment. Such moments have a quiet look, and are
    // not announced.
    const isShort = isOpen && !isGood && !this.#isLate;
    const [kind, text] = isGood ? ["good", "Synced"] : isShort ? ["good soon", "Syncing"]
      : isOpen ? ["busy", pending ? `Syncing… ${changes} not sent yet` : "Syncing…"]
      : connection === "connecting" ? ["busy", pending ? `Connecting… ${changes} not sent yet` : "Connecting…"]
      : connection !== "offline" ? ["bad", refusal(this.board.state)[0]]
      : ["bad", pending ? `Offline: ${changes} not sent yet` : "Offline"];
    $("state").className = `chip ${kind}`;
    if ($("state-text").textContent !== text) $("state-text").textContent = text;
    const full = "This browser cannot save your changes; its storage may be full. Other members still receive them while you are connected. To free space, delete the data of other sites.";
    const hints = [
      this.isViewer && ["View only", "You can view this board, but not change it."],
      storage === "full" && ["Storage full", full],
      storage === "off" && !isSecondTab && ["Not saved here", "This browser does not let the page save the board. Close the page only after your changes are sent."],
      isSecondTab && ["Second tab", "Another tab saves this board in this browser. Your changes in this tab are sent, but not saved here."],
    ].filter(Boolean);
    const title = hints.map(([name]) => name).join(" · "), hint = $("hint");
    hint.hidden = !title;
    hint.textContent = title;
    const announced = title ? `${text}. ${title}` : text;
    if (!isShort && $("announced").textContent !== announced) $("announced").textContent = announced;
    hint.onclick = () => openDialog(title, element("div.text", {}, ...hints.map(([, text]) => element("p", {}, text)),
      isSecondTab ? element("button.primary", { type: "button", onclick: () => this.takeOver() }, "Use the board in this tab") : null));
    if (storage === "full" && this.#storage !== "full") toast(full);
    this.#storage = storage;
    if (failure) showScreen("The board stopped", [`An error occurred in this page. Reload it to continue.${storage === "ok" ? " Your changes are saved." : ""}`, String(failure.message ?? "")], { label: "Reload the page", run: () => location.reload() });
    this.#showTitle();
    this.#updateHistory();
  }

  #storage = "ok";
  #syncing = null;
  /** Whether the board has not been synced for a second, or was not synced since it was disconnected. */
  #isLate = true;

  #roleChanged() {
    const { isViewer } = this;
    if (isViewer === this.#wasViewer) return;
    this.#wasViewer = isViewer;
    if (isViewer) {
      this.stopTyping();
      if (!VIEWER_TOOLS.includes(this.tool)) this.setTool("hand");
    } else if (this.tool === "hand") this.setTool("pen");
    this.toolbar.update();
    this.panels.list.update();
    this.selectionChanged();
    this.#stateChanged();
  }

  #wasViewer = false;

  #updateHistory() {
    const { canUndo, canRedo } = this.board;
    $("undo").disabled = !canUndo || this.isViewer;
    $("redo").disabled = !canRedo || this.isViewer;
  }

  #setTheme(theme) {
    this.theme = theme;
    settings.set("theme", theme);
    const isDark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    const paper = this.board.settings.background?.slice(0, 7) ?? PAPER[isDark ? "dark" : "light"];
    this.looks.palette = new Palette(paper);
    this.looks.grid = this.board.settings.grid;
    document.documentElement.style.setProperty("--paper", paper);
    document.documentElement.style.setProperty("--hint", this.board.settings.background ? this.looks.palette.plain : "var(--muted)");
    document.querySelector("meta[name=theme-color]").content = paper;
    this.scene?.reset();
    this.toolbar?.update();
    this.schedule();
  }

  #attachBoard() {
    const { board } = this;
    const on = (name, handler) => board.addEventListener(name, ({ detail }) => handler(detail));
    on("objects", ({ changed, removed }) => this.#objectsChanged(changed, removed));
    on("previews", () => this.#updateGrowing());
    on("members", () => {
      this.pointers.update();
      this.panels.members.update();
      this.#roleChanged();
      if (this.followed) this.#followView();
    });
    on("chat", () => {
      this.panels.chat.update();
      this.badges.chatChanged();
    });
    on("state", () => {
      this.#stateChanged();
      this.#roleChanged();
    });
    on("settings", () => {
      this.#showTitle();
      this.#setTheme(this.theme);
    });
    on("selectionLost", ({ id, to }) => {
      this.tools.select.drop([id]);
      toast(`${isolated(this.name(to))} selected this object at the same time, so your selection ended.`);
    });
    on("notice", ({ code, message }) => {
      const texts = { full: "The board is full. Delete objects that are not needed.", photosLeftOut: "Some photos are not shown, because the photos on this board are too large in total.", deletedUnseen: "While you were offline, another member deleted an object that you changed.", clock: "The clock of this device differs from other clocks. Set the correct time.", diverged: "This copy of the board differs from the others. Reload the page." };
      if (texts[code] ?? message) toast(texts[code] ?? message);
    });
    this.#roleChanged();
    this.pointers.update();
  }

  /** The title of the board, or else the name of its session. */
  get title() { return visible(this.board.settings.title || "") || visible(this.board.state.name || ""); }

  #showTitle() {
    document.title = this.title ? `${isolated(this.title)} – Whiteboard` : "Whiteboard";
    $("title").textContent = this.title || "Whiteboard";
  }

  #attachButtons() {
    const { panels, sheet } = this;
    $("chat").onclick = () => sheet.toggle(panels.chat);
    $("people").onclick = () => sheet.toggle(panels.members);
    $("undo").onclick = () => this.undo();
    $("redo").onclick = () => this.undo(true);
    $("zoom-in").onclick = () => this.zoomBy(1.25);
    $("zoom-out").onclick = () => this.zoomBy(0.8);
    $("zoom-level").onclick = () => this.zoomBy(1 / this.camera.zoom);
    $("zoom-fit").onclick = () => this.fit();
    $("state").onclick = () => showConnection(this.board);
    $("file").onchange = $("camera").onchange = ({ target }) => {
      this.clipboard.addFiles([...target.files]);
      target.value = "";
    };
    const item = (iconName, text, run) => element("button.item", { type: "button", role: "menuitem", onclick: () => { close(); run(); } }, icon(iconName), text);
    const save = (format) => async () => {
      try {
        await exportPicture(this, format, this.chosen);
      } catch (error) {
        toast(error.message);
      }
    };
    const build = () => {
      const what = this.tools.select.selection.size ? "selection" : "board";
      const next = { system: "dark", dark: "light", light: "system" }[this.theme];
      $("menu-items").replaceChildren(
        item("list", "List of objects", () => sheet.toggle(panels.list)), item("fit", "Show all objects", () => this.fit()), item("search", "Find", () => this.finder.open()), element("hr"),
        item("download", `Save ${what} as PNG`, save("png")), item("download", `Save ${what} as SVG`, save("svg")), element("hr"),
        item("theme", { system: "Colors: same as system", dark: "Colors: dark", light: "Colors: light" }[this.theme], () => this.#setTheme(next)),
        ...(this.presenter.frames.length ? [item("present", "Present the frames", () => this.presenter.begin())] : []),
        item("people", "Invite people", () => showInvitation(this.board)), item("lock", "This connection", () => showConnection(this.board)), item("help", "Keyboard shortcuts", () => showHelp(this.isViewer)));
    };
    const close = attachPopup($("menu"), $("menu-items"), build);
  }

  #attachPage() {
    new ResizeObserver(() => this.#resize()).observe(this.boardElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#setTheme(this.theme));
    addEventListener("keydown", (event) => this.#keyPressed(event));
    addEventListener("keyup", (event) => { if (event.code === "Space") this.#setSpace(false); });
    addEventListener("blur", () => this.#setSpace(false));
    addEventListener("pointerdown", () => document.body.classList.remove("keys"), true);
    // The keyboard of a phone covers the bottom of the page.
    const view = visualViewport;
    const showKeyboard = () => document.documentElement.style.setProperty("--keyboard", `${Math.max(0, Math.round(innerHeight - view.height - view.offsetTop))}px`);
    view.addEventListener("resize", showKeyboard);
    view.addEventListener("scroll", showKeyboard);
    // If the page is closed while the user draws or types, the stroke or the text is still added to the board.
    addEventListener("pagehide", () => {
      this.input.end();
      this.stopTyping();
    });
  }

  /** The ids of the selected objects, or of all objects if none is selected, from bottom to top. */
  get chosen() {
    const { selection } = this.tools.select;
    return this.scene.items.map(({ id }) => id).filter((id) => !selection.size || selection.has(id));
  }

  #saying;

  /** Says the position of the selected object when the user has stopped moving it with keys. */
  #sayPlace() {
    clearTimeout(this.#saying);
    this.#saying = setTimeout(() => {
      const [object] = this.tools.select.objects;
      if (!object) return;
      const { width, height } = shapeOf(object), [x, y] = object.centerPosition;
      say(`at ${Math.round(x)}, ${Math.round(y)}; ${Math.round(width * object.scale)} by ${Math.round(height * object.scale)}`);
    }, 400);
  }

  #setSpace(isDown) {
    this.input.isSpaceDown = isDown;
    this.boardElement.classList.toggle("space", isDown);
  }

  #keyPressed(event) {
    if (event.key === "Tab") {
      document.body.classList.add("keys");
      const isNeighbor = event.target === this.boardElement && this.tools.select.selection.size && this.selectNeighbor(event.shiftKey ? -1 : 1);
      if (isNeighbor) return event.preventDefault();
    }
    const isFind = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "f";
    if (isFind && $("screen").hidden && !document.querySelector("dialog")) {
      event.preventDefault();
      return this.finder.open();
    }
    if (event.target.closest?.("input, textarea, dialog") || !$("screen").hidden || isComposing(event)) return;
    if (this.presenter.keyPressed(event.key)) return event.preventDefault();
    const { select } = this.tools, { selection } = select;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const isCommand = event.ctrlKey || event.metaKey;
    // Space and Enter press the button that has the focus.
    const isButton = event.target.closest?.("button, a");
    const run = (() => {
      const { shiftKey, altKey, code } = event;
      if (isCommand) {
        // On a Mac, Alt changes the key to another character.
        const style = altKey && { KeyC: () => this.clipboard.copyStyle(), KeyV: () => this.clipboard.pasteStyle() }[code];
        if (style) return selection.size && !this.isViewer ? style : null;
        const reorder = (one, all) => () => this.reorder(shiftKey ? all : one);
        const [forward, backward] = [reorder("bringForward", "bringToFront"), reorder("sendBackward", "sendToBack")];
        const view = {
          a: () => this.selectAll(),
          "+": () => this.zoomBy(1.25), "=": () => this.zoomBy(1.25), "-": () => this.zoomBy(0.8), 0: () => this.zoomBy(1 / this.camera.zoom),
        };
        const way = ARROWS[key], [form, ...others] = select.objects, step = shiftKey ? 20 : 2;
        const isSized = way && form && !others.length && form.form && !hasPoints(form) && !this.isViewer;
        if (isSized) return () => this.attempt(() => {
          const { size, centerPosition } = resized(form, [1, 1], way.map((direction) => direction * step));
          this.board.resize(form.id, size, centerPosition);
          this.#sayPlace();
        });
        const edit = { z: () => this.undo(shiftKey), y: () => this.undo(true) };
        const arrange = {
          g: () => shiftKey ? this.ungroup() : this.group(),
          d: () => this.duplicate(), k: () => { if (!select.isLocked) askLink(this); }, l: shiftKey && (() => this.toggleLock()), "]": forward, "}": forward, "[": backward, "{": backward,
        };
        const change = edit[key] ?? (arrange[key] && (() => selection.size && arrange[key]()));
        return view[key] ?? (this.isViewer ? null : change);
      }
      if (altKey) {
        if (ARROWS[key] && !shiftKey) return selection.size === 1 && !this.isViewer && !select.isLocked ? () => this.grow(ARROWS[key]) : null;
        const changeTheme = () => this.#setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
        const always = shiftKey && { KeyC: () => this.clipboard.copyPicture(), KeyD: changeTheme }[code];
        if (always || this.isViewer || select.isLocked) return always;
        const way = selection.size && (shiftKey ? DISTRIBUTIONS : ALIGNMENTS).find(({ key }) => code === `Key${key}`);
        return way && (() => this.arrange(way));
      }
      if (shiftKey && code === "Digit1") return () => this.fit();
      if (shiftKey && code === "Digit2") return () => this.fit(this.chosen);
      const page = { PageUp: 1, PageDown: -1 }[key], { width, height } = this.camera;
      // In a panel, these keys scroll the panel.
      if (page && !event.target.closest?.("#sheet")) return () => shiftKey ? this.panBy(page * width, 0) : this.panBy(0, page * height);
      if (key === "/") return () => this.finder.open();
      if (key === "?") return () => showHelp(this.isViewer);
      const tool = Object.keys(TOOLS).find((name) => TOOLS[name][1].includes(key));
      if (!shiftKey && !this.isViewer && (key === "m" || tool === "pen")) return () => this.setMarker(key === "m");
      if (tool && !shiftKey) return () => this.setTool(tool);
      if (key === "9" && !this.isViewer) return () => $("file").click();
      if (code === "Space" && !isButton) return () => this.#setSpace(true);
      if (key === "Escape") return () => { this.tools.cancel(); selection.size ? select.set([]) : this.sheet.name ? this.sheet.close() : this.setTool("select"); };
      if (key === "Enter" && FORM_TOOLS.includes(this.tool) && !isButton) return () => this.tools.current.add(this.camera.center);
      if (key === "Enter" && this.tool === "text" && !isButton) return () => this.editText(null, this.camera.center);
      if (key === "Enter" && !selection.size && event.target === this.boardElement) return () => { document.body.classList.add("keys"); this.selectNeighbor(1); };
      if (!selection.size || this.isViewer) return null;
      const direction = shiftKey && { KeyH: "horizontally", KeyV: "vertically" }[code];
      if (direction) return () => this.flip(direction);
      if (key === "c" && !shiftKey) return () => this.connect();
      if (key === "Enter" && selection.size === 1 && !isButton) return () => this.open([...selection][0]);
      if (key === "Delete" || key === "Backspace") return () => this.removeSelection();
      if (key === "s" && !shiftKey) return () => { if (!select.isLocked) this.toolbar.openStyle(); };
      const [dx, dy] = ARROWS[key] ?? [0, 0];
      const step = shiftKey ? 20 : 2;
      return dx || dy ? () => {
        this.attempt(() => this.board.move([...selection], [dx * step, dy * step]));
        this.#sayPlace();
      } : null;
    })();
    if (!run) return;
    event.preventDefault();
    run();
  }
}

/** Returns a frame around objects, with the position and size of an object. */
function commonFrame(objects) {
  const { left, top, right, bottom } = objects.map((object) => shapeOf(object).bounds).reduce(union);
  return { centerPosition: [(left + right) / 2, (top + bottom) / 2], scale: 1, angle: 0, size: [right - left, bottom - top] };
}

/** Returns the ink of an unfinished stroke: the committed points, then the points of the preview. */
function growingInk(object, preview) {
  const committed = object ? object.points.map(([x, y], index) => [x + object.centerPosition[0], y + object.centerPosition[1], object.pressure?.[index]]) : [];
  const first = preview?.first ?? committed.length;
  const points = first <= committed.length ? [...committed.slice(0, first), ...(preview?.points ?? [])] : committed;
  const ink = new Ink(object?.lineWidth ?? 5);
  for (const point of points) ink.add(point);
  const area = points.reduce((sum, [x, y]) => union(sum, { left: x, top: y, right: x, bottom: y }), null);
  return { ink, bounds: area && widened(area, object?.lineWidth ?? 5) };
}
