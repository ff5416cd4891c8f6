/// The reason why a file could not be imported; no part of it was imported.
package enum ImportError: Error, Hashable, Sendable {
  /// It has more bytes than so many.
  case tooLong(limit: Int)
  /// It is no JSON; the offset of the first byte that is wrong.
  case malformed(at: Int)
  /// Its lists and objects lie in each other too deep.
  case tooDeep(at: Int)
  /// It has more values than are read.
  case tooManyValues
  /// It is JSON, and none of the kinds that are known.
  case unknownFormat
  /// It was written by a later version of this program.
  case newerVersion
  /// A value is missing or not what it has to be: which, and what that is.
  case wrongValue(String, expected: String)
  /// It has more objects than a board.
  case tooManyObjects

  /// The problem and the remedy, in at most one line.
  package var message: String {
    switch self {
    case .tooLong(let limit):
      "it has more than \(limit / 1_000_000) MB, which is the limit"
    case .malformed(let offset): "it is no JSON: byte \(offset + 1) is wrong"
    case .tooDeep(let offset): "its lists lie too deep in each other at byte \(offset + 1)"
    case .tooManyValues: "it holds more values than are read"
    case .unknownFormat:
      "it is neither a picture (JPEG, PNG or WebP), nor a board as JSON, nor a drawing of Excalidraw"
    case .newerVersion: "it was written by a newer version of this program"
    case .wrongValue(let path, let expected): "\(path) is not \(expected)"
    case .tooManyObjects: "it has more objects than fit on a board"
    }
  }
}
