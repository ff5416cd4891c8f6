import FoundationEssentials
import Logging
import PeerCore
import PeerSession
import WhiteboardDocument

/// Handles the removal of the local peer by the host, and the user's choice to continue with the local copy of the
/// board. The removal is stored with the board. Only the session determines that the peer was removed. On an owned
/// board, the revocation of the peer's role may arrive earlier, later or never. Confined to the actor of its board.
final class LocalRemoval {
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let members: Members
  private let persistence: Persistence
  private(set) var removal: Removal?

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration, members: Members, persistence: Persistence) {
    self.runtime = runtime
    self.configuration = configuration
    self.members = members
    self.persistence = persistence
  }

  // MARK: - The decision

  func removed(by host: PeerID, reason: UntrustedText) {
    guard removal == nil else { return }
    let name = members[host]?.name ?? persistence.names[host.text] ?? UntrustedText("")
    let removal = Removal(by: host.text, name: name, reason: reason)
    self.removal = removal
    // End the current stroke, so that the points drawn so far stay on the board.
    runtime.call { _ = try? $0.board?.editor.liftPen() }
    runtime.emit(.removed(description(of: removal)))
    runtime.spawn { sharedBoard in await sharedBoard.localRemoval.store() }
    runtime.changed()
  }

  func readmitted() {
    guard removal != nil else { return }
    removal = nil
    runtime.spawn { sharedBoard in await sharedBoard.localRemoval.store() }
  }

  /// Reports that a member refused the local peer because of a removal. The member only repeats what it received, so
  /// the local peer is not treated as removed.
  func reportRefusal(by member: PeerID, because error: SessionError) {
    let why = error.remark.isEmpty ? "" : ": \(UntrustedText(error.remark).escaped(limit: 512))"
    runtime.emit(
      .warning(
        .init(
          code: "removed-says",
          message: "\(members.label(of: member)) says that the host removed you from this board\(why). "
            + "That member no longer receives your changes.",
          peer: member.text
        )
      )
    )
  }

  var event: SharedBoard.News.Removed? { removal.map { description(of: $0) } }

  private func description(of removal: Removal) -> SharedBoard.News.Removed {
    let copy =
      configuration.remembersBoards
      ? "Your copy is kept." : "Your copy is not saved (--ephemeral); `save-as FILE` saves it."
    return SharedBoard.News.Removed(
      peer: removal.by,
      name: removal.name,
      reason: removal.reason.isEmpty ? nil : removal.reason,
      message: "\(removal.sentence) \(copy)",
      readOnly: !removal.isContinued,
      canContinue: !isOwnedByAnother
    )
  }

  /// If another user owns the board, local edits can never become valid.
  private var isOwnedByAnother: Bool {
    runtime.call { sharedBoard in sharedBoard.replica.map { $0.isOwned && !$0.mayGrant } ?? false }
  }

  // MARK: - The copy

  func checkMayChange() throws(CommandError) {
    guard let removal, !removal.isContinued else { return }
    throw CommandError(
      .removed,
      isOwnedByAnother
        ? "read-only: \(removal.host) removed you and owns this board; "
          + "`whiteboard-peer boards duplicate` makes a board of your own"
        : "read-only: \(removal.host) removed you; use `continue` to edit your own copy"
    )
  }

  nonisolated(nonsending) func continueAlone() async throws(CommandError) {
    guard let removal else {
      throw CommandError(
        .refused,
        "the host has not removed you from this board, so you can edit it without `continue`"
      )
    }
    guard !isOwnedByAnother else { return try checkMayChange() }
    guard !removal.isContinued else { return }
    self.removal?.isContinued = true
    await store()
    if let event { runtime.emit(.removed(event)) }
    runtime.emit(
      .note(
        .init(code: "continued", message: "This is your own copy now. The other members do not receive your changes.")
      )
    )
  }

  // MARK: - Storage

  nonisolated(nonsending) func load(from document: BoardDocument) async {
    defer { checkIsolation(#isolation) }
    removal = await document.hostRemoval()
  }

  /// Call this method when the host has admitted the local peer again.
  nonisolated(nonsending) func clear(in document: BoardDocument) async throws(DocumentError) {
    defer { checkIsolation(#isolation) }
    removal = nil
    try await document.setFact(.removal, nil)
  }

  private nonisolated(nonsending) func store() async {
    defer { checkIsolation(#isolation) }
    guard let document = persistence.document, configuration.recordingFile == nil else { return }
    do throws(DocumentError) { try await document.setFact(.removal, removal?.json) } catch {
      // When the board is next opened, the host refuses the local peer. The local peer then learns of the removal
      // again.
      configuration.logger.warning("A removal was not stored.", metadata: ["reason": "\(error.message)"])
    }
  }

  // MARK: - Refused joins

  /// Explains that the host removed the local peer, and stores the removal with the local copy.
  nonisolated(nonsending) func explanation(of error: SessionError, _ request: JoinRequest, _ hostName: UntrustedText)
    async -> WhiteboardError
  {
    let record = request.membership
    // A member other than the host only repeats what it received.
    let speaksForHost =
      record.map { record in
        request.peer.map { peer in
          request.session.map { $0.mayBeHosted(by: record.host) } ?? true
            && (peer == record.host || record.members.contains { $0.peer == peer && $0.isRelay })
        } ?? true
      } ?? true
    let host = record?.host ?? request.peer
    let name =
      host == request.peer && !hostName.isEmpty
      ? hostName : record?.members.first { $0.peer == host }?.name ?? UntrustedText("")
    var removal = Removal(by: host?.text ?? "", name: name, reason: UntrustedText(error.remark))
    var copy: String?
    if speaksForHost, let board = request.session, configuration.remembersBoards, configuration.recordingFile == nil {
      (removal, copy) = await store(removal, withCopyOf: board)
    }
    guard let copy else {
      let message =
        speaksForHost
        ? removal.sentence
        : "\(EventText.shortName(hostName, request.peer?.text ?? "A member")) says that the host removed "
          + "you from this board."
      return WhiteboardError(.notAllowed, message, isRemoval: true)
    }
    return WhiteboardError(
      .notAllowed,
      "\(removal.sentence) Your copy is kept; to open it: "
        + "whiteboard-peer join --offline \(UntrustedText(copy).quoted())",
      isRemoval: true
    )
  }

  /// Stores a removal with the copy of a board that is not open. Returns the removal that is stored now, and the
  /// board's name if there is a copy.
  private nonisolated(nonsending) func store(_ removal: Removal, withCopyOf board: SessionID) async -> (
    Removal, name: String?
  ) {
    let library = configuration.boardLibrary
    guard let file = try? await library.file(of: board.bytes),
      let document = try? await BoardDocument.open(at: file, mode: .writing, seal: library.seal(forFile: file))
    else { return (removal, nil) }
    let name = try? await document.name()
    var stored = removal
    if var earlier = await document.hostRemoval() {
      if earlier.name.isEmpty { earlier.name = removal.name }
      stored = earlier
    } else {
      try? await document.setFact(.removal, removal.json)
    }
    try? await document.close()
    return (stored, name)
  }
}

package struct Removal: Codable, Equatable, Sendable {
  package var by: String
  /// The host's display name, which is not authenticated; empty if unknown.
  package var name: UntrustedText
  package var reason: UntrustedText
  /// The time of the removal, in milliseconds since 1970.
  package var at: UInt64
  /// Whether the user chose to continue with the local copy, so that it can be changed.
  package var isContinued = false

  package var host: String { name.isEmpty ? "The host" : EventText.shortName(name, by) }

  package var sentence: String {
    let words = reason.escaped(limit: EventText.wordsLimit)
    guard let last = words.last else { return "\(host) removed you from this board." }
    return "\(host) removed you from this board: \(words)\(".!?…".contains(last) ? "" : ".")"
  }

  init?(json: String) {
    guard let read = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
    self = read
  }

  init(by: String, name: UntrustedText, reason: UntrustedText) {
    self.by = by
    self.name = name
    self.reason = reason
    at = SystemTime.milliseconds
  }

  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      preconditionFailure("strings, numbers and flags can be encoded as JSON")
    }
    return String(decoding: data, as: UTF8.self)
  }
}

extension SharedBoard.News {
  package struct Removed: Sendable, Equatable {
    package var peer: String
    package var name: UntrustedText
    package var reason: UntrustedText?
    package var message: String
    package var readOnly: Bool
    package var canContinue: Bool
  }
}

extension EventText {
  package static let continueAdvice =
    "The board is read-only. To edit your copy without the other members, use `continue`."
  package static let ownedAdvice =
    "The board stays read-only, because the host owns it: `whiteboard-peer boards duplicate` "
    + "makes a board of your own from it."
}
