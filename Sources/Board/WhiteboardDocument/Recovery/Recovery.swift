import Foundation
import GRDB
import Whiteboard

/// A report of the data that was saved from a damaged document, and of the losses.
public struct RecoveryReport: Hashable, Sendable {
  /// The board's id.
  public let board: [UInt8]
  /// The board's name.
  public let name: String
  /// The number of batches and answers that were saved.
  public let entries: Int
  /// The number of keyframes and versions that were saved.
  public let keyframes: Int
  /// The number of author incarnations whose records or heads were saved.
  public let authors: Int
  /// The number of assets that were saved.
  public let assets: Int
  /// The numbers of the log rows that are lost.
  public let lostRows: [ClosedRange<Int64>]
  /// Descriptions of the losses, with times if they are known; empty if nothing is lost.
  public let losses: [String]
}

extension BoardDocument {
  /// Saves the intact data of a damaged document to a new document, without changing the damaged document.
  ///
  /// The new document has every row whose checksum matches, from the file, from its WAL file, and from the copies that
  /// were made when damage was found earlier (REC-17). Recently deleted data may reappear. If this process has the
  /// document open, close it first.
  ///
  /// If `played` is given, ``damages(at:playing:)`` finds no damage in the new document (REC-18). Changes that cannot
  /// be applied are omitted, as are keyframes that do not match their digest. A keyframe that differs from the board
  /// that the log produces is omitted too, or is replaced by that board if the history depends on the keyframe.
  /// - Parameters:
  ///   - source: The damaged file; its WAL file is read too.
  ///   - path: The path of the new document.
  ///   - board: The board's id, which is needed only if the file no longer contains it.
  ///   - now: Milliseconds since 1970.
  ///   - locking: Whether a lock file prevents other programs from writing the damaged document during the recovery.
  ///   - played: The type of board that verifies the new document; nil leaves digests unchecked.
  /// - Returns: A report of the saved data and the losses.
  /// - Throws: `notFound`, `exists`, `inUse`, `full`; `damaged` if nothing can be saved.
  public static func recover(
    from source: String,
    to path: String,
    board: [UInt8]? = nil,
    now: Int64,
    locking: Bool = true,
    playing played: (any PlayedBoard.Type)? = nil
  ) async throws(DocumentError) -> RecoveryReport {
    let recovery = Recovery(of: source, playing: played)
    let lock = try await locking ? recovery.lock() : nil
    defer { lock?.release() }
    return try await recovery.run(to: path, board: board, now: now)
  }
}

struct Recovery: Sendable {
  private let source: String
  private let played: (any PlayedBoard.Type)?

  init(of source: String, playing played: (any PlayedBoard.Type)?) {
    self.source = DocumentFile.resolved(source)
    self.played = played
  }

  /// Prevents other programs from writing the damaged file until the lock is released. Returns nil if no program can
  /// write the file. Throws `inUse` if another program is writing the file.
  func lock() async throws(DocumentError) -> WriterLock? {
    let source = source
    return try await Blocking.run(source) {
      // If the directory is not writable, no program can write the file.
      let directory = (source as NSString).deletingLastPathComponent
      let isWritable = access(source, F_OK) == 0 && access(directory.isEmpty ? "." : directory, W_OK) == 0
      return isWritable ? try WriterLock(source) : nil
    }
  }

  /// Writes the intact data to a new document. Throws `damaged` if nothing can be saved. `board` is needed only if the
  /// file no longer contains the id; `now` is in milliseconds since 1970.
  func run(to path: String, board: [UInt8]?, now: Int64) async throws(DocumentError) -> RecoveryReport {
    let (source, played) = (source, played)
    let found = try await Blocking.run(source) { try Salvage.withCopies(of: source) }
    guard let board = found.board ?? board ?? played.flatMap({ found.board(byRecords: $0) }) else {
      throw DocumentError(.damaged, "\(source): the board's id is lost, and nothing else can be saved without it")
    }
    let name = found.name ?? "recovered"
    let stored = try await NewFile.make(at: path, board: board, name: name, now: found.created ?? now) { queue in
      var stored = try SalvageWriter(found).store(in: queue)
      guard let played else { return stored }
      try queue.write { db in
        stored.losses += try WholenessRepair(db, at: source, board: board, played).run()
        stored.keyframes = try Int.fetchOne(db, sql: "SELECT count(*) FROM keyframe") ?? 0
      }
      return stored
    }
    return RecoveryReport(
      board: board,
      name: name,
      entries: found.entries,
      keyframes: stored.keyframes,
      authors: found.authors.count,
      assets: stored.assets,
      lostRows: found.lostRows,
      losses: found.losses + stored.losses
    )
  }
}

struct SalvageWriter {
  struct Result: Sendable {
    let assets: Int
    var keyframes: Int
    var losses: [String]
  }

  private let salvage: Salvage

