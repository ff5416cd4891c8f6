import Dispatch
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// A Unix domain socket that only the same user and root can connect to.
final class UnixSocket: Sendable {
  let descriptor: Int32

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Connects to the relay that listens at a path; throws if no process listens there, or if this user is not allowed
  /// to connect.
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

  /// Listens at a path; throws if another process listens there, or if the socket cannot be created.
  ///
  /// Only this user and root can connect. If a process that exited left a socket at the path, the socket is replaced.
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
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw WhiteboardError(.usage, "\(path) is too long for a socket: the maximum is 107 bytes")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}
