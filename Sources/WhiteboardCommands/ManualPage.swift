import WhiteboardNode

/// A page of the manual for one command: as text, or in the macros of `man`.
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

  /// A piece of a page, in its order.
  enum Element: Equatable {
    /// The head: the page's name, and the program with its version.
    case title(String, program: String)
    /// The heading of a section.
    case section(String)
    /// The heading of a part of a section.
    case part(String)
    /// A name and what it stands for, as `whatis` reads it.
    case name(String, about: String)
    /// A command, and what can follow it.
    case synopsis(String, words: String)
    /// A line of a paragraph.
    case line(String)
    /// The end of a paragraph.
    case paragraph
    /// A term and what it means.
    case item(String, String)
    /// Lines that stay as they are.
    case verbatim([String])
  }

  /// The pieces.
  private(set) var elements: [Element] = []

  /// Makes the page of a command.
  ///
  /// - Parameters:
  ///   - command: The command; the program itself is one too.
  ///   - about: What else is to be said of the program.
  package init(_ command: CommandInfo, _ about: Program) {
    let name = command.path.joined(separator: "-")
    let program = command.path[0]
    let isProgram = command.path.count == 1
    elements.append(.title(name, program: "\(program) \(about.version)"))
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
    elements.append(
      .synopsis(
        command.path.joined(separator: " "),
        words: words.dropFirst(command.path.count).joined(separator: " ")
      )
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
        if rest.first?.isEmpty == false { elements.append(.paragraph) }
      } else if row == "EXIT STATUS" {
        // The page has a section of it.
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
