import { BoardError } from "./errors.mjs";
import { COPY_OFFSET } from "./geometry.mjs";
import { hex, memberColors, memberID, sortKey, visible } from "./ids.mjs";
import { BoardReplica, newKey } from "./replica.mjs";

const TYPING_TIME = 2000;
const PURGE_INTERVAL = 60_000;
const COMPARISON_DELAY = 100;
const PHOTO_BYTES = 32 << 20;
/** The session name of a member without a name. */
const GUEST = "Guest";
const ROLES = [null, "editor", "viewer", "relay"];
/** The forms that are determined by points. */
const POINTED = new Set(["line", "arrow"]);
const COLORS = new Set(["color", "fill", "textColor"]);
/** The edits that change no object, or only its selection. */
const UNCOUNTED = new Set(["select", "deselect", "deselectAll", "beginStep", "endStep", "presence", "profile"]);
const NOTICES = new Set(["full", "photosLeftOut", "diverged", "unrecorded", "deletedUnseen", "violation", "clock"]);

/**
 * A board in this page: a replica, its storage, and its session.
 *
 * All coordinates are in board units, with y down. Editing functions take effect immediately, even without a session,
 * and throw a `BoardError` if the edit is refused. Ids of members are 64 hexadecimal digits.
 *
 * Events, each with `detail`:
 * - `objects` `{changed: Set, removed: Set}`: ids of objects. Changes within one task of the page are one event.
 * - `previews` `{changed: Set}`: ids of strokes whose preview changed or ended.
 * - `members`, `chat`, `state`, `settings`: the property of the same name changed.
 * - `photo` `{sha256}`: the bytes of a photo arrived.
 * - `selectionLost` `{id, to}`: the member `to` selected the object at the same time, and now holds it.
 * - `notice` `{code, member, message}`: a warning for the user, such as `full` or `photosLeftOut`.
 */
export class Board extends EventTarget {
  /**
   * The objects on the board by id, in the JSON form of the program. A change replaces the value. In addition, an object has
   * its `author`, a game has its `view`, and a stroke may have its `pressure` (0 to 255 for each point).
   */
  objects = new Map();
  /** The ink that other members are drawing: stroke id to `{member, first, points}`; `points` begin at index `first`. */
  previews = new Map();
  /** The other members: id to `{id, name, icon, role, cursor, pointer, viewport, isTyping, color}`. */
  members = new Map();
  /**
   * The chat lines, in order: `{id, author, name, icon, text, sentAt, about, isResolved}`; `sentAt` in milliseconds since 1970. A comment
   * is `about` an object.
   */
  chat = [];
  settings = { title: null, background: null, grid: null, language: null };
  /** Whether the board has an owner, who decides which members can edit it (AUT-9). */
  isOwned = false;
  me = { id: "", name: "", icon: "", role: "editor", color: "" };
  /**
   * `connection`: `connecting`, `open`, `offline`, `refused` or `removed`. `code` and `message`: the reason why the connection is
   * not open, which stays while the session connects again; `message` is null before the first attempt has failed. `retryAt`: the
   * time of the next attempt.
   * `name`: the name of the session. `isSynced`: whether all members have the same board. `pending`: the number of objects
   * and chat lines that this member changed, and that no other member has. `storage`: `ok`, `full` or `off`.
   * `isSecondTab`: whether another tab stores this board. `isElsewhere`: whether another tab has taken over the board, so
   * that this tab has closed it. `failure`: the error that stopped the board.
   */
  state = {
    connection: "offline", code: null, message: null, retryAt: null, name: null, isSynced: false, pending: 0, storage: "off",
    isSecondTab: false, isElsewhere: false, failure: null,
  };
  canUndo = false;
  canRedo = false;

  #replica;
  #session = null;
  #log = null;
  #releaseLock = null;
  /** The photos, if there is no storage: SHA-256 to Blob. */
  #photos = new Map();
  #order = [];
  /** The sort keys of the objects, and the objects that were added, reordered or removed since `#order` was sorted. */
  #places = new Map();
  #moved = new Set();
  #chatKeys = new Map();
  #typing = new Map();
  #events = null;
  #purging;
  #comparing = null;
  #isClosed = false;
  /**
   * The ids of the objects and chat lines that this member changed and no other member has, and the number of such
   * changes from earlier visits.
   */
  #changed = new Set();
  #changedBefore = 0;
  /** The ids of the objects and chat lines that the current edit has changed so far; null if there is no edit. */
  #edited = null;
  #reason;

