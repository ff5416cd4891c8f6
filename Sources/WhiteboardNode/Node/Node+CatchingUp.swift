import PeerSession
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

/// Commands of a peer that joined are held until it has the board as at least one member has it.
extension Node {
  /// Whether this is another peer's board.
  var isGuest: Bool {
    if case .join = configuration.part { true } else { false }
  }

  /// Whether commands are held: a person who types sees the state instead.
  private var holdsCommands: Bool { isGuest && !configuration.isTyped }

  /// Whether what a command needs is here.
  private func has(_ requirement: CommandRequirement) -> Bool {
    switch requirement {
    case .nothing: true
    case .member: hasMet
    case .board: hasMet && hasBoard
    }
  }

  /// Whether this replica has everything that at least one member had when it answered.
  private var hasBoard: Bool {
    guard let replica else { return false }
    // A viewer answers no request, but its context shows that nothing is lacking.
    return isCaughtUp || replica.members.contains { replica.hasSameContext(as: $0) }
  }

  /// Waits until what a command needs is here, if commands are held.
  ///
  /// - Parameter requirement: What the command needs.
  /// - Returns: Why the command must not run; nil when it may.
  func hold(for requirement: CommandRequirement) async -> VerbError? {
    guard holdsCommands else { return nil }
    if !has(requirement) {
      let deadline = catchUpDeadline ?? clock.now + configuration.catchUpTimeout
      catchUpDeadline = deadline
      isHolding = true
      changed()
      let isHere = await wait(timeout: deadline - clock.now) { $0.has(requirement) }
      isHolding = false
      guard isHere else {
        guard ending == nil else { return VerbError(.ending, "the program ends") }
        return VerbError(.notSynced, notHere)
      }
    }
    // The board that a command saw is here, also if all members leave before the next command.
    if requirement == .board, let replica,
      let member = replica.members.first(where: { replica.hasSameContext(as: $0) })
    {
      caughtUp(with: member)
    }
    return nil
  }

  /// Why the board is not here, and what to do.
  private var notHere: String {
    let seconds = Int(configuration.catchUpTimeout / .seconds(1))
    let names = members.sorted { $0.key < $1.key }.map {
      EventText.shortName($0.value.name, $0.key.text)
    }
    let cause =
      names.isEmpty
      ? "no member is connected after \(seconds) s"
      : "\(names.joined(separator: ", ")) did not send it within \(seconds) s"
    return "the board is not here yet: \(cause). Try again, wait longer (--sync-timeout SECONDS), "
      + "or use the copy on this computer (--offline)"
  }

  /// Records that a member's answer is applied, and reports the first one.
  func caughtUp(with member: MemberID) {
    guard !isCaughtUp else { return }
    isCaughtUp = true
    guard isGuest, let peer = PeerID(bytes: member.bytes) else { return }
    emit(
      .caughtUp(
        .init(
          peer: peer.text,
          name: members[peer]?.name ?? "",
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
