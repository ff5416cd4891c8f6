/** Converts input from pointers, the wheel and gestures to calls of the current tool. */

/** The distance in CSS pixels up to which a press counts as a tap. */
const SLOP = 4;
const DOUBLE_TAP = 350;
/** The time after a pen lifts in which new touches are ignored, in milliseconds. The palm often moves or lands again. */
const PALM = 500;
/** The time after which a finger that does not move opens the menu, in milliseconds. */
const LONG_PRESS = 500;

/**
 * Passes input on the board to `tools`:
 * `down(place, event)`, `move(places, event)`, `up(place, event)`, `cancel()`, `interrupt()`, `doubleTap(place, event)`, `hover(place)`.
 * Places are in CSS pixels; `places` has all points since the last call, as `[x, y, pressure]`.
 *
 * Two fingers move and zoom the board. After the first use of a pen, one finger also moves the board, so that a palm does not
 * draw. A press of the pen ends all touches. Touches that begin while the pen is down, or shortly after it lifts, are ignored.
 */
export class Input {
  #down = new Map();
  #mode = "idle";
  #start = null;
  #lastTap = { time: 0, place: [0, 0] };
  #penLifted = -Infinity;
  hasPen = false;
  isSpaceDown = false;

  constructor(board, ui, tools) {
    Object.assign(this, { board, ui, tools });
    const listen = (name, handler) => board.addEventListener(name, handler, { passive: false });
    listen("pointerdown", (event) => this.#pressed(event));
    listen("pointermove", (event) => this.#moved(event));
    listen("pointerup", (event) => this.#released(event));
    listen("pointercancel", (event) => this.#cancelled(event));
    listen("pointerleave", () => this.tools.hover(null));
    listen("wheel", (event) => this.#wheel(event));
    listen("contextmenu", (event) => this.#menuWanted(event));
    // Safari on a Mac has its own events for a pinch on a trackpad.
    let before = 1;
    listen("gesturestart", (event) => { event.preventDefault(); before = 1; });
    listen("gesturechange", (event) => {
      event.preventDefault();
      if (this.#down.size) return;
      this.ui.zoomBy(event.scale / before, this.#place(event));
      before = event.scale;
    });
  }

  #place(event) {
    const { left, top } = this.board.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  #point(event) {
    const hasPressure = event.pointerType === "pen" && event.pressure > 0;
    return [...this.#place(event), ...(hasPressure ? [event.pressure] : [])];
  }

  #pressed(event) {
    if (event.target.closest("textarea, .badges")) return;
    const place = this.#place(event);
    const isTouch = event.pointerType === "touch";
    const isDown = (type) => [...this.#down.values()].some((held) => held.type === type);
    if (isTouch && (isDown("pen") || event.timeStamp - this.#penLifted < PALM)) return;
    if (event.pointerType === "pen") {
      this.hasPen = true;
      if (isDown("touch")) {
        this.#stop();
        this.#down.clear();
      }
    }
    // Keep the focus in the text field until the tool has handled the press.
    event.preventDefault();
    if (!this.board.contains(document.activeElement)) this.board.focus({ preventScroll: true });
    try {
      this.board.setPointerCapture(event.pointerId);
    } catch {
      // The pointer no longer exists.
    }
    this.#down.set(event.pointerId, { place, type: event.pointerType });
    if (this.#down.size > 1) {
      if (this.#mode !== "pinch") this.#stop();
      this.#mode = "pinch";
      return;
    }
    this.#start = { place, event, isDrag: false };
    const isPan = event.button === 1 || this.isSpaceDown || this.ui.tool === "hand" || (isTouch && this.hasPen && this.ui.tool !== "text");
    this.#mode = isPan ? "pan" : event.button === 0 ? "waiting" : "idle";
    // A finger may be the first of two, so the tool starts only when the finger moves. A tap that closes a menu does nothing else.
    if (this.#mode === "waiting" && !isTouch && !event.closesPopup) this.#begin();
    clearTimeout(this.#pressing);
    const canHold = isTouch && ["select", "hand"].includes(this.ui.tool) && !event.closesPopup;
    if (canHold) this.#pressing = setTimeout(() => this.#held(event.pointerId), LONG_PRESS);
  }

  #pressing;

  /** Opens the menu, because a finger did not move. */
  #held(id) {
    const place = this.#down.size === 1 && this.#down.get(id)?.place, { place: before } = this.#start;
    if (!place || Math.hypot(place[0] - before[0], place[1] - before[1]) > SLOP) return;
    this.#stop();
    this.ui.menu.open(place);
  }

  /** Opens the menu for a right click or the menu key. `#held` handles a long press. */
  #menuWanted(event) {
    event.preventDefault();
    if (event.pointerType === "touch" || this.#mode === "tool") return;
    const isKey = event.button !== 2;
    this.ui.menu.open(isKey ? null : this.#place(event), isKey);
  }

  #begin() {
    this.#mode = "tool";
    this.tools.down(this.#point(this.#start.event), this.#start.event);
  }

  #moved(event) {
    const place = this.#place(event);
    const held = this.#down.get(event.pointerId);
    if (!held) {
      if (event.pointerType !== "touch") this.tools.hover(place);
      return;
    }
    const before = held.place;
    held.place = place;
    if (this.#mode === "pan") this.ui.panBy(place[0] - before[0], place[1] - before[1]);
    if (this.#mode === "pinch") this.#pinch(event.pointerId, before);
    if (this.#mode === "waiting" && Math.hypot(place[0] - this.#start.place[0], place[1] - this.#start.place[1]) > SLOP) this.#begin();
    if (this.#mode !== "tool") return;
    const events = event.getCoalescedEvents?.() ?? [];
    this.tools.move((events.length ? events : [event]).map((one) => this.#point(one)), event);
  }

  #pinch(id, before) {
    const [one, other] = [...this.#down.entries()].filter(([key]) => key !== id).concat([[id, this.#down.get(id)]]).slice(-2);
    const [fixed, moving] = [one[1].place, other[1].place];
    const spread = (a, b) => Math.max(Math.hypot(a[0] - b[0], a[1] - b[1]), 10);
    this.ui.panBy((moving[0] - before[0]) / 2, (moving[1] - before[1]) / 2);
    this.ui.zoomBy(spread(fixed, moving) / spread(fixed, before), [(fixed[0] + moving[0]) / 2, (fixed[1] + moving[1]) / 2]);
  }

  /** Removes a pointer that is no longer down; returns whether it was used. */
  #lift({ pointerId, pointerType, timeStamp }) {
    const isUsed = this.#down.delete(pointerId);
    if (isUsed && pointerType === "pen") this.#penLifted = timeStamp;
    return isUsed;
  }

  #released(event) {
    if (!this.#lift(event)) return;
    const place = this.#place(event);
    if (this.#mode === "waiting" && !this.#start.event.closesPopup) this.#begin();
    if (this.#mode === "tool") {
      const before = this.#lastTap;
      const isTap = Math.hypot(place[0] - this.#start.place[0], place[1] - this.#start.place[1]) <= SLOP;
      this.tools.up(this.#point(event), event);
      const isSecond = isTap && event.timeStamp - before.time < DOUBLE_TAP
        && Math.hypot(place[0] - before.place[0], place[1] - before.place[1]) < 24;
      if (isSecond) this.tools.doubleTap(place, event);
      this.#lastTap = { time: isTap && !isSecond ? event.timeStamp : 0, place };
    }
    // After a pinch, ignore the finger that is still down.
    this.#mode = this.#down.size && this.#mode === "pinch" && this.#down.size > 1 ? "pinch" : "idle";
  }

  #cancelled(event) {
    if (!this.#lift(event)) return;
    if (this.#mode === "tool") this.tools.interrupt();
    this.#mode = "idle";
  }

  /** Ends the gesture when the page is hidden, because no event then reports that a pointer was lifted. */
  end() {
    if (this.#mode === "tool") this.tools.interrupt();
    this.#down.clear();
    this.#mode = "idle";
  }

  #stop() {
    if (this.#mode === "tool") this.tools.cancel();
    this.#mode = "idle";
  }

  #wheel(event) {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? innerHeight : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.ctrlKey || event.metaKey) {
      this.ui.zoomBy(Math.exp(-Math.min(Math.max(dy, -60), 60) / 100), this.#place(event));
    } else if (event.shiftKey && !dx) this.ui.panBy(-dy, 0);
    else this.ui.panBy(-dx, -dy);
  }
}
