import Foundation
import PeerTestKit
import Testing
import WhiteboardRelay

struct SystemdUnitTests {
  /// The program that checks units; nil, with a warning, if it is not installed.
  private var analyzer: Judge? {
    guard let analyzer = Judge("systemd-analyze") else {
      Issue.record("systemd-analyze is not installed (Debian: systemd)", severity: .warning)
      return nil
    }
    return analyzer
  }

  private func verdict(_ text: String, _ command: [String], by analyze: Judge) async throws -> Judge.Verdict {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/whiteboard-relay.service"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return try await analyze.judge(command + [path])
  }

  @Test("systemd finds no error in the unit, with any command") func isVerified() async throws {
    guard let analyze = analyzer else { return }
    let commands: [[String]] = [
      [], ["serve", "--listen", "[::]:26273"], ["a b", "\"", "'", "\\", "", ";", "100%", "$HOME", "ü"],
    ]
    for arguments in commands {
      let unit = try SystemdUnit(executable: "/usr/bin/true", arguments: arguments)
      let verdict = try await verdict(unit.text, ["verify", "--man=no"], by: analyze)
      #expect(verdict.status == 0)
      #expect(verdict.words.isEmpty, "\(verdict.words)")
    }
    let wrong = try SystemdUnit(executable: "/nowhere/whiteboard-relay").text
    #expect(try await self.verdict(wrong, ["verify", "--man=no"], by: analyze).status != 0)
  }

  @Test("systemd rates the exposure of the unit as OK or better") func isSecure() async throws {
    guard let analyze = analyzer else { return }
    let unit = try SystemdUnit(executable: "/usr/bin/true")
    let verdict = try await verdict(unit.text, ["security", "--offline=yes", "--no-pager"], by: analyze)
    #expect(verdict.status == 0)
    let overall = try #require(verdict.words.split(separator: "\n").first { $0.contains("Overall exposure level") })
    let words = overall.split(separator: " ")
    let level = try #require(words.lazy.compactMap { Double($0) }.first)
    // 5 and more is MEDIUM or worse; the current value is 1.1.
    #expect(level < 2, "\(overall)")
    #expect(words.contains("OK") || words.contains("SAFE") || words.contains("PERFECT"))
  }

  @Test("the command is quoted so that systemd reads the same words") func quotes() throws {
    let unit = try SystemdUnit(
      executable: "/opt/white board/100%/relay",
      arguments: ["--listen", "[::]:26273", "", "say \"hi\"", "back\\slash", "$HOME", "%h", ";"]
    )
    let line = unit.text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") }
    #expect(
      line == #"""
        ExecStart="/opt/white board/100%%/relay" --listen [::]:26273 "" "say \"hi\"" "back\\slash" $$HOME %%h ";"
        """#
    )
  }

  @Test("a command that a unit cannot contain is an error") func refuses() {
    for (executable, arguments) in [
      ("whiteboard-relay", []), ("", []), ("/a\nExecStartPre=/b", []), ("/a", ["b\u{1b}"]),
    ] {
      #expect(throws: SystemdUnit.CommandError.self) { try SystemdUnit(executable: executable, arguments: arguments) }
    }
  }

  @Test("the unit has the settings for notification, watchdog, restart, reload and stop") func saysHow() throws {
    let unit = try SystemdUnit(executable: "/usr/bin/whiteboard-relay", arguments: ["serve"])
    let lines = Set(unit.text.split(separator: "\n"))
    let expected: [Substring] = [
      "Type=notify", "ExecStart=/usr/bin/whiteboard-relay serve", "ExecReload=/bin/kill -HUP $MAINPID",
      "WatchdogSec=30", "Restart=on-failure", "TimeoutStopSec=15", "DynamicUser=yes", "StateDirectory=whiteboard-relay",
      "ProtectSystem=strict", "MemoryMax=1G", "LimitNOFILE=131072",
      "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    ]
    for line in expected { #expect(lines.contains(line), "\(line)") }
  }

  @Test("with a user of the system, systemd creates no user") func hasOwnUser() async throws {
    let unit = try SystemdUnit(executable: "/usr/bin/true", user: "daemon")
    let lines = unit.text.split(separator: "\n")
    #expect(lines.filter { $0.contains("User=") } == ["User=daemon"])
    for name in ["", "9", "a b", "a\nb", "%h", "-a"] {
      #expect(throws: SystemdUnit.CommandError.self) { try SystemdUnit(executable: "/usr/bin/true", user: name) }
    }
    guard let analyze = analyzer else { return }
    let verdict = try await verdict(unit.text, ["verify", "--man=no"], by: analyze)
    #expect(verdict.status == 0)
    #expect(verdict.words.isEmpty, "\(verdict.words)")
  }
}
