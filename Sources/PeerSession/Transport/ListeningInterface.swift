import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The only network interface on which a program listens.
///
/// The loopback interface is always included, because a connection from the same machine arrives there, whatever its
/// address is.
package struct ListeningInterface: Equatable, Sendable {
  package let name: String

  package init?(_ name: String?) {
    guard let name else { return nil }
    self.name = name
  }

  package var indexes: [CInt] { [Self.loopback, index].compactMap(\.self) }

  package var index: CInt? { Self.index(of: name) }

  package static var loopback: CInt? { index(of: "lo") }

  private static func index(of name: String) -> CInt? {
    let index = if_nametoindex(name)
    return index == 0 ? nil : CInt(exactly: index)
  }
}

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
  /// The index of the only interface whose packets a socket receives, `SO_BINDTOIFINDEX`.
  ///
  /// Only recent kernels know the option.
  static var boundInterface: Self {
    ChannelOptions.Types.SocketOption(level: .socket, name: NIOBSDSocket.Option(rawValue: 62))
  }
}

extension ServerBootstrap {
  /// Restricts a listening socket to an interface; zero means all.
  package func restricted(to interface: CInt) -> ServerBootstrap {
    interface == 0 ? self : serverChannelOption(.boundInterface, value: Int(interface))
  }
}
