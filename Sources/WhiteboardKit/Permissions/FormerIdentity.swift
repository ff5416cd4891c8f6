import Logging
import PeerCore
import PeerSession
import WhiteboardDocument

// Boards of an identity that `identity new` replaced: their host can never return, so no member can be removed.

extension BoardFile {
  /// Returns the saved boards whose host is a peer, by name.
  package static func boards(hostedBy peer: PeerID, dataDirectory: String) async -> [(name: String, path: String)] {
    let library = BoardLibrary(sealedIn: dataDirectory)
    let logger = Logger(label: "boards") { _ in SwiftLogNoOpLogHandler() }
    var found: [(name: String, path: String)] = []
    for summary in (try? await library.list()) ?? [] {
      guard let id = summary.board.flatMap({ SessionID(bytes: $0) }) else { continue }
      var isHosted = id.names(peer)
      if !id.namesHost {
        let seal = library.seal(forFile: summary.path)
        guard let document = try? await BoardDocument.open(at: summary.path, mode: .reading, seal: seal) else {
          continue
        }
        isHosted = await document.membershipRecord(logger: logger)?.host == peer
        try? await document.close()
      }
      if isHosted { found.append((summary.name, summary.path)) }
    }
    return found
  }

  /// The command that creates a board of the local peer from another one.
  package static func duplication(of board: String) -> String {
    "whiteboard-peer boards duplicate \(shellQuoted(UntrustedText(board).escaped(limit: 128))) NAME"
  }
}

extension BoardConfiguration {
  func isFormerIdentity(_ peer: PeerID) -> Bool {
    peer != identity.peerID && PeerIdentity.formerPeers(inDirectory: dataDirectory).contains(peer)
  }

  /// The warning about a board that belongs to a former identity of the local user.
  func formerIdentityText(_ board: String, _ host: PeerID) -> String {
    "The board \(UntrustedText(board).quoted()) belongs to the former identity of this computer (\(host.short)). "
      + "Members cannot be removed from it. To host a copy of your own, run: \(BoardFile.duplication(of: board))"
  }
}
