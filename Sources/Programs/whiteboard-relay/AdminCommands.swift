import ArgumentParser
import CommandLines
import PeerCore
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardRelay

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension PlaceOptions {
  func tell(_ request: ControlRequest, empty: String) async throws(WhiteboardError) {
    let lines = try await ask(request)
    if lines.isEmpty, !json { try Console.tell(empty + "\n") }
    try tell(lines)
  }

  fileprivate func tell(_ lines: [ControlLine]) throws(WhiteboardError) {
    if json {
      for line in lines { try Console.tell(line.text(json: true)) }
    } else {
      try Console.tell(ControlLine.table(lines))
    }
  }
}

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the state of the running relay."
  )

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws { try await place.tell(ControlRequest(.status), empty: "") }
}

struct PeersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "peers", abstract: "Show the peers on each board.")

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws { try await place.tell(ControlRequest(.peers), empty: "No peers are on a board.") }
}

struct ClusterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster",
    abstract: "Show the cluster of the running relay.",
    subcommands: [Status.self, Boards.self],
    defaultSubcommand: Status.self
  )

  static let manual = """
    The relays of a cluster serve each other's boards: each board that is created on
    one relay is on all of them, people join through any relay, and each relay has
    a copy. They find each other through NATS servers with JetStream, version 2.9
    or later; the Debian package is nats-server. Three servers form a NATS cluster.
    Each needs a folder, which `install -d -o nats -g nats /var/lib/nats` creates, and
    a file /etc/nats-server.conf like this. The certificate contains the host name:

      server_name: n1
      listen: 0.0.0.0:4222
      client_advertise: n1:4222
      jetstream { store_dir: "/var/lib/nats" }
      cluster { name: whiteboard, listen: 0.0.0.0:6222,
                routes: [nats://n1:6222, nats://n2:6222, nats://n3:6222] }
      tls { cert_file: "/etc/nats/n1.pem", key_file: "/etc/nats/n1.key",
            ca_file: "/etc/nats/ca.pem", verify: true }

    The settings of each relay, in /etc/whiteboard-relay/relay.conf:

      cluster = tls://n1:4222,tls://n2:4222,tls://n3:4222
      cluster-ca = /etc/whiteboard-relay/ca.pem
      cluster-certificate = /etc/whiteboard-relay/relay.pem
      cluster-key = /etc/whiteboard-relay/relay.key

    The relays must reach each other at their addresses. The contents of boards do
    not pass through NATS. If the NATS servers fail, the relays continue to serve
    their boards. Every client that can connect as a relay receives all boards
    of the cluster with their codes, and can delete them, so protect the servers
    with client certificates or credentials.
    """

  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the relays of the cluster, and their states.",
      discussion: """
        A relay is offline if it was not heard for 15 seconds, and stopped if it shut down. A relay that was not heard \
        for a day is not listed.
        """
    )

    @OptionGroup var place: PlaceOptions

    mutating func run() async throws { try await place.tell(ControlRequest(.cluster), empty: "") }
  }

  struct Boards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the boards of this relay, and the relays of the cluster that serve them too."
    )

    @OptionGroup var place: PlaceOptions

    mutating func run() async throws {
      try await place.tell(ControlRequest(.clusterBoards), empty: "There are no boards yet.")
    }
  }
}

struct DrainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain",
    abstract: "Shut the relay down gracefully: it notifies all peers, and saves every board."
  )

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws { try await place.tell(ControlRequest(.drain), empty: "The relay is stopping.") }
}

struct BoardOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The name or id of the board, or the start of its id.", valueName: "board")) var name:
    String

  @OptionGroup var place: PlaceOptions

  var quotedName: String { UntrustedText(name).quoted() }

  func tell(_ command: ControlRequest.Command, empty: String = "") async throws(WhiteboardError) {
    try await place.tell(ControlRequest(command, board: name), empty: empty)
  }
}

