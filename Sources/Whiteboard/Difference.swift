/// What one replica sends another that lacks something: the answer to a context.
public struct Difference: Hashable, Sendable {
  /// The cells of one object that the other lacks.
  public struct Entry: Hashable, Sendable {
    /// The object.
    public let object: ObjectID
    /// The properties, ascending.
    public var properties: [Property] = []
    /// The cells, one for each property.
    public var cells: [Cell] = []

    /// An entry without cells.
    public init(object: ObjectID) { self.object = object }

    /// Makes room for as many cells.
    package mutating func reserve(_ count: Int) {
      properties.reserveCapacity(count)
      cells.reserveCapacity(count)
    }
  }

  /// What the sender has seen.
  public var context: Context
  /// The ids of the objects it holds; what is in `context` and not here was purged.
  public var living = DotSet()
  /// The cells, by ascending object id.
  public var entries: [Entry] = []

  /// An answer of nothing but a context.
  public init(context: Context) { self.context = context }

  /// Throws where the parts contradict each other, so that no honest replica can have sent them.
  package func validate() throws(CodecError) {
    guard context.isSuperset(of: living) else { throw .inconsistent("living") }
    for entry in entries {
      guard living.contains(entry.object.dot) || !context.contains(entry.object.dot) else {
        throw .inconsistent("purged object")
      }
      for (property, cell) in zip(entry.properties, entry.cells) {
        guard context.contains(cell.dot) else { throw .inconsistent("cell beyond the context") }
        guard property != .purge else { throw .reserved("purge") }
        try Operation(entry.object, property, cell.value).validate(as: cell.dot)
      }
    }
  }
}
