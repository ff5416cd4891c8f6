import CoreMetrics
import Glibc
import PeerCore

/// The resource usage of this process, under the usual Prometheus names.
package struct ProcessMetrics: Sendable {
  /// The families that ``read()`` updates.
  package static let families: [MetricFamily] = [
    .counter("process_cpu_seconds_total", help: "Processor time of this process, user and system."),
    .gauge("process_resident_memory_bytes", help: "Resident memory of this process."),
    .gauge("process_open_fds", help: "Number of open file descriptors."),
    .gauge("process_max_fds", help: "Maximum number of open file descriptors."),
    .gauge("process_start_time_seconds", help: "Unix time at which this process started."),
  ]

  private let processorTime: FloatingPointCounter
  private let residentMemory: Meter
  private let openDescriptors: Meter
  private let maximumDescriptors: Meter
  private let countedTime = Locked(0.0)

  /// Creates the metrics in a factory.
  ///
  /// - Parameters:
  ///   - factory: The factory, which must have the ``families``.
  ///   - start: The time at which the process started, in seconds since the Unix epoch.
  package init(factory: any MetricsFactory, start: Double) {
    processorTime = FloatingPointCounter(label: "process_cpu_seconds_total", factory: factory)
    residentMemory = Meter(label: "process_resident_memory_bytes", factory: factory)
    openDescriptors = Meter(label: "process_open_fds", factory: factory)
    maximumDescriptors = Meter(label: "process_max_fds", factory: factory)
    Meter(label: "process_start_time_seconds", factory: factory).set(start)
  }

  /// Updates the metrics with values from the system.
  ///
  /// If the system does not report a value, the metric does not change.
  ///
  /// Call this method before the metrics are exported.
  package func read() {
    var usage = rusage()
    if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
      let time = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
      countedTime.withLock { counted in
        guard time > counted else { return }
        processorTime.increment(by: time - counted)
        counted = time
      }
    }
    if let pages = Self.residentPages() { residentMemory.set(pages * sysconf(Int32(_SC_PAGESIZE))) }
    if let count = Self.openDescriptorCount() { openDescriptors.set(count) }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      maximumDescriptors.set(Double(limit.rlim_cur))
    }
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

  /// Returns the number of resident pages, which is the second number in `/proc/self/statm` (proc(5)).
  private static func residentPages() -> Int? {
    let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return nil }
    let numbers = bytes.prefix(count).split(separator: UInt8(ascii: " "))
    return numbers.count > 1 ? Int(String(decoding: numbers[1], as: UTF8.self)) : nil
  }

  private static func openDescriptorCount() -> Int? {
    guard let directory = opendir("/proc/self/fd") else { return nil }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    // Do not count the entries `.` and `..`, and the descriptor of the directory itself.
    return max(count - 3, 0)
  }
}
