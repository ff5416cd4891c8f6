import Whiteboard

struct IncarnationTable {
  /// The number of incarnations up to which a linear search is faster than hashing.
  static let few = 8

  private(set) var incarnations: [Incarnation] = []
  /// The index of each incarnation; empty if there are at most `few` incarnations.
  private var indices: [Incarnation: Int] = [:]

  mutating func index(of incarnation: Incarnation) -> Int {
    let known = incarnations.count <= Self.few ? incarnations.firstIndex(of: incarnation) : indices[incarnation]
    if let known { return known }
    incarnations.append(incarnation)
    if incarnations.count == Self.few + 1 {
      addIndices()
    } else if incarnations.count > Self.few {
      indices[incarnation] = incarnations.count - 1
    }
    return incarnations.count - 1
  }

  init(_ incarnations: [Incarnation] = []) {
    self.incarnations = incarnations
    if incarnations.count > Self.few { addIndices() }
  }

  private mutating func addIndices() {
    for (index, incarnation) in incarnations.enumerated() { indices[incarnation] = index }
  }
}

/// The last pair; the next pair is encoded as a difference from this pair.
struct LastPair {
  private var x: Int32 = 0
  private var y: Int32 = 0

  mutating func write(_ newX: Int32, _ newY: Int32, to writer: inout ByteWriter) {
    writer.zigzag(Int64(newX) - Int64(x))
    writer.zigzag(Int64(newY) - Int64(y))
    x = newX
    y = newY
  }

  mutating func read(_ reader: inout ByteReader) throws(CodecError) -> Value {
    x = try Self.next(x, &reader)
    y = try Self.next(y, &reader)
    return .pair(x, y)
  }

  private static func next(_ last: Int32, _ reader: inout ByteReader) throws(CodecError) -> Int32 {
    let (sum, overflow) = Int64(last).addingReportingOverflow(try reader.zigzag())
    guard !overflow, let number = Int32(exactly: sum) else { throw .overLimit("pair") }
    return number
  }
}

enum ValueCoding {
  static func read(shape: UInt8, _ reader: inout ByteReader, _ pair: inout LastPair) throws(CodecError) -> Value {
    switch shape {
    case 0: return .none
    case 1: return .unsigned(try reader.varint())
    case 2: return .signed(try reader.zigzag())
    case 3: return try pair.read(&reader)
    case 4:
      let count = try reader.count(upTo: BoardLimits.valueBytes, "value")
      return .bytes(try reader.take(count))
    case 5:
      let count = try reader.count(upTo: BoardLimits.valueBytes, "value")
      guard let text = String(validating: try reader.take(count), as: UTF8.self) else { throw .notText }
      return .text(text)
    default: throw .reserved("shape")
    }
  }

  static func write(_ value: Value, to writer: inout ByteWriter, _ pair: inout LastPair) {
    switch value {
    case .none, .dot: break
    case .unsigned(let number): writer.varint(number)
    case .signed(let number): writer.zigzag(number)
    case .pair(let x, let y): pair.write(x, y, to: &writer)
    case .bytes(let bytes):
      writer.count(bytes.count)
      writer.raw(bytes)
    case .text(let text):
      writer.count(text.utf8.count)
      writer.raw(text.utf8)
    }
  }

  static func qualification(of number: UInt64) throws(CodecError) -> (number: UInt16, Property.Qualification) {
    guard number <= UInt64(BoardLimits.property) else { throw .overLimit("property") }
    guard let qualification = Property.qualification(of: UInt16(number)) else { throw .reserved("property \(number)") }
    return (UInt16(number), qualification)
  }

  static func sequence(after last: UInt64, _ reader: inout ByteReader) throws(CodecError) -> UInt64 {
    try sequence(try reader.zigzag(), after: last)
  }

  static func sequence(_ difference: Int64, after last: UInt64) throws(CodecError) -> UInt64 {
    let (sum, overflow) = Int64(last).addingReportingOverflow(difference)
    guard !overflow, sum >= 1, sum <= Int64(BoardLimits.sequence) else { throw .overLimit("sequence") }
    return UInt64(sum)
  }

  static func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: (number << 1) ^ (number >> 63)) }

  static func unzigzag(_ number: UInt64) -> Int64 { Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }
}
