import Whiteboard
import WhiteboardKit

/// Text that the user pasted, truncated to a maximum length.
struct PastedText: Hashable, Sendable {
  /// The object that the pasted text creates on the board.
  enum Content: Hashable, Sendable {
    case text(String)
    /// A photo. If a photo file is dropped on a terminal, the terminal pastes its path.
    case photo(path: String)

    /// Returns the command that creates the object on the board.
    func command(at point: BoardPoint) -> Command {
      switch self {
      case .text(let words): .text(at: point, words: words, alias: nil)
      case .photo(let path): .photo(at: point, file: path, alias: nil)
      }
    }
  }

  /// The pasted text.
  let text: String

  /// The maximum number of characters in a paste.
  private static let limit = 10_000
  /// The file name extensions of photos.
  private static let photoEndings = [".png", ".jpg", ".jpeg"]

  init(_ text: String) { self.text = String(text.prefix(Self.limit)) }

  /// The object that the text creates on the board; nil if the text is blank.
  var content: Content? {
    let words = PlainText.lines(text).trimmed
    guard !words.isEmpty else { return nil }
    return Self.photoPath(words).map { .photo(path: $0) } ?? .text(words)
  }

  /// Returns the path of a photo file that the user dropped on the terminal; nil for other text.
  ///
  /// The terminal puts the path in quotes, or escapes its spaces.
  private static func photoPath(_ words: String) -> String? {
    var path = words
    if path.hasPrefix("'"), path.hasSuffix("'"), path.count > 2 {
      path = String(path.dropFirst().dropLast())
    } else {
      path = path.replacing("\\ ", with: " ")
    }
    if path.hasPrefix("file:///") { path = String(path.dropFirst("file://".count)) }
    let isPhoto = photoEndings.contains { path.lowercased().hasSuffix($0) }
    return isPhoto && path.hasPrefix("/") && !path.contains("\n") ? path : nil
  }
}
