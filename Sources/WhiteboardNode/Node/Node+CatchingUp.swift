import PeerSession
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

/// Holding the commands of a joined peer until it has the board of at least one member.
extension Node {
  /// Whether this is another peer's board.
  var isGuest: Bool {
    if case .join = configuration.part { true } else { false }
  }

  /// Whether commands are held; a user who types sees the state instead.
  private var holdsCommands: Bool { isGuest && !configuration.isTyped }

  /// Whether the requirement of a command is met.
  private func has(_ requirement: CommandRules.Requirement) -> Bool {
    switch requirement {
    case .nothing: true
    case .member: members.hasMet
    case .board: members.hasMet && hasBoard
    }
  }

  /// Whether this replica has everything that at least one member had when it answered.
  private var hasBoard: Bool {
    guard let replica else { return false }
    // A viewer answers no request, but an equal context proves that no change is missing.
    return isCaughtUp
      || replica.members.contains { replica.hasSameContext(as: $0) && hasArrived(from: $0) }
  }

  /// Whether the board of a member can be taken for the whole board.
  ///
  /// A member that has just joined has an empty board, too. Only the host and relays know whether
  /// the board itself is empty.
  private func hasArrived(from member: MemberID) -> Bool {
    guard holdsCommands, let replica, let session,
      replica.board.state.context == replica.board.written
    else { return true }
    return session.hostPeer.bytes == member.bytes
      || session.peers().contains { $0.peer.isRelay && $0.peer.id.bytes == member.bytes }
  }

  /// If commands are held, waits until the requirement of a command is met.
  ///
  /// - Parameter requirement: The requirement.
  /// - Returns: The error that keeps the command from running; nil if it may run.
  func hold(for requirement: CommandRules.Requirement) async -> CommandError? {
    guard holdsCommands else { return nil }
    if !has(requirement) {
      let deadline = catchUpDeadline ?? clock.now + configuration.catchUpTimeout
      catchUpDeadline = deadline
      isHolding = true
      changed()
      let isHere = await wait(timeout: deadline - clock.now) { self.has(requirement) }
      isHolding = false
      guard isHere else {
        guard ending == nil else { return CommandError(.ending, "the program ends") }
        return CommandError(.notSynced, notHere)
      }
    }
    // Once a command has seen the board, later commands need not wait, even if all members leave.
    if requirement == .board, let replica,
      let member = replica.members.first(where: {
        replica.hasSameContext(as: $0) && hasArrived(from: $0)
      })
    {
      caughtUp(with: member)
    }
    return nil
  }

  /// The message that the board did not arrive, with the remedy.
  private var notHere: String {
    let seconds = Int(configuration.catchUpTimeout / .seconds(1))
    let names = members.map {
      EventText.shortName($0.value.name, $0.key.text)
    }
    let cause =
      names.isEmpty
      ? "no member is connected after \(seconds) s"
      : "\(names.joined(separator: ", ")) did not send it, or had nothing yet, within \(seconds) s"
    return "the board is not here yet: \(cause). Try again, wait longer (--sync-timeout SECONDS), "
      + "or use the copy on this computer (--offline)"
  }

  /// Records that a member's answer is applied, and reports the first one.
  func caughtUp(with member: MemberID) {
    guard !isCaughtUp, hasArrived(from: member) else { return }
    isCaughtUp = true
    guard isGuest, let peer = PeerID(bytes: member.bytes) else { return }
    emit(
      .caughtUp(
        .init(
          peer: peer.text,
          name: members.name(of: peer),
          objects: replica?.board.objectIDs.count ?? 0
        )
      )
    )
  }

  /// Reports that the copy on this computer is used.
  func tellOffline() {
    guard configuration.isOffline else { return }
    emit(
      .note(
        .init(
          code: "offline",
          message: "Offline: this is the copy of \(TerminalText.quoted(boardName)) on this "
            + "computer. Others get your changes when you next open the board without --offline."
        )
      )
    )
  }
}
