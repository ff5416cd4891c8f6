import Logging
import NIOConcurrencyHelpers

/// A rate-limited log for events that peers can cause as often as they like.
///
/// It writes the first lines of each minute, and then the number of lines that were omitted. Lines
/// are counted together if they have the same reason, which is a static text. Details go into the
/// metadata. Per minute, the log writes at most 20 lines with the same reason, and at most 5 of
/// them about the same peer.
public final class LimitedLog: Sendable {
  private let logger: Logger
  private let limit: NIOLockedValueBox<LogLimit>
  private let span: Duration
  private let now: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async throws -> Void

  /// Creates a log that writes to `logger`.
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

  /// Logs a warning, or counts it as omitted.
  public func warning(
    _ reason: String,
    peer: String? = nil,
    metadata: @autoclosure () -> Logger.Metadata = [:]
  ) {
    log(.warning, reason, peer: peer, metadata: metadata())
  }

  /// Logs a line at a level, or counts it as omitted.
  ///
  /// - Parameters:
  ///   - level: The log level.
  ///   - reason: A static text that states what happened.
  ///   - peer: The id of the peer that the line is about, shortened for display; written as the
  ///     metadata value `peer`.
  ///   - metadata: Further details.
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

  /// Logs the numbers of omitted lines once a minute until the task is canceled, and once more at
  /// the end.
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
