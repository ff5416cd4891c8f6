extension BoardDocument {
  /// The maximum size of an asset, in bytes.
  public static let maximumAssetSize = 32 << 20

  /// Stores a photo under its hash, and replaces a damaged copy of it.
  /// - Throws: `damaged` if the bytes do not have that hash; `tooLarge`, `full`, `readOnly`, `closed`. If it throws,
  ///   nothing was stored.
  public func storeAsset(_ bytes: [UInt8], sha256: [UInt8]) async throws(DocumentError) {
    guard bytes.count <= Self.maximumAssetSize else {
      throw DocumentError(.tooLarge, "\(path): an asset may have at most \(Self.maximumAssetSize) bytes")
    }
    try await write { [path] db in try StoredAssets.store(bytes, sha256: sha256, db, at: path) }
  }

  /// Stores the content of a file under its hash; see ``storeAsset(_:sha256:)``.
  /// - Throws: The errors of ``storeAsset(_:sha256:)``; `notFound` or `inputOutput` if the file cannot be read.
  /// - Complexity: O(*n*), where *n* is the size of the file. The file is not read if the asset is already stored and
  ///   intact.
  public func storeAsset(file: String, sha256: [UInt8]) async throws(DocumentError) {
    try checkWritable()
    guard (try? await asset(sha256)) == nil else { return }
    let bytes = try await Blocking.run(file) { try StoredAssets.read(file) }
    try await storeAsset(bytes, sha256: sha256)
  }

  /// Returns the asset with a hash, after checking it.
  /// - Throws: `notFound`; `damaged` if the asset no longer matches its hash. To repair it, call ``removeAsset(_:)``,
  ///   and store a copy from a peer.
  public func asset(_ sha256: [UInt8]) async throws(DocumentError) -> [UInt8] {
    try await read { [path] db in try StoredAssets.find(sha256, db, at: path) }
  }

  /// Returns the hashes of all assets.
  public func assetIDs() async throws(DocumentError) -> Set<[UInt8]> {
    try await read { db in try StoredAssets.hashes(db) }
  }

  /// Removes an asset that is damaged, or that no object shows.
  public func removeAsset(_ sha256: [UInt8]) async throws(DocumentError) {
    try await write { db in try StoredAssets.remove(sha256, db) }
  }
}
