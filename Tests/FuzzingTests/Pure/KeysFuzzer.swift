import WhiteboardTerminal

/// Checks that terminal input has the same meaning however it is split.
///
/// The parser buffers little of the input, no pasted text counts as a key, and keys work again after any input.
func fuzzKeys(_ input: inout Input) {
  let cut = Int(input.short())
  let bytes = input.rest()
  var whole = InputParser()
  let events = whole.feed(bytes)
  insist(events.count <= bytes.count, "there are at most as many events as bytes")
  insist(events.allSatisfy(isLegal), "every event is legal")
  insist(kept(whole) <= 4096 + bytes.count, "at most a sequence and a paste are buffered")
  checkCuts(of: bytes, at: cut, like: whole, events)
  checkPaste(bytes)
  checkEnd(whole)
}

private func checkCuts(of bytes: [UInt8], at cut: Int, like whole: InputParser, _ events: [InputEvent]) {
  var inPieces = InputParser()
  let half = bytes.isEmpty ? 0 : cut % bytes.count
  let pieces = inPieces.feed(bytes[..<half]) + inPieces.feed(bytes[half...])
  insist(pieces == events, "a cut does not change the events")
  insist(inPieces.isWaiting == whole.isWaiting, "a cut does not change whether input waits")
  var byteByByte = InputParser()
  insist(bytes.flatMap { byteByByte.feed([$0]) } == events, "many cuts do not change the events")
}

/// Checks that a paste arrives as one text, whatever it contains except the end of a paste.
private func checkPaste(_ bytes: [UInt8]) {
  let end = Array("\u{1B}[201~".utf8)
  // Without `~`, the contents cannot contain the end of a paste.
  let pasted = bytes.filter { $0 != UInt8(ascii: "~") }
  var parser = InputParser()
  let events = parser.feed(Array("\u{1B}[200~".utf8) + pasted + end)
  insist(events == [.paste(String(decoding: pasted, as: UTF8.self))], "a paste is one text")
  insist(!parser.isWaiting, "a paste ends")
}

/// Checks that earlier input swallows later keys only for a short time.
private func checkEnd(_ parser: InputParser) {
  var silent = parser
  let last = silent.finish()
  insist(last.count <= 1, "at most one key remains: Escape, or a key with Alt")
  insist(!silent.isWaiting, "no input waits after a silence")
  var closed = parser
  _ = closed.feed("\u{1B}[201~\u{7}\u{1B}\\".utf8)
  _ = closed.finish()
  // Only a paste continues after a silence, because it may be long and slow.
  for var next in isPasting(parser) ? [closed] : [silent, closed] {
    insist(next.feed("\u{1B}[Bq".utf8) == [.key(.down, []), .key(.character("q"), [])], "keys work again")
  }
}

private func isPasting(_ parser: InputParser) -> Bool {
  var probe = parser
  return probe.feed("\u{1B}[201~".utf8).contains { if case .paste = $0 { true } else { false } }
}

private func isLegal(_ event: InputEvent) -> Bool {
  switch event {
  case .key(.character(let character), _):
    character.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  case .key(.function(let number), _): (1...12).contains(number)
  case .mouse(let event): (0..<10_000_000).contains(event.x) && (0..<10_000_000).contains(event.y)
  case .reply(.attributes(let numbers)): numbers.count <= 64
  case .reply(.background(let rgb)): rgb <= 0xFFFFFF
  default: true
  }
}

/// Returns the number of bytes that a parser buffers.
private func kept(_ parser: InputParser) -> Int {
  Mirror(reflecting: parser).children.reduce(0) { count, child in count + ((child.value as? [UInt8])?.count ?? 0) }
}
