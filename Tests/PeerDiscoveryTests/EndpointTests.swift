import PeerDiscovery
import Testing

struct EndpointTests {
  @Test(
    "the text of an address follows RFC 5952",
    arguments: [
      ([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], "2001:db8::1"),
      ([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0x77, 0, 0xff, 0xfe, 0, 0, 1], "fe80::277:ff:fe00:1"),
      ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], "::1"),
      ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "::"),
      ([0x20, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0], "2001:0:1::1:0"),
      ([0x20, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], "2001:0:1:1:1:1:1:1"),
      ([0x20, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1], "2001::1:0:0:1:1"), ([10, 77, 0, 1], "10.77.0.1"),
    ] as [([UInt8], String)]
  ) func writesAddress(_ bytes: [UInt8], _ text: String) throws {
    #expect(try #require(NetworkAddress(bytes: bytes)).description == text)
  }

  @Test("only a link-local address contains its interface") func scopes() throws {
    let link = try #require(NetworkAddress(bytes: [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1]))
    let interface = NetworkInterface(index: 7, name: "wlan0")
    let endpoint = Endpoint(address: link, port: 26_273, interface: interface)
    #expect(endpoint.host == "fe80::1%wlan0")
    #expect(endpoint.scope == 7)
    #expect(endpoint.description == "[fe80::1%wlan0]:26273")
    let plain = Endpoint(address: NetworkAddress(10, 0, 0, 1), port: 1, interface: interface)
    #expect(plain.scope == 0)
    #expect(plain.description == "10.0.0.1:1")
  }

  @Test("addresses at which no peer can listen are not usable") func usable() throws {
    let addresses: [([UInt8], Bool)] = [
      ([0, 0, 0, 0], false), ([255, 255, 255, 255], false), ([224, 0, 0, 251], false), ([0, 1, 2, 3], false),
      ([127, 0, 0, 1], true), ([169, 254, 1, 1], true), ([0xff, 2] + [UInt8](repeating: 0, count: 13) + [0xfb], false),
      ([UInt8](repeating: 0, count: 16), false), ([UInt8](repeating: 0, count: 15) + [1], true),
    ]
    for (bytes, isUsable) in addresses {
      #expect(try #require(NetworkAddress(bytes: bytes)).isUsable == isUsable, "\(bytes)")
    }
    #expect(NetworkAddress(bytes: [1, 2, 3]) == nil)
  }
}
