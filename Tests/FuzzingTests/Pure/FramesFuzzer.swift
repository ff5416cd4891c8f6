import PeerCore
import PeerWire

private struct Parsed: Equatable {
  var frames: [(type: FrameType?, payload: [UInt8])] = []
  var error: FrameError?
  var left = 0

  static func == (one: Parsed, other: Parsed) -> Bool {
    one.frames.elementsEqual(other.frames) { $0.type == $1.type && $0.payload == $1.payload }
      && one.error == other.error && one.left == other.left
  }
}

private func parse(_ bytes: [UInt8], limit: Int, step: Int) -> Parsed {
  var parsed = Parsed()
  var buffer: [UInt8] = []
  var fed = 0
  while fed < bytes.count {
    let end = min(fed + step, bytes.count)
    buffer += bytes[fed..<end]
    fed = end
    while true {
      var offset = 0
      do {
        guard let head = try FrameHeader.read(from: buffer.span, at: &offset, limit: limit) else {
          insist(offset == 0, "an incomplete header does not move the offset")
          break
        }
        insist(head.length >= 0 && head.length <= limit, "a length is within the limit")
        insist(offset <= FrameHeader.maximumLength, "a header is short")
        guard buffer.count - offset >= head.length else { break }
        parsed.frames.append((head.type, Array(buffer[offset..<offset + head.length])))
        if let type = head.type {
          var again = [type.rawValue]
          Varint.append(UInt64(head.length), to: &again)
          insist(again == Array(buffer[..<offset]), "a header has one encoding")
        }
        buffer.removeFirst(offset + head.length)
      } catch {
        parsed.error = error
        return parsed
      }
    }
    insist(buffer.count <= limit + FrameHeader.maximumLength + step, "at most one frame is buffered")
  }
  parsed.left = buffer.count
  return parsed
}

/// Checks that a stream gives the same frames however it is split.
func fuzzFrames(_ input: inout Input) {
  let limit = input.byte() & 1 == 0 ? Limits.framePayloadBeforeAdmission : Limits.framePayload
  let step = Int(input.byte()) + 1
  let bytes = input.rest()
  let whole = parse(bytes, limit: limit, step: max(bytes.count, 1))
  let pieces = parse(bytes, limit: limit, step: step)
  insist(whole == pieces, "pieces of \(step) give what the whole gives")
}
