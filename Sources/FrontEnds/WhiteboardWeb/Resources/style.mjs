/** The panel with the style of the selected objects. */

import { ALIGNMENTS, DISTRIBUTIONS, unitCount } from "./arrange.mjs";
import { button, element, icon } from "./dom.mjs";
import { endsOf, fillOf, hasPoints } from "./forms.mjs";
import { attachPopup } from "./panels.mjs";

/** The colors of the terminal (`Pens`), which color-blind people can distinguish; null is black or white. */
export const COLORS = [
  ["Default", null], ["Red", "#e8601c"], ["Orange", "#e69f00"], ["Yellow", "#f0e442"], ["Green", "#1fae84"],
  ["Sky", "#56b4e9"], ["Blue", "#3b8fd9"], ["Violet", "#9a7be0"], ["Pink", "#cc79a7"], ["Gray", "#999999"],
];
export const WIDTHS = [["Fine", 2], ["Thin", 5], ["Medium", 8], ["Thick", 12], ["Bold", 20]];
const FILLS = [
  ["No fill", null], ["Light red", "#ffc9c9"], ["Light orange", "#ffd8a8"], ["Light yellow", "#ffec99"], ["Light green", "#b2f2bb"],
  ["Light sky", "#c5f6fa"], ["Light blue", "#a5d8ff"], ["Light violet", "#d0bfff"], ["Light pink", "#fcc2d7"], ["Light gray", "#dee2e6"],
];
const CROSSED = "linear-gradient(to top right, transparent 46%, #e5484d 46% 54%, transparent 54%)";
/** The fill that removes the yellow of a note. A note without a fill would be yellow. */
const NO_FILL = "#ffffff00";
const FORMS = [["Rectangle", "rectangle"], ["Rounded rectangle", "rounded"], ["Ellipse", "ellipse"], ["Diamond", "diamond"], ["Note", "note"]];
const LINES = [["Solid line", "solid"], ["Dashed line", "dashed"], ["Dotted line", "dotted"]];
const ENDS = [["No end mark", "none"], ["Arrow", "arrow"], ["Triangle", "triangle"], ["Bar", "bar"], ["Dot", "dot"]];
const SIZES = [["S", "Small text", 12], ["M", "Medium text", 16], ["L", "Large text", 24], ["XL", "Extra large text", 40]];
const TEXT_SIDES = [["Align left", "left"], ["Center", "center"], ["Align right", "right"]];
const TYPEFACES = [["Plain", "plain"], ["Hand", "hand"], ["Code", "code"]];
const OPACITIES = [["25%", 0.25], ["50%", 0.5], ["75%", 0.75], ["100%", 1]];

/** Returns the value that all objects have; undefined if they differ. */
function common(objects, read) {
  const [first, ...others] = objects.map(read);
  return others.every((value) => value === first) ? first : undefined;
}

export class StylePanel {
  #popup = element("div.popup.sheet", { role: "group", ariaLabel: "Style of the selection" });

