import ArgumentParser
import CommandLines
import FoundationEssentials
import WhiteboardKit
import WhiteboardRendering

package struct ManualPage {
  package struct Program: Sendable {
    package let settings: [SettingEntry]
    /// The sections before EXIT STATUS; their lines are shown unchanged.
    package let sections: [(title: String, lines: String)]
    package let files: [(path: String, use: String)]

    package init(
      settings: [SettingEntry],
      sections: [(title: String, lines: String)],
      files: [(path: String, use: String)]
    ) {
      self.settings = settings
      self.sections = sections
      self.files = files
    }
  }

  enum Element: Equatable {
    /// The header: the name of the page, and the program with its version.
    case title(String, program: String)
    case section(String)
    case part(String)
    /// A name and its meaning, in the format that `whatis` reads.
    case name(String, about: String)
    case synopsis(String, words: String)
    case line(String)
    case paragraph
    case item(String, String)
    case verbatim([String])
  }

  private(set) var elements: [Element] = []

  private static let programs = ["whiteboard-peer", "whiteboard-replay", "whiteboard-relay"]

  package init(_ command: CommandInfo, _ about: Program) {
    let name = command.path.joined(separator: "-")
    let program = command.path[0]
    let isProgram = command.path.count == 1
    elements.append(.title(name, program: "\(program) \(ProgramVersion.number)"))
    section("NAME")
    elements.append(.name(name, about: command.abstract ?? ""))
    section("SYNOPSIS")
    synopsis(command)
    if let discussion = command.discussion {
      section("DESCRIPTION")
      self.discussion(discussion)
    }
    if let arguments = command.arguments, !arguments.isEmpty {
      section("OPTIONS")
      options(arguments)
    }
    let commands = (command.subcommands ?? []).filter { $0.shouldDisplay ?? true }
    if !commands.isEmpty {
      section("COMMANDS")
      for inner in commands { self.inner(inner, withOptions: !isProgram) }
    }
    if isProgram {
      for (title, lines) in about.sections {
        section(title)
        verbatim(lines.split(separator: "\n", omittingEmptySubsequences: false)[...])
      }
    }
    section("EXIT STATUS")
    for (status, meaning) in ExitStatus.rows { item(status, meaning) }
    section("ENVIRONMENT")
    item("WHITEBOARD_CONFIG", "The path of the configuration file.")
    for entry in about.settings {
      item(entry.variable, "\(entry.summary); \(entry.allowed). The same as \(entry.flag).")
    }
    for case let entry in about.settings {
      guard let other = entry.otherwise else { continue }
      item(other.variable, "If it is set, \(entry.name) is \(other.value).")
    }
    if !about.files.isEmpty { section("FILES") }
    for (path, use) in about.files { item(path, use) }
    section("SEE ALSO")
    let others =
      isProgram
      ? Self.programs.filter { $0 != program }
        + commands.map(\.commandName).filter { $0 != "help" }.map { "\(program)-\($0)" }
      : [program]
    line(others.map { "\($0)(1)" }.joined(separator: ", "))
  }

  private mutating func synopsis(_ command: CommandInfo) {
    let arguments = (command.arguments ?? []).filter { $0.kind == "positional" }.map(\.usage)
    let commands = command.subcommands?.isEmpty == false ? ["COMMAND"] : []
    let words = command.path + commands + ["[OPTIONS]"] + arguments
    elements.append(
      .synopsis(command.path.joined(separator: " "), words: words.dropFirst(command.path.count).joined(separator: " "))
    )
  }

  private mutating func options(_ arguments: [CommandInfo.Argument]) {
    for argument in arguments where argument.shouldDisplay {
      item(argument.usage, argument.abstract ?? argument.discussion ?? "")
    }
  }

  private mutating func inner(_ command: CommandInfo, withOptions: Bool) {
    guard withOptions else {
      item(command.path.joined(separator: " "), command.abstract ?? "")
      return
    }
    elements.append(.part(command.path.joined(separator: " ")))
    line(command.abstract ?? "")
    if let discussion = command.discussion {
      elements.append(.paragraph)
      self.discussion(discussion)
    }
    options(command.arguments ?? [])
  }

  /// Lines of capital letters become headings, and lines that begin with a space stay unchanged.
  private mutating func discussion(_ text: String) {
    var rest = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    while let row = rest.first {
      if row.hasPrefix(" ") {
        let block = rest.prefix { $0.hasPrefix(" ") || $0.isEmpty }
        rest = rest.dropFirst(block.count)
        verbatim(block)
        continue
      }
      rest.removeFirst()
      if row.isEmpty {
        if rest.first?.isEmpty == false { elements.append(.paragraph) }
      } else if row == "EXIT STATUS" {
        // The page has its own EXIT STATUS section.
        rest = rest.drop { $0.hasPrefix(" ") }
      } else if row.allSatisfy({ $0.isUppercase || $0 == " " }) {
        elements.append(.part(String(row)))
      } else {
        line(String(row))
      }
    }
  }

  private mutating func verbatim(_ rows: ArraySlice<Substring>) {
    elements.append(.verbatim(rows.reversed().drop { $0.isEmpty }.reversed().map(String.init)))
  }

  private mutating func section(_ name: String) { elements.append(.section(name)) }

  private mutating func item(_ term: String, _ text: String) { elements.append(.item(term, text)) }

  private mutating func line(_ text: String) { elements.append(.line(text)) }
}

