import Glibc
import PeerDiscovery

/// Passes events from the Avahi thread to the task that reads them.
final class EventOutlet<Queue: Sendable, Event: Sendable>: Sendable {
  private let queue: Locked<Queue>
  private let pushEvent: @Sendable (inout Queue, Event) -> Void
  private let popEvent: @Sendable (inout Queue) -> Event?
  private let signal: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init(
    _ queue: Queue,
    push: @escaping @Sendable (inout Queue, Event) -> Void,
    pop: @escaping @Sendable (inout Queue) -> Event?
  ) {
    self.queue = Locked(queue)
    pushEvent = push
    popEvent = pop
    (signal, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  var events: DiscoveryEvents<Event> { DiscoveryEvents(signal: signal) { [self] in queue.withLock { popEvent(&$0) } } }

  func push(_ event: Event) {
    queue.withLock { pushEvent(&$0, event) }
    continuation.yield()
  }

  @Sendable func finish() { continuation.finish() }
}

/// Holds the newest announcement that the program wants to publish.
final class AnnouncementInlet: Sendable {
  private let latest = Locked<Announcement?>(nil)

  func put(_ announcement: Announcement) { latest.withLock { $0 = announcement } }

  func take() -> Announcement? {
    latest.withLock { latest in
      defer { latest = nil }
      return latest
    }
  }
}

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
