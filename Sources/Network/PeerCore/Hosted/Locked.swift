#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A value protected by a pthread mutex, the only lock of the package. Callers must hold the lock only briefly, and
/// never across `await`. `Synchronization.Mutex` is not used, because the thread sanitizer of Swift 6.3.1 on Linux does
/// not recognize that mutex. If eight tasks change one dictionary under a `Mutex`, the sanitizer reports data races.
/// With this type, the sanitizer reports none.
// Unchecked Sendable is safe: the value is accessed only while the mutex is held, and the mutex never moves.
package final class Locked<Value>: @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  /// A pointer, so that the runtime does not check the exclusivity of each access again.
  @usableFromInline let value: UnsafeMutablePointer<Value>

  package init(_ value: sending Value) {
    self.value = .allocate(capacity: 1)
    self.value.initialize(to: value)
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    let status = pthread_mutex_init(mutex, nil)
    precondition(status == 0, "creating a mutex without attributes cannot fail")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    value.deinitialize(count: 1)
    value.deallocate()
  }

  /// Inlinable, so that other targets specialize this function.
  @inlinable package func withLock<Result, Failure>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}
