/// A parser that turns the bytes of a terminal into keys, mouse events, pastes and replies. Bytes may arrive in pieces
/// of any size. The memory is bounded for any input, and an unknown sequence is dropped as a whole.
package struct InputParser: Sendable {
  private var pending: [UInt8] = []
  /// The bytes of the paste that has begun; nil if there is none.
  private var pasted: [UInt8]?
  /// Whether the remaining bytes of a sequence are skipped, because it is too long.
  private var isSkipping = false

  private static let sequenceLimit = 4096
  /// The maximum number of bytes of one paste; further bytes are dropped.
  package static let pasteLimit = 1 << 20

  package init() {}

  /// Whether the last byte may be the Escape key or the start of a sequence. If nothing follows soon, call
  /// ``finish()``.
  package var isWaiting: Bool { (isSkipping || !pending.isEmpty) && pasted == nil }

  package mutating func feed(_ bytes: some Sequence<UInt8>) -> [InputEvent] {
    var events: [InputEvent] = []
    for byte in bytes { consume(byte, &events) }
    return events
  }

  /// Ends an incomplete sequence; a single Escape byte becomes the Escape key.
  package mutating func finish() -> [InputEvent] {
    guard pasted == nil else { return [] }
    isSkipping = false
    defer { pending = [] }
    guard pending.first == 0x1B else { return [] }
    switch pending.count {
    case 1: return [.key(.escape, [])]
    case 2: return Self.character(pending[1]).map { [.key($0.0, $0.1.union(.alt))] } ?? []
    default: return []
    }
  }

  private mutating func consume(_ byte: UInt8, _ events: inout [InputEvent]) {
    if pasted != nil {
      consumePasted(byte, &events)
      return
    }
    if isSkipping {
      skip(byte, &events)
      return
    }
    pending.append(byte)
    switch Self.parse(pending) {
    case .more:
      guard pending.count > Self.sequenceLimit else { return }
      pending = []
      isSkipping = true
    case .nothing: pending = []
    case .cutOff(let count, let event):
      let next = pending.suffix(count)
      pending = []
      if let event { events.append(event) }
      for byte in next { consume(byte, &events) }
    case .event(let event):
      pending = []
      events.append(event)
    case .paste:
      pending = []
      pasted = []
    }
  }

  /// Skips a byte of a sequence that is too long; any terminator ends it.
  private mutating func skip(_ byte: UInt8, _ events: inout [InputEvent]) {
    let begun = pending
    switch byte {
    case 0x1B where begun.isEmpty: pending = [byte]
    case 0x07: (isSkipping, pending) = (false, [])
    case _ where begun.isEmpty: break
    default:
      (isSkipping, pending) = (false, [])
      guard byte != UInt8(ascii: "\\") else { return }
      for byte in begun + [byte] { consume(byte, &events) }
    }
  }

  private static let pasteEnd: [UInt8] = Array("\u{1B}[201~".utf8)

  private mutating func consumePasted(_ byte: UInt8, _ events: inout [InputEvent]) {
    // `pending` holds only the bytes that may be the start of the end sequence.
    pending.append(byte)
    if pending == Self.pasteEnd {
      let text = String(decoding: pasted ?? [], as: UTF8.self)
      (pasted, pending) = (nil, [])
      events.append(.paste(text))
      return
    }
    while !pending.isEmpty, !Self.pasteEnd.starts(with: pending) {
      let first = pending.removeFirst()
      if (pasted?.count ?? 0) < Self.pasteLimit { pasted?.append(first) }
    }
  }

  // MARK: - Sequences

  private enum Parsed {
    case more, nothing
    /// The last bytes begin another sequence. The bytes before them may be a key.
    case cutOff(by: Int, InputEvent? = nil)
    case event(InputEvent)
    case paste
  }

  private static func parse(_ bytes: [UInt8]) -> Parsed {
    guard let first = bytes.first else { return .more }
    guard first == 0x1B else { return text(bytes) }
    guard bytes.count > 1 else { return .more }
    switch bytes[1] {
    case UInt8(ascii: "["): return control(bytes)
    case UInt8(ascii: "O"):
      guard bytes.count > 2 else { return .more }
      return key(final: bytes[2], []).map { .event($0) } ?? .nothing
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"): return string(bytes)
    case 0x1B:
      // The first of two Escape bytes is the Escape key.
      return .cutOff(by: 1, .key(.escape, []))
    default:
      guard bytes[1] < 0x80 else { return .nothing }
      return character(bytes[1]).map { .event(.key($0.0, $0.1.union(.alt))) } ?? .nothing
    }
  }

  private static func text(_ bytes: [UInt8]) -> Parsed {
    let first = bytes[0]
    if first < 0x80 { return character(first).map { .event(.key($0.0, $0.1)) } ?? .nothing }
    let length: Int
    switch first {
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF: length = 3
    case 0xF0...0xF4: length = 4
    default: return .nothing
    }
    if bytes.count > 1, bytes[bytes.count - 1] & 0xC0 != 0x80 { return .cutOff(by: 1) }
    guard bytes.count == length else { return .more }
    guard let scalar = String(validating: bytes, as: UTF8.self)?.unicodeScalars.first,
      scalar.properties.generalCategory != .control
    else { return .nothing }
    return .event(.key(.character(Character(scalar)), []))
  }

  private static func character(_ byte: UInt8) -> (InputEvent.Key, InputEvent.Modifiers)? {
    switch byte {
    case 0x0D: (.enter, [])
    case 0x09: (.tab, [])
    case 0x08, 0x7F: (.backspace, [])
    case 0x00: (.character(" "), .control)
    case 0x01...0x1A: (.character(Character(Unicode.Scalar(byte + 0x60))), .control)
    case 0x1C...0x1F: (.character(Character(Unicode.Scalar(byte + 0x40))), .control)
    case 0x20...0x7E: (.character(Character(Unicode.Scalar(byte))), [])
    default: nil
    }
  }

  /// Parses `ESC [`, numbers and a letter.
  private static func control(_ bytes: [UInt8]) -> Parsed {
    guard bytes.count > 2 else { return .more }
    let last = bytes[bytes.count - 1]
    switch last {
    case 0x1B: return .cutOff(by: 1)
    case _ where bytes[2] == UInt8(ascii: "M"): return oldMouse(bytes)
    case 0x20...0x3F: return .more
    case 0x40...0x7E: break
    default: return .nothing
    }
    // The Linux console sends `ESC [ [ A` for its first function keys.
    if bytes.count == 3, last == UInt8(ascii: "[") { return .more }
    if bytes.count == 4, bytes[2] == UInt8(ascii: "[") {
      let number = Int(last) - Int(UInt8(ascii: "A")) + 1
      return (1...5).contains(number) ? .event(.key(.function(number), [])) : .nothing
    }
    var body = bytes[2..<bytes.count - 1]
    let marks = Set("<>=?".utf8)
    let mark = body.first.flatMap { marks.contains($0) ? $0 : nil }
    if mark != nil { body = body.dropFirst() }
    let intermediate = body.last.flatMap { (0x20...0x2F).contains($0) ? $0 : nil }
    if intermediate != nil { body = body.dropLast() }
    guard let numbers = numbers(body) else { return .nothing }
    switch (mark, intermediate, last) {
    case (UInt8(ascii: "<"), nil, UInt8(ascii: "M")), (UInt8(ascii: "<"), nil, UInt8(ascii: "m")):
      return mouse(numbers, isRelease: last == UInt8(ascii: "m")).map { .event(.mouse($0)) } ?? .nothing
    case (UInt8(ascii: "?"), UInt8(ascii: "$"), UInt8(ascii: "y")):
      guard numbers.count == 2 else { return .nothing }
      return .event(.reply(.mode(numbers[0], numbers[1])))
    case (UInt8(ascii: "?"), nil, UInt8(ascii: "c")): return .event(.reply(.attributes(numbers)))
    case (UInt8(ascii: "?"), nil, UInt8(ascii: "u")): return .event(.reply(.keyboard(numbers.first ?? 0)))
    case (nil, nil, UInt8(ascii: "t")): return size(numbers)
    case (nil, nil, UInt8(ascii: "I")): return .event(.focus(true))
    case (nil, nil, UInt8(ascii: "O")): return .event(.focus(false))
    case (nil, nil, UInt8(ascii: "Z")): return .event(.key(.tab, .shift))
    case (nil, nil, UInt8(ascii: "~")): return tilde(numbers)
    case (nil, nil, UInt8(ascii: "u")): return unicode(numbers)
    case (nil, nil, _):
      let modifiers = modifiers(numbers.count > 1 ? numbers[1] : 1)
      return key(final: last, modifiers).map { .event($0) } ?? .nothing
    default: return .nothing
    }
  }

  /// Parses numbers separated by `;`. Returns nil if a number is too large. If a number has subparameters separated by
  /// `:`, only the part before the first `:` is parsed.
  private static func numbers(_ bytes: ArraySlice<UInt8>) -> [Int]? {
    guard bytes.count <= 64 else { return nil }
    var numbers: [Int] = []
    for field in bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
      let digits = field.prefix { $0 != UInt8(ascii: ":") }
      guard digits.count <= 7, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      numbers.append(digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
    }
    return numbers
  }

  private static func modifiers(_ number: Int) -> InputEvent.Modifiers {
    InputEvent.Modifiers(rawValue: UInt8(truncatingIfNeeded: max(number - 1, 0)) & 7)
  }

  private static func key(final: UInt8, _ modifiers: InputEvent.Modifiers) -> InputEvent? {
    let keys: [UInt8: InputEvent.Key] = [
      UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right, UInt8(ascii: "D"): .left,
      UInt8(ascii: "H"): .home, UInt8(ascii: "F"): .end, UInt8(ascii: "P"): .function(1),
      UInt8(ascii: "Q"): .function(2), UInt8(ascii: "R"): .function(3), UInt8(ascii: "S"): .function(4),
      UInt8(ascii: "M"): .enter,
    ]
    return keys[final].map { .key($0, modifiers) }
  }

  private static func tilde(_ numbers: [Int]) -> Parsed {
    guard let first = numbers.first else { return .nothing }
    if first == 200 { return .paste }
    let keys: [Int: InputEvent.Key] = [
      1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end, 11: .function(1),
      12: .function(2), 13: .function(3), 14: .function(4), 15: .function(5), 17: .function(6), 18: .function(7),
      19: .function(8), 20: .function(9), 21: .function(10), 23: .function(11), 24: .function(12),
    ]
    guard let key = keys[first] else { return .nothing }
    return .event(.key(key, modifiers(numbers.count > 1 ? numbers[1] : 1)))
  }

  private static func unicode(_ numbers: [Int]) -> Parsed {
    guard let code = numbers.first else { return .nothing }
    var modifiers = modifiers(numbers.count > 1 ? numbers[1] : 1)
    switch code {
    case 27: return .event(.key(.escape, modifiers))
    case 13: return .event(.key(.enter, modifiers))
    case 9: return .event(.key(.tab, modifiers))
    case 8, 127: return .event(.key(.backspace, modifiers))
    case 57344...63743: return keypad[code].map { .event(.key($0, modifiers)) } ?? .nothing
    default:
      guard let scalar = Unicode.Scalar(UInt32(code)), scalar.properties.generalCategory != .control else {
        return .nothing
      }
      var character = Character(scalar)
      if modifiers.contains(.shift), let upper = String(character).uppercased().first {
        if upper != character { modifiers.remove(.shift) }
        character = upper
      }
      return .event(.key(.character(character), modifiers))
    }
  }

  private static let keypad: [Int: InputEvent.Key] = [
    57399: .character("0"), 57400: .character("1"), 57401: .character("2"), 57402: .character("3"),
    57403: .character("4"), 57404: .character("5"), 57405: .character("6"), 57406: .character("7"),
    57407: .character("8"), 57408: .character("9"), 57409: .character("."), 57410: .character("/"),
    57411: .character("*"), 57412: .character("-"), 57413: .character("+"), 57414: .enter, 57415: .character("="),
    57417: .left, 57418: .right, 57419: .up, 57420: .down, 57421: .pageUp, 57422: .pageDown, 57423: .home, 57424: .end,
    57425: .insert, 57426: .delete,
  ]

  /// Parses `ESC [ M` and three bytes, the format of old terminals.
  private static func oldMouse(_ bytes: [UInt8]) -> Parsed {
    guard bytes.count == 6 else { return .more }
    let (code, x, y) = (Int(bytes[3]) - 32, Int(bytes[4]) - 32, Int(bytes[5]) - 32)
    // The format does not tell which button was released.
    let isRelease = code & 0x43 == 3 && code & 32 == 0
    return mouse([isRelease ? code & ~3 : code, x, y], isRelease: isRelease).map { .event(.mouse($0)) } ?? .nothing
  }

  private static func mouse(_ numbers: [Int], isRelease: Bool) -> MouseEvent? {
    guard numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
    let (code, x, y) = (numbers[0], numbers[1] - 1, numbers[2] - 1)
    var modifiers: InputEvent.Modifiers = []
    if code & 4 != 0 { modifiers.insert(.shift) }
    if code & 8 != 0 { modifiers.insert(.alt) }
    if code & 16 != 0 { modifiers.insert(.control) }
    let kind: MouseEvent.Kind
    if code & 64 != 0 {
      let steps = [(0, -1), (0, 1), (-1, 0), (1, 0)]
      let step = steps[code & 3]
      kind = .scroll(dx: step.0, dy: step.1)
    } else {
      let buttons: [MouseEvent.Button] = [.left, .middle, .right]
      guard code & 3 < 3 else { return code & 32 != 0 ? .init(.move, x: x, y: y, modifiers: modifiers) : nil }
      let button = buttons[code & 3]
      kind = isRelease ? .release(button) : code & 32 != 0 ? .drag(button) : .press(button)
    }
    return MouseEvent(kind, x: x, y: y, modifiers: modifiers)
  }

  private static func size(_ numbers: [Int]) -> Parsed {
    guard numbers.count == 3 else { return .nothing }
    switch numbers[0] {
    case 4: return .event(.reply(.windowSize(height: numbers[1], width: numbers[2])))
    case 6: return .event(.reply(.cellSize(height: numbers[1], width: numbers[2])))
    default: return .nothing
    }
  }

  /// Parses a control string of the terminal, up to `ESC \` or BEL.
  private static func string(_ bytes: [UInt8]) -> Parsed {
    let last = bytes[bytes.count - 1]
    let body: ArraySlice<UInt8>
    if last == 0x07 {
      body = bytes[2..<bytes.count - 1]
    } else if bytes.count > 3, bytes[bytes.count - 2] == 0x1B {
      guard last == UInt8(ascii: "\\") else { return .cutOff(by: 2) }
      body = bytes[2..<bytes.count - 2]
    } else {
      return .more
    }
    let text = String(decoding: body, as: UTF8.self)
    switch bytes[1] {
    case UInt8(ascii: "]"):
      guard text.hasPrefix("11;"), let rgb = color(text.dropFirst(3)) else { return .nothing }
      return .event(.reply(.background(rgb)))
    case UInt8(ascii: "_"):
      guard text.hasPrefix("G") else { return .nothing }
      return .event(.reply(.graphics(text.hasSuffix(";OK"))))
    default: return .nothing
    }
  }

  /// Parses `rgb:RRRR/GGGG/BBBB` with one to four digits each.
  private static func color(_ text: Substring) -> UInt32? {
    guard text.hasPrefix("rgb:") else { return nil }
    let parts = text.dropFirst(4).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    var rgb: UInt32 = 0
    for part in parts {
      guard (1...4).contains(part.utf8.count), let value = UInt32(part, radix: 16) else { return nil }
      let maximum = UInt32(1) << (4 * UInt32(part.utf8.count)) - 1
      rgb = rgb << 8 | value * 255 / maximum
    }
    return rgb
  }
}

