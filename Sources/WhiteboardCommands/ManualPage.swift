import WhiteboardNode

/// A page of the manual for one command, in the macros of `man`.
package struct ManualPage {
  /// What the pages of a program say besides its commands.
  package struct Program: Sendable {
    /// Its version.
    package let version: String
    /// The settings that it has.
    package let settings: [SettingEntry]
    /// Sections before the exit status, of lines as they are.
    package let sections: [(title: String, lines: String)]
    /// The files that it uses, and for what.
    package let files: [(path: String, use: String)]

    /// Makes a description.
    package init(
      version: String,
      settings: [SettingEntry],
      sections: [(title: String, lines: String)],
      files: [(path: String, use: String)]
    ) {
      self.version = version
      self.settings = settings
      self.sections = sections
      self.files = files
    }
  }

  /// The page.
  package private(set) var text = ""

  /// Makes the page of a command.
  ///
  /// - Parameters:
  ///   - command: The command; the program itself is one too.
  ///   - about: What else is to be said of the program.
  package init(_ command: CommandInfo, _ about: Program) {
    let name = command.path.joined(separator: "-")
    let program = command.path[0]
    let isProgram = command.path.count == 1
    macro(
      "TH",
      [name.uppercased(), "1", "", "\(program) \(about.version)"]
    )
    section("NAME")
    line("\(name) \\- \(Self.escaped(command.abstract ?? ""))", isEscaped: true)
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
    item("WHITEBOARD_CONFIG", "The file of settings.")
    for entry in about.settings {
      item(entry.variable, "\(entry.summary); \(entry.allowed). As \(entry.flag).")
    }
    for case let entry in about.settings {
      guard let other = entry.otherwise else { continue }
      item(other.variable, "Where it is set, \(entry.name) is \(other.value).")
    }
    section("FILES")
    for (path, use) in about.files { item(path, use) }
    section("SEE ALSO")
    let others =
      isProgram ? commands.map { "\(program)-\($0.commandName)" } : [program]
    line(others.map { "\($0)(1)" }.joined(separator: ", "))
  }

  private mutating func synopsis(_ command: CommandInfo) {
    let arguments = (command.arguments ?? []).filter { $0.kind == "positional" }.map(\.usage)
    let commands = command.subcommands?.isEmpty == false ? ["COMMAND"] : []
    let words = command.path + commands + ["[OPTIONS]"] + arguments
    macro("B", [command.path.joined(separator: " ")])
    line(words.dropFirst(command.path.count).joined(separator: " "))
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
    macro("SS", [command.path.joined(separator: " ")])
    line(command.abstract ?? "")
    if let discussion = command.discussion {
      macro("PP")
      self.discussion(discussion)
    }
    options(command.arguments ?? [])
  }

  /// Text as help has it: words in capitals alone begin a part, lines that begin with blanks stay as they are.
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
        if rest.first?.isEmpty == false { macro("PP") }
      } else if row == "EXIT STATUS" {
        // The page has a section of it.
        rest = rest.drop { $0.hasPrefix(" ") }
      } else if row.allSatisfy({ $0.isUppercase || $0 == " " }) {
        macro("SS", [String(row)])
      } else {
        line(String(row))
      }
    }
  }

  private mutating func verbatim(_ rows: ArraySlice<Substring>) {
    let rows = rows.reversed().drop { $0.isEmpty }.reversed()
    macro("nf")
    for row in rows { row.isEmpty ? macro("sp") : line(String(row)) }
    macro("fi")
  }

  private mutating func section(_ name: String) { macro("SH", [name]) }

  private mutating func item(_ term: String, _ text: String) {
    macro("TP")
    line("\\fB\(Self.escaped(term))\\fR", isEscaped: true)
    line(text.isEmpty ? "\\&" : Self.escaped(text), isEscaped: true)
  }

  private mutating func macro(_ name: String, _ arguments: [String] = []) {
    text +=
      ([".\(name)"] + arguments.map { "\"\(Self.escaped($0))\"" }).joined(separator: " ") + "\n"
  }

  private mutating func line(_ text: String, isEscaped: Bool = false) {
    self.text += (isEscaped ? text : Self.escaped(text)) + "\n"
  }

  /// Text in which nothing means anything to the formatter; what is not ASCII as it reads that everywhere.
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
