import { hex } from "./ids.mjs";

/** The number and the total bytes of stored changes above which a keyframe replaces them. */
const CHANGES = 2048;
const BYTES = 4 << 20;
/** The timeout for the lock of a board, in milliseconds. */
const LOCKING = 1000;
/** The time before the next attempt to write to full storage, in milliseconds. */
const RETRY = 10_000;

/** Returns the storage of this origin. If the browser allows none, `log` returns null. */
export async function openStorage(name = "whiteboard") {
  try {
    return new Storage(name, await openDatabase(name));
  } catch {
    return new Storage(name, null);
  }
}

/** Boards in IndexedDB: their changes in order, their photos, and the number of local changes that no other member has. */
class Storage {
  #name;
  #database;

  constructor(name, database) {
    this.#name = name;
    this.#database = database;
  }

  /**
   * Locks a board for this tab. `onLost` is called if another tab takes the lock.
   *
   * @returns {Promise<(() => void)|null>} Releases the lock; null if another tab has it.
   */
  async lock(board, onLost) {
    const patience = new AbortController();
    // After a reload, the old page may still have the lock.
    const timer = setTimeout(() => patience.abort(), LOCKING);
    try {
      return await new Promise((resolve, reject) => {
        let isHeld = false;
        const hold = () => new Promise((release) => {
          isHeld = true;
          resolve(release);
        });
        this.#request(board, { signal: patience.signal }, hold).catch((error) => isHeld ? onLost() : reject(error));
      });
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits until another tab has given up the lock, and has not taken it again as after a reload. */
  async freed(board) {
    do {
      await this.#request(board, {}, () => {});
      await new Promise((resume) => setTimeout(resume, LOCKING));
    } while (!await this.#request(board, { ifAvailable: true }, Boolean));
  }

  /** Takes the lock from another tab, which has some time to store its changes. The page must be reloaded then. */
  takeLock(board) { return this.#request(board, { steal: true }, () => new Promise((resume) => setTimeout(resume, LOCKING))); }

  #request(board, options, use) { return navigator.locks.request(`${this.#name} ${hex(board)}`, options, use); }

  /**
   * Reads the stored board; null if the browser does not allow that. The caller has the lock.
   *
   * `owner.onState(state)` is called when the storage becomes `full`, or `ok` again. `owner.keyframe()` returns the whole
   * board as a stored change, or null, and `owner.pending()` the number of local changes that no other member has.
   */
  async log(board, owner) {
    if (!this.#database) return null;
    try {
      return await BoardLog.open(this.#database, hex(board), owner);
    } catch {
      return null;
    }
  }
}

/**
 * The stored changes of one board.
 *
 * Each write contains all waiting changes, in order. If a write fails, the stored changes stay as they are, and a keyframe
 * with the whole board replaces them later.
 */
class BoardLog {
  #database;
  #board;
  #owner;
  #stored = [];
  #next = 1;
  #count = 0;
  #byteCount = 0;
  #waiting = [];
  #writing = null;
  #needsKeyframe = false;
  #retry = null;
  #isClosed = false;
  state = "ok";
  /** The stored result of `owner.pending()`. */
  pending = 0;
  photoHashes = [];

  static async open(database, board, owner) {
    const log = new BoardLog();
    log.#database = database;
    log.#board = board;
    log.#owner = owner;
    const range = IDBKeyRange.bound([board], [board, []]);
    const transaction = database.transaction(["boards", "changes", "photos"]);
    const [entry, numbers, changes, photos] = await Promise.all([
      request(transaction.objectStore("boards").get(board)),
      request(transaction.objectStore("changes").getAllKeys(range)),
      request(transaction.objectStore("changes").getAll(range)),
      request(transaction.objectStore("photos").getAllKeys(range)),
    ]);
    log.#stored = changes.filter((change) => change instanceof Uint8Array);
    // A keyframe soon replaces damaged changes.
    log.#count = log.#stored.length < changes.length ? CHANGES : changes.length;
    log.#byteCount = log.#stored.reduce((sum, change) => sum + (isKeyframe(change) ? 0 : change.length), 0);
    log.#next = (numbers.at(-1)?.[1] ?? 0) + 1;
    log.photoHashes = photos.map(([, sha256]) => sha256);
    log.pending = Number(entry?.confirmed?.pending) || 0;
    return log;
  }

  /** Returns the stored changes in order, and releases them from memory. */
  takeStored() {
    const stored = this.#stored;
    this.#stored = [];
    return stored;
  }

  append(change) {
    this.#count += 1;
    this.#byteCount += change.length;
    if (this.#needsKeyframe) return;
    this.#waiting.push([this.#next++, change]);
    this.#write();
  }

  confirmed() { this.#write(); }

  async photo(sha256) {
    try {
      const transaction = this.#database.transaction("photos");
      const found = await request(transaction.objectStore("photos").get([this.#board, sha256]));
      return found instanceof Blob ? found : null;
    } catch {
      return null;
    }
  }

  async addPhoto(sha256, blob) {
    try {
      await write(this.#database, (stores) => stores.photos.put(blob, [this.#board, sha256]));
      return true;
    } catch {
      this.#failed();
      return false;
    }
  }

  async close() {
    this.#write();
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#writing;
  }

  /** Writes until no change waits. Each transaction has all changes that arrived during the previous one. */
  #write() {
    if (this.#isClosed || this.#needsKeyframe) return;
    this.#writing ??= (async () => {
      await Promise.resolve();
      try {
        while (this.#waiting.length || this.pending !== this.#owner.pending()) {
          await this.#writeChanges(this.#waiting.splice(0));
          if (this.#count > CHANGES || this.#byteCount > BYTES) await this.#writeKeyframe();
        }
      } catch {
        this.#failed();
      }
      this.#writing = null;
    })();
  }

  #writeChanges(changes) {
    return write(this.#database, (stores) => {
      for (const [number, change] of changes) stores.changes.put(change, [this.#board, number]);
      this.#putPending(stores);
    });
  }

  #putPending(stores) {
    this.pending = this.#owner.pending();
    stores.boards.put({ confirmed: { pending: this.pending } }, this.#board);
  }

  /** Replaces all changes by the content of the board; returns false while the board has no keyframe. */
  async #writeKeyframe() {
    const keyframe = this.#owner.keyframe();
    if (!keyframe) return false;
    const number = this.#next++;
    // Changes from now on are not in the keyframe.
    this.#waiting = [];
    this.#needsKeyframe = false;
    this.#count = 1;
    this.#byteCount = 0;
    await write(this.#database, (stores) => {
      stores.changes.delete(IDBKeyRange.bound([this.#board], [this.#board, []]));
      stores.changes.put(keyframe, [this.#board, number]);
      this.#putPending(stores);
    });
    return true;
  }

  /** Handles full storage: the board stays only in memory until a keyframe is written. */
  #failed() {
    this.#needsKeyframe = true;
    this.#waiting = [];
    this.#setState("full");
    clearTimeout(this.#retry);
    if (!this.#isClosed) this.#retry = setTimeout(() => this.#tryAgain(), RETRY);
  }

  async #tryAgain() {
    try {
      if (!await this.#writeKeyframe()) return this.#failed();
      this.#setState("ok");
      this.#write();
    } catch {
      this.#failed();
    }
  }

  #setState(state) {
    this.state = state;
    this.#owner.onState(state);
  }
}

// `ActionWriter.swift` defines the format of a stored change.

const isKeyframe = (change) => change[0] === 4;

function openDatabase(name) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => {
      for (const store of ["boards", "changes", "photos"]) opening.result.createObjectStore(store);
    };
    opening.onsuccess = () => {
      const database = opening.result;
      database.onversionchange = () => database.close();
      resolve(database);
    };
    opening.onerror = () => reject(opening.error);
    opening.onblocked = () => reject(new Error("another page keeps the database open"));
  });
}

const request = (made) => new Promise((resolve, reject) => {
  made.onsuccess = () => resolve(made.result);
  made.onerror = () => reject(made.error);
});

function write(database, body) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(["boards", "changes", "photos"], "readwrite", { durability: "relaxed" });
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was aborted"));
    const stores = Object.fromEntries(["boards", "changes", "photos"].map((name) => [name, transaction.objectStore(name)]));
    body(stores);
  });
}
