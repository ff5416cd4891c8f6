import PeerCore
import PeerSession

/// `chat NAME` hosts a chat and prints its session, port and key; `chat NAME SESSION PORT KEY` joins it.
@main struct Chat {
  static func main() async throws {
    let words = CommandLine.arguments
    let settings = TransportConfiguration(
      identity: .ephemeral(),
      displayName: words[1],
      inboxDirectory: "/tmp/chat-inbox"
    )
    try await PeerTransport.withTransport(settings) { @Sendable transport in
      let session: Session
      if words.count > 4, let id = SessionID(text: words[2]), let port = Int(words[3]) {
        let (host, key) = (PeerAddress(host: "127.0.0.1", port: port), PeerID(text: words[4]))
        session = try await transport.join(JoinRequest(session: id, addresses: [host], peer: key, trust: .pinnedByLink))
        { _ in false }
      } else {
        session = try await transport.host(.random(), admission: .anyone)
        print(session.id.text, transport.port, transport.peerID.text)
      }
      Task {
        while let line = readLine() { try await session.send(Array(line.utf8)) }
        await session.leave()
      }
      for await case .message(let bytes, from: let peer) in session.events {
        print("\(peer.short): \(UntrustedText(bytes: bytes))")
      }
    }
  }
}
