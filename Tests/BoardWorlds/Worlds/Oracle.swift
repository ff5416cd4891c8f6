import Whiteboard
import WhiteboardSync

/// A record of every operation in a world, from which the checks derive the expected boards.
struct Oracle {
  private struct Write {
    let operation: Operation
    let time: UInt64
  }

  private var writes: [Dot: Write] = [:]
  var complaint: String?
  /// The lines of the chat, and the lines that their authors had seen.
  private(set) var lines: [ObjectID: [ObjectID]] = [:]

  /// Records an operation; returns whether its dot is new.
  mutating func issued(_ operation: Operation, _ time: UInt64, _ dot: Dot) -> Bool {
    writes.updateValue(Write(operation: operation, time: time), forKey: dot) == nil
  }

  /// The times of the chat lines that a board has seen, including purged lines.
  func lineTimes(in state: BoardState) -> [ObjectID: UInt64] {
    var times: [ObjectID: UInt64] = [:]
    for (dot, write) in writes
    where write.operation.property == .kind && write.operation.value == .unsigned(ObjectKind.chat.rawValue)
      && state.context.contains(dot)
    { times[ObjectID(dot)] = write.time }
    return times
  }

  mutating func said(_ line: ObjectID, after seen: some Sequence<ObjectID>) { lines[line] = Array(seen) }

  /// Describes a lost operation, or a cell that no operation wrote; nil if there is none.
  ///
  /// An operation in the context is lost if its cell is absent or older, and its object was not purged.
  func lost(in state: BoardState) -> String? {
    for (dot, write) in writes where state.context.contains(dot) {
      let operation = write.operation
      guard operation.property != .purge, let record = state.record(operation.object) else { continue }
      guard let cell = record[operation.property] else { return "\(operation) of \(dot) left no cell" }
      guard (cell.time.rawValue, cell.dot.incarnation.rawValue) >= (write.time, dot.incarnation.rawValue) else {
        return "\(operation) of \(dot) lost to an older write"
      }
    }
    for (id, record) in state.sortedRecords {
      for entry in record.entries {
        guard let write = writes[entry.cell.dot], write.operation.object == id,
          write.operation.property == entry.property, write.operation.value == entry.cell.value,
          write.time == entry.cell.time.rawValue
        else { return "\(entry) of \(id) was never written" }
      }
    }
    // An object that was created and seen is missing only if it was purged.
    let purged = Set(writes.values.filter { $0.operation.property == .purge }.map { $0.operation.object })
    for (dot, write) in writes where write.operation.property == .kind && state.context.contains(dot) {
      guard state.record(ObjectID(dot)) != nil || purged.contains(ObjectID(dot)) else {
        return "the object \(dot) is missing and was not purged"
      }
    }
    return nil
  }

  /// Describes an object that was purged and is present again; nil if there is none.
  func risen(in state: BoardState) -> String? {
    for (dot, write) in writes where write.operation.property == .purge && state.context.contains(dot) {
      if state.record(write.operation.object) != nil {
        return "\(write.operation.object) was purged by \(dot) and exists again"
      }
    }
    return nil
  }

  /// Describes a cell that became older, or is missing although its object exists; nil if there is none.
  static func wentBack(from before: BoardState, to after: BoardState) -> String? {
    guard after.context.isSuperset(of: before.context) else { return "the context shrank" }
    for (id, record) in before.sortedRecords {
      guard let now = after.record(id) else { continue }
      for entry in record.entries {
        guard let cell = now[entry.property] else { return "a cell of \(id) is missing" }
        guard cell.stamp >= entry.cell.stamp else { return "a cell of \(id) became older" }
      }
    }
    return nil
  }

  /// Describes a new local operation that did not replace the value of its cell (I6); nil if there is none.
  static func beaten(_ batches: [Batch], in state: BoardState) -> String? {
    var latest: [ObjectID: [Property: Dot]] = [:]
    for batch in batches {
      for (index, operation) in batch.operations.enumerated() {
        latest[operation.object, default: [:]][operation.property] = batch.dot(at: index)
      }
    }
    for (id, properties) in latest {
      guard let record = state.record(id) else { continue }
      for (property, dot) in properties where record[property]?.dot != dot {
        return "\(property) of \(id) does not show what \(dot) has just written"
      }
    }
    return nil
  }

  /// Returns everything in a state in one canonical form, so that equal states have equal dumps.
  ///
  /// The sums of SYN-41 do not cover selections, so selections may stay different after an author wrote two values
  /// under one dot.
  static func dump(_ state: BoardState, withSelections: Bool = true) -> [UInt8] {
    var difference = state.difference(since: Context())
    guard !withSelections else { return DifferenceCoding.encode(difference) }
    for index in difference.entries.indices { difference.entries[index].cells.removeAll { $0.property == .selection } }
    difference.entries.removeAll { $0.cells.isEmpty }
    return DifferenceCoding.encode(difference)
  }

  /// Describes the first object in which two states differ.
  static func difference(_ one: BoardState, _ other: BoardState) -> String {
    for (id, record) in one.sortedRecords {
      guard let theirs = other.record(id) else { return "\(id) is missing" }
      let unlike = Set(record.entries).symmetricDifference(theirs.entries)
      guard unlike.isEmpty else { return "\(id) differs in \(unlike.sorted { $0.property < $1.property })" }
    }
    return other.objectCount > one.objectCount ? "there is one object too many" : "contexts differ"
  }
}

extension BoardState {
  var sortedRecords: [(ObjectID, ObjectRecord)] { storedIDs.sorted().compactMap { id in record(id).map { (id, $0) } } }
}
