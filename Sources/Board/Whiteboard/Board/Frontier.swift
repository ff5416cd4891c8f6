/// The frontmost z index and the latest chat time seen so far. New objects go in front of this z index, and new chat
/// lines must have a later time (BRD-31).
struct Frontier {
  private(set) var zIndex: [UInt8]?
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
