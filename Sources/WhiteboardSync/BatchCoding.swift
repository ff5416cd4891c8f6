import Whiteboard

/// The binary form of a batch; implements SYN-20 to SYN-24 of `Protocol/board.md`.
public enum BatchCoding {
  /// The one canonical form of a batch.
  public static func encode(_ batch: Batch) -> [UInt8] {
    var table = table(of: batch)
    var body = ByteWriter()
    var pair = LastPair()
    var last: ObjectID?
    for (index, operation) in batch.operations.enumerated() {
      let dot = batch.dot(at: index)
      let isSame = operation.object == last
      body.varint(
        UInt64(operation.property.number) << 4 | UInt64(operation.value.shape) << 1
          | (isSame ? 1 : 0)
      )
      if !isSame {
        if operation.object.dot == dot {
          body.varint(0)
        } else {
          // At most 2^49 times 4097: it fits.
          let index = UInt64(table.index(of: operation.object.dot.incarnation))
          let difference = ValueCoding.zigzag(
            Int64(operation.object.dot.sequence) - Int64(last?.dot.sequence ?? 0)
          )
          body.varint(1 + difference * UInt64(table.incarnations.count) + index)
        }
        last = operation.object
      }
      if let number = operation.property.index { body.varint(number) }
      if let qualifier = operation.property.dot {
        write(qualifier, own: dot, &table, to: &body)
      }
      if case .dot(let reference) = operation.value {
        write(reference, own: dot, &table, to: &body)
      } else {
        ValueCoding.write(operation.value, to: &body, &pair)
      }
    }
    var writer = ByteWriter()
    writer.incarnation(batch.author)
    writer.varint(batch.firstSequence)
    writer.varint(batch.time.rawValue)
    writer.count(batch.operations.count)
    writer.count(table.incarnations.count - 1)
    for incarnation in table.incarnations.dropFirst() { writer.incarnation(incarnation) }
    writer.raw(body.bytes)
    return writer.bytes
  }

  /// The author and whoever else is named, in the order of first use.
  private static func table(of batch: Batch) -> IncarnationTable {
    var table = IncarnationTable([batch.author])
    for operation in batch.operations {
      _ = table.index(of: operation.object.dot.incarnation)
      if let qualifier = operation.property.dot { _ = table.index(of: qualifier.incarnation) }
      if case .dot(let reference) = operation.value { _ = table.index(of: reference.incarnation) }
    }
    return table
  }

  private static func write(
    _ dot: Dot,
    own: Dot,
    _ table: inout IncarnationTable,
    to writer: inout ByteWriter
  ) {
    guard dot != own else {
      writer.varint(0)
      return
    }
    writer.count(1 + table.index(of: dot.incarnation))
    writer.varint(dot.sequence)
  }

  /// Reads a batch.
  /// - Throws: `CodecError` for anything but the canonical form of a legal batch.
  public static func decode(_ bytes: [UInt8]) throws(CodecError) -> Batch {
    guard bytes.count <= BoardLimits.batchBytes else { throw .overLimit("batch") }
    var reader = ByteReader(bytes)
    var decoder = try Decoder(&reader)
    var operations: [Operation] = []
    operations.reserveCapacity(decoder.count)
    for index in 0..<decoder.count {
      operations.append(
        try decoder.operation(
          Dot(decoder.author, decoder.firstSequence + UInt64(index)),
          &reader
        )
      )
    }
    try decoder.references.finish()
    try reader.finish()
    return try Batch(
      author: decoder.author,
      firstSequence: decoder.firstSequence,
      time: decoder.time,
      operations: operations
    )
  }

  private struct Decoder {
    let author: Incarnation
    let firstSequence: UInt64
    let time: HybridTime
    let count: Int
    var references: References
    private var pair = LastPair()
    private var last: ObjectID?

    init(_ reader: inout ByteReader) throws(CodecError) {
      author = try reader.incarnation()
      firstSequence = try reader.sequence()
      time = HybridTime(try reader.varint(upTo: BoardLimits.time, "time"))
      count = try reader.count(upTo: BoardLimits.operationsPerBatch, "operations")
      guard count >= 1 else { throw .overLimit("operations") }
      guard firstSequence <= BoardLimits.sequence - UInt64(count - 1) else {
        throw .overLimit("sequence")
      }
      let others = try reader.count(upTo: BoardLimits.operationsPerBatch, "incarnations")
      guard others * 8 <= reader.remaining else { throw .truncated }
      var table = [author]
      for _ in 0..<others { table.append(try reader.incarnation()) }
      guard Set(table).count == table.count else { throw .notCanonical("incarnations") }
      references = References(table: table)
    }

    mutating func operation(
      _ dot: Dot,
      _ reader: inout ByteReader
    ) throws(CodecError) -> Operation {
      let tag = try reader.varint()
      let (number, qualification) = try ValueCoding.qualification(of: tag >> 4)
      let object: ObjectID
      if tag & 1 == 1 {
        guard let last else { throw .notCanonical("object") }
        object = last
      } else {
        object = try self.object(dot, &reader)
        guard object != last else { throw .notCanonical("object") }
        last = object
      }
      let property: Property =
        switch qualification {
        case .none: Property(number)
        case .number: Property(number, index: try reader.varint())
        case .dot: Property(number, dot: try self.dot(own: dot, &reader))
        }
      let shape = UInt8(tag >> 1 & 7)
      let value: Value =
        shape == 6
        ? .dot(try self.dot(own: dot, &reader))
        : try ValueCoding.read(shape: shape, &reader, &pair)
      return Operation(object, property, value)
    }

    private mutating func object(
      _ own: Dot,
      _ reader: inout ByteReader
    ) throws(CodecError) -> ObjectID {
      let reference = try reader.varint()
      guard reference > 0 else { return ObjectID(own) }
      let (difference, index) = (reference - 1).quotientAndRemainder(
        dividingBy: UInt64(references.table.count)
      )
      let incarnation = try references.incarnation(index)
      let sequence = try ValueCoding.sequence(
        ValueCoding.unzigzag(difference),
        after: last?.dot.sequence ?? 0
      )
      let dot = Dot(incarnation, sequence)
      guard dot != own else { throw .notCanonical("object") }
      return ObjectID(dot)
    }

    private mutating func dot(
      own: Dot,
      _ reader: inout ByteReader
    ) throws(CodecError) -> Dot {
      let reference = try reader.varint()
      guard reference > 0 else { return own }
      let incarnation = try references.incarnation(reference - 1)
      let dot = Dot(incarnation, try reader.sequence())
      guard dot != own else { throw .notCanonical("dot") }
      return dot
    }
  }

  /// The table, whose entries must come into use in their order.
  private struct References {
    let table: [Incarnation]
    private var used = 1

    init(table: [Incarnation]) { self.table = table }

    mutating func incarnation(_ index: UInt64) throws(CodecError) -> Incarnation {
      guard index < UInt64(table.count) else { throw .overLimit("incarnation index") }
      guard index <= UInt64(used) else { throw .notCanonical("incarnations") }
      used = max(used, Int(index) + 1)
      return table[Int(index)]
    }

    func finish() throws(CodecError) {
      guard used == table.count else { throw .notCanonical("incarnations") }
    }
  }
}
