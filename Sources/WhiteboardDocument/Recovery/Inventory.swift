import GRDB

/// A list of the data that a damaged file should contain, as far as its tables can be read.
///
/// Data is lost if it is listed, but no row with a matching checksum is found.
struct Inventory: Sendable {
  /// A keyframe, with its name if it is a version.
  struct Keyframe: Hashable, Sendable {
    let id: Int64
    let name: String?
  }

  private(set) var keyframes: Set<Keyframe> = []
  private(set) var lastRow: Int64 = 0
  private(set) var authors: Set<UInt64> = []
  private(set) var marks: Set<Int64> = []
  private(set) var assets: Set<[UInt8]> = []
  /// The row numbers in the table `traffic`.
  private(set) var traffic: Set<Int64> = []
  private(set) var settings: Set<String> = []
  /// The reasons why these lists may be incomplete.
  private(set) var problems: [String] = []

  /// Reads the lists of the file at `path`; blocks the thread.
  init(_ path: String) {
    do {
      let database = try Connector.connect(path, .reading)
      defer { try? OpenFiles.close(database) }
      try database.read { db in read(db, path) }
    } catch { add(error, path) }
  }

  private mutating func read(_ db: Database, _ path: String) {
    list("PRAGMA quick_check(1)", db, path) { found, columns in
      guard let text = columns.first?.text, text != "ok" else { return }
      found.problems.append("the data on damaged pages (\(text))")
    }
    list("SELECT id, name FROM keyframe", db, path) { found, columns in
      guard let id = columns[0].integer else { return }
      found.keyframes.insert(Keyframe(id: id, name: columns[1].text))
    }
    list("SELECT max(id) FROM log", db, path) { found, columns in found.lastRow = columns[0].integer ?? 0 }
    list("SELECT incarnation FROM author", db, path) { found, columns in
      if let number = columns[0].integer { found.authors.insert(UInt64(bitPattern: number)) }
    }
    list("SELECT id FROM mark", db, path) { found, columns in if let id = columns[0].integer { found.marks.insert(id) }
    }
    list("SELECT sha256 FROM asset", db, path) { found, columns in
      if let hash = columns[0].blob { found.assets.insert(hash) }
    }
    if (try? db.tableExists(StoredTraffic.table)) == true {
      list("SELECT id FROM traffic", db, path) { found, columns in
        if let id = columns[0].integer { found.traffic.insert(id) }
      }
    }
    list("SELECT key FROM meta", db, path) { found, columns in
      if let key = columns[0].text { found.settings.insert(key) }
    }
  }

  /// Reads one list; damage to it does not affect the other lists.
  private mutating func list(
    _ sql: String,
    _ db: Database,
    _ path: String,
    _ insert: (inout Inventory, [StoredValue]) -> Void
  ) {
    do { for row in try Row.fetchAll(db, sql: sql) { insert(&self, StoredValue.columns(row)) } } catch {
      add(error, path)
    }
  }

  private mutating func add(_ error: any Error, _ path: String) {
    let loss = "unknown data, because a list in the file cannot be read: "
    let problem = loss + DocumentError.from(error, at: path).message
    if !problems.contains(problem) { problems.append(problem) }
  }
}
