/// A name a script gives to an object it makes.
package struct ObjectAlias: Equatable, Hashable, Sendable, CustomStringConvertible {
  /// The name as it was given.
  package let description: String

  /// The longest alias, in characters, all ASCII.
  package static let maximumLength = 64

  /// Makes an alias, or nil if the text cannot be one.
  ///
  /// It starts with a letter, goes on with letters, digits, `-`, `_` and `.`, and is not one of
  /// the words `last` and `selected`.
  package init?(_ text: String) {
    guard (1...ObjectAlias.maximumLength).contains(text.utf8.count), text != "last",
      text != "selected", let first = text.utf8.first, ObjectAlias.isLetter(first),
      text.utf8.allSatisfy({
        ObjectAlias.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E
          || $0 == 0x5F
      })
    else { return nil }
    description = text
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}

/// How a verb names an object, or several at once.
package enum ObjectReference: Equatable, Sendable, CustomStringConvertible {
  /// The newest object made here.
  case last
  /// All that we have in hand.
  case selected
  /// A name given with `as=`.
  case alias(ObjectAlias)
  /// The number part of an object id, good where it is the only one.
  case sequence(UInt64)
  /// A whole object id, `SEQ-INCARNATION`.
  case id(sequence: UInt64, incarnation: String)

  /// Reads a reference, or nil if the text is none of the forms.
  package init?(_ text: String) {
    if text == "last" {
      self = .last
      return
    }
    if text == "selected" {
      self = .selected
      return
    }
    if let alias = ObjectAlias(text) {
      self = .alias(alias)
      return
    }
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, !first.isEmpty, first.count <= 20,
      first.utf8.allSatisfy({ (0x30...0x39).contains($0) }), first.utf8.first != 0x30,
      let sequence = UInt64(first)
    else { return nil }
    guard parts.count == 2 else {
      self = .sequence(sequence)
      return
    }
    let incarnation = parts[1]
    guard incarnation.utf8.count == 13,
      incarnation.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) })
    else { return nil }
    self = .id(sequence: sequence, incarnation: String(incarnation))
  }

  /// The reference as it is written in a script.
  package var description: String {
    switch self {
    case .last: "last"
    case .selected: "selected"
    case .alias(let alias): alias.description
    case .sequence(let sequence): "\(sequence)"
    case .id(let sequence, let incarnation): "\(sequence)-\(incarnation)"
    }
  }
}
