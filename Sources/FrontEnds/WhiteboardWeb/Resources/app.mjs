/** Starts the page: checks the browser, opens the link, asks for a name on the first visit, and shows the board. */

import { settings, toast } from "./dom.mjs";
import { CLOSED, interruption, refusal } from "./errors.mjs";
import { hex } from "./ids.mjs";
import { hideScreen, nameForm, showScreen, storedName } from "./panels.mjs";
import { codeKeyBytes, parseFragment } from "./weblink.mjs";

const reload = { label: "Try again", run: () => location.reload() };

const TOO_OLD = ["This browser is too old", "The board needs WebAssembly and other features of current browsers.", "Update the browser, or open the link in a current version of Chrome, Edge, Firefox or Safari. If the browser is in lockdown mode, turn this mode off for the page."];

/** Returns the screen for a browser that lacks a feature, or null. */
function missing() {
  if (!globalThis.isSecureContext) {
    return ["This page needs a secure connection", "The browser allows cryptography only on pages that were opened with https.", "Open the link exactly as the host shows it. The link begins with https://."];
  }
  if (!globalThis.crypto?.subtle || !globalThis.WebAssembly || !globalThis.HTMLDialogElement || !globalThis.ResizeObserver || !Array.prototype.findLast) {
    return TOO_OLD;
  }
  return null;
}

const pause = (time) => new Promise((resume) => setTimeout(resume, time));

const fail = ([title, ...paragraphs], ...actions) => showScreen(title, paragraphs, ...actions);

async function start() {
  document.documentElement.dataset.theme = { dark: "dark", light: "light" }[settings.get("theme")] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const problem = missing();
  if (problem) return fail(problem);
  // The Wasm is loaded while the user reads and types.
  const loading = load();
  loading.catch(() => {});
  try {
    const link = await openLink();
    addEventListener("hashchange", () => location.reload());
    if (link === "none") return fail(["No board is open", "Scan the QR code that the host shows, or open the link that the host sent you."]);
    if (link === "wrong") return fail(["This link is not complete", "A part of the link is missing or was changed.", "Copy the whole link, or scan the QR code again."]);
    const name = storedName() || await askName();
    showScreen("One moment", ["The board is loading."]);
    await open(link, name, await loading);
  } catch (error) {
    if (error === TOO_OLD) return fail(error);
    console.error(error);
    fail(["The board could not be opened", "The page did not load completely, or the data stored in this browser is damaged.", String(error?.message ?? error)], reload);
  }
}

async function load() {
  const [{ Board }, { UI }, { openStorage }, module] = await Promise.all([
    import("./board.mjs"), import("./ui.mjs"), import("./storage.mjs"), compile(),
  ]);
  return { Board, UI, openStorage, module };
}

/** Rejects if a database does not open in time, for example while a page that is closing still creates the database. */
const inTime = (opening) => Promise.race([opening, new Promise((_, reject) => setTimeout(reject, 4000, new Error("no database")))]);