/// Recognizes a paste by the speed of the input, for terminals that do not mark pastes. A terminal without bracketed
/// paste delivers pasted text as if the user typed it, but all at once. Without the recognizer, each letter would run
/// the command of its key.
struct PasteRecognizer: Sendable {
  /// The part of the screen that receives the keys.
  enum Context: Sendable {
    /// An input line, or a text object on the board: keys enter letters.
    case text
    /// The board or the lobby, where keys run commands.
    case commands
  }

  private var burst: [InputEvent] = []

  /// The minimum number of characters in a burst that is recognized as a paste while keys run commands.
  private static let leastCount = 4
  /// The maximum number of characters of a paste; further characters are dropped.
  private static let limit = 1 << 16
  /// The time without input after which a burst is over.
  static let pause = Duration.milliseconds(40)

  /// Whether a paste has begun and may continue; call ``finish()`` after a ``pause`` without input.
  var isWaiting: Bool { !burst.isEmpty }

  /// Handles the events that arrived together. Returns the events to handle now.
  mutating func feed(_ events: [InputEvent], in context: Context, opensText: (InputEvent) -> Bool) -> [InputEvent] {
    if isWaiting {
      // Only text can continue a paste.
      guard events.allSatisfy({ Self.letter($0) != nil }) else { return finish() + events }
      burst += events.prefix(max(Self.limit - burst.count, 0))
      return []
    }
    guard Self.isPaste(events, in: context, opensText: opensText) else { return events }
    burst = events
    return []
  }

