import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

final class StreamCore: BulkFrameSink {
  /// The number of bytes buffered for the reader above which the link is not read (STR-2).
  static let heldLimit = 131_072
  /// The number of bytes in one write to the link: four frames.
  private static let burst = 4 * Limits.framePayload

  private typealias Reader = Waiter<Result<[UInt8]?, SessionError>>

  private struct State {
    var held: [UInt8] = []
    var reader: Reader?
    /// The link's reading task, which waits until the reader has taken enough bytes.
    var deliverer: Waiter<Void>?
    var hasFinished = false
    var isFinishWritten = false
    var hasPeerFinished = false
    var hasCompleted = false
    var isDiscarding = false
    var error: SessionError?
    var resetCode: UInt32?

    var isDropping: Bool { isDiscarding || error != nil }
  }

  let id: TransferID
  let name: UntrustedText
  let peer: PeerID
  private let link: BulkLinkRunner
  /// Called once, when the stream ends; the argument states whether the stream's link can be used again.
  private let onEnd: @Sendable (_ isLinkIdle: Bool) -> Void
  private let state = Locked(State())

  init(
    id: TransferID,
    name: UntrustedText,
    peer: PeerID,
    link: BulkLinkRunner,
    onEnd: @escaping @Sendable (_ isLinkIdle: Bool) -> Void
  ) {
    self.id = id
    self.name = name
    self.peer = peer
    self.link = link
    self.onEnd = onEnd
  }

  var resetCode: UInt32? { state.withLock { $0.resetCode } }

  var heldBytes: Int { state.withLock { $0.held.count } }

  var waitingBytes: Int { link.writer.waitingBytes }

  // MARK: The application's side

  func write(_ bytes: [UInt8]) async throws(SessionError) {
    try checkWritable()
    guard !bytes.isEmpty else { return }
    do { try await link.writer.begin() } catch { throw failure(error) }
    defer { link.writer.finish() }
    try checkWritable()
    var offset = 0
    while offset < bytes.count {
      if offset > 0 {
        do { try await link.writer.waitForRoom() } catch {
          // Some of the bytes were sent. Reset the stream, because bytes would be missing in the middle (STR-1).
          if error.code == .cancelled { reset(code: 0, message: "A write was canceled.") }
          throw failure(error)
        }
        try checkWritable()
      }
      let end = min(offset + Self.burst, bytes.count)
      link.writer.push(Self.frames(bytes[offset..<end]))
      offset = end
    }
  }

  func finish() async throws(SessionError) {
    let (isFirst, error): (Bool, SessionError?) = state.withLock { state in
      if let error = state.error { return (false, error) }
      defer { state.hasFinished = true }
      return (!state.hasFinished, nil)
    }
    if let error { throw error }
    guard isFirst else { return }
    // FIN must follow the current write, even if the caller is canceled in the meantime.
    let writer = link.writer
    do { try await writer.begin() } catch {
      if error.code == .cancelled { reset(code: 0, message: "Finishing the stream was canceled.") }
      throw failure(error)
    }
    writer.push(.bulkFrame(.streamFin))
    writer.finish()
    state.withLock { $0.isFinishWritten = true }
    completeIfBothFinished()
  }

  func reset(code: UInt32, message: String = "") {
    guard end(SessionError(.reset, "This peer reset the stream."), code: nil, dropHeld: true) else { return }
    link.cut(
      after: Control.StreamReset(id: id, code: code, message: message).bulkFrame(),
      SessionError(.reset, "This peer reset the stream.")
    )
  }

  func release() {
    enum Step {
      case none
      case finish
      case reset
    }
    let (step, deliverer): (Step, Waiter<Void>?) = state.withLock { state in
      guard state.error == nil, !state.hasCompleted else { return (.none, nil) }
      if !state.hasFinished && !(state.hasPeerFinished && state.held.isEmpty) { return (.reset, nil) }
      state.isDiscarding = true
      state.held = []
      let deliverer = state.deliverer.take()
      guard !state.hasFinished else { return (.none, deliverer) }
      state.hasFinished = true
      return (.finish, deliverer)
    }
    deliverer?.resume(())
    switch step {
    case .none: break
    case .reset: reset(code: 0, message: "The application stopped reading the stream.")
    case .finish:
      // All local bytes are already written. This single frame may exceed the limit.
      link.writer.push(.bulkFrame(.streamFin))
      state.withLock { $0.isFinishWritten = true }
      completeIfBothFinished()
    }
  }

  func read() async throws(SessionError) -> [UInt8]? {
    var deliverer: Waiter<Void>?
    let result = await state.wait(ifCanceled: .failure(.cancelled)) { state, reader in
      if !state.held.isEmpty {
        deliverer = state.deliverer.take()
        defer { state.held = [] }
        return .success(state.held)
      }
      if let error = state.error { return .failure(error) }
      if state.hasPeerFinished { return .success(nil) }
      precondition(state.reader == nil, "a stream can have only one reader at a time")
      state.reader = reader
      return nil
    } remove: {
      $0.reader.remove($1)
    }
    deliverer?.resume(())
    return try result.get()
  }

