import PeerCore
import Whiteboard
import WhiteboardKit

/// The changes of the board that are not drawn yet.
///
/// The board appends changes at any time. If the queue becomes long, only the latest change of each object, member and
/// photo remains.
final class ChangeQueue: Sendable {
  private struct State {
    var changes: [BoardChange] = []
    /// The index of the first change that was not removed.
    var first = 0
  }

  private let state = Locked(State())

  private static let limit = 4096

  func append(_ change: BoardChange) {
    state.withLock { state in
      state.changes.append(change)
      let count = state.changes.count
      guard count >= Self.limit, count % Self.limit == 0 else { return }
      state.changes.removeFirst(state.first)
      state.first = 0
      Self.thinOut(&state.changes)
    }
  }

  func popFirst() -> BoardChange? {
    state.withLock { state in
      guard state.first < state.changes.count else { return nil }
      defer {
        state.first += 1
        if state.first == state.changes.count { state = State() }
      }
      return state.changes[state.first]
    }
  }

  func removeAll() { state.withLock { $0 = State() } }

  private static func thinOut(_ changes: inout [BoardChange]) {
    var objects: Set<ObjectID> = []
    var members: Set<MemberID> = []
    var photos: Set<AssetID> = []
    var isSavingSeen = false
    var latest: [BoardChange] = []
    for change in changes.reversed() {
      let isLatest: Bool =
        switch change {
        case .shown(let snapshot, _): objects.insert(snapshot.id).inserted
        case .removed(let id): objects.insert(id).inserted
        case .preview(let preview): !objects.contains(preview.stroke)
        case .presence(let member, _): members.insert(member).inserted
        case .photo(let id): photos.insert(id).inserted
        case .saving: !isSavingSeen
        }
      if case .saving = change { isSavingSeen = true }
      if isLatest { latest.append(change) }
    }
    changes = latest.reversed()
  }
}
