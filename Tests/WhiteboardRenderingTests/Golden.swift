import Foundation
import Testing

@testable import WhiteboardRendering

/// A stored screen in `Goldens` that people can read.
///
/// The file has the text between bars, then a letter for the style of each cell, and a list of the letters. With
/// `WHITEBOARD_WRITE_GOLDENS=1` in the environment, a file that differs is rewritten. The test fails anyway, so that no
/// change is overlooked; check the difference before you commit it.
enum Golden {
  static func check(_ screen: Screen, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
    check(text(of: screen), name, sourceLocation: sourceLocation)
  }

  static func check(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let file = directory.appending(path: name + ".txt")
    let known = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) }
    guard known != text else { return }
    if ProcessInfo.processInfo.environment["WHITEBOARD_WRITE_GOLDENS"] == "1" {
      do { try Data(text.utf8).write(to: file) } catch { Issue.record(error, sourceLocation: sourceLocation) }
      Issue.record("\(name) was written again", sourceLocation: sourceLocation)
    } else {
      Issue.record(
        "\(name) is not as it was:\n\(text)\nit was:\n\(known ?? "not there")",
        sourceLocation: sourceLocation
      )
    }
  }

  private static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Goldens")

  /// The letters of styles; a dot is the plain style.
  private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

  static func text(of screen: Screen) -> String {
    var styles: [CellStyle] = []
    var lines = ["\(screen.width) columns, \(screen.height) rows"]
    var map: [String] = []
    for y in 0..<screen.height {
      var (text, marks) = ("", "")
      for x in 0..<screen.width {
        let cell = screen[x, y]
        text += screen.text(of: cell.glyph)
        if cell.style == .plain {
          marks += "."
        } else if let index = styles.firstIndex(of: cell.style) {
          marks.append(index < letters.count ? letters[index] : "?")
        } else {
          styles.append(cell.style)
          marks.append(styles.count <= letters.count ? letters[styles.count - 1] : "?")
        }
      }
      lines.append("|\(text)|")
      map.append("|\(marks)|")
    }
    guard !styles.isEmpty else { return lines.joined(separator: "\n") + "\n" }
    let names = zip(letters, styles).map { "\($0): \(description($1))" }
    return (lines + ["", "styles"] + map + names).joined(separator: "\n") + "\n"
  }

  private static func description(_ style: CellStyle) -> String {
    func text(_ color: CellColor) -> String? {
      color.rgb.map { rgb in
        let digits = String(rgb, radix: 16)
        return "#" + String(repeating: "0", count: 6 - digits.count) + digits
      }
    }
    var words = text(style.foreground).map { [$0] } ?? []
    if let behind = text(style.background) { words.append("on \(behind)") }
    let names: [(CellStyle.Attributes, String)] = [
      (.bold, "bold"), (.dim, "dim"), (.underlined, "underlined"), (.reversed, "reversed"),
    ]
    words += names.filter { style.attributes.contains($0.0) }.map(\.1)
    return words.joined(separator: ", ")
  }
}
