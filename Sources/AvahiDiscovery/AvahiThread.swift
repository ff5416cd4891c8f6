import CAvahi
import Glibc
import PeerDiscovery

/// The thread that one scope of discovery makes all its calls into libavahi on.
final class AvahiThread: Sendable {
  private static let retryMilliseconds: Int32 = 500

  private struct State {
    var isStopRequested = false
    var hasEnded = false
    var bell: Bell?
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())
  private let configuration: AvahiConfiguration
  private let makeDriver: @Sendable () -> any AvahiDriver

  /// Makes a thread that has yet to start; `makeDriver` is called once, on it.
  init(configuration: AvahiConfiguration, makeDriver: @escaping @Sendable () -> any AvahiDriver) {
    self.configuration = configuration
    self.makeDriver = makeDriver
  }

  /// Makes the driver look at what it was sent; may be called from anywhere.
  func wake() { state.withLock { $0.bell }?.ring() }

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
    guard status != 0 else { return }
    // There is no thread to try again from; discovery stays away for this scope.
    context.release()
    state.withLock { $0.hasEnded = true }
    makeDriver().disconnected(.system(status), now: .zero)
  }

  /// Tells the thread to end, and waits until it did or the daemon has kept it for too long; it then
  /// ends by itself when the daemon answers.
  private nonisolated(nonsending) func stop() async {
    state.withLock { $0.isStopRequested = true }
    wake()
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

  private var isStopRequested: Bool { state.withLock { $0.isStopRequested } }

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
    let driver = makeDriver()
    while !isStopRequested {
      guard let bell = Bell(),
        let connection = AvahiConnection(configuration, bell: bell, driver: driver)
      else {
        // No descriptor is free; a moment later one may be.
        driver.disconnected(.system(errno), now: .zero)
        poll(nil, 0, Self.retryMilliseconds)
        continue
      }
      state.withLock { $0.bell = bell }
      while !isStopRequested { connection.step() }
      connection.close()
    }
    state.withLock { $0.hasEnded = true }
    resumeWaiter()
  }
}

extension DiscoveryProblem {
  /// The system refused us a thread or a descriptor.
  fileprivate static func system(_ code: Int32) -> DiscoveryProblem {
    .failed(code: code, reason: String(cString: strerror(code)))
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

  /// Fails where the system has no descriptor to give.
  init?() {
    let descriptor = whiteboard_avahi_bell_new()
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  func ring() { whiteboard_avahi_bell_ring(descriptor) }

  func silence() { whiteboard_avahi_bell_silence(descriptor) }
}
