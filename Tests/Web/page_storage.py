"""Checks that the page stores the board in spite of errors of the browser, and sends its last frame."""

#: Records the connections to the databases, and the states of the storage.
WATCH = """
const { transaction } = IDBDatabase.prototype;
globalThis.connections = new Set();
IDBDatabase.prototype.transaction = function (...values) {
  connections.add(this);
  return transaction.apply(this, values);
};
globalThis.storageStates = new Set();
whiteboard.board.addEventListener("state", () => storageStates.add(whiteboard.board.state.storage));
"""
#: Closes all connections, as a browser on a phone does in the background.
CLOSE = """
for (const connection of connections) {
  connection.close();
  connection.dispatchEvent(new Event("close"));
}
const { size } = connections;
connections.clear();
return size;
"""
#: The number of the last stored change, and how many photos are stored.
STORED = """
const done = arguments[0], opening = indexedDB.open("whiteboard");
opening.onsuccess = () => {
  const transaction = opening.result.transaction(["changes", "photos"]);
  const [keys, photos] = [transaction.objectStore("changes").getAllKeys(), transaction.objectStore("photos").count()];
  transaction.oncomplete = () => {
    opening.result.close();
    done([keys.result.at(-1)?.[1] ?? 0, photos.result]);
  };
};
"""
PHOTO = """
const canvas = new OffscreenCanvas(40, 20);
canvas.getContext("2d").fillRect(0, 0, 20, 20);
canvas.convertToBlob({ type: "image/png" }).then((blob) => whiteboard.board.createPhoto(blob, [0, 0]))
  .then((id) => globalThis.photo = whiteboard.board.objects.get(id).sha256);
"""
READ = "const [sha256, done] = arguments; whiteboard.board.photo(sha256).then((blob) => done(blob?.size ?? null))"


def check_storage(page, checks):
    page.open()
    check_closed_database(page, checks)
    page.driver.set_script_timeout(120)
    results = page.driver.execute_async_script(
        "const done = arguments[0]; import('/storing.mjs').then(({ run }) => run()).then(done, (error) => done([[String(error.stack), false]]))")
    for what, holds in results:
        checks.check(what, holds)


def check_closed_database(page, checks):
    """Closes the database while the board is open."""
    check = checks.check

    def stores(condition):
        """Waits until the last stored change and the number of photos meet a condition."""
        for _ in range(100):
            found = page.driver.execute_async_script(STORED)
            if condition(*found):
                return found
        return None

    page.run(WATCH)
    page.run(PHOTO)
    page.wait("globalThis.photo")
    photo = page.run("return photo")
    before = stores(lambda last, photos: last and photos)
    check("a photo is stored", before, before)
    closed = page.run(CLOSE)
    draw = "return whiteboard.board.createDrawing([[0, 0], [50, 50]])"
    stroke = page.run(draw)
    stored = closed and stores(lambda last, _: last > before[0])
    check("after the browser has closed the database, changes are stored", stored, (closed, before, stored))
    page.run(CLOSE)
    size = page.driver.execute_async_script(READ, photo)
    check("a photo can be read", size, size)
    page.run(CLOSE)
    page.run(PHOTO.replace("20, 20)", "10, 10)"))
    page.wait(f"globalThis.photo !== '{photo}'")
    other = page.run("return photo")
    check("a new photo is stored", stores(lambda _, photos: photos == before[1] + 1))
    states = page.run("return [...storageStates]")
    check("the storage is never reported as full", set(states) <= {"ok"}, states)
    page.driver.get("about:blank")
    page.driver.get(page.address + "/")
    page.wait("globalThis.whiteboard?.board.members.size")
    check("a reload restores what was drawn later", page.run("return whiteboard.board.objects.has(arguments[0])", stroke))
    sizes = [page.driver.execute_async_script(READ, sha256) for sha256 in (photo, other)]
    check("a reload restores the photos", all(sizes), sizes)
