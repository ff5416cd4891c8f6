import CAvahi
import Glibc
import PeerDiscovery

/// The thread that one scope of discovery makes all its calls into libavahi on.
final class AvahiThread: Sendable {
  private struct State {
    var isStopRequested = false
    var hasEnded = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())
  private let bell: Bell
  private let configuration: AvahiConfiguration
  private let makeDriver: @Sendable () -> any AvahiDriver

  /// Makes a thread that has yet to start; `makeDriver` is called once, on it.
  init(configuration: AvahiConfiguration, makeDriver: @escaping @Sendable () -> any AvahiDriver) {
    self.configuration = configuration
    self.makeDriver = makeDriver
    bell = Bell()
  }

  /// Makes the driver look at what it was sent; may be called from anywhere.
  func wake() { bell.ring() }

  /// Runs the thread for as long as the body, and waits for its end, even when cancelled.
  nonisolated(nonsending) func run<Result>(
    until body: nonisolated(nonsending) () async throws -> Result,
    finally finish: () -> Void
  ) async rethrows -> Result {
    start()
    do {
      let result = try await body()
      finish()
      await stop()
      return result
    } catch {
      finish()
      await stop()
      throw error
    }
  }

  private func start() {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let status = pthread_create(&thread, &attributes, threadMain, context.toOpaque())
    // Without a thread the machine is past helping a guest who wants to be found.
    precondition(status == 0, "the system gives us one more thread")
  }

  /// Tells the thread to end, and waits until it did or the daemon has kept it for too long; it then
  /// ends by itself when the daemon answers.
  private nonisolated(nonsending) func stop() async {
    state.withLock { $0.isStopRequested = true }
    bell.ring()
    // Nobody waits for this task: it is cancelled below, and its only effect is to wake us.
    let timer = Task.detached { [self] in
      try? await Task.sleep(for: configuration.farewell)
      resumeWaiter()
    }
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.hasEnded { state.waiter = continuation }
        return state.hasEnded
      }
      if isOver { continuation.resume() }
    }
    timer.cancel()
  }

  private func resumeWaiter() {
    let waiter = state.withLock { state in
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  fileprivate func main() {
    var signals = sigset_t()
    sigfillset(&signals)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    whiteboard_avahi_name_thread()
    do {
      let connection = AvahiConnection(configuration, bell: bell, driver: makeDriver())
      while !state.withLock({ $0.isStopRequested }) { connection.step() }
      connection.close()
    }
    state.withLock { $0.hasEnded = true }
    resumeWaiter()
  }
}

private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<AvahiThread>.fromOpaque(context).takeRetainedValue().main()
  return nil
}

/// An eventfd: rings in one thread's poll loop, from any other.
final class Bell: Sendable {
  let descriptor: Int32

  init() {
    descriptor = whiteboard_avahi_bell_new()
    precondition(descriptor >= 0, "the system gives us one more descriptor")
  }

  deinit { close(descriptor) }

  func ring() { whiteboard_avahi_bell_ring(descriptor) }

  func silence() { whiteboard_avahi_bell_silence(descriptor) }
}
