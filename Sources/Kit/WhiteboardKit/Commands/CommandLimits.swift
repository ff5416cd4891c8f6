import PeerCore
import Whiteboard

package enum CommandLimits {
  /// The maximum length of a message, in bytes. The limit is one less than the session's limit, because one byte
  /// contains the message type.
  package static let maximumMessageLength = 16 * 1024 * 1024 - 1
  /// The maximum length of a message sent with `send --unreliable`, in bytes.
  package static let maximumDatagramLength = 64 * 1024 - 1
  /// The maximum length of a text object or chat line, in bytes of UTF-8.
  package static let maximumTextLength = 8 * 1024
  package static let maximumPoints = 65_536
  package static let maximumErasePoints = 4_096
  package static let maximumReferences = BoardLimits.objects
  /// The maximum number of characters in a text object, and therefore the maximum position.
  package static let maximumCharacters = 65_536
  /// The maximum line width and eraser radius, in board units.
  package static let maximumWidth = 1_024.0
  /// The maximum spacing of the grid, in board units.
  package static let maximumGrid = 65_536.0
  /// The maximum number of pixels per board unit in an export.
  package static let maximumPixels = 64.0
  /// The maximum length of a board title or checkpoint name, in bytes of UTF-8.
  package static let maximumTitleLength = 256
  /// The maximum length of a display name, in bytes of UTF-8.
  package static let maximumPersonLength = 64
  /// The maximum length of a game move, in bytes of UTF-8.
  package static let maximumMoveLength = 64
  /// The maximum length of a resource or stream name, in bytes of UTF-8.
  package static let maximumNameLength = 16 * 1024
  package static let maximumFileCount = 256
  package static let maximumSeconds = 86_400.0
}

/// Each check returns the valid value, or throws the command's error; `key` or `what` names the value in the error.
extension CommandLimits {
  package static func checkedWords(_ words: String, what: String) throws(CommandError) -> String {
    guard !words.utf8.contains(0) else {
      throw CommandError(.badArgument, "\(what) contains a null character, which cannot be shown; remove it")
    }
    let words = PlainText.lines(words)
    guard words.utf8.count <= maximumTextLength else {
      throw CommandError(.tooBig, "\(what) has \(words.utf8.count) bytes; at most \(maximumTextLength) are allowed")
    }
    return words
  }

  package static func checkedName(_ name: String) throws(CommandError) -> String {
    guard name.utf8.count <= maximumNameLength else {
      throw CommandError(.tooBig, "the name has \(name.utf8.count) bytes; at most \(maximumNameLength) are allowed")
    }
    return name
  }

  package static func checkedMessage(_ bytes: [UInt8]) throws(CommandError) -> [UInt8] {
    guard bytes.count <= maximumMessageLength else {
      throw CommandError(.tooBig, "the message has \(bytes.count) bytes; at most \(maximumMessageLength) are allowed")
    }
    return bytes
  }

  package static func checkedSeconds(_ seconds: Double, key: String) throws(CommandError) -> Double {
    guard seconds.isFinite, (0...maximumSeconds).contains(seconds) else {
      throw CommandError(.badArgument, "\(key) must be a number of seconds from 0 to 86400")
    }
    return seconds
  }

  package static func checkedFactor(_ factor: Double) throws(CommandError) -> Double {
    guard factor.isFinite, (1.0 / 1_024...1_024).contains(factor) else {
      throw CommandError(.badArgument, "the scale must be a number from 1/1024 to 1024, like 1.5")
    }
    return factor
  }

  package static func checkedDegrees(_ degrees: Double) throws(CommandError) -> Double {
    guard degrees.isFinite, abs(degrees) <= BoardPoint.bound else {
      throw CommandError(
        .badArgument,
        "the angle must be a number of degrees from -33554432 to 33554432, like 90 or -45"
      )
    }
    return degrees
  }

  package static func checkedCount(_ count: Int64, key: String) throws(CommandError) -> Int {
    guard (0...1_000_000).contains(count) else {
      throw CommandError(.badArgument, "\(key) must be a whole number from 0 to 1000000")
    }
    return Int(count)
  }

  package static func checkedTarget(_ text: String, what: String) throws(CommandError) -> String {
    guard !text.isEmpty, text.utf8.count <= 256 else {
      throw CommandError(.badArgument, "\(what) must be an id, an id prefix or a name")
    }
    return text
  }

  package static func checkedReferences(_ references: [ObjectReference]) throws(CommandError) -> [ObjectReference] {
    guard !references.isEmpty else { throw CommandError(.missingArgument, "give at least one object") }
    guard references.count <= maximumReferences else {
      throw CommandError(.tooBig, "a command takes at most \(maximumReferences) objects")
    }
    return references
  }

