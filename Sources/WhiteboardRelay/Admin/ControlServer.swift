import Dispatch
import WhiteboardNode

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Answers what is asked of a relay over its control socket, which permissions of the file system guard.
package struct ControlServer: Sendable {
  /// How many are answered at a time; further ones wait in the system's queue.
  private static let maximumConnections = 8
  /// How long a connection may say or take nothing.
  private static let patience = 10

  private let socket: UnixSocket
  private let path: String

  /// Listens at a path.
  ///
  /// - Throws: ``NodeError`` if another relay does, or it cannot be made.
  package init(at path: String) throws(NodeError) {
    socket = try UnixSocket.listen(at: path)
    self.path = path
  }

  /// Answers, one line of JSON for one or more, until the task is cancelled.
  ///
  /// - Parameter answer: What there is to say to a request, ended by `done` or `error`.
  package func run(
    _ answer: @escaping @Sendable (ControlRequest) async -> [ControlLine]
  ) async {
    let socket = socket
    let (connections, source) = AsyncStream.makeStream(of: UnixSocket.self)
    let queue = DispatchQueue(label: "whiteboard.control")
    let readiness = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
    readiness.setEventHandler {
      if let connection = socket.accept() { source.yield(connection) }
    }
    readiness.activate()
    await withTaskGroup(of: Void.self) { group in
      var running = 0
      for await connection in connections {
        if running == Self.maximumConnections {
          await group.next()
          running -= 1
        }
        running += 1
        group.addTask { await Self.serve(connection, answer) }
      }
      group.cancelAll()
    }
    readiness.cancel()
    unlink(path)
  }

  private static func serve(
    _ connection: UnixSocket,
    _ answer: @Sendable (ControlRequest) async -> [ControlLine]
  ) async {
    connection.limitWaits(seconds: patience)
    let lines: [ControlLine]
    do {
      let reader = try LineReader(descriptor: connection.descriptor, limit: 65_536)
      guard case .line(let line)? = try await reader.next() else { return }
      lines = await answer(try ControlRequest(line: line))
    } catch let error as NodeError {
      lines = [.error(code: error.code.rawValue, message: error.message)]
    } catch {
      return
    }
    let writer = LineWriter(descriptor: connection.descriptor)
    // Whoever does not take the answer does not get it.
    for line in lines where (try? await writer.write(line.json)) == nil { return }
    try? await writer.flush()
  }
}

/// Asks a running relay.
package enum ControlClient {
  /// Asks, and gives the lines of the answer without the last.
  ///
  /// - Parameters:
  ///   - request: What is asked.
  ///   - path: Where the relay's control socket is.
  /// - Returns: The lines.
  /// - Throws: ``NodeError``: why it was not done, or why nobody could be asked.
  package static func ask(
    _ request: ControlRequest,
    at path: String
  ) async throws(NodeError) -> [ControlLine] {
    let socket = try UnixSocket.connect(to: path)
    var lines: [ControlLine] = []
    do {
      let reader = try LineReader(descriptor: socket.descriptor, limit: 16 << 20)
      let writer = LineWriter(descriptor: socket.descriptor)
      try await writer.write(EventLine.json("request", request))
      try await writer.flush()
      while case .line(let bytes)? = try await reader.next() {
        switch try ControlLine(line: bytes) {
        case .done?: return lines
        case .error(let code, let message)?:
          throw NodeError(NodeError.Code(rawValue: code) ?? .internal, message)
        case let line?: lines.append(line)
        case nil: continue
        }
      }
    } catch let error as NodeError {
      throw error
    } catch {
      throw NodeError(.inputOutput, "the relay's answer cannot be read: \(error)")
    }
    throw NodeError(.unreachable, "the relay ended before it had answered")
  }
}
