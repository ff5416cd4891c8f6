import Foundation
import GRDB
import Whiteboard

extension BoardDocument {
  /// Reads all stored data, applies the history to a board, and describes all damage; implements REC-18.
  ///
  /// A file is *whole* if this function returns an empty list. The check covers the WAL file, and all pages, rows,
  /// photos and indexes. Each stored state must match its digest and the board that the log produces.
  /// - Parameters:
  ///   - path: The path of the file; it is only read.
  ///   - played: The type of the board to which the history is applied.
  /// - Returns: One line for each problem; empty if the file is intact.
  /// - Throws: An error if the file cannot be read at all.
  /// - Complexity: O(*n*), where *n* is the size of the file.
  public static func damages(at path: String, playing played: any PlayedBoard.Type) async throws(DocumentError)
    -> [String]
  {
    let lacksIndex = try await Blocking.run(path) {
      WriteAheadLog.examine(DocumentFile.resolved(path))?.lacksIndex ?? false
    }
    let document = try await open(at: path, mode: .reading)
    let (path, board) = (document.path, document.board)
    let known =
      document.damages
      + (lacksIndex
        ? [
          "the index of its log (the file that ends in -shm) is missing, so it is unknown whether the log is complete; "
            + "the last changes may be missing"
        ] : [])
    let found: [String]
    do throws(DocumentError) {
      found = try await document.read { db in
        Replay(db, at: path, board: board).damages(besides: known, playing: played)
      }
    } catch { found = known + [error.message] }
    try await document.close()
    return found
  }
}

/// A replay of a document's history on a board, with checks of the stored digests.
struct Replay {
  /// A stored state that differs from the replayed board at its position.
  struct Mismatch {
    let check: DocumentHistory.Check
    let step: Int?
    let digest: [UInt8]
    let keyframe: [UInt8]
  }

  struct Outcome {
    var mismatches: [Mismatch] = []
    var faults: [Int] = []
    var wrong: [Int64] = []

    var problems: [String] {
      faults.map { "step \($0 + 1) cannot be applied" }
        + mismatches.map { mismatch in
          "after step \(mismatch.check.place), at \(LogReader.moment(mismatch.check.time)): the digest is "
            + "\(Hexadecimal.encode(mismatch.digest).prefix(16)) instead of "
            + "\(Hexadecimal.encode(mismatch.check.digest).prefix(16))"
        } + wrong.map { "keyframe \($0) does not match its digest" }
    }
  }

  private let db: Database
  private let path: String
  private let board: [UInt8]

  init(_ db: Database, at path: String, board: [UInt8]) {
    self.db = db
    self.path = path
    self.board = board
  }

  /// Returns one line for each problem.
  func damages(besides known: [String], playing kind: any PlayedBoard.Type) -> [String] {
    let stored = known + LogReader(db, path: path).damages()
    // If the replay fails, `stored` already describes the damage that caused the failure.
    guard let outcome = try? play(kind) else { return stored.isEmpty ? ["its history cannot be replayed"] : stored }
    return stored + outcome.problems
  }

  func play(_ kind: any PlayedBoard.Type) throws -> Outcome { try play(on: kind) }

  private func play<Played: PlayedBoard>(on kind: Played.Type) throws -> Outcome {
    let history = try DocumentHistory(db, at: path, board: board, name: "")
    guard var played = Played(board: board) else {
      throw DocumentError(.damaged, "\(path): the board's id is not valid")
    }
    for author in history.authors { played.apply(author) }
    var outcome = Outcome()
    var place = 0
    func play(to end: Int) {
      while place < end {
        do { try played.apply(history.steps[place].content) } catch { outcome.faults.append(place) }
        place += 1
      }
    }
    for check in history.checks {
      play(to: check.place)
      guard played.digest != check.digest else { continue }
      let step = check.place - 1
      var isTakenIn = false
      if step >= 0, case .keyframe = history.steps[step].content { isTakenIn = history.steps[step].time == check.time }
      outcome.mismatches.append(
        Mismatch(
          check: check,
          step: isTakenIn ? step : nil,
          digest: played.digest,
          keyframe: isTakenIn ? played.keyframe : []
        )
      )
    }
    play(to: history.steps.count)
    outcome.wrong = try wrongKeyframes(kind)
    return outcome
  }

  private func wrongKeyframes<Played: PlayedBoard>(_ kind: Played.Type) throws -> [Int64] {
    var wrong: [Int64] = []
    let rows = try Row.fetchCursor(db, sql: "SELECT \(StoredKeyframe.columns) FROM keyframe")
    while let row = try rows.next() {
      guard let keyframe = StoredKeyframe(StoredValue.columns(row)), var alone = Played(board: board) else { continue }
      let isApplied: Void? = try? alone.apply(.keyframe(keyframe.body))
      if isApplied == nil || alone.digest != keyframe.digest { wrong.append(keyframe.id) }
    }
    return wrong
  }
}

