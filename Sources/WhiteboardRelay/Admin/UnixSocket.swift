import Dispatch
import WhiteboardNode

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// A socket in the file system, for the programs of one person or of root on this machine.
final class UnixSocket: Sendable {
  let descriptor: Int32

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Connects to whoever listens at a path.
  ///
  /// - Throws: ``NodeError`` if nobody does, or not for us.
  static func connect(to path: String) throws(NodeError) -> UnixSocket {
    let socket = try make()
    guard (try withAddress(path) { Glibc.connect(socket.descriptor, $0, $1) }) == 0 else {
      throw NodeError(
        errno == EACCES ? .notAllowed : .unreachable,
        errno == EACCES
          ? "\(path) is not for us: ask as the user that the relay runs as, or as root"
          : "no relay answers at \(path): start it with `whiteboard-relay serve`, or name its "
            + "directory with --data-dir"
      )
    }
    return socket
  }

  /// Listens at a path, for nobody but this user and root; what a process that died left there is removed.
  ///
  /// - Throws: ``NodeError`` if another process listens there, or it cannot be made.
  static func listen(at path: String) throws(NodeError) -> UnixSocket {
    if (try? connect(to: path)) != nil {
      throw NodeError(.timedOut, "a relay is running already: it answers at \(path)")
    }
    unlink(path)
    let socket = try make()
    // Set on the socket, so that its file is never there with other permissions.
    guard fchmod(socket.descriptor, 0o600) == 0,
      (try withAddress(path) { bind(socket.descriptor, $0, $1) }) == 0,
      Glibc.listen(socket.descriptor, 16) == 0
    else {
      throw NodeError(.cannotCreate, "the control socket \(path) cannot be made: \(words(errno))")
    }
    return socket
  }

  /// The next connection, once there is one; nil if there is none after all.
  func accept() -> UnixSocket? {
    let accepted = Glibc.accept(descriptor, nil, nil)
    guard accepted >= 0 else { return nil }
    _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
    return UnixSocket(accepted)
  }

  /// Lets the other side wait no longer than this for what it reads or writes.
  func limitWaits(seconds: Int) {
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
  }

  private static func make() throws(NodeError) -> UnixSocket {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else {
      throw NodeError(.system, "no socket can be made: \(words(errno))")
    }
    return UnixSocket(descriptor)
  }

  private static func words(_ number: Int32) -> String { NetworkSurvey.words(for: number) }

  private static func withAddress(
    _ path: String,
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(NodeError) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw NodeError(.usage, "\(path) is too long for a socket: it may have 107 bytes")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