  /**
   * Opens a board: restores the stored changes, and connects.
   *
   * If the board is open in another tab, this tab is a separate member with its own key, and stores nothing.
   *
   * Without an `origin`, or with `ended` (the `code` and `message` of a removal), there is no session. `board` is the id
   * in bytes, `codeKey` is the key K of the link, and `module` the compiled `whiteboard.wasm`. Without `storage`, everything
   * stays in memory. `reason` is the host's reason for an earlier removal of this guest; undefined if there was none. Tests pass `makeSession`.
   */
  static async open({
    origin = null, board, codeKey, keys, name = "", module, storage = null, transport = "auto",
    sessionName = null, ended = null, reason, makeSession = null,
  }) {
    const opened = new Board();
    opened.isOwned = board[0] === 0x6f && board[1] === 0x77;
    opened.state.name = sessionName;
    opened.#reason = reason;
    await opened.#open(board, keys, module, storage);
    if (name) {
      try { opened.setName(name); } catch { opened.me.name = ""; }
    }
    if (ended) Object.assign(opened.state, { connection: "removed", ...ended });
    else if (makeSession || origin) {
      makeSession ??= (await import("./session.mjs")).GuestSession;
      opened.#connect(makeSession, { origin, board, codeKey, keys: opened.#replica.key, name: name || GUEST, transport });
    }
    return opened;
  }

  /** The ids of all objects, from bottom to top. Do not change the array. */
  get order() {
    if (this.#moved.size) {
      const places = this.#places, kept = this.#order.filter((id) => !this.#moved.has(id));
      // Sorting takes little time, because most of the array is sorted.
      this.#order = [...kept, ...[...this.#moved].filter((id) => places.has(id))].sort((one, other) => places.get(one) < places.get(other) ? -1 : 1);
      this.#moved.clear();
    }
    return this.#order;
  }

