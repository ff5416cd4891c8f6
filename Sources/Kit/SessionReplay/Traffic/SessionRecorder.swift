import PeerSession
import Whiteboard
import WhiteboardDocument

/// A recorder that writes the traffic of a program's session to a file.
///
/// The file is a recording without a board (`Protocol/recording.md`). ``Recording/open(_:)`` reads the file,
/// `whiteboard-replay log --wire` lists its content, and ``TrafficReplay`` replays the other peers. Traffic is written
/// to disk shortly after it occurs. If writing fails, the error is reported immediately, the data recorded before
/// remains valid, and the gap is marked.
public actor SessionRecorder {
  private let session: Session
  private let document: BoardDocument
  private let log: TrafficLog
  private let onFailure: @Sendable (DocumentError) -> Void
  /// The time at which recording began to fail, in milliseconds since 1970.
  private var missingSince: Int64?
  /// The error of the last attempt to write entries; `nil` if the attempt succeeded.
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

  /// Starts to record a session.
  ///
  /// Call this method before the program reads the first event.
  ///
  /// A session can have only one recorder at a time, because the recorder replaces the observer of the session's
  /// traffic.
  ///
  /// - Parameters:
  ///   - session: The session to record.
  ///   - name: The display name of the local peer in the session.
  ///   - path: The file, which must not exist yet.
  ///   - onFailure: A closure that is called with the error each time recording begins to fail.
  /// - Returns: The recorder, which records until ``stop()`` is called.
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

  /// The number of recorded entries.
  public private(set) var count = 0

  private func begin() {
    // `stop` waits for this task, which finishes when the log is finished.
    writer = Task { for await _ in log.arrivals { await self.write() } }
  }

  /// Pauses the recording.
  public func pause() async {
    await write()
    isPaused = true
    missingSince = missingSince ?? TrafficLog.wallClock()
  }

  /// Continues the recording.
  ///
  /// The pause remains part of the recording's duration.
  public func resume() async {
    // Discard the entries from the pause.
    _ = log.takeAll()
    isPaused = false
    await write()
  }

  /// Adds a marker at the current time.
  ///
  /// - Parameter name: The name of the marker, 1 to 128 bytes.
  /// - Throws: `badName` if the name is invalid; otherwise the reason why the marker could not be written.
  public func mark(_ name: String) async throws(DocumentError) {
    await write()
    try await document.append([.marker(name: PlainText.line(name), time: TrafficLog.wallClock())])
  }

  /// Ends the recording, and returns when the entire recording is on disk.
  ///
  /// - Throws: The reason why the end of the recording could not be written. The recording is valid up to that point.
  public func stop() async throws(DocumentError) {
    session.observeTraffic(nil)
    log.finish()
    await writer?.value
    await write()
    let failure = isPaused ? nil : failure
    // While the recording is paused or failing, do not extend the recording.
    let isRecording = !isPaused && failure == nil
    try await document.close(recordedUntil: isRecording ? TrafficLog.wallClock() : nil)
    if let failure { throw failure }
  }

  /// Lets tests simulate a full disk.
  package func limitPages() async throws(DocumentError) { _ = try await document.limitPages(to: 1) }

  private func write() async {
    let before = lastWrite
    // Write in a separate task. Later calls of this method wait for that task.
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
