import PeerCore
import WhiteboardDoctor
import WhiteboardKit
import WhiteboardPictures
import WhiteboardRendering

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The features of a terminal, according to the environment and the terminal's replies. The program begins to draw with
/// the features that the environment indicates. It uses the replies as soon as they arrive, and works even with a
/// terminal that never replies.
package struct TerminalFeatures: Hashable, Sendable {
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
  package var dotStyle: DotStyle
  package let encoding: TerminalEncoding
  /// How the terminal shows pixels; nil if it cannot, so that photos are drawn in cells.
  package private(set) var graphics: TerminalGraphics?
  package var cellSize: CellSize?
  /// Whether the terminal reports positions of the mouse in pixels.
  package private(set) var hasPixelMouse = false
  /// Whether the terminal is known to show links (OSC 8).
  package let hasLinks: Bool
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
    hasLinks = Self.showsLinks(environment)
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment($0) }.first { !$0.isEmpty } ?? ""
    encoding = TerminalEncoding(locale: locale)
    let isUTF8 = locale.lowercased().replacing("-", with: "").contains("utf8")
    // The Linux console has only 512 characters, without braille.
    dotStyle = !isUTF8 || term == "linux" ? .ascii : .braille
  }

  /// The prefixes of the terminal types (`TERM`) that show links.
  private static let typesWithLinks = ["xterm-kitty", "xterm-ghostty", "foot", "wezterm", "alacritty", "contour"]
  private static let programsWithLinks = ["iTerm.app", "WezTerm", "ghostty", "vscode"]
  /// The first version of VTE that shows links without errors: 0.52.
  private static let versionWithLinks = 5_200

  /// Returns whether the environment names a terminal that shows links; a multiplexer hides the terminal behind it.
  private static func showsLinks(_ environment: (String) -> String?) -> Bool {
    let term = environment("TERM") ?? ""
    guard environment("TMUX") == nil, environment("STY") == nil else { return false }
    return typesWithLinks.contains { term.hasPrefix($0) }
      || environment("TERM_PROGRAM").map { programsWithLinks.contains($0) } ?? false
      || environment("VTE_VERSION").flatMap { Int($0) }.map { $0 >= versionWithLinks } ?? false
      || environment("WT_SESSION") != nil
  }

  // MARK: - Queries

  /// The queries for modes, the background color, the cell size and graphics. They are sent once. A terminal ignores
  /// unknown queries. Every terminal answers the last query.
  static let questions =
    "\u{1B}[?1016$p\u{1B}[16t\u{1B}]11;?\u{1B}\\" + "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c"

  private static let finerMouse = "\u{1B}[?1016h\u{1B}[?1016$p"

  /// Handles a reply. Returns the next query to send, which is usually empty.
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
    case .attributes(let numbers) where numbers.contains(4) && settings.graphics == .auto && graphics == nil:
      graphics = .sixel
    default: break
    }
    return ""
  }

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

  /// The longest time to wait for the next byte of the replies, in milliseconds.
  private static let timeout: Int32 = 500
  /// The largest number of bytes to read while waiting for the last reply.
  private static let replyLimit = 1_000

  /// Queries a terminal on which the process prints lines of text. Blocks the thread until the terminal has replied.
  package static func queried(_ settings: TerminalSettings, environment: (String) -> String?) -> TerminalFeatures {
    var features = TerminalFeatures(environment: environment).applying(settings)
    var before = termios()
    guard settings.graphics == .auto, tcgetattr(STDIN_FILENO, &before) == 0 else { return features }
    var raw = before
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    guard tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0 else { return features }
    defer { tcsetattr(STDIN_FILENO, TCSADRAIN, &before) }
    guard FileWriting.writeAll(Array(questions.utf8), to: STDOUT_FILENO) == nil else { return features }
    var (parser, entry) = (InputParser(), pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0))
    for _ in 0..<replyLimit {
      var byte: UInt8 = 0
      guard poll(&entry, 1, timeout) > 0, read(STDIN_FILENO, &byte, 1) == 1 else { break }
      for case .reply(let reply) in parser.feed([byte]) {
        _ = features.handle(reply, settings)
        // Every terminal answers the last query.
        if case .attributes = reply { return features }
      }
    }
    return features
  }

  // MARK: - Setup

  static func enter(_ mouse: TerminalSettings.Mouse) -> String {
    let modes = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h\u{1B}[?1004h"
    let mouseModes = mouse == .off ? "" : "\u{1B}[?1002h\u{1B}[?1003h\u{1B}[?1006h"
    return modes + mouseModes + (mouse == .pixel ? finerMouse : "") + "\u{1B}[>1u"
  }

  /// The sequences that undo the setup, ordered so that each prefix leaves a usable terminal.
  static let leave =
    "\u{1B}[<u\u{1B}[?1016l\u{1B}[?1006l\u{1B}[?1003l\u{1B}[?1002l\u{1B}[?1004l\u{1B}[?2004l\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"
}

