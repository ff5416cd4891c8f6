/** Dialogs, popups, and the sheet with its panels: the chat, the people, and the list of objects. */

import { $, button, element, icon, isComposing, settings, toast } from "./dom.mjs";
import { interruption, refusal } from "./errors.mjs";
import { described } from "./access.mjs";
import { markFound } from "./find.mjs";
import { gameName } from "./games.mjs";
import { isolated, visible } from "./ids.mjs";
import { TOOLS, VIEWER_TOOLS } from "./toolbar.mjs";

/** Opens a modal dialog; returns a function that closes it. */
export function openDialog(title, content, onClose = () => {}) {
  const before = document.activeElement;
  const dialog = element("dialog", { ariaLabel: title });
  const close = () => {
    dialog.close();
    remove();
  };
  dialog.append(element("header", {}, element("h2", {}, title), button("close", "Close", close)), content);
  // The event `close` comes later, when another dialog may be open.
  const remove = () => {
    if (!dialog.isConnected) return;
    document.body.append($("toasts"));
    dialog.remove();
    before?.focus?.({ preventScroll: true });
    onClose();
  };
  dialog.oncancel = close;
  dialog.onclose = remove;
  // A tap outside the dialog closes it.
  dialog.onpointerdown = ({ target }) => target === dialog && close();
  document.body.append(dialog);
  dialog.showModal();
  return close;
}

/**
 * Opens a popup, and returns a function that closes it. A press outside of the popup and its opener, or Escape, also
 * closes the popup; the press then has `closesPopup`. The opener gets the focus back.
 */
export function openPopup(popup, opener, { hasFocus = false, onClose = () => {} } = {}) {
  const open = new AbortController(), { signal } = open;
  const close = () => {
    if (signal.aborted) return;
    open.abort();
    if (popup.contains(document.activeElement)) opener.focus();
    popup.classList.remove("open");
    onClose();
  };
  const pressed = (event) => {
    if (popup.contains(event.target) || (opener.contains(event.target) && opener.ariaExpanded)) return;
    event.closesPopup = true;
    close();
  };
  const keyPressed = (event) => {
    const focus = document.activeElement, items = [...popup.querySelectorAll("button")], at = items.indexOf(focus);
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") {
      opener.focus();
      close();
    } else if (step && (at >= 0 || focus === opener)) items.at(Math.max(at + step, -1) % items.length).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  popup.classList.add("open");
  addEventListener("pointerdown", pressed, { capture: true, signal });
  addEventListener("keydown", keyPressed, { capture: true, signal });
  if (hasFocus) popup.querySelector("button").focus();
  return close;
}

/** Lets a button open and close a popup. */
export function attachPopup(opener, popup, onOpen = () => {}) {
  let close = () => {};
  opener.ariaExpanded = "false";
  opener.addEventListener("click", ({ detail }) => {
    if (popup.classList.contains("open")) return close();
    onOpen();
    opener.ariaExpanded = "true";
    // If the click comes from the keyboard, `detail` is 0.
    close = openPopup(popup, opener, { hasFocus: !detail, onClose: () => { opener.ariaExpanded = "false"; } });
  });
  return () => close();
}

/** The sheet at the side of the board, or at the bottom on a phone. It shows one panel at a time. */
export class Sheet {
  #panel = null;
  #before;

  constructor() {
    $("sheet").onkeydown = (event) => {
      if (event.key !== "Escape" || isComposing(event)) return;
      event.stopPropagation();
      this.close();
    };
  }

