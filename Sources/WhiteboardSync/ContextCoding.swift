import Whiteboard

/// The binary form of a set of dots: a context, or the ids of living objects; implements SYN-25.
public enum ContextCoding {
  /// The one canonical form of a set.
  public static func encode(_ set: DotSet) -> [UInt8] {
    var writer = ByteWriter()
    write(set, to: &writer)
    return writer.bytes
  }

  /// Reads a set that fills `bytes`.
  /// - Throws: `CodecError` for anything but the canonical form.
  public static func decode(_ bytes: [UInt8]) throws(CodecError) -> DotSet {
    var reader = ByteReader(bytes)
    let set = try read(&reader)
    try reader.finish()
    return set
  }

  static func write(_ set: DotSet, to writer: inout ByteWriter) {
    let incarnations = set.incarnations
    writer.count(incarnations.count)
    for incarnation in incarnations {
      writer.incarnation(incarnation)
      write(set[incarnation], to: &writer)
    }
  }

  static func write(_ ranges: SequenceRanges, to writer: inout ByteWriter) {
    writer.count(ranges.ranges.count)
    // The least number that the next range may start at, so that ranges cannot touch.
    var least: UInt64 = 1
    for range in ranges.ranges {
      writer.varint(range.lowerBound - least)
      writer.varint(range.upperBound - range.lowerBound)
      least = range.upperBound + 2
    }
  }

  static func read(_ reader: inout ByteReader) throws(CodecError) -> DotSet {
    let count = try reader.count(upTo: BoardLimits.incarnations, "incarnations")
    var set = DotSet()
    var last: Incarnation?
    var rangeCount = 0
    for _ in 0..<count {
      let incarnation = try reader.incarnation()
      if let last, incarnation <= last { throw .notCanonical("incarnations") }
      last = incarnation
      let ranges = try readRanges(&reader)
      guard !ranges.ranges.isEmpty else { throw .notCanonical("ranges") }
      rangeCount += ranges.ranges.count
      guard rangeCount <= BoardLimits.ranges else { throw .overLimit("ranges") }
      for range in ranges.ranges { set.insert(range, of: incarnation) }
    }
    return set
  }

  static func readRanges(_ reader: inout ByteReader) throws(CodecError) -> SequenceRanges {
    let count = try reader.count(upTo: BoardLimits.ranges, "ranges")
    var ranges = SequenceRanges()
    var least: UInt64 = 1
    for _ in 0..<count {
      let gap = try reader.varint(upTo: BoardLimits.sequence, "sequence")
      let more = try reader.varint(upTo: BoardLimits.sequence, "sequence")
      let first = least + gap
      let last = first + more
      guard last <= BoardLimits.sequence else { throw .overLimit("sequence") }
      ranges.insert(first...last)
      least = last + 2
    }
    return ranges
  }
}
