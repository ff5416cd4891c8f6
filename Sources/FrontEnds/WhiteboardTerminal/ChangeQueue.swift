import PeerCore
import Whiteboard
import WhiteboardKit

/// The changes of the board that are not drawn yet, and the results of the user's commands. The board appends reports
/// at any time. If the queue becomes long, only the latest change of each object, member and photo remains.
final class ChangeQueue: Sendable {
  enum Report: Sendable {
    case change(SharedBoard.Change)
    case result(CommandOutcome, of: RequestMark)
  }

  private struct State {
    var reports: [Report] = []
    /// The index of the first report that was not removed.
    var first = 0
  }

  private let state = Locked(State())

  private static let limit = 4096

  func append(_ report: Report) {
    state.withLock { state in
      state.reports.append(report)
      let count = state.reports.count
      guard count >= Self.limit, count % Self.limit == 0 else { return }
      state.reports.removeFirst(state.first)
      state.first = 0
      Self.thinOut(&state.reports)
    }
  }

  func popFirst() -> Report? {
    state.withLock { state in
      guard state.first < state.reports.count else { return nil }
      defer {
        state.first += 1
        if state.first == state.reports.count { state = State() }
      }
      return state.reports[state.first]
    }
  }

  func removeAll() { state.withLock { $0 = State() } }

  private static func thinOut(_ reports: inout [Report]) {
    var objects: Set<ObjectID> = []
    var games: Set<ObjectID> = []
    var members: Set<MemberID> = []
    var photos: Set<AssetID> = []
    var isSavingSeen = false
    var latest: [Report] = []
    for report in reports.reversed() {
      let isLatest: Bool =
        switch report {
        case .change(.added(let snapshot, _)), .change(.changed(let snapshot, _)):
          objects.insert(snapshot.id).inserted
        case .change(.removed(let id, _)): objects.insert(id).inserted
        case .change(.selected(let id, _)): !objects.contains(id)
        case .change(.game(let game)): games.insert(game.id).inserted
        case .change(.preview(let preview)): !objects.contains(preview.stroke)
        case .change(.presence(_, let member)): members.insert(MemberID(member.id)).inserted
        case .change(.photo(let id)): photos.insert(id).inserted
        case .change(.saving): !isSavingSeen
        case .change, .result: true
        }
      if case .change(.saving) = report { isSavingSeen = true }
      if isLatest { latest.append(report) }
    }
    reports = latest.reversed()
  }
}