/// A repair of the invalid parts of a recovered document, which reports the data that it removed.
struct WholenessRepair {
  private let db: Database
  private let path: String
  private let board: [UInt8]
  private let kind: any PlayedBoard.Type

  init(_ db: Database, at path: String, board: [UInt8], _ kind: any PlayedBoard.Type) {
    self.db = db
    self.path = path
    self.board = board
    self.kind = kind
  }

  /// Removes or replaces keyframes and entries that fail the checks, until all checks pass, and returns descriptions of
  /// the losses. Throws an error if checks still fail after the repair.
  func run() throws -> [String] {
    var losses: [String] = []
    // Repeat the checks, since each round can reveal more damage.
    for _ in 0..<8 {
      let outcome = try Replay(db, at: path, board: board).play(kind)
      guard !outcome.problems.isEmpty else { break }
      let takenIn = outcome.mismatches.filter { $0.step != nil }
      for mismatch in takenIn {
        if let name = mismatch.check.name { losses.append("the original state of the version '\(name)'") }
        try replace(mismatch)
      }
      guard takenIn.isEmpty else { continue }
      for mismatch in outcome.mismatches {
        if let name = mismatch.check.name { losses.append("the version '\(name)'") }
        try drop(mismatch.check)
      }
      for id in outcome.wrong { try db.execute(sql: "DELETE FROM keyframe WHERE id = ?", arguments: [id]) }
      if !outcome.faults.isEmpty {
        losses.append("changes that cannot be applied: \(outcome.faults.count)")
        try drop(outcome.faults)
      }
    }
    try Meta.set(db, .closed, LogTail(db, at: path).text)
    let replay = Replay(db, at: path, board: board)
    let left = try LogReader(db, path: path).damages() + replay.play(kind).problems
    guard left.isEmpty else {
      throw DocumentError(
        .damaged,
        "\(path): the remaining data is not a whole board: \(left.prefix(3).joined(separator: "; "))"
      )
    }
    return losses
  }

  private func drop(_ check: DocumentHistory.Check) throws {
    try db.execute(
      sql: "DELETE FROM keyframe WHERE digest = ? AND time = ? AND name IS ?",
      arguments: [Data(check.digest), check.time, check.name]
    )
  }

  private func replace(_ mismatch: Replay.Mismatch) throws {
    let rows = try Row.fetchAll(
      db,
      sql: "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE digest = ? AND time = ?",
      arguments: [Data(mismatch.check.digest), mismatch.check.time]
    )
    for row in rows {
      guard let keyframe = StoredKeyframe(StoredValue.columns(row)) else { continue }
      try db.execute(sql: "DELETE FROM keyframe WHERE id = ?", arguments: [keyframe.id])
      try LogWriter.store(keyframe.replaced(digest: mismatch.digest, body: mismatch.keyframe), db)
    }
  }

  private func drop(_ steps: [Int]) throws {
    let history = try DocumentHistory(db, at: path, board: board, name: "")
    var left: [Int64: [DocumentEntry]] = [:]
    let dropped = Set(steps)
    for (number, step) in history.steps.enumerated() where !dropped.contains(number) {
      switch step.content {
      case .batch(let bytes): left[step.row, default: []].append(.batch(bytes: bytes, time: step.time))
      case .answer(let bytes): left[step.row, default: []].append(.answer(bytes: bytes, time: step.time))
      case .keyframe: break
      }
    }
    let ids = try Int64.fetchAll(db, sql: "SELECT id FROM log ORDER BY id")
    let keyframes = try Row.fetchAll(db, sql: "SELECT \(StoredKeyframe.columns) FROM keyframe").compactMap {
      StoredKeyframe(StoredValue.columns($0))
    }
    let marks = try Row.fetchAll(db, sql: "SELECT \(StoredMark.columns) FROM mark ORDER BY id").compactMap {
      StoredMark(StoredValue.columns($0))
    }
    try db.execute(sql: "DELETE FROM log; DELETE FROM keyframe; DELETE FROM mark")
    var tail = LogTail()
    // The end of the new log after each row of the old log.
    var tails: [(id: Int64, tail: LogTail)] = [(0, tail)]
    for id in ids {
      try LogWriter.append(left[id] ?? [], db, &tail)
      tails.append((id, tail))
    }
    func place(_ log: Int64) -> LogTail { tails.last { $0.id <= log }?.tail ?? LogTail() }
    for keyframe in keyframes {
      let tail = place(keyframe.log)
      let moved = keyframe.moved(id: keyframe.id, log: tail.id, chain: Int64(tail.chain), entries: tail.entries)
      try LogWriter.store(moved, db)
    }
    for mark in marks { try LogWriter.mark(mark.kind, mark.time, mark.until, place(mark.log).id, mark.name, db) }
  }
}
