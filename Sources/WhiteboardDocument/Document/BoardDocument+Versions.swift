import GRDB

extension BoardDocument {
  /// Stores the whole state as a named version.
  /// - Throws: `exists` if the name is taken; `badName`; the errors of ``append(_:)``.
  public func checkpoint(name: String, bytes: [UInt8], digest: [UInt8], time: Int64) async throws(DocumentError) {
    try DocumentName.check(name)
    try checkWritable()
    // Check for the name in a separate transaction first. Otherwise, a duplicate name would make the steps of other
    // callers in the group fail.
    guard try await read({ db in try !StoredVersions.contains(name, db) }) else {
      throw StoredVersions.exists(name, path)
    }
    try checkWritable()
    let step = LogWriter.Step.keyframe(bytes: bytes, digest: digest, name: name, time: time)
    guard let error = await enqueue([step]) else { return }
    let cause = error.cause as? DatabaseError
    throw cause?.resultCode == .SQLITE_CONSTRAINT ? StoredVersions.exists(name, path) : error
  }

  /// Returns the versions, oldest first.
  public func versions() async throws(DocumentError) -> [DocumentVersion] {
    try await read { db in try StoredVersions.all(db) }
  }

  /// Returns the state of a version.
  /// - Throws: `notFound`; `damaged` if the version is lost. The damage affects no other data.
  public func version(_ name: String) async throws(DocumentError) -> Keyframe {
    try await read { [path] db in try StoredVersions.state(name, db, at: path) }
  }

  /// Deletes a version.
  ///
  /// If the document is opened from the state of this version, that state stays in the file.
  /// - Throws: `notFound`, `readOnly`, `full`, `closed`.
  public func deleteVersion(_ name: String) async throws(DocumentError) {
    try await write { [path] db in try StoredVersions.delete(name, db, at: path) }
  }
}
