/// The catch-up answer to a context: everything that the other replica lacks.
public struct Difference: Hashable, Sendable {
  /// The cells of one object that the other lacks.
  public struct Entry: Hashable, Sendable {
    /// The object.
    public let object: ObjectID
    /// The cells, by ascending property.
    public var cells: [PropertyCell]

    /// An entry of these cells.
    public init(object: ObjectID, cells: [PropertyCell] = []) {
      self.object = object
      self.cells = cells
    }
  }

  /// The context of the sender.
  public var context: Context
  /// The ids of the objects it holds; what is in `context` and not here was purged.
  public var living = DotSet()
  /// The cells, by ascending object id.
  public var entries: [Entry] = []

  /// An answer of nothing but a context.
  public init(context: Context) { self.context = context }

  /// Returns the difference without the dots behind these sequences.
  ///
  /// The objects that they created are then neither living nor purged.
  package func limited(to last: [Incarnation: UInt64]) -> Difference {
    var limited = self
    for (incarnation, last) in last {
      _ = limited.context.removeAll(after: last, of: incarnation)
      _ = limited.living.removeAll(after: last, of: incarnation)
    }
    for index in limited.entries.indices {
      limited.entries[index].cells.removeAll { !$0.cell.dot.isWithin(last) }
    }
    limited.entries.removeAll(where: \.cells.isEmpty)
    return limited
  }

  /// Throws where the parts contradict each other, so that no honest replica can have sent them.
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
