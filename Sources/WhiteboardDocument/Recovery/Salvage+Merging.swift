extension Salvage {
  /// Returns the intact data of a file and of the copies that were made of it.
  static func withCopies(of source: String) throws(DocumentError) -> Salvage {
    let own: Result<Salvage, DocumentError>
    do throws(DocumentError) { own = .success(try Salvage(source)) } catch { own = .failure(error) }
    let copies = DamagedCopies.all(of: source).compactMap { try? Salvage($0) }
    guard var all = (try? own.get()) ?? copies.first else { return try own.get() }
    for copy in copies where copy.board == nil || all.board == nil || copy.board == all.board { all.merge(copy) }
    return all
  }

  /// Adds the data of a copy of the same board.
  ///
  /// The file and the copy have the same rows up to the point where the copy was made. In the result, the file's later
  /// rows come after the copy's last row. This order is correct because batches apply in any order, and an answer omits
  /// only entries that are before it in the file.
  private mutating func merge(_ copy: Salvage) {
    let fork = Self.fork(rows, copy.rows)
    let shift = fork.map { ($0, by: (copy.rows.last?.id ?? 0) - $0 + 1) }
    func moved(_ log: Int64) -> Int64 {
      guard let shift, log >= shift.0 else { return log }
      return log + shift.by
    }
    rows = Self.merged(rows, copy.rows, fork)
    let trafficFork = Self.fork(traffic, copy.traffic)
    traffic = Self.merged(traffic, copy.traffic, trafficFork)
    end = max(moved(end), copy.end)
    let own = keyframes.map { $0.moved(id: $0.id, log: moved($0.log), chain: $0.chain, entries: $0.entries) }
    let states = copy.keyframes + own.filter { !copy.keyframes.contains($0) }
    let ordered = states.sorted { ($0.log, $0.time, $0.id) < ($1.log, $1.time, $1.id) }
    // A keyframe of the file and one of the copy can have the same number.
    keyframes = ordered.enumerated().map { number, keyframe in
      keyframe.moved(id: Int64(number + 1), log: keyframe.log, chain: keyframe.chain, entries: keyframe.entries)
    }
    let ownMarks = marks.map { $0.moved(log: moved($0.log)) }
    marks = (copy.marks + ownMarks.filter { !copy.marks.contains($0) }).sorted {
      ($0.log, $0.until, $0.id) < ($1.log, $1.until, $1.id)
    }
    for (incarnation, author) in copy.authors {
      guard let known = authors[incarnation] else {
        authors[incarnation] = author
        continue
      }
      authors[incarnation] = author.isNewer(than: known) ? author : known
    }
    meta.merge(copy.meta) { own, _ in own }
    identity = identity ?? copy.identity
    assets += copy.assets
    listedAssets.formUnion(copy.listedAssets)
    otherLosses += copy.otherLosses.filter { !otherLosses.contains($0) }
    findLostRows()
  }

  /// Returns the first row number at which two logs have different rows; nil if there is none.
  private static func fork(_ own: [LogRow], _ other: [LogRow]) -> Int64? {
    let known = Dictionary(other.map { ($0.id, $0) }) { first, _ in first }
    return own.first { row in known[row.id].map { $0 != row } ?? false }?.id
  }

  /// Returns the rows of both logs in order.
  ///
  /// From the first different row on, the rows of `other` come first.
  private static func merged(_ own: [LogRow], _ other: [LogRow], _ fork: Int64?) -> [LogRow] {
    let fork = fork ?? .max
    let known = Set(other.map(\.id))
    let before = (other + own.filter { $0.id < fork && !known.contains($0.id) }).sorted { $0.id < $1.id }
    let last = before.last?.id ?? 0
    let behind = own.filter { $0.id >= fork }.map { row in
      LogRow(id: row.id - fork + last + 1, time: row.time, entries: row.entries, body: row.body, table: row.table)
    }
    return before + behind
  }
}
