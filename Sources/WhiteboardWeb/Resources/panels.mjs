/** Dialogs, popups and the side sheet. */

import { $, button, element } from "./dom.mjs";
import { TOOLS } from "./toolbar.mjs";

/** Opens a modal dialog with a title; returns a function that closes it. */
export function openDialog(title, content, onClose = () => {}) {
  const before = document.activeElement;
  const dialog = element("dialog", { ariaLabel: title });
  const close = () => dialog.close();
  dialog.append(element("header", {}, element("h2", {}, title), button("close", "Close", close)), content);
  dialog.onclose = () => {
    dialog.remove();
    before?.focus?.({ preventScroll: true });
    onClose();
  };
  // A tap beside the dialog closes it.
  dialog.onpointerdown = ({ target }) => target === dialog && close();
  document.body.append(dialog);
  dialog.showModal();
  return close;
}

/** Lets a button open and close a popup, which a tap elsewhere or Escape closes too. */
export function attachPopup(opener, popup, onOpen = () => {}) {
  const close = (event) => {
    if (event?.type === "pointerdown" && (popup.contains(event.target) || opener.contains(event.target))) return;
    if (event?.type === "keydown") {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      opener.focus();
    }
    popup.classList.remove("open");
    opener.ariaExpanded = "false";
    removeEventListener("pointerdown", close, true);
    removeEventListener("keydown", close, true);
  };
  opener.ariaExpanded = "false";
  opener.addEventListener("click", () => {
    if (popup.classList.contains("open")) return close();
    onOpen();
    popup.classList.add("open");
    opener.ariaExpanded = "true";
    addEventListener("pointerdown", close, true);
    addEventListener("keydown", close, true);
  });
  return close;
}

/** The sheet at the side of the board, or at the bottom on a phone. It shows one panel at a time. */
export class Sheet {
  #panel = null;

  /** The name of the open panel; null if the sheet is closed. */
  get name() { return this.#panel?.name ?? null; }

  /** Opens a panel, or closes it if it is open: `{name, title, root, onOpen?, onClose?}`. */
  toggle(panel) {
    if (this.name === panel.name) return this.close();
    this.close();
    this.#panel = panel;
    const host = $("sheet");
    const header = element("header", {}, element("h2", {}, panel.title), button("close", "Close", () => this.close()));
    host.replaceChildren(header, panel.root);
    host.ariaLabel = panel.title;
    host.hidden = false;
    document.body.classList.add("has-sheet");
    panel.onOpen?.();
  }

  close() {
    const panel = this.#panel;
    if (!panel) return;
    this.#panel = null;
    $("sheet").hidden = true;
    document.body.classList.remove("has-sheet");
    panel.onClose?.();
  }
}

/** Shows a message on the whole page; `action` is `{label, run}`. */
export function showScreen(title, paragraphs, action = null, extra = null) {
  const screen = $("screen");
  const run = action && element("button.primary", { type: "button", onclick: action.run }, action.label);
  screen.replaceChildren(element("div.card", {}, element("img", { src: "icon.svg", alt: "" }), element("h1", {}, title),
    ...paragraphs.map((text) => element("p", {}, text)), extra, run));
  screen.hidden = false;
  screen.querySelector("input, button")?.focus();
}

export function hideScreen() {
  $("screen").hidden = true;
}

const SHORTCUTS = [
  ["9", "Add a photo"], ["Hold Space", "Move the board"],
  ["Ctrl+Z", "Undo"], ["Ctrl+Shift+Z", "Redo"], ["Ctrl+A", "Select everything"], ["Ctrl+C, Ctrl+V", "Copy, paste"], ["Ctrl+D", "Duplicate"], ["Ctrl+G, Ctrl+Shift+G", "Group, ungroup"], ["Delete", "Delete the selection"],
  ["Arrow keys", "Move the selection (Shift: farther)"], ["Enter", "Edit a text, open a game"], ["Ctrl+Shift+] or [", "Bring to the front, send to the back"],
  ["Ctrl+scroll, Ctrl++ or −", "Zoom"], ["Ctrl+0", "Zoom to 100 %"], ["Shift+1", "Show all objects"], ["Shift while drawing", "Keep the proportions or the angle"], ["?", "This list"],
];

export function showHelp() {
  const tools = Object.values(TOOLS).map(([name, keys]) => [[...keys.toUpperCase()].join(" or "), name]);
  openDialog("Keyboard shortcuts", element("dl.shortcuts", {}, ...[...tools, ...SHORTCUTS].map(([keys, action]) =>
    element("div", {}, element("dt", {}, action), element("dd", {}, element("kbd", {}, keys))))));
}

export async function showConnection() {
  const code = element("code", {}, "…");
  const fingerprint = element("p", {}, "Certificate fingerprint (SHA-256):", element("br"), code);
  openDialog("This connection", element("div.text", {},
    element("p", {}, "Everything you draw goes encrypted to the host of this board, and from there to the other members."),
    element("p", {}, "If your browser showed a warning when you opened this page, the host made its certificate itself. Then the browser cannot prove that this page comes from the host. Somebody who controls the network could have sent you a different page."),
    element("p", {}, "To be sure, compare this fingerprint with the one next to the QR code. Use the certificate details of your browser, because a false page would show a false fingerprint here."),
    fingerprint,
    element("p", {}, "You can also install the host’s certificate authority. Then the warning disappears, and the page opens even while the host is away. Install it only if you trust the host: it can vouch for the names and addresses of that host."),
    element("a.primary", { href: "/ca.crt", download: "whiteboard-ca.crt" }, "Download the certificate authority")));
  try {
    const about = await (await fetch("/about.json")).json();
    if (typeof about.fingerprint !== "string") throw new Error("no fingerprint");
    code.textContent = about.fingerprint;
  } catch {
    fingerprint.textContent = "The fingerprint is shown when the host can be reached.";
  }
}
