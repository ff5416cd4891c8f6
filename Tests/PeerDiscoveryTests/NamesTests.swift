import PeerDiscovery
import PeerTestKit
import Testing

struct ServiceTypeTests {
  @Test("[DSC-1] legal service types are accepted and written as DNS-SD demands") func takesLegal() throws {
    for vector in DiscoveryVectors.all.serviceTypes.valid {
      let type = try ServiceType(vector.name)
      #expect(type.text == vector.text)
      #expect("\(type)" == vector.text)
    }
    #expect(try ServiceType("whiteboard-p2p") == .whiteboard)
  }

  @Test(
    "[DSC-1] illegal service types are rejected with the right error",
    arguments: DiscoveryVectors.all.serviceTypes.invalid
  ) func refusesIllegal(_ vector: DiscoveryVectors.InvalidName) {
    let error = #expect(throws: ServiceTypeError.self) { try ServiceType(vector.name) }
    #expect(error.map { "\($0)" } == vector.error)
  }
}

struct InstanceNameTests {
  @Test("[DSC-2] an instance name depends only on the peer and the session") func makesNames() throws {
    for vector in DiscoveryVectors.all.instanceNames.made {
      let peer = try #require(AnnouncedPeerID(bytes: bytes(hex: vector.peer)))
      let session = try #require(AnnouncedSessionID(bytes: bytes(hex: vector.session)))
      #expect(InstanceName(peer: peer, session: session).text == vector.name)
    }
  }

  @Test("[DSC-2] legal instance names are accepted", arguments: DiscoveryVectors.all.instanceNames.valid)
  func takesLegal(_ name: String) throws { #expect(try InstanceName(name).text == name) }

  @Test(
    "[DSC-2] illegal instance names are rejected with the right error",
    arguments: DiscoveryVectors.all.instanceNames.invalid
  ) func refusesIllegal(_ vector: DiscoveryVectors.InvalidName) {
    let error = #expect(throws: InstanceNameError.self) { try InstanceName(vector.name) }
    #expect(error.map { "\($0)" } == vector.error)
  }

  @Test("[DSC-12] a name chosen after a collision is legal, starts like the first, and is new each time") func renames()
    throws
  {
    var random = SeededGenerator(seed: 1)
    let peer = DiscoverySamples.peer(1)
    let session = DiscoverySamples.session(1)
    let plain = InstanceName(peer: peer, session: session)
    let names = (0..<50).map { _ in InstanceName.renamed(peer: peer, session: session, using: &random) }
    #expect(Set(names).count == 50)
    for name in names {
      #expect(name.text.hasPrefix(plain.text + "-"))
      #expect(try InstanceName(name.text) == name)
    }
  }
}

struct AnnouncedIdentifierTests {
  @Test("identifiers convert to text and back") func roundTrips() throws {
    var random = SeededGenerator(seed: 2)
    for _ in 0..<200 {
      let raw = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
      let peer = try #require(AnnouncedPeerID(bytes: raw))
      #expect(peer.text.utf8.count == 52)
      #expect(AnnouncedPeerID(text: peer.text) == peer)
      #expect(AnnouncedPeerID(text: peer.text.uppercased()) == (peer.text == peer.text.uppercased() ? peer : nil))
      let session = try #require(AnnouncedSessionID(bytes: raw.prefix(16)))
      #expect(session.text.utf8.count == 26)
      #expect(AnnouncedSessionID(text: session.text) == session)
    }
    #expect(AnnouncedPeerID(bytes: [UInt8](repeating: 0, count: 31)) == nil)
    #expect(AnnouncedSessionID(text: "") == nil)
  }

  @Test("an incarnation converts to an integer and back", arguments: [0, 1, 300, UInt64.max]) func incarnations(
    _ value: UInt64
  ) {
    let incarnation = AnnouncedIncarnation(value)
    #expect(incarnation.value.number == value)
    #expect(incarnation.text.utf8.count == 13)
    #expect(AnnouncedIncarnation(text: incarnation.text) == incarnation)
  }

  @Test("base32 follows RFC 4648, section 10, and each value has exactly one text") func base32() {
    let known = AnnouncedIncarnation(0x666f_6f62_6172_6f6f)
    #expect(known.text == "mzxw6ytbojxw6")
    #expect(AnnouncedIncarnation(text: "mzxw6ytbojxw7") == nil)
    #expect(AnnouncedIncarnation(text: "mzxw6ytbojxw") == nil)
    #expect(AnnouncedIncarnation(text: "mzxw6ytbojxw66") == nil)
    #expect(AnnouncedIncarnation(text: "mzxw6ytbojxw1") == nil)
    #expect(AnnouncedIncarnation(text: "mzxw6ytbojx=6") == nil)
  }
}
