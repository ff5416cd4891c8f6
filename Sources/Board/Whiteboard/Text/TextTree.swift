/// The text of one object: a Fugue tree of runs and deletions. Both are cells that are written only once (BRD-14). The
/// text is computed from the set of runs and the set of deletions. Both sets only grow, so merging the sets also merges
/// the text. Runs that two members type at the same place are not interleaved.
package struct TextTree {
  /// The id of one character: the run that inserted it, and its offset in that run.
  package struct Element: Hashable {
    package let run: Dot
    package let offset: Int
  }

  /// The position in the tree at which a run is inserted.
  package enum Anchor: Hashable {
    case root
    case left(Element)
    case right(Element)
  }

  package struct Deletion: Hashable {
    package let run: Dot
    package let offsets: ClosedRange<Int>
  }

  private struct Run {
    let anchor: Anchor
    let scalars: [Unicode.Scalar]
  }

  private struct Item {
    let element: Element
    let scalar: Unicode.Scalar
    let isDeleted: Bool
  }

  private var items: [Item] = []
  private var hasRootRun = false
  private var hasRightRun: Set<Element> = []
  private var lengths: [Dot: Int] = [:]

  /// Creates the tree from the cells of an object, up to the 65,536th character (BRD-24). Malformed cells, and runs
  /// whose anchor is unknown, are not shown.
  package init(_ record: ObjectRecord) {
    var runs: [Dot: Run] = [:]
    var lefts: [Element: [Dot]] = [:]
    var rights: [Element: [Dot]] = [:]
    var roots: [Dot] = []
    for entry in Self.considered(record, 128) {
      guard let dot = entry.property.dot, case .bytes(let bytes) = entry.cell.value,
        let (anchor, text) = try? Self.decodeRun(bytes)
      else { continue }
      runs[dot] = Run(anchor: anchor, scalars: Array(text.unicodeScalars))
      // Cells are sorted by dot, so siblings are added in the right order.
      switch anchor {
      case .root: roots.append(dot)
      case .left(let element): lefts[element, default: []].append(dot)
      case .right(let element): rights[element, default: []].append(dot)
      }
    }
    var gone: [Dot: [ClosedRange<UInt64>]] = [:]
    for entry in Self.considered(record, 129) {
      guard case .bytes(let bytes) = entry.cell.value, let deletion = try? Self.decodeDeletion(bytes) else { continue }
      gone[deletion.run, default: []].append(
        UInt64(deletion.offsets.lowerBound) + 1...UInt64(deletion.offsets.upperBound) + 1
      )
    }
    // Sort the ranges, so that each range is added at the end of the set.
    let deleted = gone.mapValues { ranges in
      ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: SequenceRanges()) { $0.insert($1) }
    }
    hasRootRun = !roots.isEmpty
    hasRightRun = Set(rights.keys)
    lengths = runs.mapValues { $0.scalars.count }

    enum Step {
      case enter(Element)
      case show(Element, Unicode.Scalar)
    }
    var steps: [Step] = roots.reversed().map { .enter(Element(run: $0, offset: 0)) }
    while items.count < BoardLimits.textElements, let step = steps.popLast() {
      switch step {
      case .show(let element, let scalar):
        let isDeleted = deleted[element.run]?.contains(UInt64(element.offset) + 1) ?? false
        items.append(Item(element: element, scalar: scalar, isDeleted: isDeleted))
      case .enter(let element):
        guard let run = runs[element.run] else { continue }
        var after = (rights[element] ?? []).map { Element(run: $0, offset: 0) }
        if element.offset + 1 < run.scalars.count {
          after.append(Element(run: element.run, offset: element.offset + 1))
          after.sort { $0.run < $1.run }
        }
        for next in after.reversed() { steps.append(.enter(next)) }
        steps.append(.show(element, run.scalars[element.offset]))
        for next in (lefts[element] ?? []).reversed() { steps.append(.enter(Element(run: next, offset: 0))) }
      }
    }
  }

  /// Returns the text of an object that has one run and no deletions, as most objects do; nil for other objects.
  package static func onlyRun(of record: ObjectRecord) -> String? {
    let runs = record.entries(of: 128, upTo: 2)
    guard runs.count == 1, record.entries(of: 129, upTo: 1).isEmpty, case .bytes(let bytes)? = runs.first?.cell.value,
      case (.root, let text)? = try? decodeRun(bytes), text.utf8.count <= BoardLimits.textElements
    else { return nil }
    return text
  }

  /// Returns the cells with this property number, in the order of their dots and within the limits of BRD-24. The
  /// result depends only on the cells, not on the order in which they arrived.
  private static func considered(_ record: ObjectRecord, _ number: UInt16) -> ArraySlice<ObjectRecord.Entry> {
    let entries = record.entries(of: number, upTo: BoardLimits.textElements)
    var bytes = 0
    return entries.prefix {
      bytes += $0.cell.value.length
      return bytes <= BoardLimits.textTreeBytes
    }
  }

  package var text: String {
    var text = String.UnicodeScalarView()
    for item in items where !item.isDeleted { text.append(item.scalar) }
    return String(text)
  }

  package var scalars: [Unicode.Scalar] { items.lazy.filter { !$0.isDeleted }.map { $0.scalar } }

  package var elementCount: Int { items.count }

  /// Returns the anchor of a run that is inserted before the visible character at `offset`.
  package func anchor(at offset: Int) -> Anchor {
    guard offset > 0 else {
      guard hasRootRun, let first = items.first else { return .root }
      return .left(first.element)
    }
    var visible = 0
    for (index, item) in items.enumerated() where !item.isDeleted {
      visible += 1
      guard visible == offset else { continue }
      let next = index + 1 < items.count ? items[index + 1].element : nil
      let continuesRun = item.element.offset + 1 < lengths[item.element.run, default: 0]
      // Anchor the run to the right of the preceding character. If that position is taken, anchor the run to the left
      // of the following character.
      if let next, continuesRun || hasRightRun.contains(item.element) { return .left(next) }
      return .right(item.element)
    }
    return items.last.map { .right($0.element) } ?? .root
  }

  package func deletions(of range: Range<Int>) -> [Deletion] {
    var result: [Deletion] = []
    var visible = 0
    for item in items where !item.isDeleted {
      defer { visible += 1 }
      guard range.contains(visible) else { continue }
      if let last = result.last, last.run == item.element.run, last.offsets.upperBound + 1 == item.element.offset {
        result[result.count - 1] = Deletion(run: last.run, offsets: last.offsets.lowerBound...item.element.offset)
      } else {
        result.append(Deletion(run: item.element.run, offsets: item.element.offset...item.element.offset))
      }
    }
    return result
  }

  package func leastEdit(to text: String) -> TextDifference {
    TextDifference(from: scalars, to: Array(text.unicodeScalars))
  }

  /// `range` counts visible characters. Throws `outOfRange` or `tooLong`.
  func requireRoom(replacing range: Range<Int>, with text: String) throws(BoardError) {
    let scalars = scalars
    guard range.lowerBound >= 0, range.upperBound <= scalars.count else { throw .outOfRange("range") }
    let rest = scalars.indices.lazy.filter { !range.contains($0) }.reduce(0) { $0 + UTF8.width(scalars[$1]) }
    guard rest + text.utf8.count <= BoardLimits.textBytes,
      elementCount + text.unicodeScalars.count <= BoardLimits.textElements
    else { throw .tooLong("text") }
  }

  // MARK: - Coding of the cells

  package static func encodeRun(_ text: String, at anchor: Anchor) -> Value {
    var writer = ByteWriter()
    switch anchor {
    case .root: writer.byte(0)
    case .left(let element):
      writer.byte(1)
      write(element, to: &writer)
    case .right(let element):
      writer.byte(2)
      write(element, to: &writer)
    }
    writer.raw(text.utf8)
    return .bytes(writer.bytes)
  }

  package static func decodeRun(_ bytes: [UInt8]) throws(CodecError) -> (Anchor, String) {
    var reader = ByteReader(bytes)
    let anchor: Anchor
    switch try reader.byte() {
    case 0: anchor = .root
    case 1: anchor = .left(try readElement(&reader))
    case 2: anchor = .right(try readElement(&reader))
    default: throw .reserved("anchor")
    }
    guard reader.remaining > 0 else { throw .truncated }
    guard let text = String(validating: reader.rest(), as: UTF8.self) else { throw .notText }
    return (anchor, text)
  }

  package static func encodeDeletion(_ deletion: Deletion) -> Value {
    var writer = ByteWriter()
    write(Element(run: deletion.run, offset: deletion.offsets.lowerBound), to: &writer)
    writer.count(deletion.offsets.count - 1)
    return .bytes(writer.bytes)
  }

  package static func decodeDeletion(_ bytes: [UInt8]) throws(CodecError) -> Deletion {
    var reader = ByteReader(bytes)
    let first = try readElement(&reader)
    let more = Int(try reader.varint(upTo: UInt64(BoardLimits.valueBytes), "deletion"))
    try reader.finish()
    return Deletion(run: first.run, offsets: first.offset...(first.offset + more))
  }

  /// Returns the value of a run or a deletion with its dots replaced; nil for other properties or malformed bytes.
  package static func renaming(_ bytes: [UInt8], of number: UInt16, _ dot: (Dot) -> Dot) -> Value? {
    func element(_ element: Element) -> Element { Element(run: dot(element.run), offset: element.offset) }
    switch number {
    case Property.runNumber:
      guard let (anchor, text) = try? decodeRun(bytes) else { return nil }
      return switch anchor {
      case .root: encodeRun(text, at: .root)
      case .left(let found): encodeRun(text, at: .left(element(found)))
      case .right(let found): encodeRun(text, at: .right(element(found)))
      }
    case Property.deletionNumber:
      guard let deletion = try? decodeDeletion(bytes) else { return nil }
      return encodeDeletion(Deletion(run: dot(deletion.run), offsets: deletion.offsets))
    default: return nil
    }
  }

  private static func write(_ element: Element, to writer: inout ByteWriter) {
    writer.incarnation(element.run.incarnation)
    writer.varint(element.run.sequence)
    writer.count(element.offset)
  }

  private static func readElement(_ reader: inout ByteReader) throws(CodecError) -> Element {
    let incarnation = try reader.incarnation()
    let sequence = try reader.sequence()
    let offset = Int(try reader.varint(upTo: UInt64(BoardLimits.valueBytes), "offset"))
    return Element(run: Dot(incarnation, sequence), offset: offset)
  }
}

