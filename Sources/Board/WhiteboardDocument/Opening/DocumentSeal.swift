import Crypto
import Foundation
import GRDB
import Whiteboard

/// The secret with which a program marks the facts that it wrote to a board's file itself.
///
/// A file can come from another person. Some of its facts make a program act: the members with their addresses, the
/// join code, a removal, and the browser links. A program uses these facts only if they carry its own seal (REC-20).
/// The secret belongs to a data directory, so it does not change with the identity in that directory.
public struct DocumentSeal: Sendable {
  /// Whether facts without a valid seal are used and sealed too, because the user trusts the file.
  public var acceptsAll = false

  private let key: SymmetricKey
  private let created: timespec

  private static let fileName = "seal.key"
  private static let keyLength = 32

  package init() {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    self.init(key: SymmetricKey(size: .bits256), created: now)
  }

  private init(key: SymmetricKey, created: timespec) {
    self.key = key
    self.created = created
  }

  /// Returns the seal of a data directory; creates its secret if it is missing.
  ///
  /// A directory without an identity is new: its files come from elsewhere, so none of them is accepted as a file of an
  /// earlier release. Therefore, call this function before you create the identity. If the secret can be neither read
  /// nor created, the seal is temporary. This call blocks on the disk.
  public static func loadOrCreate(inDirectory directory: String) -> DocumentSeal {
    let path = directory + "/" + fileName
    if let stored = load(path) { return stored }
    let isNew = access(directory + "/identity.pem", F_OK) != 0
    let seal = isNew ? DocumentSeal(key: SymmetricKey(size: .bits256), created: timespec()) : DocumentSeal()
    let temporary = "\(path).\(UUID().uuidString).part"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return seal }
    let bytes = seal.key.withUnsafeBytes { Array($0) }
    var isWritten = write(descriptor, bytes, bytes.count) == bytes.count
    if isNew { isWritten = isWritten && futimens(descriptor, [timespec(), timespec()]) == 0 }
    isWritten = isWritten && fsync(descriptor) == 0
    close(descriptor)
    // Another process may have created the secret in the meantime. A damaged file is replaced.
    if isWritten, link(temporary, path) != 0, load(path) == nil { rename(temporary, path) }
    unlink(temporary)
    return load(path) ?? seal
  }

  private static func load(_ path: String) -> DocumentSeal? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: keyLength)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == keyLength,
      read(descriptor, &bytes, keyLength) == keyLength
    else { return nil }
    return DocumentSeal(key: SymmetricKey(data: bytes), created: status.st_mtim)
  }

  /// Returns the text that marks a value of the table `meta` as written by this program.
  func mark(_ key: MetaKey, _ value: String, board: String) -> String {
    var code = HMAC<SHA256>(key: self.key)
    for part in [board, key.rawValue, value] {
      let bytes = Array(part.utf8)
      code.update(data: withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { Array($0) })
      code.update(data: bytes)
    }
    return Hexadecimal.encode(Array(code.finalize()))
  }

  /// Earlier releases did not seal their files, so a file that is not newer than the secret is accepted as it is.
  func forFile(_ path: String, inLibrary directory: String) -> DocumentSeal {
    var seal = self
    var status = stat()
    let parent = (path as NSString).deletingLastPathComponent
    // A symbolic link may name a file from elsewhere.
    guard parent == directory, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return seal }
    let changed = status.st_ctim
    if (changed.tv_sec, changed.tv_nsec) <= (created.tv_sec, created.tv_nsec) { seal.acceptsAll = true }
    return seal
  }
}

/// Functions that read and write the facts in `meta` that make a program act (REC-20). Each fact has a row of its own,
/// and a second row with its seal.
enum SealedFacts {
  static let keys = BoardFact.allCases.map(\.key)

  static func sealKey(_ key: MetaKey) -> String { "seal \(key.rawValue)" }

  static func get(_ db: Database, _ key: MetaKey, _ seal: DocumentSeal?, at path: String) throws -> String? {
    guard let seal, let value = try Meta.get(db, key, at: path),
      try seal.acceptsAll || isSealed(db, key, value, seal, at: path)
    else { return nil }
    return value
  }

  static func set(_ db: Database, _ key: MetaKey, _ value: String?, _ seal: DocumentSeal?, at path: String) throws {
    try Meta.set(db, key, value)
    guard let value, let seal, let board = try Meta.get(db, .board, at: path) else {
      try db.execute(sql: "DELETE FROM meta WHERE key = ?", arguments: [sealKey(key)])
      return
    }
    try Meta.set(db, key: sealKey(key), seal.mark(key, value, board: board))
  }

  static func areForeign(_ db: Database, _ seal: DocumentSeal, at path: String) throws -> Bool {
    guard !seal.acceptsAll else { return false }
    return try !foreign(db, seal, at: path).isEmpty
  }

  /// Removes the facts that this program did not write, or seals them if the user trusts the file. Returns whether
  /// facts were removed.
  static func settle(_ db: Database, _ seal: DocumentSeal, at path: String) throws -> Bool {
    let found = try foreign(db, seal, at: path)
    for key in found {
      let value = try seal.acceptsAll ? Meta.get(db, key, at: path) : nil
      try set(db, key, value, seal, at: path)
    }
    return !found.isEmpty && !seal.acceptsAll
  }

  /// Removes all facts, because users share copies with others.
  static func removeAll(_ db: Database) throws { for key in keys { try set(db, key, nil, nil, at: "") } }

  private static func foreign(_ db: Database, _ seal: DocumentSeal, at path: String) throws -> [MetaKey] {
    try keys.filter { key in
      // A damaged fact is reported when it is read.
      guard let value = try? Meta.get(db, key, at: path) else { return false }
      return try !isSealed(db, key, value, seal, at: path)
    }
  }

  private static func isSealed(_ db: Database, _ key: MetaKey, _ value: String, _ seal: DocumentSeal, at path: String)
    throws -> Bool
  {
    guard let board = try Meta.get(db, .board, at: path) else { return false }
    let mark = try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [sealKey(key)])
    return mark == seal.mark(key, value, board: board)
  }
}
