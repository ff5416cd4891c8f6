import WhiteboardRendering

/// The features of a terminal, according to the environment and the terminal's replies.
///
/// The program begins to draw with the features that the environment indicates. It uses the replies as soon as they
/// arrive, and works even with a terminal that never replies.
package struct TerminalFeatures: Hashable, Sendable {
  package enum Graphics: Hashable, Sendable {
    /// Pixels cannot be shown; photos are drawn in cells.
    case none
    case sixel
    case kitty
  }

  /// The size of a cell in pixels.
  package struct CellSize: Hashable, Sendable {
    package let width: Double
    package let height: Double

    package init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }
  }

  package var depth: ColorDepth
  /// The characters with which lines are drawn.
  package var dotStyle: DotStyle
  package let encoding: TerminalEncoding
  package private(set) var graphics = Graphics.none
  package var cellSize: CellSize?
  /// Whether the terminal reports positions of the mouse in pixels.
  package private(set) var hasPixelMouse = false
  /// The background color, `0xRRGGBB`; nil if it is unknown.
  package private(set) var background: UInt32?

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
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment($0) }.first { !$0.isEmpty } ?? ""
    encoding = TerminalEncoding(locale: locale)
    let isUTF8 = locale.lowercased().replacing("-", with: "").contains("utf8")
    // The Linux console has only 512 characters, without braille.
    dotStyle = !isUTF8 || term == "linux" ? .ascii : .braille
  }

  // MARK: - Queries

  /// The queries for modes, the background color, the cell size and graphics.
  ///
  /// They are sent once. A terminal ignores unknown queries. Every terminal answers the last one.
  static let questions =
    "\u{1B}[?1016$p\u{1B}[16t\u{1B}]11;?\u{1B}\\" + "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c"

  private static let finerMouse = "\u{1B}[?1016h\u{1B}[?1016$p"

  /// Handles a reply; returns the next query to send, which is usually empty.
  mutating func handle(_ reply: TerminalReply, _ settings: TerminalSettings) -> String {
    switch reply {
    case .mode(1016, 2) where settings.mouse == .auto && cellSize != nil:
      // Positions are in pixels as soon as the terminal confirms the mode.
      return Self.finerMouse
    case .mode(1016, 1) where settings.mouse == .auto || settings.mouse == .pixel: hasPixelMouse = cellSize != nil
    case .cellSize(let height, let width) where height > 0 && width > 0:
      cellSize = cellSize ?? CellSize(width: Double(width), height: Double(height))
    case .background(let rgb): background = rgb
    case .graphics(true) where settings.graphics == .auto: graphics = .kitty
    case .attributes(let numbers) where numbers.contains(4) && settings.graphics == .auto && graphics == .none:
      graphics = .sixel
    default: break
    }
    return ""
  }

  /// Returns the features with the user's settings applied.
  package func applying(_ settings: TerminalSettings) -> TerminalFeatures {
    var features = self
    features.depth = settings.color.depth ?? depth
    features.dotStyle = settings.pen.dotStyle ?? dotStyle
    switch settings.graphics {
    case .kitty: features.graphics = .kitty
    case .sixel: features.graphics = .sixel
    case .auto, .blocks, .none: break
    }
    return features
  }

  // MARK: - Setup

  /// Returns the sequences that set up a terminal for the screen.
  static func enter(_ mouse: TerminalSettings.Mouse) -> String {
    let modes = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h\u{1B}[?1004h"
    let mouseModes = mouse == .off ? "" : "\u{1B}[?1002h\u{1B}[?1003h\u{1B}[?1006h"
    return modes + mouseModes + (mouse == .pixel ? finerMouse : "") + "\u{1B}[>1u"
  }

  /// The sequences that undo the setup, ordered so that each prefix leaves a usable terminal.
  static let leave =
    "\u{1B}[<u\u{1B}[?1016l\u{1B}[?1006l\u{1B}[?1003l\u{1B}[?1002l\u{1B}[?1004l\u{1B}[?2004l\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"
}
