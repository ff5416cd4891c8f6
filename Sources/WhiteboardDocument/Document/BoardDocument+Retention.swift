extension BoardDocument {
  /// Returns the number of days for which history is stored; nil if it is stored forever.
  public func retention() async throws(DocumentError) -> Int? {
    try await read { [path] db in try Meta.get(db, .retention, at: path).flatMap { Int($0) } }
  }

  /// Sets the number of days for which history is stored; nil stores it forever.
  ///
  /// ``dropHistory(now:keeping:)`` and ``compact(now:keeping:)`` remove older history.
  public func setRetention(days: Int?) async throws(DocumentError) {
    try await write { db in try Meta.set(db, .retention, days.map { String(max(0, $0)) }) }
  }

  /// Removes old history.
  ///
  /// The file keeps its size, but later changes use the freed space. Among the keyframes that are older than the
  /// retention, the newest one remains. All rows and keyframes before it are removed, except named versions. The
  /// remaining rows are not rewritten. At least two keyframes remain, since one may be damaged.
  /// - Parameters:
  ///   - now: Milliseconds since 1970.
  ///   - days: The number of days of history that remain; nil uses ``retention()``.
  /// - Throws: `full`, `readOnly`, `closed`. If it throws, nothing was removed.
  public func dropHistory(now: Int64, keeping days: Int? = nil) async throws(DocumentError) {
    try await write { [path] db in try Retention.dropHistory(db, at: path, now: now, keeping: days) }
  }

  /// Removes history as ``dropHistory(now:keeping:)`` does, and returns the space to the disk.
  /// - Throws: `full` if there is no room for the temporary copy (then nothing is lost), `readOnly`, `closed`.
  public func compact(now: Int64, keeping days: Int? = nil) async throws(DocumentError) {
    try await dropHistory(now: now, keeping: days)
    try checkWritable()
    try await connection.compact()
  }
}
