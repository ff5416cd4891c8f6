import Foundation
import GRDB
import Whiteboard

/// A writer that stores the intact data of a damaged file in a new document.
struct SalvageWriter {
  /// The data that was written.
  struct Result: Sendable {
    /// The number of assets.
    let assets: Int
    /// The number of keyframes and versions.
    var keyframes: Int
    /// Descriptions of losses that were noticed while writing.
    var losses: [String]
  }

  private let salvage: Salvage

  /// Creates a writer of the given data.
  init(_ salvage: Salvage) { self.salvage = salvage }

  /// Writes all recovered data to a new document, in one transaction.
  func store(in queue: DatabaseQueue) throws -> Result {
    try queue.write { db in
      try storeLog(db)
      for author in salvage.authors.values { try LogWriter.store(author, db) }
      for mark in salvage.marks {
        let log = Int64(salvage.rows.count { $0.id <= mark.log })
        try LogWriter.mark(mark.kind, mark.time, mark.until, log, mark.name, db)
      }
      for lost in salvage.lostRows { try markLost(lost, db) }
      // If data is lost, the stored object count describes more than the file contains.
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

  /// Writes rows and keyframes in their original order.
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
      let moved = keyframe.moved(
        id: keyframe.id,
        log: tail.id,
        chain: Int64(tail.chain),
        entries: tail.entriesBefore + tail.entriesSince
      )
      try LogWriter.store(named.contains(keyframe.id) ? moved : moved.renamed(nil), db)
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

  /// Stores the assets that match their hash.
  ///
  /// - Returns: The number of stored assets, and descriptions of the lost assets.
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
