import PeerCore
import Whiteboard

package enum ImportError: Error, Hashable, Sendable {
  case tooLong(limit: Int)
  /// The file is not valid JSON; the value is the offset of the first invalid byte.
  case malformed(at: Int)
  /// Lists and objects in the file are nested too deeply; the value is the offset where the limit is exceeded.
  case tooDeep(at: Int)
  case tooManyValues
  case unknownFormat
  /// A newer version of this program wrote the file.
  case newerVersion
  /// A value is missing or not valid. The error contains the path of the value, and a description of a valid value.
  case wrongValue(String, expected: String)
  case tooManyObjects

  init(_ error: JSONError) {
    self =
      switch error {
      case .malformed(let offset): .malformed(at: offset)
      case .tooDeep(let offset): .tooDeep(at: offset)
      case .tooManyValues: .tooManyValues
      }
  }

  /// The problem and what to do about it, in at most one line.
  package var message: String {
    switch self {
    case .tooLong(let limit): "it has more than \(limit / 1_000_000) MB, which is the limit"
    case .malformed(let offset): "it is not valid JSON: there is an error at byte \(offset + 1)"
    case .tooDeep(let offset): "it is nested too deeply at byte \(offset + 1)"
    case .tooManyValues: "it has more values than can be read"
    case .unknownFormat: "it is neither a picture (JPEG, PNG or WebP), nor a board as JSON, nor an Excalidraw drawing"
    case .newerVersion: "it was written by a newer version of this program"
    case .wrongValue(let path, let expected): "\(path) is not \(expected)"
    case .tooManyObjects: "it has more objects than fit on a board"
    }
  }
}
