import PeerCore

extension Character {
  /// The maximum number of code points that one cell can hold, enough for joined emoji.
  private static let maximumScalars = 9

  /// Whether a cell of a screen may show the character unchanged.
  ///
  /// All its code points must be safe, or join letters or emoji.
  var isShown: Bool {
    guard let first = unicodeScalars.first, first.isSafe else { return false }
    if unicodeScalars.count == 1, first.isASCII { return true }
    guard unicodeScalars.count <= Self.maximumScalars else { return false }
    var isShown = true
    InvisibleText.scan(String(self)) { scalar, isInvisible in
      let isJoiner = scalar == "\u{200C}" || scalar == "\u{200D}"
      if isInvisible || !(isJoiner || scalar.isSafe) { isShown = false }
    }
    return isShown
  }
}
