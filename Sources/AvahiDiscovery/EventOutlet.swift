import PeerCore
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