  constructor(ui) {
    this.ui = ui;
    const opener = button("style", "Style", null, { kind: "button.icon.change" });
    opener.title = "Style (S)";
    opener.ariaKeyShortcuts = "s";
    this.root = element("div.opens", {}, opener, this.#popup);
    attachPopup(opener, this.#popup, () => this.#build());
    opener.addEventListener("click", () => ui.uncover());
    this.opener = opener;
  }

  /** Shows the style that the selection has now. */
  update() {
    if (!this.#popup.classList.contains("open")) return;
    const focus = this.#popup.contains(document.activeElement) && document.activeElement.dataset.name;
    this.#build();
    if (focus) [...this.#popup.querySelectorAll("button")].find(({ dataset }) => dataset.name === focus)?.focus();
  }

  #build() {
    const { ui } = this, { objects } = ui.tools.select, { palette } = ui.looks;
    const forms = objects.filter(({ form }) => form), lines = forms.filter(hasPoints), closed = forms.filter((object) => !hasPoints(object));
    const texts = objects.filter(({ type, form }) => type === "text" || form), filled = objects.filter(({ type }) => type === "text").concat(closed);
    const colored = objects.filter(({ type, form }) => type !== "photo" && form !== "note"), drawn = objects.filter(({ type, form }) => type === "drawing" && form !== "note");
    const dots = (key, colors, present, shown, change) => colors.map(([label, rgb]) =>
      this.#choice(key, label, "dot", rgb === present, () => change(rgb && `${rgb}ff`), element("i"), ["--color", shown(rgb)]));
    const icons = (key, names, present, change, prefix) => names.map(([label, value]) =>
      this.#choice(key, label, "icon", value === present, () => change(value), icon(`${prefix}-${value}`)));
    const words = (key, names, present, change) => names.map(([text, label, value = label]) =>
      this.#choice(key, label === value ? text : label, "quiet", value === present, () => change(value), text));
    const set = (name) => (value) => ui.restyle({ [name]: value });
    const rgbOf = (color) => color?.slice(0, 7) ?? null;
    const toggle = (label, name, text) => this.#choice("Letters", label, "quiet", common(texts, (object) => Boolean(object[name])) === true,
      () => ui.restyle({ [name]: !common(texts, (object) => Boolean(object[name])) }), text);
    const units = unitCount(objects), isGrouped = objects.some(({ groups }) => groups?.length);
    const edges = (list) => list.map((way) => this.#choice("Align", way.label, "icon", null, () => ui.arrange(way), icon(way.icon)));
    const ends = (side) => common(lines, (object) => endsOf(object)[side]);
    const rows = [
      closed.length && ["Form", icons("Form", FORMS, common(closed, ({ form }) => form), set("form"), "form")],
      filled.length && ["Fill", dots("Fill", FILLS, common(filled, (object) => {
        const fill = fillOf(object);
        return fill?.endsWith("00") ? null : rgbOf(fill);
      }), (rgb) => rgb ?? CROSSED, (color) => ui.restyle({ fill: color ?? (closed.some(({ form }) => form === "note") ? NO_FILL : null) })), "colors"],
      colored.length && ["Color", dots("Color", COLORS, common(colored, ({ color }) => rgbOf(color)), (rgb) => palette.color(rgb).rgb, (color) => ui.setStyle({ color })), "colors"],
      drawn.length && ["Line width", WIDTHS.map(([label, width]) => this.#choice("Line width", label, "width", width === common(drawn, ({ lineWidth }) => lineWidth),
        () => ui.setStyle({ lineWidth: width }), element("i"), ["--width", `${Math.max(2, width * 0.9)}px`]))],
      forms.some(({ form }) => form !== "note") && ["Line", [
        ...icons("Line", LINES, common(forms, ({ lineStyle = "solid" }) => lineStyle), set("lineStyle"), "line"),
        ...(lines.length ? icons("Line", [["Straight", false], ["Curved", true]], common(lines, ({ isCurved = false }) => isCurved), set("isCurved"), "curved") : []),
      ]],
      lines.length && ["Start", icons("Start", ENDS, ends(0), set("lineStart"), "start")],
      lines.length && ["End", icons("End", ENDS, ends(1), set("lineEnd"), "end")],
      texts.length && ["Text size", words("Text size", SIZES, common(texts, ({ textSize = 16 }) => textSize), set("textSize"))],
      texts.length && ["Letters", [
        ...icons("Letters", TEXT_SIDES, common(texts, ({ alignment, form }) => alignment ?? (form ? "center" : "left")), set("alignment"), "align"),
        toggle("Bold", "isBold", "B"), toggle("Italic", "isItalic", "I"),
      ]],
      texts.length && ["Typeface", words("Typeface", TYPEFACES, common(texts, ({ typeface = "plain" }) => typeface), set("typeface"))],
      ["Opacity", words("Opacity", OPACITIES, common(objects, ({ opacity = 1 }) => OPACITIES.find(([, value]) => Math.abs(value - opacity) < 0.01)?.[1]), set("opacity"))],
      ["Order", [["Bring forward", "bringForward", "forward"], ["Send backward", "sendBackward", "backward"], ["Bring to the front", "bringToFront", "front"], ["Send to the back", "sendToBack", "back"]]
        .map(([label, how, name]) => this.#choice("Order", label, "icon", null, () => ui.reorder(how), icon(name)))],
      units > 1 && ["Align", edges([...ALIGNMENTS, ...(units > 2 ? DISTRIBUTIONS : [])])],
      (units > 1 || isGrouped) && ["Group", [
        units > 1 && this.#choice("Group", "Group", "quiet", null, () => ui.group(), "Group"), isGrouped && this.#choice("Group", "Ungroup", "quiet", null, () => ui.ungroup(), "Ungroup"),
      ].filter(Boolean)],
    ];
    this.#popup.replaceChildren(...rows.filter(Boolean).map(([label, choices, kind = "choices"]) =>
      element("div.part", { role: "group", ariaLabel: label }, element("small", { ariaHidden: "true" }, label), element(`div.${kind}`, {}, ...choices))));
  }

  #choice(group, label, kind, isChosen, run, content, [variable, value] = []) {
    const made = element(`button.${kind}`, { type: "button", ariaLabel: label, title: label, onclick: run }, content);
    if (isChosen !== null) made.ariaPressed = String(isChosen);
    made.dataset.name = `${group} ${label}`;
    if (variable) made.style.setProperty(variable, value);
    return made;
  }
}
