import PeerWire

/// Checks consecutive MESSAGE and ACK payloads against an assembler that stores all bytes.
func fuzzMessages(_ input: inout Input) {
  var assembler = MessageAssembler()
  var held: (total: Int, count: Int)?
  var last: UInt64 = 0
  while !input.isEmpty {
    let choice = input.byte()
    let payload = input.bytes(Int(choice & 0x3F))
    if let sequence = try? Acknowledgement.read(payload: payload.span) {
      var again: [UInt8] = []
      Acknowledgement.append(sequence, to: &again)
      insist(again == payload, "an acknowledgement has one encoding")
    }
    var offset = 0
    guard let part = try? MessagePart.read(from: payload.span, at: &offset) else { continue }
    insist(offset <= payload.count, "the header ends within the payload")
    var again: [UInt8] = []
    part.append(to: &again)
    insist(again == Array(payload[..<offset]), "a header has one encoding")
    // Parts of the size of a frame, which the fuzzer could not produce byte by byte.
    let byteCount = (payload.count - offset) << (choice >> 6 == 3 ? 14 : 0)
    let before = assembler
    do {
      let outcome = try assembler.receive(part, byteCount: byteCount)
      if outcome == .duplicate {
        insist(part.sequence <= last && assembler == before, "only a received part is a duplicate")
        continue
      }
      insist(part.sequence == last + 1, "numbers rise by one")
      last = part.sequence
      switch outcome {
      case .duplicate: break
      case .whole: insist(held == nil && byteCount <= Limits.message, "a whole message stands alone")
      case .begin(let total):
        let limit = part.isRelays ? RelayMessage.maximumLength : Limits.message
        insist(held == nil && total <= limit, "one message at a time, within the limit")
        held = (total, byteCount)
      case .append, .finish: held?.count += byteCount
      }
      insist(held.map { $0.count <= $0.total } ?? true, "no more bytes than the total")
      if outcome == .finish {
        insist(held.map { $0.count == $0.total } ?? false, "a message ends with its total")
        held = nil
      }
      insist(assembler.isAssembling == (held != nil), "the assembler knows whether a message is incomplete")
    } catch {
      insist(assembler == before, "an error changes nothing")
      insist(part.sequence > last, "a duplicate is not an error")
    }
    insist(assembler.received == last, "the highest number is known")
  }
}
