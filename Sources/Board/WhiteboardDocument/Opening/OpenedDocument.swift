import Foundation
import GRDB
import Whiteboard

/// An open database that has been verified to be a document, with the facts that are read first.
struct OpenedDocument: Sendable {
  let path: String
  let board: [UInt8]
  let database: DatabaseQueue
  let lock: WriterLock?
  let tail: LogTail
  let wasLeftOpen: Bool
  let damages: [String]
  let seal: DocumentSeal?
  let hasForeignFacts: Bool

  init(
    _ path: String,
    _ mode: BoardDocument.Mode,
    expecting: [UInt8]?,
    seal: DocumentSeal? = nil,
    holding reservation: BoardReservation? = nil
  ) throws {
    let path = DocumentFile.resolved(path)
    self.path = path
    self.seal = seal
    try DocumentFile.checkAccess(path, mode)
    lock = mode == .writing ? try reservation?.lock(of: path) ?? WriterLock(path) : nil
    let inspection = mode == .writing ? try WriterInspection(path, expecting: expecting) : nil
    let connection = try Connector.connectReportingDamage(path, mode)
    database = connection.database
    let found = try inspection?.facts ?? database.read { db in try DocumentFacts(db, at: path) }
    try found.check(expecting, at: path)
    board = found.board
    tail = found.tail
    wasLeftOpen = found.closed == nil
    damages = inspection?.damages ?? connection.damages
    guard mode == .writing else {
      hasForeignFacts = try connection.database.read { db in
        try seal.map { try SealedFacts.areForeign(db, $0, at: path) } ?? false
      }
      return
    }
    do {
      hasForeignFacts = try database.writeWithoutTransaction { db in
        do { return try Self.beginWriting(db, seal, at: path) } catch {
          let number = DocumentConnection.systemError(of: db)
          throw DocumentError.from(error, at: path, systemError: number)
        }
      }
      try Schema.migrator.migrate(database)
    } catch {
      try? OpenFiles.close(database)
      throw error
    }
  }

  private static func beginWriting(_ db: Database, _ seal: DocumentSeal?, at path: String) throws -> Bool {
    let journal = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
    guard journal == "wal" else {
      throw DocumentError(
        .inputOutput,
        "\(path): this file system does not support the log that a whiteboard needs; move the file to another disk"
      )
    }
    // The ``Checkpointer`` does the checkpoints.
    try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0")
    var hasForeignFacts = false
    try db.inTransaction(.immediate) {
      try Meta.set(db, .closed, nil)
      try Schema.raise(db, at: path)
      if let seal { hasForeignFacts = try SealedFacts.settle(db, seal, at: path) }
      return .commit
    }
    return hasForeignFacts
  }
}

/// The facts about a document that are read first, in one transaction.
struct DocumentFacts: Sendable {
  let board: [UInt8]
  let tail: LogTail
  let closed: String?

  init(_ db: Database, at path: String) throws {
    try Schema.check(db, at: path)
    guard let text = try Meta.get(db, .board, at: path), let board = Hexadecimal.decode(text),
      board.count == BoardDocument.boardIDLength
    else { throw DocumentError.damagedRow("the board's id", at: path) }
    self.board = board
    tail = try LogTail(db, at: path)
    closed = try Meta.get(db, .closed, at: path)
    if let closed, closed != tail.text { throw DocumentError.damagedRow("the end of the log", at: path) }
  }

  func check(_ expected: [UInt8]?, at path: String) throws(DocumentError) {
    guard expected == nil || expected == board else {
      throw DocumentError(.wrongBoard, "\(path): the file contains a different board; it was not changed")
    }
  }
}
