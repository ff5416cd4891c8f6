import CommandLines
import PeerCore
import WhiteboardCommands
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// A line that controls a recorder.
enum RecorderLine {
  case pause
  case resume
  case mark(String)
  case status
  case stop
  case discard

  private static let help = "pause, resume, mark NAME, status, stop, discard"

  /// Returns the line that lists the present members by display name.
  static func present(_ names: [UntrustedText]) -> String {
    let shown = names.map(\.displayed)
    return "present: \(shown.isEmpty ? "no member" : shown.joined(separator: ", "))\n"
  }

  /// Reads lines until the end of input, and reports unknown lines on standard error.
  static func read(_ take: @Sendable (RecorderLine) async -> Void) async {
    guard let reader = try? LineReader(descriptor: STDIN_FILENO) else { return }
    while let line = try? await reader.nextLine() {
      guard case .line(let bytes) = line else { continue }
      let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 1)
      guard let word = words.first else { continue }
      let argument = words.count > 1 ? unquoted(words[1]) : ""
      switch word {
      case "pause": await take(.pause)
      case "resume": await take(.resume)
      case "mark": await take(.mark(argument))
      case "status": await take(.status)
      case "stop": await take(.stop)
      case "discard": await take(.discard)
      case "help", "?": try? Console.tell("\(help)\n")
      default: Console.complain("unknown command \(UntrustedText(word).quoted()); use \(help)")
      }
    }
  }

  /// Returns the text without its surrounding quotes, if it has them.
  private static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
    return String(text.dropFirst().dropLast())
  }
}
