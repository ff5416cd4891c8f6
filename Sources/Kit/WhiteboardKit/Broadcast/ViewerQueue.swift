/// Decides what one viewer of a broadcast receives, and when. The type performs no I/O and uses no clock. A viewer that
/// does not confirm its pictures receives no further pictures. When it confirms them, it receives only the newest
/// picture (CST-6, CST-7).
struct ViewerQueue: Sendable {
  /// The maximum number of unconfirmed pictures.
  static let window = 2
  /// The maximum number of separate changed parts to store; if there are more, they are merged.
  static let partLimit = 16

  enum Step: Hashable, Sendable {
    case start(BroadcastFormat)
    case picture(Picture)
    case pause(time: UInt64)
    case resume(time: UInt64)
    case error(BroadcastNotice)
    case finish(BroadcastNotice)
    /// Nothing can be sent before this time.
    case wait(until: Duration)
    /// Nothing can be sent before the broadcast or the viewer changes.
    case idle
    /// The last record was sent.
    case end
  }

  /// A picture to send.
  struct Picture: Hashable, Sendable {
    let number: UInt64
    /// The picture that the viewer has; nil if the viewer needs the whole picture.
    let base: UInt64?
    /// The parts that have changed since the base.
    let areas: [PixelRect]
  }

  private let acceptsChanges: Bool
  /// The minimum time between two pictures; zero if drawing limits the rate enough.
  private var interval: Duration
  private var format: BroadcastFormat
  private var isStartPending = true
  /// The number of the newest picture; zero if there is none.
  private var newest: UInt64 = 0
  /// The number of the last picture that was sent; nil if the viewer needs a whole picture.
  private var base: UInt64?
  private var changed: [PixelRect] = []
  private var unconfirmed: [UInt64] = []
  private var sentAt: Duration?
  private var pauseTime: UInt64?
  private var resumeTime: UInt64 = 0
  private var isPauseSent = false
  private var problem: BroadcastNotice?
  private var ending: BroadcastNotice?
  private var isOver = false

  init(_ format: BroadcastFormat, _ request: BroadcastRequest) {
    self.format = format
    acceptsChanges = request.acceptsChanges
    interval = request.rate < format.rate ? Duration.seconds(1) / request.rate : .zero
    self.format.rate = min(format.rate, request.rate)
  }

  /// Records that the format changed, so that the next picture must be whole.
  mutating func formatChanged(region: [Double]?) {
    format.region = region
    isStartPending = true
    base = nil
  }

  /// Records that a new picture was drawn, and the parts in which it differs from the previous picture.
  mutating func drawn(_ number: UInt64, changed areas: [PixelRect]) {
    newest = number
    guard base != nil else { return }
    for area in areas where !area.isEmpty { add(area) }
  }

  private mutating func add(_ area: PixelRect) {
    var area = area
    // Parts that overlap become one part, which can then overlap others.
    while let index = changed.firstIndex(where: { !$0.intersection(area).isEmpty }) {
      area = area.union(changed.remove(at: index))
    }
    changed.append(area)
    if changed.count > Self.partLimit { changed = [changed.reduce(area) { $0.union($1) }] }
  }

  mutating func paused(time: UInt64) { pauseTime = time }

  mutating func resumed(time: UInt64) { (pauseTime, resumeTime) = (nil, time) }

  mutating func failed(_ notice: BroadcastNotice) { problem = notice }

  mutating func finished(_ notice: BroadcastNotice) { ending = ending ?? notice }

  /// Confirms a picture and all earlier pictures. Throws if this picture was not sent, or was confirmed before.
  mutating func seen(_ number: UInt64) throws(BroadcastError) {
    guard let index = unconfirmed.firstIndex(of: number) else { throw .order(BroadcastRecord.Kind.seen) }
    unconfirmed.removeFirst(index + 1)
  }

  mutating func wantsWhole() {
    // At the end, only one picture is sent without a confirmation.
    guard ending == nil else { return }
    base = nil
    // Drawing does not limit the rate of these answers.
    interval = Duration.seconds(1) / format.rate
  }

  /// Returns what to send now; the caller then sends it, and calls this method again.
  mutating func next(now: Duration) -> Step {
    guard !isOver else { return .end }
    if isPauseSent, pauseTime == nil {
      isPauseSent = false
      return .resume(time: resumeTime)
    }
    if isStartPending, newest > 0 || pauseTime != nil || ending != nil {
      isStartPending = false
      return .start(format)
    }
    if let problem {
      self.problem = nil
      return .error(problem)
    }
    if newest > 0, base == nil || !changed.isEmpty {
      // The last picture of a broadcast is not delayed.
      let isLast = ending != nil
      guard unconfirmed.count < Self.window || isLast else { return .idle }
      let due = sentAt.map { $0 + interval } ?? .zero
      if now >= due || isLast { return .picture(send(now)) }
      return .wait(until: due)
    }
    if let pauseTime, !isPauseSent {
      isPauseSent = true
      return .pause(time: pauseTime)
    }
    if let ending {
      isOver = true
      return .finish(ending)
    }
    return .idle
  }

  private mutating func send(_ now: Duration) -> Picture {
    let share = changed.reduce(0) { $0 + $1.pixelCount } * 3
    let isWhole = base == nil || !acceptsChanges || share >= format.size.area.pixelCount * 2
    let picture = Picture(number: newest, base: isWhole ? nil : base, areas: isWhole ? [] : changed)
    unconfirmed.append(newest)
    base = newest
    changed = []
    sentAt = now
    return picture
  }
}