  mutating func finish() -> [InputEvent] {
    defer { burst = [] }
    return burst.isEmpty ? [] : [.paste(String(burst.compactMap(Self.letter)))]
  }

  private static func isPaste(_ events: [InputEvent], in context: Context, opensText: (InputEvent) -> Bool) -> Bool {
    let letters = events.compactMap(letter)
    guard letters.count == events.count, let first = events.first else { return false }
    let lines = letters.split(separator: "\n", omittingEmptySubsequences: false)
    // Text after the end of a line would run commands. Only lines that begin with a colon are meant as commands.
    let hasMoreLines = lines.dropFirst().contains { !$0.isEmpty && $0.first != ":" }
    guard context == .commands else { return hasMoreLines }
    guard letters.count >= leastCount else { return false }
    if hasMoreLines { return true }
    // A key that repeats is held down, not pasted.
    guard Set(letters).count > 1 else { return false }
    // If the first letter is a key that opens a line for text, treat a single line as typed. Treat lines that begin
    // with a colon as typed too, because they are commands.
    guard opensText(first) else { return true }
    return lines.count > 1 && first != .key(.character(":"), [])
  }

  private static func letter(_ event: InputEvent) -> Character? {
    switch event {
    case .key(.character(let character), []): character
    case .key(.enter, []): "\n"
    case .key(.tab, []): "\t"
    case .key(.character("j"), .control): "\n"
    default: nil
    }
  }
}
