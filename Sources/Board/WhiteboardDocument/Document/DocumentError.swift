import Foundation
import GRDB

/// An error of a document.
///
/// Its message states the loss, if any, and a remedy. Callers switch on ``code``. Two errors are equal if they have the
/// same code.
public struct DocumentError: Error, Equatable, CustomStringConvertible {
  /// The kinds of errors.
  public enum Code: String, Hashable, Sendable {
    /// There is no such file, version or asset.
    case notFound
    /// A file, board or version with that name already exists.
    case exists
    /// The file is not a whiteboard.
    case wrongKind
    /// A later release made the file.
    case newerSchema
    /// The file or its directory is not writable.
    case readOnly
    /// Another program, or another part of this program, has the document open for writing.
    case inUse
    case full
    case quota
    /// The file, its directory or its disk was removed, so data written now could not be opened again.
    case removed
    /// Stored data does not match its checksums.
    case damaged
    case wrongBoard
    /// More than one file contains the board with that id or name.
    case ambiguous
    /// A name is empty, too long, or not text.
    case badName
    /// A value or a file is larger than the limit.
    case tooLarge
    case closed
    /// The system refused to read or write for another reason.
    case inputOutput
  }

  /// The kind of the error.
  public let code: Code
  /// A message for the user.
  public let message: String
  /// The underlying error; nil if there is none.
  public let cause: (any Error)?

  /// Creates an error with a message for the user.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  /// The error's code and message.
  public var description: String { "\(code.rawValue): \(message)" }

  /// Returns whether two errors have the same code.
  public static func == (lhs: DocumentError, rhs: DocumentError) -> Bool { lhs.code == rhs.code }

  static func from(_ error: any Error, at path: String, systemError number: Int32 = 0) -> DocumentError {
    if let error = error as? DocumentError { return error }
    if let database = error as? DatabaseError, [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(database.resultCode),
      let (code, text) = system(number == 0 ? DiskCondition.systemError(at: path) : number)
    {
      return DocumentError(code, "\(path): \(text)", cause: error)
    }
    // The SQL statements are correct, so an SQL error means that a table is missing or damaged.
    guard let database = error as? DatabaseError else {
      return DocumentError(.inputOutput, "\(path): \(error)", cause: error)
    }
    let (code, text): (Code, String) =
      switch database.resultCode {
      case .SQLITE_FULL: (.full, "the disk is full; saved changes are not lost; free some space")
      case .SQLITE_CORRUPT, .SQLITE_ERROR, .SQLITE_SCHEMA:
        (.damaged, "the file is damaged\(recoveryAdvice)")
      case .SQLITE_NOTADB:
        (.wrongKind, "this is not a whiteboard\(recoveryAdviceIfWhiteboard)")
      case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
        (.readOnly, "the file is not writable; saved changes are not lost")
      case .SQLITE_BUSY, .SQLITE_LOCKED:
        (.inUse, "another program is using the file; nothing is lost; close the board there and try again")
      case .SQLITE_TOOBIG: (.tooLarge, "one entry is larger than a document can hold; it was not saved")
      case .SQLITE_CANTOPEN:
        (.inputOutput, "it cannot be opened; if its directory is read-only, copy the file elsewhere")
      case .SQLITE_MISUSE: (.closed, "the file was closed; saved changes are not lost; open it again")
      default: (.inputOutput, "reading or writing failed; unacknowledged changes were not saved")
      }
    return DocumentError(
      code,
      "\(path): \(text) (\(database.message ?? database.resultCode.description))",
      cause: error
    )
  }

  private static func system(_ number: Int32) -> (Code, String)? {
    guard let code = DiskCondition.code(number), let words = DiskCondition.words(number) else { return nil }
    return (code, words)
  }

  package static let recoveryAdvice = "; 'whiteboard-peer boards recover' tries to save what can still be read"
  private static let recoveryAdviceIfWhiteboard =
    "; if it was one, 'whiteboard-peer boards recover' tries to save what can still be read"

  /// The message for a user who is already recovering the file.
  package var messageOfRecovery: String {
    message.replacing(Self.recoveryAdviceIfWhiteboard, with: "").replacing(Self.recoveryAdvice, with: "")
  }

  static func removed(_ path: String) -> DocumentError {
    DocumentError(
      .removed,
      "\(path): the file or its disk was removed; save a copy elsewhere, or restore the file or disk"
    )
  }

  static func closed(_ path: String) -> DocumentError {
    DocumentError(.closed, "\(path): it was closed; saved changes are not lost; open it again")
  }

  static func damagedRow(_ what: String, at path: String) -> DocumentError {
    DocumentError(.damaged, "\(path): \(what) is damaged\(recoveryAdvice)")
  }
}
