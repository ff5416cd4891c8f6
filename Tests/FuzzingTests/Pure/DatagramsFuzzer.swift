import PeerWire

/// Mixes pieces from strangers with the pieces of a valid message. The limits must hold, and the message must arrive
/// whole.
func fuzzDatagrams(_ input: inout Input) {
  var assembler = DatagramAssembler()
  var window = ReplayWindow()
  var seen: Set<UInt64> = []
  var now: UInt64 = 0
  while !input.isEmpty {
    let choice = input.byte()
    switch choice & 3 {
    case 0:
      now += UInt64(input.short())
      assembler.expire(now: now)
    case 1:
      // Any piece, with the right number of bytes for its position, or one more or fewer.
      let piece = DatagramPiece(id: UInt32(input.byte()), index: input.byte(), count: input.byte())
      let wanted = piece.index &+ 1 == piece.count ? Int(input.byte()) : Limits.datagramPiece
      let bytes = [UInt8](repeating: choice, count: max(0, wanted + Int(choice >> 6) - 1))
      let before = assembler.heldBytes
      switch assembler.receive(piece, bytes: bytes.span, now: now) {
      case .complete(let message):
        insist(message.count <= Limits.datagramMessage, "a message is within its limit")
        insist(piece.admits(byteCount: bytes.count), "only valid pieces complete a message")
      case .contradiction: insist(assembler.heldBytes <= before, "a contradiction adds nothing")
      case .incomplete, .duplicate: insist(piece.admits(byteCount: bytes.count), "only valid pieces are stored")
      }
    case 2: whole(&input, &assembler, now)
    default:
      let counter = choice & 4 == 0 ? UInt64(input.short()) : input.long()
      let isExpected =
        !seen.contains(counter) && window.greatest.map { counter > $0 || $0 - counter < ReplayWindow.size } ?? true
      insist(window.take(counter) == isExpected, "a counter is accepted once, within the window")
      if isExpected { seen.insert(counter) }
    }
    insist(assembler.count <= DatagramAssembler.capacity, "at most 32 messages are unfinished")
    insist(
      assembler.heldBytes <= DatagramAssembler.capacity * Limits.datagramMessage,
      "at most 32 messages are stored"
    )
  }
  assembler.expire(now: now + DatagramAssembler.patience)
  insist(assembler.count == 0 && assembler.heldBytes == 0, "nothing is stored for longer than 2 s")
}

/// Sends the pieces of a message with an unused id, in an order that the fuzzer chooses.
private func whole(_ input: inout Input, _ assembler: inout DatagramAssembler, _ now: UInt64) {
  let count = Int(input.short()) + Int(input.byte() & 1)
  let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) }
  guard let cut = try? DatagramCut(byteCount: count, id: 1_000) else {
    insist(count > Limits.datagramMessage, "only a message that is too long is not cut")
    return
  }
  let step = Int(input.byte())
  var order = Array(cut.indices)
  for index in order.indices { order.swapAt(index, (index &* step + step) % order.count) }
  var whole: [UInt8]?
  for index in order {
    let (content, range) = cut[index]
    var plaintext: [UInt8] = []
    content.append(to: &plaintext)
    plaintext += message[range]
    insist(
      PacketHeader.length + plaintext.count + PacketHeader.tagLength <= Limits.packet,
      "a packet is within its limit"
    )
    var offset = 0
    guard let read = try? DatagramContent.read(from: plaintext.span, at: &offset) else {
      preconditionFailure("a cut piece decodes")
    }
    insist(read == content, "a cut piece decodes unchanged")
    let bytes = Array(plaintext[offset...])
    switch read {
    case .message: whole = bytes
    case .piece(let piece):
      if case .complete(let message) = assembler.receive(piece, bytes: bytes.span, now: now) {
        insist(whole == nil, "a message arrives once")
        whole = message
      }
    case .probe, .answer, .relayMessage, .relayPiece:
      preconditionFailure("a message is neither a probe nor a relay message")
    }
  }
  insist(whole == message, "a message whose pieces all arrive is unchanged")
}
