/// The value of one property of one object, with the time and the dot of the write that won.
public struct Cell: Hashable, Sendable {
  /// The value of the property.
  public let value: Value
  /// The time of the write.
  public let time: HybridTime
  /// The dot of the operation that wrote the value.
  public let dot: Dot

  /// Creates a cell.
  @inlinable public init(value: Value, time: HybridTime, dot: Dot) {
    self.value = value
    self.time = time
    self.dot = dot
  }

  /// The stamp, which decides between two writes of one cell.
  public var stamp: Stamp { Stamp(time: time, incarnation: dot.incarnation) }

  /// Returns whether this write beats `other`.
  ///
  /// Writes are compared by time, then by incarnation, then by sequence number (BRD-5).
  ///
  /// Two writes can have the same dot only if a peer violates the protocol. In that case, the greater value wins, so
  /// that replicas still agree.
  public func beats(_ other: Cell) -> Bool {
    if time != other.time { return time > other.time }
    if dot != other.dot { return dot > other.dot }
    return other.value.precedes(value)
  }
}

/// A cell together with its property.
public struct PropertyCell: Hashable, Sendable {
  /// The property that the cell holds.
  public let property: Property
  /// The cell with the value of the property.
  public var cell: Cell

  /// Creates a cell of a property.
  @inlinable public init(_ property: Property, _ cell: Cell) {
    self.property = property
    self.cell = cell
  }
}

/// One change on a board: the write of one cell, or the purge of one object.
public struct Operation: Hashable, Sendable {
  /// The object that the operation changes.
  public let object: ObjectID
  /// The property that the operation writes, or `Property.purge`.
  public let property: Property
  /// The value that the operation writes.
  public let value: Value

  /// Creates an operation.
  @inlinable public init(_ object: ObjectID, _ property: Property, _ value: Value) {
    self.object = object
    self.property = property
    self.value = value
  }
}

/// Operations of one replica that are sent and applied together (BRD-11).
///
/// The operation at index *i* has the dot (`author`, `firstSequence` + *i*) and the time `time` + *i*.
public struct Batch: Hashable, Sendable {
  /// The incarnation that wrote the operations.
  public let author: Incarnation
  /// The sequence number of the first operation.
  public let firstSequence: UInt64
  /// The time of the first operation.
  public let time: HybridTime
  /// The operations, from 1 to `BoardLimits.operationsPerBatch`.
  public let operations: [Operation]

  /// Creates a batch and checks it.
  /// - Throws: `CodecError` if the batch is empty or too long, or breaks a rule that decoders enforce.
  public init(author: Incarnation, firstSequence: UInt64, time: HybridTime, operations: [Operation]) throws(CodecError)
  {
    guard !operations.isEmpty, operations.count <= BoardLimits.operationsPerBatch else {
      throw .overLimit("operations")
    }
    let more = UInt64(operations.count - 1)
    guard firstSequence >= 1, firstSequence <= BoardLimits.sequence - more else { throw .overLimit("sequence") }
    guard time.rawValue <= BoardLimits.time - more else { throw .overLimit("time") }
    self.author = author
    self.firstSequence = firstSequence
    self.time = time
    self.operations = operations
    for index in operations.indices { try operations[index].validate(as: dot(at: index)) }
  }

  /// Creates a batch from operations that a decoder has already checked.
  package init(validated operations: [Operation], author: Incarnation, firstSequence: UInt64, time: HybridTime) {
    self.author = author
    self.firstSequence = firstSequence
    self.time = time
    self.operations = operations
  }

  /// The range of sequence numbers of the operations.
  public var sequences: ClosedRange<UInt64> { firstSequence...(firstSequence + UInt64(operations.count - 1)) }

  /// Returns the dot of the operation at `index`.
  public func dot(at index: Int) -> Dot { Dot(author, firstSequence + UInt64(index)) }
}

extension Operation {
  /// Throws an error if an operation with this dot breaks BRD-10, or has a value of the wrong type (BRD-9).
  package func validate(as dot: Dot) throws(CodecError) { try Self.validate(object, property, value, as: dot) }

  static func validate(_ object: ObjectID, _ property: Property, _ value: Value, as dot: Dot) throws(CodecError) {
    guard value.length <= BoardLimits.valueBytes else { throw .overLimit("value") }
    if property.isPurge {
      guard dot != object.dot else { throw .notTheAuthor("purge") }
      guard value.shape == Value.none.shape else { throw .notCanonical("purge") }
      return
    }
    guard property.mayBeWritten(by: dot, of: object) else { throw .notTheAuthor("property \(property.number)") }
    if property.isKind, value.shape != Value.unsigned(0).shape { throw .notCanonical("kind") }
  }
}
