import ArgumentParser
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRelay

extension PlaceOptions {
  /// Asks the relay that runs, and tells what it answers.
  ///
  /// - Parameters:
  ///   - request: What is asked.
  ///   - empty: What a person is told where there is nothing to tell.
  /// - Throws: ``NodeError``: why it was not done, or why nobody could be asked.
  func tell(_ request: ControlRequest, empty: String) async throws(NodeError) {
    let lines = try await ask(request)
    if lines.isEmpty, !json { try Console.tell(empty + "\n") }
    if json {
      for line in lines { try Console.tell(line.text(json: true)) }
    } else {
      try Console.tell(ControlLine.table(lines))
    }
  }
}

/// `whiteboard-relay status`.
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Tell how the relay is that runs here."
  )

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws { try await place.tell(ControlRequest(.status), empty: "") }
}

/// `whiteboard-relay peers`.
struct PeersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "Tell who is on which board."
  )

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    try await place.tell(ControlRequest(.peers), empty: "Nobody is on a board.")
  }
}

/// `whiteboard-relay drain`.
struct DrainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain",
    abstract: "Have the relay end in good order: everybody is told, and every board is kept."
  )

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    try await place.tell(ControlRequest(.drain), empty: "The relay ends.")
  }
}

/// Which board of which relay is meant.
struct BoardOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("Its name, its id or the beginning of that.", valueName: "board"))
  var name: String

  @OptionGroup var place: PlaceOptions

  /// Has something done with the board, and tells what came of it.
  ///
  /// - Throws: ``NodeError``: why it was not done, or why nobody could be asked.
  func tell(_ command: ControlRequest.Command, empty: String = "") async throws(NodeError) {
    try await place.tell(ControlRequest(command, board: name), empty: empty)
  }
}

/// `whiteboard-relay boards`.
struct BoardsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "boards",
    abstract: "List, make, share, pin and delete the boards of the relay that runs here.",
    subcommands: [
      List.self, Create.self, Invite.self, Role.self, Kick.self, Pin.self, Unpin.self, Export.self,
      Delete.self,
    ],
    defaultSubcommand: List.self
  )

  /// `whiteboard-relay boards list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the boards, and who is on them."
    )

    @OptionGroup var place: PlaceOptions

    mutating func run() async throws {
      try await place.tell(
        ControlRequest(.boards),
        empty: "There is no board yet: whiteboard-relay boards create NAME"
      )
    }
  }

  /// `whiteboard-relay boards create`.
  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a board of the relay's own."
    )

    @Argument(help: "What it is called.")
    var name: String

    @Option(help: ArgumentHelp("How peers are admitted: code, known or anyone.", valueName: "HOW"))
    var admit: String?

    @Option(
      help: ArgumentHelp("The join code (four words); else a new one.", valueName: "WORDS")
    )
    var code: String?

    @Flag(help: "Own the board: the relay lets write whoever comes by its code.")
    var owned = false

    @OptionGroup var place: PlaceOptions

    mutating func run() async throws {
      var request = ControlRequest(.create)
      request.name = name
      request.admit = admit
      request.code = code
      request.owned = owned ? true : nil
      try await place.tell(request, empty: "")
    }
  }

  /// `whiteboard-relay boards invite`.
  struct Invite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a further code by which people join a board.",
      discussion: "A board has at most 16 codes; further ones end with the relay."
    )

    @OptionGroup var board: BoardOptions

    @Flag(help: "Make a view-only code, on a board made with --owned.")
    var view = false

    @Option(
      help: ArgumentHelp(
        "For how long it holds: a number and s, m, h or d, at most 30d.",
        valueName: "TIME"
      )
    )
    var expires: String?

    mutating func validate() throws {
      guard expires.map({ InvitationTerms.seconds($0) != nil }) ?? true else {
        throw ValidationError("--expires takes a time like 90s, 15m, 2h or 7d, at most 30d.")
      }
    }

    mutating func run() async throws {
      var request = ControlRequest(.invite, board: board.name)
      let seconds = expires.flatMap { InvitationTerms.seconds($0) }
      request.terms = InvitationTerms(isView: view, seconds: seconds)
      try await board.place.tell(request, empty: "")
    }
  }

  /// `whiteboard-relay boards role`.
  struct Role: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say what somebody may do on a board made with --owned."
    )

    @OptionGroup var board: BoardOptions

    @Argument(help: "Who: a name, an id or the beginning of that.") var peer: String

    @Argument(help: "editor or viewer.") var role: String

    mutating func run() async throws {
      var request = ControlRequest(.role, board: board.name)
      request.peer = peer
      request.role = role
      try await board.place.tell(request, empty: "It is so from now on.")
    }
  }

  /// `whiteboard-relay boards kick`.
  struct Kick: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove somebody from a board; on one made with --owned the right to write too."
    )

    @OptionGroup var board: BoardOptions

    @Argument(help: "Who: a name, an id or the beginning of that.") var peer: String

    @Argument(help: "What the peer is told.") var reason = ""

    @Flag(help: "Also remove every member that the peer admitted, and so on.")
    var withAdmitted = false

    @Flag(help: "Keep the code of the board; else it gets a new one, which is printed.")
    var keepCode = false

    mutating func run() async throws {
      var request = ControlRequest(.kick, board: board.name)
      request.peer = peer
      request.reason = reason
      request.withAdmitted = withAdmitted
      request.keepCode = keepCode
      try await board.place.tell(request, empty: "The peer is removed.")
    }
  }

  /// `whiteboard-relay boards pin`.
  struct Pin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Keep a board however long nobody visits it."
    )

    @OptionGroup var board: BoardOptions

    mutating func run() async throws { try await board.tell(.pin) }
  }

  /// `whiteboard-relay boards unpin`.
  struct Unpin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Keep a board no longer than others."
    )

    @OptionGroup var board: BoardOptions

    mutating func run() async throws { try await board.tell(.unpin) }
  }

  /// `whiteboard-relay boards export`.
  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "Write a board to a file of its own, which whiteboard-peer opens; it goes on meanwhile."
    )

    @OptionGroup var board: BoardOptions

    @Option(
      name: [.customShort("o"), .customLong("output")],
      help: ArgumentHelp(
        "The file to make, ended by .\(BoardFile.fileExtension).",
        valueName: "FILE"
      )
    )
    var output: String

    mutating func run() async throws {
      guard output.hasSuffix(".\(BoardFile.fileExtension)") else {
        throw NodeError(
          .usage,
          "the file is a whole board: end its name in .\(BoardFile.fileExtension); "
            + "`whiteboard-peer export` makes a picture of that"
        )
      }
      let target = BoardFile.absolute(output)
      let directory = try board.place.settings().relayDirectory()
      try await RelayBackup.export(board.name, of: directory, to: target)
      try board.place.say("board-exported", "The board is in \(output).", path: target)
    }
  }

  /// `whiteboard-relay boards delete`.
  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "Serve a board no more and remove what is kept of it; who is on it keeps what it has."
    )

    @OptionGroup var board: BoardOptions

    mutating func run() async throws {
      try await board.tell(.delete)
    }
  }
}
