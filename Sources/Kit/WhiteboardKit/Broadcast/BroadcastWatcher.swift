import PeerCore
import PeerSession

/// An event of a broadcast that this program watches.
public enum WatchedEvent: Sendable {
  /// The broadcast began, or shows another region.
  case started(BroadcastFormat)
  /// A new picture; `pixels` is nil if the pictures are not decoded.
  case picture(BroadcastPicture, pixels: FramePixels?)
  case paused, resumed
  /// The broadcaster has a problem, and the broadcast continues.
  case failed(BroadcastNotice)
  /// The last event.
  case finished(BroadcastNotice)
}

/// Checks the records of a broadcast, and applies their changes to the picture. The type performs no I/O.
struct FrameAssembler: Sendable {
  private let request: BroadcastRequest
  private let coder: FrameCoders
  private let isDecoding: Bool
  private(set) var format: BroadcastFormat?
  private var pixels: FramePixels?
  private var last: UInt64?
  /// Whether the next picture must be whole.
  private var needsWhole = true

  init(_ request: BroadcastRequest, _ coder: (any FrameCoder)?, isDecoding: Bool) {
    self.request = request
    self.coder = FrameCoders(coder)
    self.isDecoding = isDecoding
  }

  mutating func apply(_ record: BroadcastRecord) throws(BroadcastError) -> WatchedEvent {
    switch record {
    case .start(let format):
      guard request.codecs.contains(format.codec), request.admits(format.size) else { throw .payload(record.kind) }
      if self.format?.size != format.size { pixels = nil }
      (self.format, needsWhole) = (format, true)
      return .started(format)
    case .picture(let picture):
      guard let format else { throw .order(record.kind) }
      try apply(picture, format, record.kind)
      return .picture(picture, pixels: pixels)
    case .pause: return .paused
    case .resume: return .resumed
    case .error(let notice): return .failed(notice)
    case .finish(let notice): return .finished(notice)
    case .seen, .wantWhole: throw .order(record.kind)
    }
  }

  private mutating func apply(_ picture: BroadcastPicture, _ format: BroadcastFormat, _ kind: UInt8)
    throws(BroadcastError)
  {
    let parts: [BroadcastPicture.Part]
    switch picture.content {
    case .whole(let bytes):
      if let last, picture.number < last { throw .order(kind) }
      parts = [BroadcastPicture.Part(area: format.size.area, bytes: bytes)]
    case .changes(let base, let changed):
      guard request.acceptsChanges, !needsWhole, base == last else { throw .order(kind) }
      for part in changed where !format.size.area.contains(part.area) { throw .payload(kind) }
      // Small files can contain large parts, so this limits the work for one record.
      guard changed.reduce(0, { $0 + $1.area.pixelCount }) <= format.size.area.pixelCount else { throw .payload(kind) }
      parts = changed
    }
    for part in parts where format.codec == .raw && part.bytes.count != part.area.pixelCount * 3 { throw .picture }
    (last, needsWhole) = (picture.number, false)
    guard isDecoding else { return }
    var frame = pixels ?? FramePixels(size: format.size)
    // If this property held a second reference to the pixels, each change would copy them.
    pixels = nil
    for part in parts {
      let (width, height) = (part.area.width, part.area.height)
      guard let decoded = try? coder.decode(part.bytes, width: width, height: height, as: format.codec) else {
        throw .picture
      }
      guard frame.apply(FramePatch(area: part.area, pixels: decoded)) != nil else { throw .picture }
    }
    pixels = frame
  }
}

/// A viewer of a broadcast. A viewer is a member of the session, and needs no copy of the board.
public actor BroadcastWatcher {
  /// The time within which a member must answer the request. A program without support for broadcasts does not answer.
  static let answerTimeout = Duration.seconds(5)

  private let stream: PeerStream
  private let answerDeadline: ContinuousClock.Instant
  private var assembler: FrameAssembler
  private var reader = BroadcastReader()
  private var unconfirmed: UInt64?
  /// Whether the member has answered the request.
  public private(set) var hasAnswer = false
  private var isOver = false

  /// Asks a member for its broadcast.
  ///
  /// - Parameters:
  ///   - request: The pictures that this program can use.
  ///   - peer: The member.
  ///   - session: The session.
  ///   - coder: A decoder; nil to receive only the encoded pictures.
  /// - Throws: The errors of `Session.openStream(named:to:)`.
  public init(
    _ request: BroadcastRequest,
    of peer: PeerID,
    in session: Session,
    decoding coder: (any FrameCoder)? = nil
  )
    async throws(SessionError)
  {
    stream = try await session.openStream(named: request.name, to: peer)
    answerDeadline = ContinuousClock.now + Self.answerTimeout
    assembler = FrameAssembler(request, coder, isDecoding: coder != nil)
  }

  /// The format of the broadcast; nil until START arrives.
  public var format: BroadcastFormat? { assembler.format }

  /// Waits for the next event. A call confirms the picture of the previous call, so that the broadcaster sends pictures no
  /// faster than this program shows them.
  ///
  /// - Returns: The event; nil after ``WatchedEvent/finished(_:)``, if the link breaks, or if the member does not answer
  ///   because its program does not support broadcasts (``hasAnswer``).
  /// - Throws: If the member violates the protocol.
  public func next() async throws -> WatchedEvent? {
    guard !isOver else { return nil }
    // The optimizer of Swift 6.3 crashes if all of this is in one function.
    await confirm()
    while !isOver {
      if let event = try checkedEvent() {
        await finishIfOver()
        return event
      }
      await receive()
    }
    return nil
  }

  private func confirm() async {
    guard let number = unconfirmed else { return }
    unconfirmed = nil
    // If the link is broken, the next read reports it.
    try? await stream.write(BroadcastRecord.seen(number).bytes)
  }

  private func finishIfOver() async {
    guard isOver else { return }
    await stop()
  }

  private func receive() async {
    guard let bytes = await received() else {
      isOver = true
      return
    }
    reader.append(bytes)
  }

  private func checkedEvent() throws(BroadcastError) -> WatchedEvent? {
    do throws(BroadcastError) { return try readEvent() } catch {
      isOver = true
      stream.reset(code: BroadcastRecord.violationCode)
      throw error
    }
  }

  /// Returns the next event in the received bytes; nil if more bytes are needed.
  private func readEvent() throws(BroadcastError) -> WatchedEvent? {
    guard let record = try reader.next() else { return nil }
    hasAnswer = true
    let event = try assembler.apply(record)
    switch event {
    case .picture(let picture, _): unconfirmed = picture.number
    case .finished: isOver = true
    default: break
    }
    return event
  }

  /// Returns the next bytes of the stream; nil if the stream ended or broke, or the member does not answer.
  private func received() async -> [UInt8]? {
    let stream = stream
    let read: @Sendable () async -> [UInt8]? = {
      var inbound = stream.inbound.makeAsyncIterator()
      return (try? await inbound.next()) ?? nil
    }
    guard !hasAnswer else { return await read() }
    let left = ContinuousClock.now.duration(to: answerDeadline)
    // A member could send single bytes, or records that are skipped, indefinitely.
    guard left > .zero else { return nil }
    return await firstOf(within: left, read)
  }

  /// Ends watching.
  public func stop() async {
    isOver = true
    try? await stream.finish()
  }
}
