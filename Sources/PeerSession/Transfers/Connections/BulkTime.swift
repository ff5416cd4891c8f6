#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A type-erased clock, so that its users need no generic parameter.
struct BulkTime: Sendable {
  /// Returns the time since an arbitrary reference point.
  let now: @Sendable () -> Duration
  /// Suspends for a duration; throws only if the task is canceled.
  let sleep: @Sendable (Duration) async throws -> Void

  /// How long an offer waits for the application's decision (RES-8).
  static let offerLimit = Duration.seconds(120)

  init<C: Clock>(_ clock: C) where C.Duration == Duration {
    let start = clock.now
    now = { start.duration(to: clock.now) }
    sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
  }
}

func systemMessage(_ number: Int32) -> String { String(cString: strerror(number)) }

func secondsSince1970() -> Int { time(nil) }
