/** The link of a board, and the keys that this browser keeps for it. */

import { hex } from "./ids.mjs";
import { codeKeyBytes, parseFragment } from "./weblink.mjs";

/**
 * Returns the board to open and its keys: that of the link in the address, or the one that was open last.
 *
 * The secret is removed from the address at once, and only its key is kept, which scripts cannot read.
 *
 * @returns {Promise<{board: Uint8Array, codeKey: CryptoKey, keys: CryptoKeyPair}|"none"|"wrong">}
 */
export async function openLink() {
  const { hash } = location;
  const link = hash && parseFragment(hash);
  if (hash) history.replaceState(null, "", location.pathname);
  if (hash && !link) return "wrong";
  const store = await openStore();
  if (!link) {
    const records = await store("readonly", (links) => links.getAll());
    return records.sort((a, b) => b.openedAt - a.openedAt)[0] ?? "none";
  }
  const { board, secret } = link;
  const key = await codeKeyBytes(secret, board);
  // A record is found by a hash of the key, because the key itself cannot be read.
  const id = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", key)).slice(0, 16));
  const record = await store("readonly", (links) => links.get(id)) ?? {
    id, board,
    codeKey: await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]),
    keys: await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]),
  };
  record.openedAt = Date.now();
  await store("readwrite", (links) => links.put(record));
  return record;
}

/** Forgets the keys of a board, such as after the host removed this browser. */
export async function forgetLink({ id }) {
  await (await openStore())("readwrite", (links) => links.delete(id));
}

/** Returns a function that runs one request on the stored links. Without storage, the links are lost with the page. */
async function openStore() {
  const finished = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  try {
    const opening = indexedDB.open("whiteboard-links", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("links", { keyPath: "id" });
    const database = await finished(opening);
    return (mode, body) => finished(body(database.transaction("links", mode).objectStore("links")));
  } catch {
    return async (mode, body) => body({ getAll: () => [], get: () => undefined, put() {}, delete() {} });
  }
}
