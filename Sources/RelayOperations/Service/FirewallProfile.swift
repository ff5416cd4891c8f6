/// The ports that a firewall must open: the relay's port, and multicast DNS for discovery.
public struct FirewallProfile: Hashable, Sendable {
  /// The port the relay listens on: TCP for links, UDP for datagrams.
  public let port: UInt16

  /// The profile of a relay on this port.
  public init(port: UInt16 = 26_273) { self.port = port }

  /// For ufw: `/etc/ufw/applications.d/whiteboard-relay`, then `ufw allow whiteboard-relay`.
  public var ufw: String {
    """
    [whiteboard-relay]
    title=Whiteboard relay
    description=Links and datagrams of a whiteboard relay, and multicast DNS by which it is found
    ports=\(port)/tcp|\(port)/udp|5353/udp

    """
  }

  /// For firewalld: `/etc/firewalld/services/whiteboard-relay.xml`, then `firewall-cmd --reload` and
  /// `firewall-cmd --permanent --add-service=whiteboard-relay`.
  public var firewalld: String {
    """
    <?xml version="1.0" encoding="utf-8"?>
    <service>
      <short>Whiteboard relay</short>
      <description>Links and datagrams of a whiteboard relay, and multicast DNS by which it is found.</description>
      <port protocol="tcp" port="\(port)"/>
      <port protocol="udp" port="\(port)"/>
      <include service="mdns"/>
    </service>

    """
  }
}