  /** Connects immediately, instead of at `state.retryAt`. */
  reconnect() { this.#session?.connect(); }

  /**
   * Asks the host for a link to show to others, with the role "editor" or "viewer".
   *
   * @returns {Promise<{link: string, expires?: string, qr?: string}>} Rejects with a message for the user; `isFinal` if the host refuses.
   */
  async invitation(role) {
    let response;
    try {
      response = await this.#session.invitation(role);
    } catch {
      throw new Error("The host cannot be reached now. Try again when the page is connected.");
    }
    // An older host does not have this address.
    const tooOld = response.status === 404 && "The host’s program is too old to invite people from this page. Ask the host for a link.";
    if (response.ok) return response.json();
    throw Object.assign(new Error(tooOld || (await response.text()).trim() || "The host did not answer."), { isFinal: [403, 404].includes(response.status) });
  }

  /** Whether changes of lines that are bound to moved objects will be reported later. */
  get isReporting() { return this.#replica.isReporting; }
  /** Whether reports of lines that are bound to moved objects may be late, because the page shows these lines without the reports. */
  get isPatient() { return this.#replica.isPatient; }
  set isPatient(value) { this.#replica.isPatient = value; }

  get digest() { return this.#replica.digest; }

  /** Returns the bytes of a photo; null if they are not available, or cannot be read. */
  async photo(sha256) { return this.#readPhoto(sha256).catch(() => null); }

  /** Returns whether another member has selected an object. */
  isHeld(id) {
    const holder = this.objects.get(id)?.selectedBy;
    return Boolean(holder) && holder !== this.me.id;
  }

  /**
   * Returns the objects that no other member has selected. If there are none, returns all objects, and the board
   * refuses to edit them.
   */
  notHeld(ids) {
    const free = ids.filter((id) => !this.isHeld(id));
    return free.length ? free : ids;
  }

  /** Begins a stroke that other members see while it is drawn. The stroke is one undo step. Returns its id. */
  beginStroke({ lineWidth = 5, color = null } = {}) {
    return this.#edit({ do: "beginStroke", lineWidth, color: number(color) }).ids[0];
  }

  /** Adds points to a stroke, each `[x, y]` or `[x, y, pressure]` with a pressure from 0 to 1. */
  extendStroke(id, points) { this.#edit({ do: "extendStroke", id, ink: ink(points) }); }

  /** Ends a stroke. A stroke without points is deleted. */
  endStroke(id) { this.#edit({ do: "endStroke", id }); }

  cancelStroke(id) { this.#edit({ do: "cancelStroke", id }); }

  /** Erases everything within `radius` of a path; returns the strokes that lost a part. */
  erase(points, radius) { return this.#edit({ do: "erase", points: flat(points), radius }).ids; }


  createDrawing(points, { lineWidth = 5, color = null } = {}) {
    return this.#edit({ do: "createDrawing", ink: ink(points), lineWidth, color: number(color) }).ids[0];
  }

  /**
   * Creates a form: `rectangle`, `rounded`, `ellipse`, `diamond` and `note` have a `size`; `line` and `arrow` have
   * `points` relative to the position. `style` has the keys that `restyle` has, and `text` is the label. If `connects`,
   * ends that lie in objects are bound to these objects.
   */
  createForm(form, [x, y], { size, points, text = "", lineWidth = 2, color = null, connects = false, ...style } = {}) {
    const shape = points ? { points: flat(points), connects } : size ? { size } : {};
    return this.#edit({ do: "createForm", form, at: [x, y], ...shape, text: string(text), lineWidth, color: number(color), style: styled(style) }).ids[0];
  }

  /** Creates a form that reaches from one point to another. The ends of an arrow are bound as with `createForm`, unless `connects` is false. */
  createShape(form, from, to, { connects = true, ...style } = {}) {
    if (!Array.isArray(from) || !Array.isArray(to)) throw new BoardError("bad-argument");
    const [[x, y], [u, v]] = [from, to], center = [(x + u) / 2, (y + v) / 2];
    if (POINTED.has(form)) return this.createForm(form, center, { ...style, connects: connects && form === "arrow", points: [from, to].map(([a, b]) => [a - center[0], b - center[1]]) });
    return this.createForm(form, center, { ...style, size: [Math.max(Math.abs(u - x), 1), Math.max(Math.abs(v - y), 1)] });
  }

  /** Creates a text around a point; a text with an automatic width has its upper left corner there. */
  createText(text, [x, y], { color = null, isAutoWidth = false, ...style } = {}) {
    return this.#edit({ do: "createText", text: string(text), [isAutoWidth ? "from" : "at"]: [x, y], color: number(color), style: styled(style) }).ids[0];
  }

  /**
   * Replaces the text or label of an object; keeps the changes that other members made since its text was `base`. Edits within a second
   * are one undo step.
   */
  setText(id, text, base = this.objects.get(id)?.text ?? "") {
    return this.#edit({ do: "setText", id, text: string(text), base: string(base) }).isChanged;
  }

  /** Adds a JPEG or PNG. The longest side of the photo is 200 units. Returns its id. */
  async createPhoto(bytes, [x, y]) {
    const blob = bytes instanceof Blob ? bytes : new Blob([bytes]);
    if (blob.size === 0 || blob.size > PHOTO_BYTES) throw new BoardError("photo-bytes");
    const content = new Uint8Array(await blob.arrayBuffer());
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
    const { ids } = this.#make(() => this.#replica.createPhoto(hash, content, x, y), ({ ids }) => ids);
    this.#keepPhoto(hex(hash), content);
    return ids[0];
  }

  /** Adds `wordle` or `connect-four`. `opponent` is a member; if null, the first other member that makes a move. */
  createGame(game, [x, y], { opponent = null } = {}) {
    return this.#edit({ do: "createGame", game: string(game), at: [x, y], member: opponent }).ids[0];
  }

  /** Makes a move: a word in Wordle; a column from 1 to 7, or `resign`, in Connect Four. */
  play(id, move) { this.#edit({ do: "play", id, text: string(move) }); }

  // Arranging; `ids` may be one id, and may contain groups

  /** Selects objects; if `isTaking`, even objects that other members have selected. */
  select(ids, { isTaking = false } = {}) { this.#edit({ do: "select", ids: list(ids), isTaking }); }
  /** Deselects objects; without an argument, all objects that this member selected. */
  deselect(ids) { this.#edit(ids === undefined ? { do: "deselectAll" } : { do: "deselect", ids: list(ids) }); }
  move(ids, [dx, dy]) { this.#edit({ do: "move", ids: list(ids), by: [dx, dy] }); }
  /** Scales objects about a pivot; by default, their common center. */
  scale(ids, factor, { pivot = null, keepsLineWidth = false } = {}) {
    this.#edit({ do: "scale", ids: list(ids), factor, pivot, keepsLineWidth });
  }
  /** Rotates objects clockwise about a pivot; by default, their common center. */
  rotate(ids, radians, { pivot = null } = {}) { this.#edit({ do: "rotate", ids: list(ids), angle: radians, pivot }); }
  /**
   * Changes how objects are drawn: `change` has keys of the objects in `objects`, from `color` to `isAutoWidth`. A color is null
   * for the default color. Skips objects that do not have a property.
   */
  restyle(ids, change) { this.#edit({ do: "restyle", ids: list(ids), style: styled(change) }); }
  /** Sets the size of a form, photo or text, before scaling, and its center unless that is null. */
  resize(id, [width, height], center = null) { this.#edit({ do: "resize", id, size: [width, height], at: center }); }
  /** Replaces the points of a line or arrow; `points` are positions on the board. */
  setPoints(id, points) { this.#edit({ do: "setPoints", id, points: flat(points) }); }
  /** Binds an end of a line or arrow to the object that contains the end, if there is such an object. */
  connect(id, isEnd) { this.#edit({ do: "connect", id, isEnd }); }
  /** Releases an end of a line or arrow from the object to which it is bound. */
  release(id, isEnd) { this.#edit({ do: "bind", id, isEnd }); }
  /** Binds an end of a line or arrow to the object `id` of a binding as in `objects`. */
  bind(id, isEnd, { id: to, anchor, isExact = false }) { this.#edit({ do: "bind", id, isEnd, to, at: anchor, isExact }); }
  /** Moves objects and groups so that they meet at an edge: `left`, `center`, `right`, `top`, `middle` or `bottom`. */
  align(ids, edge) { this.#edit({ do: "align", ids: list(ids), to: string(edge) }); }
  /** Makes the gaps between objects and groups equal: `horizontally` or `vertically`. */
  distribute(ids, axis) { this.#edit({ do: "distribute", ids: list(ids), to: string(axis) }); }
  setLocked(ids, isLocked) { this.#edit({ do: "lock", ids: list(ids), isLocked: Boolean(isLocked) }); }
  group(ids) { return this.#edit({ do: "group", ids: list(ids) }).ids[0]; }
  ungroup(ids) { this.#edit({ do: "ungroup", ids: list(ids) }); }
  remove(ids) { this.#edit({ do: "remove", ids: list(ids) }); }
  /**
   * Copies objects; returns the ids of the copies, in the order of `ids`. If `by` is given, each copy is exactly at
   * this distance from its original. Otherwise, the copies are at the default distance, or at a multiple of this
   * distance if one of the copies would lie exactly on an object.
   */
  duplicate(ids, by = null) { return this.#edit({ do: "duplicate", ids: list(ids), by: by ?? COPY_OFFSET, isExact: by !== null }).ids; }
  bringToFront(ids) { this.#edit({ do: "reorder", ids: list(ids), to: "front" }); }
  sendToBack(ids) { this.#edit({ do: "reorder", ids: list(ids), to: "back" }); }
  bringForward(ids) { this.#edit({ do: "reorder", ids: list(ids), to: "forward" }); }
  sendBackward(ids) { this.#edit({ do: "reorder", ids: list(ids), to: "backward" }); }

  /** Begins an undo step of several edits, such as a drag; `endStep` must follow. */
  beginStep(label = "") { this.#edit({ do: "beginStep", text: string(label) }); }
  endStep() { this.#edit({ do: "endStep" }); }
  /**
   * Undoes the last step; returns the number of later steps that were skipped because others have since changed their
   * objects.
   */
  undo() { return this.#edit({ do: "undo" }).skipped ?? 0; }
  redo() { return this.#edit({ do: "redo" }).skipped ?? 0; }

  /** Sends a chat line; `about` is the object on which it comments. */
  sendChat(text, about = null) { return this.#edit({ do: "chat", text: string(text), name: this.me.name, icon: this.me.icon, about }).ids[0]; }
  /** Marks a comment as settled or open. */
  resolve(id, isResolved) { this.#edit({ do: "resolve", id, isResolved }); }
  /** Gives an object a vote with a reaction, such as an emoji, or withdraws the vote. */
  vote(id, reaction, isGiven) { this.#edit({ do: "vote", id, text: string(reaction), isGiven }); }
  /** Sets the link of objects: an address with https, or `#` and the id of an object; null removes it. */
  setLink(ids, link) { this.#edit({ do: "link", ids: list(ids), text: link }); }
  /** Shows a part of a photo: `[left, top, right, bottom]` as fractions of its width and height. */
  crop(id, box) { this.#edit({ do: "crop", id, box }); }
  /** Mirrors objects and their positions: `horizontally` or `vertically`. */
  flip(ids, direction) { this.#edit({ do: "flip", ids: list(ids), to: string(direction) }); }

  /** Sets the display name; at most 64 bytes in UTF-8. */
  setName(name) { this.setProfile(name, this.me.icon); }

  setProfile(name, icon = "") {
    this.#edit({ do: "profile", name: string(name), icon: string(icon) });
    Object.assign(this.me, { name, icon });
    if (this.#session) this.#session.name = name || GUEST;
    this.#emit("members");
  }

  /**
   * Shows others the pointer (`cursor` or null; `pointer` is "cursor" or "laser") and the view (`center`, `width`,
   * `height`).
   */
  showPresence({ cursor = null, pointer = "cursor", viewport = null } = {}) {
    if (this.#isClosed) return;
    const view = viewport && [...viewport.center, Math.round(viewport.width), Math.round(viewport.height)];
    this.#edit({ do: "presence", cursor, isLaser: pointer === "laser", view });
  }

  /** Sends and stores pending changes, and leaves the session until the browser resumes the page. */
  suspend() {
    this.#replica.leave();
    this.#session?.leave();
  }

  /**
   * Stores pending changes, leaves the session, and stops the board. Without `isSigner`, another tab already signs changes
   * with the same key, so this board signs no more.
   */
  async close(isSigner = true) {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (isSigner && !this.#replica.failure) {
      this.#deselectAll();
      this.#replica.leave();
      await this.#replica.settled();
    }
    this.#session?.close();
    this.#replica.close();
    clearInterval(this.#purging);
    clearTimeout(this.#comparing);
    for (const timer of this.#typing.values()) clearTimeout(timer);
    await this.#log?.close();
    this.#releaseLock?.();
  }

  async #open(board, keys, module, storage) {
    if (storage) {
      const onLost = (isSigner) => {
        this.#setState({ isElsewhere: true, connection: "offline" });
        this.close(isSigner);
      };
      this.#releaseLock = await storage.lock(board, () => onLost(true));
      this.state.isSecondTab = !this.#releaseLock;
      if (this.state.isSecondTab) keys = await newKey();
      else this.#log = await storage.log(board, {
        onState: (state) => this.#setState({ storage: state }),
        onLost: () => onLost(false),
        onDeleted: (sha256) => this.#replica.assetLost(sha256),
        keyframe: () => this.#replica.keyframe(),
        pending: () => this.state.pending,
      });
    }
    this.#replica = await BoardReplica.create(module, board, keys, (action) => this.#perform(action));
    this.me.id = this.#replica.member;
    this.#colorMembers();
    if (this.#log) {
      Object.assign(this.state, { storage: this.#log.state, pending: this.#changedBefore = this.#log.pending });
      this.#replica.restore(this.#log.takeStored());
      // If the browser stopped the earlier tab, the tab did not deselect its objects.
      this.#deselectAll();
      for (const sha256 of this.#log.photoHashes) this.#replica.assetStored(sha256);
    }
    this.#replica.readAll();
    this.#purging = setInterval(() => this.#replica.purge(), PURGE_INTERVAL);
  }

  /** Lets other members change what this member selected. */
  #deselectAll() {
    try { this.deselect(); } catch {
      // A viewer cannot change the board.
    }
  }

  #connect(makeSession, options) {
    options.onEvent = (event) => this.#handleSession(event);
    options.accepts = (member, name, size) => this.#replica.accepts(member, name, size);
    this.#session = makeSession.prototype ? new makeSession(options) : makeSession(options);
    this.#session.connect();
  }

  #edit(command) {
    // The replica commits new points of a stroke a moment later, so such an edit seems to change nothing.
    const named = ({ ids, isChanged }) => (!isChanged && command.do !== "extendStroke") || UNCOUNTED.has(command.do) ? [] : ids.length ? ids : [command.id ?? command.do];
    return this.#make(() => this.#replica.edit(command), named);
  }

  /**
   * Makes an edit, and counts the objects and chat lines that it changed. Its events can arrive later, because the replica
   * first waits for a signature. In this case, the ids that `named(result)` returns are counted.
   */
  #make(edit, named) {
    let result;
    const edited = this.#edited = new Set();
    try {
      result = edit();
    } finally {
      this.#edited = null;
    }
    if (!result) throw new BoardError("closed");
    if (result.code) {
      const holder = memberID(result.by);
      throw new BoardError(result.code, { ...result, by: holder, name: this.members.get(holder)?.name });
    }
    for (const id of edited.size ? edited : named(result)) this.#changed.add(id);
    this.#setState({ pending: this.#pendingCount });
    return result;
  }

  #perform(action) {
    switch (action.kind) {
      case "send": this.#session?.send(action.members, action.bytes); break;
      case "sendDatagram": this.#session?.sendDatagram(action.members, action.bytes); break;
      case "record":
        this.#log?.append(action.bytes);
        if (action.isOwn) this.#setState({ isSynced: false });
        break;
      case "sendAnswer": this.#sendAnswer(action); break;
      case "sendAsset": this.#sendAsset(action); break;
      case "event": this.#handle(action.value); break;
      case "failed":
        this.#session?.close();
        this.#setState({ failure: action.error, connection: "offline", isSynced: false });
        break;
      case "done": this.#update(); break;
      // This page does not use the data that other programs exchange on the board.
      default: break;
    }
  }

  #handle(event) {
    const from = memberID(event.from);
    switch (event.event) {
      case "object": this.#objectChanged(event, from); break;
      case "removed": {
        this.#edited?.add(event.id);
        this.#places.delete(event.id);
        this.#moved.add(event.id);
        this.objects.delete(event.id);
        this.#endPreview(event.id);
        const { changed, removed } = this.#pending().objects ??= { changed: new Set(), removed: new Set() };
        changed.delete(event.id);
        removed.add(event.id);
        break;
      }
      case "selected": {
        const object = this.objects.get(event.id);
        if (!object) break;
        this.#store({ ...object, selectedBy: from });
        break;
      }
      case "selectionLost": this.#emit("selectionLost", { id: event.id, to: from }); break;
      case "chat": this.#chatAdded({ ...event, author: from }); break;
      case "preview": {
        if (event.points.length) {
          this.previews.set(event.id, { member: from, first: event.first, points: event.points });
          this.#previewChanged(event.id);
        } else {
          this.#endPreview(event.id);
        }
        break;
      }
      case "profile": this.#memberChanged(from, { name: visible(event.name), icon: event.icon }); break;
      case "presence":
        this.#memberChanged(from, {
          cursor: event.points[0] ?? null,
          pointer: event.isLaser ? "laser" : "cursor",
          viewport: event.view && { center: event.view.slice(0, 2), width: event.view[2], height: event.view[3] },
        });
        break;
      case "role":
        if (from) this.#memberChanged(from, { role: ROLES[event.role] });
        else {
          this.me.role = event.role === 2 ? "viewer" : "editor";
          this.#emit("members");
        }
        break;
      case "settings": {
        const { title, background, grid = null, language } = event;
        this.settings = { title, background, grid, language };
        this.#emit("settings");
        break;
      }
      default:
        if (!NOTICES.has(event.event)) break;
        // The replica ignores the member until it joins again.
        if (event.event === "violation") this.#session?.reject(from, event.message);
        this.#emit("notice", { code: event.event, member: from, message: event.message ?? null });
    }
  }

  #objectChanged({ object, author, view = null, pressure = null }, from) {
    const old = this.objects.get(object.id);
    object.author = memberID(author);
    object.selectedBy = memberID(object.selectedBy);
    for (const votes of object.votes ?? []) votes.members = votes.members.map(memberID);
    if (view) object.view = withMembers(view);
    if (pressure) object.pressure = pressure;
    if (object.isFinished !== false) this.#endPreview(object.id);
    if (from && (old?.text ?? "") !== (object.text ?? "")) this.#showTyping(from);
    if (object.sha256 && object.isAssetAvailable && old && !old.isAssetAvailable) {
      this.#emit("photo", { sha256: object.sha256 });
    }
    this.#edited?.add(object.id);
    this.#store(object);
    if (old?.zIndex !== object.zIndex) this.#place(object);
  }

  #place({ id, zIndex }) {
    this.#places.set(id, `${zIndex} ${sortKey(id)}`);
    this.#moved.add(id);
  }

  #store(object) {
    this.objects.set(object.id, object);
    const { changed, removed } = this.#pending().objects ??= { changed: new Set(), removed: new Set() };
    changed.add(object.id);
    removed.delete(object.id);
  }

  #chatAdded({ id, author, name, icon, text, sentAt, order, about = null, isResolved = false }) {
    const known = this.#chatKeys.has(id) ? this.chat.findIndex((line) => line.id === id) : -1;
    if (known >= 0) {
      this.chat[known] = { ...this.chat[known], isResolved };
      return this.#emit("chat");
    }
    const key = order + sortKey(id);
    this.#chatKeys.set(id, key);
    this.#edited?.add(id);
    // Lines that were written while members were disconnected arrive late.
    const index = this.chat.findLastIndex((line) => this.#chatKeys.get(line.id) < key) + 1;
    this.chat.splice(index, 0, { id, author, name: visible(name ?? ""), icon, text, sentAt, about, isResolved });
    this.#emit("chat");
  }

  #endPreview(id) {
    if (this.previews.delete(id)) this.#previewChanged(id);
  }

  #previewChanged(id) { (this.#pending().previews ??= { changed: new Set() }).changed.add(id); }

  #memberChanged(id, change) {
    const member = this.members.get(id);
    // Profiles can arrive after their member has left.
    if (!member) return;
    Object.assign(member, change);
    this.#emit("members");
  }

  /**
   * Shows that a member is typing. The protocol has no such message, so a member that changes a text counts as typing.
   */
  #showTyping(id) {
    clearTimeout(this.#typing.get(id));
    this.#memberChanged(id, { isTyping: true });
    this.#typing.set(id, setTimeout(() => this.#memberChanged(id, { isTyping: false }), TYPING_TIME));
  }

  // The session

  #handleSession(event) {
    if (this.#isClosed) return;
    switch (event.kind) {
      case "state": {
        const { state: connection, retryAt = null, name = this.state.name } = event;
        let { code = null, message = null } = connection === "connecting" ? this.state : event;
        if (connection === "open") this.#reason = undefined;
        // The link no longer admits this guest, because the host has removed the guest.
        if (code === "wrong-code" && this.#reason !== undefined) [code, message] = ["kicked", this.#reason];
        this.#setState({ connection, code, message, retryAt, name });
        this.#update();
        break;
      }
      case "joined":
        this.members.set(event.member, {
          id: event.member, name: visible(event.name ?? ""), icon: "", role: "editor", cursor: null, pointer: "cursor",
          viewport: null, isTyping: false, color: "",
        });
        this.#colorMembers();
        this.#emit("members");
        this.#replica.memberJoined(event.member);
        break;
      case "left":
        this.members.delete(event.member);
        clearTimeout(this.#typing.get(event.member));
        this.#colorMembers();
        this.#emit("members");
        this.#replica.memberLeft(event.member);
        break;
      case "message": this.#replica.received(event.member, event.bytes, event.isReliable); break;
      case "progress": this.#replica.progressed(event.member, event.name); break;
      case "resource": this.#receiveResource(event); break;
      case "ended": this.#resourceFailed(event.member, parseName(event.name)); break;
      default: break;
    }
  }

  #colorMembers() {
    const colors = memberColors([this.me.id, ...this.members.keys()]);
    for (const member of [this.me, ...this.members.values()]) member.color = colors.get(member.id);
  }

  #resourceFailed(member, { request, sha256 }) {
    if (request !== undefined) this.#replica.answerFailed(member, request);
    else if (sha256) this.#replica.assetFailed(member, sha256);
  }

  async #receiveResource({ member, name, bytes }) {
    const { request, type, sha256 } = parseName(name);
    const content = bytes instanceof Blob ? new Uint8Array(await bytes.arrayBuffer()) : bytes;
    if (type === "whiteboard" && request !== undefined) {
      this.#replica.receivedAnswer(member, request, content);
    } else if (type === "imageData" && typeof sha256 === "string") {
      // The session verified only the hash that the sender stated. It may differ from the hash in the name.
      const hash = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", content)));
      if (hash === sha256 && this.#replica.isExpectedPhoto(member, sha256, content)) {
        this.#keepPhoto(sha256, content);
        this.#replica.assetStored(sha256, content.length);
      } else {
        this.#replica.assetFailed(member, sha256);
      }
    }
  }

  async #sendAnswer({ member, name, bytes }) {
    try {
      await this.#session?.sendResource(member, JSON.stringify(name), bytes);
    } catch {
      // The member asks again.
    }
    this.#replica.answerSent(member, name.request);
  }

  async #sendAsset({ member, sha256, name }) {
    // A photo that cannot be read now is not lost, because it may be readable later.
    const blob = await this.#readPhoto(sha256).catch(() => undefined);
    try {
      if (blob) await this.#session?.sendResource(member, JSON.stringify(name), blob);
      else {
        this.#replica.assetUnavailable(member, sha256);
        if (blob === null) this.#replica.assetLost(sha256);
      }
    } catch {
      // The member asks again.
    }
    this.#replica.assetSent(member, sha256);
  }

  #keepPhoto(sha256, content) {
    const blob = new Blob([content], { type: content[0] === 0xFF ? "image/jpeg" : "image/png" });
    if (this.#log) this.#log.addPhoto(sha256, blob);
    else this.#photos.set(sha256, blob);
  }

  async #readPhoto(sha256) { return this.#photos.get(sha256) ?? await this.#log?.photo(sha256) ?? null; }

  get #pendingCount() { return this.#changedBefore + this.#changed.size; }

  #update() {
    const undo = this.#replica?.undoState;
    if (!undo) return;
    this.#setState({ pending: this.#pendingCount });
    if (this.canUndo !== undo.canUndo || this.canRedo !== undo.canRedo) {
      Object.assign(this, undo);
      this.#emit("state");
    }
    this.#comparing ??= setTimeout(() => {
      this.#comparing = null;
      this.#compare();
    }, COMPARISON_DELAY);
  }

  #compare() {
    const sync = this.state.connection === "open" && this.#replica.syncState;
    if (!sync) return this.#setState({ isSynced: false });
    // While a board changes without a pause, members count as synced, although the last changes are still on their way.
    const { hasUnsent } = this.#session, isConfirmed = sync.isConfirmed && !hasUnsent;
    if (hasUnsent) this.#update();
    if (isConfirmed && this.state.pending) {
      this.#changed.clear();
      this.#changedBefore = 0;
      this.#log?.confirmed();
    }
    this.#setState({ isSynced: sync.isSynced, pending: this.#pendingCount });
  }

  #setState(change) {
    if (Object.entries(change).every(([key, value]) => this.state[key] === value)) return;
    Object.assign(this.state, change);
    this.#emit("state");
  }

  /** Returns the events that are dispatched at the end of the task. */
  #pending() {
    if (!this.#events) {
      this.#events = {};
      queueMicrotask(() => {
        const events = Object.entries(this.#events);
        this.#events = null;
        for (const [type, detail] of events) this.dispatchEvent(new CustomEvent(type, { detail }));
      });
    }
    return this.#events;
  }

  #emit(type, detail = null) {
    if (detail) queueMicrotask(() => this.dispatchEvent(new CustomEvent(type, { detail })));
    else this.#pending()[type] = null;
  }
}

// Arguments. JSON encodes NaN and infinity as null, so the replica refuses them as missing numbers.

function string(value) {
  if (typeof value !== "string") throw new BoardError("bad-argument");
  return value;
}

/** A color is `0xRRGGBBAA`, or text such as `#3366cc`; null is the default color. */
function number(color) {
  if (typeof color !== "string") return color;
  const digits = /^#([0-9a-f]{6})([0-9a-f]{2})?$/i.exec(color);
  if (!digits) throw new BoardError("bad-argument");
  return parseInt(digits[1] + (digits[2] ?? "ff"), 16);
}

/** The word "none" is the default color, because the replica skips values that are null. */
const styled = (change) => Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)
  .map(([key, value]) => [key, COLORS.has(key) ? number(value) ?? "none" : value]));

const list = (ids) => (typeof ids === "string" ? [ids] : [...ids]);

const flat = (points) => points.flatMap(([x, y]) => [x, y]);

/** Three numbers for each point: x, y, and the pressure from 0 to 255. */
const ink = (points) => points.flatMap(([x, y, pressure = 0]) => [x, y, Math.round(pressure * 255)]);

/** Replaces the ids of members in the view of a game. */
export function withMembers(view) {
  const convert = (key, value) => {
    if (["member", "turn"].includes(key)) return memberID(value);
    return ["players", "invited"].includes(key) && typeof value?.[0] === "string" ? value.map(memberID) : value;
  };
  return JSON.parse(JSON.stringify(view), convert);
}

/** Parses the name of a resource; returns an empty object if the name is not JSON. */
function parseName(name) {
  try {
    return JSON.parse(name) ?? {};
  } catch {
    return {};
  }
}
