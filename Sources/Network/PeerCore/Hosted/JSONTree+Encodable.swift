extension JSONTree: Encodable {
  package init?(_ json: String) {
    guard let tree = try? JSONReader.read(Array(json.utf8)) else { return nil }
    self = tree
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .flag(let flag): try container.encode(flag)
    case .number(let number):
      if let whole = Int64(exactly: number) { try container.encode(whole) } else { try container.encode(number) }
    case .digits(let digits):
      if let whole = Int64(digits) { try container.encode(whole) } else { try container.encode(UInt64(digits)) }
    case .string(let string): try container.encode(string)
    case .numbers(let numbers): try container.encode(numbers.map { JSONTree.number($0) })
    case .list(let list): try container.encode(list)
    case .object(let members): try container.encode(members)
    }
  }
}
