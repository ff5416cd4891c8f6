import PeerCore
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

extension SharedBoard {
  /// Whether the local peer requested the offered resource: an answer (SYN-13) or an asset (SYN-37).
  package func isRequested(_ info: ResourceInfo) -> Bool { transfers.isRequested(info) }

  /// Decides whether to accept a resource that the local peer did not request (SYN-13, SYN-37, RES-8). If the
  /// configuration requires it, asks the user and waits for the answer until the task is canceled.
  package func wants(_ info: ResourceInfo) async -> Bool { await transfers.wants(info) }

  func offerEnded(_ id: TransferID, _ number: Int) { transfers.offerEnded(id, number) }

  package var saveState: SaveState { persistence.state }

  /// The size of the board's file in bytes, with the write-ahead log; nil if there is no file.
  package var documentSize: Int? {
    guard let path = persistence.document?.path else { return nil }
    return (FileReading.size(path) ?? 0) + (FileReading.size(path + "-wal") ?? 0)
  }

  /// Deletes old history, and frees its disk space. The board remains usable. If the disk has too little free space,
  /// throws and leaves the history unchanged.
  package func compactDocument(keeping days: Int? = nil) async throws(WhiteboardError) {
    guard let document = persistence.document else { throw WhiteboardError(.timedOut, "the board is not open") }
    do throws(DocumentError) { try await document.compact(now: BoardFile.now, keeping: days) } catch {
      throw WhiteboardError(error)
    }
  }

  package func relayTally() async -> RelayTally { await session?.relayTally() ?? RelayTally() }

  /// Asks another relay to keep this hosted board online too. From then on, the session stays connected to that relay.
  /// Throws `notConnected` if the board is not open, and the errors of ``Session/carry(by:relay:terms:)``.
  package func keep(at relay: PeerID, _ addresses: [PeerAddress]) async throws(SessionError) {
    guard let board = serving?.board else { throw SessionError(.notConnected, "The board is not open.") }
    let terms = CarryTerms(name: board.name, admission: board.policy)
    _ = try await board.session.carry(by: addresses, relay: relay, terms: terms)
    serving?.active.roles.admit(relay: relay)
  }

  /// The members that are connected now.
  package var reachedPeers: Set<PeerID> { Set(members.filter(\.value.isReached).map(\.key)) }

  /// Recommends other relays to the host of a board that this program relays (RLY-22).
  package func recommend(_ relays: [PeerID: [PeerAddress]]) { session?.recommend(relays) }

  // MARK: - Photos

  /// Returns the path of a photo's file; nil if there is no photo. The file exists until ``closePhoto(_:)``. Each call
  /// needs a matching call of ``closePhoto(_:)``, even if the result is nil.
  package func openPhoto(_ id: AssetID) async -> String? { await photos.open(id) }

  /// Releases a photo's file; call this once for each ``openPhoto(_:)``.
  package func closePhoto(_ id: AssetID) { photos.close(id) }

  // MARK: - Recordings

  package var isRecordingPaused: Bool { persistence.queue.isPaused }

  /// Pauses recording until ``resumeRecording()``. The next keyframe contains the changes made in between. If earlier
  /// changes cannot be written, throws, and recording continues.
  package func pauseRecording() async throws(DocumentError) { try await persistence.pauseRecording() }

  /// Resumes recording with a keyframe of the current board. If the keyframe cannot be written, throws, and the
  /// keyframe is written later.
  package func resumeRecording() async throws(DocumentError) { try await persistence.resumeRecording() }

  /// Throws if the name is too long or already in use, or the marker cannot be written.
  package func markRecording(_ name: String) async throws(DocumentError) { try await persistence.addMarker(name) }

  package var presentNames: [UntrustedText] { members.ids.compactMap { members[$0]?.name } }

  package var recordedChanges: Int { persistence.queue.changes }

  // MARK: - Members and the end

  package func invite(_ terms: InvitationTerms) async throws(CommandError) -> SharedBoard.News.Invited {
    guard let board else { throw CommandError(.notConnected, "the board is not open") }
    guard terms.isValid else {
      throw CommandError(.refused, "a code or link is valid for at least one second and at most 30 days")
    }
    return terms.isForBrowsers
      ? try await board.browsers.invite(terms) : try await board.admission.invite(terms)
  }

