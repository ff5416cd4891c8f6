import Crypto
import Foundation
import GRDB

enum AssetHash {
  static let length = 32

  static func of(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}

/// Functions that read and write rows of the table `asset`, which contains the files of photos.
enum StoredAssets {
  /// Reads a file that will be stored as an asset; blocks the thread; throws `notFound`, `tooLarge`, `inputOutput`.
  static func read(_ file: String) throws -> [UInt8] {
    var status = stat()
    guard stat(file, &status) == 0 else { throw DocumentError(.notFound, "\(file): \(systemMessage())") }
    guard status.st_size <= BoardDocument.maximumAssetSize else {
      throw DocumentError(.tooLarge, "\(file): an asset may have at most 32 MiB")
    }
    return Array(try Data(contentsOf: URL(fileURLWithPath: file)))
  }

  /// Stores an asset under its hash, and replaces a damaged copy of it.
  /// - Throws: `damaged` if the bytes do not have that hash. In this case, nothing was stored.
  static func store(_ bytes: [UInt8], sha256: [UInt8], _ db: Database, at path: String) throws {
    guard AssetHash.of(bytes) == sha256 else {
      throw DocumentError(.damaged, "\(path): the asset does not match its hash; get it again")
    }
    try db.execute(
      sql: """
        INSERT INTO asset (sha256, body) VALUES (?, ?)
        ON CONFLICT (sha256) DO UPDATE SET body = excluded.body WHERE body IS NOT excluded.body
        """,
      arguments: [Data(sha256), Data(bytes)]
    )
  }

  /// Adds an asset that was already checked and is not stored yet.
  static func add(_ body: Data, sha256: [UInt8], _ db: Database) throws {
    try db.execute(sql: "INSERT INTO asset (sha256, body) VALUES (?, ?)", arguments: [Data(sha256), body])
  }

  /// Returns the asset with a hash, after checking it; throws `notFound`, or `damaged` if the asset no longer matches
  /// its hash.
  static func find(_ sha256: [UInt8], _ db: Database, at path: String) throws -> [UInt8] {
    guard let data = try Data.fetchOne(db, sql: "SELECT body FROM asset WHERE sha256 = ?", arguments: [Data(sha256)])
    else { throw DocumentError(.notFound, "\(path): the document does not have this asset") }
    let bytes = Array(data)
    guard AssetHash.of(bytes) == sha256 else { throw DocumentError.damagedRow("an asset", at: path) }
    return bytes
  }

  static func hashes(_ db: Database) throws -> Set<[UInt8]> {
    Set(try Data.fetchAll(db, sql: "SELECT sha256 FROM asset").map { Array($0) })
  }

  static func remove(_ sha256: [UInt8], _ db: Database) throws {
    try db.execute(sql: "DELETE FROM asset WHERE sha256 = ?", arguments: [Data(sha256)])
  }
}
