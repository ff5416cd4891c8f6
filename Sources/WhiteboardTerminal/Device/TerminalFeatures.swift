import WhiteboardRendering

/// What a terminal can do, as far as its environment and its answers say.
///
/// The program draws at once by what the environment says; what a terminal answers is used from then on, and
/// one that answers nothing is drawn on all the same.
package struct TerminalFeatures: Hashable, Sendable {
  /// How pixels can be shown.
  package enum Graphics: Hashable, Sendable {
    /// Not: photos are shown by cells.
    case none
    /// By sixels.
    case sixel
    /// By the graphics protocol of kitty.
    case kitty
  }

  /// Pixels of a cell.
  package struct CellSize: Hashable, Sendable {
    package let width: Double
    package let height: Double

    package init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }
  }

  /// Its colours.
  package var depth: ColorDepth
  /// How lines are drawn on it.
  package var dotStyle: DotStyle
  /// How it shows pixels.
  package private(set) var graphics = Graphics.none
  /// How large its cells are, where that is known.
  package var cellSize: CellSize?
  /// Whether it tells the mouse's place in pixels from now on.
  package private(set) var hasPixelMouse = false
  /// `0xRRGGBB` of what lies behind everything, where it told.
  package private(set) var background: UInt32?

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

  // MARK: - Asking

  /// What a terminal is asked once: modes it knows, its colours, its cells, and whether it shows pictures.
  ///
  /// What it does not know it passes over; the last question is one that every terminal answers.
  static let questions =
    "\u{1B}[?1016$p\u{1B}[16t\u{1B}]11;?\u{1B}\\"
    + "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c"

  private static let finerMouse = "\u{1B}[?1016h\u{1B}[?1016$p"

  /// Takes an answer.
  ///
  /// - Returns: What is to be asked of the terminal now; most often nothing.
  mutating func take(_ reply: TerminalReply, _ settings: TerminalSettings) -> String {
    switch reply {
    case .mode(1016, 2) where settings.mouse == .auto && cellSize != nil:
      // From its second answer on, and not before, places are in pixels.
      return Self.finerMouse
    case .mode(1016, 1) where settings.mouse == .auto || settings.mouse == .pixel:
      hasPixelMouse = cellSize != nil
    case .cellSize(let height, let width) where height > 0 && width > 0:
      cellSize = cellSize ?? CellSize(width: Double(width), height: Double(height))
    case .background(let rgb): background = rgb
    case .graphics(true) where settings.graphics == .auto: graphics = .kitty
    case .attributes(let numbers)
    where numbers.contains(4) && settings.graphics == .auto && graphics == .none:
      graphics = .sixel
    default: break
    }
    return ""
  }

  /// The features as a person wants them to be used.
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

  // MARK: - Taking over

  /// Returns the sequences that set up a terminal for the screen.
  static func enter(_ mouse: TerminalSettings.Mouse) -> String {
    let modes = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h\u{1B}[?1004h"
    let hearing = mouse == .off ? "" : "\u{1B}[?1002h\u{1B}[?1003h\u{1B}[?1006h"
    return modes + hearing + (mouse == .pixel ? finerMouse : "") + "\u{1B}[>1u"
  }

  /// The sequences that undo the setup, ordered so that a terminal may stop reading at any point.
  static let leave =
    "\u{1B}[<u\u{1B}[?1016l\u{1B}[?1006l\u{1B}[?1003l\u{1B}[?1002l\u{1B}[?1004l\u{1B}[?2004l\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"
}
