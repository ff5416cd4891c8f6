import PeerCore

@testable import WhiteboardKit

private struct Parsed: Equatable {
  var records: [BroadcastRecord] = []
  var error: BroadcastError?
  var isInRecord = false
}

private func parse(_ bytes: [UInt8], limit: Int, step: Int) -> Parsed {
  var parsed = Parsed()
  var reader = BroadcastReader(limit: limit)
  for start in stride(from: 0, to: bytes.count, by: step) {
    reader.append(Array(bytes[start..<min(start + step, bytes.count)]))
    do throws(BroadcastError) { while let record = try reader.next() { parsed.records.append(record) } } catch {
      parsed.error = error
      return parsed
    }
  }
  parsed.isInRecord = reader.isInRecord
  return parsed
}

/// Checks that a stream of a broadcast gives the same records however it is split, that encoding a record restores it,
/// and that a viewer accepts only pictures of the size that it knows, in order.
func fuzzBroadcast(_ input: inout Input) {
  let choices = input.byte()
  let step = Int(input.byte()) + 1
  let bytes = input.rest()
  guard choices & 2 == 0 else { return fuzzRequest(bytes) }
  let limit = choices & 1 == 0 ? BroadcastRecord.payloadLimit : BroadcastRecord.viewerLimit
  let whole = parse(bytes, limit: limit, step: max(bytes.count, 1))
  insist(whole == parse(bytes, limit: limit, step: step), "pieces of \(step) give what the whole gives")
  for record in whole.records {
    insist(parse(record.bytes, limit: limit, step: 64).records == [record], "encoding a record restores it")
  }
  watch(whole.records, choices)
}

private func watch(_ records: [BroadcastRecord], _ choices: UInt8) {
  var request = BroadcastRequest(maximumWidth: 64, maximumHeight: 64, codecs: [.raw])
  request.acceptsChanges = choices & 4 == 0
  var assembler = FrameAssembler(request, RawFrames(), isDecoding: true)
  var (last, shown) = (UInt64(0), FramePixels?.none)
  for record in records {
    guard let event = try? assembler.apply(record) else { return }
    switch event {
    case .started(let format):
      insist(format.size.width <= 64 && format.size.height <= 64 && format.codec == .raw, "the viewer asked for this")
      insist(BroadcastFormat.rates.contains(format.rate), "the rate is within the limits")
    case .picture(let picture, let pixels):
      insist(pixels?.size == assembler.format?.size, "a picture has the size of the broadcast")
      insist(picture.number >= last, "pictures are in order")
      if case .changes(let base, _) = picture.content {
        insist(base == last && request.acceptsChanges && shown?.size == pixels?.size, "changes follow their base")
      }
      (last, shown) = (picture.number, pixels)
    default: break
    }
  }
}

private func fuzzRequest(_ bytes: [UInt8]) {
  let name = String(decoding: bytes, as: UTF8.self)
  guard let request = BroadcastRequest(name: name) else { return }
  insist(BroadcastRequest.isMeant(by: UntrustedText(name)), "a valid request is meant for a broadcast")
  insist(BroadcastRequest(name: request.name) == request, "encoding a request restores it")
  insist(BroadcastFormat.rates.contains(request.rate), "the rate is within the limits")
  insist((1...FrameSize.sideLimit).contains(request.maximumWidth), "the size is within the limits")
}
