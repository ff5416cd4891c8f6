import Dispatch
import FoundationEssentials
import PeerCore

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// A program that reads other file formats. The program runs as a child process with limits, so a hostile or damaged
/// file can only end the child process.
struct ChildProgram {
  let name: String
  /// The Debian package that contains the program.
  let package: String

  /// The maximum duration of a run.
  private static let seconds = 60
  /// The maximum memory of the program, in KiB.
  private static let memory = 2 << 20
  /// The maximum size of each file that the program writes.
  private static let fileBytes = 256 << 20
  /// The descriptor of the child's end of the connection, in the child process.
  private static let childEnd: Int32 = 3
  #if canImport(Glibc)
  private static let socketType = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
  #else
  private static let socketType = SOCK_STREAM | SOCK_CLOEXEC
  #endif
  /// The exit status of the shell if the program was not found.
  private static let notFound: Int32 = 127

  /// Blocks the thread until the program ends; returns its standard output.
  @discardableResult func run(_ arguments: [String], in folder: String, settings: [String] = []) throws(ConversionError)
    -> String
  {
    // The unit of `ulimit -f` is 512 bytes.
    let limits = "ulimit -v \(Self.memory) && ulimit -t \(Self.seconds) && ulimit -f \(Self.fileBytes / 512)"
    let script = "cd \"$0\" && \(limits) && exec \"$@\" </dev/null >printed 2>/dev/null"
    let words = ["sh", "-c", script, folder, name] + arguments
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let settings = ["PATH=\(path)", "HOME=\(folder)", "TMPDIR=\(folder)", "LC_ALL=C.UTF-8"] + settings
    var child: pid_t = 0
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Only the child holds the other end, which the system closes when the child ends.
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Self.socketType, 0, &ends) == 0 else {
      throw ConversionError("\(name) cannot be started: \(SystemError.words(for: errno))")
    }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], Self.childEnd)
    // SwiftNIO's sockets have no close-on-exec flag. A child that inherits them could keep a listener's port open.
    let inherited = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    for descriptor in inherited.compactMap({ Int32($0) }) where descriptor > Self.childEnd {
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    // In its own process group, the child does not receive the signals of the terminal.
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let status = Self.withStrings(words) { words in
      Self.withStrings(settings) { posix_spawn(&child, "/bin/sh", &actions, &attributes, words, $0) }
    }
    close(ends[1])
    guard status == 0 else { throw ConversionError("\(name) cannot be started: \(SystemError.words(for: status))") }
    try check(wait(for: child, until: ends[0]))
    return (try? FileReading.whole("\(folder)/printed", limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
      ?? ""
  }

  /// Waits until the other end of the connection is closed, and returns the wait status of the child. Returns nil if
  /// the child took too long and was killed.
  private func wait(for child: pid_t, until connection: Int32) -> Int32? {
    let start = DispatchTime.now().uptimeNanoseconds
    var (ends, status, hasEnded) = ([pollfd(fd: connection, events: 0, revents: 0)], Int32(0), false)
    while !hasEnded {
      let passed = Int((DispatchTime.now().uptimeNanoseconds - start) / 1_000_000)
      guard passed < Self.seconds * 1_000 else { break }
      hasEnded = poll(&ends, 1, Int32(Self.seconds * 1_000 - passed)) > 0
    }
    if !hasEnded { kill(-child, SIGKILL) }
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return hasEnded ? status : nil
  }

  private func check(_ status: Int32?) throws(ConversionError) {
    guard let status else { throw ConversionError("\(name) did not finish within \(Self.seconds) s, and was stopped") }
    let (signal, code) = (status & 0x7F, status >> 8 & 0xFF)
    guard signal != 0 || code != 0 else { return }
    throw ConversionError(
      signal == 0 && code == Self.notFound
        ? "the program \(name) is missing; install the Debian package \(package)"
        : "it cannot be converted; it may be damaged or too large"
    )
  }

  private static func withStrings<Result>(
    _ strings: [String],
    _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }

  /// The folder exists until `body` returns.
  static func withFolder<Result>(_ body: (String) throws(ConversionError) -> Result) throws(ConversionError) -> Result {
    var template = Array("\(ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")/whiteboard-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw ConversionError("no temporary folder can be created: \(SystemError.words(for: errno))")
    }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
  }
}
