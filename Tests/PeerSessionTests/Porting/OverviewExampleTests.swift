import Foundation
import PeerCore
import PeerDiscovery
import Testing

@testable import PeerSession

// The example of PeerSession.md, word for word.
// example begins
/// Welcomes each peer that joins, until a peer has answered.
func receive(in session: Session) async throws -> String {
  var answer = ""
  for await event in session.events {
    switch event {
    case .peerJoined(let peer): try await session.send(Array("Welcome".utf8), to: [peer.id])
    case .message(let bytes, from: _):
      // Makes the text of a peer safe to print.
      answer = UntrustedText(bytes: bytes).displayed
      await session.leave()
    default: break
    }
  }
  return answer
}

/// Answers the first message, and stays until the host has left.
func visit(_ session: Session) async throws {
  for await event in session.events {
    switch event {
    case .message(_, from: let peer): try await session.send(Array("Thanks".utf8), to: [peer])
    case .peerLeft(_, let reason, undelivered: _):
      print("The host left: \(reason.word)")
      await session.leave()
    default: break
    }
  }
}
// example ends

@Suite(.timeLimit(.minutes(5))) struct OverviewExampleTests {
  @Test("the example of the overview runs as described") func runs() async throws {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let id = SessionID.random()
        let code = JoinCode.random()
        let hosted = try await alice.host(id, admission: .code(code))
        let joined = try await bob.join(id, of: alice, code: code)
        async let visiting: Void = visit(joined)
        let answer = try await receive(in: hosted)
        try await visiting
        #expect(answer == "Thanks")
      }
    }
  }

  @Test("the overview contains the example that is compiled here") func sameText() throws {
    let here = try String(contentsOfFile: #filePath, encoding: .utf8)
    let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    let overview = try String(
      contentsOfFile: root + "/Sources/Network/PeerSession/PeerSession.docc/PeerSession.md",
      encoding: .utf8
    )
    let compiled = try #require(
      here.firstRange(of: "// example begins\n").flatMap { start in
        here[start.upperBound...].firstRange(of: "// example ends\n").map { end in
          here[start.upperBound..<end.lowerBound]
        }
      }
    )
    #expect(overview.contains("```swift\n\(compiled)```"))
  }
}
