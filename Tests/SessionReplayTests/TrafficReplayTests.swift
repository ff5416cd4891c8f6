import Foundation
import Logging
import PeerSession
import SessionReplay
import Testing
import WhiteboardDocument

/// Recording the sessions of a program other than a whiteboard, and replaying them to it.
@Suite(.timeLimit(.minutes(5))) struct TrafficReplayTests {
  /// A program that repeats every message in capitals, and sends back streams and the names of resources.
  private struct Program {
    /// The answer to a message; nil for none.
    var answer: @Sendable (String) -> String? = { $0.uppercased() }

    func run(_ session: Session, _ directory: String) async {
      await withDiscardingTaskGroup { group in
        for await event in session.events {
          switch event {
          case .message(let bytes, let peer):
            guard let words = answer(String(decoding: bytes, as: UTF8.self)) else { continue }
            _ = try? await session.send(Array(words.utf8), to: [peer])
          case .resourceFinished(let info, .success(let resource)) where info.direction == .incoming:
            guard let path = resource.path else { continue }
            let name = "again \(info.name.raw)"
            _ = try? session.sendResource(atPath: path, named: name, to: info.peer)
          case .streamOpened(let stream):
            group.addTask {
              do {
                for try await bytes in stream.inbound { try await stream.write(bytes.reversed()) }
                try await stream.finish()
              } catch {
                // The stream broke, and its opener gets the error.
              }
            }
          default: break
          }
        }
      }
    }
  }

  private static func configuration(_ name: String, _ directory: TemporaryDirectory) -> TransportConfiguration {
    var configuration = TransportConfiguration(
      identity: .ephemeral(),
      displayName: name,
      inboxDirectory: directory.file("inbox-\(UUID().uuidString)"),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    return configuration
  }

  private static func request(_ transport: PeerTransport, _ session: Session) -> JoinRequest {
    JoinRequest(
      session: session.id,
      addresses: [PeerAddress(host: "127.0.0.1", port: transport.port)],
      peer: transport.peerID,
      trust: .pinnedByLink
    )
  }

  /// Hosts the program while `body` runs.
  private static func hosting<Result: Sendable>(
    _ program: Program,
    _ directory: TemporaryDirectory,
    recordingTo path: String? = nil,
    _ body: @escaping @Sendable (JoinRequest) async throws -> Result
  ) async throws -> Result {
    try await PeerTransport.withTransport(configuration("program", directory)) { transport in
      let session = try await transport.host(.random(), admission: .anyone)
      var recorder: SessionRecorder?
      if let path { recorder = try await SessionRecorder.start(session, as: "program", to: path) }
      let request = request(transport, session)
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await program.run(session, directory.path) }
        let result = try await body(request)
        await session.leave()
        try await group.waitForAll()
        try await recorder?.stop()
        return result
      }
    }
  }

  /// Lets two people use the program one after the other.
  private static func use(_ request: JoinRequest, _ directory: TemporaryDirectory) async throws {
    for (number, name) in ["Ada", "Ben"].enumerated() {
      try await PeerTransport.withTransport(configuration(name, directory)) { transport in
        let session = try await transport.join(request) { _ in true }
        var events = session.events.makeAsyncIterator()
        func message() async -> String? {
          while let event = await events.next() {
            if case .message(let bytes, request.peer) = event { return String(decoding: bytes, as: UTF8.self) }
          }
          return nil
        }
        for word in ["hello", "from \(name)"] {
          try await session.send(Array(word.utf8), to: [session.hostPeer])
          #expect(await message() == word.uppercased())
        }
        try await session.send([1, 2, 3], mode: .unreliable)
        let stream = try await session.openStream(named: "echo", to: session.hostPeer)
        try await stream.write([1, 2, 3])
        var heard: [UInt8] = []
        for try await bytes in stream.inbound {
          heard += bytes
          if heard.count == 3 { try await stream.finish() }
        }
        #expect(heard == [3, 2, 1])
        if number == 0 {
          let file = directory.file("file")
          try Data("twelve bytes".utf8).write(to: URL(fileURLWithPath: file))
          let name = #"{"id":7}"#
          _ = try session.sendResource(atPath: file, named: name, to: session.hostPeer)
          while let event = await events.next() {
            if case .resourceFinished(let info, .success) = event, info.direction == .incoming {
              #expect(info.name.raw == "again \(name)" && info.size == 12)
              break
            }
          }
        }
        await session.leave()
      }
    }
  }

  @Test("[REC-13] [REC-15] a recorded session replays against the program; a changed one is detected")
  func recordedAndActed() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("session.whiteboard")
    try await Self.hosting(Program(), directory, recordingTo: path) { request in try await Self.use(request, directory)
    }
    let recording = try await Recording.open(path)
    let traffic = recording.history.traffic
    let words = traffic.filter { $0.kind == .sentMessage }.map { String(decoding: $0.bytes, as: UTF8.self) }
    #expect(words == ["HELLO", "FROM ADA", "HELLO", "FROM BEN"])
    #expect(traffic.filter { $0.kind == .joined }.map(\.text) == ["Ada", "Ben"])
    #expect(traffic.filter { $0.kind == .left }.map(\.text) == ["left", "left"])
    let resources = traffic.filter { $0.kind == .resource || $0.kind == .sentResource }
    #expect(resources.map(\.text) == [#"{"id":7}"#, #"again {"id":7}"#])
    #expect(resources.map(\.size) == [12, 12] && Set(resources.map(\.number)).count == 2)
    let streamed = traffic.filter { $0.kind == .sentStreamBytes }.map(\.bytes)
    #expect(streamed == [[3, 2, 1], [3, 2, 1]])
    #expect(traffic.filter { $0.kind == .finishedStream }.count == 2)
    #expect(await Verification(of: recording, seed: 1).isGood && recording.count == 0)

    var replay = try TrafficReplay(recording)
    #expect(replay.peers.count == 2)
    let good = try await Self.hosting(Program(), directory) { [replay] request in
      try await replay.play(against: request)
    }
    #expect(good.differences.isEmpty, "\(good.differences)")
    #expect(good.compared >= 9 && good.given >= 9)

    // A changed program, which does not capitalize for Ben and does not answer a second hello.
    let changed = Program { $0.hasSuffix("Ben") ? $0 : $0.uppercased() }
    let other = try await Self.hosting(changed, directory) { [replay] request in try await replay.play(against: request)
    }
    #expect(other.differences.map(\.found) == [Array("from Ben".utf8)])
    #expect(other.differences.first.map { traffic[$0.place].bytes } == Array("FROM BEN".utf8))
    let told = try #require(other.differences.first).description
    #expect(told.hasSuffix(#"a message, 8 bytes: "FROM BEN", is now 8 bytes: "from Ben""#), "\(told)")
    let patience = replay.patience
    replay.patience = .seconds(1)
    let silent = try await Self.hosting(Program { _ in nil }, directory) { [replay] request in
      try await replay.play(against: request)
    }
    // On a busy machine, other recorded events can be late, too.
    let unsent = silent.differences.filter { traffic[$0.place].kind == .sentMessage }
    #expect(unsent.count == 4 && unsent.allSatisfy { $0.found == nil })
    // With `isSame`, differences can be allowed.
    replay.patience = patience
    replay.isSame = { _, _ in true }
    let any = try await Self.hosting(changed, directory) { [replay] request in try await replay.play(against: request) }
    #expect(any.differences.isEmpty)
  }

  @Test("a pause is marked in the recording, and markers are stored") func paused() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("session.whiteboard")
    try await PeerTransport.withTransport(Self.configuration("one", directory)) { one in
      let hosted = try await one.host(.random(), admission: .anyone)
      let recorder = try await SessionRecorder.start(hosted, as: "one", to: path)
      try await PeerTransport.withTransport(Self.configuration("two", directory)) { two in
        let joined = try await two.join(Self.request(one, hosted)) { _ in true }
        var events = hosted.events.makeAsyncIterator()
        func hear(_ byte: UInt8) async throws {
          try await joined.send([byte])
          while let event = await events.next() { if case .message = event { return } }
        }
        try await hear(1)
        await recorder.pause()
        try await hear(2)
        await recorder.resume()
        try await recorder.mark("here")
        try await hear(3)
        await joined.leave()
      }
      try await recorder.stop()
    }
    let recording = try await Recording.open(path)
    let traffic = recording.history.traffic
    #expect(traffic.filter { $0.kind == .message }.map(\.bytes) == [[1], [3]])
    #expect(traffic.count { $0.kind == .missed } == 1)
    #expect(recording.markers.map(\.name) == ["here"])
    #expect(throws: DocumentError.self) {
      try TrafficReplay(Recording(DocumentHistory(board: Array(1...16), name: "x")))
    }
  }

  @Test("a full disk is reported at once, and what was recorded before is valid") func full() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("session.whiteboard")
    try await PeerTransport.withTransport(Self.configuration("one", directory)) { one in
      let hosted = try await one.host(.random(), admission: .anyone)
      let (failures, failed) = AsyncStream<DocumentError>.makeStream()
      let recorder = try await SessionRecorder.start(hosted, as: "one", to: path) { failed.yield($0) }
      // The earlier entries are written.
      try await recorder.mark("begun")
      try await recorder.limitPages()
      try await PeerTransport.withTransport(Self.configuration("two", directory)) { two in
        let joined = try await two.join(Self.request(one, hosted)) { _ in true }
        // A sent message is recorded when it is accepted, whether it arrives or not.
        let sending = Task {
          for await event in hosted.events {
            guard case .message(let bytes, _) = event else { continue }
            _ = try? await hosted.send(bytes)
          }
        }
        for _ in 0..<4 { try await joined.send([UInt8](repeating: 7, count: 100_000)) }
        var iterator = failures.makeAsyncIterator()
        #expect(await iterator.next()?.code == .full)
        await hosted.leave()
        await sending.value
      }
      // Small entries may find room again.
      try? await recorder.stop()
    }
    let recording = try await Recording.open(path)
    #expect(recording.history.damages.isEmpty)
    #expect(recording.history.traffic.first?.kind == .began)
    #expect(recording.history.traffic.count { $0.kind == .message } < 4)
  }
}
