/// The ports that a firewall must open: the relay's port, and multicast DNS for discovery.
package struct FirewallProfile: Hashable, Sendable {
  /// The port on which the relay listens, over TCP for links and UDP for datagrams.
  package let port: UInt16

  package init(port: UInt16 = 26_273) { self.port = port }

  /// Save it as `/etc/ufw/applications.d/whiteboard-relay` and run `ufw allow whiteboard-relay`.
  package var ufw: String {
    """
    [whiteboard-relay]
    title=Whiteboard relay
    description=Links and datagrams of a whiteboard relay, and multicast DNS for finding it
    ports=\(port)/tcp|\(port)/udp|5353/udp

    """
  }

  /// Save it as `/etc/firewalld/services/whiteboard-relay.xml`, then run `firewall-cmd --reload` and `firewall-cmd
  /// --permanent --add-service=whiteboard-relay`.
  package var firewalld: String {
    """
    <?xml version="1.0" encoding="utf-8"?>
    <service>
      <short>Whiteboard relay</short>
      <description>Links and datagrams of a whiteboard relay, and multicast DNS for finding it.</description>
      <port protocol="tcp" port="\(port)"/>
      <port protocol="udp" port="\(port)"/>
      <include service="mdns"/>
    </service>

    """
  }
}
