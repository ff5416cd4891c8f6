import PeerSession
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// What who records a board does with the recording while it is made.
extension Node {
  /// Whether nothing is recorded for now.
  package var isRecordingPaused: Bool { keeper.isPaused }

  /// Records nothing from now on, until ``resumeRecording()``; what happens meanwhile is not in the recording,
  /// only what the board is after it.
  ///
  /// - Throws: Why what came before could not be written; then it goes on.
  package func pauseRecording() async throws(DocumentError) {
    guard !keeper.isPaused else { return }
    try await keepAll()
    keeper.pause(now: BoardFile.now)
  }

  /// Records again, after the whole board as it is by now.
  ///
  /// - Throws: Why that could not be written; it is tried again by itself.
  package func resumeRecording() async throws(DocumentError) {
    guard keeper.isPaused else { return }
    keeper.resume()
    await keepKeyframe()
    if let failure = keeper.failure { throw failure }
  }

  /// Names this place of the recording.
  ///
  /// - Parameter name: 1 to 128 bytes.
  /// - Throws: `badName`, also where another place has that name; why it could not be written.
  package func markRecording(_ name: String) async throws(DocumentError) {
    guard let document else { throw DocumentError(.closed, "nothing is recorded yet, or any more") }
    let name = PlainText.line(name)
    for case .marker(name, _) in try await document.marks() {
      throw DocumentError(.badName, "there is a marker of that name; choose another")
    }
    if !keeper.isPaused { try await keepAll() }
    try await document.append([.marker(name: name, time: BoardFile.now)])
  }

  /// What those who are there call themselves; text of theirs.
  package var presentNames: [String] {
    members.keys.sorted().compactMap { members[$0]?.name }
  }

  /// How much was recorded, in changes of the board.
  package var recordedChanges: Int { keeper.changes }

  /// Keeps what somebody calls themselves, where that is new.
  func keepName(_ name: String, of member: String) {
    guard !name.isEmpty, keptNames.updateValue(name, forKey: member) != name else { return }
    keeper.record(.name(name, of: member))
    writeDocument()
  }

  /// Reads what members called themselves in earlier runs.
  func loadNames() async {
    // Without the names the list of boards shows ids, until the members are here again.
    guard let names = try? await document?.memberNames() else { return }
    keptNames.merge(names) { current, _ in current }
  }

  /// Has what comes and goes in the session recorded from now on, where that is wanted.
  func recordTraffic(of session: Session) {
    guard let scope = configuration.recordedTraffic else { return }
    let log = TrafficLog(scope)
    log.begin(as: configuration.identity.peerID, named: ownName)
    session.observeTraffic { log.take($0) }
    traffic = log
  }

  /// Keeps what came and went since the last call.
  func keepTraffic() {
    guard let entries = traffic?.takeAll(), !entries.isEmpty else { return }
    for entry in entries { keeper.record(.traffic(entry)) }
    writeDocument()
  }
}
