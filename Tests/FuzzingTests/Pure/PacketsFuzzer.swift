import PeerWire

/// Checks a stranger's UDP payload, and the same bytes as opened contents.
func fuzzPackets(_ input: inout Input) {
  let bytes = input.rest()
  if let header = try? PacketHeader.read(packet: bytes.span) {
    var again: [UInt8] = []
    header.append(to: &again)
    insist(again == Array(bytes[..<PacketHeader.length]), "a header has one encoding")
    insist((35...1_500).contains(bytes.count), "only a packet of a possible length decodes")
  }
  var offset = 0
  if let content = try? DatagramContent.read(from: bytes.span, at: &offset) {
    var again: [UInt8] = []
    content.append(to: &again)
    insist(again + bytes[offset...] == bytes, "a content has one encoding")
    if case .piece(let piece) = content {
      insist(piece.admits(byteCount: bytes.count - offset), "a piece fits its place")
    }
    if case .relayPiece(let piece) = content {
      insist(piece.admits(byteCount: bytes.count - offset, ofMessage: Limits.relayDatagram), "a piece fits its place")
    }
  } else {
    insist(offset == 0, "a failed read does not move the offset")
  }
}