package enum ExitStatus {
  package static let rows = [
    ("0", "ok"), ("1", "not found, or a command failed"), ("64", "usage error"), ("65", "malformed input"),
    ("66", "no such file"), ("69", "unreachable"), ("70", "internal error"), ("71", "a system call failed"),
    ("73", "cannot create a file"), ("74", "reading or writing failed"), ("75", "timed out, or nothing was found"),
    ("76", "version or protocol mismatch"), ("77", "not admitted"), ("78", "invalid setting"),
    ("128+N", "stopped by a second signal; N is its number"),
  ]

  package static let help: String = {
    let (half, last) = (rows.count / 2, rows[rows.count - 1])
    let lines = (0..<half).map { row in
      let left = "  \(rows[row].0) \(rows[row].1)"
      let gap = String(repeating: " ", count: max(1, 40 - left.count))
      return left + gap + "\(rows[row + half].0) \(rows[row + half].1)"
    }
    return (["EXIT STATUS"] + lines + ["  \(last.0) \(last.1)"]).joined(separator: "\n")
  }()
}

extension ManualPage {
  package var macros: String {
    let lines = elements.map(Self.macros)
    return (lines.prefix(1) + [Self.substitutes(for: lines.joined())] + lines.dropFirst()).joined()
  }

  /// Without UTF-8, `man` shows arrows and similar characters in ASCII. It leaves out other characters, unless a page
  /// defines a text for them.
  private static func substitutes(for text: String) -> String {
    let codes = Set(text.split(separator: "\\[u").dropFirst().compactMap { $0.split(separator: "]").first })
    return codes.sorted().compactMap { code in
      let substitute: String? =
        switch code {
        case "2026": "..."
        case "1F44D": "<thumbs up>"
        // The text names other emoji in words.
        case "200D", "FE0F": ""
        default: code.count > 4 ? "" : nil
        }
      return substitute.map { ".fchar \\[u\(code)] \($0)\n" }
    }.joined()
  }

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

/// The description of a command, decoded from the JSON of the argument parser.
package struct CommandInfo: Decodable {
  struct Argument: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String

      var text: String { (kind == "long" ? "--" : "-") + name }
    }

    let kind: String
    let shouldDisplay: Bool
    let isOptional: Bool
    let names: [Name]?
    let valueName: String?
    let abstract: String?
    let discussion: String?

    /// The names and the placeholder for the value, for example `-o, --output FILE`.
    var usage: String {
      let value = valueName ?? "VALUE"
      guard kind != "positional" else { return isOptional ? "[\(value)]" : value }
      let names = (names ?? []).map(\.text).joined(separator: ", ")
      return kind == "option" ? "\(names) \(value)" : names
    }
  }

  let superCommands: [String]?
  let shouldDisplay: Bool?
  let commandName: String
  let abstract: String?
  let discussion: String?
  let subcommands: [CommandInfo]?
  let arguments: [Argument]?

  package var path: [String] { (superCommands ?? []) + [commandName] }

  package func command(_ path: some Collection<String>) -> CommandInfo? {
    guard let first = path.first else { return self }
    return subcommands?.first { $0.commandName == first }?.command(path.dropFirst())
  }

  /// Returns nil if the parser's JSON has an unknown format.
  package static func program(_ program: any ParsableCommand.Type) -> CommandInfo? {
    struct Dump: Decodable { let command: CommandInfo }
    return try? JSONDecoder().decode(Dump.self, from: Data(program._dumpHelp().utf8)).command
  }
}

extension ManualPage {
  /// Returns the page as plain text, as `man` shows it. Verbatim lines may be wider than `columns`.
  package func text(columns: Int) -> String {
    var page = PlainPage(columns: max(columns, 40))
    for element in elements { page.add(element) }
    return page.text
  }
}

private struct PlainPage {
  private static let indent = 7

  let columns: Int
  private var lines: [String] = []
  private var words: [String] = []

  init(columns: Int) { self.columns = columns }

  var text: String {
    var page = self
    page.endParagraph()
    return page.lines.map { $0 + "\n" }.joined()
  }

  mutating func add(_ element: ManualPage.Element) {
    if case .line(let text) = element { return words.append(text) }
    endParagraph()
    switch element {
    case .title(let name, let program):
      let name = "\(name.uppercased())(1)"
      let gap = columns - name.count - program.count
      lines.append(name + String(repeating: " ", count: max(2, gap)) + program)
    case .section(let name): lines += ["", name]
    case .part(let name): lines += ["", "   \(name)"]
    case .name(let name, let about): append("\(name) - \(about)", indent: Self.indent)
    case .synopsis(let command, let words): append("\(command) \(words)", indent: Self.indent)
    case .item(let term, let text):
      lines.append(String(repeating: " ", count: Self.indent) + term)
      append(text, indent: 2 * Self.indent)
    case .verbatim(let rows): lines += rows.map { $0.isEmpty ? "" : String(repeating: " ", count: Self.indent) + $0 }
    case .paragraph: lines.append("")
    case .line: break
    }
  }

  private mutating func endParagraph() {
    guard !words.isEmpty else { return }
    append(words.joined(separator: " "), indent: Self.indent)
    words = []
  }

  private mutating func append(_ text: String, indent: Int) {
    guard !text.isEmpty else { return }
    let rows = TextLines.wrapped(text, columns: columns - indent, limit: .max)
    lines += rows.map { String(repeating: " ", count: indent) + $0 }
  }
}
