/// The answer to a catch-up request: everything that the other replica lacks.
public struct Difference: Hashable, Sendable {
  /// The cells of one object that the other replica lacks.
  public struct Entry: Hashable, Sendable {
    /// The id of the object.
    public let object: ObjectID
    /// The cells of the object that the other replica lacks, in ascending order of property.
    public var cells: [PropertyCell]

    /// Creates an entry for an object.
    public init(object: ObjectID, cells: [PropertyCell] = []) {
      self.object = object
      self.cells = cells
    }
  }

  /// The context of the replica that sent the answer.
  public var context: Context
  /// The ids of the sender's objects.
  ///
  /// An id in `context` that is missing in this set was purged.
  public var living = DotSet()
  /// The cells that the other replica lacks, in ascending order of object id.
  public var entries: [Entry] = []

  /// Creates an answer with a context and no cells.
  public init(context: Context) { self.context = context }

  /// Returns the answer without dots after the given sequence numbers.
  ///
  /// In the result, objects with a removed dot are neither living nor purged.
  package func limited(to last: [Incarnation: UInt64]) -> Difference {
    var limited = self
    for (incarnation, last) in last {
      _ = limited.context.removeAll(after: last, of: incarnation)
      _ = limited.living.removeAll(after: last, of: incarnation)
    }
    for index in limited.entries.indices { limited.entries[index].cells.removeAll { !$0.cell.dot.isWithin(last) } }
    limited.entries.removeAll(where: { $0.cells.isEmpty })
    return limited
  }

  /// Returns the part of the answer without the operations of some incarnations, and without the objects that these
  /// created.
  func without(_ retired: Set<Incarnation>) -> Difference {
    let named = Set(context.incarnations.filter(retired.contains))
    let isAny = entries.contains { retired.contains($0.object.dot.incarnation) }
    guard isAny || !named.isEmpty else { return self }
    var rest = self
    rest.context.removeAll(of: named)
    rest.living.removeAll(of: named)
    for index in rest.entries.indices {
      rest.entries[index].cells.removeAll { retired.contains($0.cell.dot.incarnation) }
    }
    rest.entries.removeAll { $0.cells.isEmpty || retired.contains($0.object.dot.incarnation) }
    return rest
  }

  /// Throws an error if parts of the answer contradict each other.
  ///
  /// No correct replica can send such an answer.
  package func validate() throws(CodecError) {
    guard context.isSuperset(of: living) else { throw .inconsistent("living") }
    for entry in entries {
      guard living.contains(entry.object.dot) || !context.contains(entry.object.dot) else {
        throw .inconsistent("purged object")
      }
      for index in entry.cells.indices {
        let (property, cell) = (entry.cells[index].property, entry.cells[index].cell)
        guard context.contains(cell.dot) else { throw .inconsistent("cell beyond the context") }
        guard !property.isPurge else { throw .reserved("purge") }
        try Operation.validate(entry.object, property, cell.value, as: cell.dot)
      }
    }
  }
}