struct BoardsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "boards",
    abstract: "List, create, share, pin and delete the boards of the running relay.",
    subcommands: [
      List.self, Create.self, Invite.self, Revoke.self, Role.self, Kick.self, Pin.self, Unpin.self, Export.self,
      Delete.self,
    ],
    defaultSubcommand: List.self
  )

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the boards, and the peers on them.")

    @OptionGroup var place: PlaceOptions

    mutating func run() async throws {
      try await place.tell(
        ControlRequest(.boards),
        empty: "There are no boards yet. To create one, run: whiteboard-relay boards create NAME"
      )
    }
  }

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Create a board that the relay hosts.")

    @Argument(help: "The name of the board.") var name: String

    @Option(
      help: ArgumentHelp("How peers are admitted: `code`, `known` or `anyone`.", valueName: "HOW"),
      completion: .list(["code", "known", "anyone"])
    ) var admit: String?

    @Option(help: ArgumentHelp("The join code (four words); by default, a new code.", valueName: "WORDS")) var code:
      String?

    @Flag(help: "Make the relay the owner of the board: peers that join with its code get the right to edit.")
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

  struct Invite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create an additional code for a board, or a browser link.",
      discussion: """
        A board has at most 16 codes. Additional codes expire when the relay stops. Browser links stay valid after a \
        restart of the relay, until they expire or are revoked.
        """
    )

    @OptionGroup var board: BoardOptions

    @Flag(help: "Create a browser link instead of a code. The relay must run with --web.") var web = false

    @Flag(help: "Let the browser link admit only one person.") var once = false

    @Flag(help: "Make the code or link view-only, for a board that was created with --owned.") var view = false

    @Option(
      help: ArgumentHelp(
        "How long the code or link is valid: a number and s, m, h or d, at most 30d.",
        valueName: "TIME"
      )
    ) var expires: String?

    @Flag(inversion: .prefixedNo, help: "Whether to draw the QR code; by default, only on a terminal.") var qr: Bool?

    mutating func validate() throws {
      guard web || !once else { throw ValidationError("--once is only for browser links; add --web.") }
      guard expires.map({ InvitationTerms.seconds($0) != nil }) ?? true else {
        throw ValidationError("--expires must be a time such as 90s, 15m, 2h or 7d, at most 30d.")
      }
    }

    mutating func run() async throws {
      var request = ControlRequest(.invite, board: board.name)
      let seconds = expires.flatMap { InvitationTerms.seconds($0) }
      request.terms = InvitationTerms(isView: view, isForBrowsers: web, isOnce: once, seconds: seconds)
      let lines = try await board.place.ask(request)
      try board.place.tell(lines)
      let isTerminal = isatty(STDOUT_FILENO) == 1
      guard !board.place.json, qr ?? isTerminal else { return }
      let hasColors = isTerminal && (Environment["NO_COLOR"] ?? "").isEmpty
      for case .invitation(let report) in lines {
        try Console.tellQRCode(of: report.link, colors: hasColors ? "30;107" : nil)
      }
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Revoke all browser links of a board, and remove everyone who joined with them."
    )

    @OptionGroup var confirmation: Confirmation

    @OptionGroup var board: BoardOptions

    mutating func run() async throws {
      try await confirmation.confirm("boards revoke", or: "nothing was revoked") {
        "Revoke all browser links of \(board.quotedName), and remove everyone who joined with them?"
      }
      let request = ControlRequest(.revoke, board: board.name)
      try await board.place.tell(request, empty: "All browser links of the board were revoked.")
    }
  }

  struct Role: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Set whether a peer can edit a board that was created with --owned."
    )

    @OptionGroup var board: BoardOptions

    @Argument(help: "The name or id of the peer, or the start of its id.") var peer: String

    @Argument(help: "The new role: editor or viewer.", completion: .list(["editor", "viewer"])) var role: String

    mutating func run() async throws {
      var request = ControlRequest(.role, board: board.name)
      request.peer = peer
      request.role = role
      try await board.place.tell(request, empty: "The role was changed.")
    }
  }

  struct Kick: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove a peer from a board, and revoke its right to edit if the board was created with --owned."
    )

    @OptionGroup var board: BoardOptions

    @Argument(help: "The name or id of the peer, or the start of its id.") var peer: String

    @Argument(help: "The reason, which is shown to the peer.") var reason = ""

    @Flag(help: "Also remove the members that the peer admitted, directly or indirectly.") var withAdmitted = false

    @Flag(
      help: """
        Keep the code and the browser links of the board. By default, the board gets a new code, which is printed, \
        and the browser links that removed members used admit no new people.
        """
    ) var keepCode = false

    @OptionGroup var confirmation: Confirmation

    mutating func run() async throws {
      try await confirmation.confirm("boards kick", or: "no peer was removed") {
        "Remove \(UntrustedText(peer).quoted())\(withAdmitted ? " and the members that it admitted" : "") from "
          + "\(board.quotedName)?\(keepCode ? "" : " The board gets a new code.")"
      }
      var request = ControlRequest(.kick, board: board.name)
      request.peer = peer
      request.reason = reason
      request.withAdmitted = withAdmitted
      request.keepCode = keepCode
      try await board.place.tell(request, empty: "The peer was removed.")
    }
  }

  struct Pin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Pin a board: the relay keeps it even if it has no visitors."
    )

    @OptionGroup var board: BoardOptions

    mutating func run() async throws { try await board.tell(.pin) }
  }

  struct Unpin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Unpin a board: the relay removes it after a long time without visitors."
    )

    @OptionGroup var board: BoardOptions

    mutating func run() async throws { try await board.tell(.unpin) }
  }

  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Copy a board to a file for whiteboard-peer; the relay continues to serve the board."
    )

    @OptionGroup var board: BoardOptions

    @Option(
      name: [.customShort("o"), .customLong("output")],
      help: ArgumentHelp("The file to create; its name must end in .\(BoardFile.fileExtension).", valueName: "FILE"),
      completion: .file()
    ) var output: String

    mutating func run() async throws {
      guard output.hasSuffix(".\(BoardFile.fileExtension)") else {
        throw WhiteboardError(
          .usage,
          "the name of the file must end in .\(BoardFile.fileExtension), because it holds a whole board; "
            + "`whiteboard-peer export` makes a picture from it"
        )
      }
      let target = BoardFile.absolute(output)
      let directory = try board.place.settings().relayDirectory()
      try await RelayBackup.export(board.name, of: directory, to: target)
      try board.place.say("board-exported", "Exported the board to \(output).", path: target)
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Stop serving a board, and delete its file; its members keep their copies.",
      discussion: "If the relay belongs to a cluster, all relays of the cluster delete the board."
    )

    @OptionGroup var confirmation: Confirmation

    @OptionGroup var board: BoardOptions

    mutating func run() async throws {
      try await confirmation.confirm("boards delete", or: "nothing was deleted") {
        "Delete the board \(board.quotedName) from this relay? Its members keep their copies."
      }
      try await board.tell(.delete)
    }
  }
}

