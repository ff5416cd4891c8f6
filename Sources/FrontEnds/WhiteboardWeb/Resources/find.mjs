/** Find: searches texts, labels, chat lines and names, and shows one result after the other. */

import { $, button, element, isComposing } from "./dom.mjs";
import { shapeOf } from "./geometry.mjs";
import { isolated } from "./ids.mjs";

/** Returns words without differences of case, accents and spaces. */
const plain = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/\s+/g, " ");

export class Finder {
  #field = element("input", { type: "search", placeholder: "Find", ariaLabel: "Find texts, labels, chat and names", dir: "auto", enterKeyHint: "search", maxLength: 200 });
  #status = element("small", { role: "status" });
  #root;
  /** The result that is shown: its kind and id. */
  #shown = null;
  #before = null;

  constructor(ui) {
    this.ui = ui;
    this.#field.oninput = () => this.#find(0);
    this.#root = element("form.bar", { id: "find", role: "search", hidden: true, onsubmit: (event) => { event.preventDefault(); this.#find(1); } },
      this.#field, this.#status, button("forward", "Previous result (Shift+Enter)", () => this.#find(-1)),
      button("backward", "Next result (Enter)", () => this.#find(1)), button("close", "Close (Esc)", () => this.close()));
    this.#root.onkeydown = (event) => {
      if (isComposing(event)) return;
      if (event.key === "Escape") this.close();
      else if (event.key === "Enter" && event.shiftKey) this.#find(-1);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    document.body.append(this.#root);
  }

  get isOpen() { return !this.#root.hidden; }

  open() {
    const { ui } = this;
    ui.stopTyping();
    if (!this.isOpen) this.#before = document.activeElement;
    this.#root.hidden = false;
    this.#field.focus();
    this.#field.select();
    if (this.#field.value) this.#find(0);
  }

  close() {
    this.#root.hidden = true;
    this.#shown = null;
    (this.#before?.isConnected && this.#before !== document.body ? this.#before : this.ui.boardElement).focus({ preventScroll: true });
  }

  /** Returns everything that has the words: objects from top to bottom, then chat lines, then members. */
  #results(words) {
    const { ui } = this, { board } = ui, has = (text) => text && plain(text).includes(words);
    const found = ui.scene.items.map(({ object }) => object).filter(({ text }) => has(text));
    const place = new Map(found.map((object) => [object, shapeOf(object).bounds]));
    found.sort((one, other) => place.get(one).top - place.get(other).top || place.get(one).left - place.get(other).left);
    const members = [board.me, ...board.members.values()].filter(({ role, name }) => role !== "relay" && has(name));
    return [
      ...found.map(({ id, text }) => ({ kind: "object", id, text })),
      ...board.chat.filter(({ author, text, name }) => !ui.hidden.has(author) && (has(text) || has(name))).map(({ id, text }) => ({ kind: "chat", id, text })),
      ...members.map(({ id, name }) => ({ kind: "member", id, text: name })),
    ];
  }

  /**
   * Shows the next or previous result; with a step of 0, keeps the current result if it still has the words, or else
   * shows the first result.
   */
  #find(step) {
    const words = plain(this.#field.value.trim());
    const results = words ? this.#results(words) : [], count = results.length;
    const before = results.findIndex(({ kind, id }) => kind === this.#shown?.kind && id === this.#shown.id);
    const at = before < 0 ? (step < 0 ? count - 1 : 0) : (before + step + count) % count;
    this.#shown = results[at] ?? null;
    const place = count ? `${at + 1} of ${count}` : words ? "Not found" : "";
    this.#status.textContent = place;
    this.#status.ariaLabel = count ? `${place}: ${isolated(this.#shown.text.slice(0, 100))}` : place;
    if (this.#shown) this.#show(this.#shown);
  }

  #show({ kind, id }) {
    const { ui } = this, { sheet, panels } = ui;
    if (kind === "object") {
      ui.reveal(id);
      if (ui.tool !== "select") ui.setTool("select");
      // A search must not take an object that another member has selected.
      ui.tools.select.set(ui.board.isHeld(id) ? [] : [id]);
      return;
    }
    const panel = kind === "chat" ? panels.chat : panels.members;
    if (sheet.name !== panel.name) sheet.toggle(panel);
    panel.reveal(id);
    this.#field.focus();
  }
}

/** Marks an element of a list that was found, and scrolls to it. */
export function markFound(row) {
  for (const other of document.querySelectorAll(".found")) other.classList.remove("found");
  row?.classList.add("found");
  row?.scrollIntoView({ block: "center" });
}
