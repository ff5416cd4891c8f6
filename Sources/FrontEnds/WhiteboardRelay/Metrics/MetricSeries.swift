import CoreMetrics
import PeerCore
import Synchronization

/// The values of one family for one set of label values.
///
/// Any thread can write to a series. Writing does not allocate.
protocol MetricSeries: AnyObject, Sendable {
  var reading: MetricReading { get }
}

enum MetricReading: Equatable {
  case number(MetricNumber)
  /// The number of values in each bucket.
  ///
  /// A bucket contains the values between two successive bounds. The last bucket contains the values beyond all bounds.
  case observations(counts: [UInt64], sum: Double)
}

/// A number that is stored as an integer if possible, so that large byte counts are exact.
enum MetricNumber: Equatable {
  case whole(UInt64)
  case real(Double)
}

final class CounterSeries: MetricSeries, CounterHandler, FloatingPointCounterHandler {
  private let whole = Atomic<UInt64>(0)
  private let parts = AtomicDouble()

  var reading: MetricReading {
    let (whole, parts) = (whole.load(ordering: .relaxed), parts.value)
    return .number(parts == 0 ? .whole(whole) : .real(Double(whole) + parts))
  }

  func increment(by amount: Int64) {
    guard amount > 0 else { return }
    whole.wrappingAdd(UInt64(amount), ordering: .relaxed)
  }

  func increment(by amount: Double) {
    guard amount > 0, amount.isFinite else { return }
    parts.update { $0 + amount }
  }

  func reset() {
    whole.store(0, ordering: .relaxed)
    parts.update { _ in 0 }
  }
}

final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
  private let number = AtomicDouble()

  var reading: MetricReading { .number(.real(number.value)) }

  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { number.update { _ in value } }
  func increment(by amount: Double) { number.update { $0 + amount } }
  func decrement(by amount: Double) { number.update { $0 - amount } }
  func record(_ value: Int64) { set(Double(value)) }
  func record(_ value: Double) { set(value) }
}

final class HistogramSeries: MetricSeries, RecorderHandler, TimerHandler {
  private struct Observations {
    var counts: [UInt64]
    var sum = 0.0
  }

  private let upperBounds: [Double]
  private let observations: Locked<Observations>

  init(upperBounds: [Double]) {
    self.upperBounds = upperBounds
    observations = Locked(Observations(counts: Array(repeating: 0, count: upperBounds.count + 1)))
  }

  var reading: MetricReading { observations.withLock { .observations(counts: $0.counts, sum: $0.sum) } }

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    // Ignore NaN and infinity, because they would permanently invalidate the sum.
    guard value.isFinite else { return }
    let place = upperBounds.firstIndex { value <= $0 } ?? upperBounds.count
    observations.withLock {
      $0.counts[place] &+= 1
      $0.sum += value
    }
  }

  func recordNanoseconds(_ duration: Int64) { record(Double(max(duration, 0)) / 1e9) }
}

/// A number that any thread can change without a lock.
private struct AtomicDouble: ~Copyable {
  private let bits = Atomic<UInt64>(0)

  var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  borrowing func update(_ change: (Double) -> Double) {
    var old = bits.load(ordering: .relaxed)
    while true {
      let new = change(Double(bitPattern: old)).bitPattern
      let (isExchanged, found) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
      if isExchanged { return }
      old = found
    }
  }
}
