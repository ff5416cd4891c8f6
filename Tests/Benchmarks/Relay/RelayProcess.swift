import Foundation
import WhiteboardKit
import WhiteboardRelay

/// The processor time and the memory of a running process.
struct ProcessFigures: Sendable {
  let id: Int32

  /// The processor time of the process so far, in seconds.
  var processorTime: Double {
    let fields = contents("stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// The current memory of the process in bytes: all of it, and without files, for example the program.
  var memory: (all: Double, anonymous: Double) {
    let fields = contents("statm").split(separator: " ").compactMap { Double($0) }
    return fields.count > 2 ? (fields[1] * 4096, (fields[1] - fields[2]) * 4096) : (0, 0)
  }

  private func contents(_ name: String) -> String {
    (try? String(contentsOfFile: "/proc/\(id)/\(name)", encoding: .utf8)) ?? ""
  }
}

/// A `whiteboard-relay` in its own process, only for the benchmark.
final class RelayProcess {
  private let process = Process()
  private let directory: String
  /// The join link of the relay's only board.
  let link: BoardLink

  init(program: String) async throws {
    directory = FileManager.default.temporaryDirectory.path + "/relay-bench-\(getpid())"
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = [
      "serve", "--json", "--data-dir", directory, "--listen", "127.0.0.1:0", "--no-announce", "--http", "none",
      "--max-people", "256", "--log-level", "warning",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // The first line of the output reports that the relay is reachable.
    _ = output.fileHandleForReading.availableData
    var request = ControlRequest(.create)
    request.name = "bench"
    request.admit = "anyone"
    let socket = RelayConfiguration.controlPath(dataDirectory: directory, runtimeDirectory: nil)
    guard case .board(let report)? = try await ControlClient.ask(request, at: socket).first, let text = report.link
    else { throw WhiteboardError(.internal, "the relay made no board") }
    link = try BoardLink(text)
  }

  func end() {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: directory)
  }

  var figures: ProcessFigures { ProcessFigures(id: process.processIdentifier) }
}
