import PeerCore
import PeerDiscovery
import PeerTestKit
import Testing

struct AnnouncementTests {
  @Test("[DSC-7] each legal record is decoded correctly", arguments: DiscoveryVectors.all.txt.valid) func readsLegal(
    _ vector: DiscoveryVectors.ValidRecord
  ) throws {
    let wire = try bytes(hex: vector.hex)
    let announcement = try Announcement.parse(wire)
    #expect(announcement.version == vector.version)
    #expect(announcement.peer.bytes == (try bytes(hex: vector.peer)))
    #expect(announcement.session.bytes == (try bytes(hex: vector.session)))
    #expect(announcement.incarnation.value.number == UInt64(vector.incarnation))
    #expect(announcement.role.rawValue == vector.role)
    #expect(announcement.boardName.raw.unicodeScalars.elementsEqual(vector.boardName.unicodeScalars))
    #expect(announcement.hostName.raw == vector.hostName)
    #expect(announcement.participants == vector.participants)
    #expect(announcement.extra.pairs.map(\.key) == vector.extra.map { $0[0] })
    #expect(announcement.extra.pairs.map(\.value) == vector.extra.map { $0[1].map { Array($0.utf8) } })
    if vector.canonical == true { #expect(announcement.info.wireBytes == wire) }
    // If there is room for the role, a decoded record encodes and decodes to the same record.
    guard wire.count + "\u{0}role=member".utf8.count <= DiscoveryInfo.maximumSize else { return }
    #expect(try Announcement.parse(announcement.info.wireBytes) == announcement)
  }

  @Test("[DSC-8] each illegal record is rejected with the right error", arguments: DiscoveryVectors.all.txt.invalid)
  func refusesIllegal(_ vector: DiscoveryVectors.InvalidRecord) throws {
    let wire = try bytes(hex: vector.hex)
    let error = #expect(throws: AnnouncementError.self) { try Announcement.parse(wire) }
    let reason =
      switch error {
      case .record(let cause): "\(cause)"
      case .missing(let key): "missing \(key)"
      case .illegal(let key): "illegal \(key)"
      case nil: "none"
      }
    #expect(reason == vector.error)
  }

  @Test("[DSC-6] a truncated record is rejected or legal, and never traps") func readsEveryPrefix() throws {
    var legal = 0
    for vector in DiscoveryVectors.all.txt.valid {
      let wire = try bytes(hex: vector.hex)
      for count in wire.indices where (try? Announcement.parse(wire.prefix(count))) != nil { legal += 1 }
    }
    #expect(legal > 0)
  }

  @Test("[DSC-6] no sequence of bytes makes the reader trap", arguments: [UInt64(1), 2, 3]) func readsNoise(
    _ seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let legal = try DiscoveryVectors.all.txt.valid.map { try bytes(hex: $0.hex) }
    var read = 0
    for _ in 0..<5_000 {
      var wire = legal.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 1...4, using: &random) where !wire.isEmpty {
        let index = wire.indices.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<3, using: &random) {
        case 0: wire[index] = UInt8.random(in: 0...255, using: &random)
        case 1: wire.remove(at: index)
        default: wire.insert(UInt8.random(in: 0...255, using: &random), at: index)
        }
      }
      if let announcement = try? Announcement.parse(wire) {
        read += 1
        _ = "\(announcement)"
        #expect(announcement.info.wireSize <= DiscoveryInfo.maximumSize)
      }
    }
    #expect(read > 100 && read < 4_900, "\(read) of 5000 were legal, seed \(seed)")
  }

  @Test("[DSC-9] names that are too long are cut between characters") func cutsNames() {
    var announcement = DiscoverySamples.announcement(
      peer: 1,
      board: String(repeating: "👩‍👩‍👧", count: 10),
      host: String(repeating: "é", count: 100)
    )
    #expect(announcement.boardName.raw == String(repeating: "👩‍👩‍👧", count: 7))
    #expect(announcement.hostName.raw.utf8.count == 64)
    announcement.boardName = UntrustedText(String(repeating: "x", count: 1_000))
    #expect(announcement.boardName.raw.utf8.count == 128)
  }

  @Test("[DSC-5] 52 bytes are free for a program's own pairs, however long the names are") func keepsRoom() throws {
    var announcement = DiscoverySamples.announcement(
      peer: 1,
      role: .relay,
      board: String(repeating: "b", count: 200),
      host: String(repeating: "h", count: 200),
      participants: .max
    )
    var extra = DiscoveryInfo()
    try extra.append("k", [UInt8](repeating: 0x78, count: 49))
    #expect(extra.wireSize == 52)
    try announcement.setExtra(extra)
    #expect(announcement.info.wireSize <= DiscoveryInfo.maximumSize)
    #expect(announcement.info["k"]?.count == 49)
    try extra.append("l", nil)
    #expect(throws: DiscoveryInfoError.recordTooLong) { try announcement.setExtra(extra) }
    #expect(throws: DiscoveryInfoError.duplicateKey) { try announcement.setExtra(DiscoveryInfo(["NAME": "x"])) }
  }
}