/// The difference between two strings: the part of each string that lies between their common prefix and their common
/// suffix. All positions and counts are in Unicode scalars.
package struct TextDifference: Hashable, Sendable {
  package let range: Range<Int>
  /// The text that replaces the range in the second string.
  package let words: String
  private let count: Int

  /// O(*n*), where *n* is the total length of both strings.
  package init(from old: [Unicode.Scalar], to new: [Unicode.Scalar]) {
    let room = min(old.count, new.count)
    var start = 0
    while start < room, old[start] == new[start] { start += 1 }
    var end = 0
    while end < room - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
    range = start..<(old.count - end)
    count = new.count - end - start
    var words = String.UnicodeScalarView()
    words.append(contentsOf: new[start..<(new.count - end)])
    self.words = String(words)
  }

  /// Converts a position in the first string to a position in the second string; positions in the replaced range move
  /// to the start of the range.
  package func moved(_ place: Int) -> Int {
    if place <= range.lowerBound { return place }
    return place >= range.upperBound ? place + count - range.count : range.lowerBound
  }
}

/// The normal form in which this program writes text to a board (BRD-33). Text from peers is not changed. Such text may
/// contain any characters, because BRD-30 limits only its length.
package enum PlainText {
  /// Normalizes text that may have several lines, such as the content of a text object or a chat line. Every line end
  /// becomes a line feed: CR, CRLF, vertical tab, form feed, NEL, and the line and paragraph separators. Tabs are kept.
  /// All other control characters are removed. Normalizing the result again does not change it.
  package static func lines(_ text: String) -> String { normalized(text, lineEnd: "\n", tab: "\t") }

  /// Normalizes text that has only one line, such as a name or a title. Line ends and tabs become spaces. All other
  /// control characters are removed. Normalizing the result again does not change it.
  package static func line(_ text: String) -> String { normalized(text, lineEnd: " ", tab: " ") }

  private static func normalized(_ text: String, lineEnd: Unicode.Scalar, tab: Unicode.Scalar) -> String {
    // Iterate over scalars, because CR and LF together are one character.
    var result = String.UnicodeScalarView()
    var isAfterReturn = false
    for scalar in text.unicodeScalars {
      defer { isAfterReturn = scalar == "\r" }
      switch scalar {
      case "\n" where isAfterReturn: break
      case "\n", "\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}": result.append(lineEnd)
      case "\t": result.append(tab)
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": break
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
