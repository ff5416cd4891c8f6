extension ManualPage {
  /// The page in the macro language of `man`, for `man -l` and for installation.
  package var macros: String { elements.map(Self.macros).joined() }

  private static func macros(_ element: Element) -> String {
    switch element {
    case .title(let name, let program): macro("TH", [name.uppercased(), "1", "", program])
    case .section(let name): macro("SH", [name])
    case .part(let name): macro("SS", [name])
    case .name(let name, let about): "\(name) \\- \(escaped(about))\n"
    case .synopsis(let command, let words): macro("B", [command]) + "\(escaped(words))\n"
    case .line(let text): "\(escaped(text))\n"
    case .paragraph: macro("PP")
    case .item(let term, let text):
      macro("TP") + "\\fB\(escaped(term))\\fR\n" + (text.isEmpty ? "\\&" : escaped(text)) + "\n"
    case .verbatim(let rows):
      macro("nf") + rows.map { $0.isEmpty ? macro("sp") : "\(escaped($0))\n" }.joined() + macro("fi")
    }
  }

  private static func macro(_ name: String, _ arguments: [String] = []) -> String {
    ([".\(name)"] + arguments.map { "\"\(escaped($0))\"" }).joined(separator: " ") + "\n"
  }

  /// Returns `text` with escapes for characters that are not ASCII, or special to the formatter.
  private static func escaped(_ text: String) -> String {
    var result = text.first.map { $0 == "." || $0 == "'" } == true ? "\\&" : ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "\"": result += "\\(dq"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "\n": result += " "
      default:
        let hex = String(scalar.value, radix: 16, uppercase: true)
        let code = String(repeating: "0", count: max(0, 4 - hex.count)) + hex
        result += scalar.isASCII ? String(scalar) : "\\[u\(code)]"
      }
    }
    return result
  }
}
