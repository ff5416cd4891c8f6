import Whiteboard

/// The binary format of a set of dots, such as a context or the ids of living objects.
///
/// Implements SYN-25.
public enum ContextCoding {
  /// Returns the canonical encoding of a set.
  public static func encode(_ set: DotSet) -> [UInt8] {
    var writer = ByteWriter()
    write(set, to: &writer)
    return writer.bytes
  }

  /// Decodes a set that fills `bytes`.
  /// - Throws: `CodecError` unless the bytes are the canonical encoding.
  public static func decode(_ bytes: [UInt8]) throws(CodecError) -> DotSet {
    var reader = ByteReader(bytes)
    let set = try read(&reader)
    try reader.finish()
    return set
  }

  /// For `order`, pass the array from the last call for the same set, or an empty array in the first call.
  static func encode(_ set: DotSet, reusing order: inout [Int]) -> [UInt8] {
    var writer = ByteWriter()
    write(set, reusing: &order, to: &writer)
    return writer.bytes
  }

  static func write(_ set: DotSet, to writer: inout ByteWriter) {
    var order: [Int] = []
    write(set, reusing: &order, to: &writer)
  }

  private static func write(_ set: DotSet, reusing order: inout [Int], to writer: inout ByteWriter) {
    writer.count(set.incarnationCount)
    set.visit(reusing: &order) { incarnation, ranges in
      writer.incarnation(incarnation)
      write(ranges, to: &writer)
    }
  }

  /// Encodes ranges as repeated differences (SYN-25), so that regular ranges take little space.
  private struct Entry: Hashable {
    let gap: UInt64
    let more: UInt64

    var span: UInt64 { gap + more + 2 }
  }

  private static func write(_ ranges: SequenceRanges, to writer: inout ByteWriter) {
    var runs: [(entry: Entry, count: Int)] = []
    // The lowest number at which the next range may start. This number leaves a gap, so that ranges do not touch.
    var least: UInt64 = 1
    for range in ranges.ranges {
      let entry = Entry(gap: range.lowerBound - least, more: range.upperBound - range.lowerBound)
      if let last = runs.last, last.entry == entry { runs[runs.count - 1].count += 1 } else { runs.append((entry, 1)) }
      least = range.upperBound + 2
    }
    writer.count(runs.count)
    for (entry, count) in runs {
      writer.varint(entry.gap)
      writer.varint(entry.more << 1 | (count > 1 ? 1 : 0))
      if count > 1 { writer.count(count - 2) }
    }
  }

  static func read(_ reader: inout ByteReader) throws(CodecError) -> DotSet {
    let count = try reader.count(upTo: BoardLimits.incarnations, "incarnations")
    var set = DotSet()
    var last: Incarnation?
    for _ in 0..<count {
      let incarnation = try reader.incarnation()
      if let last, incarnation <= last { throw .notCanonical("incarnations") }
      last = incarnation
      let ranges = try readRanges(&reader, upTo: BoardLimits.ranges - set.rangeCount)
      set.formUnion(SequenceRanges(ascending: ranges), of: incarnation)
    }
    return set
  }

  private static func readRanges(_ reader: inout ByteReader, upTo limit: Int) throws(CodecError) -> [ClosedRange<
    UInt64
  >] {
    let count = try reader.count(upTo: BoardLimits.ranges, "ranges")
    guard count >= 1 else { throw .notCanonical("ranges") }
    var ranges: [ClosedRange<UInt64>] = []
    var least: UInt64 = 1
    var last: Entry?
    for _ in 0..<count {
      let gap = try reader.varint(upTo: BoardLimits.sequence, "sequence")
      let tagged = try reader.varint(upTo: BoardLimits.sequence << 1 | 1, "sequence")
      let entry = Entry(gap: gap, more: tagged >> 1)
      guard entry != last else { throw .notCanonical("ranges") }
      last = entry
      var repeats: UInt64 = 1
      if tagged & 1 == 1 { repeats = 2 + (try reader.varint(upTo: UInt64(BoardLimits.ranges), "ranges")) }
      // A few bytes can encode very many ranges, so check the limit before creating any ranges.
      guard repeats <= UInt64(limit - ranges.count) else { throw .overLimit("ranges") }
      guard entry.span <= (BoardLimits.sequence + 2 - least) / repeats else { throw .overLimit("sequence") }
      for _ in 0..<repeats {
        let first = least + entry.gap
        ranges.append(first...(first + entry.more))
        least += entry.span
      }
    }
    return ranges
  }
}
