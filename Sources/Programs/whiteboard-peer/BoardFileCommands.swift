import ArgumentParser
import FoundationEssentials
import PeerCore
import PeerSession
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardRendering

extension BoardsCommand {
  struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Copy a board with its history to a new file, even while it is open elsewhere."
    )

    @Argument(help: "The board to copy.", completion: .board) var board: String
    @Argument(help: "The new file, which must not exist yet.", completion: .file()) var file: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let (path, file) = (try await common.path(of: board), BoardFile.absolute(file))
      try await filing { () async throws(DocumentError) in
        try await BoardDocument.open(at: path, mode: .reading).save(as: file)
      }
      try common.say("board-copied", "Copied \(path) to \(file).", path: file)
    }
  }

  struct Duplicate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create a new board from the objects of another, without its history."
    )

    @Argument(help: "The board to duplicate.", completion: .board) var board: String
    @Argument(help: "The name of the new board.") var name: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let name = try BoardName.checked(name)
      let directory = try common.chosenDataDirectory()
      let host: PeerID
      do { host = try PeerIdentity.loadOrCreate(forBoardsIn: directory).peerID } catch {
        throw WhiteboardError(error, inDataDirectory: directory)
      }
      let made = try await BoardFile.duplicate(path, as: name, in: try common.boardLibrary(), hostedBy: host)
      try common.say("board-duplicated", "Created the board \(UntrustedText(name).quoted()).", path: made)
    }
  }

  struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Rename a board.")

    @Argument(help: "The board to rename.", completion: .board) var board: String
    @Argument(help: "The new name.") var name: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let (path, name) = (try await common.path(of: board), try BoardName.checked(name))
      let library = try common.boardLibrary()
      try await writing(path) { document throws(DocumentError) in
        try await library.giving(name, to: path) { () async throws(DocumentError) in try await document.rename(to: name)
        }
      }
      try common.say("board-renamed", "Renamed the board to \(UntrustedText(name).quoted()).", path: path)
    }
  }

  struct Retain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Set how many days of history a board keeps. Older history is deleted while the board is open."
    )

    @Argument(help: "The board to change.", completion: .board) var board: String
    @Argument(help: ArgumentHelp("A number of days, or forever.", valueName: "DAYS|forever")) var span: String
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
      guard span == "forever" || Int(span).map({ (0...36_500).contains($0) }) ?? false else {
        throw ValidationError("Give a number of days from 0 to 36500, or forever.")
      }
    }

    mutating func run() async throws {
      let (path, days) = (try await common.path(of: board), Int(span))
      if let days {
        let name = UntrustedText(board).quoted()
        try await confirmation.confirm("boards retain", or: "nothing was changed") {
          "Delete the history of \(name) that is older than \(EventText.count(days, "day")), now and later?"
        }
      }
      try await writing(path) { document throws(DocumentError) in try await document.setRetention(days: days) }
      try common.say(
        "board-retained",
        days.map { "The board keeps the history of the last \($0) days." } ?? "The board keeps all of its history.",
        path: path
      )
    }
  }

  struct Compact: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make a board's file smaller by deleting its history.")

    @Argument(help: "The board to compact.", completion: .board) var board: String
    @Option(help: ArgumentHelp("Keep the history of the last DAYS days.", valueName: "DAYS")) var keep = 0
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
      guard (0...36_500).contains(keep) else {
        throw ValidationError("--keep must be a number of days from 0 to 36500.")
      }
    }

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let days = keep
      let name = UntrustedText(board).quoted()
      try await confirmation.confirm("boards compact", or: "nothing was deleted") {
        days == 0
          ? "Delete the whole history of \(name)? The objects and checkpoints stay."
          : "Delete the history of \(name) that is older than \(EventText.count(days, "day"))? The objects and "
            + "checkpoints stay."
      }
      try await writing(path) { document throws(DocumentError) in
        try await document.compact(now: BoardFile.now, keeping: days)
      }
      try common.say("board-compacted", "Compacted \(path).", path: path)
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Delete a board from this computer, after asking.",
      discussion: "Other members keep their copies. A board that is open in a program is not deleted."
    )

    @Argument(help: "The board to delete.", completion: .board) var board: String
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let path = try await common.path(of: board)
      try await confirmation.delete(path, "the board", named: board, command: "boards delete") {
        ByteCount.text(BoardFile.byteCount(of: path))
      }
      try common.say("board-deleted", "Deleted \(path).", path: path)
    }
  }

  struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Check all stored data of a board, and report damage.")

    @Argument(help: "The board to check.", completion: .board) var board: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let damage = try await BoardFile.verify(path)
      for line in damage { try common.say("board-damage", line, path: path) }
      guard damage.isEmpty else {
        Console.complain("To save the readable data, run: whiteboard-peer boards recover FILE")
        throw ExitCode(WhiteboardError.Code.no.rawValue)
      }
      try common.say("board-verified", "\(path) is intact.", path: path)
    }
  }

  struct Recover: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Save the intact data of a damaged file to a new file; the damaged file is not changed.",
      discussion: """
        The command also reads the copies that were saved when the file was found damaged (FILE.damaged-1 \
        and so on). It verifies the new file, and lists the data that is lost.

        Afterwards, use the new file. Move the damaged file and its copies out of the data directory, so \
        that the board's name and link refer to the new file. The exit status is 1 if data is lost.
        """
    )

    private static func advice(_ source: String, _ target: String) -> String {
      "Use this file from now on, and move the damaged file somewhere else: mv "
        + "\(shellQuoted(source))* SOME-OTHER-DIRECTORY/"
        + (target == BoardLibrary.recoveredPath(of: source) ? "" : ", then move this file to the old path.")
    }

    @Argument(help: "The damaged board: its file, its name or the start of its id.", completion: .file())
    var file: String

    @Option(
      name: [.customShort("o"), .customLong("output")],
      help: ArgumentHelp("The file to write; by default, FILE with -recovered in its name.", valueName: "FILE"),
      completion: .file()
    ) var output: String?
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      // The board's name may be missing from a damaged file. In this case, the user must pass the path of the file.
      let isFile = BoardFile.isMeant(by: file) || FileManager.default.fileExists(atPath: file)
      let source = isFile ? BoardFile.absolute(file) : try await common.path(of: file)
      let target = output.map(BoardFile.absolute) ?? BoardLibrary.recoveredPath(of: source)
      let (report, objects) = try await BoardFile.recover(source, to: target)
      for loss in report.losses { try common.say("board-damage", "lost: \(loss)", path: source) }
      try common.say(
        "board-recovered",
        "\(target) holds \(report.keyframes) states, \(report.entries) changes and "
          + "\(report.assets) photos; \(report.losses.isEmpty ? "nothing is lost" : "the lost data is listed above"). "
          + "The board has \(objects) \(objects == 1 ? "object" : "objects"). " + Self.advice(source, target),
        path: target
      )
      guard report.losses.isEmpty else { throw ExitCode(WhiteboardError.Code.no.rawValue) }
    }
  }
}

private func writing(_ path: String, _ body: (BoardDocument) async throws(DocumentError) -> Void)
  async throws(WhiteboardError)
{
  try await filing { () async throws(DocumentError) in
    let document = try await BoardDocument.open(at: path, mode: .writing)
    do throws(DocumentError) { try await body(document) } catch {
      // Report the error of `body`, and ignore an error from closing.
      try? await document.close()
      throw error
    }
    try await document.close()
  }
}
