import FuzzSupport
import WhiteboardTerminal

/// However the bytes of a terminal are cut, they mean the same; after whatever came, keys are keys again.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = Input(start, count)
  let cut = Int(input.short())
  let bytes = input.rest()
  var whole = InputParser()
  let events = whole.feed(bytes)
  insist(events.count <= bytes.count, "no more happens than was sent")
  var inPieces = InputParser()
  let half = bytes.isEmpty ? 0 : cut % bytes.count
  let pieces = inPieces.feed(bytes[..<half]) + inPieces.feed(bytes[half...])
  insist(pieces == events, "a cut changes nothing")
  insist(inPieces.isWaiting == whole.isWaiting, "what waits is the same too")
  // Whatever is open is over after these.
  _ = whole.feed("\u{1B}[201~\u{7}\u{1B}\\".utf8)
  _ = whole.finish()
  insist(whole.feed("\u{1B}[B".utf8) == [.key(.down, [])], "reading goes on")
  return 0
}
