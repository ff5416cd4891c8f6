import FoundationEssentials
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The functions by which the doctor reads the state of the computer; tests replace them.
package struct SystemReading: Sendable {
  /// A function that returns the text of a file; nil if the file does not exist or cannot be read.
  package var file: @Sendable (_ path: String) -> String?
  package var exists: @Sendable (_ path: String) -> Bool
  /// A function that returns the output of one of the fixed commands; nil if the command is not installed or fails.
  package var output: @Sendable (_ command: Command) -> String?
  /// A function that returns the value of an environment variable; nil if it is not set or empty.
  package var environment: @Sendable (_ name: String) -> String?

  /// A command whose output contains information that no file contains.
  package enum Command: String, Sendable, CaseIterable {
    /// The rules of nftables, which can include those of iptables; only root can read them.
    case nftables = "/usr/sbin/nft list ruleset"
    /// The rules of iptables; only root can read them.
    case iptables = "/usr/sbin/iptables-save"
    /// Whether the clock is synchronized: `yes` or `no`.
    case clock = "timedatectl show --property=NTPSynchronized --value"
    /// Whether tmux passes escape sequences through to the terminal.
    case tmuxPassthrough = "tmux display-message -p '#{allow-passthrough}'"
  }

  package init(
    file: @escaping @Sendable (String) -> String?,
    exists: @escaping @Sendable (String) -> Bool,
    output: @escaping @Sendable (Command) -> String?,
    environment: @escaping @Sendable (String) -> String?
  ) {
    self.file = file
    self.exists = exists
    self.output = output
    self.environment = environment
  }

  /// The functions that read this computer.
  package static let machine = SystemReading(
    file: { path in (try? FileReading.whole(path, limit: maximumSize)).map { String(decoding: $0, as: UTF8.self) } },
    exists: { FileManager.default.fileExists(atPath: $0) },
    output: run,
    environment: { name in getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } }
  )

  private static let maximumSize = 4 << 20

  private static func run(_ command: Command) -> String? {
    // Every command is a constant, so no untrusted text reaches the shell.
    guard let pipe = popen("\(command.rawValue) 2>/dev/null", "r") else { return nil }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < maximumSize {
      let count = fread(&piece, 1, piece.count, pipe)
      guard count > 0 else { break }
      bytes += piece.prefix(count)
    }
    return pclose(pipe) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
  }
}
