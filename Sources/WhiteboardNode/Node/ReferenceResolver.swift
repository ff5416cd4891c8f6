import WhiteboardRendering

/// Resolves the word of a command to a peer or another known target.
struct ReferenceResolver<Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    let id: String
    let names: [String]
    let value: Value
  }

  private var entries: [Entry] = []

  /// The fewest characters of an id that stand for it.
  static var shortestPrefix: Int { 4 }

  /// Adds one that is known by an id and by names, which may be another's as well.
  mutating func add(id: String, names: [String], value: Value) {
    entries.append(Entry(id: id, names: names, value: value))
  }

  /// What a word means: a whole id, else the start of just one id, else a name of just one.
  ///
  /// A name never shadows an id, so that nobody is reached by calling themselves like another's key.
  ///
  /// - Parameters:
  ///   - word: As the verb has it.
  ///   - what: What is looked for, for the message, such as "peer".
  ///   - missing: The code when there is none.
  /// - Returns: What is meant.
  /// - Throws: `ambiguous` if it is more than one, `missing` if it is none.
  func find(
    _ word: String,
    what: String,
    missing: CommandError.Code
  ) throws(CommandError) -> Value {
    let lower = word.lowercased()
    if let exact = entries.first(where: { $0.id == lower }) {
      return exact.value
    }
    if word.utf8.count >= Self.shortestPrefix {
      let starts = entries.filter { $0.id.hasPrefix(lower) }
      if starts.count == 1 {
        return starts[0].value
      }
      guard starts.isEmpty else {
        throw CommandError(
          .ambiguous,
          "\(starts.count) of the \(what)s start with \(TerminalText.quoted(word)); give more of the id"
        )
      }
    }
    for isSame in [{ $0 == word }, { $0.lowercased() == lower }] as [(String) -> Bool] {
      let named = entries.filter { $0.names.contains(where: isSame) }
      if named.count == 1 {
        return named[0].value
      }
      guard named.isEmpty else {
        throw CommandError(
          .ambiguous,
          "\(named.count) \(what)s are called \(TerminalText.quoted(word)); give the id of one"
        )
      }
    }
    let known =
      entries.isEmpty
      ? "there is none"
      : "there is "
        + entries.prefix(4).map { entry in
          let name = entry.names.first.map { TerminalText.cleaned($0, limit: 32) } ?? ""
          return name.isEmpty ? String(entry.id.prefix(8)) : "\(name) (\(entry.id.prefix(8)))"
        }.joined(separator: ", ")
    throw CommandError(missing, "no \(what) is called \(TerminalText.quoted(word)); \(known)")
  }
}
