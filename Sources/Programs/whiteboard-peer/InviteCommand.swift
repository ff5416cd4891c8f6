import ArgumentParser
import CommandLines
import PeerCore
import PeerSession
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardTerminal

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

struct InviteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "invite",
    abstract: "Show how others can join a board: its link, its code and a QR code.",
    discussion: """
      BOARD is the name of a board, the start of its id, or a file. The default is the board that is open on this \
      computer, or the only saved one. If the board is not open, the command shows the link that the board will \
      have on the usual port, and the command that opens it for others.

      Anyone with the link or the code can join, so share them only with people whom you want on the board. If the \
      board is open on this computer, --view and --expires create an additional code. A board has at most 16 \
      codes. Additional codes expire when the program closes the board.

      If browsers can join the board (`host --web` or `web on`), `invite --web` creates a link that opens it in a \
      browser, for example on a phone. With --expires, the link is valid for that long. Without it, the link is valid \
      until the board is closed, unless a relay keeps the board open. Browsers store the addresses that they open. \
      With --once, the link admits one person, so that the stored address admits no other person.
      """
  )

  @Argument(help: ArgumentHelp("The board to show the invitation for.", valueName: "BOARD"), completion: .board)
  var board: String?

  @Flag(inversion: .prefixedNo, help: "Whether to draw the QR code; by default, only on a terminal.") var qr: Bool?

  @Flag(help: "Create a browser link, for an open board that browsers can join.") var web = false

  @Flag(help: "Let the browser link admit only one person.") var once = false

  @Flag(help: "Make the code or link view-only, for a board that was created with --owned.") var view = false

  @Option(
    help: ArgumentHelp("How long the code or link is valid: a number and s, m, h or d, at most 30d.", valueName: "TIME")
  ) var expires: String?

  @OptionGroup var common: CommonOptions

  mutating func validate() throws {
    guard web || !once else { throw ValidationError("--once is only for browser links; add --web.") }
    guard let expires else { return }
    guard InvitationTerms.seconds(expires) != nil else {
      throw ValidationError("--expires must be a time such as 90s, 15m, 2h or 7d, at most 30d.")
    }
  }

  mutating func run() async throws {
    let settings = try common.settings()
    var invitation = try await invitation(settings)
    if web || view || expires != nil { invitation = try await further(invitation, settings) }
    guard !common.json else {
      try Console.tell(String(decoding: EventLine.json("invite", invitation), as: UTF8.self))
      return
    }
    let isTerminal = isatty(STDOUT_FILENO) == 1
    // On a terminal, OSC 8 makes the link clickable.
    try Console.tell(invitation.text { isTerminal ? "\u{1B}]8;;\($0)\u{1B}\\\($0)\u{1B}]8;;\u{1B}\\" : $0 })
    guard let link = invitation.links.first, qr ?? isTerminal else { return }
    let colors = isTerminal ? Self.colors(settings) : nil
    try Console.tellQRCode(of: link, colors: colors)
  }

  /// The program that has the board open creates the code.
  private func further(_ invitation: BoardInvitation, _ settings: Settings) async throws(WhiteboardError)
    -> BoardInvitation
  {
    let directory = try settings.chosenDataDirectory()
    let open = OpenBoard.all(inDataDirectory: directory)
    guard let board = open.first(where: { $0.board == invitation.board }) else {
      throw WhiteboardError(.unreachable, "the board is not open on this computer: open it with `host`, then try again")
    }
    let terms = InvitationTerms(
      isView: view,
      isForBrowsers: web,
      isOnce: once,
      seconds: expires.flatMap(InvitationTerms.seconds)
    )
    return BoardInvitation(board, try await InvitationRequest.ask(terms, of: board, inDataDirectory: directory))
  }

  /// Returns the colors of a QR code: black on white, so that any terminal shows the code correctly. Returns nil for a
  /// terminal without colors.
  private static func colors(_ settings: Settings) -> String? {
    let features = TerminalFeatures { Environment[$0] }.applying(TerminalSettings(settings))
    return switch features.depth {
    case .none: nil
    case .sixteen: "30;107"
    case .palette: "38;5;16;48;5;231"
    case .full: "38;2;0;0;0;48;2;255;255;255"
    }
  }

  private func invitation(_ settings: Settings) async throws -> BoardInvitation {
    let open = OpenBoard.all(inDataDirectory: try settings.chosenDataDirectory())
    if let board {
      let meant = open.filter {
        $0.boardName == board || (board.utf8.count >= 4 && $0.board.hasPrefix(board.lowercased()))
      }
      if meant.count == 1, let only = meant.first { return BoardInvitation(only) }
      return try await invitation(toFile: try await common.path(of: board), open, settings)
    }
    if open.count == 1, let only = open.first { return BoardInvitation(only) }
    let library = try common.boardLibrary()
    let kept = try await filing { () async throws(DocumentError) in try await library.list() }
    let names = open.isEmpty ? kept.map(\.name) : open.map(\.boardName)
    switch names.count {
    case 0: throw WhiteboardError(.noInput, "no boards are saved yet; `whiteboard-peer host NAME` creates one")
    case 1: return try await invitation(toFile: kept[0].path, open, settings)
    default:
      let list = names.prefix(16).map { UntrustedText($0).quoted() }.joined(separator: ", ")
      throw WhiteboardError(.usage, "there are several boards; name one of them: \(list)")
    }
  }

  /// Returns the invitation to a saved board, no matter whether the board is open.
  private func invitation(toFile path: String, _ open: [OpenBoard], _ settings: Settings) async throws
    -> BoardInvitation
  {
    let directory = try settings.chosenDataDirectory()
    let library = BoardLibrary(sealedIn: directory)
    let (bytes, name, code, stored) = try await filing { () async throws(DocumentError) in
      let seal = library.seal(forFile: path)
      let document = try await BoardDocument.open(at: path, mode: .reading, seal: seal)
      return (
        document.board, try await document.name(), try await document.fact(.code), await document.hostChoice().admission
      )
    }
    guard let session = SessionID(bytes: bytes) else {
      throw WhiteboardError(.badData, "\(path): the board id in the file is invalid")
    }
    let id = session.text
    if let running = open.first(where: { $0.board == id }) { return BoardInvitation(running) }
    let identity: PeerIdentity
    do { identity = try PeerIdentity.loadOrCreate(forBoardsIn: directory) } catch {
      throw WhiteboardError(error, inDataDirectory: directory)
    }
    let admission = settings.value(.admission) ?? (settings.value(.code) == nil ? stored : nil)
    let listen = settings.value(.listen)
    let port = listen.map(\.port) ?? 0
    return BoardInvitation(
      board: id,
      boardName: name,
      peer: identity.peerID.text,
      admit: admission?.rawValue,
      code: settings.value(.code)?.text ?? code,
      pass: admission == .ask ? identity.invitationPass(for: session).text : nil,
      open: false,
      hosts: PeerTransport.addresses(listen: listen, interface: settings.value(.interface)),
      port: port > 0 ? port : HostPort.defaultPort
    )
  }
}
