package indirect enum JSONTree: Hashable, Sendable {
  case null
  case flag(Bool)
  case number(Double)
  case string(String)
  /// A list that contains only numbers, such as a point.
  case numbers([Double])
  /// A list that is empty, or contains values that are not numbers.
  case list([JSONTree])
  /// An object; if a key occurs twice, its last value is used.
  case object([String: JSONTree])

  /// Returns the member of an object; nil if it is missing or null.
  package subscript(_ key: String) -> JSONTree? {
    guard case .object(let members) = self, let value = members[key], value != .null else { return nil }
    return value
  }

  /// The value as a string; nil if it is not a string.
  package var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }

  /// The value as a number; nil if it is not a number.
  package var number: Double? {
    guard case .number(let number) = self else { return nil }
    return number
  }

  /// The value as a Boolean; nil if it is not `true` or `false`.
  package var flag: Bool? {
    guard case .flag(let flag) = self else { return nil }
    return flag
  }

  /// The numbers of a list; nil if the value is not a list, or contains values that are not numbers.
  package var numbers: [Double]? {
    switch self {
    case .numbers(let numbers): numbers
    case .list(let list) where list.isEmpty: []
    default: nil
    }
  }

  /// The elements of a list; nil if the value is not a list.
  package var list: [JSONTree]? {
    switch self {
    case .list(let list): list
    case .numbers(let numbers): numbers.map { .number($0) }
    default: nil
    }
  }

  /// The members of an object; nil if the value is not an object.
  package var members: [String: JSONTree]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  /// The strings of a list; nil if the value is not a list, or contains values that are not strings.
  package var strings: [String]? {
    guard let list else { return nil }
    let strings = list.compactMap { $0.string }
    return strings.count == list.count ? strings : nil
  }
}
