import PeerSession
import Whiteboard
import WhiteboardDocument

/// Records what goes over a session of any program to a file, as the program sees it.
///
/// The file is a recording without a board (`Protocol/recording.md`): ``Recording/open(_:)`` reads it,
/// `whiteboard-replay log --wire` tells it, and ``TrafficReplay`` acts the other peers of it. What was recorded is
/// on the disk within moments; where that fails it is told at once, what was recorded before stays good, and what
/// is not recorded is marked.
public actor SessionRecorder {
  private let session: Session
  private let document: BoardDocument
  private let log: TrafficLog
  private let onFailure: @Sendable (DocumentError) -> Void
  /// Since when nothing was recorded, milliseconds since 1970; nil while all is.
  private var missingSince: Int64?
  /// The error that kept the last entries from being recorded; nil if there was none, and in a
  /// pause.
  public private(set) var failure: DocumentError?
  private var isPaused = false
  private var writer: Task<Void, Never>?
  private var lastWrite: Task<Void, Never>?

  private init(
    _ session: Session,
    _ document: BoardDocument,
    _ log: TrafficLog,
    _ onFailure: @escaping @Sendable (DocumentError) -> Void
  ) {
    self.session = session
    self.document = document
    self.log = log
    self.onFailure = onFailure
  }

  /// Begins to record a session, best before its first event is taken.
  ///
  /// The session has one recorder at a time, since it takes the place of who observes its traffic.
  ///
  /// - Parameters:
  ///   - session: Whose traffic.
  ///   - name: What we call ourselves there.
  ///   - path: The file, which is not there yet.
  ///   - onFailure: Is told why nothing is recorded for now, once each time.
  /// - Returns: The recorder, which records until it is told to stop.
  /// - Throws: `exists`, `full`, `readOnly`, `inputOutput`.
  public static func start(
    _ session: Session,
    as name: String,
    to path: String,
    onFailure: @escaping @Sendable (DocumentError) -> Void = { _ in }
  ) async throws(DocumentError) -> SessionRecorder {
    let log = TrafficLog(.all)
    let document = try await BoardDocument.create(
      at: path,
      board: session.id.bytes,
      name: "session",
      now: TrafficLog.wallClock()
    )
    let recorder = SessionRecorder(session, document, log, onFailure)
    log.begin(as: session.localPeer, named: name)
    session.observeTraffic { log.take($0) }
    await recorder.begin()
    return recorder
  }

  /// How many entries were recorded.
  public private(set) var count = 0

  private func begin() {
    // Ends when the log is finished, in `stop`.
    writer = Task { for await _ in log.arrivals { await self.write() } }
  }

  /// Records nothing from now on.
  public func pause() async {
    await write()
    isPaused = true
    missingSince = missingSince ?? TrafficLog.wallClock()
  }

  /// Records again; how long nothing was is in the recording.
  public func resume() async {
    // What came meanwhile is not recorded.
    _ = log.takeAll()
    isPaused = false
    await write()
  }

  /// Names this place of the recording.
  /// - Parameter name: 1 to 128 bytes.
  /// - Throws: `badName`; why it could not be written.
  public func mark(_ name: String) async throws(DocumentError) {
    await write()
    try await document.append([.marker(name: PlainText.line(name), time: TrafficLog.wallClock())])
  }

  /// Ends the recording, and returns when it is on the disk.
  /// - Throws: Why the end of it is not; what came before is.
  public func stop() async throws(DocumentError) {
    session.observeTraffic(nil)
    log.finish()
    await writer?.value
    await write()
    let failure = isPaused ? nil : failure
    // Do not extend the recording while it is paused or failing.
    let isRecording = !isPaused && failure == nil
    try await document.close(recordedUntil: isRecording ? TrafficLog.wallClock() : nil)
    if let failure { throw failure }
  }

  /// Has the disk be as full as it is; tests use it.
  package func limitPages() async throws(DocumentError) {
    _ = try await document.limitPages(to: 1)
  }

  /// Writes what waits, after whoever writes now.
  private func write() async {
    let before = lastWrite
    // Ends with what it writes.
    let task = Task {
      await before?.value
      await self.writeNow()
    }
    lastWrite = task
    await task.value
  }

  private func writeNow() async {
    guard !isPaused else { return }
    let entries = log.takeAll()
    let now = TrafficLog.wallClock()
    var written: [DocumentEntry] = entries.map { .traffic($0) }
    if let since = missingSince {
      written.insert(.traffic(.missed(from: since, to: entries.first?.time ?? now)), at: 0)
    }
    guard !written.isEmpty else { return }
    do throws(DocumentError) {
      try await document.append(written)
      count += entries.count
      missingSince = nil
      failure = nil
    } catch {
      missingSince = missingSince ?? entries.first?.time ?? now
      if failure == nil { onFailure(error) }
      failure = error
    }
  }
}
