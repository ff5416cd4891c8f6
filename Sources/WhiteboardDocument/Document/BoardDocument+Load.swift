extension BoardDocument {
  /// Reads the current content of the board.
  /// - Throws: `damaged` if data that the current state needs is damaged; `closed`, `inputOutput`.
  /// - Complexity: O(*n*), where *n* is the size of the newest keyframe and the rows after it. Older history is not
  ///   read.
  public func load() async throws(DocumentError) -> DocumentContent {
    try await read { [path] db in try LogReader(db, path: path).content(upTo: nil) }
  }

  /// Reads the content of the board at `time`: the result of all entries applied until then.
  /// - Throws: The errors of ``load()``; `notFound` if the history of that time is no longer stored.
  public func load(at time: Int64) async throws(DocumentError) -> DocumentContent {
    try await read { [path] db in try LogReader(db, path: path).content(upTo: time) }
  }

  /// Returns the markers and gaps of the recording, in order.
  public func marks() async throws(DocumentError) -> [DocumentEntry] {
    try await read { [path] db in try LogReader(db, path: path).marks().compactMap(\.entry) }
  }

  /// Returns the next intact keyframe or version after `number`; nil if there is none.
  ///
  /// Numbers begin at 1. Damaged keyframes are skipped; ``verify()`` reports them.
  public func keyframe(after number: Int64) async throws(DocumentError) -> (number: Int64, keyframe: Keyframe)? {
    try await read { [path] db in try LogReader(db, path: path).keyframe(after: number).map { ($0.id, $0.state) } }
  }

  /// Checks all stored data, page by page and row by row, and describes the damage; empty if there is none.
  /// - Complexity: O(*n*), where *n* is the size of the file.
  public func verify() async throws(DocumentError) -> [String] {
    let damages = mode == .reading ? damages : []
    return try await read { [path] db in damages + LogReader(db, path: path).damages() }
  }
}