async function compile() {
  const response = await fetch("whiteboard.wasm");
  // The browser does not accept Brotli.
  if (response.status === 406) throw TOO_OLD;
  if (!response.ok) throw new Error(`The host answered with ${response.status}.`);
  if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

const askName = () => new Promise((resolve) => {
  const form = nameForm(resolve, "Join");
  showScreen("Join the whiteboard", ["Other people see this name next to your pointer and in the chat."], form);
});

async function open(link, name, { Board, UI, openStorage, module }) {
  const { board: id, codeKey, keys, name: sessionName, ended, reason } = link;
  const storage = await openStorage();
  const board = await Board.open({ origin: location.origin, board: id, codeKey, keys, name, module, storage, sessionName, ended, reason });
  const ui = new UI(board);
  hideScreen();
  keepView(ui, hex(id));
  ui.takeOver = async () => {
    const hasUnsent = () => board.state.pending && !board.state.isElsewhere;
    if (hasUnsent()) toast("This tab takes over as soon as your changes are sent.");
    while (hasUnsent()) await pause(100);
    await storage.takeLock(id);
    location.reload();
  };
  watch(board, link, ui.takeOver);
  if (board.state.isSecondTab) awaitOtherTab(board, ui, storage, id);
  addEventListener("beforeunload", (event) => board.state.pending && board.state.storage !== "ok" && event.preventDefault());
  // A page that is being closed does not wait for signatures, so leave the session first.
  addEventListener("pagehide", ({ persisted }) => {
    board.suspend();
    if (!persisted) board.close();
  });
  document.addEventListener("freeze", () => board.suspend());
  storePage();
  // For tests, and for debugging in the console of the browser.
  globalThis.whiteboard = { board, ui };
}

/** After a reload, shows the same part of the board as before. */
function keepView(ui, id) {
  const { camera } = ui, key = `view.${id}`;
  Object.assign(camera, settings.get(key, {}, "sessionStorage"));
  ui.panBy(0, 0);
  addEventListener("pagehide", () => settings.set(key, { x: camera.x, y: camera.y, zoom: camera.zoom }, "sessionStorage"));
}

/**
 * Takes over the board in a second tab when the other tab is closed. First waits until this tab has sent its changes,
 * because unsent changes would be lost.
 */
async function awaitOtherTab(board, ui, storage, id) {
  await storage.freed(id);
  const isBusy = () => board.state.pending || ui.tools.active || document.querySelector("dialog")
    || [...document.querySelectorAll("textarea")].some(({ value }) => value);
  while (isBusy()) await pause(500);
  location.reload();
}

/**
 * Shows a screen when the connection ends permanently, was never open, or belongs to another tab; `takeOver` gets the
 * board back.
 */
function watch(board, link, takeOver) {
  let wasOpen = board.objects.size || board.chat.length;
  let isWaiting = false;
  let shown = null;
  const show = { label: "Show the board", run: hideScreen };
  const hasContent = () => board.objects.size || board.chat.length;
  const look = () => {
    const { connection, code, message, name, isElsewhere, storage } = board.state;
    if (isElsewhere) return fail(["The board is open in another tab", storage === "ok" ? "Everything you did in this tab is saved." : "This browser could not save what you did in this tab. Changes that were not sent to the other members are lost."], { label: "Use the board in this tab", run: takeOver });
    if (connection === "open") {
      wasOpen = true;
      if (isWaiting) hideScreen();
      isWaiting = false;
      if (link.name !== name || link.reason !== undefined) putLink(Object.assign(link, { name, reason: undefined }));
    }
    // Show the screen of a final state only once, so that the user can close it.
    if (connection === shown) return;
    shown = connection;
    if (["removed", "refused"].includes(connection)) {
      const isRemoved = code === "kicked", isClosed = isRemoved && message === CLOSED;
      // The next visit shows the board without a session, with this reason.
      if (isRemoved && !isClosed) putLink(Object.assign(link, { reason: message ?? "" }));
      fail(refusal(board.state).slice(1), !isRemoved && reload, (isClosed || hasContent()) && show);
    } else if (connection === "offline" && !wasOpen && !isWaiting) {
      isWaiting = true;
      wasOpen = true;
      const [title, ...texts] = interruption(board.state);
      showScreen(title, [...texts, "The page keeps trying."],
        { label: "Show the board now", run: () => { isWaiting = false; hideScreen(); } });
    }
  };
  board.addEventListener("state", look);
  look();
}

/**
 * Stores the page, so that it opens while the host is offline. Browsers allow this only with a trusted certificate.
 * `addAll` stores all files or none, so the files of two versions are never mixed.
 */
async function storePage() {
  try {
    await navigator.serviceWorker.register("worker.mjs");
    const cache = await caches.open("page");
    const files = performance.getEntriesByType("resource").map(({ name }) => new URL(name)).filter(({ origin, pathname }) =>
      origin === location.origin && /\.(mjs|css|svg|wasm|webmanifest)$/.test(pathname));
    // Some browsers list the manifest among the files that were loaded.
    const manifest = new URL("manifest.webmanifest", location).pathname;
    await cache.addAll([...new Set([location.pathname, manifest, ...files.map(({ pathname }) => pathname)])]);
  } catch {
    // Without the stored page, the board works only while the host is online.
  }
}

/**
 * Returns the id and the keys of the board in the address, or of the board that was opened last.
 *
 * `address.mjs` has removed the secret from the address. Stores only the key K, which scripts cannot read. Returns "wrong" if the
 * address contained a malformed link, and "none" if there is no board to open.
 */
async function openLink() {
  const hash = globalThis.openedFragment;
  const link = hash && parseFragment(hash);
  globalThis.openedFragment = "";
  if (hash && !link) return "wrong";
  const store = await openStore();
  if (!link) {
    const [last] = (await store("readonly", (links) => links.getAll())).filter(isWhole).sort((a, b) => b.openedAt - a.openedAt);
    return last ? { ...last, ended: last.reason === undefined ? null : { code: "kicked", message: last.reason } } : "none";
  }
  const { board, secret } = link;
  const key = await codeKeyBytes(secret, board);
  // A record is found by a hash of the key, because the key itself cannot be read.
  const id = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", key)).slice(0, 16));
  const stored = await store("readonly", (links) => links.get(id));
  const record = isWhole(stored) ? stored : {
    id, board,
    codeKey: await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]),
    keys: await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]),
  };
  record.openedAt = Date.now();
  await store("readwrite", (links) => links.put(record));
  return record;
}

const isWhole = (link) => link?.board instanceof Uint8Array && link.codeKey instanceof CryptoKey && link.keys?.privateKey instanceof CryptoKey;

async function putLink({ ended, ...link }) {
  await (await openStore())("readwrite", (links) => links.put(link));
}

const NO_LINKS = { getAll: () => [], get: () => undefined, put() {} };

/** Returns a function that runs one request on the stored links. If the storage fails, the request finds no stored links. */
async function openStore() {
  const finished = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  try {
    const opening = indexedDB.open("whiteboard-links", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("links", { keyPath: "id" });
    const database = await inTime(finished(opening));
    return async (mode, body) => {
      try {
        return await finished(body(database.transaction("links", mode).objectStore("links")));
      } catch {
        return body(NO_LINKS);
      }
    };
  } catch {
    return async (mode, body) => body(NO_LINKS);
  }
}

start();