/// The character encoding of the terminal, according to the locale.
package enum TerminalEncoding: Hashable, Sendable {
  case utf8
  /// ISO 8859-1.
  case latin1
  /// ASCII, or another encoding, in which the program writes only ASCII characters.
  case ascii

  /// Creates the encoding that a locale names, such as `de_DE.ISO-8859-1`. An unset locale, `C` and `POSIX` do not
  /// describe the terminal, which today almost always uses UTF-8.
  init(locale: String) {
    let parts = locale.split(separator: ".", maxSplits: 1)
    let name = parts.first.map { $0.prefix { $0 != "@" } } ?? ""
    guard parts.count > 1 else {
      self = ["", "C", "POSIX"].contains(name) ? .utf8 : .ascii
      return
    }
    let set = parts[1].prefix { $0 != "@" }.lowercased().filter { $0.isLetter || $0.isNumber }
    switch set {
    case "utf8": self = .utf8
    case "iso88591", "latin1", "cp1252", "windows1252": self = .latin1
    default: self = .ascii
    }
  }

  /// Returns UTF-8 bytes for the terminal in this encoding. A character that the encoding does not have becomes a
  /// similar character or a question mark, with the same width.
  func encode(_ bytes: [UInt8]) -> [UInt8] {
    guard self != .utf8, bytes.contains(where: { $0 >= 0x80 }) else { return bytes }
    var encoded: [UInt8] = []
    encoded.reserveCapacity(bytes.count)
    for character in String(decoding: bytes, as: UTF8.self) {
      let scalars = character.unicodeScalars
      if scalars.allSatisfy(\.isASCII) {
        encoded.append(contentsOf: String(character).utf8)
      } else if self == .latin1, scalars.count == 1, let byte = scalars.first?.latin1 {
        encoded.append(byte)
      } else {
        let substitute = Self.substitutes[character] ?? "?"
        let width = CharacterWidth.columns(String(character))
        encoded.append(contentsOf: String(repeating: substitute, count: max(width, 0)).utf8)
      }
    }
    return encoded
  }

  func decode(_ bytes: [UInt8]) -> [UInt8] {
    guard self == .latin1, bytes.contains(where: { $0 >= 0x80 }) else { return bytes }
    return bytes.flatMap { Array(String(Unicode.Scalar($0)).utf8) }
  }

  /// The ASCII characters that replace the other characters of this program.
  private static let substitutes: [Character: String] = [
    "…": ".", "–": "-", "—": "-", "●": "*", "■": "#", "↻": "@", "←": "<", "→": ">", "↑": "^", "↓": "v", "°": "o",
    "“": "\"", "”": "\"", "‘": "'", "’": "'", "·": ".", "×": "x",
  ]
}

extension Unicode.Scalar {
  fileprivate var latin1: UInt8? { (0xA0...0xFF).contains(value) ? UInt8(value) : nil }
}

/// The check of the terminal in `whiteboard-peer doctor`. It uses only the environment, and does not query the
/// terminal.
package struct TerminalCheck: Sendable {
  private let reading: SystemReading
  private let settings: TerminalSettings
  private let size: (columns: Int, rows: Int)?

  package init(_ reading: SystemReading, _ settings: TerminalSettings, size: (columns: Int, rows: Int)?) {
    self.reading = reading
    self.settings = settings
    self.size = size
  }

  package var finding: Doctor.Finding {
    let term = reading.environment("TERM") ?? ""
    guard let size else {
      return Doctor.Finding(
        check: "terminal",
        verdict: .note,
        seen: "Input or output is not a terminal, so boards are shown as lines of text."
      )
    }
    guard !term.isEmpty, term != "dumb" else {
      return note(
        "TERM is \(term.isEmpty ? "not set" : "dumb"), so boards are shown as lines of text.",
        "Set TERM to the type of the terminal: export TERM=xterm-256color"
      )
    }
    guard size.columns >= 40, size.rows >= 12 else {
      return note(
        "The terminal has \(size.columns)x\(size.rows) cells; the board needs 40x12.",
        "Make the window larger or the font smaller."
      )
    }
    let features = TerminalFeatures { reading.environment($0) }
    guard features.dotStyle != .ascii || settings.pen != .auto || term == "linux" else {
      return note(
        "The locale does not use UTF-8, so lines are drawn with ASCII characters.",
        "Choose a UTF-8 locale: export LC_ALL=C.UTF-8"
      )
    }
    if isInMultiplexer, graphics != nil, reading.output(.tmuxPassthrough).map(isOff) ?? false {
      return note(
        "\(seen(features, term, size)) tmux does not pass pictures through, so photos are shown with cells.",
        "If the terminal supports graphics, run: tmux set -g allow-passthrough on"
      )
    }
    return Doctor.Finding(check: "terminal", verdict: .fine, seen: seen(features, term, size))
  }

  private func note(_ seen: String, _ advice: String) -> Doctor.Finding {
    Doctor.Finding(check: "terminal", verdict: .note, seen: seen, advice: advice)
  }

  private func seen(_ features: TerminalFeatures, _ term: String, _ size: (columns: Int, rows: Int)) -> String {
    let chosen = features.applying(settings)
    let colors =
      switch chosen.depth {
      case .none: "no colors"
      case .sixteen: "16 colors"
      case .palette: "256 colors"
      case .full: "all colors"
      }
    let multiplexer = isInMultiplexer ? " in tmux" : ""
    let pictures = graphics.map { ", likely with \($0) graphics" } ?? ""
    return "\(UntrustedText(term).escaped(limit: 64))\(multiplexer), \(size.columns)x\(size.rows), "
      + "\(colors), lines drawn with \(chosen.dotStyle.rawValue)\(pictures)."
  }

  private var isInMultiplexer: Bool { reading.environment("TMUX") != nil }

  private func isOff(_ answer: String) -> Bool { answer.split(whereSeparator: \.isWhitespace).first == "off" }

  /// The graphics protocol that the environment suggests. Only the terminal's reply to a query would be certain.
  private var graphics: String? {
    let term = reading.environment("TERM") ?? ""
    let program = reading.environment("TERM_PROGRAM") ?? ""
    if term.contains("kitty") || reading.environment("KITTY_WINDOW_ID") != nil || program == "ghostty"
      || program == "WezTerm" || term.contains("ghostty")
    {
      return "kitty"
    }
    return ["foot", "mlterm", "contour"].contains { term.hasPrefix($0) } ? "sixel" : nil
  }
}
