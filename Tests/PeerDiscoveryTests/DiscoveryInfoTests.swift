import PeerDiscovery
import Testing

struct DiscoveryInfoTests {
  @Test("[DSC-3] keys are printable ASCII without an equals sign, and unique") func checksKeys() throws {
    var info = DiscoveryInfo()
    #expect(throws: DiscoveryInfoError.emptyKey) { try info.append("", nil) }
    for key in ["a=b", "\u{1f}", "\u{7f}", "ä", "a\n"] {
      #expect(throws: DiscoveryInfoError.illegalKey) { try info.append(key, nil) }
    }
    try info.append("Key ~!", [1, 2])
    #expect(throws: DiscoveryInfoError.duplicateKey) { try info.append("kEY ~!", nil) }
    #expect(info["KEY ~!"] == [1, 2])
    #expect(info.pairs.count == 1)
  }

  @Test("[DSC-4] a pair has at most 255 bytes") func limitsPairs() throws {
    var info = DiscoveryInfo()
    try info.append("k", [UInt8](repeating: 0, count: 253))
    var other = DiscoveryInfo()
    #expect(throws: DiscoveryInfoError.pairTooLong) { try other.append("k", [UInt8](repeating: 0, count: 254)) }
    #expect(throws: DiscoveryInfoError.pairTooLong) { try other.append(String(repeating: "k", count: 256), nil) }
    #expect(other.pairs.isEmpty)
  }

  @Test("[DSC-5] all pairs together have at most 400 bytes") func limitsWhole() throws {
    var info = DiscoveryInfo()
    try info.append("a", [UInt8](repeating: 0, count: 196))
    try info.append("b", [UInt8](repeating: 0, count: 197))
    #expect(info.wireSize == 399)
    #expect(throws: DiscoveryInfoError.recordTooLong) { try info.append("c", nil) }
    #expect(info.wireBytes.count == 399)
    #expect(throws: DiscoveryInfoError.recordTooLong) {
      try DiscoveryInfo(wireBytes: [UInt8](repeating: 0, count: 401))
    }
    #expect(try DiscoveryInfo(wireBytes: [UInt8](repeating: 0, count: 400)).pairs.isEmpty)
  }

  @Test("a record decodes to what was encoded") func roundTrips() throws {
    var info = try DiscoveryInfo(["one": "1", "empty": "", "equals": "a=b"])
    try info.append("flag", nil)
    try info.append("bytes", [0, 255, 61])
    #expect(try DiscoveryInfo(wireBytes: info.wireBytes) == info)
    #expect(try DiscoveryInfo(strings: info.strings) == info)
    #expect(info["flag"] == nil && info.contains("FLAG"))
    #expect(info["empty"] == [])
  }
}
