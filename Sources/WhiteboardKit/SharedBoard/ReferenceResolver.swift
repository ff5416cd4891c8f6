import PeerCore

/// Resolves a command argument to a peer, or to another target with an id and names.
struct ReferenceResolver<Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    let id: String
    let names: [UntrustedText]
    let value: Value
  }

  private var entries: [Entry] = []

  /// The minimum length of an id prefix.
  static var shortestPrefix: Int { 4 }

  /// Several targets can have the same name.
  mutating func add(id: String, names: [UntrustedText], value: Value) {
    entries.append(Entry(id: id, names: names, value: value))
  }

  /// Returns the target that a word names: by its id, by a unique id prefix, or by a unique name, in this order; throws
  /// ``CommandError`` with the code `ambiguous` if several targets match, or `missing` if none does.
  ///
  /// Ids have precedence over names. Otherwise a member could choose another member's id as its name, and receive
  /// messages for that member.
  func find(_ word: String, what: String, missing: CommandError.Code) throws(CommandError) -> Value {
    let lower = word.lowercased()
    if let exact = entries.first(where: { $0.id == lower }) { return exact.value }
    if word.utf8.count >= Self.shortestPrefix {
      let starts = entries.filter { $0.id.hasPrefix(lower) }
      if starts.count == 1 { return starts[0].value }
      guard starts.isEmpty else {
        throw CommandError(
          .ambiguous,
          "\(starts.count) of the \(what)s start with \(UntrustedText(word).quoted()); give more of the id"
        )
      }
    }
    for isSame in [{ $0 == word }, { $0.lowercased() == lower }] as [(String) -> Bool] {
      let named = entries.filter { $0.names.contains { isSame($0.raw) } }
      if named.count == 1 { return named[0].value }
      guard named.isEmpty else {
        throw CommandError(
          .ambiguous,
          "\(named.count) \(what)s are called \(UntrustedText(word).quoted()); give the id of one"
        )
      }
    }
    let known =
      entries.isEmpty
      ? "there is none"
      : "there is "
        + entries.prefix(4).map { entry in
          let name = entry.names.first?.displayed(width: 32) ?? ""
          return name.isEmpty ? String(entry.id.prefix(8)) : "\(name) (\(entry.id.prefix(8)))"
        }.joined(separator: ", ")
    throw CommandError(missing, "no \(what) is called \(UntrustedText(word).quoted()); \(known)")
  }
}
