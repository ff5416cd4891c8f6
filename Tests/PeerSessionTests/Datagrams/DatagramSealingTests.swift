import Crypto
import PeerWire
import Testing

@testable import PeerSession

private let secret = [UInt8](0..<32)

struct DatagramKeysTests {
  @Test("keys are those of the vectors, with all intermediate values") func vectors() throws {
    #expect(DatagramVectors.all.keys.count >= 12)
    for vector in DatagramVectors.all.keys {
      let sender = try #require(DatagramSender(rawValue: vector.direction))
      let keys = DatagramKeys(secret: DatagramVectors.bytes(vector.secret), sender: sender)
      let epoch = keys.epoch(vector.epoch)
      #expect(keys.keyID == UInt64(vector.id, radix: 16))
      #expect(epoch.key.withUnsafeBytes { Array($0) } == DatagramVectors.bytes(vector.key))
      #expect(epoch.nonce(0) == DatagramVectors.bytes(vector.iv))
      for (name, context, length, info) in [
        ("id", UInt8(0), 8, vector.idInfo), ("key", vector.epoch, 16, vector.keyInfo),
        ("iv", vector.epoch, 12, vector.ivInfo),
      ] {
        let label = HKDFLabel(label: "wb \(vector.direction) \(name)", context: [context], length: length)
        #expect(label.encoded == DatagramVectors.bytes(info))
      }
    }
  }

  @Test("the nonce of a packet is that of the vectors") func nonces() throws {
    for vector in DatagramVectors.all.packets.valid {
      let sender = try #require(DatagramSender(rawValue: vector.direction))
      let keys = DatagramKeys(secret: DatagramVectors.bytes(vector.secret), sender: sender)
      let counter = try #require(UInt64(vector.counter))
      #expect(keys.epoch(vector.epoch).nonce(counter) == DatagramVectors.bytes(vector.nonce))
    }
  }
}

struct DatagramSealingTests {
  @Test("the sealer produces the packets of the vectors") func sealedVectors() throws {
    var written = 0
    for vector in DatagramVectors.all.packets.valid {
      let counter = try #require(UInt64(vector.counter))
      guard counter < 100 else { continue }
      let sender = try #require(DatagramSender(rawValue: vector.direction))
      var sealer = DatagramSealer(secret: DatagramVectors.bytes(vector.secret), sender: sender)
      for _ in 0..<vector.epoch { try sealer.beginNextEpoch() }
      for _ in 0..<counter { _ = try sealer.seal(.probe(0)) }
      let plaintext = DatagramVectors.bytes(vector.plaintext)
      var offset = 0
      let content = try DatagramContent.read(from: plaintext.span, at: &offset)
      var packet: [UInt8] = []
      try sealer.seal(content, plaintext[offset...], into: &packet)
      #expect(packet == DatagramVectors.bytes(vector.packet), "\(vector.name)")
      written += 1
    }
    #expect(written >= 9)
  }

  @Test("the opener opens the packets of the vectors in epochs 0 and 1") func openedVectors() throws {
    var read = 0
    for vector in DatagramVectors.all.packets.valid where vector.epoch < 2 {
      let sender = try #require(DatagramSender(rawValue: vector.direction))
      var opener = DatagramOpener(secret: DatagramVectors.bytes(vector.secret), sender: sender)
      let opened = try opener.open(DatagramVectors.bytes(vector.packet), now: 0)
      var plaintext: [UInt8] = []
      opened.content.append(to: &plaintext)
      #expect(plaintext + opened.bytes == DatagramVectors.bytes(vector.plaintext))
      #expect(opened.isNewest)
      read += 1
    }
    #expect(read >= 9)
  }

  @Test("[DGM-2] a bad packet is dropped for the first reason that applies") func badVectors() {
    for vector in DatagramVectors.all.packets.invalid {
      var opener = DatagramOpener(secret: DatagramVectors.bytes(vector.secret), sender: .dialler)
      do {
        let opened = try opener.open(DatagramVectors.bytes(vector.packet), now: 0)
        Issue.record("\(vector.name) opened as \(opened)")
      } catch {
        let found = error == .keyID ? "key-id" : String(describing: error)
        #expect(found == vector.error, "\(vector.name)")
      }
      #expect(opener.epoch == 0)
    }
  }

