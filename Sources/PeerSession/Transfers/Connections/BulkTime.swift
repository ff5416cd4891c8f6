#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A clock without its type, so that those who hold it need no parameter.
struct BulkTime: Sendable {
  /// The time since some fixed moment.
  let now: @Sendable () -> Duration
  /// Waits; throws only when the task is cancelled.
  let sleep: @Sendable (Duration) async throws -> Void

  /// How long an offer waits for the application's decision (RES-8).
  static let offerLimit = Duration.seconds(120)

  /// Tells the time by `clock`.
  init<C: Clock>(_ clock: C) where C.Duration == Duration {
    let start = clock.now
    now = { start.duration(to: clock.now) }
    sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
  }
}

/// The system's words for an error number.
func systemMessage(_ number: Int32) -> String { String(cString: strerror(number)) }

/// The time of day by the system's clock.
func secondsSince1970() -> Int { time(nil) }
