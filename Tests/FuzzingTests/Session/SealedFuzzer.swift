import PeerWire

@testable import PeerSession

/// Checks a sealer and an opener with a hostile network between them.
///
/// Every message must arrive unchanged and at most once, and no other message may arrive.
func fuzzSealed(_ input: inout Input) {
  let secret = [UInt8](0..<32)
  var sealer = DatagramSealer(secret: secret, sender: .dialler, packetsPerEpoch: 64)
  var opener = DatagramOpener(secret: secret, sender: .dialler)
  var reflector = DatagramOpener(secret: secret, sender: .listener)
  var sent: [[UInt8]] = []
  var probes: [UInt64] = []
  var opened: Set<Int> = []
  var newest = -1
  var path = DatagramPathState(firstProbe: UInt64(input.byte()) &- 3, now: 0)
  var now: UInt64 = 0
  while !input.isEmpty {
    let choice = input.byte()
    switch choice & 7 {
    case 0, 1:
      guard let packet = try? sealer.seal(.probe(UInt64(sent.count))) else { return }
      probes.append(UInt64(sent.count))
      sent.append(packet)
    case 2: try? sealer.beginNextEpoch()
    case 3: now += UInt64(input.short())
    case 4:
      let action = path.timePassed(now: now)
      insist(path.wakeAt > now, "the next wake-up is later than now, \(action)")
      _ = path.answered(input.long(), now: now)
    case 5:
      // A stranger's bytes, perhaps after a valid header.
      var packet = input.bytes(Int(input.byte()))
      if choice & 0x80 != 0, let head = sent.last?.prefix(PacketHeader.length) { packet = head + packet }
      guard !sent.contains(packet) else { continue }
      insist((try? opener.open(packet, now: now)) == nil, "a forged packet does not open")
    default:
      guard !sent.isEmpty else { continue }
      let index = Int(input.byte()) % sent.count
      var packet = sent[index]
      if choice & 0x40 != 0 {
        let bit = Int(input.short()) % (packet.count * 8)
        packet[bit / 8] ^= 1 << UInt8(bit % 8)
        insist((try? opener.open(packet, now: now)) == nil, "a changed packet does not open")
        continue
      }
      insist((try? reflector.open(packet, now: now)) == nil, "a reflected packet does not open")
      guard let datagram = try? opener.open(packet, now: now) else { continue }
      insist(opened.insert(index).inserted, "a packet opens once")
      insist(datagram.content == .probe(probes[index]), "the opened content is the sealed content")
      insist(datagram.isNewest == (index > newest), "the newest is the one sealed last")
      newest = max(newest, index)
    }
  }
}
