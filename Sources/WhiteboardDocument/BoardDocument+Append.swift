import Foundation
import GRDB
import Whiteboard

extension BoardDocument {
  /// An append that waits for the next transaction.
  struct Pending: Sendable {
    let steps: [Step]
    let done: CheckedContinuation<DocumentError?, Never>
  }

  /// A step of a transaction, which runs its steps in order.
  enum Step: Sendable {
    case entries([DocumentEntry])
    case keyframe(bytes: [UInt8], digest: [UInt8], name: String?, time: Int64)
  }

  /// Stores entries in order, and returns when they would survive a crash of this process.
  ///
  /// Calls during a transaction, or within the group interval after it, share the next transaction.
  /// The order of concurrent calls from different tasks is not defined.
  /// - Throws: `full`, `quota`, `readOnly`, `tooLarge`, `closed`, `inputOutput`: none of these
  ///   entries was stored. Entries that were acknowledged before are safe, and later calls try
  ///   again. `removed`: the file is no longer at its path; ``reinstate()`` restores it.
  public func append(_ entries: [DocumentEntry]) async throws(DocumentError) {
    try checkWritable()
    for case .marker(let name, _) in entries { try DocumentName.check(name) }
    guard !entries.isEmpty else { return }
    if let error = await enqueue([.entries(entries)]) { throw error }
  }

  /// Stores the whole state after all entries appended so far, so that opening can begin from it.
  ///
  /// The two newest keyframes stay, since one may be damaged. Of the older ones, enough stay that
  /// seeking applies at most about 16,384 entries.
  /// - Parameters:
  ///   - bytes: The state.
  ///   - digest: The digest that a board in this state must have.
  ///   - time: Milliseconds since 1970.
  ///   - lost: The time from which entries are missing in the log, because they could not be
  ///     appended, although this state contains them; nil if none are missing. A gap is stored for
  ///     them, since no earlier keyframe leads to this state any more.
  /// - Throws: The errors of ``append(_:)``.
  public func writeKeyframe(
    _ bytes: [UInt8],
    digest: [UInt8],
    time: Int64,
    lostSince lost: Int64? = nil
  ) async throws(DocumentError) {
    try checkWritable()
    let gap: [Step] = lost.map { [.entries([.gap(from: min($0, time), to: time)])] } ?? []
    let step = Step.keyframe(bytes: bytes, digest: digest, name: nil, time: time)
    if let error = await enqueue(gap + [step]) { throw error }
  }

  /// Whether a keyframe is due: entries were appended, and the last keyframe is 30 seconds or 4,096
  /// entries ago.
  public func needsKeyframe(now: Int64) -> Bool {
    tail.entriesSince >= 4096
      || (tail.entriesSince > 0 && now &- tail.keyframeTime >= 30_000)
  }

  /// Whether entries were appended since the last keyframe.
  public var hasEntriesSinceKeyframe: Bool { tail.entriesSince > 0 }

  /// Waits for the transaction that runs `steps`, and returns its error if it failed.
  func enqueue(_ steps: [Step]) async -> DocumentError? {
    await withCheckedContinuation { done in
      pending.append(Pending(steps: steps, done: done))
      guard !isFlushing else { return }
      isFlushing = true
      // Each caller waits for its own steps, and `close` waits for all of them.
      Task { await self.flush() }
    }
  }

  /// Commits groups of steps until none are pending.
  private func flush() async {
    while !pending.isEmpty {
      let group = pending
      pending = []
      let failure = await commit(group.flatMap(\.steps))
      if failure != nil, group.count > 1 {
        // The entries of one caller may be the reason, so commit each caller's steps separately.
        for waiter in group { waiter.done.resume(returning: await commit(waiter.steps)) }
      } else {
        for waiter in group { waiter.done.resume(returning: failure) }
      }
      // Steps that arrive within this time share the next transaction. A close need not wait.
      if !pending.contains(where: \.steps.isEmpty) {
        try? await clock.sleep(for: groupInterval)
      }
    }
    isFlushing = false
  }

  /// Runs `steps` in one transaction, and returns the error if this failed.
  private func commit(_ steps: [Step]) async -> DocumentError? {
    guard !steps.isEmpty else { return nil }
    if let injectedFailure { return injectedFailure }
    let before = tail
    let result = await onQueue { [files] db in
      var tail = before
      try db.inTransaction(.immediate) {
        for step in Self.joined(steps) { try LogWriter.perform(step, db, &tail) }
        return .commit
      }
      return (tail, isThere: files?.areThere ?? true)
    }
    guard case .success(let (after, isThere)) = result else { return result.failure }
    tail = after
    groupsCommitted += 1
    // SQLite also writes to a removed file, but no program can open that file again.
    return isThere ? nil : .removed(path)
  }

  /// Returns the steps with consecutive entries joined into one step, so that these share rows.
  private static func joined(_ steps: [Step]) -> [Step] {
    var result: [Step] = []
    var entries: [DocumentEntry] = []
    for step in steps {
      if case .entries(let more) = step {
        entries += more
      } else {
        if !entries.isEmpty { result.append(.entries(entries)) }
        entries = []
        result.append(step)
      }
    }
    return entries.isEmpty ? result : result + [.entries(entries)]
  }
}

/// Writes to the log and to its related tables, inside a transaction.
enum LogWriter {
  /// The size in bytes at which a row is cut, so that damage to one row loses little.
  private static let rowSize = 1 << 18

  static func perform(
    _ step: BoardDocument.Step,
    _ db: Database,
    _ tail: inout LogTail
  ) throws {
    switch step {
    case .entries(let entries):
      try append(entries, db, &tail)
    case .keyframe(let bytes, let digest, let name, let time):
      try keyframe(bytes, digest, name, time, db, &tail)
    }
  }

