import FoundationEssentials
import Glibc
import Logging
import PeerSession

/// A wrong call of the program, or a failure of the other end.
struct Misuse: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// The results of one measurement, by name.
struct Figures {
  private var numbers: [(name: String, value: Double)] = []

  subscript(name: String) -> Double {
    get { numbers.first { $0.name == name }?.value ?? .nan }
    set { numbers.append((name, newValue)) }
  }

  /// Adds the median and the 99th percentile of round trips, in microseconds.
  mutating func add(roundTrips: [Duration]) {
    let sorted = roundTrips.sorted()
    guard let last = sorted.last else { return }
    self["count"] = Double(sorted.count)
    self["p50"] = sorted[sorted.count / 2].seconds * 1e6
    self["p99"] = sorted[min(sorted.count - 1, sorted.count * 99 / 100)].seconds * 1e6
    self["max"] = last.seconds * 1e6
  }

  var json: String { "{" + numbers.map { "\"\($0.name)\": \($0.value)" }.joined(separator: ", ") + "}" }
}

extension Duration {
  var seconds: Double { self / .seconds(1) }
}

enum Memory {
  /// Resets the peak to the current size, and returns it in bytes.
  static func mark() throws -> Int {
    try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    return try status("VmRSS:")
  }

  /// Returns the peak size since the mark, in bytes.
  static func peak() throws -> Int { try status("VmHWM:") }

  private static func status(_ key: String) throws -> Int {
    for line in try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    where line.hasPrefix(key) {
      let digits = line.filter(\.isNumber)
      if let kibibytes = Int(digits) { return kibibytes << 10 }
    }
    throw Misuse("No \(key) in /proc/self/status.")
  }
}

/// Prints a line without buffering.
func write(line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = Glibc.write(STDOUT_FILENO, bytes, bytes.count)
}

/// Returns the configuration of both ends: a key for this run, and no log.
func configuration(listen: String, inbox: String) throws -> TransportConfiguration {
  var configuration = TransportConfiguration(
    identity: .ephemeral(),
    displayName: "bench",
    inboxDirectory: inbox,
    logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
  )
  guard let colon = listen.lastIndex(of: ":"), let port = Int(listen[listen.index(after: colon)...]) else {
    throw Misuse("\(listen) is not ADDRESS:PORT.")
  }
  configuration.inboxQuota = 32 << 30
  configuration.listen = PeerAddress(host: String(listen[..<colon]), port: port)
  return configuration
}
