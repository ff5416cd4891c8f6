import Glibc

/// A value protected by a pthread mutex.
///
/// Callers must hold the mutex only briefly. This target does not use the lock in NIO, because it does not import NIO.
/// It does not use `Synchronization.Mutex`, because the thread sanitizer on Linux does not support it.
// Unchecked Sendable is safe: the value is accessed only while the mutex is held, and the mutex never moves.
final class Locked<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    let status = pthread_mutex_init(mutex, nil)
    precondition(status == 0, "creating a mutex without attributes cannot fail")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
