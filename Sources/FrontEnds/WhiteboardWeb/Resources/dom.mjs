/** Helpers for the elements of the page. Text from other members is always set as text, never as HTML. */

export const $ = (id) => document.getElementById(id);

/** Creates an element of a kind such as "button.plain". Properties with a hyphen are attributes; strings become text. */
export function element(kind, properties = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const result = document.createElement(tag);
  result.classList.add(...classes);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") result.setAttribute(name, value);
    else result[name] = value;
  }
  result.append(...children.filter((child) => child !== null && child !== undefined));
  return result;
}

const SVG = "http://www.w3.org/2000/svg";

/** Creates an icon from the sprite in `index.html`. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

/** Creates a button with an icon, and with a visible label if `text` is given. */
export function button(iconName, label, onclick, { text, kind = "button.icon" } = {}) {
  return element(kind, { type: "button", title: text ? "" : label, ariaLabel: label, onclick }, iconName && icon(iconName), text);
}

/** Returns whether a key belongs to an input method. In Safari, the key that ends a composition has the code 229. */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

export function toast(message) {
  const host = $("toasts"), top = document.querySelector("dialog") ?? document.body;
  // A modal dialog covers everything outside of it.
  if (host.parentElement !== top) top.append(host);
  if (host.lastChild?.textContent === message) host.lastChild.remove();
  const shown = element("p", {}, message);
  host.append(shown);
  if (host.children.length > 3) host.firstChild.remove();
  setTimeout(() => shown.remove(), 2500 + 50 * message.length);
}

/** Values that this browser stores for the next visit, if it allows storage. */
export const settings = {
  get(key, fallback = null, storage = "localStorage") {
    try {
      return JSON.parse(globalThis[storage].getItem(`whiteboard.${key}`)) ?? fallback;
    } catch {
      return fallback;
    }
  },
  set(key, value, storage = "localStorage") {
    try {
      globalThis[storage].setItem(`whiteboard.${key}`, JSON.stringify(value));
    } catch {
      // Without storage, the board still works.
    }
  },
};
