import Whiteboard

/// The order of incarnations decides between simultaneous writes, and orders letters that were typed at the same place.
///
/// A renaming that keeps this order changes nothing else on the board.
package struct IncarnationRenaming {
  private let renamed: (Incarnation) -> Incarnation

  package init(_ renamed: @escaping (Incarnation) -> Incarnation) { self.renamed = renamed }

  private func dot(_ dot: Dot) -> Dot { Dot(renamed(dot.incarnation), dot.sequence) }

  private func object(_ id: ObjectID) -> ObjectID { ObjectID(dot(id.dot)) }

  private func property(_ property: Property) -> Property {
    property.dot.map { Property(property.number, dot: dot($0)) } ?? property
  }

  private func value(_ value: Value, of property: Property) -> Value {
    switch value {
    case .dot(let found): .dot(dot(found))
    case .bytes(let bytes): TextTree.renaming(bytes, of: property.number, dot) ?? value
    default: value
    }
  }

  /// Returns a batch with renamed incarnations, new values and a new time; throws if these values do not form a batch.
  package func batch(_ batch: Batch, _ time: HybridTime, _ changed: (Property, Value) -> Value) throws(CodecError)
    -> Batch
  {
    try Batch(
      author: renamed(batch.author),
      firstSequence: batch.firstSequence,
      time: time,
      operations: batch.operations.map { operation in
        Operation(
          object(operation.object),
          property(operation.property),
          value(changed(operation.property, operation.value), of: operation.property)
        )
      }
    )
  }

  /// Returns a set of dots with renamed incarnations.
  package func dots(_ dots: DotSet) -> DotSet {
    var result = DotSet()
    for incarnation in dots.incarnations {
      for range in dots[incarnation].ranges { result.insert(range, of: renamed(incarnation)) }
    }
    return result
  }

  package func difference(_ difference: Difference, _ changed: (Property, Value, HybridTime) -> (Value, HybridTime))
    -> Difference
  {
    var result = Difference(context: dots(difference.context))
    result.living = dots(difference.living)
    result.entries = difference.entries.map { entry in
      Difference.Entry(
        object: object(entry.object),
        cells: entry.cells.map { found in
          let (next, time) = changed(found.property, found.cell.value, found.cell.time)
          return PropertyCell(
            property(found.property),
            Cell(value: value(next, of: found.property), time: time, dot: dot(found.cell.dot))
          )
        }
      )
    }
    return result
  }
}
