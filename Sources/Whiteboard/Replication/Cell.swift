/// One property of one object: its value and the write that won it.
public struct Cell: Hashable, Sendable {
  /// The value.
  public let value: Value
  /// When it was written.
  public let time: HybridTime
  /// The operation that wrote it.
  public let dot: Dot

  /// A cell of its parts.
  @inlinable public init(value: Value, time: HybridTime, dot: Dot) {
    self.value = value
    self.time = time
    self.dot = dot
  }

  /// The stamp that decides between writes.
  public var stamp: Stamp { Stamp(time: time, incarnation: dot.incarnation) }

  /// Whether this write beats `other`: by time, then incarnation, then sequence number (BRD-5).
  ///
  /// Only a breach can make two writes of one dot; then the greater value wins, so that replicas
  /// agree all the same.
  public func beats(_ other: Cell) -> Bool {
    if time != other.time { return time > other.time }
    if dot != other.dot { return dot > other.dot }
    return other.value.precedes(value)
  }
}

/// A cell together with the property it holds.
public struct PropertyCell: Hashable, Sendable {
  /// The property.
  public let property: Property
  /// Its cell.
  public var cell: Cell

  /// A cell of this property.
  @inlinable public init(_ property: Property, _ cell: Cell) {
    self.property = property
    self.cell = cell
  }
}

/// One change: the write of one cell, or the purge of one object.
public struct Operation: Hashable, Sendable {
  /// The object it is about.
  public let object: ObjectID
  /// The property it writes, or `Property.purge`.
  public let property: Property
  /// The value that it writes.
  public let value: Value

  /// An operation of its parts.
  @inlinable public init(_ object: ObjectID, _ property: Property, _ value: Value) {
    self.object = object
    self.property = property
    self.value = value
  }
}

/// The operations of one replica that travel and apply together (BRD-11).
///
/// The operation at index *i* has the dot (`author`, `firstSequence` + *i*) and the time
/// `time` + *i*.
public struct Batch: Hashable, Sendable {
  /// The author.
  public let author: Incarnation
  /// The sequence number of the first operation.
  public let firstSequence: UInt64
  /// The time of the first operation.
  public let time: HybridTime
  /// The operations; at least one, at most `BoardLimits.operationsPerBatch`.
  public let operations: [Operation]

  /// A batch of its parts.
  /// - Throws: `CodecError` if it is empty, too long, or breaks a rule that decoders enforce.
  public init(
    author: Incarnation,
    firstSequence: UInt64,
    time: HybridTime,
    operations: [Operation]
  ) throws(CodecError) {
    guard !operations.isEmpty, operations.count <= BoardLimits.operationsPerBatch else {
      throw .overLimit("operations")
    }
    let more = UInt64(operations.count - 1)
    guard firstSequence >= 1, firstSequence <= BoardLimits.sequence - more else {
      throw .overLimit("sequence")
    }
    guard time.rawValue <= BoardLimits.time - more else { throw .overLimit("time") }
    self.author = author
    self.firstSequence = firstSequence
    self.time = time
    self.operations = operations
    for index in operations.indices { try operations[index].validate(as: dot(at: index)) }
  }

  /// A batch of parts that a decoder has checked one by one.
  package init(
    validated operations: [Operation],
    author: Incarnation,
    firstSequence: UInt64,
    time: HybridTime
  ) {
    self.author = author
    self.firstSequence = firstSequence
    self.time = time
    self.operations = operations
  }

  /// The sequence numbers of the operations.
  public var sequences: ClosedRange<UInt64> {
    firstSequence...(firstSequence + UInt64(operations.count - 1))
  }

  /// The dot of the operation at `index`.
  public func dot(at index: Int) -> Dot { Dot(author, firstSequence + UInt64(index)) }
}

extension Operation {
  /// Throws where an operation of this dot may not exist: BRD-10, and the shapes of BRD-9.
  package func validate(as dot: Dot) throws(CodecError) {
    try Self.validate(object, property, value, as: dot)
  }

  /// Throws where an operation of these parts and this dot may not exist.
  static func validate(
    _ object: ObjectID,
    _ property: Property,
    _ value: Value,
    as dot: Dot
  ) throws(CodecError) {
    guard value.length <= BoardLimits.valueBytes else { throw .overLimit("value") }
    if property.isPurge {
      guard dot != object.dot else { throw .notTheAuthor("purge") }
      guard value.shape == Value.none.shape else { throw .notCanonical("purge") }
      return
    }
    guard property.mayBeWritten(by: dot, of: object) else {
      throw .notTheAuthor("property \(property.number)")
    }
    if property.isKind, value.shape != Value.unsigned(0).shape {
      throw .notCanonical("kind")
    }
  }
}