  init(_ salvage: Salvage) { self.salvage = salvage }

  func store(in queue: DatabaseQueue) throws -> Result {
    try queue.write { db in
      try storeLog(db)
      for author in salvage.authors.values { try LogWriter.store(author, db) }
      for mark in salvage.marks {
        let log = Int64(salvage.rows.count { $0.id <= mark.log })
        try LogWriter.mark(mark.kind, mark.time, mark.until, log, mark.name, db)
      }
      for lost in salvage.lostRows { try markLost(lost, db) }
      // If data is lost, the stored object count includes objects that the file no longer contains.
      let isSame = salvage.losses.isEmpty && !(salvage.rows.isEmpty && salvage.keyframes.isEmpty)
      let keys =
        [MetaKey.hosted, .title, .retention, .people, .changed].map(\.rawValue)
        + SealedFacts.keys.flatMap { [$0.rawValue, SealedFacts.sealKey($0)] }
        + (isSame ? [MetaKey.objects.rawValue] : [])
      for key in keys { if let value = salvage.meta[key] { try Meta.set(db, key: key, value) } }
      for (key, value) in salvage.meta {
        if let person = StoredName.person(key) { try StoredName.set(value, of: person, db) }
      }
      let saved = try salvage.traffic.flatMap { try $0.unpackTraffic() }
      try StoredTraffic.append(saved, cutAt: 1 << 18, db)
      let assets = try storeAssets(db)
      try Meta.set(db, .closed, LogTail(db, at: salvage.source).text)
      return Result(assets: assets.count, keyframes: salvage.keyframes.count, losses: assets.losses)
    }
  }

  private func storeLog(_ db: Database) throws {
    var tail = LogTail()
    var names: Set<String> = []
    // If several keyframes have the same name, only the newest of them keeps the name.
    var named: Set<Int64> = []
    for keyframe in salvage.keyframes.reversed() {
      if let name = keyframe.name, names.insert(name).inserted { named.insert(keyframe.id) }
    }
    var next = 0
    for keyframe in salvage.keyframes {
      while next < salvage.rows.count, salvage.rows[next].id <= keyframe.log {
        try LogWriter.append(salvage.rows[next].unpack(), db, &tail)
        next += 1
      }
      let moved = keyframe.moved(id: keyframe.id, log: tail.id, chain: Int64(tail.chain), entries: tail.entries)
      try LogWriter.store(named.contains(keyframe.id) ? moved : moved.unnamed, db)
    }
    for row in salvage.rows[next...] { try LogWriter.append(row.unpack(), db, &tail) }
  }

  /// Stores a gap in place of missing rows, if the time of the rows is known.
  private func markLost(_ ids: ClosedRange<Int64>, _ db: Database) throws {
    let before = salvage.rows.last { $0.id < ids.lowerBound }?.time
    let after = salvage.rows.first { $0.id > ids.upperBound }?.time
    guard let from = before ?? after else { return }
    let log = Int64(salvage.rows.count { $0.id < ids.lowerBound })
    try LogWriter.mark(1, from, after ?? from, log, "", db)
  }

  private func storeAssets(_ db: Database) throws -> (count: Int, losses: [String]) {
    var good: Set<[UInt8]> = []
    var seen: Set<[UInt8]> = []
    var scanners: [String: PageScanner] = [:]
    for asset in salvage.assets {
      let scanner = try scanners[asset.source] ?? PageScanner(asset.source)
      scanners[asset.source] = scanner
      guard let row = scanner.row(asset.place), row.columns.count == 3, let hash = row.columns[1].blob,
        let body = row.columns[2].blob
      else { continue }
      seen.insert(hash)
      guard !good.contains(hash), AssetHash.of(body) == hash else { continue }
      good.insert(hash)
      try StoredAssets.add(Data(body), sha256: hash, db)
    }
    let lost = seen.union(salvage.listedAssets).subtracting(good)
    return (good.count, lost.map { "the asset \(Hexadecimal.encode($0)); peers may have it" })
  }
}

/// A board to which a document is applied, so that the document's digests can be checked.
///
/// A document does not interpret batches and states. The caller supplies a board type that interprets them.
public protocol PlayedBoard: Sendable {
  /// Creates an empty board with an id; nil if the id is not valid.
  init?(board: [UInt8])
  /// Returns the id of the board for which an author's record is signed; nil if the record is not valid.
  static func board(of author: StoredAuthor) -> [UInt8]?
  mutating func apply(_ author: StoredAuthor)
  /// Applies one step of a history.
  ///
  /// - Throws: An error if the step cannot be applied. In this case, no part of it was applied.
  mutating func apply(_ content: DocumentHistory.Step.Content) throws
  /// The digest of the board's contents (SYN-40).
  var digest: [UInt8] { get }
  /// The board's contents as a keyframe (REC-6).
  var keyframe: [UInt8] { get }
}
