import PeerSession

/// A peer of a recorded session that is replayed against a program. The peer stores data from the program until the
/// replay reaches the corresponding entry. Only one task at a time may call the methods.
actor ReplayedPeer {
  private let peer: PeerID
  private let transport: PeerTransport
  private let request: JoinRequest
  private let patience: Duration
  private var session: Session?
  private var tasks: [Task<Void, Never>] = []
  private var messages: [[UInt8]] = []
  private var resources: [ResourceInfo] = []
  private var unnamed: [PeerStream] = []
  private var streams: [UInt64: PeerStream] = [:]
  private var received: [TransferID: [UInt8]] = [:]
  private var ended: Set<TransferID> = []
  private var waiter: CheckedContinuation<Void, Never>?

  init(_ peer: PeerID, _ transport: PeerTransport, _ request: JoinRequest, _ patience: Duration) {
    self.peer = peer
    self.transport = transport
    self.request = request
    self.patience = patience
  }

  // MARK: - Joining and leaving

  func join() async throws {
    guard session == nil else { return }
    let session = try await transport.join(request) { _ in true }
    self.session = session
    // `leave` waits for this task, which ends when the session ends.
    tasks.append(Task { await self.follow(session) })
  }

  func leave() async {
    guard let session else { return }
    self.session = nil
    await session.leave()
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    tasks = []
    (streams, unnamed, received, ended) = ([:], [], [:], [])
  }

  private func follow(_ session: Session) async {
    let program = session.hostPeer
    for await event in session.events {
      switch event {
      case .message(let bytes, let peer) where peer == program: messages.append(bytes)
      case .resourceStarted(let info) where info.peer == program && info.direction == .incoming: resources.append(info)
      case .streamOpened(let stream) where stream.peer == program:
        unnamed.append(stream)
        listen(to: stream)
      default: continue
      }
      wake()
    }
  }

  private func listen(to stream: PeerStream) {
    // `leave` waits for this task, which ends when the stream or the session ends.
    tasks.append(
      Task {
        let id = stream.id
        do { for try await bytes in stream.inbound { self.heard(bytes, on: id) } } catch {
          // A stream that broke is compared like a stream that ended.
        }
        self.heardAll(on: id)
      }
    )
  }

  private func heard(_ bytes: [UInt8], on stream: TransferID) {
    received[stream, default: []] += bytes
    wake()
  }

  private func heardAll(on stream: TransferID) {
    ended.insert(stream)
    wake()
  }

  // MARK: - Waiting

  private func wake() {
    waiter?.resume()
    waiter = nil
  }

  private func found<Value>(_ look: () -> Value?) async -> Value? {
    let deadline = ContinuousClock.now + patience
    while true {
      if let value = look() { return value }
      guard ContinuousClock.now < deadline, !Task.isCancelled else { return nil }
      let timer = Task {
        try? await Task.sleep(until: deadline, clock: .continuous)
        self.wake()
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { waiter = $0 }
      } onCancel: {
        timer.cancel()
      }
      timer.cancel()
    }
  }

  // MARK: - Sending to the program

  func say(_ bytes: [UInt8], _ mode: SendMode) async throws {
    try await join()
    guard let session else { return }
    try await session.send(bytes, to: [session.hostPeer], mode: mode)
  }

  func send(_ name: String, _ path: String) async throws {
    try await join()
    guard let session else { return }
    let transfer = try session.sendResource(atPath: path, named: name, to: session.hostPeer)
    // The program may refuse the file, as it may have done in the recording.
    _ = try? await transfer.result()
  }

  func open(_ number: UInt64, named name: String) async throws {
    try await join()
    guard let session else { return }
    let stream = try await session.openStream(named: name, to: session.hostPeer)
    streams[number] = stream
    listen(to: stream)
  }

  /// Ignores errors, because the replay compares the program's answers in any case.
  func write(_ bytes: [UInt8], to number: UInt64) async { try? await streams[number]?.write(bytes) }

  func finish(_ number: UInt64) async { try? await streams[number]?.finish() }

  func reset(_ number: UInt64) { streams[number]?.reset(code: 0) }

  // MARK: - Receiving from the program

  func message() async -> [UInt8]? { await found { messages.isEmpty ? nil : messages.removeFirst() } }

  func resource() async -> ResourceInfo? { await found { resources.isEmpty ? nil : resources.removeFirst() } }

  /// Waits for the next stream that the program opens, and assigns the number to it; returns its name, or nil if no
  /// stream is opened in time.
  func opened(_ number: UInt64) async -> String? {
    let stream = await found { unnamed.isEmpty ? nil : unnamed.removeFirst() }
    streams[number] = stream
    return stream?.name.raw
  }

  /// Returns the next `count` bytes of a stream; fewer if the stream ends, and nil if no bytes arrive.
  func read(_ count: Int, of number: UInt64) async -> [UInt8]? {
    guard let id = streams[number]?.id else { return nil }
    _ = await found { received[id, default: []].count >= count || ended.contains(id) ? true : nil }
    let bytes = Array(received[id, default: []].prefix(count))
    received[id]?.removeFirst(bytes.count)
    return bytes.isEmpty && count > 0 ? nil : bytes
  }

  /// Waits for the end of the stream; returns the remaining bytes, or nil if the stream does not end in time.
  func readToEnd(of number: UInt64) async -> [UInt8]? {
    guard let id = streams[number]?.id, await found({ ended.contains(id) ? true : nil }) != nil else { return nil }
    defer { received[id] = [] }
    return received[id, default: []]
  }
}
