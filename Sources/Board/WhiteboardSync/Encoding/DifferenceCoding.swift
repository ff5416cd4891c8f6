import Whiteboard

/// The binary format of the cells in a catch-up answer.
///
/// Implements SYN-26 and SYN-27.
public enum DifferenceCoding {
  private static let version: UInt8 = 2

  /// Returns the canonical encoding of an answer.
  public static func encode(_ difference: Difference) -> [UInt8] {
    var table = IncarnationTable(incarnations(of: difference))
    var writer = ByteWriter()
    writer.byte(version)
    ContextCoding.write(difference.context, to: &writer)
    ContextCoding.write(difference.living, to: &writer)
    writer.count(table.incarnations.count)
    for incarnation in table.incarnations { writer.incarnation(incarnation) }
    writer.count(difference.entries.count)
    var pair = LastPair()
    var lastObject: UInt64 = 0
    var lasts = [LastCell](repeating: LastCell(), count: table.incarnations.count)
    for entry in difference.entries {
      writer.count(table.index(of: entry.object.dot.incarnation))
      writer.zigzag(Int64(entry.object.dot.sequence) - Int64(lastObject))
      lastObject = entry.object.dot.sequence
      writer.count(entry.cells.count)
      for known in entry.cells {
        let (property, cell) = (known.property, known.cell)
        writer.varint(UInt64(property.number) << 3 | UInt64(cell.value.shape))
        if let number = property.index { writer.varint(number) }
        if let dot = property.dot {
          writer.count(table.index(of: dot.incarnation))
          writer.varint(dot.sequence)
        }
        let author = table.index(of: cell.dot.incarnation)
        writer.count(author)
        lasts[author].write(cell, to: &writer)
        if case .dot(let dot) = cell.value {
          writer.count(table.index(of: dot.incarnation))
          writer.varint(dot.sequence)
        } else {
          ValueCoding.write(cell.value, to: &writer, &pair)
        }
      }
    }
    return writer.bytes
  }

  /// Returns the incarnations in ascending order.
  private static func incarnations(of difference: Difference) -> [Incarnation] {
    var used = IncarnationTable()
    for entry in difference.entries {
      _ = used.index(of: entry.object.dot.incarnation)
      for known in entry.cells {
        _ = used.index(of: known.cell.dot.incarnation)
        if let dot = known.property.dot { _ = used.index(of: dot.incarnation) }
        if case .dot(let dot) = known.cell.value { _ = used.index(of: dot.incarnation) }
      }
    }
    return used.incarnations.sorted()
  }

  /// Decodes the cells of an answer.
  /// - Throws: `CodecError` unless the bytes are the canonical encoding of a consistent answer.
  public static func decode(_ bytes: [UInt8]) throws(CodecError) -> Difference {
    var reader = ByteReader(bytes)
    let difference = try read(&reader)
    try reader.finish()
    return difference
  }

  /// Other bytes may follow the cells.
  static func read(_ reader: inout ByteReader) throws(CodecError) -> Difference {
    guard try reader.byte() == version else { throw .reserved("version") }
    var difference = Difference(context: try ContextCoding.read(&reader))
    difference.living = try ContextCoding.read(&reader)
    var table = try Table(&reader)
    let count = try reader.count(upTo: BoardLimits.storedObjects, "objects")
    var cells = Cells(authors: table.incarnations.count)
    var lastObject: UInt64 = 0
    var lastID: ObjectID?
    var total = 0
    for _ in 0..<count {
      let incarnation = try table.incarnation(&reader)
      lastObject = try ValueCoding.sequence(after: lastObject, &reader)
      var entry = Difference.Entry(object: ObjectID(Dot(incarnation, lastObject)))
      if let lastID, entry.object <= lastID { throw .notCanonical("objects") }
      lastID = entry.object
      let cellCount = try reader.count(upTo: BoardLimits.storedCells, "cells")
      guard cellCount >= 1 else { throw .notCanonical("cells") }
      total += cellCount
      guard total <= BoardLimits.storedCells else { throw .overLimit("cells") }
      // The stated count can be much larger than the number of bytes that follow.
      entry.cells.reserveCapacity(min(cellCount, 64))
      var lastProperty: Property?
      for _ in 0..<cellCount {
        let next = try cells.next(&table, &reader)
        if let lastProperty, next.property <= lastProperty { throw .notCanonical("cells") }
        lastProperty = next.property
        entry.cells.append(next)
      }
      difference.entries.append(entry)
    }
    try table.finish()
    try difference.validate()
    return difference
  }