  get name() { return this.#panel?.name ?? null; }

  /** Opens a panel, or closes it if it is open. A panel is `{name, title, root, onOpen?}`. */
  toggle(panel) {
    if (this.name === panel.name) return this.close();
    this.#panel = panel;
    this.#before = document.activeElement;
    const host = $("sheet");
    const header = element("header", {}, element("h2", {}, panel.title), button("close", "Close", () => this.close()));
    host.replaceChildren(header, panel.root);
    host.ariaLabel = panel.title;
    host.hidden = false;
    panel.onOpen?.();
    if (document.body.classList.contains("keys") && !host.contains(document.activeElement)) host.querySelector("button").focus();
  }

  close() {
    const host = $("sheet");
    if (host.contains(document.activeElement)) this.#before.focus();
    this.#panel = null;
    host.hidden = true;
  }
}

/** Shows a message on the whole page. An action is `{label, run}` or an element; false is left out. */
export function showScreen(title, paragraphs, ...actions) {
  const screen = $("screen");
  document.querySelector("dialog")?.close();
  const made = actions.filter(Boolean).map((action, index) => action.run
    ? element(index ? "button.quiet" : "button.primary", { type: "button", onclick: action.run }, action.label) : action);
  screen.replaceChildren(element("div.card", {}, element("img", { src: "icon.svg", alt: "" }), element("h1", {}, title),
    ...paragraphs.map((text) => element("p", {}, text)), ...made));
  screen.hidden = false;
  screen.querySelector("input, button")?.focus();
}

export function hideScreen() {
  $("screen").hidden = true;
}

const EDITING = [
  ["M", "Highlighter"], ["9", "Add photos"], ["Ctrl+Z", "Undo"], ["Ctrl+Y or Ctrl+Shift+Z", "Redo"], ["Ctrl+C, Ctrl+V", "Copy, paste"], ["Ctrl+X", "Cut"],
  ["Ctrl+D or Alt+drag", "Duplicate"], ["Ctrl+Alt+C, Ctrl+Alt+V", "Copy, paste the style"], ["Ctrl+G, Ctrl+Shift+G", "Group, ungroup"],
  ["Ctrl+Shift+L", "Lock, unlock"], ["Shift+H, Shift+V", "Flip horizontally, vertically"], ["Ctrl+K", "Set a link"], ["F", "Frame"], ["Alt+A, D, W, S", "Align left, right, top, bottom"], ["Alt+H, Alt+V", "Align centers, middles"],
  ["Shift+Alt+H, Shift+Alt+V", "Distribute horizontally, vertically"], ["Delete", "Delete the selection"], ["Arrow keys", "Move the selection (Shift: farther)"], ["Enter", "Edit a text or label, open a game"],
  ["Enter with the tool of a form or text", "Add it in the middle of the screen"], ["C", "Connect two objects with an arrow"], ["Alt+arrow keys", "Add a connected form beside the selected one"], ["S", "Style of the selection"], ["Ctrl+arrow keys", "Change the size of a form (Shift: faster)"],
  ["Ctrl+] or [", "Bring forward, send backward (Shift: all the way)"], ["Shift while drawing or resizing", "Keep the proportions or the angle"], ["Ctrl while moving or resizing", "Do not snap to guides"], ["Ctrl while drawing an arrow", "Do not connect it"],
];
const VIEWING = [
  ["Ctrl+F or /", "Find texts, labels, chat and names"], ["Shift+F10 or right click", "Menu with actions"], ["Enter, Tab, Shift+Tab", "Select the first, next, previous object"], ["Ctrl+A", "Select everything"], ["Alt+drag on the empty board", "Select with a loop"], ["Shift+Alt+C", "Copy as a picture (PNG)"], ["Hold Space", "Move the board"], ["Ctrl+scroll, Ctrl++ or −", "Zoom"], ["Ctrl+0", "Zoom to 100%"],
  ["PageUp, PageDown", "Move the board by one screen (Shift: sideways)"], ["Shift+1", "Show all objects"],
  ["Shift+2", "Zoom to the selection"], ["Alt+Shift+D", "Light or dark colors"], ["?", "Show this list"],
];

export function showHelp(isViewer) {
  const tools = Object.keys(TOOLS).filter((tool) => !isViewer || VIEWER_TOOLS.includes(tool))
    .map((tool) => [[...TOOLS[tool][1].toUpperCase()].join(" or "), TOOLS[tool][0]]);
  openDialog("Keyboard shortcuts", element("dl.shortcuts", {}, ...[...tools, ...(isViewer ? [] : EDITING), ...VIEWING].map(([keys, action]) =>
    element("div", {}, element("dt", {}, action), element("dd", {}, element("kbd", {}, keys))))));
}

/** Shows a link and its QR code, with which others can join the board. */
export function showInvitation(board) {
  const field = element("input", { readOnly: true, ariaLabel: "Link", onfocus: () => field.select() });
  const code = element("img.qr", { alt: "QR code of the link" });
  const about = element("p", { role: "status" }), again = button(null, "Try again", () => ask(), { text: "Try again", kind: "button.quiet" });
  const share = button(null, "Share the link", () => navigator.share({ title: board.state.name, url: field.value }).catch(() => {}), { text: "Share…", kind: "button.quiet" });
  const copy = button(null, "Copy the link", async () => {
    try {
      await navigator.clipboard.writeText(field.value);
      toast("The link was copied.");
    } catch {
      field.focus();
      toast("The browser does not allow this. Copy the selected link yourself.");
    }
  }, { text: "Copy", kind: "button.primary" });
  let role = board.isOwned && board.me.role === "viewer" ? "viewer" : "editor", latest = 0;
  const roles = element("div.roles", { role: "group", ariaLabel: "What the others can do", hidden: !board.isOwned || role === "viewer" }, ...["editor", "viewer"].map((one) =>
    element("button", { type: "button", onclick: () => { role = one; ask(); }, "data-role": one }, ROLES[one])));
  const shown = element("div.shared", { hidden: true }, code, element("div.copy", {}, field, ...navigator.share ? [share] : [], copy));
  const line = (command, meaning) => element("div", {}, element("dt", {}, meaning), element("dd", {}, element("code", {}, command)));
  const commands = element("div", { hidden: true }, element("div.text", {}, element("p", {}, "The host invites people with these commands:")), element("dl.shortcuts", {}, line("invite web", "Link and QR code for editors"), line("invite web view", "For people who only look, on owned boards"), line("invite web once", "For one person")));
  const ask = async () => {
    const mine = ++latest, isCurrent = () => mine === latest;
    for (const one of roles.children) one.ariaPressed = String(one.dataset.role === role);
    again.hidden = commands.hidden = true;
    about.textContent = shown.hidden ? "The page asks the host for a link…" : about.textContent;
    try {
      const { link, expires, qr } = await board.invitation(role);
      if (!isCurrent()) return;
      field.value = link;
      code.hidden = !qr;
      code.src = `data:image/svg+xml,${encodeURIComponent(qr ?? "")}`;
      shown.hidden = false;
      const what = board.isOwned ? role === "viewer" ? "look at this board" : "edit this board" : "join and edit this board";
      about.textContent = `With this link, anyone who can reach the host can ${what}.${expires ? ` It works until ${UNTIL.format(new Date(expires))}.` : ""}`;
    } catch (error) {
      if (!isCurrent()) return;
      shown.hidden = true;
      [again.hidden, commands.hidden] = [error.isFinal, !error.isFinal];
      about.textContent = error.message;
    }
  };
  openDialog("Invite people", element("div.invitation", {}, element("div.text", {}, roles, shown, about, again), commands));
  ask();
}

/** Shows why the connection is not open, or how an open connection is protected. */
export function showConnection(board) {
  const lines = element("div.lines"), again = element("button.primary", { type: "button", onclick: () => board.reconnect() }, "Try now");
  const reason = element("div.text", {}, lines, again);
  const content = element("div", {}, reason);
  let trust = null, close = () => {};
  const update = () => {
    // A screen over the board then says what happened.
    if (board.state.isElsewhere || board.state.failure) return close();
    const { connection, code } = board.state, isOpen = connection === "open";
    const [title, ...texts] = reasons(board);
    lines.replaceChildren(element("b", {}, title), ...texts.map((text) => element("p", {}, text)));
    again.hidden = connection === "removed" || code === "kicked";
    reason.hidden = isOpen;
    if (isOpen && !trust) content.append(trust = certificate());
    if (trust) trust.hidden = !isOpen;
  };
  update();
  board.addEventListener("state", update);
  close = openDialog("This connection", content, () => board.removeEventListener("state", update));
}

/** Returns the reason why the connection is not open, and the consequences for the user. */
function reasons({ me, state }) {
  const { connection, pending, storage, retryAt } = state;
  const unsent = pending && `${pending === 1 ? "1 change was" : `${pending} changes were`} not sent to the other members.`;
  if (["removed", "refused"].includes(connection)) return [...refusal(state).slice(1), unsent].filter(Boolean);
  const saved = storage === "ok" ? "You can continue to draw. Your changes are saved in this browser, and are sent when the connection returns."
    : "You can continue to draw, but your changes are not saved in this browser. Do not close this page before they are sent.";
  return [...interruption(state), me.role !== "viewer" && saved,
    connection === "connecting" ? "The page is trying to connect now." : `Keep this page open. It tries again at ${SECONDS.format(retryAt)}.`].filter(Boolean);
}

/** Returns the part of the dialog about the certificate of the host. */
function certificate() {
  const code = element("code", {}, "…");
  const fingerprint = element("p", {}, "Certificate fingerprint (SHA-256):", element("br"), code);
  const authority = element("div.lines", { hidden: true },
    element("p", {}, "You can also install the host’s certificate authority. Then the warning disappears, and after your next visit the page also opens while the host is offline. Install it only if you trust the host, which can then impersonate any website to this device."),
    element("a.primary", { href: "/ca.crt", download: "whiteboard-ca.crt" }, "Download the certificate authority"));
  (async () => {
    try {
      const about = await (await fetch("/about.json")).json();
      if (typeof about.fingerprint !== "string") throw new Error("no fingerprint");
      code.textContent = about.fingerprint.replace(/.{24}/g, "$&\n");
      authority.hidden = !about.authority;
    } catch {
      fingerprint.textContent = "The host cannot be reached, so its fingerprint is not shown.";
    }
  })();
  return element("div.text", {},
    element("p", {}, "Everything you draw is sent encrypted to the host of this board, and from there to the other members."),
    element("p", {}, "A browser shows a warning if the host created its own certificate. It then cannot check that this page comes from the host, and a person who controls the network could send you a different page."),
    element("p", {}, "To be sure, compare this fingerprint with the one next to the QR code. Look at the fingerprint in the certificate details of your browser, because a fake page would show a fake fingerprint here."),
    fingerprint, authority);
}

const LINES = 500;
const TIME = new Intl.DateTimeFormat([], { timeStyle: "short" });
const UNTIL = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "short" });
const SECONDS = new Intl.DateTimeFormat([], { timeStyle: "medium" });

