import Logging
import PeerSession
import WhiteboardDocument
import WhiteboardRendering

/// What a person sees whom the host removed from the board, and what they can still do with their copy.
///
/// The decision is stored with the board. The session alone decides that the peer is removed: on an owned board
/// the revocation of its role may arrive before or after, or never.
extension Node {
  /// Takes the host's decision that this peer is no longer a member; a repeated one changes nothing.
  ///
  /// - Parameters:
  ///   - host: The host.
  ///   - reason: The host's reason, cleaned.
  func wasRemoved(by host: PeerID, reason: String) {
    guard removal == nil else { return }
    let name = members[host]?.name ?? persistence.names[host.text] ?? ""
    let removal = Removal(by: host.text, name: name, reason: reason)
    self.removal = removal
    // What was being drawn stays, as far as it was drawn.
    _ = try? editor?.endStroke()
    emit(.removed(described(removal)))
    spawn { node in await node.storeRemoval() }
    changed()
  }

  /// Reports that a member which is not the host says that the host removed this peer.
  ///
  /// Such a member only repeats what it heard, so that nothing follows from it but that it is gone.
  func refused(by member: PeerID, because error: SessionError) {
    let why = error.remark.isEmpty ? "" : ": \(TerminalText.cleaned(error.remark, limit: 512))"
    emit(
      .warning(
        .init(
          code: "removed-says",
          message:
            "\(members.label(of: member)) says that the host removed you from this board\(why). "
            + "Your changes do not reach it any more.",
          peer: member.text
        )
      )
    )
  }

  /// The host admitted this peer again: it is a member like before.
  func wasReadmitted() {
    guard removal != nil else { return }
    removal = nil
    spawn { node in await node.storeRemoval() }
  }

  /// The decision as events tell it.
  func described(_ removal: Removal) -> NodeEvent.Removed {
    let kept =
      configuration.remembersBoards
      ? "Your copy is kept." : "No copy is kept here (--ephemeral); `save-as` writes one."
    return NodeEvent.Removed(
      peer: removal.by,
      name: removal.name,
      reason: removal.reason.isEmpty ? nil : removal.reason,
      message: "\(removal.sentence) \(kept)",
      readOnly: !removal.isContinued,
      canContinue: !isOwnedByAnother
    )
  }

  /// Whether another person owns the board, so that nothing written here could ever count.
  private var isOwnedByAnother: Bool { replica?.isOwned == true && replica?.mayGrant != true }

  /// Stores the present state of the decision with the board.
  private func storeRemoval() async {
    guard let document = persistence.document, configuration.recordingFile == nil else { return }
    do throws(DocumentError) {
      try await document.setRemoval(removal?.json)
    } catch {
      // The host refuses this peer again when the board is next opened, and so it is learned anew.
      configuration.logger.warning(
        "A removal was not stored.",
        metadata: ["reason": "\(error.message)"]
      )
    }
  }

  /// Checks that a command may change the board.
  ///
  /// - Throws: ``CommandError`` with the code `removed` if the copy is read-only.
  func checkMayChange() throws(CommandError) {
    guard let removal, !removal.isContinued else { return }
    throw CommandError(
      .removed,
      isOwnedByAnother
        ? "read-only: \(removal.host) removed you and owns this board; "
          + "`whiteboard-peer boards duplicate` makes one of your own"
        : "read-only: \(removal.host) removed you; `continue` goes on with your own copy"
    )
  }

  /// Makes the copy of a board from which this peer was removed one that may be changed.
  ///
  /// - Throws: ``CommandError`` if this peer was not removed, or another person owns the board.
  func continueAlone() async throws(CommandError) {
    guard let removal else {
      throw CommandError(
        .refused,
        "the host did not remove you from this board, so you can change it already"
      )
    }
    guard !isOwnedByAnother else { return try checkMayChange() }
    guard !removal.isContinued else { return }
    self.removal?.isContinued = true
    await storeRemoval()
    if let removal = self.removal { emit(.removed(described(removal))) }
    emit(
      .note(
        .init(
          code: "continued",
          message: "This is your own copy now. The others do not get your changes."
        )
      )
    )
  }

  /// Explains a refusal by the host of a board from which this peer was removed, and stores it with the copy.
  ///
  /// - Parameters:
  ///   - error: The refusal.
  ///   - request: The request that was refused.
  ///   - hostName: The name of the peer that was asked; may be empty.
  /// - Returns: The end of the program.
  func refusedAsRemoved(
    _ error: SessionError,
    _ request: JoinRequest,
    _ hostName: String
  ) async -> NodeError {
    let record = request.membership
    // A member that is not the host only repeats what it heard.
    let speaksForHost =
      record.map { record in
        request.peer.map { peer in
          peer == record.host || record.members.contains { $0.peer == peer && $0.isRelay }
        } ?? true
      } ?? true
    let host = record?.host ?? request.peer
    let name =
      host == request.peer && !hostName.isEmpty
      ? hostName : record?.members.first { $0.peer == host }?.name.raw ?? ""
    var removal = Removal(by: host?.text ?? "", name: name, reason: error.remark)
    var copy: String?
    if speaksForHost, let board = request.session, configuration.remembersBoards,
      configuration.recordingFile == nil
    {
      (removal, copy) = await storeRemoval(removal, ofCopyOf: board)
    }
    guard let copy else {
      let message =
        speaksForHost
        ? removal.sentence
        : "\(EventText.shortName(hostName, request.peer?.text ?? "A member")) says that the host removed "
          + "you from this board."
      return NodeError(.notAllowed, message, isRemoval: true)
    }
    return NodeError(
      .notAllowed,
      "\(removal.sentence) Your copy is kept; to open it: "
        + "whiteboard-peer join --offline \(TerminalText.quoted(copy))",
      isRemoval: true
    )
  }

  /// Stores a removal with the copy of a board that is not open.
  ///
  /// - Returns: The removal as it is stored, and the name of the board; nil if there is no copy.
  private func storeRemoval(
    _ removal: Removal,
    ofCopyOf board: SessionID
  ) async -> (Removal, name: String?) {
    let library = BoardLibrary(directory: configuration.boardsDirectory)
    guard let file = try? await library.file(of: board.bytes),
      let document = try? await BoardDocument.open(at: file, mode: .writing)
    else { return (removal, nil) }
    let name = try? await document.name()
    var stored = removal
    if var earlier = await document.hostRemoval() {
      if earlier.name.isEmpty { earlier.name = removal.name }
      stored = earlier
    } else {
      try? await document.setRemoval(removal.json)
    }
    try? await document.close()
    return (stored, name)
  }
}
