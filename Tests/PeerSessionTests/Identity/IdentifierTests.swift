import Foundation
import PeerTestKit
import Testing

@testable import PeerSession

struct IdentifierTests {
  @Test("each identifier has one text, of the specified length") func texts() throws {
    let peer = PeerIdentity.ephemeral().peerID
    #expect(peer.text.utf8.count == 52)
    #expect(SessionID.random().text.utf8.count == 26)
    #expect(TransferID.random().text.utf8.count == 26)
    #expect(SessionIncarnation(0).text == "aaaaaaaaaaaaa")
    #expect(SessionIncarnation(.max).text == "7777777777776")
    #expect(PeerID(text: peer.text) == peer)
    #expect(peer.short == String(peer.text.prefix(8)))
    #expect("\(peer)" == peer.text)
    for text in [peer.text.uppercased(), peer.text + "a", String(peer.text.dropLast()), "", "é"] {
      #expect(PeerID(text: text) == nil)
    }
    #expect(SessionIncarnation(text: "7777777777777") == nil)
  }

  @Test("the text of a PeerID is that of the vectors") func vectors() throws {
    for peer in AdmissionVectors.all.peers {
      let id = PeerID(spki: peer.spki.bytes)
      #expect(id.bytes == peer.peerID.bytes)
      #expect(id.text == peer.text)
    }
  }

  @Test("identifiers give back their bytes, and reject other lengths") func bytes() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<50 {
      let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      #expect(PeerID(bytes: bytes)?.bytes == bytes)
      #expect(SessionID(bytes: Array(bytes.prefix(16)))?.bytes == Array(bytes.prefix(16)))
      #expect(TransferID(bytes: Array(bytes.prefix(16)))?.bytes == Array(bytes.prefix(16)))
      #expect(SessionIncarnation(bytes: Array(bytes.prefix(8)))?.bytes == Array(bytes.prefix(8)))
      for count in [0, 7, 15, 17, 31] {
        #expect(PeerID(bytes: Array(bytes.prefix(count))) == nil)
        #expect(SessionID(bytes: Array(bytes.prefix(count))) == nil)
      }
    }
  }

  @Test("[DUP-1] peers compare byte by byte, beginning with the first byte") func order() {
    var generator = SeededGenerator(seed: 2)
    let ids = (0..<200).compactMap { _ in
      PeerID(bytes: (0..<32).map { _ in UInt8.random(in: 0...2, using: &generator) })
    }
    #expect(ids.count == 200)
    for (one, other) in zip(ids, ids.dropFirst()) {
      #expect((one < other) == one.bytes.lexicographicallyPrecedes(other.bytes))
      #expect((one == other) == (one.bytes == other.bytes))
    }
  }

  @Test("identifiers in JSON are their text, and any other value is rejected") func json() throws {
    let session = SessionID.random()
    let data = try JSONEncoder().encode([session])
    #expect(String(decoding: data, as: UTF8.self) == "[\"\(session.text)\"]")
    #expect(try JSONDecoder().decode([SessionID].self, from: data) == [session])
    for wrong in ["[\"\"]", "[1]", "[\"\(session.text)a\"]"] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode([SessionID].self, from: Data(wrong.utf8)) }
    }
  }
}