extension ControlLine {
  func text(json isJSON: Bool) -> String {
    if isJSON { return String(decoding: json, as: UTF8.self) }
    return switch self {
    case .status(let report): Self.text(report)
    case .board: Self.table([self])
    case .person, .clusterRelay, .clusterBoard: Self.table([self])
    case .invitation(let report): Self.text(report)
    case .done: ""
    case .error(_, let message): UntrustedText(message).escaped() + "\n"
    }
  }

  private static func text(_ report: RelayReport) -> String {
    let boards = report.boards == 1 ? "1 board" : "\(report.boards) boards"
    let failed = report.failed == 0 ? "" : " (\(report.failed) cannot be served)"
    let unsaved = report.unsaved == 0 ? "" : " (\(report.unsaved) not saved)"
    let people = report.people == 1 ? "1 person" : "\(report.people) people"
    return """
      \(UntrustedText(report.name).escaped()): \(boards)\(failed)\(unsaved), \(people), up \(uptime(report.uptime))
      id \(report.peer)
      at \(report.addresses.joined(separator: ", "))

      """
  }

  private static func uptime(_ seconds: Int) -> String {
    switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) days"
    }
  }

  static func table(_ lines: [ControlLine]) -> String {
    let rows = lines.map(\.cells)
    let aligned = TextTable.lines(rows.compactMap(\.self))
    var next = aligned.makeIterator()
    return zip(lines, rows).map { line, cells in
      guard cells != nil, let text = next.next() else { return line.text(json: false) }
      return "\(text)\n\(line.notes)"
    }.joined()
  }

  private var cells: [String]? {
    switch self {
    case .board(let report):
      let people = report.people.map(\.displayed).joined(separator: ", ")
      return [
        report.name.displayed, String(report.board.prefix(8)),
        "\(report.state)\(report.isOwned ? ", owned" : "")\(report.isPinned ? ", pinned" : "")",
        people.isEmpty ? "no members" : people,
      ]
    case .person(let person): return [String(person.peer.prefix(8)), person.name.displayed, "on \(person.boardName)"]
    case .clusterRelay(let relay):
      let boards = relay.boards == 1 ? "1 board" : "\(relay.boards) boards"
      let people = relay.people == 1 ? "1 person" : "\(relay.people) people"
      return [
        relay.name.displayed, String(relay.peer.prefix(8)), relay.state.words, boards, people,
        relay.addresses.joined(separator: ", "),
      ]
    case .clusterBoard(let board):
      let relays = board.relays.map(\.displayed).joined(separator: ", ")
      return [
        board.name.displayed, String(board.board.prefix(8)), "hosted by \(board.host.displayed)",
        relays.isEmpty ? "" : "also on \(relays)",
      ]
    case .status, .invitation, .done, .error: return nil
    }
  }

  private var notes: String {
    if case .clusterRelay(let relay) = self {
      return relay.problem.map { "  \(UntrustedText($0).escaped())\n" } ?? ""
    }
    if case .clusterBoard(let board) = self {
      return board.missing.map { "  not on \($0.relay.displayed): \($0.reason.displayed)\n" }.joined()
    }
    guard case .board(let report) = self else { return "" }
    return [report.problem.map { UntrustedText($0).escaped() }, report.link, report.webLink].compactMap(\.self).map {
      "  \($0)\n"
    }.joined()
  }

  private static func text(_ report: InvitationReport) -> String {
    let end = report.expires.map { " (until \(EventText.time($0)))" } ?? ""
    guard let code = report.code else {
      let kind = report.role == "viewer" ? "View-only browser link" : "Browser link"
      let warning = report.fingerprint.map { "\(BrowserPage.warning)\n  \($0)\n" }
      return "\(kind)\(end): \(report.link)\n\(warning ?? "")"
    }
    let kind = report.role == "viewer" ? "View-only code" : "Join code"
    return """
      \(kind)\(end): \(code)
      Link: \(report.link)

      """
  }
}

extension ClusterRelayReport.State {
  fileprivate var words: String {
    switch self {
    case .connected: "this relay"
    case .disconnected: "this relay, not connected"
    case .online: rawValue
    case .silent: "offline"
    case .leaving: "stopped"
    }
  }
}
