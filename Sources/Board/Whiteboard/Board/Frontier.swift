/// The frontmost z index and the latest chat time on a board. New objects and new chat lines must come after them.
struct Frontier {
  /// The greatest z index seen so far; new objects go in front of it.
  private(set) var zIndex: [UInt8]?
  /// The latest time of any chat line seen so far; new chat lines must have a later time (BRD-31).
  private(set) var chatTime: HybridTime?

  /// The time that the next chat line must exceed; nil if there is no line, or if the latest line has the last possible
  /// time.
  var floorOfChat: HybridTime? { chatTime.flatMap { $0.canBeFollowed ? $0 : nil } }

  mutating func record(_ batch: Batch) {
    for (index, operation) in batch.operations.enumerated() {
      let time = HybridTime(batch.time.rawValue + UInt64(index))
      record(operation.property, operation.value, at: time)
    }
  }

  mutating func record(_ property: Property, _ value: Value, at time: HybridTime) {
    if property == .zIndex, case .bytes(let bytes) = value { record(zIndex: bytes) }
    guard property.isKind, value == .unsigned(ObjectKind.chat.rawValue) else { return }
    chatTime = max(chatTime ?? time, time)
  }

  mutating func record(zIndex bytes: [UInt8]) {
    guard ZIndex.isFollowed(bytes) else { return }
    if zIndex.map({ ZIndex.isBehind($0, bytes) }) ?? true { zIndex = bytes }
  }
}
