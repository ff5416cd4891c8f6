import Testing

@testable import PeerSession

@Suite("The order of local addresses") struct LocalAddressesTests {
  private func entry(_ interface: String, _ address: String) -> LocalAddresses.Entry {
    LocalAddresses.Entry(interface: interface, address: address)
  }

  private func kind(_ interface: String) -> LocalAddresses.Kind {
    switch interface {
    case "docker0", "br0": .bridge
    case "tun0", "wg0": .tunnel
    case "vlan7": .virtual
    default: .physical
    }
  }

  @Test("the interface with the default route comes first; containers, tunnels and link-local last") func order() {
    let entries = [
      entry("lo", "127.0.0.1"), entry("docker0", "172.17.0.1"), entry("tun0", "10.8.0.2"), entry("eth1", "169.254.7.7"),
      entry("vlan7", "10.7.0.2"), entry("eth1", "192.168.9.9"), entry("wlan0", "10.77.0.1"), entry("lo", "::1"),
      entry("wlan0", "fe80::1"), entry("wlan0", "2001:db8::7"),
    ]
    let rest = ["192.168.9.9", "10.7.0.2", "172.17.0.1", "10.8.0.2", "169.254.7.7"]
    #expect(
      LocalAddresses.ordered(entries, metrics: ["wlan0": 600, "tun0": 50], kind: kind) == ["10.77.0.1", "2001:db8::7"]
        + rest
    )
    #expect(
      LocalAddresses.ordered(entries, metrics: [:], kind: kind) == ["192.168.9.9", "10.77.0.1", "2001:db8::7"]
        + rest.dropFirst()
    )
  }

  @Test("of two default routes, the one with the lower metric comes first; a bridge may have one") func metrics() {
    let entries = [entry("wlan0", "10.0.0.1"), entry("eth0", "10.0.0.2"), entry("br0", "10.0.0.3")]
    #expect(
      LocalAddresses.ordered(entries, metrics: ["wlan0": 600, "br0": 100], kind: kind) == [
        "10.0.0.3", "10.0.0.1", "10.0.0.2",
      ]
    )
  }

  @Test("loopback addresses are returned only if there is no other") func loopback() {
    let entries = [entry("lo", "127.0.0.1"), entry("lo", "::1"), entry("eth0", "fe80::1")]
    #expect(LocalAddresses.ordered(entries, metrics: [:], kind: kind) == ["127.0.0.1", "::1"])
  }

  @Test("the default routes are read from the files of the kernel") func routes() {
    let ipv4 = """
      Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT
      wlan0 00000000 FE004D0A 0003 0 0 600 00000000 0 0 0
      wlan0 00004D0A 00000000 0001 0 0 600 00FFFFFF 0 0 0
      eth0 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0
      eth0 00000000 0101A8C0 0003 0 0 50 00000000 0 0 0
      dead 00000000 00000000 0200 0 0 0 00000000 0 0 0

      """
    let zero = String(repeating: "0", count: 32)
    let ipv6 = """
      \(zero) 00 \(zero) 00 fe800000000000000000000000000001 00000400 00000003 00000000 00000003     eth6
      \(zero) 00 \(zero) 00 \(zero) ffffffff 00000001 00000000 00200200       lo
      fe800000000000000000000000000000 40 \(zero) 00 \(zero) 00000100 00000001 00000000 00000001     eth6
      """
    #expect(LocalAddresses.defaultRoutes(ipv4: ipv4, ipv6: ipv6) == ["wlan0": 600, "eth0": 50, "eth6": 1_024])
    #expect(LocalAddresses.defaultRoutes(ipv4: "", ipv6: "nonsense\n") == [:])
  }
}
