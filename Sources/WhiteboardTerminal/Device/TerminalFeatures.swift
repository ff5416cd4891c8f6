import WhiteboardRendering

/// What a terminal can do, as far as its environment and its answers say.
package struct TerminalFeatures: Hashable, Sendable {
  /// Its colours.
  package var depth: ColorDepth
  /// How lines are drawn on it.
  package var dotStyle: DotStyle

  /// What the environment says.
  ///
  /// - Parameter environment: The value of a variable, or nil.
  package init(environment: (String) -> String?) {
    let term = environment("TERM") ?? ""
    let color = environment("COLORTERM") ?? ""
    let isPlain = environment("NO_COLOR").map { !$0.isEmpty } ?? false
    if isPlain || term == "dumb" {
      depth = .none
    } else if ["truecolor", "24bit"].contains(color) || term.hasSuffix("-direct") {
      depth = .full
    } else if term.contains("256") || term.contains("kitty") || term.contains("alacritty") {
      depth = .palette
    } else {
      depth = .sixteen
    }
    let locale =
      ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment($0) }.first { !$0.isEmpty } ?? ""
    let isUTF8 = locale.lowercased().replacing("-", with: "").contains("utf8")
    // The console of Linux has 512 characters, and braille is not among them.
    dotStyle = !isUTF8 || term == "linux" ? .ascii : .braille
  }

  /// What is asked of a terminal when its screen is taken over.
  static let enter =
    "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h\u{1B}[?1004h\u{1B}[?1002h\u{1B}[?1003h\u{1B}[?1006h\u{1B}[>1u"
  /// What undoes that, in an order in which a terminal may stop to listen anywhere.
  static let leave =
    "\u{1B}[<u\u{1B}[?1006l\u{1B}[?1003l\u{1B}[?1002l\u{1B}[?1004l\u{1B}[?2004l\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"
}
