import { fromHex, hex } from "./ids.mjs";

/** The number and the total bytes of stored changes above which a keyframe replaces them. */
const CHANGES = 2048;
const BYTES = 4 << 20;
/** The timeout for the lock of a board, in milliseconds. */
const LOCKING = 1000;
/** The time before the next attempt to write to full storage, in milliseconds. */
const RETRY = 10_000;
/** The timeout for opening the database, in milliseconds. */
const OPENING = 4000;
/** The time after which a board that was neither opened nor changed is deleted, in milliseconds. */
const OLD = 30 * 86_400_000;
const STORES = ["boards", "changes", "photos"];

/** Returns the storage of this origin. If the browser allows none, `log` returns null. */
export async function openStorage(name = "whiteboard") {
  try {
    const database = new Database(name);
    await database.use("readonly", () => []);
    return new Storage(name, database);
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

  /** Waits until another tab has released the lock. If that tab soon takes the lock again, for example after a reload, waits again. */
  async freed(board) {
    do {
      await this.#request(board, {}, () => {});
      await new Promise((resume) => setTimeout(resume, LOCKING));
    } while (!await this.#request(board, { ifAvailable: true }, Boolean));
  }

  /**
   * Takes the lock from another tab, and waits some time in which that tab can store its changes. Then the page must be
   * reloaded.
   */
  takeLock(board) { return this.#request(board, { steal: true }, () => new Promise((resume) => setTimeout(resume, LOCKING))); }

  #request(board, options, use) { return navigator.locks.request(`${this.#name} ${hex(board)}`, options, use); }

  /**
   * Reads the stored board; null if the browser does not allow that. The caller has the lock.
   *
   * `owner.onState(state)` is called when the storage becomes `full`, or `ok` again. `owner.onLost()` is called when another
   * tab has opened the board, and `owner.onDeleted(sha256)` when a photo that the board does not know is deleted.
   * `owner.keyframe()` returns the whole board as a stored change, or null, and `owner.pending()` the number of local
   * changes that no other member has.
   */
  async log(board, owner) {
    if (!this.#database) return null;
    try {
      const log = await BoardLog.open(this.#database, hex(board), owner);
      this.#deleteOldBoards().catch(() => {});
      return log;
    } catch {
      return null;
    }
  }

  /** Deletes the boards that were not opened for a long time, if other members have all changes, and no tab has the board. */
  async #deleteOldBoards() {
    const isOld = ({ openedAt, confirmed }) => confirmed?.pending === 0 && Date.now() - openedAt > OLD;
    const [keys, entries] = await this.#database.use("readonly", ({ boards }) => [boards.getAllKeys(), boards.getAll()]);
    for (const key of keys.filter((_, index) => isOld(entries[index]))) {
      await this.#request(fromHex(key), { ifAvailable: true }, (lock) => lock && this.#database.use("readwrite", (stores) => {
        const reading = stores.boards.get(key);
        // Another tab may have used the board in the meantime.
        reading.onsuccess = () => {
          if (!reading.result || !isOld(reading.result)) return;
          stores.boards.delete(key);
          for (const store of [stores.changes, stores.photos]) store.delete(rangeOf(key));
        };
        return [];
      }));
    }
  }
}

/**
 * The stored changes of one board.
 *
 * Each write contains all waiting changes, in order. If a write fails, the stored changes stay as they are, and a
 * keyframe with the whole board replaces them later. If a photo cannot be stored, the log also tries again later.
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
  /** The photos that are not stored yet: SHA-256 to Blob. */
  #photos = new Map();
  /** Identifies this log. Each log replaces the id in storage, so that a tab that was suspended overwrites nothing later. */
  #id = crypto.randomUUID();
  /** The ids in storage with which this log may write. */
  #ids = [this.#id];
  state = "ok";
  /** The stored result of `owner.pending()`. */
  pending = 0;
  /** The SHA-256 of each stored photo. */
  photoHashes;

  static async open(database, board, owner) {
    const log = new BoardLog();
    log.#database = database;
    log.#board = board;
    log.#owner = owner;
    const read = ({ boards, changes, photos }) => {
      const range = rangeOf(board);
      return [boards.get(board), changes.getAllKeys(range), changes.getAll(range), photos.getAllKeys(range)];
    };
    let found;
    try {
      found = await database.use("readwrite", (stores) => {
        const requests = read(stores);
        requests[0].onsuccess = () => log.#putEntry(stores, requests[0].result?.confirmed);
        return requests;
      });
    } catch {
      // The storage is full.
      found = await database.use("readonly", read);
      log.#ids.push(found[0]?.log);
      log.#needsKeyframe = true;
      log.#failed();
    }
    const [entry, numbers, changes, photos] = found;
    log.#stored = changes.filter((change) => change instanceof Uint8Array);
    // A keyframe soon replaces damaged changes.
    log.#count = log.#stored.length < changes.length ? CHANGES : changes.length;
    log.#byteCount = log.#stored.reduce((sum, change) => sum + (isKeyframe(change) ? 0 : change.length), 0);
    log.#next = (numbers.at(-1)?.[1] ?? 0) + 1;
    log.photoHashes = new Set(photos.map(([, sha256]) => sha256));
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

  /** Returns a photo; null if there is none. Throws an error if the photo cannot be read. */
  async photo(sha256) {
    const [found] = this.#photos.has(sha256) ? [this.#photos.get(sha256)]
      : await this.#database.use("readonly", ({ photos }) => [photos.get([this.#board, sha256])]);
    return found instanceof Blob ? found : null;
  }

  addPhoto(sha256, blob) {
    this.#photos.set(sha256, blob);
    this.#writePhoto(sha256, blob);
  }

  async close() {
    this.#write();
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#writing;
  }

  /** Writes until no change waits. Each transaction has all changes that arrived during the previous transaction. */
  #write() {
    if (this.#isClosed || this.#needsKeyframe) return;
    this.#run(async () => {
      while (this.#waiting.length || this.pending !== this.#owner.pending()) {
        const changes = this.#waiting.splice(0);
        await this.#put((stores) => {
          for (const [number, change] of changes) stores.changes.put(change, [this.#board, number]);
          this.#putPending(stores);
        });
        if (this.#count > CHANGES || this.#byteCount > BYTES) await this.#writeKeyframe();
      }
    });
  }

  /**
   * Runs a function that writes changes, unless such a function is running. If the function fails, the board waits for
   * a keyframe.
   */
  #run(body) {
    return this.#writing ??= (async () => {
      await Promise.resolve();
      try {
        await body();
      } catch {
        this.#waiting = [];
        this.#needsKeyframe = true;
        this.#failed();
      }
      this.#writing = null;
    })();
  }

  /**
   * Runs a transaction that writes. The transaction fails if another tab has opened the board in the meantime. If the browser has
   * deleted the board, the transaction fails unless it writes the whole board (`isWhole`).
   */
  async #put(body, isWhole = false) {
    let isLost = false;
    try {
      await this.#database.use("readwrite", (stores, transaction) => {
        const reading = stores.boards.get(this.#board);
        reading.onsuccess = () => {
          const id = reading.result?.log;
          if (this.#ids.includes(id) || isWhole && !id) return;
          isLost = Boolean(id);
          transaction.abort();
        };
        body(stores);
        return [];
      });
    } catch (error) {
      if (isLost && !this.#isClosed) {
        this.#isClosed = true;
        this.#setState("off");
        this.#owner.onLost();
      }
      throw error;
    }
  }

  #putPending(stores) {
    this.pending = this.#owner.pending();
    this.#putEntry(stores, { pending: this.pending });
  }

  #putEntry(stores, confirmed) { stores.boards.put({ confirmed, log: this.#id, openedAt: Date.now() }, this.#board); }

  async #writePhoto(sha256, blob) {
    try {
      await this.#put(({ photos }) => photos.put(blob, [this.#board, sha256]));
      this.#photos.delete(sha256);
      this.photoHashes.add(sha256);
    } catch {
      this.#failed();
    }
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
    // A keyframe contains the hashes of all photos that the board knows, even if their objects are deleted.
    const content = characters(keyframe);
    const unknown = [...this.photoHashes].filter((sha256) => !content.includes(characters(fromHex(sha256))));
    for (const sha256 of unknown) {
      this.photoHashes.delete(sha256);
      this.#owner.onDeleted(sha256);
    }
    await this.#put((stores) => {
      stores.changes.delete(rangeOf(this.#board));
      stores.changes.put(keyframe, [this.#board, number]);
      for (const sha256 of unknown) stores.photos.delete([this.#board, sha256]);
      this.#putPending(stores);
    }, true);
    return true;
  }

  /** Handles full storage: what is not stored stays in memory until the next attempt. */
  #failed() {
    if (this.#isClosed) return;
    this.#setState("full");
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#tryAgain(), RETRY);
  }

  async #tryAgain() {
    if (this.#needsKeyframe) {
      await this.#run(async () => {
        if (!await this.#writeKeyframe()) throw new Error("there is no keyframe now");
      });
    }
    for (const [sha256, blob] of this.#photos) await this.#writePhoto(sha256, blob);
    if (!this.#isClosed && !this.#needsKeyframe && !this.#photos.size) this.#setState("ok");
    this.#write();
  }

  #setState(state) {
    this.state = state;
    this.#owner.onState(state);
  }
}

// `ActionWriter.swift` defines the format of a stored change.

const isKeyframe = (change) => change[0] === 4;

/** The range of the keys of a board's changes or photos. */
const rangeOf = (board) => IDBKeyRange.bound([board], [board, []]);

/** Returns a text with one character for each byte, which can be searched fast. */
const characters = (bytes) => new TextDecoder("latin1").decode(bytes);

/**
 * A database, which is opened again if its connection was lost. Browsers on phones close the connection while the page is
 * in the background.
 */
class Database {
  #name;
  #opening = null;

  constructor(name) { this.#name = name; }

  /** Runs a transaction, and returns the results of the requests that `body(stores, transaction)` returns. */
  async use(mode, body) {
    for (let isAgain = false; ; isAgain = true) {
      const opening = this.#opening ??= openDatabase(this.#name);
      try {
        return await run(await opening, mode, body);
      } catch (error) {
        if (isAgain || error.name === "QuotaExceededError") throw error;
        if (this.#opening === opening) this.#opening = null;
        opening.then((database) => database.close(), () => {});
      }
    }
  }
}

function openDatabase(name) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(name, 1);
    let isLate = false;
    opening.onupgradeneeded = () => {
      for (const store of STORES) opening.result.createObjectStore(store);
    };
    opening.onsuccess = () => {
      const database = opening.result;
      if (isLate) return database.close();
      database.onversionchange = () => database.close();
      resolve(database);
    };
    opening.onerror = () => reject(opening.error);
    opening.onblocked = () => reject(new Error("another page keeps the database open"));
    setTimeout(() => {
      isLate = true;
      reject(new Error("the database does not open"));
    }, OPENING);
  });
}

function run(database, mode, body) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORES, mode, { durability: "relaxed" });
    let requests;
    transaction.oncomplete = () => resolve(requests.map(({ result }) => result));
    transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was aborted"));
    try {
      requests = body(Object.fromEntries(STORES.map((name) => [name, transaction.objectStore(name)])), transaction);
    } catch (error) {
      reject(error);
      transaction.abort();
    }
  });
}
