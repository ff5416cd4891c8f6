/// A piece of JSON that was read whole, within bounds.
package indirect enum JSONTree: Hashable, Sendable {
  case null
  case flag(Bool)
  /// A number, which is finite.
  case number(Double)
  case string(String)
  /// A list of nothing but numbers, such as a point.
  case numbers([Double])
  /// Any other list.
  case list([JSONTree])
  /// Of a key that was given twice, the last counts.
  case object([String: JSONTree])

  /// Returns the member of an object; nil if it is missing or null.
  package subscript(_ key: String) -> JSONTree? {
    guard case .object(let members) = self, let value = members[key], value != .null else {
      return nil
    }
    return value
  }

  /// The string that it is, or nil.
  package var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }

  /// The number that it is, or nil.
  package var number: Double? {
    guard case .number(let number) = self else { return nil }
    return number
  }

  /// The Boolean value, or nil.
  package var flag: Bool? {
    guard case .flag(let flag) = self else { return nil }
    return flag
  }

  /// The numbers of a list of nothing else, or nil.
  package var numbers: [Double]? {
    switch self {
    case .numbers(let numbers): numbers
    case .list(let list) where list.isEmpty: []
    default: nil
    }
  }

  /// The elements of a list, or nil.
  package var list: [JSONTree]? {
    switch self {
    case .list(let list): list
    case .numbers(let numbers): numbers.map { .number($0) }
    default: nil
    }
  }

  /// The members of an object, or nil.
  package var members: [String: JSONTree]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  /// The strings of a list of nothing else, or nil.
  package var strings: [String]? {
    guard let list else { return nil }
    let strings = list.compactMap(\.string)
    return strings.count == list.count ? strings : nil
  }
}
