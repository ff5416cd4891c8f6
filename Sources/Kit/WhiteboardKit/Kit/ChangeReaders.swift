import PeerCore
import PeerSession
import Whiteboard

final class ChangeReaders: Sendable {
  private struct State {
    var buffers: [Weak] = []
    var isFinished = false
  }

  /// The reference is weak because the buffer must live only as long as its reader.
  private struct Weak: Sendable { weak var buffer: ChangeBuffer? }

  private let state = Locked(State())

  /// Whether there are no readers, so that no changes need to be created.
  var isEmpty: Bool { state.withLock { $0.buffers.isEmpty } }

  func add() -> ChangeBuffer {
    let buffer = ChangeBuffer()
    let isFinished = state.withLock { state in
      state.buffers.removeAll { $0.buffer == nil }
      state.buffers.append(Weak(buffer: buffer))
      return state.isFinished
    }
    if isFinished { buffer.finish() }
    return buffer
  }

  func publish(_ change: SharedBoard.Change) { for buffer in current { buffer.append(change) } }

  func finish() {
    state.withLock { $0.isFinished = true }
    for buffer in current { buffer.finish() }
  }

  private var current: [ChangeBuffer] {
    state.withLock { state in
      if state.buffers.contains(where: { $0.buffer == nil }) { state.buffers.removeAll { $0.buffer == nil } }
      return state.buffers.compactMap(\.buffer)
    }
  }
}

final class ChangeBuffer: Sendable {
  static let capacity = 4_096
  /// The maximum size of the buffered changes, in bytes. A single larger change is dropped immediately.
  static let byteCapacity = 64 << 20

  private struct State {
    /// The changes, in order; an element is nil if a later presence update of the same member replaced it.
    var changes: [SharedBoard.Change?] = []
    /// The number of elements in ``changes`` that are not nil.
    var count = 0
    /// The approximate size of ``changes``, in bytes.
    var bytes = 0
    var start = 0
    /// For each member, the index of its buffered presence update, which a later update replaces.
    var presences: [PeerID: Int] = [:]
    /// The number of dropped changes that were not reported to the reader yet.
    var missed = 0
    var isFinished = false
    var waiter: CheckedContinuation<SharedBoard.Change?, Never>?

    mutating func append(_ change: SharedBoard.Change) {
      if case .presence(_, let member) = change {
        // The latest presence update of a member replaces the earlier update.
        if let index = presences[member.id] {
          changes[index] = nil
          count -= 1
        }
        presences[member.id] = changes.count
      }
      changes.append(change)
      count += 1
      bytes += change.byteCount
      if changes.count > 2 * ChangeBuffer.capacity { removeGaps() }
      guard count > ChangeBuffer.capacity || bytes > ChangeBuffer.byteCapacity else { return }
      missed += count
      removeAll()
    }

    mutating func next() -> SharedBoard.Change? {
      if missed > 0 {
        defer { missed = 0 }
        return .missed(missed)
      }
      while start < changes.count {
        let change = changes[start]
        changes[start] = nil
        start += 1
        if case .presence(_, let member)? = change { presences[member.id] = nil }
        if let change {
          count -= 1
          bytes -= change.byteCount
        }
        if start == changes.count { removeAll() }
        if let change { return change }
      }
      return nil
    }

    private mutating func removeGaps() {
      changes = changes[start...].filter { $0 != nil }
      start = 0
      for (index, change) in changes.enumerated() {
        if case .presence(_, let member)? = change { presences[member.id] = index }
      }
    }

    private mutating func removeAll() {
      changes = []
      count = 0
      bytes = 0
      presences = [:]
      start = 0
    }
  }

  private let state = Locked(State())

  /// The number of elements in memory, including nil elements; for tests.
  var storedCount: Int { state.withLock { $0.changes.count } }

  func append(_ change: SharedBoard.Change) {
    let waiter: CheckedContinuation<SharedBoard.Change?, Never>? = state.withLock { state in
      guard !state.isFinished else { return nil }
      if state.waiter == nil { state.append(change) }
      return state.waiter.take()
    }
    waiter?.resume(returning: change)
  }

  func finish() {
    let waiter = state.withLock { state in
      state.isFinished = true
      return state.waiter.take()
    }
    waiter?.resume(returning: nil)
  }

  func next() async -> SharedBoard.Change? {
    await withCancellation {
      await withCheckedContinuation { continuation in
        let next: SharedBoard.Change?? = state.withLock { state in
          if let change = state.next() { return change }
          guard !state.isFinished, !Task.isCancelled else { return .some(nil) }
          precondition(state.waiter == nil, "only one task can iterate over a sequence of changes")
          state.waiter = continuation
          return nil
        }
        if let next { continuation.resume(returning: next) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiter.take() }
      waiter?.resume(returning: nil)
    }
  }
}

extension SharedBoard.Change {
  /// The approximate number of bytes of content that varies in size.
  fileprivate var byteCount: Int {
    switch self {
    case .added(let object, _), .changed(let object, _):
      (object.text?.utf8.count ?? 0) + (object.ink?.count ?? 0) * MemoryLayout<InkPoint>.stride
    case .message(let bytes, _, _): bytes.count
    case .chat(let line, _): line.text.utf8.count
    default: 0
    }
  }
}
