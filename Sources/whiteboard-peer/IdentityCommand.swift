import ArgumentParser
import CommandLines
import PeerSession
import WhiteboardCommands
import WhiteboardKit

/// `whiteboard-peer identity`.
struct IdentityCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Show the identity of this computer, or give it a new one.",
    subcommands: [Show.self, New.self],
    defaultSubcommand: Show.self
  )

  /// The identity, as a line `identity` of JSON.
  private struct IdentityLine: Encodable {
    let peer: String
    var former: String?
    var formerFile: String?

    var json: String { String(decoding: EventLine.json("identity", self), as: UTF8.self) }
  }

  /// `whiteboard-peer identity show`.
  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the id of this peer.")

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let directory = try common.chosenDataDirectory()
      do {
        let identity = try PeerIdentity.loadOrCreate(inDirectory: directory)
        try Console.tell(common.json ? IdentityLine(peer: identity.peerID.text).json : "\(identity.peerID.text)\n")
      } catch { throw WhiteboardError(error, inDataDirectory: directory) }
    }
  }

  /// `whiteboard-peer identity new`.
  struct New: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Give this computer a new identity; boards, names and settings stay.",
      discussion: """
        Use it if the data directory was copied to another computer, so that two computers have one identity. Other
        peers then see this computer as a new peer: it needs the join code again, and boards that the old identity
        hosts keep the old identity as their host. The old identity is kept in a file beside the new one.
        """
    )

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let directory = try common.chosenDataDirectory()
      do {
        let (old, new, file) = try PeerIdentity.renew(inDirectory: directory)
        try Console.tell(
          common.json
            ? IdentityLine(peer: new.peerID.text, former: old.text, formerFile: file).json
            : "This computer is now \(new.peerID.short), and no longer \(old.short).\n"
              + "The old identity is kept in \(file).\n"
              + "Start programs that are running here again; until then they use the old identity.\n"
        )
      } catch { throw WhiteboardError(error, inDataDirectory: directory) }
    }
  }
}