  /// Stores a drawing from the system clipboard, which `paste` then adds; returns the problem if storing fails.
  package func storeCopies(_ drawing: String) async -> String? { await board?.files.storeCopies(drawing) }

  package func revokeBrowsers() async { await board?.browsers.revokeAll() }

  package func changeRole(of target: String, to role: BoardRole) throws(CommandError) {
    guard let board else { throw CommandError(.notConnected, "no other member is connected") }
    try board.roles.change(target, to: role)
  }

  /// Removes a peer, and revokes the rights that the peer was granted. Returns the event with the new join code; nil if
  /// the board has no code or keeps its code. Throws if no peer matches, or another peer is the host.
  package func kick(_ target: String, reason: String, withAdmitted: Bool = false, keepsCode: Bool = false)
    async throws(CommandError) -> SharedBoard.News.Invited?
  {
    guard let board else { throw CommandError(.notConnected, "no other member is connected") }
    return try await board.admission.kick(
      target,
      reason: reason,
      withAdmitted: withAdmitted,
      keepsCode: keepsCode,
      request: nil
    )
  }

  /// Closes the board at the user's request; returns whether the board closes. If closing would lose work, the first
  /// request only warns.
  package func requestEndUnlessUnsaved() async -> Bool {
    if ending == nil, !persistence.wasAskedBeforeEnding, await persistence.wouldLoseWork() {
      persistence.wasAskedBeforeEnding = true
      emit(.warning(.init(code: "quit-unsaved", message: persistence.unsavedAdvice)))
      return false
    }
    requestEnd()
    return true
  }

  package var refusals: Refusals { replica?.refusals ?? Refusals() }
}

extension TransportConfiguration {
  package mutating func askBoards(_ board: @escaping @Sendable (SessionID) async -> SharedBoard?) {
    isRequestedResource = { await board($0)?.isRequested($1) ?? false }
    wantsResource = { await board($0)?.wants($1) ?? false }
    isTemporaryResource = { ResourceContent(named: $0.raw).isAnswer }
  }
}

struct ReferenceResolver<Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    let id: String
    let names: [UntrustedText]
    let value: Value
  }

  private var entries: [Entry] = []

  static var shortestPrefix: Int { 4 }

  /// Adds a target; several targets can have the same name.
  mutating func add(id: String, names: [UntrustedText], value: Value) {
    entries.append(Entry(id: id, names: names, value: value))
  }

  /// Finds a target by its id, by a unique id prefix, or by a unique name, in this order. Throws ``CommandError`` with
  /// the code `ambiguous` if several targets match, or `missing` if no target matches. Ids have precedence over names.
  /// Otherwise, a member could choose another member's id as its name, and receive messages for that member.
  func find(_ word: String, what: String, missing: CommandError.Code) throws(CommandError) -> Value {
    let lower = word.lowercased()
    if let exact = entries.first(where: { $0.id == lower }) { return exact.value }
    if word.utf8.count >= Self.shortestPrefix {
      let starts = entries.filter { $0.id.hasPrefix(lower) }
      if starts.count == 1 { return starts[0].value }
      guard starts.isEmpty else {
        throw CommandError(
          .ambiguous,
          "\(starts.count) of the \(what)s start with \(UntrustedText(word).quoted()); give more of the id"
        )
      }
    }
    for isSame in [{ $0 == word }, { $0.lowercased() == lower }] as [(String) -> Bool] {
      let named = entries.filter { $0.names.contains { isSame($0.raw) } }
      if named.count == 1 { return named[0].value }
      guard named.isEmpty else {
        throw CommandError(
          .ambiguous,
          "\(named.count) \(what)s are called \(UntrustedText(word).quoted()); give the id of one"
        )
      }
    }
    let known =
      entries.isEmpty
      ? "there is none"
      : "there is "
        + entries.prefix(4).map { entry in
          let name = entry.names.first?.displayed(width: 32) ?? ""
          return name.isEmpty ? String(entry.id.prefix(8)) : "\(name) (\(entry.id.prefix(8)))"
        }.joined(separator: ", ")
    throw CommandError(missing, "no \(what) is called \(UntrustedText(word).quoted()); \(known)")
  }
}