  @Test("a packet with any bit changed or any byte missing is rejected and changes nothing") func everyBit() throws {
    var sealer = DatagramSealer(secret: secret, sender: .listener)
    let packet = try sealer.seal(message: Array("hello".utf8))[0]
    var opener = DatagramOpener(secret: secret, sender: .listener)
    for bit in 0..<packet.count * 8 {
      var changed = packet
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: DatagramOpener.OpenError.self) { try opener.open(changed, now: 0) }
    }
    for count in 0..<packet.count {
      #expect(throws: DatagramOpener.OpenError.self) { try opener.open(Array(packet[..<count]), now: 0) }
    }
    #expect(try opener.open(packet, now: 0).bytes == Array("hello".utf8))
    #expect(throws: DatagramOpener.OpenError.replay) { try opener.open(packet, now: 0) }
  }

  @Test("[DGM-3] a packet of any age opens only once") func replay() throws {
    var sealer = DatagramSealer(secret: secret, sender: .dialler)
    let packets = try (0..<2_100).map { _ in try sealer.seal(.probe(1)) }
    var opener = DatagramOpener(secret: secret, sender: .dialler)
    _ = try opener.open(packets[2_099], now: 0)
    #expect(throws: DatagramOpener.OpenError.replay) { try opener.open(packets[2_099], now: 0) }
    #expect(throws: DatagramOpener.OpenError.replay) { try opener.open(packets[51], now: 0) }
    #expect(try !opener.open(packets[52], now: 0).isNewest)
    #expect(throws: DatagramOpener.OpenError.replay) { try opener.open(packets[52], now: 0) }
  }

  @Test("[DGM-1] the sealer begins the next epoch when one is used up, and ends after epoch 255") func epochs() throws {
    var sealer = DatagramSealer(secret: secret, sender: .dialler, packetsPerEpoch: 2)
    var opener = DatagramOpener(secret: secret, sender: .dialler)
    var seen: Set<[UInt8]> = []
    for number in 0..<512 {
      let packet = try sealer.seal(.probe(UInt64(number)))
      #expect(Int(packet[1]) == number / 2 && Int(packet[17]) == number % 2)
      #expect(seen.insert(Array(packet[18...])).inserted)
      let opened = try opener.open(packet, now: 0)
      #expect(opened.content == .probe(UInt64(number)) && opened.isNewest)
    }
    #expect(opener.epoch == 255)
    #expect(throws: DatagramSealer.SealError.exhausted) { try sealer.seal(.probe(0)) }
    #expect(throws: DatagramSealer.SealError.exhausted) { try sealer.beginNextEpoch() }
  }

  @Test("[DGM-1] the previous epoch is valid for 10 s, and no packet of it counts as the newest") func previousEpoch()
    throws
  {
    var sealer = DatagramSealer(secret: secret, sender: .dialler)
    let old = try (0..<4).map { _ in try sealer.seal(.probe(0)) }
    try sealer.beginNextEpoch()
    let new = try (0..<2).map { _ in try sealer.seal(.probe(1)) }
    var opener = DatagramOpener(secret: secret, sender: .dialler)
    #expect(try opener.open(old[0], now: 1_000).isNewest)
    #expect(try opener.open(new[0], now: 1_000).isNewest)
    #expect(opener.epoch == 1)
    #expect(try !opener.open(old[1], now: 1_000).isNewest)
    #expect(throws: DatagramOpener.OpenError.replay) { try opener.open(old[0], now: 1_000) }
    #expect(try !opener.open(old[2], now: 10_999).isNewest)
    #expect(throws: DatagramOpener.OpenError.epoch) { try opener.open(old[3], now: 11_000) }
    #expect(try opener.open(new[1], now: 11_000).isNewest)
  }

  @Test("[DGM-1] a forged packet of the next epoch does not end the current one") func forgedEpoch() throws {
    var sealer = DatagramSealer(secret: secret, sender: .dialler)
    var opener = DatagramOpener(secret: secret, sender: .dialler)
    var forged = try sealer.seal(.probe(0))
    forged[1] = 1
    #expect(throws: DatagramOpener.OpenError.open) { try opener.open(forged, now: 0) }
    #expect(opener.epoch == 0)
    #expect(try opener.open(sealer.seal(.probe(0)), now: 20_000).isNewest)
  }

  @Test("[DGM-4] only a packet newer than all before it updates the address of the peer") func newest() throws {
    var sealer = DatagramSealer(secret: secret, sender: .dialler)
    let packets = try (0..<4).map { _ in try sealer.seal(.probe(0)) }
    var opener = DatagramOpener(secret: secret, sender: .dialler)
    let newest = try [1, 0, 3, 2].map { try opener.open(packets[$0], now: 0).isNewest }
    #expect(newest == [true, false, true, false])
  }

  @Test("a packet with unknown content opens and is dropped") func unknownKind() throws {
    let keys = DatagramKeys(secret: secret, sender: .dialler)
    let epoch = keys.epoch(0)
    var packet: [UInt8] = []
    PacketHeader(epoch: 0, keyID: keys.keyID, counter: 0).append(to: &packet)
    let box = try AES.GCM.seal(
      [UInt8]([9, 1]),
      using: epoch.key,
      nonce: AES.GCM.Nonce(data: epoch.nonce(0)),
      authenticating: packet
    )
    packet += Array(box.ciphertext) + Array(box.tag)
    var opener = DatagramOpener(secret: secret, sender: .dialler)
    #expect(throws: DatagramOpener.OpenError.content(.unknownKind(9))) { try opener.open(packet, now: 0) }
    #expect(throws: DatagramOpener.OpenError.replay) { try opener.open(packet, now: 0) }
  }

  @Test(
    "[DGM-6] a message of any size arrives whole in packets of at most 1,200 bytes",
    arguments: [0, 1, 1_165, 1_166, 2_200, 2_201, 65_536]
  ) func messages(_ count: Int) throws {
    let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var sealer = DatagramSealer(secret: secret, sender: .dialler)
    var opener = DatagramOpener(secret: secret, sender: .dialler)
    var assembler = DatagramAssembler()
    for _ in 0..<2 {
      var arrived: [[UInt8]] = []
      for packet in try sealer.seal(message: message).reversed() {
        #expect(packet.count <= Limits.packet)
        let opened = try opener.open(packet, now: 0)
        switch opened.content {
        case .message: arrived.append(opened.bytes)
        case .piece(let piece):
          if case .complete(let whole) = assembler.receive(piece, bytes: opened.bytes.span, now: 0) {
            arrived.append(whole)
          }
        default: Issue.record("\(opened.content)")
        }
      }
      #expect(arrived == [message])
    }
  }

  @Test("[DGM-6] a message of 65,537 bytes is refused and uses no counter") func tooLong() {
    var sealer = DatagramSealer(secret: secret, sender: .dialler)
    #expect(throws: DatagramSealer.SealError.tooLong) { try sealer.seal(message: [UInt8](repeating: 0, count: 65_537)) }
    var packet: [UInt8] = []
    #expect(throws: DatagramSealer.SealError.tooLong) {
      try sealer.seal(.message, [UInt8](repeating: 0, count: 1_166)[...], into: &packet)
    }
    #expect(sealer.counter == 0)
  }
}
