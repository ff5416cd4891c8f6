/// The value of a cell, in one of the types of the protocol (BRD-9).
public enum Value: Sendable {
  /// No value: the cell was cleared.
  case none
  case unsigned(UInt64)
  case signed(Int64)
  /// Two numbers that change together, such as x and y.
  case pair(Int32, Int32)
  /// Bytes whose meaning the property defines.
  case bytes([UInt8])
  case text(String)
  /// A reference to an operation or an object.
  case dot(Dot)

  /// The number of the value's type in the protocol.
  @inlinable package var shape: UInt8 {
    switch self {
    case .none: 0
    case .unsigned: 1
    case .signed: 2
    case .pair: 3
    case .bytes: 4
    case .text: 5
    case .dot: 6
    }
  }

  /// The number of bytes in the contents of `bytes` or `text`; 0 for the other types.
  package var length: Int {
    switch self {
    case .bytes(let bytes): bytes.count
    case .text(let text): text.utf8.count
    default: 0
    }
  }

  /// Whether the value means true for a property such as `deleted` (BRD-35).
  var isTrue: Bool {
    guard case .unsigned(let number) = self else { return false }
    return number != 0
  }

  /// Values are compared by type, then by the bytes that represent them in the digest (BRD-5, SYN-40).
  package func precedes(_ other: Value) -> Bool {
    switch (self, other) {
    case (.unsigned(let left), .unsigned(let right)): left < right
    case (.signed(let left), .signed(let right)): UInt64(bitPattern: left) < UInt64(bitPattern: right)
    case (.pair(let leftX, let leftY), .pair(let rightX, let rightY)):
      leftX == rightX
        ? UInt32(bitPattern: leftY) < UInt32(bitPattern: rightY)
        : UInt32(bitPattern: leftX) < UInt32(bitPattern: rightX)
    case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
    case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
    case (.dot(let left), .dot(let right)): left < right
    default: shape < other.shape
    }
  }
}

extension Value: Hashable {
  /// Returns whether both values have the same bits.
  ///
  /// Strings that only look the same (NFC and NFD) are not equal.
  public static func == (lhs: Value, rhs: Value) -> Bool {
    switch (lhs, rhs) {
    case (.none, .none): true
    case (.unsigned(let left), .unsigned(let right)): left == right
    case (.signed(let left), .signed(let right)): left == right
    case (.pair(let leftX, let leftY), .pair(let rightX, let rightY)): leftX == rightX && leftY == rightY
    case (.bytes(let left), .bytes(let right)): left == right
    case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
    case (.dot(let left), .dot(let right)): left == right
    default: false
    }
  }

  /// Hashes the bits of the value.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(shape)
    switch self {
    case .none: break
    case .unsigned(let number): hasher.combine(number)
    case .signed(let number): hasher.combine(number)
    case .pair(let x, let y):
      hasher.combine(x)
      hasher.combine(y)
    case .bytes(let bytes): hasher.combine(bytes)
    case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
    case .dot(let dot): hasher.combine(dot)
    }
  }
}