  // MARK: The link's side

  func receive(_ frame: BulkFrame, from link: BulkLinkRunner) async throws(LinkViolation) -> Bool {
    switch frame.type {
    case .streamData:
      guard frame.count > 0 else { throw .protocolError("A stream's data frame is empty.") }
      try await deliver(frame)
      return true
    case .streamFin:
      guard frame.count == 0 else { throw .protocolError("A stream's final frame is not empty.") }
      try finishPeer()
      return true
    case .streamReset:
      let reset = try Control.StreamReset.decode(frame)
      guard reset.id == id else { throw .protocolError("A reset names another stream.") }
      let words = reset.message.isEmpty ? "" : " Its message: \(reset.message)"
      end(
        SessionError(.reset, "The peer reset the stream with code \(reset.code).\(words)"),
        code: reset.code,
        dropHeld: false
      )
      return false
    default:
      // If the local peer is the opener, late frames of an earlier transfer may arrive.
      guard link.isLate(frame) else { throw .unexpected(frame.type) }
      return true
    }
  }

  func linkEnded(_ end: BulkEnd) async { self.end(end.error, code: nil, dropHeld: false) }

  private func deliver(_ frame: BulkFrame) async throws(LinkViolation) {
    let (hasFinished, mustWait, reader, taken): (Bool, Bool, Reader?, [UInt8]) = state.withLock { state in
      if state.hasPeerFinished { return (true, false, nil, []) }
      if state.isDropping { return (false, false, nil, []) }
      // Copy the bytes here, not in the reader, so that TLS can reuse its buffers for the next read. Allocating new
      // buffers would cost more than the copy.
      if let reader = state.reader.take() {
        return (false, false, reader, frame.bytes)
      }
      if state.held.isEmpty { state.held = frame.bytes } else { frame.append(to: &state.held) }
      return (false, state.held.count >= Self.heldLimit, nil, [])
    }
    guard !hasFinished else { throw .unexpected(.streamData) }
    reader?.resume(.success(taken))
    if mustWait { await waitUntilTaken() }
  }

  private func waitUntilTaken() async {
    await state.wait(ifCanceled: ()) { state, deliverer in
      if state.held.count < Self.heldLimit || state.isDropping { return () }
      state.deliverer = deliverer
      return nil
    } remove: {
      $0.deliverer.remove($1)
    }
  }

  private func finishPeer() throws(LinkViolation) {
    let (wasFinished, reader): (Bool, Reader?) = state.withLock { state in
      if state.hasPeerFinished { return (true, nil) }
      state.hasPeerFinished = true
      return (false, state.reader.take())
    }
    guard !wasFinished else { throw .unexpected(.streamFin) }
    reader?.resume(.success(nil))
    completeIfBothFinished()
  }

  private func completeIfBothFinished() {
    let isComplete = state.withLock { state in
      guard state.isFinishWritten, state.hasPeerFinished, !state.hasCompleted, state.error == nil else { return false }
      state.hasCompleted = true
      return true
    }
    if isComplete { onEnd(true) }
  }

  @discardableResult private func end(_ error: SessionError, code: UInt32?, dropHeld: Bool) -> Bool {
    let (isFirst, reader, deliverer): (Bool, Reader?, Waiter<Void>?) = state.withLock {
      state in
      guard state.error == nil, !state.hasCompleted else { return (false, nil, nil) }
      state.error = error
      state.resetCode = code
      if dropHeld { state.held = [] }
      return (true, state.reader.take(), state.deliverer.take())
    }
    reader?.resume(.failure(error))
    deliverer?.resume(())
    // Waiting writers fail with the error that ended the stream.
    if isFirst {
      link.writer.fail(error)
      onEnd(false)
    }
    return isFirst
  }

  private func checkWritable() throws(SessionError) {
    let error: SessionError? = state.withLock { state in
      if let error = state.error { return error }
      guard state.hasFinished else { return nil }
      return SessionError(.sessionEnded, "This peer has already finished writing to the stream.")
    }
    if let error { throw error }
  }

  private func failure(_ error: SessionError) -> SessionError { state.withLock { $0.error } ?? error }

  private static func frames(_ bytes: ArraySlice<UInt8>) -> ByteBuffer {
    var buffer = ByteBuffer()
    let frames = (bytes.count + Limits.framePayload - 1) / Limits.framePayload
    buffer.reserveCapacity(bytes.count + frames * FrameHeader.maximumLength)
    var rest = bytes
    while !rest.isEmpty {
      let payload = rest.prefix(Limits.framePayload)
      buffer.writeHeader(.streamData, length: payload.count)
      buffer.writeBytes(payload)
      rest = rest.dropFirst(payload.count)
    }
    return buffer
  }
}