  /// The last cell by one author. The next cell by that author is encoded as a difference from this cell.
  private struct LastCell {
    private var sequence: UInt64 = 0
    private var milliseconds: UInt64 = 0

    mutating func write(_ cell: Cell, to writer: inout ByteWriter) {
      writer.zigzag(Int64(cell.dot.sequence) - Int64(sequence))
      writer.zigzag(Int64(cell.time.milliseconds) - Int64(milliseconds))
      writer.varint(cell.time.counter)
      sequence = cell.dot.sequence
      milliseconds = cell.time.milliseconds
    }

    mutating func read(_ reader: inout ByteReader) throws(CodecError) -> (sequence: UInt64, time: HybridTime) {
      sequence = try ValueCoding.sequence(after: sequence, &reader)
      let (sum, overflow) = Int64(milliseconds).addingReportingOverflow(try reader.zigzag())
      guard !overflow, sum >= 0, sum <= Int64(BoardLimits.time >> 16) else { throw .overLimit("time") }
      milliseconds = UInt64(sum)
      let counter = try reader.varint(upTo: 0xFFFF, "counter")
      return (sequence, HybridTime(milliseconds << 16 | counter))
    }
  }

  private struct Cells {
    private var pair = LastPair()
    private var lasts: [LastCell]

    init(authors: Int) { lasts = Array(repeating: LastCell(), count: authors) }

    mutating func next(_ table: inout Table, _ reader: inout ByteReader) throws(CodecError) -> PropertyCell {
      let tag = try reader.varint()
      let (number, qualification) = try ValueCoding.qualification(of: tag >> 3)
      let property: Property =
        switch qualification {
        case .none: Property(number)
        case .number: Property(number, index: try reader.varint())
        case .dot: Property(number, dot: try table.dot(&reader))
        }
      let author = try table.index(&reader)
      let (sequence, time) = try lasts[author].read(&reader)
      let shape = UInt8(tag & 7)
      let value: Value = shape == 6 ? .dot(try table.dot(&reader)) : try ValueCoding.read(shape: shape, &reader, &pair)
      let dot = Dot(table.incarnations[author], sequence)
      return PropertyCell(property, Cell(value: value, time: time, dot: dot))
    }
  }

  private struct Table {
    let incarnations: [Incarnation]
    private var isUsed: [Bool]

    init(_ reader: inout ByteReader) throws(CodecError) {
      // Do not apply the limit on incarnations in a set: missing objects, qualifiers and values can refer to any number
      // of other incarnations. The number of bytes limits the count.
      let named = try reader.varint()
      guard named <= UInt64(reader.remaining / 8) else { throw .truncated }
      let count = Int(named)
      var incarnations: [Incarnation] = []
      for _ in 0..<count {
        let next = try reader.incarnation()
        if let last = incarnations.last, next <= last { throw .notCanonical("incarnations") }
        incarnations.append(next)
      }
      self.incarnations = incarnations
      isUsed = Array(repeating: false, count: count)
    }

    mutating func index(_ reader: inout ByteReader) throws(CodecError) -> Int {
      let index = try reader.varint()
      guard index < UInt64(incarnations.count) else { throw .overLimit("incarnation index") }
      isUsed[Int(index)] = true
      return Int(index)
    }

    mutating func incarnation(_ reader: inout ByteReader) throws(CodecError) -> Incarnation {
      incarnations[try index(&reader)]
    }

    mutating func dot(_ reader: inout ByteReader) throws(CodecError) -> Dot {
      let incarnation = try incarnation(&reader)
      return Dot(incarnation, try reader.sequence())
    }

    func finish() throws(CodecError) { guard isUsed.allSatisfy({ $0 }) else { throw .notCanonical("incarnations") } }
  }
}
