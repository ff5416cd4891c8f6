/** The objects of the board as a list, for screen readers and for finding things. */

import { button, element, icon } from "./dom.mjs";
import { gameName } from "./games.mjs";

const KINDS = { text: "Text", drawing: "Drawing", photo: "Photo", game: "Game" };
/** The number of rows that are added at once. */
const PAGE = 100;

export class ObjectList {
  name = "list";
  title = "Objects";
  root = element("div.panel.scroll");
  #limit = PAGE;
  #timer;

  constructor(ui) { this.ui = ui; }

  onOpen() {
    this.#limit = PAGE;
    this.#build();
  }

  /** Called when objects changed; the list is built again at most twice a second. */
  update() {
    if (this.ui.sheet.name === this.name) this.#timer ??= setTimeout(() => this.#build(), 500);
  }

  #build() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const { ui } = this, { board } = ui;
    const focus = document.activeElement?.closest?.("[data-id]")?.dataset.id;
    // The newest and topmost objects come first.
    const order = ui.scene.items.map(({ id }) => id).reverse();
    const rows = order.slice(0, this.#limit).map((id) => this.#row(board.objects.get(id)));
    const more = order.length > this.#limit && button(null, "Show more", () => { this.#limit += PAGE; this.#build(); }, { text: "Show more", kind: "button.quiet" });
    this.root.replaceChildren(element("p.note", {}, order.length === 1 ? "1 object" : `${order.length} objects, topmost first`), element("ul.objects", {}, ...rows), more || "");
    if (focus) this.root.querySelector(`[data-id="${focus}"] button`)?.focus();
  }

  #row(object) {
    const { ui } = this, { id, type } = object;
    const what = type === "text" ? object.text : type === "game" ? gameName(object) : KINDS[type] ?? "Object";
    const kind = KINDS[type] ?? "Object";
    const author = object.author === ui.board.me.id ? "you" : object.author ? ui.name(object.author) : "";
    const about = [type === "text" || type === "game" ? kind : "", author && `by ${author}`, object.isLocked && "locked"].filter(Boolean).join(", ");
    const go = element("button.grow", { type: "button", onclick: () => ui.goTo(id), ariaLabel: `Go to ${kind}: ${what.slice(0, 100)} ${about}` },
      icon({ text: "text", photo: "image", game: "game" }[type] ?? "pen"), element("span", {}, element("b", { dir: "auto" }, what.slice(0, 100)), element("small", {}, about)));
    const remove = ui.isViewer ? null : button("trash", `Delete ${kind}: ${what.slice(0, 40)}`, () => ui.attempt(() => ui.board.remove([id])));
    return element("li", { "data-id": id }, go, remove);
  }
}
