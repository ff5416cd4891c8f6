import Crypto
import Foundation
import GRDB

/// SHA-256, by which assets are named.
enum AssetHash {
  static let length = 32

  static func of(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}

extension BoardDocument {
  /// The greatest asset, in bytes.
  public static let maximumAssetSize = 32 << 20

  /// Stores a photo under its hash, over one that is there and damaged.
  /// - Throws: `damaged` if the bytes do not have that hash, `tooLarge`, `full`, `readOnly`,
  ///   `closed`; then nothing was stored.
  public func storeAsset(_ bytes: [UInt8], sha256: [UInt8]) async throws(DocumentError) {
    guard bytes.count <= Self.maximumAssetSize else {
      throw DocumentError(.tooLarge, "\(path): an asset has at most \(Self.maximumAssetSize) bytes")
    }
    try await write { [path] db in
      guard AssetHash.of(bytes) == sha256 else {
        throw DocumentError(.damaged, "\(path): the asset is not what its hash says; get it anew")
      }
      try db.execute(
        sql: """
          INSERT INTO asset (sha256, body) VALUES (?, ?)
          ON CONFLICT (sha256) DO UPDATE SET body = excluded.body WHERE body IS NOT excluded.body
          """,
        arguments: [Data(sha256), Data(bytes)]
      )
    }
  }

  /// Stores a file's content under its hash, as ``storeAsset(_:sha256:)``.
  /// - Throws: Also `notFound` and `inputOutput` for the file.
  /// - Complexity: O(n) in the file; one that is stored already, and whole, is not read.
  public func storeAsset(file: String, sha256: [UInt8]) async throws(DocumentError) {
    try checkWritable()
    guard (try? await asset(sha256)) == nil else { return }
    let bytes = try await Blocking.run(file) { () -> [UInt8] in
      var status = stat()
      guard stat(file, &status) == 0 else {
        throw DocumentError(.notFound, "\(file): \(systemMessage())")
      }
      guard status.st_size <= BoardDocument.maximumAssetSize else {
        throw DocumentError(.tooLarge, "\(file): an asset may have 32 MiB")
      }
      return Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    }
    try await storeAsset(bytes, sha256: sha256)
  }

  /// The asset of that hash, checked.
  /// - Throws: `notFound`; `damaged` if it does not match its hash any more: get it anew, from
  ///   whoever has it, and store it after ``removeAsset(_:)``.
  public func asset(_ sha256: [UInt8]) async throws(DocumentError) -> [UInt8] {
    try await read { [path] db in
      guard
        let data = try Data.fetchOne(
          db,
          sql: "SELECT body FROM asset WHERE sha256 = ?",
          arguments: [Data(sha256)]
        )
      else { throw DocumentError(.notFound, "\(path): there is no such asset") }
      let bytes = Array(data)
      guard AssetHash.of(bytes) == sha256 else {
        throw DocumentError.damagedRow("an asset", at: path)
      }
      return bytes
    }
  }

  /// The hashes of all assets.
  public func assetIDs() async throws(DocumentError) -> Set<[UInt8]> {
    try await read { db in
      Set(try Data.fetchAll(db, sql: "SELECT sha256 FROM asset").map { Array($0) })
    }
  }

  /// Removes an asset: one that nothing shows any more, or a damaged one.
  public func removeAsset(_ sha256: [UInt8]) async throws(DocumentError) {
    try await write { db in
      try db.execute(sql: "DELETE FROM asset WHERE sha256 = ?", arguments: [Data(sha256)])
    }
  }
}
