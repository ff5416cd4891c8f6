/**
 * The layers of the board. The lower layer has tiles with the committed objects: the browser moves and scales the tiles, and a
 * change redraws only the damaged part. The live layer above it has everything that changes in each frame.
 */

import { CanvasPainter, drawObject, inkColor, linesOf, overhang } from "./draw.mjs";
import { Grounds } from "./grounds.mjs";
import { cornersOf, rectangle, shapeOf, touches, union, widened } from "./geometry.mjs";

/**
 * The limits for drawing tiles in one frame: the time in milliseconds, and the number of objects, which falls while frames
 * take longer than `LATE`. The time alone is not enough, because browsers paint only after the frame.
 */
const BUDGET = 7;
/** The time limit while a gesture moves many objects. During such a gesture, the number of objects has its lowest limit. */
const CROWDED_BUDGET = 4;
/**
 * The time of `BUDGET` that must be left when a repair of a tile begins, and the minimum time for new tiles after all
 * repairs.
 */
const [REPAIR_TIME, LEAST_TIME] = [3, 2];
/** The number of changed objects above which the next frame begins to draw them, because the change itself took time. */
const CROWD = 32;
const OBJECTS = [24, 2000];
const LATE = 24;
/**
 * If drawing a damaged rectangle is more work (`workOf`) than this number, its tile is drawn again in the background.
 */
const AT_ONCE = 300;
/** The number of paths of a drawing above which it is drawn in steps, and the maximum number of paths on the live layer. */
const STEPS = 8, LIVE_PATHS = 400;
/** Changes of a stroke with more points than `LONG` are drawn only once in `PAUSE` milliseconds. */
const LONG = 2048, PAUSE = 1000;
const TILES = 120;
const ZOOMS = [0.02, 16];
const STEP = 128;

/** The visible part of the board: the position of its top left corner, and the number of CSS pixels per board unit. */
export class Camera {
  x = 0;
  y = 0;
  zoom = 1;
  width = 1;
  height = 1;

  toScreen([x, y]) { return [(x - this.x) * this.zoom, (y - this.y) * this.zoom]; }
  toBoard([x, y]) { return [x / this.zoom + this.x, y / this.zoom + this.y]; }
  get center() { return this.toBoard([this.width / 2, this.height / 2]); }
  get area() { return rectangle([this.x, this.y], this.toBoard([this.width, this.height])); }

  pan(dx, dy) {
    this.x -= dx / this.zoom;
    this.y -= dy / this.zoom;
  }

  zoomTo(zoom, [x, y] = [this.width / 2, this.height / 2]) {
    const [left, top] = this.toBoard([x, y]);
    this.zoom = Math.min(Math.max(zoom, ZOOMS[0]), ZOOMS[1]);
    this.x = left - x / this.zoom;
    this.y = top - y / this.zoom;
  }

  /** Shows an area with a margin for the bars, which are narrow at the sides. */
  fit(area, most = 1, margin = 80) {
    const room = [this.width - 2 * Math.min(margin, 0.07 * this.width), Math.max(this.height - 2 * margin, this.height / 2)];
    const zoom = Math.min(room[0] / (area.right - area.left || 1), room[1] / (area.bottom - area.top || 1), most);
    this.zoom = Math.min(Math.max(zoom, ZOOMS[0]), ZOOMS[1]);
    this.x = (area.left + area.right - this.width / this.zoom) / 2;
    this.y = (area.top + area.bottom - this.height / this.zoom) / 2;
  }
}

export class Scene {
  /** The objects that are drawn on tiles, from bottom to top: `{id, object, bounds, changedAt, index}`. */
  items = [];
  /** The order of the board for which the items were made. */
  #order = null;
  #byID = new Map();
  #grounds = new Grounds();
  /** The objects that are not drawn, with the palettes for the ground below them. */
  #hidden = new Map();
  #changed = new Set();
  #level = null;
  /** The level of the previous zoom, which is shown until the tiles of the new level are complete. */
  #previous = null;
  #zoomedAt = 0;
  #lastZoom = 0;
  #lastFrame = 0;
  #quota = 200;
  #isPutOff = false;
  /** The long unfinished strokes that changed, and the timer after which they are drawn again. */
  #long = new Set();
  #longTimer = null;

