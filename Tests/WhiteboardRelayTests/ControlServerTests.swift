import CommandLines
import FoundationEssentials
import Testing
import WhiteboardKit

@testable import WhiteboardRelay

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The control socket of a relay, used through the file system.
@Suite(.timeLimit(.minutes(5))) struct ControlServerTests {
  private func withServer(
    answering answer: @escaping @Sendable (ControlRequest) async -> [ControlLine] = { _ in [.done] },
    _ body: (String) async throws -> Void
  ) async throws {
    try await RelayRoom.make { room in
      let path = room.directory + "/control.sock"
      let server = try ControlServer(at: path)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await server.run(answer) }
        try await body(path)
        group.cancelAll()
      }
      #expect(!FileManager.default.fileExists(atPath: path), "the socket file is removed")
    }
  }

  @Test("a request is answered with lines, and a refused one with an error and its code") func answers() async throws {
    let person = PersonReport(board: "b", boardName: "n", peer: "p", name: "\u{1B}[31mada")
    let answer: @Sendable (ControlRequest) async -> [ControlLine] = { request in
      request.command == .peers ? [.person(person), .done] : [.error(code: 77, message: "not that")]
    }
    try await withServer(answering: answer) { path in
      let lines = try await ControlClient.ask(ControlRequest(.peers), at: path)
      guard case .person(let got)? = lines.first, lines.count == 1 else {
        Issue.record("\(lines)")
        return
      }
      #expect(got == person)
      await #expect(throws: WhiteboardError(.notAllowed, "not that")) {
        try await ControlClient.ask(ControlRequest(.drain), at: path)
      }
    }
  }

  @Test("only the owner can use the socket") func permissions() async throws {
    try await withServer { path in
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
    }
  }

  @Test("a second relay is refused while the first answers, and replaces the socket of a dead one") func takeOver()
    async throws
  {
    try await withServer { path in
      #expect { try ControlServer(at: path) } throws: { ($0 as? WhiteboardError)?.code == .timedOut }
    }
    try await RelayRoom.make { room in
      let path = room.directory + "/control.sock"
      // A server that never ran has created its socket file, which remains after the server is gone.
      _ = try ControlServer(at: path)
      #expect(FileManager.default.fileExists(atPath: path))
      _ = try ControlServer(at: path)
    }
  }

  @Test(
    "a malformed request is answered with an error, and the next one is served",
    arguments: ["", "nonsense", "{}", #"{"command":"explode"}"#, "[1]", #"{"command":7}"#]
  ) func nonsense(line: String) async throws {
    try await withServer { path in
      let socket = try UnixSocket.connect(to: path)
      let writer = LineWriter(descriptor: socket.descriptor)
      try await writer.write(Array("\(line)\n".utf8))
      try await writer.flush()
      let reader = try LineReader(descriptor: socket.descriptor)
      guard case .line(let bytes)? = try await reader.nextLine(), case .error(64, _)? = try ControlLine(line: bytes)
      else {
        Issue.record("no error came")
        return
      }
      #expect(try await ControlClient.ask(ControlRequest(.status), at: path).isEmpty)
    }
  }

  @Test("idle connections do not delay the answer to another client") func silence() async throws {
    try await withServer { path in
      let silent = try (0..<7).map { _ in try UnixSocket.connect(to: path) }
      #expect(try await ControlClient.ask(ControlRequest(.status), at: path).isEmpty)
      withExtendedLifetime(silent) {}
    }
  }

  @Test("a path that is too long for a socket is an error with a message") func longPath() {
    #expect { try ControlServer(at: "/" + String(repeating: "x", count: 200)) } throws: {
      ($0 as? WhiteboardError)?.code == .usage
    }
  }
}
