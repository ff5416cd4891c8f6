import Logging
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

/// Holds a joined peer's commands until the peer has the board of a member. Confined to the actor of its board.
final class CatchUp {
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let session: Session
  private let replica: Replica
  private let members: Members
  private var isCaughtUp = false
  /// The deadline for commands that wait for the board; nil until a command waits.
  private var deadline: ContinuousClock.Instant?
  private(set) var isHolding = false
  private let joined: ContinuousClock.Instant

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ session: Session,
    _ replica: Replica,
    members: Members
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.session = session
    self.replica = replica
    self.members = members
    joined = runtime.clock.now
  }

  /// Whether commands are held. Typed commands are not held, because the user sees the board's state.
  private var holdsCommands: Bool { configuration.isGuest && !configuration.isTyped }

  /// Waits until the requirement is met, if commands are held; returns the error that prevents the command from
  /// running.
  nonisolated(nonsending) func hold(for requirement: CommandRules.Requirement) async -> CommandError? {
    guard holdsCommands else { return nil }
    if !isMet(requirement) {
      let clock = runtime.clock
      let deadline = deadline ?? clock.now + configuration.catchUpTimeout
      self.deadline = deadline
      isHolding = true
      runtime.changed()
      let isReady = await runtime.wait(timeout: deadline - clock.now) { self.isMet(requirement) }
      isHolding = false
      guard isReady else {
        guard runtime.ending == nil else { return CommandError(.ending, "the program ends") }
        return CommandError(.notSynced, absence(after: configuration.catchUpTimeout))
      }
    }
    // If the board has arrived once, later commands need not wait, even if all members leave.
    if requirement == .board,
      let member = replica.members.first(where: { replica.hasSameContext(as: $0) && hasArrived(from: $0) })
    {
      caughtUp(with: member)
    }
    return nil
  }

  /// A member's answer was applied; only the first answer is reported.
  func caughtUp(with member: MemberID) {
    guard !isCaughtUp, hasArrived(from: member) else { return }
    isCaughtUp = true
    guard configuration.isGuest else { return runtime.report(.caughtUp) }
    let (name, count) = (members.name(of: PeerID(member)), replica.board.state.shownCount)
    runtime.report(.caughtUp, .init(member: member, name: name, count: count))
  }

  private func isMet(_ requirement: CommandRules.Requirement) -> Bool {
    switch requirement {
    case .nothing: true
    case .member: members.hasMet
    case .board: members.hasMet && hasBoard
    }
  }

  /// Whether the local replica has everything that at least one member had when it answered.
  var hasBoard: Bool {
    // A viewer does not answer requests, but an equal context proves that no change is missing.
    isCaughtUp || replica.members.contains { replica.hasSameContext(as: $0) && hasArrived(from: $0) }
  }

  /// Returns whether the board of a member counts as the whole board. An empty board may be that of a member that has
  /// just joined. Only the host and relays know whether the board itself is empty. If none of them is connected after a
  /// third of the time limit, an empty board of any member counts, because the host may have left.
  private func hasArrived(from member: MemberID) -> Bool {
    guard holdsCommands, replica.board.state.context == replica.board.written else { return true }
    let knowing = session.peers().map(\.peer).filter { $0.isRelay || $0.id == session.hostPeer }
    return knowing.contains { $0.id.bytes == member.bytes }
      || knowing.isEmpty && runtime.clock.now - joined >= configuration.catchUpTimeout / 3
  }

  /// Explains to the user why the board did not arrive in time.
  func absence(after limit: Duration) -> String {
    let seconds = Int(limit / .seconds(1))
    let names = members.map { EventText.shortName($0.value.name, $0.key.text) }
    if runtime.call({ $0.transfers.lacksSpace }) {
      return "the board has not arrived, because the disk has too little space; free some space, and try again"
    }
    let cause =
      names.isEmpty
      ? "no member is connected after \(seconds) s"
      : "\(names.joined(separator: ", ")) did not send the board within \(seconds) s, or does not have it yet"
    return "the board has not arrived yet: \(cause). Try again, wait longer (--sync-timeout SECONDS), "
      + "or use the copy on this computer (--offline)"
  }
}

extension SharedBoard.News.Remark {
  static func offline(_ boardName: String) -> Self {
    Self(
      code: "offline",
      message: "Offline: this is the copy of \(UntrustedText(boardName).quoted()) on this "
        + "computer. Others get your changes when you next open the board without --offline."
    )
  }
}

extension BoardConfiguration {
  var isGuest: Bool { if case .join = part { true } else { false } }
}
