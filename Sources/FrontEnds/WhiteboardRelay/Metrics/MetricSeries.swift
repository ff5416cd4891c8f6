import CoreMetrics
import Synchronization

/// The values of one family for one set of label values.
///
/// Any thread can write to a series. Writing does not allocate.
protocol MetricSeries: AnyObject, Sendable {
  var reading: MetricNumber { get }
}

/// A number that is stored as an integer if possible, so that large byte counts are exact.
enum MetricNumber: Equatable {
  case whole(UInt64)
  case real(Double)
}

final class CounterSeries: MetricSeries, CounterHandler, FloatingPointCounterHandler {
  private let whole = Atomic<UInt64>(0)
  private let parts = AtomicDouble()

  var reading: MetricNumber {
    let (whole, parts) = (whole.load(ordering: .relaxed), parts.value)
    return parts == 0 ? .whole(whole) : .real(Double(whole) + parts)
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

  var reading: MetricNumber { .real(number.value) }

  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { number.update { _ in value } }
  func increment(by amount: Double) { number.update { $0 + amount } }
  func decrement(by amount: Double) { number.update { $0 - amount } }
  func record(_ value: Int64) { set(Double(value)) }
  func record(_ value: Double) { set(value) }
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
