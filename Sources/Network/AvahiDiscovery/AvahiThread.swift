import CAvahi
import Glibc
import PeerCore
import PeerDiscovery

final class AvahiThread: Sendable {
  private static let retryMilliseconds: Int32 = 500

  private struct State {
    var isStopRequested = false
    var hasEnded = false
    /// Whether a daemon has answered; if so, `stop` waits until the thread has closed its connection to the daemon.
    var isConnected = false
    var bell: Bell?
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())
  private let configuration: AvahiConfiguration
  private let watch: StallWatch
  private let makeDriver: @Sendable () -> any AvahiDriver

  /// `makeDriver` is called once, on the new thread.
  init(configuration: AvahiConfiguration, watch: StallWatch, makeDriver: @escaping @Sendable () -> any AvahiDriver) {
    self.configuration = configuration
    self.watch = watch
    self.makeDriver = makeDriver
  }

  func wake() { state.withLock { $0.bell }?.ring() }

  /// Runs the thread while `body` runs, and waits until the thread ends, even if the task is canceled.
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
    // The thread could not start, so there are no retries. Discovery remains unavailable until the call ends.
    context.release()
    state.withLock { $0.hasEnded = true }
    makeDriver().disconnected(.system(status), now: .zero)
  }

  /// Stops the thread, and waits until it has ended or the configured timeout has expired. If no daemon has answered,
  /// or the daemon is known not to answer, this method does not wait. In these cases, and after a timeout, the thread
  /// ends by itself when the daemon responds.
  private nonisolated(nonsending) func stop() async {
    let isConnected = state.withLock { state in
      state.isStopRequested = true
      return state.isConnected
    }
    wake()
    guard isConnected, !watch.isReported else { return }
    // No code awaits this task. The task only resumes the continuation, and is canceled below.
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
        let connection = AvahiConnection(configuration, bell: bell, stallWatch: watch, driver: driver)
      else {
        // No file descriptor is available. Try again after a short delay.
        driver.disconnected(.system(errno), now: .zero)
        poll(nil, 0, Self.retryMilliseconds)
        continue
      }
      state.withLock { $0.bell = bell }
      watch.begin()
      while !isStopRequested {
        connection.step()
        state.withLock { $0.isConnected = connection.isConnected }
      }
      connection.close()
      _ = watch.end()
    }
    state.withLock { $0.hasEnded = true }
    resumeWaiter()
  }
}

extension DiscoveryProblem {
  fileprivate static func system(_ code: Int32) -> DiscoveryProblem {
    .failed(code: code, reason: String(cString: strerror(code)))
  }
}

private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<AvahiThread>.fromOpaque(context).takeRetainedValue().main()
  return nil
}

/// An eventfd that wakes the poll loop of one thread from any other thread.
final class Bell: Sendable {
  let descriptor: Int32

  init?() {
    let descriptor = whiteboard_avahi_bell_new()
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  func ring() { whiteboard_avahi_bell_ring(descriptor) }

  func silence() { whiteboard_avahi_bell_silence(descriptor) }
}