  /**
   * `host` contains the tiles, `looks` is passed to `drawObject`; `isShown(object)` returns whether to draw an object, and
   * `schedule()` requests a frame.
   */
  constructor(host, board, camera, looks, isShown, schedule) {
    Object.assign(this, { host, board, camera, isShown, schedule });
    this.looks = Object.assign(Object.create(looks), { on: (object) => this.paletteOf(object) });
    this.update(board.order);
  }

  invalidate(ids) {
    for (const id of ids) this.#changed.add(id);
  }

  /** Invalidates changed objects, unless only their selection changed, which tiles do not show. */
  objectsChanged(ids) {
    for (const id of ids) {
      const item = this.#byID.get(id), object = this.board.objects.get(id);
      if (item && object && looksSame(item.object, object)) item.object = object;
      else if (item && object?.points?.length > LONG && performance.now() - item.changedAt < PAUSE) this.#drawLater(id);
      else this.#changed.add(id);
    }
  }

  /**
   * Draws a stroke of many points later. Otherwise, a member could stop this page by changing such a stroke all the
   * time.
   */
  #drawLater(id) {
    this.#long.add(id);
    this.#longTimer ??= setTimeout(() => {
      this.#longTimer = null;
      this.invalidate(this.#long);
      this.#long.clear();
      this.schedule();
    }, PAUSE);
  }

  /** Sets the objects that are not drawn on tiles, because they are drawn on the live layer. */
  hide(ids) {
    const hidden = new Map([...ids].map((id) => [id, this.#hidden.get(id) ?? (this.#byID.has(id) ? this.paletteOf({ id }) : null)]));
    this.invalidate(this.#hidden.keys());
    this.#hidden = hidden;
    this.invalidate(hidden.keys());
  }

  /** Returns the palette for the ground below an object. */
  paletteOf({ id }) {
    const item = this.#byID.get(id), { palette } = this.looks;
    return item ? this.#grounds.palette(item, palette) : this.#hidden.get(id) ?? palette;
  }

  /** Returns the palette for the ground of an area of the board. */
  paletteIn(area) { return this.#grounds.below(area, Infinity, this.looks.palette); }

  reset() {
    for (const id of this.#hidden.keys()) this.#hidden.set(id, null);
    for (const level of [this.#level, this.#previous]) level?.root.remove();
    this.#level = this.#previous = null;
  }

  /** Brings tiles up to date. Returns whether more work is left for the next frame. */
  frame(now) {
    const { size } = this.#changed;
    if (size) this.update(this.board.order, this.#changed);
    this.#changed = new Set();
    this.#isPutOff = size > CROWD && !this.#isPutOff;
    return this.#render(now);
  }

  /** Adds the areas of texts whose color may have changed with the fills and photos in the damaged areas. */
  #widen(damage, covered) {
    if (!covered) return;
    for (const { object, bounds } of this.items) if (object.type === "text" && touches(bounds, covered)) damage.push(bounds);
  }

  /** Whether a gesture moves so many objects on the live layer that tiles must wait. */
  get isCrowded() { return this.board.isPatient && this.#hidden.size > CROWD; }

  #isDrawn(id) {
    const object = this.board.objects.get(id);
    return object !== undefined && !this.#hidden.has(id) && this.isShown(object);
  }

  #item(id, index) {
    const object = this.board.objects.get(id);
    return { id, object, bounds: boundsOf(object), changedAt: performance.now(), index };
  }

  update(order, changed = new Set(order)) {
    if (order === this.#order && [...changed].every((id) => this.#byID.has(id) === this.#isDrawn(id))) return this.#replace(changed);
    this.#order = order;
    const { objects } = this.board;
    const ids = order.filter((id) => this.#isDrawn(id));
    const added = [];
    const damage = [];
    let covered = null;
    // New objects on top of all others are drawn over the tiles.
    let first = ids.length;
    while (first > 0 && !this.#byID.has(ids[first - 1])) first -= 1;
    for (const id of changed) {
      const old = this.#byID.get(id);
      if (old) damage.push(old.bounds);
      if (!this.#grounds.has(id)) continue;
      covered = union(covered, old.bounds);
      this.#grounds.delete(id);
    }
    const isAppend = !damage.length && first === this.items.length;
    if (!isAppend) this.items = [];
    const before = this.#byID;
    if (!isAppend) this.#byID = new Map();
    for (let index = isAppend ? first : 0; index < ids.length; index += 1) {
      const id = ids[index];
      let item = before.get(id);
      const object = objects.get(id);
      if (!item || item.object !== object) {
        item = this.#item(id, index);
        if (index < first) damage.push(item.bounds);
        changed.add(id);
      }
      item.index = index;
      this.items.push(item);
      this.#byID.set(id, item);
      if (index >= first) added.push(item);
      if (!changed.has(id)) continue;
      this.#grounds.set(item);
      if (index < first && this.#grounds.has(id)) covered = union(covered, item.bounds);
    }
    this.#widen(damage, covered);
    for (const level of [this.#level, this.#previous]) level?.repaint(this, damage, added);
  }

  /** Takes over changes of drawn objects. Jobs of tiles keep the list with which they began. */
  #replace(changed) {
    const damage = [];
    let covered = null;
    this.items = this.items.slice();
    for (const id of changed) {
      const old = this.#byID.get(id);
      if (!old) continue;
      const item = this.#item(id, old.index), wasCover = this.#grounds.has(id);
      this.#grounds.set(item);
      if (wasCover || this.#grounds.has(id)) covered = union(covered, union(old.bounds, item.bounds));
      this.items[old.index] = item;
      this.#byID.set(id, item);
      damage.push(old.bounds, item.bounds);
    }
    this.#widen(damage, covered);
    for (const level of [this.#level, this.#previous]) level?.repaint(this, damage, []);
  }

  #render(now) {
    const { camera, host } = this;
    const scale = devicePixelRatio || 1;
    const isOther = this.#level && (this.#level.zoom !== camera.zoom || this.#level.scale !== scale);
    if (isOther && this.#lastZoom !== camera.zoom) this.#zoomedAt = now;
    this.#lastZoom = camera.zoom;
    if (!this.#level || (isOther && now - this.#zoomedAt > 120)) {
      if (this.#level?.isShown) {
        this.#previous?.root.remove();
        this.#previous = this.#level;
      } else this.#level?.root.remove();
      this.#level = new Level(host, camera, scale);
    }
    const level = this.#level;
    const isLate = now - this.#lastFrame > LATE;
    this.#quota = Math.min(Math.max(this.#quota * (isLate ? 0.6 : 1.15), OBJECTS[0]), OBJECTS[1]);
    this.#lastFrame = now;
    const limits = { until: performance.now() + (this.#isPutOff ? 0 : this.isCrowded ? CROWDED_BUDGET : BUDGET), least: this.#isPutOff ? 0 : LEAST_TIME, objects: this.isCrowded ? OBJECTS[0] : this.#quota };
    this.#previous?.repair(this, limits.until);
    const isComplete = level.render(this, camera, limits);
    for (const one of [level, this.#previous]) one?.place(camera);
    if (level.zoom === camera.zoom && (level.isReady || !this.#previous)) {
      level.show();
      this.#previous?.root.remove();
      this.#previous = null;
    }
    return !isComplete || level.zoom !== camera.zoom;
  }
}

/** Returns whether two values of an object differ only in the member who selected it. */
function looksSame(one, other) {
  for (const key in other) if (key !== "selectedBy" && one[key] !== other[key]) return false;
  for (const key in one) if (!(key in other) && key !== "selectedBy" && one[key] !== undefined) return false;
  return true;
}

export function boundsOf(object, placement = object) {
  const { width, height, bounds, margin: reach } = shapeOf(object);
  const more = object.type === "game" ? 6 : object.type === "text" ? overhang(object) : reach + (object.text ? overhang(object) : 0);
  const margin = (1 + more) * Math.max(placement.scale, 1);
  if (placement === object) return widened(bounds, margin);
  return widened(cornersOf(placement, [width, height]).map((corner) => rectangle(corner, corner)).reduce(union), margin);
}

/** The work of drawing an object: the number of its paths if it is ink, otherwise 1. */
const workOf = (object) => isInk(object) ? Math.max(1, linesOf(object).length) : 1;
const isInk = ({ type, form }) => type === "drawing" && !form;

/** The tiles of one zoom factor. Positions of tiles are relative to an origin on the board. */
class Level {
  #tiles = new Map();
  #finished = 0;
  /** The factor by which the tiles are scaled until the tiles of the new zoom factor are drawn. */
  #factor = 1;
  isShown = false;
  /** Whether all visible tiles have been drawn, although some may have to be drawn again. */
  isReady = false;

  constructor(host, camera, scale) {
    this.zoom = camera.zoom;
    this.scale = scale;
    this.origin = [camera.x, camera.y];
    /** The side of a tile in pixels of the screen, and in CSS pixels. */
    this.pixels = Math.round((scale > 1.5 ? 256 : 512) * scale);
    this.side = this.pixels / scale;
    this.root = document.createElement("div");
    this.root.className = "level";
    this.root.hidden = true;
    host.append(this.root);
  }

  show() {
    this.isShown = true;
    this.root.hidden = false;
  }

  place(camera) {
    const factor = camera.zoom / this.zoom, { scale } = this;
    const [x, y] = [camera.x, camera.y].map((value, axis) => Math.round((this.origin[axis] - value) * camera.zoom * scale) / scale);
    this.root.style.transform = `translate(${x}px,${y}px)`;
    if (factor === this.#factor) return;
    this.#factor = factor;
    for (const tile of this.#tiles.values()) if (tile.canvas) this.#position(tile, tile.canvas);
  }

  /** Places a tile on whole pixels of the screen, so that tiles neither overlap nor leave gaps, even while they are scaled. */
  #position({ column, row }, canvas) {
    const edge = (index) => Math.round(index * this.pixels * this.#factor) / this.scale;
    const [x, y] = [edge(column), edge(row)], [width, height] = [edge(column + 1) - x, edge(row + 1) - y];
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px`, transform: `translate(${x}px,${y}px)` });
  }

  #area(column, row) {
    const unit = this.side / this.zoom, [left, top] = this.origin;
    return { left: left + column * unit, top: top + row * unit, right: left + (column + 1) * unit, bottom: top + (row + 1) * unit };
  }

  /** Draws damaged areas of tiles again, until the time `until`. */
  repair(scene, until, tiles = this.#tiles.values()) {
    for (const tile of tiles) if (tile.damage && performance.now() < until - REPAIR_TIME) this.#repair(scene, tile, tile.damage);
  }

  /** Draws missing tiles and damaged areas within the limits. Returns whether all visible tiles are complete. */
  render(scene, camera, limits) {
    const unit = this.side / this.zoom, { left, top, right, bottom } = camera.area;
    const index = (value, start) => Math.floor((value - start) / unit);
    const [first, last] = [index(left, this.origin[0]), index(right, this.origin[0])];
    const [upper, lower] = [index(top, this.origin[1]), index(bottom, this.origin[1])];
    // After zooming out, an old level would need too many tiles.
    const visible = (last - first + 1) * (lower - upper + 1);
    if (visible > TILES && camera.zoom < this.zoom) return true;
    const shown = [];
    for (let row = upper; row <= lower; row += 1) {
      for (let column = first; column <= last; column += 1) {
        const key = `${column} ${row}`;
        let tile = this.#tiles.get(key);
        if (!tile) tile = { area: this.#area(column, row), column, row, canvas: null, isStale: true, job: null, turn: 0, damage: null };
        // The map is in the order of use, so this drops the least recently used tiles.
        this.#tiles.delete(key);
        this.#tiles.set(key, tile);
        shown.push(tile);
      }
    }
    this.repair(scene, limits.until, shown);
    const stale = shown.filter(({ isStale }) => isStale);
    // A tile that is damaged all the time does not delay the others.
    limits.until = Math.max(limits.until, performance.now() + limits.least);
    // The tile that was finished last comes last, so that a tile that changes all the time does not delay the others.
    stale.sort((one, other) => one.turn - other.turn);
    for (const tile of stale) if (!this.#work(scene, tile, limits)) break;
    this.isReady = stale.every(({ canvas }) => canvas);
    for (const [key, tile] of this.#tiles) {
      if (this.#tiles.size <= Math.max(TILES, visible)) break;
      tile.canvas?.remove();
      this.#tiles.delete(key);
    }
    return shown.every(({ isStale, damage }) => !isStale && !damage);
  }

  /**
   * Draws a tile on a new canvas, and replaces the old canvas when the tile is complete. Returns whether the tile is
   * complete.
   */
  #work(scene, tile, limits) {
    const job = tile.job ??= { items: scene.items, next: 0, steps: null, painter: this.#painter(tile, scene.looks), damage: null };
    const { items, painter } = job, isOver = () => limits.objects <= 0 || performance.now() > limits.until;
    while (job.next < items.length) {
      const { bounds, object } = items[job.next];
      if (touches(bounds, tile.area)) {
        if (isOver()) return false;
        limits.objects -= 1;
        if (job.steps || (isInk(object) && linesOf(object).length > STEPS)) {
          job.steps ??= painter.inkInSteps(object, inkColor(object, scene.looks), tile.area);
          while (!job.steps.next().done) {
            limits.objects -= 1;
            if (isOver()) return false;
          }
          job.steps = null;
        } else drawObject(painter, object, scene.looks);
      }
      job.next += 1;
    }
    const { canvas } = painter.context;
    this.#position(tile, canvas);
    if (tile.canvas) tile.canvas.replaceWith(canvas);
    else this.root.append(canvas);
    Object.assign(tile, { canvas, painter, isStale: false, job: null, turn: this.#finished += 1, damage: job.damage });
    return true;
  }

  #painter(tile, { palette, grid }) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = this.pixels;
    const context = canvas.getContext("2d");
    const unit = this.zoom * this.scale;
    context.setTransform(unit, 0, 0, unit, -tile.area.left * unit, -tile.area.top * unit);
    const painter = new CanvasPainter(context, unit);
    painter.grid(grid, tile.area, this.zoom, palette.plain);
    return painter;
  }

  /** Draws new objects that are on top of all others, and notes the damaged areas, which the next frames repair. */
  repaint(scene, damage, added) {
    for (const tile of this.#tiles.values()) {
      const { job } = tile;
      // A job with the same list reaches the new objects later.
      if (tile.isStale && (!job || job.items === scene.items)) continue;
      const damaged = damage.filter((one) => touches(one, tile.area));
      const fresh = added.filter(({ bounds }) => touches(bounds, tile.area));
      const areas = damaged.concat(fresh.map(({ bounds }) => bounds));
      // When a job with an older list is complete, it repairs this area.
      if (job) job.damage = areas.reduce(union, job.damage);
      else if (damaged.length || (tile.damage && fresh.length)) tile.damage = areas.reduce(union, tile.damage);
      else if (fresh.reduce((sum, { object }) => sum + workOf(object), 0) > AT_ONCE) tile.isStale = true;
      else for (const { object } of fresh) drawObject(tile.painter, object, scene.looks);
    }
  }

  #repair(scene, tile, damage) {
    tile.damage = null;
    const { context } = tile.painter;
    const unit = this.zoom * this.scale, exact = widened(damage, 1 / this.zoom);
    // Clip to whole pixels, so that the edges of the part stay sharp. Lines next to the part may reach into its last pixels.
    const snap = (value, start, round) => round((value - start) * unit) / unit + start;
    const left = snap(exact.left, tile.area.left, Math.floor), top = snap(exact.top, tile.area.top, Math.floor);
    const right = snap(exact.right, tile.area.left, Math.ceil), bottom = snap(exact.bottom, tile.area.top, Math.ceil);
    const area = widened({ left, top, right, bottom }, 1 / unit);
    const items = scene.items.filter(({ bounds }) => touches(bounds, area) && touches(bounds, tile.area));
    if (items.reduce((sum, { object }) => sum + workOf(object), 0) > (scene.isCrowded ? CROWD : AT_ONCE)) {
      tile.isStale = true;
      return;
    }
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    context.clearRect(left, top, right - left, bottom - top);
    tile.painter.grid(scene.looks.grid, tile.area, this.zoom, scene.looks.palette.plain);
    for (const item of items) drawObject(tile.painter, item.object, scene.looks);
    context.restore();
  }
}

/**
 * The layer above the tiles: strokes that are being drawn, the selection, laser pointers.
 *
 * Its canvas is only as large as needed, because browsers compose the whole canvas again when a part of it changes.
 */
export class LiveLayer {
  /** The area that the canvas covers, and the area in it that is not empty, in CSS pixels. */
  #frame = null;
  #used = null;
  #smallFrames = 0;

  constructor(canvas, camera) {
    this.canvas = canvas;
    this.camera = camera;
    this.context = canvas.getContext("2d");
  }

  /** Clears the layer, and lets `body(painter)` draw in board units; `body` returns the area that it used. */
  draw(body) {
    this.#paint(body);
    const used = this.#used;
    if (!used) return;
    const { left, top, right, bottom } = this.#frame ?? {};
    const fits = used.left >= left && used.top >= top && used.right <= right && used.bottom <= bottom;
    const isSmall = 4 * (used.right - used.left + STEP) * (used.bottom - used.top + STEP) < (right - left) * (bottom - top);
    this.#smallFrames = isSmall ? this.#smallFrames + 1 : 0;
    if (fits && this.#smallFrames < 60) return;
    this.#resize(used);
    this.#paint(body);
  }

  #paint(body) {
    const { context, camera: { x, y, zoom, width, height } } = this, scale = devicePixelRatio || 1;
    const { left: originX, top: originY } = this.#frame ?? { left: 0, top: 0 };
    if (this.#used) {
      const { left, top, right, bottom } = this.#used;
      context.setTransform(scale, 0, 0, scale, -originX * scale, -originY * scale);
      context.clearRect(left, top, right - left, bottom - top);
    }
    const unit = zoom * scale;
    context.setTransform(unit, 0, 0, unit, (-x * zoom - originX) * scale, (-y * zoom - originY) * scale);
    const area = body(new CanvasPainter(context, unit, LIVE_PATHS));
    const visible = { left: 0, top: 0, right: width, bottom: height };
    const used = area && {
      left: Math.max((area.left - x) * zoom - 2, 0), top: Math.max((area.top - y) * zoom - 2, 0),
      right: Math.min((area.right - x) * zoom + 2, width), bottom: Math.min((area.bottom - y) * zoom + 2, height),
    };
    this.#used = used && touches(used, visible) && used.right > used.left && used.bottom > used.top ? used : null;
  }

  #resize({ left, top, right, bottom }) {
    const down = (value) => Math.floor(value / STEP) * STEP, up = (value) => Math.ceil(value / STEP) * STEP;
    this.#frame = { left: down(left), top: down(top), right: up(right), bottom: up(bottom) };
    this.#smallFrames = 0;
    const scale = devicePixelRatio || 1, { canvas } = this;
    const [width, height] = [this.#frame.right - this.#frame.left, this.#frame.bottom - this.#frame.top];
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px`, transform: `translate(${this.#frame.left}px,${this.#frame.top}px)` });
    this.#used = null;
  }

  reset() {
    this.#frame = this.#used = null;
    this.canvas.width = this.canvas.height = 1;
  }
}
