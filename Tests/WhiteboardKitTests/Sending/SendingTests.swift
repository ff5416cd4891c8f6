import CommandLines
import Logging
import Testing

@testable import PeerSession
@testable import WhiteboardKit

/// The answers to `send`, with a peer that stops receiving.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SendingTests: BoardSuite {
  private func withBarePeer(
    lostAfter: Duration = .seconds(60),
    _ body: @escaping @Sendable (BoardRoom, ScriptedBoard, PeerTransport, Session) async throws -> Void
  ) async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      var hosting = await room.configuration(.host(boardName: "board"), "ada")
      hosting.admission = .anyone
      hosting.lostAfter = lostAfter
      let begun = hosting
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await host.run(begun) }
        let ready = try #require(await host.ready())
        let link = try BoardLink(ready.link)
        var configuration = TransportConfiguration(
          identity: .ephemeral(),
          displayName: "bare",
          inboxDirectory: room.path("bare"),
          logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        configuration.isDiallable = false
        try await PeerTransport.withTransport(configuration) { transport in
          let request = JoinRequest(
            session: SessionID(text: link.board),
            addresses: [PeerAddress(host: "127.0.0.1", port: ready.port)],
            peer: begun.identity.peerID,
            trust: .pinnedByLink
          )
          let session = try await transport.join(request) { _ in true }
          try await host.perform("wait peers=1 timeout=30")
          try await body(room, host, transport, session)
          await session.leave()
        }
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  /// Begins a command. When this function returns, the command is in the board's input.
  private func begin(_ scriptedBoard: ScriptedBoard, _ line: String) async -> Task<CommandError.Code?, Never> {
    let count = await scriptedBoard.requestCount
    let task = Task { await error(scriptedBoard, line) }
    while await scriptedBoard.requestCount == count { await Task.yield() }
    return task
  }

  @Test("[MSG-4] a message is answered when its recipient has it; later commands run before that") func confirmed()
    async throws
  {
    try await withBarePeer { _, host, _, session in
      try await session.pause(true)
      let requests = [await begin(host, "send first"), await begin(host, "send second")]
      try await host.perform("digest")
      #expect(await host.answered(.send) == 0)
      try await session.pause(false)
      for request in requests { #expect(await request.value == nil) }
      #expect(await host.answered(.send) == 2)
      try await session.pause(true)
      try await host.perform("send --unreliable third")
      try await session.pause(false)
    }
  }

  @Test("[LIV-4] a message to a peer that is lost is answered with an error that names the peer") func lost()
    async throws
  {
    try await withBarePeer(lostAfter: .milliseconds(200)) { _, host, transport, session in
      try await session.pause(true)
      var requests: [Task<CommandError.Code?, Never>] = []
      for number in 0..<3 { requests.append(await begin(host, "send \(number)")) }
      try await host.perform("digest")
      try await session.vanish()
      for request in requests { #expect(await request.value == .undelivered) }
      let left = await host.events.compactMap { event in
        if case .change(.left, let left) = event {
          left.departure.map { "\($0.reason) \($0.undelivered)" }
        } else {
          nil
        }
      }
      #expect(left == ["lost 3"])
      let failures = await host.failures
      #expect(failures.count == 3)
      for failure in failures {
        #expect(failure.delivery?.delivered == [])
        let named = failure.delivery?.undelivered.map { "\($0.peer) \($0.name) \($0.reason)" }
        #expect(named == ["\(transport.peerID.text) bare lost"])
      }
    }
  }

  @Test("if one of several recipients leaves, the answer names those that have the message") func partly() async throws
  {
    try await withBarePeer { room, host, _, session in
      let guest = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let joining = try await room.joining(try #require(await host.ready()))
        group.addTask { try await guest.run(joining) }
        try await host.perform("wait peers=2 timeout=30")
        try await session.pause(true)
        let request = await begin(host, "send hello")
        #expect(await guest.sees { if case .change(.message, _) = $0 { true } else { false } })
        await session.leave()
        #expect(await request.value == .undelivered)
        let failure = try #require(await host.failures.first)
        #expect(failure.delivery?.delivered == [joining.identity.peerID.text])
        #expect(failure.delivery?.undelivered.map(\.reason) == ["left"])
        await guest.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("`quit` is answered after the unconfirmed messages are done") func quitting() async throws {
    try await withBarePeer { _, host, _, session in
      try await session.pause(true)
      let request = await begin(host, "send hello")
      try await host.perform("digest")
      try await host.perform("quit")
      #expect(await request.value == .undelivered)
      let answers = await host.events.compactMap { event -> String? in
        switch event {
        case .answer(.done(let verb, _), _): verb.rawValue
        case .answer(.error(let error), _): error.verb
        default: nil
        }
      }
      #expect(answers.suffix(2) == ["send", "quit"])
    }
  }

  @Test("a program that ends answers its undelivered messages first", arguments: [true, false]) func ending(
    leaves: Bool
  ) async throws {
    try await withBarePeer { _, host, _, session in
      try await session.pause(true)
      let request = await begin(host, "send hello")
      try await host.perform("digest")
      if leaves { try await host.perform("leave") } else { await host.end() }
      #expect(await request.value == .undelivered)
      #expect(await host.failures.first?.delivery?.undelivered.map(\.reason) == ["ending"])
    }
  }
}

extension Session {
  /// Stops receiving, or resumes.
  fileprivate func pause(_ isPaused: Bool) async throws {
    try await onLoop { core in
      for entry in core.entries.values {
        if isPaused { entry.link?.pauseReading() } else { entry.link?.resumeReading() }
      }
    }
  }

  /// Breaks every link and stops dialing, like a killed process.
  fileprivate func vanish() async throws {
    try await onLoop { core in
      for entry in core.entries.values {
        core.dialler.policy[entry.id].bar(.always)
        entry.link.take()?.abort()
      }
    }
  }
}

extension ScriptedBoard {
  fileprivate func answered(_ verb: CommandName) -> Int {
    events.count { if case .answer(.done(verb, _), _) = $0 { true } else { false } }
  }

  /// The errors of commands.
  fileprivate var failures: [CommandError] {
    events.compactMap { if case .answer(.error(let failure), _) = $0 { failure } else { nil } }
  }
}
