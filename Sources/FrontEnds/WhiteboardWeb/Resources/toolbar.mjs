import { $, button, element } from "./dom.mjs";
import { attachPopup } from "./panels.mjs";
import { COLORS, StylePanel, WIDTHS } from "./style.mjs";
import { FORM_TOOLS } from "./tools.mjs";

export const TOOLS = {
  select: ["Select", "v1"], hand: ["Move the board", "h"], pen: ["Pen", "p7"], line: ["Line", "l6"], rectangle: ["Rectangle", "r2"],
  ellipse: ["Ellipse", "o4"], diamond: ["Diamond", "d3"], arrow: ["Arrow", "a5"], frame: ["Frame", "f"], note: ["Note", "n"], text: ["Text", "t8"], eraser: ["Eraser", "e0"], laser: ["Laser pointer", "k"],
};
export const VIEWER_TOOLS = ["select", "hand", "laser"];

export class Toolbar {
  #tools = new Map();
  #shape = "rectangle";

  constructor(ui) {
    this.ui = ui;
    const tool = (name) => {
      const [label, keys] = TOOLS[name];
      const made = button(name, label, () => ui.setTool(name), { kind: "button.icon.tool" });
      made.title = `${label} (${keys[0].toUpperCase()})`;
      made.ariaKeyShortcuts = [...keys].join(" ");
      this.#tools.set(name, made);
      return made;
    };
    const choose = (iconName, label, id) => button(iconName, label, () => $(id).click(), { kind: "button.icon.edit" });
    let photo = choose("image", "Add photos (9)", "file");
    // Chrome on Android offers the camera only for a separate input element.
    if (matchMedia("(pointer: coarse)").matches) photo = this.#flyout("Photos", "image", "edit", [photo, choose("camera", "Take a photo", "camera")]).root;
    const game = (name, label, iconName) => button(iconName, label, () => ui.addGame(name), { kind: "button.icon.edit" });
    this.#shapes = this.#flyout("Shapes", this.#shape, "edit", FORM_TOOLS.filter((name) => name !== "frame").map(tool));
    const more = this.#flyout("More tools", "more", "", [
      tool("hand"), tool("laser"), game("wordle", "New Wordle game", "wordle"), game("connect-four", "New Connect Four game", "four"),
    ]);
    this.#style = element("button.icon.swatch", { type: "button", ariaLabel: "Color and width", title: "Color and width" }, element("i"));
    this.#popup = element("div.popup.style", { role: "group", ariaLabel: "Color and width" });
    attachPopup(this.#style, this.#popup, () => this.#buildStyle());
    $("tools").append(tool("select"), tool("pen"), this.#shapes.root, tool("text"), tool("eraser"), photo, more.root,
      element("div.flyout.edit", {}, this.#style, this.#popup));
    for (const name of ["pen", "text", "eraser"]) this.#tools.get(name).classList.add("edit");
    this.#buildSelection();
    this.update();
  }

  #shapes;
  #style;
  #popup;
  #lock;
  #panel;

  /** Buttons in a row on a large screen; on a phone, one button that opens them. */
  #flyout(label, iconName, kind, buttons) {
    const opener = button(iconName, label, null, { kind: "button.icon.opener" });
    const popup = element("div.items", { role: "group", ariaLabel: label }, ...buttons);
    const close = attachPopup(opener, popup);
    popup.addEventListener("click", () => close());
    const root = element("div.flyout", {}, opener, popup);
    if (kind) root.classList.add(kind);
    return { root, opener };
  }

  /** Opens the panel with the style of the selection. */
  openStyle() { this.#panel.opener.click(); }

  update() {
    const { ui } = this, { tool } = ui;
    if (FORM_TOOLS.includes(tool) && tool !== "frame") this.#shape = tool;
    this.#shapes.opener.querySelector("use").setAttribute("href", `#i-${this.#shape}`);
    this.#shapes.opener.ariaPressed = String(FORM_TOOLS.includes(tool));
    this.#tools.get("pen").querySelector("use").setAttribute("href", ui.isMarker ? "#i-marker" : "#i-pen");
    for (const [name, made] of this.#tools) made.ariaPressed = String(name === tool);
    const { rgb } = tool === "pen" ? ui.penColor : ui.looks.palette.color(ui.style.color);
    this.#style.style.setProperty("--color", rgb);
    this.#style.style.setProperty("--width", `${8 + Math.min(ui.style[ui.widthName], 20) * 0.7}px`);
    document.body.classList.toggle("viewer", ui.isViewer);
    if (this.#popup.classList.contains("open")) this.#buildStyle();
  }

  #buildStyle() {
    const { ui } = this, { color, [ui.widthName]: lineWidth } = ui.style;
    const focus = document.activeElement?.ariaLabel;
    const choice = (label, kind, isChosen, run, variable, value) => {
      const made = element(`button.${kind}`, { type: "button", ariaLabel: label, title: label, ariaPressed: String(isChosen), onclick: run }, element("i"));
      made.style.setProperty(variable, value);
      return made;
    };
    const words = (present, names, set) => element("div.row.words", {}, ...names.map((label, index) =>
      element("button.quiet", { type: "button", ariaPressed: String(present === Boolean(index)), onclick: () => set(Boolean(index)) }, label)));
    const kinds = ui.tool === "eraser" ? words(ui.erasesParts, ["Whole objects", "Parts of lines"], (value) => ui.setErasing(value))
      : ui.tool === "pen" ? words(ui.isMarker, ["Pen", "Highlighter"], (value) => ui.setMarker(value)) : null;
    this.#popup.replaceChildren(
      element("div.colors", {}, ...COLORS.map(([label, rgb]) => choice(label, "dot", rgb === (color?.slice(0, 7) ?? null),
        () => ui.setStyle({ color: rgb && `${rgb}ff` }), "--color", ui.looks.palette.color(rgb).rgb))),
      element("div.row", {}, ...WIDTHS.map(([label, width]) => choice(label, "width", width === lineWidth,
        () => ui.setStyle({ lineWidth: width }), "--width", `${Math.max(2, width * 0.9)}px`))),
      ...(kinds ? [kinds] : []));
    [...this.#popup.querySelectorAll("button")].find(({ ariaLabel }) => focus && ariaLabel === focus)?.focus();
  }

  #buildSelection() {
    const { ui } = this;
    const change = (iconName, label, run) => button(iconName, label, run, { kind: "button.icon.change" });
    this.#lock = button("lock", "", () => ui.toggleLock());
    this.#panel = new StylePanel(ui);
    $("selection").append(
      this.#panel.root,
      button("copy", "Duplicate (Ctrl+D)", () => ui.duplicate()),
      change("front", "Bring to the front", () => ui.reorder("bringToFront")),
      change("back", "Send to the back", () => ui.reorder("sendToBack")),
      this.#lock,
      change("trash", "Delete (Del)", () => ui.removeSelection()),
    );
  }

  /** Shows the actions for the selection; a locked object can only be copied and unlocked. */
  updateSelection() {
    const { isLocked, selection } = this.ui.tools.select, bar = $("selection");
    bar.hidden = this.ui.isViewer || !selection.size;
    bar.classList.toggle("locked", isLocked);
    if (!bar.hidden) this.#panel.update();
    this.#lock.title = this.#lock.ariaLabel = isLocked ? "Unlock (Ctrl+Shift+L)" : "Lock (Ctrl+Shift+L)";
    this.#lock.querySelector("use").setAttribute("href", isLocked ? "#i-unlock" : "#i-lock");
  }
}
