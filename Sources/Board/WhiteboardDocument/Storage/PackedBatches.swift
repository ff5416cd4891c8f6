import Whiteboard

/// A packed encoding of the batches in a row of the log. Each batch omits the values that follow from the batches
/// before it. Implements REC-11. Only the heading of a batch is packed. The bytes of its operations do not change.
struct PackedBatches {
  /// The values that the next batch of an incarnation is expected to have.
  private struct Author {
    let incarnation: Incarnation
    var next: UInt64 = 1
    /// The number of milliseconds by which the incarnation's clock is ahead of the times of its entries.
    var lead: Int64 = 0
    var end: UInt64 = 0

    /// Returns the time after the last batch if this time is in the expected millisecond. Otherwise, returns the first
    /// time of the millisecond.
    func expected(at time: Int64) -> UInt64 {
      let first = UInt64(bitPattern: time &+ lead) << 16
      return end >> 16 == first >> 16 ? end : first
    }

    mutating func passed(_ heading: Heading) {
      next = heading.first &+ heading.count
      end = heading.time &+ heading.count
    }
  }

  /// Each flag states that a value differs from the expected value, and is therefore stored.
  private enum Said {
    static let sequence: UInt64 = 1
    static let time: UInt64 = 2
    static let count: UInt64 = 4
    static let number: UInt64 = 8
  }

  /// The heading of a batch in its full form (SYN-20).
  private struct Heading: Equatable {
    var author: Incarnation
    var first: UInt64
    var time: UInt64
    var count: UInt64
    var others: [Incarnation]
  }

  private var authors: [Author] = []
  private var numbers: [Incarnation: Int] = [:]

  static func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: (number << 1) ^ (number >> 63)) }

  static func unzigzag(_ number: UInt64) -> Int64 { Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }

  // MARK: - Writing

  /// Returns false, and writes nothing, if the batch could not be restored exactly.
  mutating func write(_ batch: [UInt8], at time: Int64, to writer: inout ByteWriter) -> Bool {
    var reader = ByteReader(batch)
    guard let heading = try? Self.heading(&reader), heading.time >> 16 < 1 << 47 else { return false }
    let operations = reader.rest()
    // A varint can be longer than necessary. A batch with such a varint cannot be restored exactly.
    var again = ByteWriter()
    Self.write(heading, to: &again)
    guard again.bytes.count + operations.count == batch.count, batch.starts(with: again.bytes) else { return false }
    let number = numbers[heading.author]
    let index = name(heading.author)
    var said = UInt64(number.map { $0 + 1 } ?? 0) * Said.number
    if heading.first != authors[index].next { said |= Said.sequence }
    if heading.time != authors[index].expected(at: time) { said |= Said.time }
    if heading.count != 1 || !heading.others.isEmpty { said |= Said.count }
    writer.varint(said)
    if number == nil { writer.incarnation(heading.author) }
    if said & Said.sequence != 0 { writer.varint(heading.first) }
    if said & Said.time != 0 {
      let lead = Int64(heading.time >> 16) &- time
      writer.varint(Self.zigzag(lead &- authors[index].lead))
      writer.varint(heading.time & 0xFFFF)
      authors[index].lead = lead
    }
    if said & Said.count != 0 {
      writer.varint(heading.count)
      writer.count(heading.others.count)
      for other in heading.others {
        writer.count(numbers[other].map { $0 + 1 } ?? 0)
        if numbers[other] == nil { writer.incarnation(other) }
        _ = name(other)
      }
    }
    writer.count(operations.count)
    writer.raw(operations)
    authors[index].passed(heading)
    return true
  }

  private mutating func name(_ incarnation: Incarnation) -> Int {
    if let number = numbers[incarnation] { return number }
    numbers[incarnation] = authors.count
    authors.append(Author(incarnation: incarnation))
    return authors.count - 1
  }

  private static func heading(_ reader: inout ByteReader) throws(CodecError) -> Heading {
    let author = try reader.incarnation()
    let first = try reader.varint()
    let time = try reader.varint()
    let count = try reader.varint(upTo: 1 << 32, "operations")
    let others = try reader.varint(upTo: UInt64(reader.remaining / 8), "incarnations")
    var heading = Heading(author: author, first: first, time: time, count: count, others: [])
    for _ in 0..<others { heading.others.append(try reader.incarnation()) }
    return heading
  }

  private static func write(_ heading: Heading, to writer: inout ByteWriter) {
    writer.incarnation(heading.author)
    writer.varint(heading.first)
    writer.varint(heading.time)
    writer.varint(heading.count)
    writer.count(heading.others.count)
    for other in heading.others { writer.incarnation(other) }
  }

  // MARK: - Reading

  mutating func read(_ reader: inout ByteReader, at time: Int64) throws(CodecError) -> [UInt8] {
    let said = try reader.varint()
    let index = try incarnation(said / Said.number, &reader)
    var heading = Heading(author: authors[index].incarnation, first: authors[index].next, time: 0, count: 1, others: [])
    if said & Said.sequence != 0 { heading.first = try reader.varint() }
    if said & Said.time != 0 {
      authors[index].lead &+= Self.unzigzag(try reader.varint())
      let counter = try reader.varint(upTo: 0xFFFF, "counter")
      heading.time = UInt64(bitPattern: time &+ authors[index].lead) << 16 | counter
    } else {
      heading.time = authors[index].expected(at: time)
    }
    // Check both times, because the time after the last batch can already be in the next millisecond.
    guard UInt64(bitPattern: time &+ authors[index].lead) < 1 << 47, heading.time < 1 << 63 else {
      throw .overLimit("time")
    }
    if said & Said.count != 0 {
      heading.count = try reader.varint(upTo: 1 << 32, "operations")
      // Each incarnation takes at least one byte, so the remaining bytes limit their number.
      for _ in 0..<(try reader.varint(upTo: UInt64(reader.remaining), "incarnations")) {
        let other = try incarnation(try reader.varint(), &reader)
        heading.others.append(authors[other].incarnation)
      }
    }
    let length = try reader.varint(upTo: UInt64(reader.remaining), "length")
    var writer = ByteWriter()
    Self.write(heading, to: &writer)
    writer.raw(try reader.take(Int(length)))
    authors[index].passed(heading)
    return writer.bytes
  }

  /// For number 0, reads a new incarnation.
  private mutating func incarnation(_ number: UInt64, _ reader: inout ByteReader) throws(CodecError) -> Int {
    guard number > 0 else { return name(try reader.incarnation()) }
    guard number <= UInt64(authors.count) else { throw .overLimit("incarnations") }
    return Int(number) - 1
  }
}
