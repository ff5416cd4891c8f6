/** Links, votes and comments of objects, shown as buttons below the objects. */

import { element, icon, toast } from "./dom.mjs";
import { isolated } from "./ids.mjs";
import { openDialog } from "./panels.mjs";
import { shapeOf, touches } from "./geometry.mjs";

/** The reactions that the menu offers. */
export const REACTIONS = ["👍", "❤️", "🎉", "😄", "❓", "👎"];
/** The maximum number of objects whose buttons are shown. */
const MOST = 200;
/**
 * If an object is higher than this, in CSS pixels, its buttons overlap the object. This is the height of a line of
 * text and of the buttons.
 */
const ROOM = 32;

/** Shows where a link leads before it is opened; a link to an object shows the object. */
export function openLink(ui, link) {
  if (link.startsWith("#")) {
    const id = link.slice(1);
    if (!ui.board.objects.has(id)) return toast("The object to which this link leads is no longer on the board.");
    return ui.goTo(id);
  }
  if (!link.startsWith("https://")) return;
  const anchor = element("a.primary", { href: link, target: "_blank", rel: "noopener noreferrer", onclick: () => close() }, "Open");
  const close = openDialog("Open this link?", element("div.text", {}, element("p", {}, "A member of this board added this link. It leads to:"), element("code.link", {}, link), anchor));
  anchor.focus();
}

/** An address without a scheme: a name with a dot, and perhaps a port, a path, a query or a fragment. */
const HOST = /^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+([:/?#]|$)/u;

/** Returns an address as browsers write it, such as with percent codes; null for other texts. */
function addressOf(text) {
  try {
    return new URL(HOST.test(text) ? `https://${text}` : text);
  } catch {
    return null;
  }
}

/** Asks for the link of the selection. */
export function askLink(ui) {
  const { objects } = ui.tools.select, [{ link = "" }] = objects;
  const field = element("input", { value: link, placeholder: "https://…", ariaLabel: "Link", inputMode: "url", spellcheck: false, autocapitalize: "none", maxLength: 2048, autocomplete: "off" });
  const save = (event) => {
    event.preventDefault();
    const text = field.value.trim(), address = addressOf(text);
    try {
      ui.board.setLink(objects.map(({ id }) => id), (address?.href ?? text) || null);
      close();
    } catch (error) {
      const rule = address?.username || address?.password ? "A link must not contain a user name or password. Remove the part up to @." : "A link must begin with https://, or be # and the id of an object.";
      toast(error.code === "out-of-range" ? rule : error.message);
    }
  };
  const close = openDialog("Link of the selection", element("form.name", { onsubmit: save }, field, element("button.primary", {}, "Save")));
  field.focus();
}

export class Badges {
  #shown = new Map();
  /** The numbers of comments that are not resolved, by object. */
  #comments = new Map();

  constructor(host, ui) {
    Object.assign(this, { host, ui });
    this.chatChanged();
    this.update(ui.board.objects.keys());
  }

  chatChanged() {
    const before = this.#comments, { chat } = this.ui.board;
    this.#comments = new Map();
    for (const { about, isResolved, author } of chat) {
      if (about && !isResolved && !this.ui.hidden.has(author)) this.#comments.set(about, (this.#comments.get(about) ?? 0) + 1);
    }
    this.update(new Set([...before.keys(), ...this.#comments.keys()]));
  }

  /** Shows the present links, votes and comments of objects. */
  update(ids) {
    for (const id of ids) {
      const object = this.ui.board.objects.get(id), buttons = object && this.#buttons(object);
      const old = this.#shown.get(id);
      if (!buttons?.length || (!old && this.#shown.size >= MOST)) {
        old?.remove();
        this.#shown.delete(id);
        continue;
      }
      const root = old ?? element("div.badges");
      root.replaceChildren(...buttons);
      if (!old) {
        this.#shown.set(id, root);
        this.host.append(root);
      }
      this.#put(id, root);
    }
  }

  #buttons(object) {
    const { ui } = this, { id, link, votes = [], author } = object;
    if (ui.hidden.has(author)) return [];
    const comments = this.#comments.get(id);
    const button = (label, run, ...content) => element("button.badge", { type: "button", ariaLabel: label, title: label, onclick: run }, ...content);
    const voted = votes.map(({ reaction, members }) => {
      const isOwn = members.includes(ui.board.me.id), names = members.slice(0, 8).map((member) => isolated(ui.name(member))).join(", ");
      const made = button(`${reaction} ${members.length}: ${names}`, () => ui.vote(id, reaction, !isOwn), reaction, String(members.length));
      made.ariaPressed = String(isOwn);
      return made;
    });
    return [
      link && button(`Link: ${link}`, () => openLink(ui, link), icon("link")), ...voted,
      comments && button(comments === 1 ? "1 comment" : `${comments} comments`, () => ui.showComments(id), icon("chat"), String(comments)),
    ].filter(Boolean);
  }

  #put(id, root) {
    const { camera, board } = this.ui, { bounds } = shapeOf(board.objects.get(id)), isSeen = touches(bounds, camera.area);
    root.hidden = !isSeen || camera.zoom < 0.2;
    if (!isSeen) return;
    const [x, y] = camera.toScreen([bounds.left, bounds.bottom]), height = (bounds.bottom - bounds.top) * camera.zoom;
    // Up to half of the buttons is inside the object, so that the buttons do not cover a neighbor. The buttons of a low
    // object begin below the object.
    const inside = Math.min(Math.max((height - ROOM) / 2, -8), 13);
    root.style.transform = `translate(${x + (inside > 0 ? 6 : 0)}px,${y - inside}px)`;
  }

  place() {
    for (const [id, root] of this.#shown) if (this.ui.board.objects.has(id)) this.#put(id, root);
  }
}
