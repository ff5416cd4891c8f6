import CommandLines
import PeerCore
import SessionReplay
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// A recorder that joins a board and records it, controlled by lines from standard input.
actor BoardRecorder {
  private let sharedBoard: SharedBoard
  private let duration: Duration?
  private var isDiscarded = false
  private var began: ContinuousClock.Instant?

  init(_ configuration: BoardConfiguration, duration: Duration?) {
    let (begins, begin) = AsyncStream<Void>.makeStream()
    sharedBoard = SharedBoard(configuration, input: nil, sink: RecorderSink(begin: begin))
    self.begins = begins
    self.duration = duration
  }

  private let begins: AsyncStream<Void>

  /// Returns whether to keep the recording; everything recorded before an error is valid.
  func run() async throws(WhiteboardError) -> Bool {
    let helper = Task { await self.follow() }
    defer { helper.cancel() }
    try await sharedBoard.run()
    return !isDiscarded
  }

  func stop() async { await sharedBoard.requestEnd() }

  private func follow() async {
    for await _ in begins { break }
    guard !Task.isCancelled else { return }
    began = .now
    // Before this, the user may have to answer a question on the terminal.
    async let lines: Void = readLines()
    guard let duration else { return await lines }
    do { try await Task.sleep(for: duration) } catch { return }
    await stop()
  }

  private func readLines() async { await RecorderLine.read { line in await self.take(line) } }

  private func take(_ line: RecorderLine) async {
    do throws(DocumentError) {
      switch line {
      case .pause:
        try await sharedBoard.pauseRecording()
        await tell("paused")
      case .resume:
        try await sharedBoard.resumeRecording()
        await tell("recording")
      case .mark(let name):
        try await sharedBoard.markRecording(name)
        await tell("marked \(UntrustedText(name).quoted())")
      case .status:
        let problem = await sharedBoard.saveState.problem?.headline
        let isPaused = await sharedBoard.isRecordingPaused
        await tell(problem ?? (isPaused ? "paused" : "recording"))
        try? Console.tell(RecorderLine.present(await sharedBoard.presentNames))
      case .stop: await stop()
      case .discard:
        isDiscarded = true
        await stop()
      }
    } catch { Console.complain("whiteboard-replay: \(UntrustedText(error.message).escaped())") }
  }

  private func tell(_ state: String) async {
    let elapsed = began.map { Int64((ContinuousClock.now - $0) / .milliseconds(1)) } ?? 0
    let changes = await sharedBoard.recordedChanges
    try? Console.tell("\(state)  \(Recording.text(elapsed))  \(EventText.count(changes, "change"))\n")
  }
}

/// An event sink that prints joins, departures and problems, but not each change of the board.
private struct RecorderSink: EventSink {
  let begin: AsyncStream<Void>.Continuation

  var contents: EventContents { [] }

  func write(_ events: [SharedBoard.Output]) async throws(OutputError) {
    for event in events {
      switch event {
      case .news(.ready(let ready)):
        begin.yield()
        try? Console.tell(
          "recording \(ready.boardName.quoted()) as \(ready.name.quoted()); "
            + "`stop` saves the recording, `discard` deletes it\n"
        )
      case .news(.warning(let remark)), .news(.note(let remark)):
        Console.complain("whiteboard-replay: \(UntrustedText(remark.message).escaped())")
      case .news(.peerState), .news(.role), .change(.joined, _), .change(.left, _):
        if let line = EventText.line(event) { try? Console.tell(line + "\n") }
      default: break
      }
    }
  }
}

enum RecorderLine {
  case pause, resume
  case mark(String)
  case status, stop, discard

  private static let help = "pause, resume, mark NAME, status, stop, discard"

  static func present(_ names: [UntrustedText]) -> String {
    let shown = names.map(\.displayed)
    return "present: \(shown.isEmpty ? "no members" : shown.joined(separator: ", "))\n"
  }

  static func read(_ take: @Sendable (RecorderLine) async -> Void) async {
    guard let reader = try? LineReader(descriptor: STDIN_FILENO) else { return }
    while let line = try? await reader.nextLine() {
      guard case .line(let bytes) = line else { continue }
      let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 1)
      guard let word = words.first else { continue }
      let argument = words.count > 1 ? unquoted(words[1]) : ""
      switch word {
      case "pause": await take(.pause)
      case "resume": await take(.resume)
      case "mark": await take(.mark(argument))
      case "status": await take(.status)
      case "stop": await take(.stop)
      case "discard": await take(.discard)
      case "help", "?": try? Console.tell("\(help)\n")
      default: Console.complain("unknown command \(UntrustedText(word).quoted()); use \(help)")
      }
    }
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
    return String(text.dropFirst().dropLast())
  }
}
