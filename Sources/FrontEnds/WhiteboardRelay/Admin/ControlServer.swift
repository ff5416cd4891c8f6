import CommandLines
import Dispatch
import PeerCore
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Answers requests to a relay over its control socket, whose file permissions restrict access.
package struct ControlServer: Sendable {
  /// The maximum number of simultaneous connections; further ones wait in the system's queue.
  private static let maximumConnections = 8
  /// The maximum time that a read or a write waits for the client, in seconds.
  private static let patience = 10

  private let socket: UnixSocket
  private let path: String

  /// Throws if another relay listens at the path, or if the socket cannot be created.
  package init(at path: String) throws(WhiteboardError) {
    socket = try UnixSocket.listen(at: path)
    self.path = path
  }

  /// Answers one request on each connection until the task is canceled.
  package func run(_ answer: @escaping @Sendable (ControlRequest) async -> [ControlLine]) async {
    let socket = socket
    let (connections, source) = AsyncStream.makeStream(of: UnixSocket.self)
    let queue = DispatchQueue(label: "whiteboard.control")
    let readiness = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
    readiness.setEventHandler { if let connection = socket.accept() { source.yield(connection) } }
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

  private static func serve(_ connection: UnixSocket, _ answer: @Sendable (ControlRequest) async -> [ControlLine]) async
  {
    connection.limitWaits(seconds: patience)
    let lines: [ControlLine]
    do {
      let reader = try LineReader(descriptor: connection.descriptor, limit: 65_536)
      guard case .line(let line)? = try await reader.nextLine() else { return }
      lines = await answer(try ControlRequest(line: line))
    } catch let error as WhiteboardError { lines = [.error(code: error.code.rawValue, message: error.message)] } catch {
      return
    }
    let writer = LineWriter(descriptor: connection.descriptor)
    // If the client does not read the answer, the remaining lines are discarded.
    for line in lines where (try? await writer.write(line.json)) == nil { return }
    try? await writer.flush()
  }
}

package enum ControlClient {
  /// Sends a request to a relay, and waits for the answer. Returns the lines of the answer without the final `done`.
  /// Throws if the relay cannot be reached, or could not execute the request.
  package static func ask(_ request: ControlRequest, at path: String) async throws(WhiteboardError) -> [ControlLine] {
    let socket = try UnixSocket.connect(to: path)
    var lines: [ControlLine] = []
    do {
      let reader = try LineReader(descriptor: socket.descriptor, limit: 16 << 20)
      let writer = LineWriter(descriptor: socket.descriptor)
      try await writer.write(EventLine.json("request", request))
      try await writer.flush()
      while case .line(let bytes)? = try await reader.nextLine() {
        switch try ControlLine(line: bytes) {
        case .done?: return lines
        case .error(let code, let message)?:
          throw WhiteboardError(WhiteboardError.Code(rawValue: code) ?? .internal, message)
        case let line?: lines.append(line)
        case nil: continue
        }
      }
    } catch let error as WhiteboardError { throw error } catch {
      throw WhiteboardError(.inputOutput, "the relay's answer cannot be read: \(error)")
    }
    throw WhiteboardError(.unreachable, "the relay stopped before it answered")
  }
}

/// A Unix domain socket that only the same user and root can connect to.
final class UnixSocket: Sendable {
  let descriptor: Int32

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Throws if no process listens at the path, or if this user is not allowed to connect.
  static func connect(to path: String) throws(WhiteboardError) -> UnixSocket {
    let socket = try make()
    guard (try withAddress(path) { Glibc.connect(socket.descriptor, $0, $1) }) == 0 else {
      throw WhiteboardError(
        errno == EACCES ? .notAllowed : .unreachable,
        errno == EACCES
          ? "no permission for \(path): run the command as the relay's user, or as root"
          : "no relay answers at \(path): start it with `whiteboard-relay serve`, or give its "
            + "directory with --data-dir"
      )
    }
    return socket
  }

  /// Listens at a path. Throws if another process listens there, or if the socket cannot be created. Only this user and
  /// root can connect. If a process that exited left a socket at the path, the socket is replaced.
  static func listen(at path: String) throws(WhiteboardError) -> UnixSocket {
    if (try? connect(to: path)) != nil {
      throw WhiteboardError(.timedOut, "a relay is already running: it answers at \(path)")
    }
    unlink(path)
    let socket = try make()
    // Set the permissions before `bind`, so that the file never has other permissions.
    guard fchmod(socket.descriptor, 0o600) == 0, (try withAddress(path) { bind(socket.descriptor, $0, $1) }) == 0,
      Glibc.listen(socket.descriptor, 16) == 0
    else { throw WhiteboardError(.cannotCreate, "the control socket \(path) cannot be created: \(words(errno))") }
    return socket
  }

  func accept() -> UnixSocket? {
    let accepted = Glibc.accept(descriptor, nil, nil)
    guard accepted >= 0 else { return nil }
    _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
    return UnixSocket(accepted)
  }

  func limitWaits(seconds: Int) {
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
  }

  private static func make() throws(WhiteboardError) -> UnixSocket {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw WhiteboardError(.system, "a socket cannot be created: \(words(errno))") }
    return UnixSocket(descriptor)
  }

  private static func words(_ number: Int32) -> String { SystemError.words(for: number) }

  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32)
    throws(WhiteboardError) -> Int32
  {
    guard let result = withUnixAddress(path.utf8, body) else {
      throw WhiteboardError(.usage, "\(path) is too long for a socket: the maximum is 107 bytes")
    }
    return result
  }
}
