import Logging
import NIOConcurrencyHelpers

/// A log for what strangers can make happen as often as they like: it writes the first few lines of a minute and then
/// says how many more there were.
///
/// Lines are alike when they have the same reason, which is fixed words of the program; what differs goes into
/// the metadata. Of one reason at most 20 lines a minute are written, and of those at most 5 about one peer.
public final class LimitedLog: Sendable {
  private let logger: Logger
  private let limit: NIOLockedValueBox<LogLimit>
  private let span: Duration
  private let now: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async throws -> Void

  /// A log that writes to this logger.
  public convenience init(_ logger: Logger) {
    self.init(logger, rates: LogLimit.Rates(), clock: ContinuousClock())
  }

  init<C: Clock<Duration>>(_ logger: Logger, rates: LogLimit.Rates, clock: C) {
    self.logger = logger
    limit = NIOLockedValueBox(LogLimit(rates))
    span = rates.span
    let start = clock.now
    now = { start.duration(to: clock.now) }
    sleep = { try await clock.sleep(for: $0) }
  }

  /// Writes a warning, or counts it.
  public func warning(
    _ reason: String,
    peer: String? = nil,
    metadata: @autoclosure () -> Logger.Metadata = [:]
  ) {
    log(.warning, reason, peer: peer, metadata: metadata())
  }

  /// Writes a line of this level, or counts it.
  ///
  /// - Parameters:
  ///   - level: How grave it is.
  ///   - reason: What happened, in fixed words.
  ///   - peer: Whom it is about, shortened for display; written as `peer`.
  ///   - metadata: What is said besides.
  public func log(
    _ level: Logger.Level,
    _ reason: String,
    peer: String? = nil,
    metadata: @autoclosure () -> Logger.Metadata = [:]
  ) {
    guard level >= logger.logLevel else { return }
    let now = now()
    let verdict = limit.withLockedValue { $0.consider(reason: reason, peer: peer, now: now) }
    guard case .write(let omitted) = verdict else { return }
    var metadata = metadata()
    if let peer { metadata["peer"] = .string(peer) }
    logger.log(
      level: level,
      "\(omitted == 0 ? reason : Self.told(reason, omitted))",
      metadata: metadata
    )
  }

  /// Tells once a minute what was left out, until the task is cancelled; then a last time.
  public func run() async {
    while true {
      do { try await sleep(span) } catch { break }
      tellOmissions(now: now())
    }
    tellOmissions(now: now() + span)
  }

  func tellOmissions(now: Duration) {
    for omission in limit.withLockedValue({ $0.takeOmissions(now: now) }) {
      let metadata: Logger.Metadata? = omission.peer.map { ["peer": .string($0)] }
      logger.warning("\(Self.told(omission.reason, omission.count))", metadata: metadata)
    }
  }

  private static func told(_ reason: String, _ omitted: Int) -> String {
    "\(reason), and \(omitted) more"
  }
}