  package static func checkedWidth(_ width: Double, key: String) throws(CommandError) -> Double {
    guard width.isFinite, width > 0, width <= maximumWidth else {
      throw CommandError(.badArgument, "\(key) must be a number above 0, at most 1024, like 5")
    }
    return width
  }

  package static func checkedExtent(_ extent: Double, key: String) throws(CommandError) -> Int {
    let whole = extent.rounded()
    guard whole >= 1, whole <= Double(BoardLimits.viewExtent) else {
      throw CommandError(.badArgument, "\(key) must be a number from 1 to 67108864, like 800")
    }
    return Int(whole)
  }

  package static func checkedPosition(_ position: Int64, key: String) throws(CommandError) -> Int {
    guard (0...Int64(maximumCharacters)).contains(position) else {
      throw CommandError(.badArgument, "\(key) must be a whole number of characters from 0 to 65536")
    }
    return Int(position)
  }

  package static func checkedMove(_ move: String) throws(CommandError) -> String {
    guard !move.isEmpty, move.utf8.count <= maximumMoveLength else {
      throw CommandError(.badArgument, "the move must be a word, a column from 1 to 7, or resign")
    }
    return move
  }

  package static func checkedGrid(_ spacing: Double) throws(CommandError) -> Double {
    guard spacing >= 0, spacing <= maximumGrid else {
      throw CommandError(
        .badArgument,
        "the grid must be the distance between its lines in board units, like 50, at most 65536; 0 hides the grid"
      )
    }
    return spacing
  }

  package static func checkedTitle(_ title: String) throws(CommandError) -> String {
    guard !title.utf8.contains(0) else {
      throw CommandError(.badArgument, "the title contains a null character, which cannot be shown; remove it")
    }
    let title = PlainText.line(title)
    guard title.utf8.count <= maximumTitleLength else {
      throw CommandError(.tooBig, "the title has \(title.utf8.count) bytes; at most \(maximumTitleLength) are allowed")
    }
    return title
  }

  package static func checkedLanguage(_ tag: String) throws(CommandError) -> String {
    guard (1...16).contains(tag.utf8.count), tag.utf8.first.map(isLetter) == true,
      tag.utf8.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D })
    else {
      throw CommandError(.badArgument, "\(UntrustedText(tag).quoted()) is not a language; write a tag like en or pt-BR")
    }
    return tag
  }

  package static func checkedDisplayName(_ name: String?) throws(CommandError) -> String? {
    guard let name else { return nil }
    let line = PlainText.line(name)
    guard !line.isEmpty else { throw CommandError(.badArgument, "the name must not be empty") }
    guard line.utf8.count <= maximumPersonLength else {
      throw CommandError(.tooBig, "the name has \(line.utf8.count) bytes; at most \(maximumPersonLength) are allowed")
    }
    return line
  }

  package static func checkedCheckpoint(_ name: String) throws(CommandError) -> String {
    let name = PlainText.line(name)
    guard !UntrustedText(name).displayed.isEmpty else {
      throw CommandError(.badArgument, "the name of a checkpoint must not be empty")
    }
    guard name.utf8.count <= maximumTitleLength else {
      throw CommandError(.tooBig, "the name has \(name.utf8.count) bytes; at most \(maximumTitleLength) are allowed")
    }
    return name
  }

  /// `numbers` are the minimum x, the minimum y, the width and the height.
  package static func checkedRegion(_ numbers: [Double]) throws(CommandError) -> Rectangle {
    guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0, let corner = BoardPoint(x: numbers[0], y: numbers[1]),
      let opposite = BoardPoint(x: numbers[0] + numbers[2], y: numbers[1] + numbers[3])
    else {
      throw CommandError(
        .badArgument,
        "a region must be X,Y,W,H on the board, with a width and a height above 0, like 0,0,400,300"
      )
    }
    return Rectangle(Point(corner), Point(opposite))
  }

  package static func checkedPixels(_ scale: Double) throws(CommandError) -> Double {
    guard scale > 0, scale <= maximumPixels else {
      throw CommandError(.badArgument, "scale must be a number of pixels above 0, at most 64, like 2")
    }
    return scale
  }

  package static func checkedFile(_ name: String) throws(CommandError) -> String {
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw CommandError(.badArgument, "the name of the file is empty or contains a zero byte")
    }
    return name
  }

  package static func checkedFiles(_ files: [String]) throws(CommandError) -> [String] {
    guard (1...maximumFileCount).contains(files.count) else {
      throw CommandError(.tooBig, "give 1 to \(maximumFileCount) files or folders")
    }
    return files
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
}