export class Chat {
  name = "chat";
  title = "Chat";
  #read = 0;
  #shown = [];
  #frame = null;
  /** The object on which the next message comments. */
  #about = null;
  #topic = element("div.topic");
  #lines = element("ol.chat", { role: "log", ariaLabel: "Messages" });
  #field = element("textarea", { rows: 1, dir: "auto", placeholder: "Message", ariaLabel: "Message", enterKeyHint: "send", maxLength: 4000 });

  constructor(ui) {
    this.ui = ui;
    this.#field.onkeydown = (event) => {
      if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
      event.preventDefault();
      this.#send();
    };
    this.#topic.hidden = true;
    const form = element("form.send.edit", { onsubmit: (event) => { event.preventDefault(); this.#send(); } },
      this.#field, button("send", "Send", () => this.#send()));
    this.root = element("div.panel", {}, this.#lines, this.#topic, form, element("p.note.view", {}, "You can only view this board, so you cannot send messages."));
    this.#read = this.#all.length;
    this.update();
  }

  #send() {
    const text = this.#field.value.trim();
    if (text && !this.ui.attempt(() => this.ui.board.sendChat(text, this.#about))) {
      this.#field.value = "";
      this.comment(null);
    }
    this.#field.focus();
  }

  focus() { this.#field.focus(); }

  /** Makes the next message a comment about an object; null for none. */
  comment(id) {
    const object = this.ui.board.objects.get(id);
    this.#about = object ? id : null;
    this.#topic.hidden = !object;
    if (object) this.#topic.replaceChildren(element("small.grow", {}, `About: ${described(object, this.ui.board)}`), button("close", "No comment about the object", () => this.comment(null)));
  }

  get #all() { return this.ui.board.chat.filter(({ author }) => !this.ui.hidden.has(author)); }

  /** Shows new messages in the next frame, because many can arrive at the same time. */
  update() { this.#frame ??= requestAnimationFrame(() => this.#show()); }

  #show() {
    this.#frame = null;
    const chat = this.#all;
    if (this.ui.sheet.name === this.name) {
      this.#showLines(chat.slice(-LINES));
      this.#read = chat.length;
    }
    const unread = Math.max(0, chat.length - this.#read);
    const badge = $("unread");
    badge.hidden = !unread;
    badge.textContent = unread > 99 ? "99+" : unread;
    $("chat").ariaLabel = unread ? `Chat, ${unread} unread` : "Chat";
  }

  #showLines(lines) {
    const list = this.#lines, shown = this.#shown, isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
    const last = lines.indexOf(shown.at(-1)), dropped = shown.length - 1 - last;
    // Messages from other members can arrive late, and belong before newer messages.
    const isAppend = last >= 0 && lines.slice(0, last + 1).every((line, index) => line === shown[dropped + index]);
    const first = isAppend ? last + 1 : 0;
    const made = lines.slice(first).map((line, index) => this.#line(line, lines[first + index - 1]));
    if (!isAppend) list.replaceChildren(...made);
    else {
      for (let count = dropped; count > 0; count -= 1) list.firstChild.remove();
      list.append(...made);
    }
    this.#shown = lines;
    if (!lines.length) list.replaceChildren(element("li.empty", {}, "No messages yet."));
    if (isAtEnd) list.scrollTop = list.scrollHeight;
  }

  #comment({ id, about, isResolved }) {
    const { ui } = this, object = ui.board.objects.get(about);
    const words = `About ${object ? described(object, ui.board) : "an object that was deleted"}`;
    return element("span.about", {}, button(null, words, () => object && ui.goTo(about), { text: words, kind: "button.quiet" }),
      ui.isViewer ? null : button(null, "", () => ui.attempt(() => ui.board.resolve(id, !isResolved)), { text: isResolved ? "Reopen" : "Resolve", kind: "button.quiet" }));
  }

  #line({ author, name, text, sentAt, ...comment }, before) {
    const isOwn = author === this.ui.board.me.id;
    // JavaScript has no date after this time.
    const time = element("time", {}, TIME.format(Math.min(sentAt, 8.64e15)));
    const heading = author === before?.author && sentAt - before.sentAt < 300_000 ? null
      : element("b", {}, element("bdi", {}, isOwn ? "You" : name || this.ui.name(author)), " ", time);
    const made = element(isOwn ? "li.own" : "li", {}, heading, comment.about ? this.#comment(comment) : null, element("span", { dir: "auto" }, text));
    made.classList.toggle("resolved", comment.isResolved);
    return made;
  }

  /** Shows a line that was found, and the lines around it. */
  reveal(id) {
    const all = this.#all, at = all.findIndex((line) => line.id === id), start = Math.max(0, Math.min(at - LINES / 2, all.length - LINES));
    if (at < 0) return;
    this.#showLines(all.slice(start, start + LINES));
    markFound(this.#lines.children[at - start]);
  }

  onOpen() {
    this.#show();
    this.#lines.scrollTop = this.#lines.scrollHeight;
    if (!matchMedia("(pointer: coarse)").matches) this.#field.focus();
  }
}

const ROLES = { editor: "Can edit", viewer: "View only", relay: "Relay" };

export class Members {
  name = "members";
  title = "People";
  root = element("div.panel.scroll");
  #shown = "";

  constructor(ui) {
    this.ui = ui;
    this.update();
  }

  update() {
    const { ui } = this, { board } = ui;
    const people = [...board.members].filter(([, { role }]) => role !== "relay");
    // Most events only move a pointer, which this panel does not show.
    const state = JSON.stringify([board.me, ui.followed, ui.sheet.name, [...ui.hidden], people.map(([id, { name, icon, role, color, viewport }]) => [id, name, icon, role, color, !viewport])]);
    if (state === this.#shown) return;
    this.#shown = state;
    const shown = [[board.me.id, board.me], ...people].slice(0, 3);
    $("people").replaceChildren(...shown.map(([, member]) => avatar(member)));
    // A phone has no room for three members.
    if (people.length > 1) $("people").append(element(people.length > 2 ? "span.avatar.more" : "span.avatar.more.few", {}, people.length + 1));
    const count = people.length + 1;
    $("people").ariaLabel = count === 1 ? "People: only you" : `People: ${count} on this board`;
    if (ui.sheet.name !== this.name) return;
    const rename = element("button.quiet", { type: "button", onclick: () => ui.askName() }, "Change name");
    this.root.replaceChildren(element("ul.members", {}, this.#row(board.me, `${isolated(board.me.name || "You")} (you)`, rename),
      ...people.map(([id, member]) => {
        const isFollowed = ui.followed === id;
        const follow = member.viewport && element("button.quiet", {
          type: "button", onclick: () => ui.follow(isFollowed ? null : id),
        }, isFollowed ? "Stop following" : "Follow");
        const isHidden = ui.hidden.has(id);
        const hide = element("button.quiet", { type: "button", title: "Hide what this person adds, only on this device", onclick: () => ui.hideMember(id, !isHidden) }, isHidden ? "Unhide" : "Hide");
        return this.#row(member, ui.name(id), follow, hide);
      })));
  }

  #row(member, name, ...actions) {
    return element("li", { "data-id": member.id }, avatar(member), element("span.grow", {}, element("b", { dir: "auto" }, name), element("small", {}, ROLES[member.role] ?? "")), ...actions);
  }

  onOpen() { this.update(); }

  reveal(id) { markFound(this.root.querySelector(`[data-id="${id}"]`)); }
}

/** Returns the characters of a text as a user sees them, such as a letter with its accents. */
const characters = (text) => Intl.Segmenter ? Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment) : [...text];

function avatar({ name, icon, color }) {
  // The icon of another member can be any text. In an emoji, `visible` would remove the characters that join its parts.
  const [first] = characters(icon), isEmoji = /\p{Extended_Pictographic}/u.test(first);
  const shown = isEmoji ? first : characters(visible(icon) || name || "?")[0].toUpperCase();
  const made = element("span.avatar", { ariaHidden: "true" }, shown);
  made.style.setProperty("--color", color);
  return made;
}

export const storedName = () => settings.get("name", "");

/** A form for the name; `done(name)` is called with a name that is not empty. */
export function nameForm(done, label) {
  const field = element("input", {
    value: storedName(), maxLength: 32, placeholder: "Your name", ariaLabel: "Your name", autocomplete: "nickname", dir: "auto",
  });
  const submit = (event) => {
    event.preventDefault();
    const name = field.value = visible(field.value);
    if (!name) return toast("Enter a name with at least one visible character.");
    if (new TextEncoder().encode(name).length > 64) return toast("This name is too long. Choose a shorter one.");
    settings.set("name", name);
    done(name);
  };
  return element("form.name", { onsubmit: submit }, field, element("button.primary", {}, label));
}

const FORMS = {
  __proto__: null, rectangle: "Rectangle", rounded: "Rounded rectangle", ellipse: "Ellipse", diamond: "Diamond", note: "Note", line: "Line", arrow: "Arrow", frame: "Frame",
};
const KINDS = { __proto__: null, text: "Text", drawing: "Drawing", photo: "Photo", game: "Game" };
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

  /** Rebuilds the list after a change of objects, at most twice a second. */
  update() {
    if (this.ui.sheet.name === this.name) this.#timer ??= setTimeout(() => this.#build(), 500);
  }

  #build() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const { ui } = this, { board } = ui;
    const active = document.activeElement, focused = this.root.contains(active) && active.closest("li");
    const at = focused && [...focused.parentElement.children].indexOf(focused), isRemove = focused && active !== focused.firstChild;
    // The newest and topmost objects come first.
    const order = ui.scene.items.map(({ id }) => id).filter((id) => board.objects.has(id)).reverse();
    const rows = order.slice(0, this.#limit).map((id) => this.#row(board.objects.get(id)));
    const more = order.length > this.#limit && button(null, "Show more", () => this.#showMore(), { text: "Show more", kind: "button.quiet" });
    this.root.replaceChildren(element("p.note", {}, order.length === 1 ? "1 object" : `${order.length} objects, topmost first`), element("ul.objects", {}, ...rows), more || "");
    if (!focused) return;
    // If the object was deleted, the focus moves to the next row.
    const same = rows.find((row) => row.dataset.id === focused.dataset.id);
    if (same && isRemove) same.lastChild.focus();
    else (same ?? rows[Math.min(at, rows.length - 1)] ?? $("sheet")).querySelector("button").focus();
  }

  #showMore() {
    const first = this.#limit;
    this.#limit += PAGE;
    this.#build();
    this.root.querySelectorAll("li")[first]?.firstChild.focus();
  }

  #row(object) {
    const { ui } = this, { id, type, form } = object, kind = FORMS[form] ?? KINDS[type] ?? "Object";
    const what = type === "text" ? object.text : type === "game" ? gameName(object) : object.text || kind;
    const name = what === kind ? kind : `${kind}: ${what.slice(0, 100)}`;
    const author = object.author === ui.board.me.id ? "you" : object.author ? ui.name(object.author) : "";
    const facts = [author && `by ${isolated(author)}`, object.isLocked && "locked"].filter(Boolean);
    const about = [...(what === kind ? [] : [kind]), ...facts].join(", ");
    const go = element("button.grow", { type: "button", onclick: () => ui.goTo(id), ariaLabel: `Go to ${[name, ...facts].join(", ")}` },
      icon({ text: "text", photo: "image", game: "wordle" }[type] ?? form ?? "pen"), element("span", {}, element("b", { dir: "auto" }, what.slice(0, 100)), element("small", {}, about)));
    const remove = ui.isViewer || object.isLocked ? null : button("trash", `Delete ${name}`, () => ui.attempt(() => ui.board.remove([id])));
    return element("li", { "data-id": id }, go, remove);
  }
}
