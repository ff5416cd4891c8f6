import ArgumentParser
import CommandLines
import PeerDiscovery
import PeerSession
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardRendering

struct PeersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "List, trust or forget the peers that you have met.",
    subcommands: [List.self, Trust.self, Forget.self],
    defaultSubcommand: List.self
  )

  static func store(_ common: CommonOptions) throws(WhiteboardError) -> PeerStore {
    let directory = try common.chosenDataDirectory()
    do { return try PeerStore(file: directory + "/peers.json") } catch {
      throw WhiteboardError(error, inDataDirectory: directory)
    }
  }

  private struct KnownPeerLine: Encodable {
    let peer: String
    let name: String
    let verified: String
    let firstSeen: String
    let lastSeen: String
    let alwaysAdmitted: Bool?

    init(_ known: KnownPeer) {
      peer = known.peer.text
      name = known.name.displayed
      verified = known.verified.rawValue
      firstSeen = known.firstSeen.formatted(.iso8601)
      lastSeen = known.lastSeen.formatted(.iso8601)
      alwaysAdmitted = known.isAlwaysAdmitted ? true : nil
    }

    var json: String { String(decoding: EventLine.json("known-peer", self), as: UTF8.self) }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the peers that you have met.")

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let known = await (try PeersCommand.store(common)).all
      if known.isEmpty, !common.json { try Console.tell("You have not met any peers yet.\n") }
      let lines = known.map { KnownPeerLine($0) }
      if common.json {
        for line in lines { try Console.tell(line.json) }
      } else if !lines.isEmpty {
        let rows = zip(lines, known).map { line, peer in
          [line.name, line.verified, peer.isAlwaysAdmitted ? "always" : "", line.lastSeen, line.peer]
        }
        try Console.tell(TextTable.text([["NAME", "ADMITTED", "WITHOUT ASKING", "LAST SEEN", "ID"]] + rows))
      }
    }
  }

  struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Trust a peer, so that boards with `admit` set to `known` admit it."
    )

    @Argument(help: "The whole id of the peer (52 characters).") var id: String

    @Option(name: .customLong("as"), help: ArgumentHelp("The name to show for the peer.", valueName: "NAME")) var name =
      ""

    @Flag(help: "If `admit` is `ask`, admit the peer without asking you.") var always = false

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      guard let peer = PeerID(text: id) else {
        throw WhiteboardError(
          .usage,
          "a peer id has 52 letters and digits; `whiteboard-peer peers` lists the known ones"
        )
      }
      let directory = try common.chosenDataDirectory()
      do {
        // Load the identity, because this also makes the data directory private.
        _ = try PeerIdentity.loadOrCreate(forBoardsIn: directory)
        let store = try PeersCommand.store(common)
        try await store.remember(peer, name: name, how: .ask)
        if always { try await store.alwaysAdmit(peer, name: name) }
        guard let known = await store.all.first(where: { $0.peer == peer }) else { return }
        let who = EventText.person(known.name, peer.text)
        try Console.tell(
          common.json
            ? KnownPeerLine(known).json
            : "\(who) is now admitted if `admit` is `known`"
              + (always ? ", and admitted without asking you if it is `ask`.\n" : ".\n")
        )
      } catch { throw WhiteboardError(error, inDataDirectory: directory) }
    }
  }

  struct Forget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Forget a peer.")

    @Argument(help: "The id of the peer, or at least its first 4 characters.") var id: String

    @OptionGroup var confirmation: Confirmation

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let store = try PeersCommand.store(common)
      let meant = await store.all.filter { $0.peer.text.hasPrefix(id.lowercased()) }
      guard let peer = meant.first, meant.count == 1, id.utf8.count >= 4 else {
        throw WhiteboardError(
          .no,
          meant.count > 1
            ? "\(meant.count) peers have ids that start with these characters; give more of the id"
            : "there is no such peer; give at least 4 characters of its id"
        )
      }
      let who = EventText.person(peer.name, peer.peer.text)
      try await confirmation.confirm("peers forget", or: "no peer was forgotten") {
        "Forget \(who)? The peer is then new to you: it needs the join code or your consent again."
      }
      do { _ = try await store.forget(peer.peer) } catch { throw WhiteboardError(.inputOutput, "\(error)") }
      if !common.json { try Console.tell("Removed \(who) from the known peers.\n") }
    }
  }
}
