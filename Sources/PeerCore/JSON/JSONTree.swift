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

  package subscript(_ key: String) -> JSONTree? {
    guard case .object(let members) = self, let value = members[key], value != .null else { return nil }
    return value
  }

  package var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }

  package var number: Double? {
    guard case .number(let number) = self else { return nil }
    return number
  }

  package var flag: Bool? {
    guard case .flag(let flag) = self else { return nil }
    return flag
  }

  package var numbers: [Double]? {
    switch self {
    case .numbers(let numbers): numbers
    case .list(let list) where list.isEmpty: []
    default: nil
    }
  }

  package var list: [JSONTree]? {
    switch self {
    case .list(let list): list
    case .numbers(let numbers): numbers.map { .number($0) }
    default: nil
    }
  }

  package var members: [String: JSONTree]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  package var strings: [String]? {
    guard let list else { return nil }
    let strings = list.compactMap { $0.string }
    return strings.count == list.count ? strings : nil
  }
}