  static func append(_ entries: [DocumentEntry], _ db: Database, _ tail: inout LogTail) throws {
    var packed: [DocumentEntry] = []
    var traffic: [TrafficEntry] = []
    var size = 0
    for entry in entries {
      switch entry {
      case .batch(let bytes, _), .answer(let bytes, _):
        packed.append(entry)
        size += bytes.count
        if size >= rowSize {
          try row(&packed, db, &tail)
          size = 0
        }
      case .author(let record, let incarnation):
        try author(incarnation, record: record, db)
      case .head(let bytes, let incarnation, let sequence):
        try head(incarnation, bytes, sequence, db)
      case .marker(let name, let time):
        try row(&packed, db, &tail)
        try mark(0, time, time, tail.id, name, db)
      case .gap(let from, let to):
        try row(&packed, db, &tail)
        try mark(1, from, to, tail.id, "", db)
      case .end(let time):
        try row(&packed, db, &tail)
        try mark(2, time, time, tail.id, "", db)
      case .name(let name, let person): try StoredName.set(name, of: person, db)
      case .traffic(let entry): traffic.append(entry)
      }
    }
    try row(&packed, db, &tail)
    try StoredTraffic.append(traffic, cutAt: rowSize, db)
  }

  private static func row(
    _ entries: inout [DocumentEntry],
    _ db: Database,
    _ tail: inout LogTail
  ) throws {
    guard !entries.isEmpty else { return }
    let row = LogRow(id: tail.id + 1, packing: entries)
    let sum = row.sum(after: tail.chain)
    let statement = try db.cachedStatement(
      sql: "INSERT INTO log (id, time, entries, body, sum) VALUES (?, ?, ?, ?, ?)"
    )
    try statement.execute(arguments: [row.id, row.time, row.entries, Data(row.body), sum])
    tail.id = row.id
    tail.chain = UInt32(truncatingIfNeeded: sum)
    tail.entriesSince += row.entries
    entries = []
  }

  private static func author(_ incarnation: UInt64, record: [UInt8], _ db: Database) throws {
    let known = try StoredAuthor.find(incarnation, db)
    guard known?.record.isEmpty ?? true else { return }
    let row = StoredAuthor(
      incarnation: incarnation,
      record: record,
      sequence: known?.sequence ?? 0,
      head: known?.head ?? []
    )
    try store(row, db)
  }

  private static func head(
    _ incarnation: UInt64,
    _ bytes: [UInt8],
    _ sequence: UInt64,
    _ db: Database
  ) throws {
    let known = try StoredAuthor.find(incarnation, db)
    if let known, !known.head.isEmpty, known.sequence >= sequence { return }
    let row = StoredAuthor(
      incarnation: incarnation,
      record: known?.record ?? [],
      sequence: sequence,
      head: bytes
    )
    try store(row, db)
  }

  static func store(_ row: StoredAuthor, _ db: Database) throws {
    let statement = try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO author (incarnation, record, sequence, head, crc)
        VALUES (?, ?, ?, ?, ?)
        """
    )
    try statement.execute(arguments: [
      Int64(bitPattern: row.incarnation), Data(row.record), Int64(bitPattern: row.sequence),
      Data(row.head), Int64(row.checksum),
    ])
  }

  static func mark(
    _ kind: Int64,
    _ time: Int64,
    _ until: Int64,
    _ log: Int64,
    _ name: String,
    _ db: Database
  ) throws {
    let id = try StoredNumber.next(in: "mark", db)
    let crc = StoredMark.checksum(id, kind, time, until, log, name)
    try db.execute(
      sql: "INSERT INTO mark (id, kind, time, until, log, name, crc) VALUES (?, ?, ?, ?, ?, ?, ?)",
      arguments: [id, kind, time, until, log, name, Int64(crc)]
    )
  }

  static func keyframe(
    _ bytes: [UInt8],
    _ digest: [UInt8],
    _ name: String?,
    _ time: Int64,
    _ db: Database,
    _ tail: inout LogTail
  ) throws {
    let id = try StoredNumber.next(in: "keyframe", db)
    let row = StoredKeyframe(
      id: id,
      log: tail.id,
      chain: Int64(tail.chain),
      entries: tail.entriesBefore + tail.entriesSince,
      time: time,
      name: name,
      digest: digest,
      body: bytes
    )
    try store(row, db)
    tail.entriesBefore = row.entries
    tail.entriesSince = 0
    tail.keyframeTime = time
    try thin(db)
  }

  static func store(_ row: StoredKeyframe, _ db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO keyframe (id, log, chain, entries, time, name, digest, body, crc)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        row.id, row.log, row.chain, row.entries, row.time, row.name, Data(row.digest),
        Data(row.body), Int64(row.checksum),
      ]
    )
  }

  /// Removes the third newest keyframe, unless seeking needs it or it ends a gap.
  private static func thin(_ db: Database) throws {
    let newest = try Row.fetchAll(
      db,
      sql: "SELECT id, entries FROM keyframe WHERE name IS NULL ORDER BY id DESC LIMIT 4"
    )
    guard newest.count == 4, let before = Int64.fromDatabaseValue(newest[3][1]),
      let after = Int64.fromDatabaseValue(newest[1][1]), after &- before <= 16_384,
      let id = Int64.fromDatabaseValue(newest[2][0])
    else { return }
    // The data in a gap is only in the keyframe that ends it, and later answers omit that data.
    try db.execute(
      sql: "DELETE FROM keyframe WHERE id = ? AND log NOT IN (SELECT log FROM mark WHERE kind = 1)",
      arguments: [id]
    )
  }
}
