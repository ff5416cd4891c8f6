/** The context menu of the board. */

import { ALIGNMENTS, DISTRIBUTIONS, unitCount } from "./arrange.mjs";
import { button, element, icon } from "./dom.mjs";
import { askLink, openLink, REACTIONS } from "./badges.mjs";
import { openPopup } from "./panels.mjs";

export class ContextMenu {
  #root = element("div.popup.context", { role: "menu", ariaLabel: "Actions" });
  #close = () => {};
  #isPressed = false;

  constructor(ui) {
    this.ui = ui;
    document.body.append(this.#root);
    this.#root.oncontextmenu = (event) => event.preventDefault();
    // The finger that opened the menu can be above an action when the finger is lifted.
    this.#root.onpointerdown = () => { this.#isPressed = true; };
    this.#root.addEventListener("click", (event) => { if (event.detail && !this.#isPressed) event.stopPropagation(); }, true);
  }

  /** Opens the menu for the object at a place on the board in CSS pixels, or for the selection if there is no place. */
  open(place, hasFocus = false) {
    const { ui } = this, { select } = ui.tools;
    this.#close();
    this.#isPressed = false;
    ui.stopTyping();
    ui.tools.cancel();
    if (place && !select.covers(place)) {
      const object = ui.objectAt(place) ?? ui.formAround(place);
      if (object) ui.finishTool(ui.withGroup(object));
      else select.set([]);
    }
    this.#root.replaceChildren(...this.#rows(place ? ui.camera.toBoard(place) : ui.camera.center));
    this.#close = openPopup(this.#root, ui.boardElement, { hasFocus });
    const [x, y] = place ?? select.corner ?? [ui.camera.width / 2, ui.camera.height / 2];
    const { offsetWidth: width, offsetHeight: height } = this.#root;
    Object.assign(this.#root.style, { left: `${Math.max(8, Math.min(x + 4, innerWidth - width - 8))}px`, top: `${Math.max(8, Math.min(y + 4, innerHeight - height - 8))}px` });
  }

  #rows(at) {
    const { ui } = this, { select } = ui.tools, { objects, isLocked } = select, canChange = !ui.isViewer && !isLocked && objects.length > 0;
    const item = (name, label, run, keys = "") => this.#item(name, label, run, keys);
    const groups = objects.some(({ groups }) => groups?.length), units = unitCount(objects);
    const icons = (list, least, keys) => units >= least && element("div.choices", {}, ...list.map((way) => this.#button(way.icon, `${way.label} (${keys}${way.key})`, () => ui.arrange(way))));
    const parts = [
      [
        canChange && item("cut", "Cut", () => ui.clipboard.copySelection(true), "Ctrl+X"),
        objects.length > 0 && item("copy", "Copy", () => ui.clipboard.copySelection(), "Ctrl+C"),
        !ui.isViewer && item("paste", "Paste", () => ui.clipboard.paste(at), "Ctrl+V"),
        objects.length > 0 && item("image", "Copy as a picture", () => ui.clipboard.copyPicture(), "Alt+Shift+C"),
      ],
      canChange && [
        item("style", "Style…", () => ui.toolbar.openStyle(), "S"),
        item("duplicate", "Duplicate", () => ui.duplicate(), "Ctrl+D"),
      ],
      canChange && [
        item("front", "Bring to the front", () => ui.reorder("bringToFront"), "Ctrl+Shift+]"), item("back", "Send to the back", () => ui.reorder("sendToBack"), "Ctrl+Shift+["),
        objects.length === 2 && units === 2 && item("arrow", "Connect with an arrow", () => ui.connect(), "C"),
        units > 1 && item("group", "Group", () => ui.group(), "Ctrl+G"), groups && item("ungroup", "Ungroup", () => ui.ungroup(), "Ctrl+Shift+G"),
        icons(ALIGNMENTS, 2, "Alt+"), icons(DISTRIBUTIONS, 3, "Shift+Alt+"),
        item("flip-x", "Flip horizontally", () => ui.flip("horizontally"), "Shift+H"), item("flip-y", "Flip vertically", () => ui.flip("vertically"), "Shift+V"),
      ],
      objects.length === 1 && [
        objects[0].link && item("link", "Open the link", () => openLink(ui, objects[0].link)),
        canChange && objects[0].type === "photo" && item("crop", "Crop", () => ui.crop()),
        canChange && objects[0].crop && item("image", "Show the whole photo", () => ui.attempt(() => ui.board.crop(objects[0].id, [0, 0, 1, 1]))),
        canChange && item("link", objects[0].link ? "Change the link…" : "Link…", () => askLink(ui), "Ctrl+K"),
        !ui.isViewer && item("chat", "Comment…", () => ui.comment(objects[0].id)),
        !ui.isViewer && element("div.choices", {}, ...REACTIONS.map((reaction) => this.#vote(objects[0], reaction))),
      ],
      objects.length > 0 && !ui.isViewer && [
        item(isLocked ? "unlock" : "lock", isLocked ? "Unlock" : "Lock", () => ui.toggleLock(), "Ctrl+Shift+L"),
        canChange && item("trash", "Delete", () => ui.removeSelection(), "Del"),
      ],
      [
        item("select", "Select all", () => ui.selectAll(), "Ctrl+A"),
        !ui.isViewer && !isLocked && item("frame", objects.length ? "Frame around the selection" : "Draw a frame", () => ui.frame(), objects.length ? "" : "F"),
        item("lasso", "Select with a loop", () => { ui.setTool("select"); select.isLasso = true; }, "Alt+drag"),
        !objects.length && item("fit", "Show all objects", () => ui.fit(), "Shift+1"),
        !objects.length && item("search", "Find", () => ui.finder.open(), "Ctrl+F"),
      ],
    ];
    return parts.filter(Boolean).map((part) => part.filter(Boolean)).filter(({ length }) => length)
      .flatMap((part, index) => index ? [element("hr"), ...part] : part);
  }

  #run(run) {
    return () => {
      this.#close();
      run();
    };
  }

  #item(name, label, run, keys) {
    return element("button.item", { type: "button", role: "menuitem", onclick: this.#run(run), ariaKeyShortcuts: keys }, icon(name), element("span.grow", {}, label), element("kbd", { ariaHidden: "true" }, keys));
  }

  #vote({ id, votes = [] }, reaction) {
    const { ui } = this, isGiven = votes.some((one) => one.reaction === reaction && one.members.includes(ui.board.me.id)), label = `${isGiven ? "Withdraw the vote" : "Vote"} ${reaction}`;
    return element("button.icon", { type: "button", role: "menuitemcheckbox", ariaChecked: String(isGiven), ariaLabel: label, title: label, onclick: this.#run(() => ui.vote(id, reaction, !isGiven)) }, reaction);
  }

  #button(name, label, run) {
    const made = button(name, label, this.#run(run));
    made.setAttribute("role", "menuitem");
    return made;
  }
}
