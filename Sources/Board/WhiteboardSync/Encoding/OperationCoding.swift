import Whiteboard

/// The state that both encoders and decoders carry from one operation of a batch to the next (SYN-22).
private struct OperationContext {
  /// The property number and value shape of the previous operation; a fixed default for the first operation.
  var tag = UInt64(Property.position.number) << 3 | UInt64(Value.pair(0, 0).shape)
  var object: ObjectID?
  var pair = LastPair()
}

struct OperationEncoder {
  private(set) var writer = ByteWriter()
  /// The incarnations other than the author that the operations refer to, in the order of first use.
  private(set) var others: [Incarnation] = []
  private var table: IncarnationTable
  private var context = OperationContext()

  /// Collects all incarnations first, because the encoded references depend on their number.
  init(_ batch: Batch) {
    table = IncarnationTable([batch.author])
    for operation in batch.operations {
      _ = table.index(of: operation.object.dot.incarnation)
      if let qualifier = operation.property.dot { _ = table.index(of: qualifier.incarnation) }
      if case .dot(let reference) = operation.value { _ = table.index(of: reference.incarnation) }
    }
    others = Array(table.incarnations.dropFirst())
  }

  mutating func write(_ operation: Operation, as dot: Dot) {
    let tag = UInt64(operation.property.number) << 3 | UInt64(operation.value.shape)
    if operation.object == context.object {
      writer.varint(tag << 2 | 3)
    } else {
      let object = number(of: operation.object, as: dot)
      if tag == context.tag {
        writer.varint(object << 1)
      } else {
        writer.varint(tag << 2 | 1)
        writer.varint(object)
      }
    }
    context.tag = tag
    context.object = operation.object
    if let number = operation.property.index { writer.varint(number) }
    if let qualifier = operation.property.dot { write(qualifier, as: dot) }
    if case .dot(let reference) = operation.value {
      write(reference, as: dot)
    } else {
      ValueCoding.write(operation.value, to: &writer, &context.pair)
    }
  }

  /// Returns the number that encodes an object (SYN-23): at most 2^49 times 12,289, so that twice the number fits in 64
  /// bits.
  private mutating func number(of object: ObjectID, as dot: Dot) -> UInt64 {
    guard object.dot != dot else { return 0 }
    let index = UInt64(table.index(of: object.dot.incarnation))
    let difference = ValueCoding.zigzag(Int64(object.dot.sequence) - Int64(context.object?.dot.sequence ?? 0))
    return 1 + difference * UInt64(table.incarnations.count) + index
  }

  private mutating func write(_ reference: Dot, as dot: Dot) {
    guard reference != dot else {
      writer.varint(0)
      return
    }
    writer.count(1 + table.index(of: reference.incarnation))
    writer.varint(reference.sequence)
  }
}

/// Decodes the operations of one batch; accepts only the canonical encoding.
struct OperationDecoder {
  private let author: Incarnation
  private let others: [Incarnation]
  private let incarnations: UInt64
  /// The number of incarnations in `others` that were used so far; the incarnations must be used in order.
  private var used: UInt64 = 0
  private var context = OperationContext()

  /// Decodes `count` operations, which must fill the remaining bytes.
  static func batch(
    author: Incarnation,
    first: UInt64,
    time: HybridTime,
    count: Int,
    others: [Incarnation],
    _ reader: inout ByteReader
  ) throws(CodecError) -> Batch {
    guard first <= BoardLimits.sequence - UInt64(count - 1) else { throw .overLimit("sequence") }
    guard time.rawValue <= BoardLimits.time - UInt64(count - 1) else { throw .overLimit("time") }
    var decoder = try OperationDecoder(author, others)
    var operations: [Operation] = []
    operations.reserveCapacity(count)
    for index in 0..<UInt64(count) {
      let dot = Dot(author, first + index)
      let operation = try decoder.operation(dot, &reader)
      try operation.validate(as: dot)
      operations.append(operation)
    }
    guard decoder.used == UInt64(others.count) else { throw .notCanonical("incarnations") }
    try reader.finish()
    return Batch(validated: operations, author: author, firstSequence: first, time: time)
  }

  private init(_ author: Incarnation, _ others: [Incarnation]) throws(CodecError) {
    self.author = author
    self.others = others
    incarnations = UInt64(others.count) + 1
    guard !others.isEmpty else { return }
    let isDistinct =
      others.count <= IncarnationTable.few
      ? others.indices.allSatisfy { !others[..<$0].contains(others[$0]) } : Set(others).count == others.count
    guard isDistinct, !others.contains(author) else { throw .notCanonical("incarnations") }
  }

  private mutating func operation(_ dot: Dot, _ reader: inout ByteReader) throws(CodecError) -> Operation {
    let head = try reader.varint()
    let object = try object(head, dot, &reader)
    let (number, qualification) = try ValueCoding.qualification(of: context.tag >> 3)
    let property: Property =
      switch qualification {
      case .none: Property(number)
      case .number: Property(number, index: try reader.varint())
      case .dot: Property(number, dot: try self.dot(own: dot, &reader))
      }
    let shape = UInt8(truncatingIfNeeded: context.tag & 7)
    let value: Value =
      shape == 6 ? .dot(try self.dot(own: dot, &reader)) : try ValueCoding.read(shape: shape, &reader, &context.pair)
    return Operation(object, property, value)
  }

  private mutating func object(_ head: UInt64, _ own: Dot, _ reader: inout ByteReader) throws(CodecError) -> ObjectID {
    let last = context.object
    let object: ObjectID
    if head & 1 == 0 {
      object = try self.object(numbered: head >> 1, own)
      guard object != last else { throw .notCanonical("object") }
    } else {
      let tag = head >> 2
      if head & 2 != 0 {
        guard let last else { throw .notCanonical("object") }
        object = last
      } else {
        guard tag != context.tag else { throw .notCanonical("head") }
        object = try self.object(numbered: try reader.varint(), own)
        guard object != last else { throw .notCanonical("object") }
      }
      context.tag = tag
    }
    context.object = object
    return object
  }

  private mutating func object(numbered reference: UInt64, _ own: Dot) throws(CodecError) -> ObjectID {
    guard reference > 0 else { return ObjectID(own) }
    let (difference, index) = (reference - 1).quotientAndRemainder(dividingBy: incarnations)
    let incarnation = try incarnation(index)
    let sequence = try ValueCoding.sequence(ValueCoding.unzigzag(difference), after: context.object?.dot.sequence ?? 0)
    let dot = Dot(incarnation, sequence)
    guard dot != own else { throw .notCanonical("object") }
    return ObjectID(dot)
  }

  private mutating func dot(own: Dot, _ reader: inout ByteReader) throws(CodecError) -> Dot {
    let reference = try reader.varint()
    guard reference > 0 else { return own }
    let incarnation = try incarnation(reference - 1)
    let dot = Dot(incarnation, try reader.sequence())
    guard dot != own else { throw .notCanonical("dot") }
    return dot
  }

  private mutating func incarnation(_ index: UInt64) throws(CodecError) -> Incarnation {
    guard index > 0 else { return author }
    guard index < incarnations else { throw .overLimit("incarnation index") }
    guard index <= used + 1 else { throw .notCanonical("incarnations") }
    used = max(used, index)
    return others[Int(index) - 1]
  }
}
