import PeerCore
import WhiteboardDoctor
import WhiteboardKit

/// The doctor's check of the terminal.
///
/// It uses only the environment, and does not query the terminal.
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

  /// The graphics protocol that the environment suggests.
  ///
  /// Only the terminal's reply to a query would be certain.
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
