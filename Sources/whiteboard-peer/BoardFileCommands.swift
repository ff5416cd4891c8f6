import ArgumentParser
import FoundationEssentials
import WhiteboardCommands
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering

/// The commands of `whiteboard-peer boards` that make, change or mend files.
extension BoardsCommand {
  /// `whiteboard-peer boards copy`.
  struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Copy a board with its history to another file; it may be open elsewhere."
    )

    @Argument(help: "Which board.", completion: .board) var board: String
    @Argument(help: "The file to write, which must not be there.") var file: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let (path, file) = (try await common.path(of: board), BoardFile.absolute(file))
      try await filing { () async throws(DocumentError) in
        try await BoardDocument.open(at: path, mode: .reading).save(as: file)
      }
      try common.say("board-copied", "\(path) is copied to \(file).", path: file)
    }
  }

  /// `whiteboard-peer boards duplicate`.
  struct Duplicate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create a new board from the objects of another, without its history."
    )

    @Argument(help: "Which board.", completion: .board) var board: String
    @Argument(help: "What the new one is called.") var name: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let name = try BoardName.checked(name)
      let made = try await BoardFile.duplicate(path, as: name, in: try common.boardLibrary())
      try common.say(
        "board-duplicated",
        "The board \(TerminalText.quoted(name)) is made.",
        path: made
      )
    }
  }

  /// `whiteboard-peer boards rename`.
  struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Rename a board.")

    @Argument(help: "Which board.", completion: .board) var board: String
    @Argument(help: "The new name.") var name: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let (path, name) = (try await common.path(of: board), try BoardName.checked(name))
      let library = try common.boardLibrary()
      try await writing(path) { document throws(DocumentError) in
        try await library.giving(name, to: path) { () async throws(DocumentError) in
          try await document.rename(to: name)
        }
      }
      try common.say("board-renamed", "It is called \(TerminalText.quoted(name)) now.", path: path)
    }
  }

  /// `whiteboard-peer boards retain`.
  struct Retain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Set how many days of a board's history are kept while it is used."
    )

    @Argument(help: "Which board.", completion: .board) var board: String
    @Argument(help: ArgumentHelp("A number of days, or forever.", valueName: "DAYS|forever"))
    var span: String
    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
      guard span == "forever" || Int(span).map({ (0...36_500).contains($0) }) ?? false else {
        throw ValidationError("Give a number of days from 0 to 36500, or forever.")
      }
    }

    mutating func run() async throws {
      let (path, days) = (try await common.path(of: board), Int(span))
      try await writing(path) { document throws(DocumentError) in
        try await document.setRetention(days: days)
      }
      try common.say(
        "board-retained",
        days.map { "Its history is kept for \($0) days." } ?? "All of its history is kept.",
        path: path
      )
    }
  }

  /// `whiteboard-peer boards compact`.
  struct Compact: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a board's file smaller by deleting its history."
    )

    @Argument(help: "Which board.", completion: .board) var board: String
    @Option(help: ArgumentHelp("Keep the history of so many days.", valueName: "DAYS"))
    var keep = 0
    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
      guard (0...36_500).contains(keep) else {
        throw ValidationError("--keep is a number of days from 0 to 36500.")
      }
    }

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let days = keep
      try await writing(path) { document throws(DocumentError) in
        try await document.compact(now: BoardFile.now, keeping: days)
      }
      try common.say("board-compacted", "\(path) is compact.", path: path)
    }
  }

  /// `whiteboard-peer boards verify`.
  struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Check all stored data of a board, and report damage."
    )

    @Argument(help: "Which board.", completion: .board) var board: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let damage = try await BoardFile.verify(path)
      for line in damage { try common.say("board-damage", line, path: path) }
      guard damage.isEmpty else {
        Console.complain("whiteboard-peer boards recover tries to save what can still be read.")
        throw ExitCode(NodeError.Code.no.rawValue)
      }
      try common.say("board-verified", "\(path) is whole.", path: path)
    }
  }

  /// `whiteboard-peer boards recover`.
  struct Recover: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Save the intact data of a damaged file to a new file; the old one is only read.",
      discussion: """
        Copies that were kept of the file when it was damaged before (FILE.damaged-1 and so on) are read \
        too. The new file is verified; what had to be left out is listed.

        Use the new file from then on. Move the damaged file and its copies out of the data directory, so \
        that the name and the link of the board mean the new file. Exits with 1 if something is lost.
        """
    )

    /// Returns what to do with the two files.
    private static func advice(_ source: String, _ target: String) -> String {
      "Use this file from now on, and move the damaged one away: mv "
        + "\(TerminalText.quoted(source, limit: 4096))* SOME-OTHER-DIRECTORY/"
        + (target == BoardLibrary.recoveredPath(of: source)
          ? "" : ", and this one to its place.")
    }

    @Argument(help: "The damaged board, by its file, its name or the start of its id.")
    var file: String
    @Option(
      name: [.customShort("o"), .customLong("output")],
      help: ArgumentHelp(
        "The file to write; else FILE with -recovered in its name.",
        valueName: "FILE"
      )
    )
    var output: String?
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      // A damaged file may have lost its name. Then the user gives its path.
      let isFile = BoardFile.isMeant(by: file) || FileManager.default.fileExists(atPath: file)
      let source = isFile ? BoardFile.absolute(file) : try await common.path(of: file)
      let target = output.map(BoardFile.absolute) ?? BoardLibrary.recoveredPath(of: source)
      let (report, objects) = try await BoardFile.recover(source, to: target)
      for loss in report.losses { try common.say("board-damage", "lost: \(loss)", path: source) }
      try common.say(
        "board-recovered",
        "\(target) holds \(report.keyframes) states, \(report.entries) changes and "
          + "\(report.assets) photos; \(report.losses.isEmpty ? "nothing is lost" : "see above what is lost"). "
          + "The board has \(objects) \(objects == 1 ? "object" : "objects"). "
          + Self.advice(source, target),
        path: target
      )
      guard report.losses.isEmpty else { throw ExitCode(NodeError.Code.no.rawValue) }
    }
  }
}

/// Opens a document for writing, does something with it, and closes it whatever came of that.
private func writing(
  _ path: String,
  _ body: (BoardDocument) async throws(DocumentError) -> Void
) async throws(NodeError) {
  try await filing { () async throws(DocumentError) in
    let document = try await BoardDocument.open(at: path, mode: .writing)
    do throws(DocumentError) {
      try await body(document)
    } catch {
      // Why it was not done says more than what came of closing.
      try? await document.close()
      throw error
    }
    try await document.close()
  }
}
