/** Presenting the frames of the board one after the other. Members who follow the presenter see the same frame. */

import { $, button, element } from "./dom.mjs";
import { say } from "./access.mjs";
import { shapeOf } from "./geometry.mjs";

const STEPS = { __proto__: null, ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, Enter: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Backspace: -1, Home: -Infinity, End: Infinity };

export class Presenter {
  #at = 0;
  #stage = element("div", { id: "stage", hidden: true });
  #number = element("span", { role: "status" });
  #bar;

  constructor(ui) {
    this.ui = ui;
    this.#bar = element("div.bar", { id: "presenting", role: "toolbar", ariaLabel: "Presentation", hidden: true },
      button("previous", "Previous frame", () => this.#show(this.#at - 1)), this.#number, button("next", "Next frame", () => this.#show(this.#at + 1)), button("close", "End the presentation (Esc)", () => this.end()));
    document.body.append(this.#stage, this.#bar);
  }

  get isOpen() { return !this.#bar.hidden; }
  /** The frames, in the order of the stack. */
  get frames() { return this.ui.board.order.map((id) => this.ui.board.objects.get(id)).filter(({ form }) => form === "frame"); }

  begin() {
    const { ui } = this, [selected] = ui.tools.select.objects, at = this.frames.findIndex(({ id }) => id === selected?.id);
    ui.setTool(ui.isViewer ? "hand" : "laser");
    ui.sheet.close();
    document.body.classList.add("presenting");
    this.#bar.hidden = this.#stage.hidden = false;
    this.#show(Math.max(at, 0));
    ui.boardElement.focus();
  }

  end() {
    document.body.classList.remove("presenting");
    this.#bar.hidden = this.#stage.hidden = true;
    this.ui.setTool(this.ui.isViewer ? "hand" : "select");
  }

  /** Handles a key; returns whether it belongs to the presentation. */
  keyPressed(key) {
    if (!this.isOpen) return false;
    if (key === "Escape") this.end();
    else if (STEPS[key]) this.#show(this.#at + STEPS[key]);
    else return false;
    return true;
  }

  #show(at) {
    const { frames, ui } = this;
    if (!frames.length) return this.end();
    this.#at = Math.min(Math.max(at, 0), frames.length - 1);
    const frame = frames[this.#at];
    this.#number.textContent = `${this.#at + 1} of ${frames.length}`;
    say([`Frame ${this.#at + 1} of ${frames.length}`, frame.text].filter(Boolean).join(": "));
    ui.showArea(shapeOf(frame).bounds);
  }

  /** Puts the opening around the present frame; called when the view changes. */
  place() {
    const frame = this.isOpen && this.frames[this.#at];
    if (!frame) return;
    const { centerPosition: [x, y], size: [width, height], scale } = frame, { camera } = this.ui;
    const [[left, top], [right, bottom]] = [-1, 1].map((side) => camera.toScreen([x + side * width * scale / 2, y + side * height * scale / 2]));
    // The tiles are on whole pixels, so a part of the frame's line could be inside the opening.
    Object.assign(this.#stage.style, { left: `${left + 1}px`, top: `${top + 1}px`, width: `${right - left - 2}px`, height: `${bottom - top - 2}px` });
  }
}
